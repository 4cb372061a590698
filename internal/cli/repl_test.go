package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// talk is a conversation over a pty.
type talk struct {
	*pty
	dumb bool // the terminal edits the lines
	w    *world
	at   int // of the screen; what stands before was looked at
	code chan int
}

func newTalk(t *testing.T, w *world, args ...string) *talk {
	t.Helper()
	w.vars["TERM"] = "xterm"
	return startTalk(t, w, args...)
}

// newPlainTalk has a terminal without cursor control.
func newPlainTalk(t *testing.T, w *world, args ...string) *talk {
	t.Helper()
	w.vars["TERM"] = "dumb"
	return startTalk(t, w, args...)
}

func startTalk(t *testing.T, w *world, args ...string) *talk {
	t.Helper()
	p := newPty(t, 80)
	c := &talk{pty: p, w: w, code: make(chan int, 1), dumb: w.vars["TERM"] == "dumb"}
	getenv := func(k string) string {
		if k == "NO_COLOR" {
			return "1"
		}
		return w.vars[k]
	}
	go func() {
		c.code <- Main(t.Context(), Env{Args: args, Stdin: p.tty, Stdout: p.tty, Stderr: p.tty, Getenv: getenv, Version: "1.2.3"})
	}()
	return c
}

// say waits for the prompt and types.
func (c *talk) say(keys string) {
	c.t.Helper()
	c.prompted()
	c.typed(strings.ReplaceAll(keys, "\n", "\r"))
}

func (c *talk) prompted() {
	c.t.Helper()
	if c.dumb {
		c.at = c.await(max(0, c.at-1), "\n> ") // what was seen last may end with that line end
		return
	}
	c.see("\r\x1b[K> ")
}

// see waits until text comes.
func (c *talk) see(text string) {
	c.t.Helper()
	c.at = c.await(c.at, text)
}

func (c *talk) end(want int) {
	c.t.Helper()
	select {
	case code := <-c.code:
		if code != want {
			c.t.Errorf("exit %d, want %d; the terminal shows %q", code, want, c.screen())
		}
	case <-time.After(20 * time.Second):
		c.t.Fatalf("it does not end; the terminal shows %q", c.screen())
	}
}

// asked are the messages of the person in request i.
func (c *talk) asked(i int) string {
	var list []string
	for n := 1; ; n++ {
		messages, _ := c.w.requests[i].body["messages"].([]any)
		if n >= len(messages) {
			return strings.Join(list, "|")
		}
		if m := messages[n].(map[string]any); m["role"] == "user" {
			list = append(list, m["content"].(string))
		}
	}
}

func TestConversation(t *testing.T) {
	w := newWorld(t, reply{text: "first answer"}, reply{text: "second answer"}, reply{text: "third answer"})
	c := newTalk(t, w)
	c.see("cluade 1.2.3 - deepseek-v4-pro - 127.0.0.1:")
	c.see(" - " + w.dir + " (/help)\r\n")
	c.say("one\n")
	c.see("[step 1]\r\nfirst answer\r\n-- deepseek-v4-pro - 100 tokens - ")
	c.say("/model small\n")
	c.see("model: small\r\n")
	c.say("\n")
	c.say("two\n")
	c.see("second answer\r\n-- small - 200 tokens - ")
	c.say("/new\n")
	c.see("resume with: cluade -r ")
	c.see("a new session begins")
	c.say("three\n")
	c.see("third answer\r\n-- small - 100 tokens - ")
	c.say("/sessions\n")
	c.see(`"three"`)
	c.see(`"one"`)
	c.say("\x04")
	c.see("resume with: cluade -r ")
	c.end(0)
	for i, want := range []string{"one", "one|two", "three"} {
		if got := c.asked(i); got != want {
			t.Errorf("request %d asks %q, want %q", i, got, want)
		}
	}
	if got := w.requests[2].body["model"]; got != "small" {
		t.Errorf("the model of the new session is %v", got)
	}
}

func TestConversationResumes(t *testing.T) {
	w := newWorld(t)
	w.run("old question")
	id := strings.TrimSuffix(filepath.Base(w.sessions()[0]), ".jsonl")
	c := newTalk(t, w)
	c.say("/resume nothing\n")
	c.see("cluade: error: ")
	c.say("/resume " + id[:len(id)-1] + "\n")
	c.see("session " + id + ", 2 messages\r\n")
	c.say("/resume " + id + "\n")
	c.see("that is the present session")
	c.say("go on\n")
	c.see("done")
	c.say("/quit\n")
	c.see("resume with: cluade -r " + id)
	c.end(0)
	if got := c.asked(1); got != "old question|go on" {
		t.Errorf("the request asks %q", got)
	}
}

func TestSlashCommandErrors(t *testing.T) {
	c := newPlainTalk(t, newWorld(t))
	for _, tt := range []struct{ line, want string }{
		{"/frobnicate", "unknown command: /frobnicate (try /help)\r\n"},
		{"/mcp", "/mcp is not there yet\r\n"},
		{"/mc", "unknown command: /mc (try /help)"},
		{"/sesions", "unknown command: /sesions (try /help); did you mean /sessions?\r\n"},
		{"/\x16\x1b[2J", `unknown command: /\x1b[2J (try /help)`},
		{"/resume", "usage: /resume <id>"},
		{"/model", "/model NUMBER or /model NAME takes another"},
		{"/new x", "/new takes no argument (x)"},
		{"/etc/config why?", "unknown command: /etc/config (try /help); a message that begins with / needs a blank before it"},
		{"/help", "/model [name]   list, or use another"},
		{"/sessions", "no saved sessions"},
	} {
		c.say(tt.line + "\n")
		c.see(tt.want)
	}
	c.say(" /etc/config why?\n")
	c.see("done")
	c.say("/exit\n")
	c.end(0)
	if got := c.asked(0); len(c.w.requests) != 1 || got != " /etc/config why?" {
		t.Errorf("%d requests, asked %q", len(c.w.requests), got)
	}
}

func TestConversationWithoutSessions(t *testing.T) {
	c := newTalk(t, newWorld(t), "--no-session")
	c.say("/sessions\n")
	c.see("no sessions are kept in this run")
	c.say("/resume x\n")
	c.see("no sessions are kept in this run")
	c.say("hi\n")
	c.see("done")
	c.say("/exit\n")
	c.end(0)
	if strings.Contains(c.screen(), "resume with") || len(c.w.sessions()) > 0 {
		t.Errorf("something was kept: %q", c.screen())
	}
}

func TestSplitCommand(t *testing.T) {
	tests := []struct {
		line, name, arg string
		ok              bool
	}{
		{"/help", "help", "", true},
		{"/help\n", "help", "", true},
		{"/save  a name ", "save", "a name", true},
		{"/model\tx", "model", "x", true},
		{"/nothing here", "nothing", "here", true},
		{"/compact\nonly the\nnetwork", "compact", "only the\nnetwork", true},
		{"/compact only the\nnetwork", "compact", "only the\nnetwork", true},
		{"/help\nfoo", "help", "foo", false},
		{"/etc/config\nfoo", "etc/config", "foo", false},
		{" /help", "", "", false},
		{"help", "", "", false},
	}
	for _, tt := range tests {
		if name, arg, ok := splitCommand(tt.line); name != tt.name || arg != tt.arg || ok != tt.ok {
			t.Errorf("splitCommand(%q) = %q, %q, %v, want %q, %q, %v", tt.line, name, arg, ok, tt.name, tt.arg, tt.ok)
		}
	}
}

func TestInputOfSeveralLines(t *testing.T) {
	tests := []struct{ typed, want string }{
		{"one \\\ntwo\\\nthree\n", "one \ntwo\nthree"},
		{"line 1\nline 2\nline 3\n", "line 1\nline 2\nline 3"}, // pasted
		{"line 1\n/etc/config\n", "line 1\n/etc/config"},
		{"\x1b[200~line 1\nline 2\x1b[201~\r", "line 1\nline 2"},
		{"\x1b[200~/help\nwhat is this?\x1b[201~\r", "/help\nwhat is this?"},
		{"\x1b[200~/etc/config/network\nis odd\x1b[201~\r", "/etc/config/network\nis odd"},
		{"a\tb\n", "a\tb"},
		{"a\x16\x1b[2Jb\n", "ab"},
	}
	for _, tt := range tests {
		c := newPlainTalk(t, newWorld(t))
		c.say(tt.typed)
		c.see("done")
		c.say("/exit\n")
		c.end(0)
		if got := c.asked(0); got != tt.want || len(c.w.requests) != 1 {
			t.Errorf("%q asks %q in %d requests, want %q", tt.typed, got, len(c.w.requests), tt.want)
		}
	}
}

// TestMarkedPaste has a terminal that marks a paste, in which a command is text.
func TestMarkedPaste(t *testing.T) {
	c := newTalk(t, newWorld(t))
	c.say("\x1b[200~line 1\n/exit\nline 3\x1b[201~\r")
	c.see("done")
	c.say("/exit\n")
	c.end(0)
	if got := c.asked(0); got != "line 1\n/exit\nline 3" || len(c.w.requests) != 1 {
		t.Errorf("%d requests, asked %q", len(c.w.requests), got)
	}
}

// TestCommandsStandAlone has commands come faster than they are carried out.
func TestCommandsStandAlone(t *testing.T) {
	c := newTalk(t, newWorld(t))
	c.say("/model small\nhello\n/exit\n")
	c.see("model: small")
	c.see("done")
	c.end(0)
	if got := c.asked(0); got != "hello" || len(c.w.requests) != 1 {
		t.Errorf("%d requests, asked %q", len(c.w.requests), got)
	}
}

func TestUnansweredIsOffered(t *testing.T) {
	w := newWorld(t, reply{status: 400, body: `{"error":{"message":"bad day"}}`}, reply{text: "better"})
	c := newTalk(t, w)
	c.say("first try\n")
	c.see("bad day")
	c.see("not answered: first try (an empty line sends it again)")
	c.say("\n")
	c.see("better")
	c.say("\n")
	c.say("/exit\n")
	c.end(0)
	if len(w.requests) != 2 || c.asked(1) != "first try" {
		t.Errorf("%d requests, the second asks %q", len(w.requests), c.asked(1))
	}
}

// TestAnotherConversation has a message that was not answered, and the output of
// a command for the next message: what begins anew begins without them.
func TestAnotherConversation(t *testing.T) {
	for _, command := range []string{"/clear", "/new", "/resume 20"} {
		w := newWorld(t)
		w.run("old question")
		w.requests, w.replies = nil, []reply{{status: 400, body: `{"error":{"message":"bad day"}}`}, {text: "better"}}
		c := newTalk(t, w)
		c.say("first try\n")
		c.see("not answered: first try (an empty line sends it again)")
		c.say("!echo typed by hand\n")
		c.see("typed by hand\r\n")
		c.say(command + "\n")
		c.say("\n")
		c.say("other words\n")
		c.see("better")
		c.say("/exit\n")
		c.end(0)
		want := "other words"
		if command == "/resume 20" {
			want = "old question|" + want
		}
		if got := c.asked(1); len(w.requests) != 2 || got != want {
			t.Errorf("%s: %d requests, the second asks %q, want %q", command, len(w.requests), got, want)
		}
	}
}

func TestInterruptAtThePrompt(t *testing.T) {
	c := newTalk(t, newWorld(t))
	c.say("")
	for range 3 { // quick ones do not end the program either
		syscall.Kill(syscall.Getpid(), syscall.SIGINT)
		c.prompted()
		c.typed("dropped\x03")
		c.see("dropped^C")
		c.prompted()
	}
	c.typed("/exit\r")
	c.end(0)
	if len(c.w.requests) > 0 {
		t.Errorf("%d requests", len(c.w.requests))
	}
}

func TestInterruptInATurn(t *testing.T) {
	w := newWorld(t, reply{tool: "bash", args: `{"command":"sleep 302"}`}, reply{text: "fine"})
	c := newTalk(t, w)
	c.say("wait\n")
	c.see("[using tool: bash...] sleep 302")
	began := time.Now()
	syscall.Kill(syscall.Getpid(), syscall.SIGINT)
	c.see("[cancelled]")
	c.say("again\n")
	if d := time.Since(began); d > 4*time.Second {
		t.Errorf("the prompt came back after %v", d)
	}
	c.see("fine")
	c.say("/exit\n")
	c.end(0)
	if got := w.message(1, 3); !strings.Contains(got, "interrupted") {
		t.Errorf("the result of the call is %q", got)
	}
}

func TestQuestionInAConversation(t *testing.T) {
	w := newWorld(t, reply{tool: "bash", args: `{"command":"echo RAN"}`}, reply{text: "refused then"})
	w.config(`{"permissions":{"bash":"ask"}}`)
	c := newTalk(t, w)
	c.say("go\n")
	c.see("permission needed: bash")
	c.see("[N] no: ")
	c.typed("n\n")
	c.see("bash: error: denied by the user")
	c.see("refused then")
	c.say("/exit\n")
	c.end(0)
}

func TestHelpListsAllCommands(t *testing.T) {
	c := newTalk(t, newWorld(t))
	c.say("/help\n")
	c.see("stops a turn")
	for _, s := range slashCommands() {
		if !regexp.MustCompile(`(?m)^(.{40})?/` + s.name + ` `).MatchString(c.screen()) {
			t.Errorf("/%s is not in %q", s.name, c.screen())
		}
	}
	c.say("/exit\n")
	c.end(0)
}
