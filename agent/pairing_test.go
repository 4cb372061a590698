package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/tools"
)

// long is a turn that meets every stage: three calls of which one is asked
// about and one refused, three more of which one compacts, and an answer.
func long() []reply {
	return []reply{
		{text: "let me look", calls: `look {"n":1}; act {"n":2}; ban {}`},
		{calls: `zap {}; compact {"summary":"so far"}; act {"n":3}`, text: "and again"},
		{text: "done"},
	}
}

// full is a turn in which the window fills up, so that a summary is asked for in
// the middle.
func full() []reply {
	return []reply{
		{calls: `look {"n":1}`, usage: chat.Usage{Prompt: 100}}, {calls: `look {"n":2}; act {"n":3}`, usage: chat.Usage{Prompt: 960}},
		{text: goodSummary}, {calls: "look {}", usage: chat.Usage{Prompt: 100}}, {text: "done"},
	}
}

// TestPairing interferes once, at every point of a long turn in turn, in every
// way: the transcript must be whole, the journal must agree, and the next turn
// must work.
func TestPairing(t *testing.T) {
	kinds := map[string]func(cancel context.CancelCauseFunc, what string) error{
		"cancel":     func(cancel context.CancelCauseFunc, _ string) error { cancel(nil); return nil },
		"time limit": func(cancel context.CancelCauseFunc, _ string) error { cancel(ErrTimeLimit); return nil },
		"cancel and error": func(cancel context.CancelCauseFunc, _ string) error {
			cancel(nil)
			return context.Canceled
		},
		"error":    func(context.CancelCauseFunc, string) error { return errors.New("injected") },
		"overflow": func(context.CancelCauseFunc, string) error { return &chat.OverflowError{Err: errors.New("injected")} },
		"panic": func(_ context.CancelCauseFunc, what string) error {
			if slices.Contains([]string{"subject", "preview", "run"}, what) {
				panic("injected")
			}
			return nil
		},
	}
	for _, script := range []func() []reply{long, full} {
		stageOf := func(limit *int) *stage {
			s := newStage(t, script()...)
			s.alter(func(o *Options) { o.ContextLimit = func() int { return *limit } })
			return s
		}
		limit := 1000
		whole := stageOf(&limit)
		if err := whole.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		if whole.points < 30 || !slices.Contains(whole.trace, "journal reset compact") {
			t.Fatalf("only %d points, %q", whole.points, whole.trace)
		}
		for kind, interfere := range kinds {
			for point := 1; point <= whole.points; point++ {
				limit = 1000
				s := stageOf(&limit)
				ctx, cancel := context.WithCancelCause(context.Background())
				var at string
				s.act = func(p int, what string) error {
					if p != point {
						return nil
					}
					at = what
					return interfere(cancel, what)
				}
				err := s.turn(ctx, "go")
				name := fmt.Sprintf("%s at point %d (%s)", kind, point, at)
				s.checkEnd(name, ctx, err)
				cancel(nil)
				limit = 200000
				s.act, s.script = nil, []reply{{calls: "look {}"}, {text: "well"}}
				if err := s.turn(context.Background(), "next"); err != nil {
					t.Errorf("%s: the next turn: %v", name, err)
				}
				if t.Failed() {
					t.Fatalf("%s: %v\n%s", name, err, show(s.session.Messages))
				}
			}
		}
	}
}

// checkEnd holds the error of a turn against what became of its input.
func (s *stage) checkEnd(name string, ctx context.Context, err error) {
	var unsent *UnsentError
	switch gone := len(s.session.Messages) == 0; {
	case errors.As(err, &unsent) != gone:
		s.t.Errorf("%s: error %T with %d messages kept", name, err, len(s.session.Messages))
	case gone && unsent.Input.Content != "go":
		s.t.Errorf("%s: input %q comes back", name, unsent.Input.Content)
	}
	if cause := context.Cause(ctx); cause != nil && err != nil && !errors.Is(err, cause) {
		s.t.Errorf("%s: error %v, want %v", name, err, cause)
	}
}

func TestCancel(t *testing.T) {
	tests := []struct {
		at      string // where the person cancels
		err     error  // what that stage then returns
		want    []string
		outcome []Outcome
	}{
		{"chat", context.Canceled, nil, nil},
		{"reply", context.Canceled, []string{"user go", "assistant let me look\n[cancelled]"}, nil},
		{"subject", nil, []string{
			"user go", "assistant let me look",
			"tool error: cancelled by the user", "tool error: cancelled by the user", "tool error: cancelled by the user",
		}, []Outcome{Skipped, Skipped, Skipped}},
		{"run", context.Canceled, []string{
			"user go", "assistant let me look",
			"tool error: interrupted before it finished: cancelled by the user",
			"tool error: cancelled by the user", "tool error: cancelled by the user",
		}, []Outcome{Failed, Skipped, Skipped}},
		{"run", nil, []string{
			"user go", "assistant let me look", "tool look did 1",
			"tool error: cancelled by the user", "tool error: cancelled by the user",
		}, []Outcome{Done, Skipped, Skipped}},
		{"approve", context.Canceled, []string{
			"user go", "assistant let me look", "tool look did 1",
			"tool error: cancelled by the user", "tool error: cancelled by the user",
		}, []Outcome{Done, Skipped, Skipped}},
		{"approve", nil, []string{ // a yes that came with the cancel runs nothing
			"user go", "assistant let me look", "tool look did 1",
			"tool error: cancelled by the user", "tool error: cancelled by the user",
		}, []Outcome{Done, Skipped, Skipped}},
	}
	for _, tt := range tests {
		s := newStage(t, long()...)
		ctx, cancel := context.WithCancel(context.Background())
		s.act = func(_ int, what string) error {
			if what != tt.at {
				return nil
			}
			cancel()
			return tt.err
		}
		var got []Outcome
		s.watch(func(e Event) {
			if end, ok := e.(CallEnd); ok {
				got = append(got, end.Outcome)
			}
		})
		if err := s.turn(ctx, "go"); !errors.Is(err, context.Canceled) {
			t.Errorf("cancel at %s: error %v", tt.at, err)
		}
		var msgs []string
		for _, m := range s.session.Messages {
			msgs = append(msgs, string(m.Role)+" "+m.Content)
		}
		if !slices.Equal(msgs, tt.want) || !slices.Equal(got, tt.outcome) {
			t.Errorf("cancel at %s: %q %v, want %q %v", tt.at, msgs, got, tt.want, tt.outcome)
		}
	}
}

// TestInterruptedOutput keeps what a command had said when it was cancelled.
func TestInterruptedOutput(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := newStage(t, reply{calls: "slow {}; look {}"})
	s.alter(func(o *Options) {
		o.Policy.Levels["slow"] = policy.Level{Verdict: policy.Allow}
		o.Tools = append(o.Tools, s.tool("slow", policy.Execute, func(context.Context) (tools.Result, error) {
			cancel(ErrTimeLimit)
			return tools.Result{Text: "10%", Failed: true}, nil
		}))
	})
	err := s.turn(ctx, "go")
	want := []string{"error: interrupted before it finished: time limit reached\n10%", "error: time limit reached"}
	if got := s.results(); !errors.Is(err, ErrTimeLimit) || !slices.Equal(got, want) {
		t.Errorf("results = %q, error %v, want %q", got, err, want)
	}
}
