package agent

import (
	"context"
	"errors"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/tools"
)

const (
	defaultSteps  = 100
	defaultWindow = 200000
	defaultResult = 30720
	defaultFull   = 0.85
	defaultHard   = 0.95
)

func fill(o *Options) {
	if o.Model == nil {
		o.Model = nobody{}
	}
	if o.Env == nil {
		o.Env = &tools.Env{}
	}
	if o.Policy == nil {
		o.Policy = &policy.Policy{}
	}
	if o.Session == nil {
		o.Session = &chat.Session{}
	}
	if o.System == nil {
		o.System = func() string { return "" }
	}
	if o.Journal == nil {
		o.Journal = nobody{}
	}
	if o.Approver == nil {
		o.Approver = nobody{}
	}
	if o.Hooks == nil {
		o.Hooks = nobody{}
	}
	if o.Emit == nil {
		o.Emit = func(Event) {}
	}
	if o.MaxSteps <= 0 {
		o.MaxSteps = defaultSteps
	}
	if o.ResultBytes <= 0 {
		o.ResultBytes = defaultResult
	}
	if o.ContextLimit == nil {
		o.ContextLimit = func() int { return 0 }
	}
	if o.CompactAt <= 0 {
		o.CompactAt = defaultFull
	}
	if o.HardCompactAt <= 0 {
		o.HardCompactAt = defaultHard
	}
}

// nobody stands for every part that is missing: as a model it fails, as an
// approver it refuses, as hooks and journal it does nothing.
type nobody struct{}

func (nobody) Chat(context.Context, chat.Request, func(chat.Delta)) (chat.Reply, error) {
	return chat.Reply{}, errors.New("there is no model")
}

func (nobody) Approve(context.Context, Approval) (Answer, error) {
	return No, errors.New("there is no approver")
}

func (nobody) Pre(context.Context, chat.ToolCall) (policy.Wish, error) { return policy.WishNone, nil }

func (nobody) Post(_ context.Context, _ chat.ToolCall, text string) string { return text }

func (nobody) Append(chat.Message) error          { return nil }
func (nobody) Reset(string, []chat.Message) error { return nil }
func (nobody) Truncate(int, string) error         { return nil }
func (nobody) State(*chat.Session) error          { return nil }
