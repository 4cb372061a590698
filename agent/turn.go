package agent

// The rules of a turn. Whatever ends it, each call in the transcript has its
// result directly behind it, and the person's message has something behind it
// or is gone again. Messages enter the transcript through record alone. What
// the program tells the model goes behind the last result of a step.

import (
	"context"
	"fmt"
	"strings"
	"time"

	"cluade/internal/chat"
	"cluade/loopdetect"
)

// turn is what lasts from one input to its end.
type turn struct {
	input   chat.Message
	start   int // messages before the input
	began   time.Time
	usage   chat.Usage
	answer  string // text of the last reply, "" if it had calls
	refused int    // calls denied or blocked
	hint    string // the last one told to the person
	cut     bool   // the present reply ended at the output limit
	summary string // of a compaction that waits for the end of the step

	compactions int // summaries that the model was asked for
}

// Turn carries one input, the text and the images of the person, to its end.
// When it returns, every call in the transcript has its result, whatever the
// error. An error is an *UnsentError when nothing was answered; a cancelled ctx
// gives its cause.
func (a *Agent) Turn(ctx context.Context, input chat.Message) (err error) {
	a.begin(input)
	defer func() { err = a.end(ctx, err) }()
	for n := 1; ; n++ {
		if err := a.limit(n); err != nil {
			return err
		}
		a.o.Emit(StepStart{n})
		reply, err := a.ask(ctx)
		if err != nil {
			return err
		}
		if len(reply.ToolCalls) == 0 {
			return nil
		}
		for _, c := range reply.ToolCalls {
			a.dispatch(ctx, c)
		}
		a.compact()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := a.checkLoop(); err != nil {
			return err
		}
		a.nudge()
	}
}

func (a *Agent) begin(input chat.Message) {
	a.loop.Reset()
	input.Role = chat.User
	a.turn = turn{input: input, start: len(a.o.Session.Messages), began: time.Now()}
	a.record(input)
}

// end closes the turn. An input without any answer is taken back.
func (a *Agent) end(ctx context.Context, err error) error {
	s, t := a.o.Session, &a.turn
	if err != nil && len(s.Messages) == t.start+1 {
		why := "failed"
		if ctx.Err() != nil {
			why = "cancel"
		}
		a.truncate(t.start, why)
		err = &UnsentError{Input: t.input, Err: err}
	}
	s.Context, s.Window, s.Jobs = a.meter.context(s), a.meter.window, a.o.Env.HadJobs
	if a.overfull(a.meter.tokens(a.meter.fixed)) {
		s.Window = 0 // which would end every later turn, and may not be true
	}
	a.save(a.o.Journal.State(s))
	a.o.Emit(TurnEnd{
		Answer: t.answer, Usage: t.usage, Context: s.Context,
		Elapsed: time.Since(t.began), Refused: t.refused, Err: err,
	})
	return err
}

// limit says whether step n may begin.
func (a *Agent) limit(n int) error {
	switch max := a.o.MaxTokens; {
	case n > a.o.MaxSteps:
		return fmt.Errorf("%w of %d reached", ErrMaxSteps, a.o.MaxSteps)
	case max > 0 && a.o.Session.Total.Total()+a.guessed >= max:
		return fmt.Errorf("%w of %d reached", ErrMaxTokens, max)
	}
	return nil
}

// checkLoop warns the model once when it repeats itself, then stops the turn.
func (a *Agent) checkLoop() error {
	r := a.loop.Check()
	switch r.Verdict {
	case loopdetect.Warn:
		what := describe(r)
		a.record(chat.Message{
			Role: chat.User, Notice: true,
			Content: "[notice from cluade: you seem stuck: " + what + ". Take a different approach, or say what blocks you.]",
		})
		a.o.Emit(Notice{Text: "the model was warned that it seems stuck: " + what, Warn: true})
	case loopdetect.Stop:
		return fmt.Errorf("%w: %s", ErrStuck, describe(r))
	}
	return nil
}

// describe says in words what repeats, naming tool and count.
func describe(r loopdetect.Report) string {
	tool := r.Tools[len(r.Tools)-1]
	switch r.Kind {
	case loopdetect.Cycle:
		return fmt.Sprintf("%s were called in turn %d times with the same results", strings.Join(r.Tools, ", "), r.Count)
	case loopdetect.Errors:
		return fmt.Sprintf("%d calls in a row failed, the last of them to %s", r.Count, tool)
	case loopdetect.Poll:
		return fmt.Sprintf("%s was called with the same arguments %d times in a row", tool, r.Count)
	}
	return fmt.Sprintf("%s was called with the same arguments and the same result %d times in a row", tool, r.Count)
}

// record adds one message to the transcript and the journal.
func (a *Agent) record(m chat.Message) {
	a.o.Session.Messages = append(a.o.Session.Messages, m)
	a.save(a.o.Journal.Append(m))
}

// truncate keeps the first n messages of transcript and journal.
func (a *Agent) truncate(n int, why string) {
	a.o.Session.Messages = a.o.Session.Messages[:n]
	a.meter.forget()
	a.save(a.o.Journal.Truncate(n, why))
}

// save takes the outcome of a write to the journal. After a failure the session
// lives in memory alone.
func (a *Agent) save(err error) {
	if err == nil {
		return
	}
	a.saveErr = err
	a.o.Journal = nobody{}
	a.o.Emit(Notice{Text: "the session is no longer saved: " + err.Error(), Warn: true})
}
