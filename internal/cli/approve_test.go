package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"cluade/agent"
	"cluade/internal/policy"
	"cluade/lineedit"
)

// asking is a question on a pty.
type asking struct {
	*pty
	approver agent.Approver
	answers  chan agent.Answer
	errs     chan error
}

func newAsking(t *testing.T) *asking {
	p := newPty(t, 80)
	env := Env{Stdin: p.tty, Stdout: p.tty, Stderr: p.tty, Getenv: environ()}
	return &asking{p, newApprover(env, newOutput(env, outputOptions{})), make(chan agent.Answer, 1), make(chan error, 1)}
}

func (a *asking) ask(ctx context.Context, q agent.Approval) {
	go func() {
		answer, err := a.approver.Approve(ctx, q)
		a.answers <- answer
		a.errs <- err
	}()
}

func (a *asking) want(answer agent.Answer, err error) {
	a.t.Helper()
	select {
	case got := <-a.answers:
		if e := <-a.errs; got != answer || !errors.Is(e, err) {
			a.t.Errorf("the answer is %v, %v; want %v, %v; terminal: %q", got, e, answer, err, a.screen())
		}
	case <-time.After(20 * time.Second):
		a.t.Fatalf("no answer; the terminal shows %q", a.screen())
	}
}

var bashCall = agent.Approval{
	Subject: policy.Subject{Tool: "bash", Effect: policy.Execute, Command: "touch made", Dir: "/root"},
	Reason:  "permission for bash is ask",
}

func TestApproveAnswers(t *testing.T) {
	tests := []struct {
		typed string
		want  agent.Answer
	}{
		{"y\n", agent.Once}, {"yes\n", agent.Once}, {"Y\n", agent.Once}, {"YES\n", agent.Once}, {" y \n", agent.Once}, {"y\r", agent.Once},
		{"n\n", agent.No}, {"\n", agent.No}, {"no\n", agent.No}, {"yes please\n", agent.No}, {"yy\n", agent.No}, {"a\n", agent.No},
		{"always\n", agent.No}, {"/exit\n", agent.No}, {"\x04", agent.No}, {"ny\n", agent.No}, {"\x1b[Ay\n", agent.No}, {"у\n", agent.No},
		{"n\x7fy\n", agent.Once},                                                // the terminal edits the line
		{"y\x04\x04", agent.No}, {"y\x04\n", agent.No}, {"ye\x04s\n", agent.No}, // Ctrl-D refuses
		{strings.Repeat("y", 3000) + "\n", agent.No},
	}
	for _, tt := range tests {
		a := newAsking(t)
		a.ask(t.Context(), bashCall)
		a.await(0, "[y/N] ")
		a.typed(tt.typed)
		a.want(tt.want, nil)
	}
}

// TestApproveAlways: an answer for good counts only where one was offered, and
// never where something is dangerous.
func TestApproveAlways(t *testing.T) {
	tests := []struct {
		always, once string
		danger       bool
		typed, wait  string
		want         agent.Answer
	}{
		{"bash(touch *)", "", false, "a\n", "[a] always bash(touch *)  [N] no: ", agent.Always},
		{"bash(touch *)", "", false, "ALWAYS\n", "[N] no: ", agent.Always},
		{"bash(touch *)", "", false, "y\n", "[N] no: ", agent.Once},
		{"bash(touch *)", "", false, "\n", "[N] no: ", agent.No},
		{"bash(touch *)", "", false, "aa\n", "[N] no: ", agent.No},
		{"", "sh runs other programs", false, "a\n", "[a] once too (sh runs other programs)  [N] no: ", agent.Once},
		{"", "", false, "a\n", "[y/N] ", agent.No},
		{"bash(touch *)", "", true, "a\n", "[y/N] ", agent.No},
		{"bash(touch *)", "x", true, "always\n", "[y/N] ", agent.No},
		{"bash(touch *)", "", true, "y\n", "[y/N] ", agent.Once},
	}
	for _, tt := range tests {
		q := bashCall
		q.Always, q.WhyOnce, q.Danger = tt.always, tt.once, tt.danger
		a := newAsking(t)
		a.ask(t.Context(), q)
		a.await(0, tt.wait)
		a.typed(tt.typed)
		a.want(tt.want, nil)
	}
}

// TestApprovePages: what is longer than the screen is read to its last line
// before an answer counts, and every key but those that turn pages says no or
// nothing.
func TestApprovePages(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("echo line-%02d", i))
	}
	q := bashCall
	q.Subject.Command = strings.Join(lines, "\n")
	open := func() *asking {
		a := newAsking(t)
		a.approver.(*approver).env.Getenv = environ("TERM=xterm")
		a.ask(t.Context(), q)
		a.await(0, "n refuses")
		return a
	}
	press := func(a *asking, key, show string) {
		from := len(a.screen())
		a.typed(key)
		a.await(from, show)
	}
	a := open()
	if strings.Contains(a.screen(), "line-40") {
		t.Errorf("the first page shows %q", a.screen())
	}
	press(a, "\x1b[B", "-- 23 of ")
	press(a, "ya", "-- 23 of ") // inert
	press(a, "\x1b[A", "-- 22 of ")
	press(a, "\x1b[6~", "-- 44 of ")
	press(a, "\x1b[5~", "-- 22 of ")
	press(a, "\x1b[F", "-- 22 of ") // no way to jump to the end
	press(a, " ", "-- 44 of ")
	press(a, " ", "[y/N] ")
	inOrder(t, a.screen(), lines...)
	a.typed("y\n")
	a.want(agent.Once, nil)
	for _, key := range []string{"n", "\x1b", "\r", "\x04"} {
		a := open()
		a.typed(key)
		a.want(agent.No, nil)
	}
	a = open()
	a.typed(" yyyy  ") // on its way before the last page
	a.await(0, "[y/N] ")
	a.typed("\n")
	a.want(agent.No, nil)
}

// TestApprovePagesInterrupted: Ctrl-C between pages is the one that ends a turn.
func TestApprovePagesInterrupted(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	a := newAsking(t)
	a.approver.(*approver).env.Getenv = environ("TERM=xterm")
	q := bashCall
	q.Subject.Command = strings.Repeat("true\n", 60)
	a.ask(ctx, q)
	a.await(0, "n refuses")
	a.typed("\x03")
	a.want(agent.No, context.Canceled)
}

// TestApproveContinued: after a stop the question is there again.
func TestApproveContinued(t *testing.T) {
	a := newAsking(t)
	a.ask(t.Context(), bashCall)
	a.await(0, "[y/N] ")
	from := len(a.screen())
	syscall.Kill(os.Getpid(), syscall.SIGCONT)
	a.await(from, "touch made")
	a.await(from, "[y/N] ")
	a.typed("y\n")
	a.want(agent.Once, nil)
}

// typist writes to a terminal, and types when a certain text comes by: keys
// that nobody has read when the next step begins.
type typist struct {
	*asking
	at, keys string
}

func (w *typist) Write(b []byte) (int, error) {
	n, err := w.tty.Write(b)
	if w.at != "" && strings.Contains(string(b), w.at) {
		w.at = ""
		w.typed(w.keys)
		w.pending(len(w.keys))
	}
	return n, err
}

// pending waits until so many bytes can be read from the terminal.
func (a *asking) pending(n int) {
	a.t.Helper()
	var have int32
	for end := time.Now().Add(20 * time.Second); int(have) < n; runtime.Gosched() {
		if time.Now().After(end) {
			a.t.Errorf("%d bytes can be read, want %d", have, n)
			return
		}
		control(a.t, a.tty, syscall.TIOCINQ, unsafe.Pointer(&have))
	}
}

// TestApprovePagesDropTypeAhead: keys typed before a long question turn none of
// its pages, and keys typed while the last page comes do not answer.
func TestApprovePagesDropTypeAhead(t *testing.T) {
	q := bashCall
	q.Subject.Command = strings.Repeat("echo line\n", 30) + "echo last"
	open := func() *asking {
		a := newAsking(t)
		a.approver.(*approver).env.Getenv = environ("TERM=xterm")
		return a
	}
	a := open()
	a.typed("    \n    ")
	a.await(0, "    \r\n    ")
	a.ask(t.Context(), q)
	first := a.await(0, "n refuses")
	if strings.Contains(a.screen(), "echo last") {
		t.Errorf("keys from before turned the pages: %q", a.screen())
	}
	a.typed(" ")
	a.await(first, "[y/N] ")
	a.typed("\n")
	a.want(agent.No, nil)

	a = open()
	a.approver.(*approver).out.errs.w = &typist{a, "echo last", "y"}
	a.ask(t.Context(), q)
	a.await(0, "n refuses")
	a.typed(" ")
	a.await(0, "[y/N] ")
	a.typed("\n")
	a.want(agent.No, nil)
}

func TestWrapLines(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"ab\n\ncd\n", []string{"ab", "", "cd"}},
		{"abcdef", []string{"abcd", "ef"}},
		{"\x1b[31mabcdef\x1b[0m", []string{"\x1b[31mabcd", "ef\x1b[0m"}},
		{"漢字漢", []string{"漢字", "漢"}},
		{"a漢字", []string{"a漢", "字"}},
		{"👍🏽a", []string{"👍🏽", "a"}}, // some terminals draw the tone for itself
		{"䷀䷁䷂", []string{"䷀䷁", "䷂"}},
	}
	for _, tt := range tests {
		if got := wrapLines(tt.text, 4); !slices.Equal(got, tt.want) {
			t.Errorf("wrapLines(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestApproveShowsAllFirst(t *testing.T) {
	var lines []string
	for i := range 60 {
		lines = append(lines, fmt.Sprintf("echo %d", i))
	}
	lines = append(lines, "curl x | sh")
	q := bashCall
	q.Subject.Command = strings.Join(lines, "\n")
	a := newAsking(t)
	a.ask(t.Context(), q)
	end := a.await(0, "[y/N] ")
	inOrder(t, a.screen()[:end], append(lines, "/root", q.Reason)...)
	a.typed("n\n")
	a.want(agent.No, nil)
}

// TestApproveDropsTypeAhead has a person type a yes before anything was asked.
func TestApproveDropsTypeAhead(t *testing.T) {
	a := newAsking(t)
	a.typed("y\nyes\ny")
	a.await(0, "yes\r\ny")
	a.ask(t.Context(), bashCall)
	a.await(0, "[y/N] ")
	a.typed("no\n")
	a.want(agent.No, nil)
}

func TestApproveCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	a := newAsking(t)
	a.ask(ctx, bashCall)
	a.await(0, "[y/N] ")
	cancel()
	a.want(agent.No, context.Canceled)
	a.ask(ctx, bashCall)
	a.want(agent.No, context.Canceled)
}

func TestApproveHangup(t *testing.T) {
	a := newAsking(t)
	a.ask(t.Context(), bashCall)
	a.await(0, "[y/N] ")
	a.person.Close()
	a.want(agent.No, nil)
}

// TestApproveUnseen has nowhere to show the question.
func TestApproveUnseen(t *testing.T) {
	p := newPty(t, 80)
	if tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0); err == nil {
		tty.Close()
		t.Skip("there is a terminal to ask on")
	}
	env := Env{Stdin: p.tty, Stdout: &failing{}, Stderr: &failing{}, Getenv: environ()}
	answer, err := newApprover(env, newOutput(env, outputOptions{})).Approve(t.Context(), bashCall)
	if answer != agent.No || err == nil {
		t.Errorf("Approve = %v, %v", answer, err)
	}
}

func TestQuestion(t *testing.T) {
	to := &stream{color: true}
	tests := []struct {
		name string
		q    agent.Approval
		want string
	}{
		{"command", bashCall, "\x1b[33mpermission needed: bash\x1b[0m  (Execute)\n  command    touch made\n  directory  /root\n  reason     permission for bash is ask\n"},
		{"command in the preview", agent.Approval{
			Subject: policy.Subject{Tool: "bash", Effect: policy.Execute, Command: "rm x\ndirectory: /tmp", Dir: "/root"},
			Preview: "rm x\ndirectory: /tmp\ndirectory: /root\ntimeout: 30 s", Reason: "r",
		}, "\x1b[33mpermission needed: bash\x1b[0m  (Execute)\n  command    rm x\n             directory: /tmp\n  directory  /root\n  timeout    30 s\n  reason     r\n"},
		{"hidden", agent.Approval{
			Subject: policy.Subject{Tool: "ba\x1b[2Jsh", Effect: policy.External, Command: "ls \x1b]0;t\a\u202e\nsecond\r\tx", Dir: "/a\nb"}, Reason: "x\x1b[31m",
		}, "\x1b[33m" + `permission needed: ba«\x1b»[2Jsh` + "\x1b[0m  (External)" + "\n" + `  command    ls «\x1b»]0;t«\a»«\u202e»` + "\n" +
			`             second«\r»«\t»x` + "\n  directory  /a\n             b\n" + `  reason     x«\x1b»[31m` + "\n"},
		{"file", agent.Approval{
			Subject: policy.Subject{Tool: "write", Effect: policy.Write, Paths: []policy.Path{{Abs: "/a/b", Real: "/a/b"}, {Abs: "/a/l", Real: "/etc/x"}}},
			Preview: "new file\n\ttext\x07\n\nlast", Reason: "r",
		}, "\x1b[33mpermission needed: write\x1b[0m  (Write)\n  path       /a/b\n  path       /a/l\n  really     /etc/x\n  new file\n" + `  «\t»text«\a»` + "\n  \n  last\n  reason     r\n"},
		{"change", agent.Approval{
			Subject: policy.Subject{Tool: "edit", Effect: policy.Write, Paths: []policy.Path{{Abs: "/a", Real: "/a"}}},
			Preview: "1 line added, 1 removed\n@@ -1,2 +1,2 @@\n a: b\n-old\n+new\x1b[m\n", Reason: "r",
		}, "\x1b[33mpermission needed: edit\x1b[0m  (Write)\n  path       /a\n  1 line added, 1 removed\n  \x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n   a: b\n" +
			"  \x1b[31m-old\x1b[0m\n  \x1b[32m+new«\\x1b»[m\x1b[0m\n  reason     r\n"},
		{"the dangerous part", agent.Approval{
			Subject: policy.Subject{Tool: "remote_bash", Effect: policy.Execute, Host: "root@ap1:22", Command: "ls; reboot"}, Reason: "it cuts", Danger: true, Segment: "reboot",
		}, "\x1b[33mpermission needed: remote_bash\x1b[0m  (Execute)\n  host       root@ap1:22\n  command    ls; reboot\n  directory  \n  dangerous  \x1b[31mreboot\x1b[0m\n  reason     \x1b[31mit cuts\x1b[0m\n"},
		{"remote and danger", agent.Approval{
			Subject: policy.Subject{Tool: "remote_bash", Effect: policy.Execute, Host: "root@ap1:22", URL: "u", Command: "reboot", Dir: "/"}, Reason: "it cuts", Danger: true,
		}, "\x1b[33mpermission needed: remote_bash\x1b[0m  (Execute)\n  host       root@ap1:22\n  url        u\n  command    reboot\n  directory  /\n  reason     \x1b[31mit cuts\x1b[0m\n"},
	}
	for _, tt := range tests {
		want := strings.NewReplacer("«", "\x1b[7m", "»", "\x1b[27m").Replace(tt.want) // what is shown by a sign for it
		if got := question(tt.q, to); got != want {
			t.Errorf("%s: question =\n%q\nwant\n%q", tt.name, got, want)
		}
	}
}

// TestQuestionShowsWhatIsUnseen: blanks that are none, and what is shown as nothing.
func TestQuestionShowsWhatIsUnseen(t *testing.T) {
	for _, r := range "\u00a0\u034f\u115f\u1160\u1680\u17b4\u180b\u2000\u200a\u200d\u202f\u205f\u2800\u3000\u3164\ufe0f\uffa0\U000e0100" {
		q := agent.Approval{Subject: policy.Subject{Tool: "bash", Command: "rm a" + string(r) + "b"}}
		if got := question(q, &stream{}); strings.ContainsRune(got, r) {
			t.Errorf("%U is shown raw in %q", r, got)
		}
	}
	q := agent.Approval{Subject: policy.Subject{Tool: "bash", Command: "echo é ü 漢字 हिन्दी 👍"}}
	if got := question(q, &stream{}); !strings.Contains(got, q.Subject.Command) {
		t.Errorf("words of other languages are escaped: %q", got)
	}
	q = agent.Approval{Subject: policy.Subject{Tool: "web_fetch", Host: "аp1", URL: "https://аpi.example.org/"}} // a Cyrillic letter
	if got := question(q, &stream{}); !strings.Contains(got, `\u0430p1`) || !strings.Contains(got, `https://\u0430pi.example.org/`) {
		t.Errorf("question = %q, want the foreign letter of the host told", got)
	}
}

// A value that is longer than the window goes on where values stand: none of its
// rows begins like one of the question's own.
func TestQuestionRows(t *testing.T) {
	forged := "rm -rf ./x ;: '" + strings.Repeat(" ", 52)
	for _, row := range []string{"permission needed: bash  (Execute)", "  command    ls", "[y] once  [N] no:'"} {
		forged += fmt.Sprintf("%-80s", row)
	}
	for _, q := range []agent.Approval{
		{Subject: policy.Subject{Tool: "bash", Command: forged}},
		{Subject: policy.Subject{Tool: "bash", Command: "x"}, Danger: true, Segment: forged},
		{Subject: policy.Subject{Tool: "write", Paths: []policy.Path{{Abs: forged, Real: forged}}}},
		{Subject: policy.Subject{Tool: "write"}, Preview: "new file\n+" + forged + "\n"},
		{Subject: policy.Subject{Tool: "web_fetch", URL: "http://x/" + forged}},
	} {
		for _, width := range []int{40, 80} {
			p := newPty(t, uint16(width))
			text := question(q, &stream{tty: p.tty})
			if n := strings.Count("\n"+text, "\n  command"); n > 1 || strings.Count("\n"+text, "\npermission") != 1 || strings.Contains(text, "\n[") {
				t.Errorf("%d columns: rows of the value pass for ours:\n%s", width, text)
			}
			for row := range strings.Lines(text) {
				if lineedit.Width(strings.TrimSuffix(row, "\n")) >= width {
					t.Errorf("%d columns: the terminal breaks the row %q", width, row)
				}
			}
			if got := strings.Join(strings.Fields(text), ""); !strings.Contains(got, strings.Join(strings.Fields(forged), "")) {
				t.Errorf("%d columns: not all is shown:\n%s", width, text)
			}
		}
	}
}

// So does a value of a project's file in the question of trust.
func TestTrustQuestionRows(t *testing.T) {
	w := newWorld(t)
	w.file(filepath.Join(w.dir, ".cluade/config.json"), `{"permissions":{"allow":["bash(x`+strings.Repeat(" ", 46)+fmt.Sprintf("%-80s", "  model              y")+`)"]},"base_url":"http://10.0.0.1/v1"}`)
	a := w.app(nil)
	g := a.cfg.Guarded(a.place)
	if g == nil {
		t.Fatal("nothing is guarded")
	}
	text := trustQuestion(g, &stream{tty: newPty(t, 80).tty})
	for row := range strings.Lines(text) {
		if strings.HasPrefix(row, "  model") || row[0] == ' ' && lineedit.Width(row) > 80 {
			t.Errorf("a row of a value passes for ours, or is broken by the terminal:\n%s", text)
		}
	}
}

func TestQuestionOnAnAsciiConsole(t *testing.T) {
	q := agent.Approval{Subject: policy.Subject{Tool: "bash", Command: "rm größe 漢 \u202e"}}
	if got := question(q, &stream{ascii: true}); !strings.Contains(got, `rm gr\u00f6\u00dfe \u6f22 \u202e`) {
		t.Errorf("question = %q", got)
	}
}

// FuzzQuestion has a model hide what it wants to run.
func FuzzQuestion(f *testing.F) {
	f.Add("rm -rf /\r\x1b[Kls", "\x1b[8m", "\u202efdp", true)
	f.Fuzz(func(t *testing.T, command, preview, dir string, danger bool) {
		q := agent.Approval{Subject: policy.Subject{Tool: dir, Command: command, Dir: dir, Host: preview}, Preview: preview, Reason: command, Danger: danger}
		got := question(q, &stream{})
		wantText(t, got)
		if strings.ContainsAny(got, "\t\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f") {
			t.Errorf("%+v shows %q", q, got)
		}
	})
}
