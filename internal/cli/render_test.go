package cli

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cluade/agent"
	"cluade/internal/chat"
)

// view is an output without terminals, which behaves as if it had them.
func view(live bool, o outputOptions) (out *output, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	o.Model = func() string { return "big-model" }
	if o.Total == nil {
		o.Total = func() chat.Usage { return chat.Usage{Prompt: 12345} }
	}
	if o.ContextLimit == nil {
		o.ContextLimit = func() int { return 0 }
	}
	out = newOutput(Env{Stdout: stdout, Stderr: stderr, Getenv: environ("TERM=xterm")}, o)
	out.live, out.out.seen, out.errs.seen = live, live, live
	return out, stdout, stderr
}

func TestRender(t *testing.T) {
	call := chat.ToolCall{ID: "1", Name: "bash", Args: `{"command":"ls"}`}
	step := agent.StepStart{N: 1}
	text := func(s ...string) (list []agent.Event) {
		for _, p := range s {
			list = append(list, agent.TextDelta{Text: p})
		}
		return append(list, agent.ReplyEnd{})
	}
	end := func(answer string, err error) agent.Event {
		return agent.TurnEnd{Answer: answer, Usage: chat.Usage{Prompt: 5}, Context: 8200, Elapsed: 12345 * time.Millisecond, Err: err}
	}
	const bar = "-- big-model - 12345 tokens - 12.3s\n"
	tests := []struct {
		name        string
		events      []agent.Event
		live, quiet string // stdout, then stderr after a |
		plain       string
	}{
		{
			name:   "answer",
			events: append(append([]agent.Event{step}, text("Hel", "lo")...), end("Hello", nil)),
			live:   "[step 1]\nHello\n" + bar + "|",
			plain:  "Hello\n|[step 1]\n" + bar,
			quiet:  "Hello\n|[step 1]\n",
		},
		{
			name:   "answer with line ends around it",
			events: append(append([]agent.Event{step}, text("\n", "\nHello\n", "\n")...), end("\n\nHello\n\n", nil)),
			live:   "[step 1]\nHello\n" + bar + "|",
			plain:  "\n\nHello\n\n|[step 1]\n" + bar,
			quiet:  "\n\nHello\n\n|[step 1]\n",
		},
		{
			name:   "an answer that never came in pieces",
			events: []agent.Event{step, agent.ReplyEnd{}, end("whole", nil)},
			live:   "[step 1]\nwhole\n" + bar + "|",
			plain:  "whole\n|[step 1]\n" + bar,
			quiet:  "whole\n|[step 1]\n",
		},
		{
			name: "call",
			events: append([]agent.Event{
				step, agent.TextDelta{Text: "Let me look."}, agent.ReplyEnd{Calls: 1},
				agent.CallStart{Call: call, Gist: "ls"}, agent.CallEnd{Call: call, Outcome: agent.Done, Text: "a\nb"},
				agent.StepStart{N: 2}}, append(text("Two files."), end("Two files.", nil))...),
			live:  "[step 1]\nLet me look.\n[using tool: bash...] ls\n[step 2]\nTwo files.\n" + bar + "|",
			plain: "Two files.\n|[step 1]\nLet me look.\n[using tool: bash...] ls\n[step 2]\n" + bar,
			quiet: "Two files.\n|[step 1]\nLet me look.\n[using tool: bash...] ls\n[step 2]\n",
		},
		{
			name: "calls that did not work",
			events: []agent.Event{
				step, agent.ReplyEnd{Calls: 5},
				agent.CallEnd{Call: call, Outcome: agent.Denied, Gist: "ls\n-l", Text: "error: denied: permission for bash is deny (config.json)"},
				agent.Notice{Text: "permissions.bash would allow it"},
				agent.CallEnd{Call: call, Outcome: agent.Invalid, Text: "error: arguments are not valid JSON: x\nmore"},
				agent.CallStart{Call: call, Gist: "nosuch"},
				agent.CallEnd{Call: call, Outcome: agent.Failed, Text: "sh: nosuch: not found\n[exit code: 127]\n"},
				agent.CallEnd{Call: call, Outcome: agent.Blocked, Text: "error: denied by hook: no"},
				agent.CallEnd{Call: call, Outcome: agent.Skipped, Text: "error: cancelled by the user"},
				agent.CallEnd{Call: call, Outcome: agent.Failed},
				end("", stopped{2}),
			},
			live: "[step 1]\n[not run: bash] ls\\n-l\nbash: error: denied: permission for bash is deny (config.json)\n" +
				"bash: error: arguments are not valid JSON: x\n[using tool: bash...] nosuch\nbash: [exit code: 127]\n" +
				"bash: error: denied by hook: no\nbash: \n" + bar + "|[permissions.bash would allow it]\n[cancelled]\n",
			plain: "|[step 1]\n[not run: bash] ls\\n-l\nbash: error: denied: permission for bash is deny (config.json)\n[permissions.bash would allow it]\n" +
				"bash: error: arguments are not valid JSON: x\n[using tool: bash...] nosuch\nbash: [exit code: 127]\n" +
				"bash: error: denied by hook: no\nbash: \n[cancelled]\n" + bar,
			quiet: "|[step 1]\n[not run: bash] ls\\n-l\nbash: error: denied: permission for bash is deny (config.json)\n[permissions.bash would allow it]\n" +
				"bash: error: arguments are not valid JSON: x\n[using tool: bash...] nosuch\nbash: [exit code: 127]\n" +
				"bash: error: denied by hook: no\nbash: \n[cancelled]\n",
		},
		{
			name:   "failed turn",
			events: append(append([]agent.Event{step}, text("half an ans")...), end("half an ans", errors.New("the server hung up"))),
			live:   "[step 1]\nhalf an ans\n" + bar + "|[provider error: the server hung up]\n",
			plain:  "|[step 1]\nhalf an ans\n[provider error: the server hung up]\n" + bar,
			quiet:  "|[step 1]\nhalf an ans\n[provider error: the server hung up]\n",
		},
		{
			name: "reply that broke off",
			events: append([]agent.Event{step, agent.TextDelta{Text: "all this is"}, agent.Notice{Text: "asking again", Warn: true}, agent.ReplyRestart{}},
				append(text("good"), end("good", nil))...),
			live:  "[step 1]\nall this\n[what stands above of this reply is void]\ngood\n" + bar + "|[asking again]\n",
			plain: "good\n|[step 1]\n[asking again]\n" + bar,
			quiet: "good\n|[step 1]\n[asking again]\n",
		},
		{
			name: "thinking",
			events: append([]agent.Event{step, agent.ReasoningDelta{Text: "one\ntwo\nth"}, agent.ReasoningDelta{Text: "ree\nfour"}, agent.Waiting{Progress: 7}},
				append(text("so"), end("so", nil))...),
			live:  "[step 1]\n~ two\n~ three\n~ four\nso\n" + bar + "|",
			plain: "so\n|[step 1]\n" + bar,
			quiet: "so\n|[step 1]\n",
		},
		{
			name:   "thinking before calls alone",
			events: []agent.Event{step, agent.ReasoningDelta{Text: "hm"}, agent.ReplyEnd{Calls: 1}, agent.CallStart{Call: call, Gist: "ls"}},
			live:   "[step 1]\n~ hm\n[using tool: bash...] ls\n|",
			plain:  "|[step 1]\n[using tool: bash...] ls\n",
			quiet:  "|[step 1]\n[using tool: bash...] ls\n",
		},
	}
	for _, tt := range tests {
		for _, as := range []struct {
			name        string
			live, quiet bool
			want        string
		}{{"live", true, false, tt.live}, {"plain", false, false, tt.plain}, {"quiet", false, true, tt.quiet}} {
			o, stdout, stderr := view(as.live, outputOptions{Quiet: as.quiet})
			for _, e := range tt.events {
				o.Emit(e)
			}
			if got := stdout.String() + "|" + stderr.String(); got != as.want {
				t.Errorf("%s, %s:\n%q\nwant\n%q", tt.name, as.name, got, as.want)
			}
		}
	}
}

func TestRenderColours(t *testing.T) {
	o, stdout, stderr := view(true, outputOptions{Color: "always", ContextLimit: func() int { return 200000 }, Total: func() chat.Usage { return chat.Usage{Prompt: 90, Completion: 9, Cached: 64} }})
	o.Emit(agent.StepStart{N: 1})
	o.Emit(agent.ReasoningDelta{Text: "hm"})
	o.Emit(agent.ReplyEnd{})
	o.Emit(agent.CallStart{Call: chat.ToolCall{Name: "read"}, Gist: "/etc/hosts"})
	o.Emit(agent.CallEnd{Call: chat.ToolCall{Name: "read"}, Outcome: agent.Failed, Text: "error: no"})
	o.Emit(agent.Notice{Text: "slow", Warn: true})
	o.Emit(agent.TurnEnd{Context: 8200, Elapsed: time.Second, Err: errors.New("no")})
	o.Warn("w")
	o.Error("e")
	o.Notice("n")
	if got, want := o.Prompt("> "), "\x1b[36m> \x1b[0m"; got != want {
		t.Errorf("the prompt is %q, want %q", got, want)
	}
	want := "\x1b[32m[step 1]\x1b[0m\n\x1b[2m~ hm\x1b[0m\n\x1b[32m[using tool: read...]\x1b[0m \x1b[90m/etc/hosts\x1b[0m\n" +
		"\x1b[31mread: error: no\x1b[0m\n\x1b[35m-- big-model - 99 tokens - 4.1% context - 1.0s - 64 cached\x1b[0m\n" +
		"|\x1b[33m[slow]\x1b[0m\n\x1b[31m[provider error: no]\x1b[0m\n\x1b[33mcluade: warning: w\x1b[0m\n\x1b[31mcluade: error: e\x1b[0m\ncluade: n\n"
	if got := stdout.String() + "|" + stderr.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestMessagesAreOneLine: a directory of a session file, say, may have any name.
func TestMessagesAreOneLine(t *testing.T) {
	const text, shown = "in /tmp/x\ncluade: error: fake\x1b[2J\r\u202e", `in /tmp/x\ncluade: error: fake\x1b[2J\r\u202e`
	out, _, stderr := view(true, outputOptions{})
	out.Notice(text)
	out.Warn(text)
	out.Error(text)
	out.Emit(agent.Notice{Text: text})
	if want := "cluade: " + shown + "\ncluade: warning: " + shown + "\ncluade: error: " + shown + "\n[" + shown + "]\n"; stderr.String() != want {
		t.Errorf("stderr = %q, want %q", stderr, want)
	}
}

func TestGistIsBounded(t *testing.T) {
	o, stdout, _ := view(true, outputOptions{})
	o.Emit(agent.CallStart{Call: chat.ToolCall{Name: "bash"}, Gist: strings.Repeat("漢", 300) + "\n\x1b]0;title\a"})
	want := "[using tool: bash...] " + strings.Repeat("漢", 78) + "...\n"
	if got := stdout.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestRemarkIsBounded(t *testing.T) {
	o, stdout, stderr := view(false, outputOptions{})
	for range 100 {
		o.Emit(agent.TextDelta{Text: strings.Repeat("x", 100)})
	}
	o.Emit(agent.ReplyEnd{Calls: 1})
	want := strings.Repeat("x", asideKept) + "... [1808 bytes more]\n"
	if stdout.Len() > 0 || stderr.String() != want {
		t.Errorf("stdout %q, stderr of %d bytes ends %q", stdout, stderr.Len(), stderr.String()[max(0, stderr.Len()-40):])
	}
}

func TestAsciiConsole(t *testing.T) {
	p := newPty(t, 80)
	o := newOutput(Env{Stdout: p.tty, Stderr: p.tty, Getenv: environ()}, outputOptions{ASCII: true, Color: "never"})
	o.Emit(agent.TextDelta{Text: "“größe” …\n\n|漢字|b|\n|-|-|\n|…|c|"})
	o.Emit(agent.ReplyEnd{})
	p.await(0, "\"gr??e\" ...\r\n\r\n??  | b\r\n----+--\r\n... | c\r\n")
}

// TestWaitingLine waits for the line that shows life, and for its end.
func TestWaitingLine(t *testing.T) {
	p := newPty(t, 80)
	o := newOutput(Env{Stdout: p.tty, Stderr: p.tty, Getenv: environ("TERM=xterm")}, outputOptions{Color: "never"})
	o.Emit(agent.StepStart{N: 1})
	o.Emit(agent.Waiting{Progress: 40})
	at := p.await(0, "\r\x1b[K| 0s  reading the prompt 40 %")
	o.Emit(agent.ReasoningDelta{Text: strings.Repeat("x", 350)})
	at = p.await(at, "~100 tokens")
	o.Notice("a word in between")
	at = p.await(at, "\r\x1b[Kcluade: a word in between\r\n")
	at = p.await(at, "~100 tokens")
	o.Emit(agent.TextDelta{Text: "answer"})
	at = p.await(at, "\r\x1b[K")
	at = p.await(at, "answer")
	if o.spin.stop != nil {
		t.Error("it still waits while the answer is shown")
	}
	o.Emit(agent.ReplyEnd{})
	o.Settle()
	p.typed("end\n")
	p.await(at, "end\r\n")
	if strings.Contains(p.screen()[at:], "\x1b") {
		t.Errorf("the line came back: %q", p.screen()[at:])
	}
}

// TestWaitingLineEntered: a message that is entered while a line shows life is
// echoed into that and gone with it.
func TestWaitingLineEntered(t *testing.T) {
	p := newPty(t, 80)
	o := newOutput(Env{Stdout: p.tty, Stderr: p.tty, Getenv: environ("TERM=xterm")}, outputOptions{Color: "never"})
	p.typed("early\n")
	at := p.await(0, "early\r\n")
	o.Emit(agent.StepStart{N: 1})
	at = p.await(at, "[step 1]\r\n\r\x1b[K| 0s\r\x1b[K/ 0s")
	p.typed("second")
	at = p.await(at, "second")
	at = p.await(at, "\r\x1b[K")
	p.typed("\n")
	at = p.await(at, "\r\n")
	at = p.await(at, "\r\x1b[K\x1b[A\r\x1b[K")
	at = p.await(at, "s\r\x1b[K")
	p.typed("third\n")
	p.await(at, "third\r\n")
	o.Emit(agent.TextDelta{Text: "answer "})
	p.await(at, "\x1b[A\r\x1b[K")
	if got := strings.Count(p.screen(), "\x1b[A"); got != 2 {
		t.Errorf("%d rows are taken away, want 2: %q", got, p.screen())
	}
}

func TestNoWaitingLine(t *testing.T) {
	p := newPty(t, 80)
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, env := range []Env{
		{Stdout: p.tty, Stderr: p.tty, Getenv: environ("TERM=dumb")},
		{Stdout: p.tty, Stderr: p.tty, Getenv: environ()},
		{Stdout: p.tty, Stderr: null, Getenv: environ("TERM=xterm")},
		{Args: []string{"-q"}, Stdout: p.tty, Stderr: p.tty, Getenv: environ("TERM=xterm")},
	} {
		o := newOutput(env, outputOptions{Quiet: env.Args != nil})
		o.Emit(agent.StepStart{N: 1})
		if o.spin.stop != nil {
			t.Errorf("%q, %v: something waits to draw", env.Getenv("TERM"), env.Stderr == null)
		}
	}
}

// failing is a stream whose reader is gone.
type failing struct{ writes int }

func (f *failing) Write([]byte) (int, error) { f.writes++; return 0, fmt.Errorf("gone %d", f.writes) }

func TestWriteError(t *testing.T) {
	var out, errs failing
	o := newOutput(Env{Stdout: &out, Stderr: &errs, Getenv: environ()}, outputOptions{})
	o.Notice("x")
	if o.Err() != nil {
		t.Errorf("an error of stderr counts: %v", o.Err())
	}
	o.Print("a")
	o.Print("b")
	if err := o.Err(); err == nil || err.Error() != "gone 1" || out.writes != 1 {
		t.Errorf("Err = %v after %d writes, want the first error and no more writes", err, out.writes)
	}
}

func TestStatusBar(t *testing.T) {
	tests := []struct {
		d    time.Duration
		want string
	}{
		{0, "0.0s"}, {-time.Second, "0.0s"}, {12399 * time.Millisecond, "12.3s"}, {59999 * time.Millisecond, "59.9s"},
		{time.Minute, "1m00s"}, {125 * time.Second, "2m05s"}, {3599 * time.Second, "59m59s"}, {time.Hour, "1h00m"}, {62 * time.Minute, "1h02m"}, {25 * time.Hour, "25h00m"},
	}
	for _, tt := range tests {
		if got := elapsed(tt.d); got != tt.want {
			t.Errorf("elapsed(%v) = %q, want %q", tt.d, got, tt.want)
		}
	}
	for _, tt := range []struct {
		part, whole int
		want        string
	}{{0, 200000, "0.0%"}, {8200, 200000, "4.1%"}, {199, 200000, "0.1%"}, {200000, 200000, "100.0%"}, {3, 2, "150.0%"}, {1 << 30, 1 << 30, "100.0%"}, {1, 3, "33.3%"}, {2, 3, "66.7%"}} {
		if got := perCent(tt.part, tt.whole); got != tt.want {
			t.Errorf("perCent(%d, %d) = %q, want %q", tt.part, tt.whole, got, tt.want)
		}
	}
}

// FuzzRender has a hostile model, server and tool: whatever they say, nothing
// reaches a terminal but text and our own colours.
func FuzzRender(f *testing.F) {
	f.Add("\x1b]0;title\a", "\x1b[2J", "bash\x9b31m", uint8(3))
	f.Add("\u009b2J\u0090q\u009c", "\x1bP1;1|17/616\x1b\\", "\r\x1b[K", uint8(1))
	f.Add("ab\x1b", "[31mred", "\xc2", uint8(0))
	f.Add("user\u202etxt.exe\u2069", "\u2066x", "\u202a", uint8(5))
	f.Add("text\x00\x08\x7f\v\f", "\x0e\x0f", "\x1b(0", uint8(9))
	f.Fuzz(func(t *testing.T, a, b, c string, cut uint8) {
		for _, live := range []bool{true, false} {
			o, stdout, stderr := view(live, outputOptions{Color: "always"})
			o.opts.Model = func() string { return c }
			call := chat.ToolCall{Name: c}
			n := min(int(cut), len(a))
			for _, e := range []agent.Event{
				agent.StepStart{N: 1}, agent.ReasoningDelta{Text: a[:n]}, agent.ReasoningDelta{Text: a[n:]},
				agent.TextDelta{Text: a[:n]}, agent.TextDelta{Text: a[n:]}, agent.TextDelta{Text: b}, agent.Notice{Text: b, Warn: true},
				agent.ReplyRestart{}, agent.TextDelta{Text: b}, agent.ReplyEnd{Calls: 1}, agent.CallStart{Call: call, Gist: a},
				agent.CallEnd{Call: call, Outcome: agent.Failed, Text: b}, agent.StepStart{N: 2}, agent.ReplyEnd{},
				agent.TurnEnd{Answer: a + b, Err: errors.New(c)},
			} {
				o.Emit(e)
			}
			o.Notice(a)
			o.Warn(b)
			o.Error(c)
			o.Print(a)
			o.Recall(chat.EscapeText(a, 200), b)
			if live { // what goes to a pipe is not seen
				wantText(t, stdout.String())
				wantText(t, stderr.String())
			}
			if s := stdout.String() + stderr.String(); strings.ContainsAny(lookSequence.ReplaceAllString(s, ""), "\x1b\x07\u009b\r\b") {
				t.Fatalf("live %v: a control character in %q", live, s)
			}
		}
	})
}

// wantText fails if s has a control character beside line feed and tab once our
// own colours are taken out.
func wantText(t *testing.T, s string) {
	t.Helper()
	s = lookSequence.ReplaceAllString(s, "")
	for i, r := range s {
		if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("%#x turns the direction of writing at %d of %q", r, i, s)
		}
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
			t.Fatalf("control character %#x at %d of %q", r, i, s)
		}
	}
}

func TestCompactedLine(t *testing.T) {
	out, _, stderr := view(true, outputOptions{})
	out.Emit(agent.Compacted{Before: 170000, After: 9000})
	if got, want := stderr.String(), "[context compacted: 170000 -> 9000 tokens (estimate)]\n"; got != want {
		t.Errorf("Compacted shows %q, want %q", got, want)
	}
}
