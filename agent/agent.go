// Package agent is the loop: a turn carries one input of the person through
// model requests and tool calls to its end. It knows neither provider, store
// nor terminal; what it must ask comes in as Model, Journal, Approver and
// Hooks, what it has to tell goes out through Emit. It runs on the caller's
// goroutine and holds no lock.
package agent

import (
	"context"
	"errors"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/loopdetect"
	"cluade/tools"
)

// Why a turn ended early although nothing failed. The guards' sentinels mean
// that what was done is kept and the transcript is whole. Those of the counts
// come wrapped in a sentence: "step limit of 100 reached".
var (
	ErrMaxSteps  = errors.New("step limit")
	ErrStuck     = errors.New("the model repeats itself")
	ErrMaxTokens = errors.New("token limit")
	ErrTimeLimit = errors.New("time limit reached") // set by the caller as the context's cause
	ErrEmpty     = errors.New("the model gave no answer")
	ErrWindow    = errors.New("the window is full")
)

// UnsentError is a turn that ended before anything was answered. The input was
// taken out of the transcript again, so it can be offered for another try.
type UnsentError struct {
	Input chat.Message
	Err   error
}

func (e *UnsentError) Error() string { return e.Err.Error() }

// Unwrap returns why there was no answer.
func (e *UnsentError) Unwrap() error { return e.Err }

// Journal is where the transcript is written as it grows. The first error is
// announced by the agent, which then goes on in memory and calls the journal no
// more: a file with a gap would be no transcript.
type Journal interface {
	Append(chat.Message) error
	Reset(why string, msgs []chat.Message) error // after compaction
	Truncate(n int, why string) error            // keep the first n messages
	State(*chat.Session) error                   // counters, at the end of a turn
}

// Approver asks a person. An error counts as a refusal.
type Approver interface {
	Approve(context.Context, Approval) (Answer, error)
}

// Approval is everything a person must see before the call may run.
type Approval struct {
	Subject policy.Subject
	Preview string // the change or the arguments, not cleaned
	Reason  string
	Danger  bool
	Segment string // the part of the command that is dangerous
	Always  string // the rule that "always" would record; "" offers none
	WhyOnce string // why a call that could be allowed for good is allowed once
}

// Answer is what the person said. The zero value refuses.
type Answer int

// The answers. Always counts only where it was offered.
const (
	No Answer = iota
	Once
	Always
)

// Hooks are the user's commands around a call. Pre may block (an error) or
// wish; Post returns the result text, possibly with something added.
type Hooks interface {
	Pre(context.Context, chat.ToolCall) (policy.Wish, error)
	Post(ctx context.Context, c chat.ToolCall, text string) string
}

// Options are the parts of an Agent. Nil Policy and Approver refuse, nil Hooks
// and Journal do nothing, nil Emit is silent.
type Options struct {
	Model    chat.Model
	Tools    tools.Set // all but the agent's own: the model is offered those in Policy.Toolset
	Env      *tools.Env
	Policy   *policy.Policy
	Session  *chat.Session
	System   func() string // built anew for every request
	Journal  Journal
	Approver Approver
	Hooks    Hooks
	Grant    func(rule string) // a person allowed this for good; nil forgets it
	Emit     func(Event)

	MaxSteps       int        // 0: 100
	MaxTokens      int        // stop when Session.Total reaches it, with a guess at what the server did not count; 0: no limit
	ContextLimit   func() int // tokens of the model's window as the person set it, 0 or nil: not; see Agent.ContextLimit
	CompactAt      float64    // part of it from which the model is asked to compact; 0: 0.85
	HardCompactAt  float64    // part of it at which nothing more is sent before the transcript is shorter; 0: 0.95
	NoCompaction   bool       // shorten it by leaving out, not by a summary
	ResultBytes    int        // most bytes of a result; 0: 30720
	RepeatLimit    int        // loop detector thresholds; 0: 3, 4, 25
	ErrorLimit     int
	PollLimit      int
	TruncationHint string // added for the person where a reply was cut at the output limit
}

// Agent runs the turns of one session.
type Agent struct {
	o       Options
	loop    *loopdetect.Detector
	meter   meter
	sent    chat.Request // the last one, without its messages
	guessed int          // tokens of the exchanges of which the server told no figures
	nudged  bool         // the model was asked to compact, and the window is full still
	saveErr error
	turn    turn
}

// New fills what is missing with parts that refuse or do nothing.
func New(o Options) *Agent {
	fill(&o)
	a := &Agent{
		o:    o,
		loop: loopdetect.New(loopdetect.Limits{Repeat: o.RepeatLimit, Errors: o.ErrorLimit, Poll: o.PollLimit}),
	}
	a.o.Tools = a.withSessionTools(o.Tools)
	s := o.Session
	a.meter.model, a.meter.window = s.Model, s.Window
	o.Env.HadJobs = o.Env.HadJobs || s.Jobs
	return a
}

// SaveError is the first journal error of the session, nil if all was saved.
func (a *Agent) SaveError() error { return a.saveErr }

// ContextLimit is the size of the model's window in tokens: what the options
// say, else 200000 or the smaller window that the server told.
func (a *Agent) ContextLimit() int {
	m := &a.meter
	set := a.o.ContextLimit()
	switch {
	case set > 0:
		return set
	case m.model == a.o.Session.Model && m.window > 0 && m.window < defaultWindow:
		return m.window
	}
	return defaultWindow
}

// SetWindow takes the size in tokens of the window of the session's model that
// its server told before the first reply; 0 is not known.
func (a *Agent) SetWindow(tokens int) {
	a.meter.own(a.o.Session)
	if tokens > 0 {
		a.meter.window = tokens
	}
}
