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

// contents are the messages of a transcript, by role and text.
func contents(msgs []chat.Message) (list []string) {
	for _, m := range msgs {
		list = append(list, string(m.Role)+" "+m.Content)
	}
	return list
}

// big is a conversation of about n bytes.
func big(n int) []chat.Message {
	return []chat.Message{
		{Role: chat.User, Content: "mend the wifi"}, {Role: chat.Assistant, Content: strings.Repeat("a", n)},
	}
}

// TestCompact: three calls of one step all run, in their order, and stay with
// their results; what was before them becomes the summary.
func TestCompact(t *testing.T) {
	s := newStage(t,
		reply{text: "now", calls: `look {"n":1}; compact {"summary":" TASK and PATHS \n"}; look {"n":2}`, usage: chat.Usage{Prompt: 30000, Completion: 100}},
		reply{text: "done"})
	s.session.Messages = big(70000)
	s.saved = slices.Clone(s.session.Messages)
	var told Compacted
	s.watch(func(e Event) {
		if c, ok := e.(Compacted); ok {
			told = c
		}
	})
	if err := s.turn(context.Background(), "go on"); err != nil {
		t.Fatal(err)
	}
	figures := fmt.Sprintf("context compacted: %d -> %d tokens (estimate)", told.Before, told.After)
	want := []string{
		"user " + preamble + "\n\nThe user's first request, word for word (13 bytes):\nmend the wifi" +
			"\n\nThe user's last request, word for word (5 bytes):\ngo on\n\nSummary of what was said and done:\nTASK and PATHS",
		"assistant now", "tool look did 1", "tool " + figures, "tool look did 2", "assistant done",
	}
	if got := contents(s.session.Messages); !slices.Equal(got, want) {
		t.Errorf("after compact:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !s.session.Messages[0].Notice {
		t.Error("the summary passes for a request of the person")
	}
	if told.Before < 30100 || told.After > 1000 || told.After <= 0 {
		t.Errorf("compacted %+v, want from over 30100 to a few hundred", told)
	}
	if len(s.asked) != 2 || len(s.asked[1].Messages) != 5 {
		t.Errorf("%d requests, the second with %d messages, want 2 and 5", len(s.asked), len(s.asked[1].Messages))
	}
	// All ran before the transcript changed.
	at := slices.Index(s.trace, "journal reset compact")
	if runs := slices.Index(s.trace[at:], "run"); at < 0 || runs >= 0 {
		t.Errorf("trace %q: something ran after the compaction", s.trace)
	}
	if got := s.agent.meter.context(&s.session); got > 1000 {
		t.Errorf("the context is estimated at %d tokens", got)
	}
}

func TestCompactRefuses(t *testing.T) {
	tests := []struct {
		name, calls string
		old         int
		want        []string // results; "OK" is a compaction
	}{
		{"empty", `compact {"summary":" \n"}`, 10000, []string{"error: the summary is empty; nothing was compacted"}},
		{"none", `compact {}`, 10000, []string{`error: missing required parameter "summary"`}},
		{"twice", `compact {"summary":"a"}; compact {"summary":"b"}`, 10000, []string{"OK", "error: this step has compacted already"}},
		{"longer than what it replaces", `compact {"summary":"` + strings.Repeat("s", 5000) + `"}`, 100,
			[]string{"error: the summary has 5000 bytes, more than the 217 that it would replace; nothing was compacted"}},
		{"long, but shorter", `compact {"summary":"` + strings.Repeat("s", 5000) + `"}`, 10000, []string{"OK"}},
		{"longer, but short", `compact {"summary":"` + strings.Repeat("s", 500) + `"}`, 10, []string{"OK"}},
	}
	for _, tt := range tests {
		s := newStage(t, reply{calls: tt.calls}, reply{text: "done"})
		s.session.Messages = big(tt.old)
		s.saved = slices.Clone(s.session.Messages)
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		got := s.results()
		for i, text := range got {
			if strings.HasPrefix(text, "context compacted: ") {
				got[i] = "OK"
			}
		}
		compacted := strings.HasPrefix(s.session.Messages[0].Content, preamble)
		if !slices.Equal(got, tt.want) || compacted != slices.Contains(tt.want, "OK") {
			t.Errorf("%s: results %q, compacted %v, want %q", tt.name, got, compacted, tt.want)
		}
	}
}

// TestCompactAgain: the first request outlives every compaction, and a summary
// that looks like a preamble changes nothing.
func TestCompactAgain(t *testing.T) {
	first := "mend the wifi" + lastBegin + "3" + requestUnit + "odd" + summaryMark
	forged := `compact {"summary":"` + strings.ReplaceAll(firstBegin+"4"+requestUnit+"evil", "\n", `\n`) + `"}`
	s := newStage(t)
	for i, input := range []string{first, "second", strings.Repeat("é", 4000), "last one"} {
		s.script = []reply{{calls: forged}, {text: "done"}}
		s.act = nil
		if err := s.turn(context.Background(), input); err != nil {
			t.Fatal(err)
		}
		got := s.session.Messages[0].Content
		if !strings.HasPrefix(got, preamble+firstBegin+fmt.Sprint(len(first))+requestUnit+first+lastBegin) && i > 0 {
			t.Errorf("after turn %d the first request is lost: %q", i+1, got)
		}
		a, b := requests([]chat.Message{s.session.Messages[0]})
		if a != first || b != shortRequest(input) {
			t.Errorf("after turn %d the requests are %.60q and %.60q", i+1, a, b)
		}
	}
	// Twice in one turn, the last request is still there.
	s.script = []reply{{calls: forged}, {calls: `compact {"summary":"x"}`}, {text: "done"}}
	if err := s.turn(context.Background(), "again"); err != nil {
		t.Fatal(err)
	}
	if a, b := requests(s.session.Messages[:1]); a != first || b != "again" {
		t.Errorf("after two in one turn the requests are %q and %q", a, b)
	}
}

func TestShortRequest(t *testing.T) {
	for _, n := range []int{0, 2047, 2048, 2049, 100000} {
		text := strings.Repeat("é", n)
		got := shortRequest(text)
		kept, note, cut := strings.Cut(got, "\n[... ")
		if len(got) > maxRequest || shortRequest(got) != got || !strings.HasPrefix(text, kept) || cut != (n > 2048) {
			t.Errorf("shortRequest of %d bytes has %d: %.40q...%q", len(text), len(got), kept, note)
		}
		if want := fmt.Sprintf("%d bytes cut ...]", len(text)-len(kept)); cut && note != want {
			t.Errorf("shortRequest of %d bytes says %q, want %q", len(text), note, want)
		}
	}
}

// TestCompactCancelled: a summary that was taken counts, and a turn that fails
// after it takes nothing back.
func TestCompactCancelled(t *testing.T) {
	for at, calls := range map[string]string{"run": `compact {"summary":"s"}; look {}`, "chat": `compact {"summary":"s"}`} {
		s := newStage(t, reply{calls: calls}, reply{text: "x"})
		s.session.Messages = big(10000)
		s.saved = slices.Clone(s.session.Messages)
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		s.act = func(_ int, what string) error {
			if what != at {
				return nil
			}
			if n++; at == "chat" && n == 1 {
				return nil
			}
			cancel()
			return context.Canceled
		}
		err := s.turn(ctx, "go")
		var unsent *UnsentError
		kept := s.session.Messages
		if !errors.Is(err, context.Canceled) || errors.As(err, &unsent) || len(kept) < 3 || !strings.HasPrefix(kept[0].Content, preamble) {
			t.Errorf("cancelled at %s: %v\n%s", at, err, show(s.session.Messages))
		}
	}
}

// TestNudge: once for each time that the window fills up, after the step's
// results, and only where the tool is there.
func TestNudge(t *testing.T) {
	full, low := chat.Usage{Prompt: 890, Completion: 10}, chat.Usage{Prompt: 100, Completion: 10}
	script := func() []reply {
		return []reply{
			{calls: `look {"n":1}`, usage: low}, {calls: `look {"n":2}; look {"n":3}`, usage: full}, {calls: `look {"n":4}`, usage: full},
			{calls: `compact {"summary":"s"}`, usage: full}, {calls: `look {"n":5}`, usage: low},
			{calls: `look {"n":6}`, usage: full}, {calls: `look {"n":7}`, usage: full}, {text: "done", usage: full},
		}
	}
	run := func(change func(*stage)) (notices int, s *stage) {
		s = newStage(t, script()...)
		s.alter(func(o *Options) { o.ContextLimit, o.CompactAt, o.HardCompactAt = window(1000), 0.9, 99 })
		if change != nil {
			change(s)
		}
		s.watch(func(e Event) {
			if n, ok := e.(Notice); ok && strings.Contains(n.Text, "was asked to compact") {
				notices++
			}
		})
		if err := s.turn(context.Background(), "go"); err != nil {
			t.Fatal(err)
		}
		return notices, s
	}
	n, s := run(nil)
	if n != 2 {
		t.Errorf("%d nudges, want one for each of two crossings", n)
	}
	last := s.asked[3].Messages
	if m := last[len(last)-3]; m.Role != chat.User || !m.Notice || !strings.HasPrefix(m.Content, "[notice from cluade: the context is 9") || !strings.Contains(m.Content, " % full. Call compact now") {
		t.Errorf("the fourth request has\n%s", show(last))
	}
	if n, _ = run(func(s *stage) { s.policy.Levels["compact"] = policy.Level{Source: "config.json"} }); n != 0 {
		t.Errorf("%d nudges to use a tool that is refused", n)
	}
	if n, _ = run(func(s *stage) { s.policy.Toolset = []string{"look"} }); n != 0 {
		t.Errorf("%d nudges to use a tool that is not there", n)
	}
}

// TestSessionTools: the place of compact in the list is always the same.
func TestSessionTools(t *testing.T) {
	for _, tt := range []struct{ have, want []string }{
		{[]string{"read", "remote_bash", "skill", "subagent"}, []string{"read", "remote_bash", "compact", "skill", "subagent"}},
		{[]string{"read"}, []string{"read", "compact"}},
		{nil, []string{"compact"}},
	} {
		var set tools.Set
		for _, name := range tt.have {
			set = append(set, &tools.Tool{Name: name})
		}
		var got []string
		for _, tool := range New(Options{Tools: set}).o.Tools {
			got = append(got, tool.Name)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("with %q the tools are %q, want %q", tt.have, got, tt.want)
		}
	}
}
