package agent

// The rules of a call. The order of the stages is the safety argument:
//
//   - Refusals come before hooks, previews and questions: nothing is opened,
//     shown or run for a call that is denied.
//   - Hooks come before the question and cannot change the arguments: what the
//     person reads is what runs.
//   - The gate and the question come last before the run, so nothing a hook or
//     a level said can pass them.
//   - Every path leaves through finish: one call, one result.
//
// Only this file runs a tool.

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/loopdetect"
	"cluade/tools"
)

// dispatch takes one call from the model's arguments to the result that the
// model will read. The numbers are the steps of the decision; see policy.
func (a *Agent) dispatch(ctx context.Context, c chat.ToolCall) {
	if ctx.Err() != nil {
		a.skip(ctx, c)
		return
	}
	call, err := a.parse(c) // 1
	if err != nil {
		a.finish(CallEnd{Call: c, Outcome: Invalid, Text: "error: " + err.Error()})
		return
	}
	d := a.o.Policy.Refuse(call.Subject) // 2-4
	if d.Verdict == policy.Deny {
		a.deny(c, call, d)
		return
	}
	wish, err := a.o.Hooks.Pre(ctx, c) // 5
	if err != nil {
		a.finish(CallEnd{Call: c, Outcome: Blocked, Gist: gist(call), Text: "error: denied by hook: " + err.Error()})
		return
	}
	preview, err := a.preview(call) // 6
	if err != nil {
		a.finish(CallEnd{Call: c, Outcome: Invalid, Text: "error: " + err.Error()})
		return
	}
	if d = a.o.Policy.Gate(call.Subject, d, wish); d.Verdict == policy.Ask { // 7-9
		d = a.approve(ctx, call.Subject, preview, d) // 10
	}
	if ctx.Err() != nil {
		a.skip(ctx, c)
		return
	}
	if d.Verdict != policy.Allow {
		a.deny(c, call, d)
		return
	}
	end := a.run(ctx, c, call) // 11
	end.Text = a.o.Hooks.Post(ctx, c, end.Text)
	a.finish(end) // 12
}

// finish is the one exit of a call.
func (a *Agent) finish(end CallEnd) {
	end.Text = clip(end.Text, a.o.ResultBytes)
	a.record(chat.Message{Role: chat.Tool, Content: end.Text, ToolCallID: end.Call.ID})
	a.loop.Observe(loopdetect.Signature(end.Call.Name, end.Call.Args), end.Text, end.Outcome != Done)
	if end.Outcome == Denied || end.Outcome == Blocked {
		a.turn.refused++
	}
	a.o.Emit(end)
}

// skip ends a call that will not begin, because the turn is over.
func (a *Agent) skip(ctx context.Context, c chat.ToolCall) {
	a.finish(CallEnd{Call: c, Outcome: Skipped, Text: "error: " + reason(ctx)})
}

// deny ends a call that may not run. Where a person would have been needed, the
// one who reads the log is told what would have allowed it.
func (a *Agent) deny(c chat.ToolCall, call *tools.Call, d policy.Decision) {
	a.finish(CallEnd{Call: c, Outcome: Denied, Gist: gist(call), Text: "error: " + d.Reason})
	if hint := a.o.Policy.Hint(call.Subject, d); hint != "" && hint != a.turn.hint {
		a.turn.hint = hint
		a.o.Emit(Notice{Text: hint})
	}
}

// parse checks the arguments. In a reply that was cut at the output limit a
// call without arguments is taken for one whose arguments are lost.
func (a *Agent) parse(c chat.ToolCall) (call *tools.Call, err error) {
	err = guarded(c.Name, func() (err error) {
		call, err = a.o.Tools.Parse(a.o.Env, c.Name, c.Args)
		return err
	})
	if err == nil && a.turn.cut && strings.TrimSpace(c.Args) == "" {
		err = errors.New("it has no arguments")
	}
	if err != nil && a.turn.cut {
		return nil, fmt.Errorf("the reply was cut at the output limit (max_tokens) before this call was whole, "+
			"so nothing was run; call again in smaller parts: %w", err)
	}
	return call, err
}

func (a *Agent) preview(call *tools.Call) (text string, err error) {
	err = guarded(call.Subject.Tool, func() (err error) {
		text, err = call.Preview()
		return err
	})
	return text, err
}

// approve asks the person. Whatever is not a yes is a no.
func (a *Agent) approve(ctx context.Context, s policy.Subject, preview string, ask policy.Decision) policy.Decision {
	q := Approval{Subject: s, Preview: preview, Reason: ask.Reason, Danger: ask.Danger, Segment: ask.Segment}
	if a.o.Grant != nil {
		q.Always, q.WhyOnce = a.o.Policy.Grant(s, ask)
	}
	answer, err := a.o.Approver.Approve(ctx, q)
	switch {
	case err != nil:
		return policy.Unanswered(s, ask)
	case answer == Always && q.Always != "":
		a.o.Grant(q.Always)
		return policy.Decision{Verdict: policy.Allow}
	case answer == Once:
		return policy.Decision{Verdict: policy.Allow}
	}
	return policy.Decision{Verdict: policy.Deny, Reason: "denied by the user"}
}

// run executes the call. A Go error, a panic and an interruption all become a
// text for the model, cleaned: what looks for a secret in it would not see one
// that an escape sequence parts.
func (a *Agent) run(ctx context.Context, c chat.ToolCall, call *tools.Call) CallEnd {
	a.o.Emit(CallStart{Call: c, Gist: gist(call)})
	began := time.Now()
	var res tools.Result
	err := guarded(c.Name, func() (err error) {
		res, err = call.Run(ctx)
		return err
	})
	a.spend(chat.Usage(res.Usage))
	end := CallEnd{Call: c, Text: res.Text, Elapsed: time.Since(began)}
	switch failed := err != nil || res.Failed; {
	case failed && ctx.Err() != nil:
		end.Outcome, end.Text = Failed, "error: interrupted before it finished: "+reason(ctx)
		if res.Text != "" {
			end.Text += "\n" + res.Text
		}
	case err != nil:
		end.Outcome, end.Text = Failed, "error: "+err.Error()
	case res.Failed:
		end.Outcome = Failed
	}
	end.Text = chat.CleanText(end.Text)
	return end
}

func gist(call *tools.Call) (text string) {
	_ = guarded(call.Subject.Tool, func() error {
		text = call.Gist()
		return nil
	})
	return text
}

// reason says for the model why a turn is over: in the words of the cause that
// the caller gave, else it was the person.
func reason(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != context.Canceled {
		return cause.Error()
	}
	return "cancelled by the user"
}

// guarded turns a panic in a tool into an error, so that one fault costs one
// call and not the session.
func guarded(tool string, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error in %s: %v", tool, r)
		}
	}()
	return f()
}
