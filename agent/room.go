package agent

// The rules of a full window. Nothing is sent that will not fit: first a summary
// takes the place of what the model has answered, then the oldest exchanges are
// left out, and where that is not enough the turn ends and says why. What a
// person pays for is bounded: two summaries for one input.

import (
	"context"
	"errors"
	"fmt"

	"cluade/internal/chat"
)

// maxCompactions is how often a summary is asked for in one turn.
const maxCompactions = 2

// makeRoom shortens the transcript before a request that would fill the window.
func (a *Agent) makeRoom(ctx context.Context) error {
	used := a.meter.context(a.o.Session)
	if !a.overfull(used) {
		return nil
	}
	return a.shorten(ctx, used)
}

// overfull says whether so many tokens leave too little of the window.
func (a *Agent) overfull(used int) bool {
	return float64(used) >= a.o.HardCompactAt*float64(a.ContextLimit())
}

// shorten makes the transcript shorter than used tokens, which are too many.
// What the model has not answered stays: an input, or its last calls with their
// results.
func (a *Agent) shorten(ctx context.Context, used int) error {
	n := a.turn.start
	if n < len(a.o.Session.Messages)-1 {
		n = a.stepStart()
	}
	if err := a.fits(size(a.o.Session.Messages[n:])); err != nil {
		return err
	}
	err := a.compactFull(ctx, n)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && err != errNothing {
		a.o.Emit(Notice{Text: "the conversation could not be compacted: " + err.Error(), Warn: true})
	}
	if now := a.meter.context(a.o.Session); err == nil && !a.overfull(now) {
		return nil
	}
	return a.trim(min(used, a.ContextLimit()) / 2)
}

// fits says why messages of so many bytes cannot be sent, whatever else is left
// out.
func (a *Agent) fits(bytes int) error {
	fixed, limit := a.meter.tokens(a.meter.fixed), a.ContextLimit()
	all := a.meter.tokens(a.meter.fixed + bytes)
	switch {
	case a.overfull(fixed):
		return fmt.Errorf("%w: the system message and the tools alone have about %d tokens, context_limit is %d", ErrWindow, fixed, limit)
	case a.overfull(all):
		return fmt.Errorf("%w: what cannot be left out has about %d tokens, context_limit is %d", ErrWindow, all, limit)
	}
	return nil
}

// compactFull has the first n messages summarized.
func (a *Agent) compactFull(ctx context.Context, n int) error {
	if n <= 1 || a.o.NoCompaction || a.turn.compactions >= maxCompactions {
		return errNothing
	}
	a.turn.compactions++
	a.o.Emit(Notice{Text: "the context is full; asking the model for a summary"})
	return a.compactNow(ctx, n, windowFull, "")
}

// trim leaves out the oldest exchanges until at most so many tokens remain. A
// summary that the transcript began with stays at its head if it can.
func (a *Agent) trim(most int) error {
	msgs := a.o.Session.Messages
	cut := a.oldest(most)
	head, gone := msgs[0], cut-1
	if !isOpening(head) || a.fits(size(msgs[:1])+size(msgs[cut:])) != nil {
		head, gone = opening(windowFull+"What was said and done before the next message is left out."+a.whereAll(), msgs[:cut]), cut
	}
	if gone <= 0 {
		return a.fits(size(msgs))
	}
	if err := a.fits(len(head.Content) + size(msgs[cut:])); err != nil {
		return err
	}
	before := a.meter.context(a.o.Session)
	a.replace(cut, head)
	a.journalReset("trim")
	a.o.Emit(Notice{Text: fmt.Sprintf("the context is full; the oldest %d messages are left out", gone), Warn: true})
	a.o.Emit(Compacted{Before: before, After: a.meter.context(a.o.Session)})
	return nil
}

// oldest is the first input of the person from which on at most so many tokens
// remain, else the last one; 0 if there is none but the first message.
func (a *Agent) oldest(most int) (cut int) {
	msgs := a.o.Session.Messages
	left := size(msgs)
	for i, m := range msgs {
		if m.Role == chat.User && !m.Notice {
			if cut = i; a.meter.tokens(a.meter.fixed+left) <= most {
				break
			}
		}
		left -= size(msgs[i : i+1])
	}
	return cut
}

// journalReset tells the journal of a transcript that begins anew. An input
// without an answer is a record of its own, so that a session that is resumed
// there finds it to be one.
func (a *Agent) journalReset(why string) {
	msgs := a.o.Session.Messages
	n := len(msgs)
	if n > 1 && msgs[n-1].Role == chat.User && !msgs[n-1].Notice {
		n--
	}
	a.save(a.o.Journal.Reset(why, msgs[:n]))
	for _, m := range msgs[n:] {
		a.save(a.o.Journal.Append(m))
	}
}

// afterOverflow answers a server that says the conversation is too long: nil
// says that the request can be made again, shorter. Of a reply that had begun
// nothing is asked again.
func (a *Agent) afterOverflow(ctx context.Context, m chat.Message, err error) error {
	var full *chat.OverflowError
	if !errors.As(err, &full) || m.Content != "" {
		return err
	}
	used := a.meter.context(a.o.Session)
	if e := a.shorten(ctx, used); ctx.Err() != nil {
		return e
	}
	if a.meter.context(a.o.Session) < used {
		return nil
	}
	return err
}
