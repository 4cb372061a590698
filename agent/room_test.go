package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cluade/internal/chat"
)

const goodSummary = "<analysis>\nx\n</analysis>\n<summary>\nSUMMARY\n</summary>"

// exchanges are n turns of the past, each of about 350 bytes.
func exchanges(n int) (msgs []chat.Message) {
	for i := range n {
		msgs = append(msgs,
			chat.Message{Role: chat.User, Content: fmt.Sprint("question ", i)},
			chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: fmt.Sprint("p", i), Name: "look", Args: "{}"}}},
			chat.Message{Role: chat.Tool, ToolCallID: fmt.Sprint("p", i), Content: strings.Repeat("r", 300)},
			chat.Message{Role: chat.Assistant, Content: fmt.Sprint("answer ", i)})
	}
	return msgs
}

// crowded has a past of n turns and a window of that many tokens.
func crowded(t *testing.T, n, limit int, script ...reply) *stage {
	s := newStage(t, script...)
	s.alter(func(o *Options) { o.ContextLimit = window(limit) })
	s.session.Messages = exchanges(n)
	s.saved = slices.Clone(s.session.Messages)
	return s
}

// warned are the notices of a stage.
func warned(s *stage) *[]string {
	var list []string
	s.watch(func(e Event) {
		if n, ok := e.(Notice); ok {
			list = append(list, n.Text)
		}
	})
	return &list
}

// roles are the kinds and beginnings of messages.
func roles(msgs []chat.Message) string {
	var list []string
	for _, m := range msgs {
		text := m.Content
		if isOpening(m) {
			text = "OPENING"
		}
		list = append(list, string(m.Role)+" "+text[:min(len(text), 12)])
	}
	return strings.Join(list, "|")
}

func TestFullBeforeATurn(t *testing.T) {
	s := crowded(t, 10, 1100, reply{text: goodSummary}, reply{text: "done"})
	notices := warned(s)
	if err := s.turn(context.Background(), "go on"); err != nil {
		t.Fatal(err)
	}
	if got := roles(s.session.Messages); got != "user OPENING|user go on|assistant done" {
		t.Errorf("the conversation is %s", got)
	}
	if first := s.asked[0].Messages; len(first) != 41 || fmt.Sprint(first[:40]) != fmt.Sprint(exchanges(10)) {
		t.Errorf("the summary is asked for of\n%s", show(first))
	}
	open := s.session.Messages[0].Content
	if !strings.Contains(open, "The window was full. "+summaryMark+"SUMMARY") || strings.Contains(open, "go on") || !strings.Contains(open, "question 0") {
		t.Errorf("the conversation begins with %q", open)
	}
	if got := strings.Join(*notices, "|"); got != "the context is full; asking the model for a summary" {
		t.Errorf("notices %q", got)
	}
	// The input has a record of its own, as one that may yet go unanswered.
	if trace := strings.Join(s.trace, "|"); !strings.Contains(trace, "|journal reset compact|journal user|") {
		t.Errorf("trace %q", trace)
	}
}

// TestFullAndNoAnswer: an input without an answer is taken back from behind the
// summary.
func TestFullAndNoAnswer(t *testing.T) {
	s := crowded(t, 10, 1100, reply{text: goodSummary}, reply{err: errors.New("down")})
	err := s.turn(context.Background(), "go on")
	var unsent *UnsentError
	if !errors.As(err, &unsent) || unsent.Input.Content != "go on" || roles(s.session.Messages) != "user OPENING" {
		t.Errorf("error %v, the conversation is %s", err, roles(s.session.Messages))
	}
}

// TestFullInATurn: what the model has not seen yet stays whole.
func TestFullInATurn(t *testing.T) {
	s := newStage(t,
		reply{calls: `look {"n":1}`, usage: chat.Usage{Prompt: 100}},
		reply{calls: `look {"n":2}; look {"n":3}`, usage: chat.Usage{Prompt: 960}},
		reply{text: goodSummary},
		reply{text: "done", usage: chat.Usage{Prompt: 100}})
	s.alter(func(o *Options) { o.ContextLimit = window(1000) })
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	if got := roles(s.session.Messages); got != "user OPENING|assistant |tool look did 2|tool look did 3|assistant done" {
		t.Errorf("the conversation is %s", got)
	}
	// The request for the summary is the last one with one message more.
	if last, sum := s.asked[1].Messages, s.asked[2].Messages; len(sum) != len(last)+1 || fmt.Sprint(sum[:len(last)]) != fmt.Sprint(last) {
		t.Errorf("the summary is asked for with\n%safter\n%s", show(sum), show(last))
	}
}

// TestFullAndNoSummary: where there is none the oldest exchanges go, before an
// input of the person only.
func TestFullAndNoSummary(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Options)
		first  []reply
		told   string
	}{
		{"off", func(o *Options) { o.NoCompaction = true }, nil, ""},
		{"fails", nil, []reply{{err: errors.New("HTTP 500")}}, "the conversation could not be compacted: HTTP 500"},
		{"too long", nil, []reply{{err: &chat.OverflowError{Err: errors.New("too long")}}}, "the conversation could not be compacted: too long"},
		{"empty", nil, []reply{{}}, "the conversation could not be compacted: the summary is empty"},
		{"long", nil, []reply{{text: strings.Repeat("s", 3500)}}, "the conversation could not be compacted: the summary has 3500 bytes and would leave no room in the window"},
		{"larger", nil, []reply{{text: strings.Repeat("s", 6000)}}, "the conversation could not be compacted: the summary has 6000 bytes, more than"},
	}
	for _, tt := range tests {
		s := crowded(t, 10, 1100, append(tt.first, reply{text: "done"})...)
		if tt.change != nil {
			s.alter(tt.change)
		}
		notices := warned(s)
		var told Compacted
		s.watch(func(e Event) {
			if c, ok := e.(Compacted); ok {
				told = c
			}
		})
		if err := s.turn(context.Background(), "go on"); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if told.Before < 1045 || told.After <= 0 || told.After > 800 {
			t.Errorf("%s: compacted %+v", tt.name, told)
		}
		msgs := s.session.Messages
		if !isOpening(msgs[0]) || !strings.Contains(msgs[0].Content, "The window was full. What was said and done before the next message is left out.") ||
			!strings.Contains(msgs[0].Content, "question 0") {
			t.Errorf("%s: the conversation begins with %q", tt.name, msgs[0].Content)
		}
		sent := s.asked[len(s.asked)-1].Messages
		if n := len(sent); n < 6 || n%4 != 2 || !strings.HasPrefix(sent[1].Content, "question ") || sent[n-1].Content != "go on" {
			t.Errorf("%s: sent\n%s", tt.name, show(sent))
		}
		if got := s.agent.meter.tokens(s.agent.meter.fixed + size(sent)); got > 550+200 { // half, and the opening
			t.Errorf("%s: %d tokens remain of 1100", tt.name, got)
		}
		said := "|" + strings.Join(*notices, "|")
		if tt.told == "" && strings.Contains(said, "could not") || !strings.Contains(said, tt.told) || !strings.Contains(said, "|the context is full; the oldest ") {
			t.Errorf("%s: notices %q", tt.name, said)
		}
		if !slices.Contains(s.trace, "journal reset trim") {
			t.Errorf("%s: trace %q", tt.name, s.trace)
		}
	}
}

// TestTrimKeepsTheSummary: what an earlier compaction left stays at the head.
func TestTrimKeepsTheSummary(t *testing.T) {
	s := crowded(t, 0, 1100, reply{text: "done"})
	s.alter(func(o *Options) { o.NoCompaction = true })
	head := opening("SUMMARY", nil)
	s.session.Messages = append([]chat.Message{head}, exchanges(10)...)
	s.saved = slices.Clone(s.session.Messages)
	if err := s.turn(context.Background(), "go on"); err != nil {
		t.Fatal(err)
	}
	if got := s.session.Messages; fmt.Sprint(got[0]) != fmt.Sprint(head) || len(got) > 25 || got[1].Role != chat.User {
		t.Errorf("the conversation is\n%s", show(got))
	}
}

// TestTrimDropsALongSummary: one that fills the window by itself, as after a
// change to a model with a small one, does not end the session.
func TestTrimDropsALongSummary(t *testing.T) {
	s := crowded(t, 0, 1100, reply{text: "done"})
	s.session.Messages = []chat.Message{opening(strings.Repeat("s", 4000), nil), {Role: chat.Assistant, Content: "ok"}}
	s.saved = slices.Clone(s.session.Messages)
	s.script = []reply{{err: errors.New("down")}, {text: "done"}}
	if err := s.turn(context.Background(), "go on"); err != nil {
		t.Fatal(err)
	}
	if got := s.session.Messages; len(got) != 3 || !isOpening(got[0]) || len(got[0].Content) > 500 || got[1].Content != "go on" {
		t.Errorf("the conversation is\n%s", show(got))
	}
}

// TestFixedPartTooLarge: nothing is sent, nothing changes, and context_limit is
// named.
func TestFixedPartTooLarge(t *testing.T) {
	for name, change := range map[string]func(*stage){
		"the system message and the tools alone have": func(s *stage) { s.alter(func(o *Options) { o.ContextLimit = window(50) }) },
		"what cannot be left out has":                 func(s *stage) { s.alter(func(o *Options) { o.ContextLimit = window(900) }) },
	} {
		s := crowded(t, 10, 0)
		change(s)
		err := s.turn(context.Background(), strings.Repeat("long ", 700))
		var unsent *UnsentError
		if !errors.Is(err, ErrWindow) || !errors.As(err, &unsent) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "context_limit is ") {
			t.Errorf("%s: error %v", name, err)
		}
		if len(s.asked) != 0 || len(s.session.Messages) != 40 {
			t.Errorf("%s: %d requests, %d messages", name, len(s.asked), len(s.session.Messages))
		}
	}
}

// TestTwoCompactions: a turn that fills the window again and again asks for two
// summaries and no more. The next turn may ask again.
func TestTwoCompactions(t *testing.T) {
	s := newStage(t)
	s.alter(func(o *Options) { o.ContextLimit = window(1000) })
	for i := range 4 {
		s.script = append(s.script, reply{text: strings.Repeat("t", 2000), calls: fmt.Sprintf(`look {"n":%d}`, i)})
		if i > 0 {
			s.script = append(s.script, reply{text: goodSummary})
		}
	}
	err := s.turn(context.Background(), "go on")
	if !errors.Is(err, ErrWindow) || len(s.asked) != 6 || len(s.script) != 1 {
		t.Errorf("error %v after %d requests, want two summaries between four steps", err, len(s.asked))
	}
	s.script = append(s.script, reply{text: "done"})
	if err := s.turn(context.Background(), "continue"); err != nil || roles(s.session.Messages) != "user OPENING|user continue|assistant done" {
		t.Errorf("the turn after: %v, %s", err, roles(s.session.Messages))
	}
}

// TestTrimBeforeInputsOnly: what the program said is no place to cut.
func TestTrimBeforeInputsOnly(t *testing.T) {
	s := crowded(t, 10, 1100, reply{text: "done"})
	s.alter(func(o *Options) { o.NoCompaction = true })
	var noted []chat.Message
	for i, m := range s.session.Messages {
		if noted = append(noted, m); i%4 == 2 {
			noted = append(noted, chat.Message{Role: chat.User, Notice: true, Content: "[notice]"})
		}
	}
	s.session.Messages, s.saved = noted, slices.Clone(noted)
	if err := s.turn(context.Background(), "go on"); err != nil {
		t.Fatal(err)
	}
	if got := s.session.Messages[1]; !strings.HasPrefix(got.Content, "question ") {
		t.Errorf("cut before %+v", got)
	}
}

// TestTrimForNothing: where leaving out does not help, nothing is left out.
func TestTrimForNothing(t *testing.T) {
	s := crowded(t, 10, 1100)
	s.alter(func(o *Options) { o.NoCompaction = true })
	s.start()
	s.agent.meter.measure(&s.session, s.agent.request())
	input := strings.Repeat("x", 1100*95/100*7/2-s.agent.meter.fixed-messageFrame-10) // it fits alone, and hardly
	if err := s.turn(context.Background(), input); !errors.Is(err, ErrWindow) || len(s.asked) != 0 || len(s.session.Messages) != 40 {
		t.Errorf("error %v, %d requests, %d messages", err, len(s.asked), len(s.session.Messages))
	}
}

// TestNothingToTrim: a summary that has room is not given up although the server
// counts more than there is.
func TestNothingToTrim(t *testing.T) {
	s := crowded(t, 0, 1100, reply{text: "one", usage: chat.Usage{Prompt: 1090}}, reply{text: "two"})
	s.alter(func(o *Options) { o.NoCompaction = true })
	s.session.Messages = []chat.Message{opening("SUMMARY", nil), {Role: chat.Assistant, Content: "ok"}}
	s.saved = slices.Clone(s.session.Messages)
	s.agent = nil
	for _, input := range []string{"first", "second"} {
		if err := s.turn(context.Background(), input); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.session.Messages[0].Content; !strings.Contains(got, "SUMMARY") {
		t.Errorf("the conversation begins with %q", got)
	}
}

// TestOverflow: the server's refusal shortens the conversation once, and the
// request is made again.
func TestOverflow(t *testing.T) {
	full := func(limit int) reply {
		return reply{err: &chat.OverflowError{Limit: limit, Err: errors.New("HTTP 400: too long")}}
	}
	step := func(n int) reply { return reply{calls: fmt.Sprintf(`look {"n":%d}`, n)} }
	tests := []struct {
		name     string
		past     int
		script   []reply
		err      string
		requests int
		want     string
	}{
		{"once", 4, []reply{step(1), step(2), full(0), {text: goodSummary}, {text: "done"}}, "<nil>", 5,
			"user OPENING|assistant |tool look did 2|assistant done"},
		{"with a window", 4, []reply{step(1), step(2), full(600), {text: goodSummary}, {text: "done"}}, "<nil>", 5,
			"user OPENING|assistant |tool look did 2|assistant done"},
		{"far beyond a window", 4, []reply{step(1), step(2), full(400), {text: "done"}}, "<nil>", 4, // no summary fits either
			"user OPENING|user go|assistant |tool look did 1|assistant |tool look did 2|assistant done"},
		{"again", 4, []reply{step(1), step(2), full(0), {text: goodSummary}, full(0)}, "HTTP 400: too long", 5,
			"user OPENING|assistant |tool look did 2"},
		{"at the first message", 0, []reply{full(0)}, "HTTP 400: too long", 1, ""},
		{"with nothing to leave out", 0, []reply{step(1), full(0)}, "HTTP 400: too long", 2, "user go|assistant |tool look did 1"},
		{"after text", 0, []reply{step(1), step(2), {text: "half", err: full(0).err}}, "HTTP 400: too long", 3,
			"user go|assistant |tool look did 1|assistant |tool look did 2|assistant half"},
	}
	for _, tt := range tests {
		s := crowded(t, tt.past, 0, tt.script...)
		restarts := 0
		s.watch(func(e Event) {
			if _, ok := e.(ReplyRestart); ok {
				restarts++
			}
		})
		err := s.turn(context.Background(), "go")
		if fmt.Sprint(err) != tt.err || len(s.asked) != tt.requests || roles(s.session.Messages) != tt.want {
			t.Errorf("%s: %v, %d requests, %s, want %s, %d, %s", tt.name, err, len(s.asked), roles(s.session.Messages), tt.err, tt.requests, tt.want)
		}
		if again := tt.past > 0; again != (restarts == 1) {
			t.Errorf("%s: %d restarts", tt.name, restarts)
		}
		if tt.requests == 1 && s.agent.guessed != 0 {
			t.Errorf("%s: a refused request counts %d tokens", tt.name, s.agent.guessed)
		}
	}
	// No summary to be had: a past of its own is left out.
	s := crowded(t, 4, 200000, full(0), full(0), reply{text: "done"})
	if err := s.turn(context.Background(), "go on"); err != nil {
		t.Fatal(err)
	}
	if first, last := s.asked[0].Messages, s.asked[2].Messages; size(last) > size(first)/2+300 || last[len(last)-1].Content != "go on" {
		t.Errorf("sent again\n%s", show(last))
	}
}

// TestFullCancelled: a cancel while the summary is made takes nothing away but
// the input that has no answer.
func TestFullCancelled(t *testing.T) {
	s := crowded(t, 10, 1100, reply{text: goodSummary})
	before := fmt.Sprint(s.session.Messages)
	ctx, cancel := context.WithCancel(context.Background())
	s.act = func(_ int, what string) error {
		if what == "reply" {
			cancel()
		}
		return nil
	}
	err := s.turn(ctx, "go on")
	var unsent *UnsentError
	if !errors.Is(err, context.Canceled) || !errors.As(err, &unsent) || fmt.Sprint(s.session.Messages) != before {
		t.Errorf("error %v\n%s", err, show(s.session.Messages))
	}
}

// TestContext: the kinds are those of the request, and the tokens those of the
// status bar.
func TestContext(t *testing.T) {
	s := newStage(t,
		reply{text: "I look", calls: `look {"n":1}`, usage: chat.Usage{Prompt: 100, Completion: 20}},
		reply{text: "well", usage: chat.Usage{Prompt: 140, Completion: 5}})
	var end TurnEnd
	s.watch(func(e Event) {
		if e, ok := e.(TurnEnd); ok {
			end = e
		}
	})
	before := s.start().agent.Context()
	if before.Counted != 0 || before.Tokens == 0 || before.Inputs != 0 {
		t.Errorf("before the first turn: %+v", before)
	}
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	s.session.Messages[1].Reasoning, s.session.Messages[1].ReasoningKey = "thought", "reasoning"
	got := s.agent.Context()
	want := Context{System: 6, Tools: before.Tools, Inputs: messageFrame + 2, Replies: 2*messageFrame + 10, Reasoning: 7,
		Calls: callFrame + len("c1a") + len(`look{"n":1}`), Results: messageFrame + len("look did 1") + len("c1a"), Tokens: 145, Counted: 145, Limit: 200000}
	if got != want || end.Context != got.Tokens || s.session.Context != got.Tokens {
		t.Errorf("Context() = %+v, want %+v; the status bar shows %d", got, want, end.Context)
	}
	if before.Tools < 3*len(anyObject) {
		t.Errorf("tool schemas of %d bytes", before.Tools)
	}
}

// TestSetWindow: a window that is told before the first reply counts for it.
func TestSetWindow(t *testing.T) {
	s := crowded(t, 10, 0, reply{text: goodSummary}, reply{text: "done"}).start()
	s.agent.SetWindow(1100)
	s.agent.SetWindow(0)
	if err := s.turn(context.Background(), "go on"); err != nil || len(s.asked) != 2 || s.agent.ContextLimit() != 1100 {
		t.Errorf("error %v, %d requests, a window of %d", err, len(s.asked), s.agent.ContextLimit())
	}
}

// TestWindowOfTheModel: another model's own window counts from the switch on.
func TestWindowOfTheModel(t *testing.T) {
	limit := 0
	s := newStage(t, reply{text: "hi", window: 8192})
	s.alter(func(o *Options) { o.ContextLimit = func() int { return limit } })
	if err := s.turn(context.Background(), "go"); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		model     string
		set, want int
	}{{"", 0, 8192}, {"local", 4096, 4096}, {"other", 0, defaultWindow}, {"", 0, 8192}} {
		s.session.Model, limit = step.model, step.set
		if got := s.agent.ContextLimit(); got != step.want {
			t.Errorf("ContextLimit of %q with %d set = %d, want %d", step.model, step.set, got, step.want)
		}
	}
}
