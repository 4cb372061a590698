package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/tools"
)

// everything is a rule on every call.
func everything(t *testing.T) policy.Rule {
	t.Helper()
	r, err := policy.ParseRule("*", "x")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestOrder is the whole trace of one call that is asked about. Refuse and Gate
// are pure and leave none; TestOrderOfStages holds their places.
func TestOrder(t *testing.T) {
	s := newStage(t, reply{calls: `act {"n":1}`}, reply{text: "done"})
	s.post = " (post)"
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"journal user", "chat", "reply", "journal assistant",
		"subject", "pre", "preview", "approve", "CallStart", "run", "post", "journal tool", "CallEnd",
		"chat", "reply", "journal assistant", "journal state",
	}
	if !slices.Equal(s.trace, want) {
		t.Errorf("trace = %q\nwant    %q", s.trace, want)
	}
	if got := s.results(); !slices.Equal(got, []string{"act did 1 (post)"}) {
		t.Errorf("results = %q", got)
	}
}

// TestOrderOfStages makes two stages of a call fail at once, for every pair: the
// earlier one must end the call, and nothing behind it may have happened. So no
// two stages can change places.
func TestOrderOfStages(t *testing.T) {
	type ending struct {
		name  string
		spoil func(*stage)
		text  string // the result
		last  string // the last thing that happened before it
	}
	endings := []ending{
		{"cancelled", func(s *stage) { s.cancelDuring("journal assistant") }, "error: cancelled by the user", "journal assistant"},
		{"parse", func(s *stage) { s.fail["subject"] = errors.New("bad path") }, "error: bad path", "subject"},
		{"deny rule", func(s *stage) {
			s.policy.Rules.Deny = []policy.Rule{everything(t)}
		}, "error: denied by rule * (x)", "subject"},
		{"boundary", func(s *stage) { s.policy.Mode = policy.ModePlan }, "error: denied: plan mode allows only looking", "subject"},
		{"refuse", func(s *stage) { s.policy.Levels["act"] = policy.Level{Source: "x"} },
			"error: denied: permission for act is deny (x)", "subject"},
		{"pre", func(s *stage) { s.fail["pre"] = errors.New("not today") }, "error: denied by hook: not today", "pre"},
		{"preview", func(s *stage) { s.fail["preview"] = errors.New("no match") }, "error: no match", "preview"},
		{"gate", func(s *stage) { s.policy.Attended = false },
			"error: denied: act needs approval and no one is here to give it", "preview"},
		{"cancelled while asked", func(s *stage) { s.cancelDuring("approve") }, "error: cancelled by the user", "approve"},
		{"approve", func(s *stage) { s.answer = No }, "error: denied by the user", "approve"},
		{"run", func(s *stage) { s.fail["run"] = errors.New("broke") }, "error: broke", "post"},
	}
	for i, first := range endings {
		for _, second := range endings[i:] {
			s := newStage(t, reply{calls: `act {"n":1}`}, reply{text: "done"})
			first.spoil(s)
			second.spoil(s)
			ctx, cancel := context.WithCancel(context.Background())
			s.cancel = cancel
			if err := s.turn(ctx, "go"); err != nil && ctx.Err() == nil {
				t.Fatal(err)
			}
			cancel()
			name := first.name + " and " + second.name
			if got := s.results(); len(got) != 1 || got[0] != first.text {
				t.Errorf("%s: results = %q, want %q", name, got, first.text)
			}
			end := slices.Index(s.trace, "journal tool")
			if got := s.trace[end-1]; got != first.last {
				t.Errorf("%s: the last thing before the result was %q, want %q; trace %q", name, got, first.last, s.trace)
			}
		}
	}
}

// TestOrderOfTheGate: the gate comes after the preview, so what changes while a
// file is read for it still counts: a rule, and that the person has gone.
func TestOrderOfTheGate(t *testing.T) {
	tests := []struct {
		name, call string
		change     func(*policy.Policy)
		text       string
	}{
		{"a rule", `look {}`, func(p *policy.Policy) {
			p.Rules.Ask = []policy.Rule{everything(t)}
		}, "error: denied by the user"},
		{"nobody there", `act {}`, func(p *policy.Policy) { p.Attended = false },
			"error: denied: act needs approval and no one is here to give it"},
	}
	for _, tt := range tests {
		s := newStage(t, reply{calls: tt.call}, reply{text: "done"})
		s.answer = No
		s.act = func(_ int, what string) error {
			if what == "preview" {
				tt.change(&s.policy)
			}
			return nil
		}
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		if got := s.results(); !slices.Equal(got, []string{tt.text}) {
			t.Errorf("%s: results = %q, want %q", tt.name, got, tt.text)
		}
	}
}

func TestOutcomes(t *testing.T) {
	tests := []struct {
		name    string
		call    string
		spoil   func(*stage)
		outcome Outcome
		text    string
		refused int
	}{
		{"done", `look {"n":7}`, nil, Done, "look did 7", 0},
		{"asked and allowed", `act {}`, nil, Done, "act did 0", 0},
		{"unknown tool", `zap {}`, nil, Invalid, `error: unknown tool "zap"; available: look, act, ban*`, 0},
		{"no JSON", `look {"n":`, nil, Invalid, "error: arguments are not valid JSON: *", 0},
		{"wrong type", `look {"n":"x"}`, nil, Invalid, "error: *", 0},
		{"denied", `ban {}`, nil, Denied, "error: denied: permission for ban is deny (config.json)", 1},
		{"blocked", `look {}`, func(s *stage) { s.fail["pre"] = errors.New("no") }, Blocked, "error: denied by hook: no", 1},
		{"refused", `act {}`, func(s *stage) { s.answer = No }, Denied, "error: denied by the user", 1},
		{"odd answer", `act {}`, func(s *stage) { s.answer = 7 }, Denied, "error: denied by the user", 1},
		{"always that was not offered", `act {}`, func(s *stage) { s.answer = Always }, Denied, "error: denied by the user", 1},
		{"approver fails", `act {}`, func(s *stage) { s.fail["approve"] = errors.New("no tty") }, Denied,
			"error: denied: act needs approval and no one is here to give it", 1},
		{"no approver", `act {}`, func(s *stage) { s.change = func(o *Options) { o.Approver = nil } }, Denied,
			"error: denied: act needs approval and no one is here to give it", 1},
		{"no policy", `look {}`, func(s *stage) { s.change = func(o *Options) { o.Policy = nil } }, Denied,
			"error: denied: permission for look is deny (no level is set)", 1},
		{"a hook asks", `look {}`, func(s *stage) { s.wish, s.answer = policy.WishAsk, No }, Denied, "error: denied by the user", 1},
		{"outside the toolset", `look {}`, func(s *stage) {
			s.policy.Toolset, s.policy.Boundary = []string{"act"}, "plan mode allows only looking"
		}, Denied, "error: denied: plan mode allows only looking", 1},
		{"tool error", `look {}`, func(s *stage) { s.fail["run"] = errors.New("disk full") }, Failed, "error: disk full", 0},
		{"tool failure", `run {}`, nil, Failed, "sh: x: not found\n[exit code: 127]", 0},
		{"panic in run", `bad {}`, nil, Failed, "error: internal error in bad: boom", 0},
		{"panic in subject", `look {}`, func(s *stage) { s.act = boom("subject") }, Invalid, "error: internal error in look: boom", 0},
		{"panic in preview", `look {}`, func(s *stage) { s.act = boom("preview") }, Invalid, "error: internal error in look: boom", 0},
		{"nothing said", `mute {}`, nil, Done, "(no output)", 0},
		{"control bytes", `loud {}`, nil, Done, "red\ufffd", 0},
	}
	for _, tt := range tests {
		s := newStage(t, reply{calls: tt.call}, reply{text: "done"})
		if tt.spoil != nil {
			tt.spoil(s)
		}
		s.addTools("run", tools.Result{Text: "sh: x: not found\n[exit code: 127]", Failed: true},
			"mute", tools.Result{Text: "\x1b[m"}, "loud", tools.Result{Text: "\x1b[31mred\x07\xff"}, "bad", nil)
		var end CallEnd
		var done TurnEnd
		s.watch(func(e Event) {
			switch e := e.(type) {
			case CallEnd:
				end = e
			case TurnEnd:
				done = e
			}
		})
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		got := s.results()[0]
		if prefix, ok := strings.CutSuffix(tt.text, "*"); got != tt.text && !(ok && strings.HasPrefix(got, prefix)) {
			t.Errorf("%s: result %q, want %q", tt.name, got, tt.text)
		}
		if end.Outcome != tt.outcome || end.Text != got || done.Refused != tt.refused {
			t.Errorf("%s: outcome %v, text %q, refused %d, want %v, %q, %d",
				tt.name, end.Outcome, end.Text, done.Refused, tt.outcome, got, tt.refused)
		}
	}
}

// TestHooksReadCleanText: what looks for a secret in a result must not miss one
// that the program colours in the middle.
func TestHooksReadCleanText(t *testing.T) {
	s := newStage(t, reply{calls: "loud {}"}, reply{text: "done"})
	s.addTools("loud", tools.Result{Text: "key=ab\x1b[01;31mcd\x1b[m\x00ef"})
	s.post = "!"
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	if want := "key=abcdef"; s.posted != want || s.results()[0] != want+"!" {
		t.Errorf("the hook reads %q, the model %q, want %q", s.posted, s.results()[0], want)
	}
}

// TestOrderOfTheEnd: a hook reads the whole result, and what it adds counts
// against the limit like the rest.
func TestOrderOfTheEnd(t *testing.T) {
	const limit = 100
	whole := strings.Repeat("line\n", 2*limit)
	s := newStage(t, reply{calls: "long {}"}, reply{text: "done"})
	s.addTools("long", tools.Result{Text: whole})
	s.alter(func(o *Options) { o.ResultBytes = limit })
	s.post = "(post)"
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	got := s.results()[0]
	if s.posted != whole || len(got) > limit || !strings.Contains(got, cutEnd) || !strings.HasSuffix(got, s.post) {
		t.Errorf("the hook reads %d of %d bytes, the result is %q", len(s.posted), len(whole), got)
	}
}

// cancelDuring ends the turn at a point of the trace.
func (s *stage) cancelDuring(point string) {
	before := s.act
	s.act = func(n int, what string) error {
		if before != nil {
			_ = before(n, what)
		}
		s.cancelAt(what, point)
		return nil
	}
}

func boom(at string) func(int, string) error {
	return func(_ int, what string) error {
		if what == at {
			panic("boom")
		}
		return nil
	}
}

// addTools adds pairs of a name and a result; nil panics.
func (s *stage) addTools(pairs ...any) {
	s.alter(func(o *Options) {
		for i := 0; i < len(pairs); i += 2 {
			name, res := pairs[i].(string), pairs[i+1]
			if o.Policy != nil {
				o.Policy.Levels[name] = policy.Level{Verdict: policy.Allow}
			}
			o.Tools = append(o.Tools, s.tool(name, policy.Execute, func(context.Context) (tools.Result, error) {
				if res == nil {
					panic("boom")
				}
				return res.(tools.Result), nil
			}))
		}
	})
}

// alter adds one change of the options to those before.
func (s *stage) alter(f func(*Options)) {
	before := s.change
	s.change = func(o *Options) {
		if before != nil {
			before(o)
		}
		f(o)
	}
}

// watch adds a reader of events.
func (s *stage) watch(f func(Event)) {
	s.alter(func(o *Options) {
		emit := o.Emit
		o.Emit = func(e Event) {
			emit(e)
			f(e)
		}
	})
}

// TestNothingIsRunInACutReply: a call that the output limit broke is told so,
// and one whose arguments are gone altogether does not run with none.
func TestNothingIsRunInACutReply(t *testing.T) {
	for _, calls := range []string{`look {"n":1`, `look`, `look {"n":1}; look {"n"`} {
		s := newStage(t, reply{calls: calls, finish: chat.FinishLength}, reply{text: "done"})
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		got := s.results()
		want := "error: the reply was cut at the output limit (max_tokens) before this call was whole"
		if last := got[len(got)-1]; !strings.HasPrefix(last, want) {
			t.Errorf("%s: result %q, want %q...", calls, last, want)
		}
		if ran := strings.Count(fmt.Sprint(s.trace), " run "); ran != len(got)-1 {
			t.Errorf("%s: %d calls ran", calls, ran)
		}
	}
	s := newStage(t, reply{calls: "look", finish: chat.FinishCalls}, reply{calls: `look {`}, reply{text: "done"})
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	if got := s.results(); got[0] != "look did 0" || strings.Contains(got[1], "cut") {
		t.Errorf("whole replies: results = %q", got)
	}
}

// TestAlways: an answer for good is passed on once, with the rule that was
// shown, and only where one was shown.
func TestAlways(t *testing.T) {
	tests := []struct {
		name    string
		spoil   func(*stage)
		granted []string
		text    string
	}{
		{"offered", nil, []string{"ext"}, "ext did 0"},
		{"firm", func(s *stage) { s.wish = policy.WishAsk }, nil, "error: denied by the user"},
		{"nowhere to keep it", func(s *stage) { s.alter(func(o *Options) { o.Grant = nil }) }, nil, "error: denied by the user"},
	}
	for _, tt := range tests {
		s := newStage(t, reply{calls: `ext {}`}, reply{text: "done"})
		s.answer = Always
		var granted []string
		s.alter(func(o *Options) {
			o.Grant = func(rule string) { granted = append(granted, rule) }
			o.Tools = append(o.Tools, s.tool("ext", policy.External, nil))
		})
		if tt.spoil != nil {
			tt.spoil(s)
		}
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		if got := s.results()[0]; got != tt.text || !slices.Equal(granted, tt.granted) {
			t.Errorf("%s: result %q, granted %q, want %q, %q", tt.name, got, granted, tt.text, tt.granted)
		}
	}
}

func TestHintOnce(t *testing.T) {
	s := newStage(t, reply{calls: "act {}"}, reply{calls: "act {}"}, reply{text: "done"}, reply{calls: "act {}"}, reply{text: "done"})
	s.policy.Attended = false
	var hints []string
	s.watch(func(e Event) {
		if n, ok := e.(Notice); ok {
			hints = append(hints, n.Text)
		}
	})
	for range 2 {
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
	}
	want := `act was refused: "permissions": {"act": "allow"} in the configuration would allow it`
	if !slices.Equal(hints, []string{want, want}) {
		t.Errorf("notices in two turns = %q, want one a turn", hints)
	}
	for _, r := range s.results() {
		if strings.Contains(r, "permissions") {
			t.Errorf("the model was told how to widen its permissions: %q", r)
		}
	}
}
