package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cluade/internal/chat"
)

// ask sends the transcript, shortened where it must be, and records the reply.
func (a *Agent) ask(ctx context.Context) (chat.Message, error) {
	req := a.request()
	a.meter.measure(a.o.Session, req)
	if err := a.makeRoom(ctx); err != nil {
		return chat.Message{}, err
	}
	m, err := a.exchange(ctx, req)
	if err == nil {
		return m, nil
	}
	if err = a.afterOverflow(ctx, m, err); err != nil {
		return m, err
	}
	a.o.Emit(ReplyRestart{})
	return a.exchange(ctx, req)
}

// exchange makes one request and records its reply. Of a reply that broke off or
// was cancelled the text is kept and the calls are not.
func (a *Agent) exchange(ctx context.Context, req chat.Request) (chat.Message, error) {
	req.Messages = a.o.Session.Messages
	a.sent = chat.Request{System: req.System, Tools: req.Tools}
	reply, err := a.o.Model.Chat(ctx, req, a.delta)
	m := reply.Message
	m.Role = chat.Assistant
	if err != nil {
		m.ToolCalls = nil
	}
	text := strings.TrimSpace(m.Content) != ""
	a.turn.answer, a.turn.cut = m.Content, reply.Finish == chat.FinishLength
	if len(m.ToolCalls) > 0 {
		a.turn.answer = "" // what is said beside calls is none
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
		m.Content += "\n[cancelled]"
	}
	if text || len(m.ToolCalls) > 0 {
		a.record(m)
	}
	a.count(req, reply, err)
	a.o.Emit(ReplyEnd{Calls: len(m.ToolCalls)})
	if err != nil {
		return m, err
	}
	return m, a.judge(m, reply, text)
}

// judge tells the person when a reply ended other than by itself; one without
// text and calls is an error.
func (a *Agent) judge(m chat.Message, reply chat.Reply, text bool) error {
	var why string
	full := reply.Window > 0 && reply.Usage.Prompt+reply.Usage.Completion >= reply.Window
	switch {
	case reply.Finish == chat.FinishFilter:
		why = "the server's content filter ended the reply"
	case reply.Finish == chat.FinishLength && len(m.ToolCalls) == 0 && full:
		why = "the reply was cut where the model's window ended"
	case reply.Finish == chat.FinishLength && len(m.ToolCalls) == 0:
		why = "the reply was cut at the output limit"
		if a.o.TruncationHint != "" {
			why += "; " + a.o.TruncationHint
		}
	}
	switch {
	case !text && len(m.ToolCalls) == 0 && why != "":
		return fmt.Errorf("%w: %s", ErrEmpty, why)
	case !text && len(m.ToolCalls) == 0:
		return ErrEmpty
	case why != "":
		a.o.Emit(Notice{Text: why, Warn: true})
	}
	return nil
}

// request is the next question to the model. It offers the tools of the present
// toolset.
func (a *Agent) request() chat.Request {
	req := chat.Request{System: a.o.System(), Messages: a.o.Session.Messages}
	for _, t := range a.o.Tools {
		if !a.o.Policy.InToolset(t.Name) || t.Offered != nil && !t.Offered(a.o.Env) {
			continue
		}
		desc := t.Desc
		if t.Describe != nil {
			desc = t.Describe(a.o.Env)
		}
		req.Tools = append(req.Tools, chat.ToolSpec{Name: t.Name, Desc: desc, Params: t.Params})
	}
	return req
}

// count books what a request of the turn cost, and learns from it.
func (a *Agent) count(req chat.Request, reply chat.Reply, err error) {
	s := a.o.Session
	s.Steps++
	a.meter.learn(s, req, reply)
	a.bill(reply, err, a.meter.context(s))
	var full *chat.OverflowError
	if errors.As(err, &full) && full.Limit > 0 {
		a.meter.window = full.Limit
	}
}

// bill adds what a reply cost: as the server told, else what it is guessed at.
func (a *Agent) bill(reply chat.Reply, err error, guess int) {
	a.spend(reply.Usage)
	if err == nil && reply.Usage.Total() == 0 {
		a.guessed += guess
	}
}

// spend adds to what was billed.
func (a *Agent) spend(u chat.Usage) {
	a.o.Session.Total = a.o.Session.Total.Add(u)
	a.turn.usage = a.turn.usage.Add(u)
}

// delta passes on what arrives of a reply.
func (a *Agent) delta(d chat.Delta) {
	switch {
	case d.Restart:
		a.o.Emit(ReplyRestart{})
	case d.Notice != "":
		a.o.Emit(Notice{Text: d.Notice})
	case d.Text != "":
		a.o.Emit(TextDelta{d.Text})
	case d.Reasoning != "":
		a.o.Emit(ReasoningDelta{d.Reasoning})
	case d.Progress > 0:
		a.o.Emit(Waiting{d.Progress})
	}
}
