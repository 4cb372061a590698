package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/tools"
)

func TestEndings(t *testing.T) {
	failed := errors.New("request failed (HTTP 401: no)")
	look := reply{calls: "look {}"}
	tests := []struct {
		name    string
		script  []reply
		err     error
		unsent  bool
		notice  string
		answer  string
		last    string // the last message
		request int    // how many were made
	}{
		{"answer", []reply{{text: "hi", finish: chat.FinishStop}}, nil, false, "", "hi", "hi", 1},
		{"calls although it says stop", []reply{{calls: "look {}", finish: chat.FinishStop}, {text: "hi"}}, nil, false, "", "hi", "hi", 2},
		{"no calls although it says so", []reply{{text: "hi", finish: chat.FinishCalls}}, nil, false, "", "hi", "hi", 1},
		{"cut answer", []reply{{text: "hi", finish: chat.FinishLength}}, nil, false,
			"the reply was cut at the output limit; raise it", "hi", "hi", 1},
		{"cut by the window", []reply{{text: "hi", finish: chat.FinishLength, usage: chat.Usage{Prompt: 1922, Completion: 6270}, window: 8192}}, nil, false,
			"the reply was cut where the model's window ended", "hi", "hi", 1},
		{"filtered", []reply{{text: "hi", finish: chat.FinishFilter}}, nil, false,
			"the server's content filter ended the reply", "hi", "hi", 1},
		{"empty", []reply{{}}, ErrEmpty, true, "", "", "", 1},
		{"blank", []reply{{text: " \n"}}, ErrEmpty, true, "", " \n", "", 1},
		{"empty by length", []reply{{finish: chat.FinishLength}}, ErrEmpty, true, "", "", "", 1},
		{"empty by filter", []reply{{finish: chat.FinishFilter}}, ErrEmpty, true, "", "", "", 1},
		{"empty later", []reply{look, {}}, ErrEmpty, false, "", "", "look did 0", 2},
		{"fails", []reply{{err: failed}}, failed, true, "", "", "", 1},
		{"fails later", []reply{look, {err: failed}}, failed, false, "", "", "look did 0", 2},
		{"breaks off", []reply{{text: "so far", calls: "look {}", err: failed}}, failed, false, "", "so far", "so far", 1},
		{"breaks off later", []reply{look, {text: "so far", err: failed}}, failed, false, "", "so far", "so far", 2},
	}
	for _, tt := range tests {
		s := newStage(t, tt.script...)
		var notices []string
		var end TurnEnd
		s.alter(func(o *Options) { o.TruncationHint = "raise it" })
		s.watch(func(e Event) {
			switch e := e.(type) {
			case Notice:
				notices = append(notices, e.Text)
			case TurnEnd:
				end = e
			}
		})
		err := s.turn(context.Background(), "go")
		if !errors.Is(err, tt.err) || tt.err == nil && err != nil {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.err)
		}
		var unsent *UnsentError
		if errors.As(err, &unsent) != tt.unsent {
			t.Errorf("%s: error %T, want unsent %v", tt.name, err, tt.unsent)
		}
		if got := strings.Join(notices, "|"); got != tt.notice {
			t.Errorf("%s: notices %q, want %q", tt.name, got, tt.notice)
		}
		last := ""
		if n := len(s.session.Messages); n > 0 {
			last = s.session.Messages[n-1].Content
		}
		if end.Answer != tt.answer || last != tt.last || len(s.asked) != tt.request {
			t.Errorf("%s: answer %q, last message %q, %d requests, want %q, %q, %d",
				tt.name, end.Answer, last, len(s.asked), tt.answer, tt.last, tt.request)
		}
	}
}

func TestRollback(t *testing.T) {
	s := newStage(t, reply{text: "hi"}, reply{err: errors.New("down")})
	if err := s.turn(context.Background(), "one"); err != nil {
		t.Fatal(err)
	}
	s.trace = nil
	err := s.turn(context.Background(), "two")
	var unsent *UnsentError
	if !errors.As(err, &unsent) || unsent.Input.Content != "two" || err.Error() != "down" {
		t.Errorf("error = %#v", err)
	}
	want := []string{"journal user", "chat", "reply", "journal truncate 2 failed", "journal state"}
	if len(s.session.Messages) != 2 || !slices.Equal(s.trace, want) {
		t.Errorf("%d messages, trace %q, want %q", len(s.session.Messages), s.trace, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.trace, s.fail["chat"] = nil, context.Canceled
	if err := s.turn(ctx, "three"); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v", err)
	}
	if !slices.Contains(s.trace, "journal truncate 2 cancel") {
		t.Errorf("trace = %q", s.trace)
	}
}

// TestImages: what goes with the text is sent and saved with it, and comes back
// with an input that had no answer.
func TestImages(t *testing.T) {
	s := newStage(t, reply{text: "a cat"}, reply{err: errors.New("down")})
	photo := []chat.Image{{Path: "/photo.jpg", Size: 3 << 20, Hash: "ab", MIME: "image/jpeg"}}
	input := chat.Message{Content: "what is this?", Images: photo}
	if err := s.start().agent.Turn(context.Background(), input); err != nil {
		t.Fatal(err)
	}
	for where, got := range map[string]chat.Message{"request": s.asked[0].Messages[0], "journal": s.saved[0]} {
		if got.Role != chat.User || got.Content != input.Content || !slices.Equal(got.Images, photo) {
			t.Errorf("the %s has %+v", where, got)
		}
	}
	if got := s.session.Context; got < 1000 || got > 2000 {
		t.Errorf("the context is estimated at %d tokens, want about a thousand for the image", got)
	}
	err := s.agent.Turn(context.Background(), input)
	var unsent *UnsentError
	if !errors.As(err, &unsent) || !slices.Equal(unsent.Input.Images, photo) {
		t.Errorf("error %#v, want the image back", err)
	}
}

func TestLimits(t *testing.T) {
	endless := func() []reply {
		var r []reply
		for i := range 50 {
			r = append(r, reply{calls: fmt.Sprintf(`look {"n":%d}`, i), usage: chat.Usage{Prompt: 90, Completion: 10}})
		}
		return r
	}
	s := newStage(t, endless()...)
	s.alter(func(o *Options) { o.MaxSteps = 3 })
	err := s.turn(context.Background(), "go")
	if !errors.Is(err, ErrMaxSteps) || err.Error() != "step limit of 3 reached" || len(s.asked) != 3 || len(s.results()) != 3 {
		t.Errorf("max steps: error %v, %d requests, %d results", err, len(s.asked), len(s.results()))
	}
	s = newStage(t, endless()...)
	s.alter(func(o *Options) { o.MaxTokens = 500 })
	if err := s.turn(context.Background(), "go"); !errors.Is(err, ErrMaxTokens) || len(s.asked) != 5 {
		t.Errorf("max tokens: error %v, %d requests", err, len(s.asked))
	}
	if s.session.Total.Total() != 500 || s.session.Steps != 5 {
		t.Errorf("total %d, steps %d", s.session.Total.Total(), s.session.Steps)
	}
	err = s.turn(context.Background(), "more")
	var unsent *UnsentError
	if !errors.Is(err, ErrMaxTokens) || !errors.As(err, &unsent) || len(s.asked) != 5 {
		t.Errorf("used up: error %v, %d requests", err, len(s.asked))
	}
}

// TestTokenLimitWithoutFigures: a server that tells no usage does not lift the
// limit.
func TestTokenLimitWithoutFigures(t *testing.T) {
	var script []reply
	for i := range 50 {
		script = append(script, reply{text: strings.Repeat("x", 350), calls: fmt.Sprintf(`look {"n":%d}`, i)})
	}
	s := newStage(t, script...)
	s.alter(func(o *Options) { o.MaxTokens = 1000 })
	err := s.turn(context.Background(), "go")
	if n := len(s.asked); !errors.Is(err, ErrMaxTokens) || n < 3 || n > 5 || s.session.Total.Total() != 0 {
		t.Errorf("error %v, %d requests, total %d, want the token limit after 3 to 5 and no total", err, n, s.session.Total.Total())
	}
}

// TestNoAnswerBesideCalls: what the model says beside a call that a guard let
// be its last is no answer.
func TestNoAnswerBesideCalls(t *testing.T) {
	s := newStage(t, reply{text: "let me look", calls: "look {}"})
	var end TurnEnd
	s.alter(func(o *Options) { o.MaxSteps = 1 })
	s.watch(func(e Event) {
		if e, ok := e.(TurnEnd); ok {
			end = e
		}
	})
	if err := s.turn(context.Background(), "go"); !errors.Is(err, ErrMaxSteps) || end.Answer != "" {
		t.Errorf("error %v, answer %q, want the step limit and none", err, end.Answer)
	}
}

// TestResumed: counters go on where the session stood.
func TestResumed(t *testing.T) {
	s := newStage(t, reply{text: "hi", usage: chat.Usage{Prompt: 40, Completion: 2}})
	s.session = chat.Session{
		Steps: 5, Total: chat.Usage{Prompt: 100, Completion: 10}, Context: 7,
		Messages: []chat.Message{{Role: chat.User, Content: "old"}, {Role: chat.Assistant, Content: "answer"}},
	}
	s.saved = slices.Clone(s.session.Messages)
	var end TurnEnd
	s.watch(func(e Event) {
		if v, ok := e.(TurnEnd); ok {
			end = v
		}
	})
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	state := s.states[0]
	if state.Steps != 6 || state.Total != (chat.Usage{Prompt: 140, Completion: 12}) || state.Context != 42 {
		t.Errorf("state = %d steps, %v, context %d", state.Steps, state.Total, state.Context)
	}
	if end.Usage != (chat.Usage{Prompt: 40, Completion: 2}) || end.Context != 42 {
		t.Errorf("TurnEnd = %+v", end)
	}
}

func TestLoop(t *testing.T) {
	repeat := func(n int, calls ...string) []reply {
		var r []reply
		for i := range n {
			r = append(r, reply{calls: calls[i%len(calls)]})
		}
		return append(r, reply{text: "done"})
	}
	tests := []struct {
		name     string
		script   []reply
		err      error
		calls    int
		notices  int      // messages for the model
		contains []string // of the error
	}{
		{"same call, same result", repeat(20, "look {}"), ErrStuck, 4, 1, []string{"look", "4 times"}},
		{"same call spelt otherwise", repeat(20, `look {"n":1,"x":2}`, `look { "x":2, "n":1 }`), ErrStuck, 4, 1, []string{"look"}},
		{"two in turn", repeat(30, `look {"n":1}`, `act {"n":2}`), ErrStuck, 7, 1, []string{"look", "act"}},
		{"refusals", repeat(20, `ban {"n":1}`, `zap {}`, `ban {"n":2}`, `look {`), ErrStuck, 5, 1, []string{"ban", "5 calls"}},
		{"twice is no loop", repeat(2, "look {}"), nil, 2, 0, nil},
		{"three times, then done", repeat(3, "look {}"), nil, 3, 1, nil},
	}
	for _, tt := range tests {
		s := newStage(t, tt.script...)
		err := s.turn(context.Background(), "go")
		if !errors.Is(err, tt.err) || tt.err == nil && err != nil {
			t.Errorf("%s: error %v, want %v", tt.name, err, tt.err)
		}
		for _, part := range tt.contains {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %v does not name %q", tt.name, err, part)
			}
		}
		notices := 0
		for _, m := range s.session.Messages {
			if m.Notice && m.Role == chat.User {
				notices++
			}
		}
		if len(s.results()) != tt.calls || notices != tt.notices {
			t.Errorf("%s: %d calls, %d notices, want %d, %d", tt.name, len(s.results()), notices, tt.calls, tt.notices)
		}
	}
}

// TestWatchingIsNoLoop: the same call with ever new results goes on, and a new
// input starts the counts anew.
func TestWatchingIsNoLoop(t *testing.T) {
	n := 0
	s := newStage(t)
	for range 8 {
		s.script = append(s.script, reply{calls: `poll {}`})
	}
	s.script = append(s.script, reply{text: "done"})
	s.alter(func(o *Options) {
		o.Policy.Levels["poll"] = policy.Level{Verdict: policy.Allow}
		o.Tools = append(o.Tools, s.tool("poll", policy.Execute, func(context.Context) (tools.Result, error) {
			n += 10
			return tools.Result{Text: fmt.Sprint(n, "%")}, nil
		}))
	})
	if err := s.turn(context.Background(), "go"); err != nil || len(s.session.Messages) != 18 {
		t.Errorf("error %v, %d messages, want 18", err, len(s.session.Messages))
	}
	for range 3 {
		s.script = []reply{{calls: "look {}"}, {calls: "look {}"}, {text: "done"}}
		if err := s.turn(context.Background(), "again"); err != nil {
			t.Error(err)
		}
	}
	for _, m := range s.session.Messages {
		if m.Notice {
			t.Errorf("the model was warned: %q", m.Content)
		}
	}
}

// TestJournalFailsOnce: one announcement, the error kept, no further write.
func TestJournalFailsOnce(t *testing.T) {
	s := newStage(t, long()...)
	s.fail["journal tool"] = errors.New("no space left on device")
	var notices []Notice
	s.watch(func(e Event) {
		if n, ok := e.(Notice); ok {
			notices = append(notices, n)
		}
	})
	for range 2 {
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		s.script = long()
	}
	want := Notice{Text: "the session is no longer saved: no space left on device", Warn: true}
	if !slices.Equal(notices, []Notice{want}) {
		t.Errorf("notices = %v", notices)
	}
	if s.agent.SaveError() == nil || len(s.saved) != 2 || len(s.states) != 0 {
		t.Errorf("error %v, saved %d messages and %d states after the fault", s.agent.SaveError(), len(s.saved), len(s.states))
	}
	if len(s.session.Messages) != 6 { // what the second turn's compaction left
		t.Errorf("%d messages in memory, want 6", len(s.session.Messages))
	}
}

func TestEvents(t *testing.T) {
	s := newStage(t, reply{text: "a", calls: `look {"n":1}`, usage: chat.Usage{Prompt: 10, Completion: 2}},
		reply{text: "b", usage: chat.Usage{Prompt: 20, Completion: 3}})
	var got []string
	s.watch(func(e Event) {
		switch v := e.(type) {
		case CallEnd:
			v.Elapsed = 0
			e = v
		case TurnEnd:
			if v.Elapsed <= 0 || v.Elapsed > time.Minute {
				t.Errorf("elapsed %v", v.Elapsed)
			}
			v.Elapsed = 0
			e = v
		}
		got = append(got, strings.TrimPrefix(fmt.Sprintf("%T%v", e, e), "agent."))
	})
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"StepStart{1}", "TextDelta{a}", "ReplyEnd{1}",
		`CallStart{{c1a look {"n":1} } }`, `CallEnd{{c1a look {"n":1} } 0  look did 1 0s}`,
		"StepStart{2}", "TextDelta{b}", "ReplyEnd{0}",
		"TurnEnd{b {30 5 0 0} 23 0s 0 <nil>}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("events = %q\nwant     %q", got, want)
	}
}

func TestDelta(t *testing.T) {
	tests := []struct {
		d    chat.Delta
		want Event
	}{
		{chat.Delta{Text: "x"}, TextDelta{"x"}},
		{chat.Delta{Reasoning: "x"}, ReasoningDelta{"x"}},
		{chat.Delta{Notice: "x"}, Notice{Text: "x"}},
		{chat.Delta{Restart: true}, ReplyRestart{}},
		{chat.Delta{Progress: 42}, Waiting{42}},
		{chat.Delta{}, nil},
	}
	for _, tt := range tests {
		var got Event
		New(Options{Emit: func(e Event) { got = e }}).delta(tt.d)
		if got != tt.want {
			t.Errorf("delta(%+v) = %v, want %v", tt.d, got, tt.want)
		}
	}
}

// TestToolsOffered: the model is told of the toolset alone, in the words for
// this device.
func TestToolsOffered(t *testing.T) {
	s := newStage(t, reply{text: "hi"})
	s.policy.Toolset = []string{"look", "act"}
	s.alter(func(o *Options) { o.Tools[1].Describe = func(*tools.Env) string { return "acts here" } })
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	want := []chat.ToolSpec{{Name: "look", Desc: "does look", Params: anyObject}, {Name: "act", Desc: "acts here", Params: anyObject}}
	if got := s.asked[0]; !slices.Equal(got.Tools, want) || got.System != "system" {
		t.Errorf("request = %+v, want tools %v", got, want)
	}
}

// TestNothingGiven: an agent without parts fails and refuses, and does not
// panic.
func TestNothingGiven(t *testing.T) {
	if err := New(Options{}).Turn(context.Background(), chat.Message{Content: "go"}); err == nil {
		t.Error("an agent without a model answered")
	}
	s := newStage(t, reply{calls: "look {}"}, reply{text: "done"})
	a := New(Options{Model: s, Tools: tools.Set{s.tool("look", policy.Read, nil)}})
	if err := a.Turn(context.Background(), chat.Message{Content: "go"}); err != nil || slices.Contains(s.trace, "run") {
		t.Errorf("error %v, trace %q", err, s.trace)
	}
}
