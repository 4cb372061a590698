package lineedit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The tests of the terminal run this binary once more, on a pseudo-terminal:
// a program that reads lines and says what it got.
func TestMain(m *testing.M) {
	if how := os.Getenv("LINEEDIT_CHILD"); how != "" {
		child(how)
		return
	}
	os.Exit(m.Run())
}

func child(how string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
	defer stop()
	modes := &Modes{}
	o := Options{Terminal: Terminal{os.Stdin, os.Stdout, modes}, Alone: func(s string) bool { return s == "/alone" }}
	o.Edit = func(text string) (string, error) {
		if text == "quit" {
			stop()
			return "", ctx.Err()
		}
		return "<" + text + ">\n", nil
	}
	o.Complete = func(line string, pos int) (int, []string) {
		switch how {
		case "panic":
			panic("on purpose")
		case "restore": // as the end of a process that is stuck
			go func() {
				modes.Restore()
				os.Exit(7)
			}()
			select {}
		}
		return 0, []string{"/help", "/hello"}
	}
	if how == "busy" {
		ready := make(chan os.Signal, 1)
		signal.Notify(ready, syscall.SIGUSR1)
		fmt.Println("busy")
		<-ready
	}
	if how == "keys" {
		childKeys(ctx, o.Terminal)
		return
	}
	r := New(o)
	for {
		line, err := r.ReadLine(ctx, "> ", "")
		if errors.Is(err, ErrInterrupt) {
			continue
		}
		if err != nil {
			fmt.Println("end:", err)
			return
		}
		fmt.Printf("got %q\n", line)
		if line == "work" {
			<-ctx.Done()
		}
	}
}

func childKeys(ctx context.Context, t Terminal) {
	k, err := OpenKeys(ctx, t)
	if err != nil {
		fmt.Println("end:", err)
		return
	}
	defer k.Close()
	fmt.Print("> ")
	for {
		key, err := k.Next()
		if err != nil {
			fmt.Print("end: ", err, "\r\n")
			return
		}
		fmt.Printf("got %d %q\r\n", key.Code, key.Text)
		if key.Code == ctrl('Z') {
			k.Suspend()
		}
	}
}

// person is somebody at a terminal on which a program runs.
type person struct {
	t      *testing.T
	pty    *os.File
	tty    *os.File
	before *unix.Termios
	cmd    *exec.Cmd
	ended  chan error

	mu   sync.Mutex
	seen bytes.Buffer
	more chan struct{}
	at   int
}

func newPerson(t *testing.T, argv []string, env ...string) *person {
	t.Helper()
	pty, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	conn, err := pty.SyscallConn() // Fd would make a read one that Close does not end
	if err != nil {
		t.Fatal(err)
	}
	n := -1
	conn.Control(func(fd uintptr) {
		unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
		unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
		n, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
	})
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, pty: pty, tty: tty, more: make(chan struct{}, 1), ended: make(chan error, 1)}
	p.before = p.modes()
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = tty, tty, tty
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	go p.look()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		tty.Close()
		pty.Close()
	})
	return p
}

func newChild(t *testing.T, how string) *person {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return newPerson(t, []string{exe}, "LINEEDIT_CHILD="+how)
}

func (p *person) look() {
	buf := make([]byte, 4096)
	for {
		n, err := p.pty.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// sees waits for a text behind what was seen last.
func (p *person) sees(text string) {
	p.t.Helper()
	deadline := time.After(20 * time.Second)
	for {
		p.mu.Lock()
		all := p.seen.String()
		p.mu.Unlock()
		if i := strings.Index(all[p.at:], text); i >= 0 {
			p.at += i + len(text)
			return
		}
		select {
		case <-p.more:
		case <-deadline:
			p.t.Fatalf("%q does not come; behind %q came %q", text, all[:p.at], all[p.at:])
		}
	}
}

func (p *person) types(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.pty, keys); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) modes() *unix.Termios {
	p.t.Helper()
	m, err := unix.IoctlGetTermios(int(p.tty.Fd()), unix.TCGETS)
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// restored compares the terminal with what it was, and says whether bracketed
// paste is off.
func (p *person) restored() {
	p.t.Helper()
	if got := p.modes(); *got != *p.before {
		p.t.Errorf("the terminal is\n%+v\nwas\n%+v", *got, *p.before)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.seen.String()
	if strings.LastIndex(all, pasteOn) > strings.LastIndex(all, pasteOff) {
		p.t.Errorf("bracketed paste is still on: %q", all)
	}
}

// ends waits for the end of the program.
func (p *person) ends() {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(20 * time.Second):
		p.t.Fatal("it does not end")
	}
	io.WriteString(p.tty, "[all was written]")
	p.sees("[all was written]")
	p.restored()
}

func TestReadLineRestores(t *testing.T) {
	p := newChild(t, "lines")
	p.sees("> ")
	if m := p.modes(); m.Lflag&(unix.ICANON|unix.ECHO|unix.ISIG) != 0 {
		t.Errorf("the terminal is not raw: %+v", *m)
	}
	p.types("hello\r")
	p.sees(pasteOff + "\r\n")
	p.sees(`got "hello"`)
	p.sees("> ")
	p.types("dropped\x03")
	p.sees("^C")
	p.sees("> ")
	p.types("\x04")
	p.sees("end: EOF")
	p.ends()
}

func TestSignalsRestore(t *testing.T) {
	for _, how := range []string{"lines", "keys"} {
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT} {
			p := newChild(t, how)
			p.sees("> ")
			p.types("half a line")
			p.sees("half a line")
			p.cmd.Process.Signal(s)
			p.sees("end: context canceled")
			p.ends()
		}
	}
}

func TestPanicRestores(t *testing.T) {
	p := newChild(t, "panic")
	p.sees("> ")
	p.types("/h\t")
	p.sees("panic: on purpose")
	p.ends()
}

func TestRestoreFromElsewhere(t *testing.T) {
	p := newChild(t, "restore")
	p.sees("> ")
	p.types("/h\t")
	p.ends()
	if code := p.cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("exit %d, want 7", code)
	}
}

// TestSuspend has a shell with job control: where nobody can continue a
// process, the kernel does not stop it.
func TestSuspend(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range []string{"lines", "keys"} {
		p := newPerson(t, []string{"/bin/sh", "-i"}, "PS1=sh: ", "ENV=", "HISTFILE=", "LINEEDIT_CHILD="+how)
		p.sees("sh: ")
		p.before = p.modes()
		p.types(exe + "\n")
		p.sees("> ")
		p.types("abc")
		p.sees("abc")
		p.types("\x1a")
		p.sees("sh: ")
		p.restored()
		p.types("fg\n")
		if how == "keys" {
			p.types("\x1b[A")
			p.sees(fmt.Sprintf("got %d", CodeUp))
			p.types("\x1a")
			p.sees("sh: ")
			p.restored()
			continue
		}
		p.sees("> abc")
		p.types("d\r")
		p.sees(`got "abcd"`)
		p.sees("> ")
		p.types("x\x1a")
		p.sees("sh: ")
		p.types("fg\n")
		p.sees("> x")
		p.types("\x03")
		p.sees("> ")
		p.types("work\r")
		p.sees(`got "work"`)
		p.types("\x1a") // no key is read now
		p.sees("sh: ")
		p.types("kill %1; fg\n")
		p.sees("end: context canceled")
		p.sees("sh: ")
		p.restored()
	}
}

// TestStopBySignal stops the program by its signal, with nobody to continue it:
// it goes on, and the line with it.
func TestStopBySignal(t *testing.T) {
	p := newChild(t, "lines")
	p.sees("> ")
	p.types("abc")
	p.sees("abc")
	p.cmd.Process.Signal(syscall.SIGTSTP)
	p.sees(pasteOff)
	p.sees("> abc")
	p.types("d\r")
	p.sees(`got "abcd"`)
	p.cmd.Process.Signal(syscall.SIGCONT) // somebody else had the terminal
	p.sees("> ")
	p.types("\x04")
	p.ends()
}

func TestTypedAhead(t *testing.T) {
	p := newChild(t, "busy")
	p.sees("busy")
	p.types("first\n\nhalf")
	p.sees("half") // the terminal echoes it
	p.cmd.Process.Signal(syscall.SIGUSR1)
	p.sees("> first\r\n\r\nhalf")
	p.types(" done\r")
	p.sees(`got "first\n\nhalf done"`)
	p.types("\x04")
	p.ends()
}

func TestUnmarkedPaste(t *testing.T) {
	tests := []struct {
		typed string
		want  []string
	}{
		{"line 1\rline 2\rline 3\r", []string{`got "line 1\nline 2\nline 3"`}},
		{"/alone\rline\r", []string{`got "/alone"`, `got "line"`}},
		{"line\r/alone\r", []string{`got "line"`, `got "/alone"`}},
		{"line\r\x03", []string{`got "line"`, "^C"}},
	}
	for _, tt := range tests {
		p := newChild(t, "lines")
		p.sees("> ")
		p.types(tt.typed)
		for _, want := range tt.want {
			p.sees(want)
		}
		p.sees("> ")
		p.types("\x04")
		p.sees("end: EOF")
		p.ends()
	}
}

func TestEscapeAlone(t *testing.T) {
	p := newChild(t, "keys")
	p.sees("> ")
	p.types("\x1b")
	p.sees(fmt.Sprintf("got %d", CodeEscape))
	p.types("\x1b[B \x1b[6~")
	p.sees(fmt.Sprintf(`got %d ""`, CodeDown))
	p.sees(fmt.Sprintf(`got %d " "`, CodeText))
	p.sees(fmt.Sprintf(`got %d ""`, CodePageDown))
	unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 12, Col: 40})
	p.sees(fmt.Sprintf("got %d", CodeResize))
}

// TestEscapesTogether: several ESC, as a key that repeats sends them over a slow
// line, wait no longer than one.
func TestEscapesTogether(t *testing.T) {
	for _, keys := range []string{"\x1b", "\x1b\x1b", "\x1b\x1b\x1b"} {
		k := &Keys{dec: &decoder{buf: []byte(keys)}}
		if got := k.patience(); got != escapeWait {
			t.Errorf("%q waits for %v, want %v", keys, got, escapeWait)
		}
	}
	p := newChild(t, "keys")
	p.sees("> ")
	p.types("\x1b\x1b")
	p.sees(fmt.Sprintf("got %d", CodeEscape))
	p.sees(fmt.Sprintf("got %d", CodeEscape))
}

func TestCompletionAndEditor(t *testing.T) {
	p := newChild(t, "lines")
	p.sees("> ")
	p.types("/h\t")
	p.sees("/hel")
	p.types("\t\t")
	p.sees("/help   /hello\r\n")
	p.sees("> /hel")
	p.types("p\x18\x05")
	p.sees("> </help>")
	p.types("\r")
	p.sees(`got "</help>"`)
	p.sees("> ")
	p.types("quit\x18\x05") // the end comes while the editor has the terminal
	p.sees("end: context canceled")
	p.ends()
}

// TestResizeRepaints makes the window narrower under a line.
func TestResizeRepaints(t *testing.T) {
	p := newChild(t, "lines")
	p.sees("> ")
	p.types(strings.Repeat("x", 50))
	p.sees(strings.Repeat("x", 50))
	unix.IoctlSetWinsize(int(p.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 12, Col: 40})
	p.sees("\x1b[J> " + strings.Repeat("x", 38) + "\r\n" + strings.Repeat("x", 12))
	p.types("\x03\x04")
	p.ends()
}

// TestPlain reads without editing where there is no terminal.
func TestPlain(t *testing.T) {
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	io.WriteString(w, "one\r\ntwo \\\nthree\n")
	w.Close()
	r := New(Options{Terminal: Terminal{In: in, Modes: &Modes{}}, Alone: func(s string) bool { return s == "one" }})
	for _, want := range []string{"one", "two \nthree"} {
		if got, err := r.ReadLine(t.Context(), "> ", ""); got != want || err != nil {
			t.Errorf("ReadLine = %q, %v, want %q", got, err, want)
		}
	}
	if got, err := r.ReadLine(t.Context(), "> ", ""); !errors.Is(err, io.EOF) {
		t.Errorf("ReadLine = %q, %v, want the end", got, err)
	}
}
