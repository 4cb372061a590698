package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"cluade/internal/chat"
)

func TestMeter(t *testing.T) {
	s := &chat.Session{Model: "m", Messages: []chat.Message{{Content: strings.Repeat("x", 64)}}}
	req := chat.Request{System: "system", Messages: s.Messages, Tools: []chat.ToolSpec{{Name: "tool", Desc: "d", Params: "{}"}}}
	var m meter
	grow := func(bytes int) { s.Messages = append(s.Messages, chat.Message{Content: strings.Repeat("x", bytes)}) }

	const sent = 6 + 7 + toolFrame + 64 + messageFrame
	grow(7)
	m.learn(s, req, chat.Reply{})
	if got, want := m.context(s), (sent+7+messageFrame)*2/7; got != want {
		t.Errorf("without figures: %d, want %d", got, want)
	}
	m.learn(s, req, chat.Reply{Usage: chat.Usage{Prompt: sent, Completion: 5}})
	if got := m.context(s); got != sent+5 {
		t.Errorf("with figures: %d, want %d", got, sent+5)
	}
	grow(100) // a byte was a token
	if got := m.context(s); got != sent+5+100+messageFrame {
		t.Errorf("after a message: %d, want %d", got, sent+5+100+messageFrame)
	}
	for _, prompt := range []int{1, sent / 9, sent + 1, 1 << 30} {
		m.learn(s, req, chat.Reply{Usage: chat.Usage{Prompt: prompt, Completion: 1}})
		if m.ratio != 1 {
			t.Errorf("ratio %v was believed", m.ratio)
		}
	}
	s.Messages = s.Messages[:1]
	m.forget()
	if got := m.context(s); got != sent {
		t.Errorf("after a cut: %d, want %d", got, sent)
	}
	s.Model = "other"
	m.learn(s, req, chat.Reply{})
	if got, want := m.context(s), sent*2/7; got != want {
		t.Errorf("another model: %d, want %d", got, want)
	}
}

func window(n int) func() int { return func() int { return n } }

func TestContextLimit(t *testing.T) {
	tests := []struct {
		option, window int
		overflow       bool
		want           int
	}{
		{0, 0, false, 200000}, {0, 8192, false, 8192}, {0, 1000000, false, 200000},
		{50000, 8192, false, 50000}, {0, 4096, true, 4096},
	}
	for _, tt := range tests {
		r := reply{text: "hi", window: tt.window}
		if tt.overflow {
			r = reply{err: &chat.OverflowError{Limit: tt.window, Err: fmt.Errorf("too long")}}
		}
		s := newStage(t, r)
		s.alter(func(o *Options) { o.ContextLimit = window(tt.option) })
		_ = s.turn(context.Background(), "go")
		if got := s.agent.ContextLimit(); got != tt.want {
			t.Errorf("ContextLimit with option %d and window %d = %d, want %d", tt.option, tt.window, got, tt.want)
		}
		s.session.Model = "other"
		if got := s.agent.ContextLimit(); tt.option == 0 && got != defaultWindow {
			t.Errorf("ContextLimit of another model = %d", got)
		}
	}
}

func TestClip(t *testing.T) {
	as, bs := strings.Repeat("a", 60), strings.Repeat("b", 40)
	tests := []struct {
		text string
		max  int
		want string
	}{
		{"", 100, "(no output)"},
		{"short", 5, "short"},
		{"a\x00b", 100, "ab"},
		{as + strings.Repeat("-", 50) + bs, 141, as + cutLine(50) + bs},
		{strings.Repeat("漢", 50), 90, strings.Repeat("漢", 9) + cutLine(105) + strings.Repeat("漢", 6)},
		{strings.Repeat("x", 99), 10, cutLine(99)},

		// A tool's own cut: outside the gap, in it, and across its borders.
		{"a" + cutLine(7) + as + strings.Repeat("-", 90) + bs, 141, "a" + cutLine(7) + as[:36] + cutLine(114) + bs},
		{as + strings.Repeat("-", 90) + cutLine(7) + bs[:17], 141, as + cutLine(90) + cutLine(7) + bs[:17]},
		{as + "--" + cutLine(1000) + strings.Repeat("-", 30) + bs, 141, as + cutLine(1032) + bs},
		{as[1:] + cutLine(1000) + strings.Repeat("-", 60) + bs, 141, as[1:] + cutLine(1060) + bs},
		{as + strings.Repeat("-", 60) + cutLine(1000) + bs[2:], 141, as + cutLine(1060) + bs[2:]},
		{as + cutLine(5) + cutLine(6) + strings.Repeat("-", 60) + bs, 141, as + cutLine(71) + bs},
		{as + "\n[... x bytes cut ...]\n" + strings.Repeat("-", 28) + bs, 141, as + cutLine(51) + bs},
	}
	for _, tt := range tests {
		if got := clip(tt.text, tt.max); got != tt.want {
			t.Errorf("clip(%q, %d) = %q, want %q", tt.text, tt.max, got, tt.want)
		}
	}
}

func FuzzClip(f *testing.F) {
	f.Add("häß漢字😀"+strings.Repeat("漢", 50), 61)
	f.Add("a"+cutLine(99)+strings.Repeat("\xff", 90), 100)
	f.Fuzz(func(t *testing.T, text string, max int) {
		if max < 50 || max > 1<<20 {
			return
		}
		got := clip(text, max)
		if len(got) > max || !utf8.ValidString(got) || got == "" {
			t.Fatalf("clip(%q, %d) = %q", text, max, got)
		}
		clean := chat.CleanText(text)
		if begin, _, _ := findCut(clean, 0); len(clean) <= max || begin >= 0 {
			return
		}
		begin, end, n := findCut(got, 0)
		if begin < 0 {
			t.Fatalf("clip(%q, %d) = %q does not say what is missing", text, max, got)
		}
		head, tail := got[:begin], got[end:]
		if int64(len(head)+len(tail))+n != int64(len(clean)) || !strings.HasPrefix(clean, head) || !strings.HasSuffix(clean, tail) {
			t.Fatalf("clip(%q, %d) = %q loses bytes", text, max, got)
		}
	})
}

// TestLearntGoesOn: a session that goes on has the window that its model's server
// taught, and the tools that it had.
func TestLearntGoesOn(t *testing.T) {
	s := newStage(t, reply{text: "a"})
	s.session = chat.Session{Model: "m", Window: 3000, Jobs: true}
	s.start()
	if got := s.agent.ContextLimit(); got != 3000 {
		t.Errorf("ContextLimit = %d, want 3000", got)
	}
	if !s.agent.o.Env.HadJobs {
		t.Error("the tool for jobs is gone")
	}
	s.session.Window, s.session.Jobs = 0, false
	if err := s.turn(context.Background(), "hi"); err != nil {
		t.Fatal(err)
	}
	if s.session.Window != 3000 || !s.session.Jobs {
		t.Errorf("after a turn: window %d, jobs %v", s.session.Window, s.session.Jobs)
	}
	s.agent.meter.window = 3 // less than the system message has
	s.script = []reply{{text: "b"}}
	if err := s.turn(context.Background(), "hi"); !errors.Is(err, ErrWindow) || s.session.Window != 0 {
		t.Errorf("a window in which nothing fits: %v, and %d is kept", err, s.session.Window)
	}
	s.session.Model = "another"
	if got := s.agent.ContextLimit(); got == 3000 {
		t.Error("the window is that of another model")
	}
}
