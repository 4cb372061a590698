package cli

import (
	"slices"
	"strings"
	"testing"

	"cluade/agent"
	"cluade/internal/chat"
)

// TestStreamedMarkdown: each word is shown as soon as it is whole, the first two of
// a paragraph when it is no table's.
func TestStreamedMarkdown(t *testing.T) {
	o, stdout, _ := view(true, outputOptions{Color: "always"})
	var got []string
	for _, p := range []string{"## He", "ad\n\nsome **bo", "ld** wo", "rds\n", "|a|\n|-|\n", "|b|\n", "end"} {
		o.Emit(agent.TextDelta{Text: p})
		got = append(got, stdout.String())
		stdout.Reset()
	}
	o.Emit(agent.ReplyEnd{})
	got = append(got, stdout.String())
	want := []string{"", "\x1b[0;1mHead", "\x1b[0m\n\nsome \x1b[0;1mbold", "\x1b[0m words", "\n", "", "\x1b[0;1ma\x1b[0m\n\x1b[0;2m-\x1b[0m\nb", "\nend\n"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestPipeGetsTheText: what the model wrote goes to a pipe as it is.
func TestPipeGetsTheText(t *testing.T) {
	const text = "\n# Head\n\n**b** `c`  \n\t| a | b |\n|---|---|\n| 漢 | \u202e |\n```sh\nls\n```\n\n"
	o, stdout, _ := view(false, outputOptions{Color: "always"})
	for i := range text {
		o.Emit(agent.TextDelta{Text: text[i : i+1]})
	}
	o.Emit(agent.ReplyEnd{})
	o.Emit(agent.TurnEnd{Answer: text})
	if stdout.String() != text {
		t.Errorf("%q, want %q", stdout, text)
	}
}

func TestAllThinking(t *testing.T) {
	o, stdout, _ := view(true, outputOptions{})
	if !o.ToggleThinking() {
		t.Error("thinking is not shown")
	}
	for _, p := range []string{"one\ntwo", " words\nthree\nfo", "ur\nfive", strings.Repeat(" word", 1000)} {
		o.Emit(agent.ReasoningDelta{Text: p})
	}
	if got := stdout.String(); !strings.HasPrefix(got, "~ one\n~ two words\n~ three\n~ four\n~ five word") {
		t.Errorf("%q", got)
	}
	o.Emit(agent.TextDelta{Text: "so"})
	o.Emit(agent.ReplyEnd{})
	if got := strings.Count(strings.ReplaceAll(stdout.String(), "\n"+thoughtMark, ""), "word"); got != 1001 {
		t.Errorf("%d words of 1001", got)
	}
	wantRows(t, stdout.String(), 79)
}

func TestGistInANarrowWindow(t *testing.T) {
	p := newPty(t, 40)
	o := newOutput(Env{Stdout: p.tty, Stderr: p.tty, Getenv: environ()}, outputOptions{})
	o.Emit(agent.CallStart{Call: chat.ToolCall{Name: "bash"}, Gist: "uci show network | grep -v lan; " + strings.Repeat("x", 100)})
	o.Emit(agent.CallStart{Call: chat.ToolCall{Name: "read"}, Gist: "/etc/config/network"})
	p.await(0, "[using tool: bash...] uci show network\r\n  | grep -v lan;\r\n  "+strings.Repeat("x", 37)+"\r\n  "+strings.Repeat("x", 24)+"...\r\n"+
		"[using tool: read...]\r\n  /etc/config/network\r\n")
}

// TestHeldBack: a slow model's word is shown before it is whole, and while a
// table comes there is a waiting line.
func TestHeldBack(t *testing.T) {
	p := newPty(t, 80)
	o := newOutput(Env{Stdout: p.tty, Stderr: p.tty, Getenv: environ("TERM=xterm")}, outputOptions{Color: "never"})
	o.Emit(agent.StepStart{N: 1})
	o.Emit(agent.TextDelta{Text: "a wor"})
	at := p.await(0, "a wor")
	o.Emit(agent.TextDelta{Text: "d\n\n| a |\n"})
	at = p.await(at, "d\r\n\r\n")
	at = p.await(at, "\r\x1b[K")
	o.Emit(agent.TextDelta{Text: "|---|\n| b |\n"})
	o.Emit(agent.ReplyEnd{})
	p.await(at, "\r\x1b[Ka\r\n-\r\nb\r\n")
}

func TestMessagesInANarrowWindow(t *testing.T) {
	p := newPty(t, 40)
	o := newOutput(Env{Stdout: p.tty, Stderr: p.tty, Getenv: environ()}, outputOptions{})
	o.Warn("the configuration of the project is not trusted: /root/" + strings.Repeat("x", 40))
	o.Print(strings.Repeat(" ", 50))
	o.Print("  /mode   show or change the mode\n  -r ID   go on with a saved session of this directory")
	p.await(0, "cluade: warning: the configuration of\r\n  the project is not trusted:\r\n  /root/"+strings.Repeat("x", 40)+"\r\n"+
		"\r\n  /mode   show or change the mode\r\n  -r ID   go on with a saved session of\r\n  this directory\r\n")
	p = newPty(t, 80)
	o = newOutput(Env{Stdout: p.tty, Stderr: p.tty, Getenv: environ()}, outputOptions{})
	o.Notice(strings.Repeat("word ", 20) + "end")
	p.await(0, "cluade: "+strings.Repeat("word ", 20)+"end\r\n")
}

// TestInterruptedAnswer: a line of ours in the middle of an answer stands alone
// and has none of its looks.
func TestInterruptedAnswer(t *testing.T) {
	o, stdout, _ := view(true, outputOptions{Color: "always"})
	wide := strings.Repeat("w", 75)
	for _, p := range []string{"**a very bold** ", "word x\n", "- an item ", wide + "\n\nend"} {
		o.Emit(agent.TextDelta{Text: p})
		o.Print("note")
	}
	o.Emit(agent.ReplyEnd{})
	want := "\x1b[0;1ma very bold\x1b[0m\nnote\nword x\nnote\n- an item\nnote\n" + wide + "\nnote\n\nend\n"
	if got := stdout.String(); got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestQuietAnswerOnATerminal is rendered all the same, at once.
func TestQuietAnswerOnATerminal(t *testing.T) {
	o, stdout, _ := view(false, outputOptions{Quiet: true, Color: "always"})
	o.out.seen = true
	o.Emit(agent.TextDelta{Text: "**x**"})
	o.Emit(agent.ReplyEnd{})
	o.Emit(agent.TurnEnd{Answer: "**x**\n"})
	if got, want := stdout.String(), "\x1b[0;1mx\x1b[0m\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestRenderBytes: what is no terminal gets the model's bytes, a terminal none
// that steer it.
func TestRenderBytes(t *testing.T) {
	const answer = "a\r\nb\x1b[2J\u200e\u061c\u202ec"
	for _, live := range []bool{false, true} {
		out, stdout, _ := view(live, outputOptions{})
		out.Emit(agent.TextDelta{Text: answer})
		out.Emit(agent.ReplyEnd{})
		out.Emit(agent.TurnEnd{Answer: answer})
		want := answer + "\n"
		if live {
			want = "a\nbc\n"
		}
		if got, _, _ := strings.Cut(stdout.String(), "-- "); got != want {
			t.Errorf("live %v: %q, want %q", live, got, want)
		}
	}
}
