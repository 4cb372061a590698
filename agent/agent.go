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
	"cluade/tools"
)

// Why a turn ended early although nothing failed. The guards' sentinels mean
// that what was done is kept and the transcript is whole.
var (
	ErrMaxSteps  = errors.New("step limit reached")
	ErrStuck     = errors.New("the model repeats itself")
	ErrMaxTokens = errors.New("token limit reached")
	ErrTimeLimit = errors.New("time limit reached") // set by the caller as the context's cause
	ErrEmpty     = errors.New("the model gave no answer")
)

// Journal is where the transcript is written as it grows. Errors are announced
// once by the agent, which then goes on in memory.
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
	Always  string // the rule that "always" would record; "" offers none
}

// Answer is what the person said. The zero value refuses.
type Answer int

// The answers.
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

// Options are the parts of an Agent. Nil Approver refuses, nil Hooks and
// Journal do nothing, nil Emit is silent.
type Options struct {
	Model    chat.Model
	Tools    tools.Set
	Env      *tools.Env
	Policy   *policy.Policy
	Session  *chat.Session
	System   func() string // built anew for every request
	Journal  Journal
	Approver Approver
	Hooks    Hooks
	Emit     func(Event)

	MaxSteps       int // 0: 100
	MaxTokens      int // stop when Session.Total reaches it; 0: no limit
	ContextLimit   int
	ResultBytes    int // most bytes of a result; 0: 30720
	RepeatLimit    int // loop detector thresholds; 0: 3, 4, 25
	ErrorLimit     int
	PollLimit      int
	TruncationHint string // what to say of a reply cut at the output limit
}

// Agent runs the turns of one session.
type Agent struct{ o Options }

// New fills what is missing with parts that refuse or do nothing.
func New(o Options) *Agent { return &Agent{o} }

// Turn carries one input to its end. When it returns, every call in the
// transcript has its result, whatever the error.
func (a *Agent) Turn(ctx context.Context, input string) error { return errors.New("not built") }

// SaveError is the first journal error of the session, nil if all was saved.
func (a *Agent) SaveError() error { return nil }
