package cli

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"cluade/lineedit"
)

// pty is a pseudo-terminal: the test holds the side of the person.
type pty struct {
	t      *testing.T
	person *os.File
	tty    *os.File

	mu   sync.Mutex
	seen string
	more *sync.Cond
}

func newPty(t *testing.T, cols uint16) *pty {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	var n, unlock int32
	control(t, person, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(t, person, syscall.TIOCGPTN, unsafe.Pointer(&n))
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	size := [4]uint16{24, cols}
	control(t, tty, syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	p := &pty{t: t, person: person, tty: tty}
	p.more = sync.NewCond(&p.mu)
	go p.collect()
	t.Cleanup(func() { tty.Close(); person.Close() })
	return p
}

func control(t *testing.T, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	conn, err := f.SyscallConn() // Fd would make the file one that cannot be closed while it is read
	if err != nil {
		t.Fatal(err)
	}
	conn.Control(func(fd uintptr) {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg)); errno != 0 {
			t.Errorf("ioctl %#x: %v", request, errno)
		}
	})
}

func (p *pty) collect() {
	buf := make([]byte, 4096)
	for {
		n, err := p.person.Read(buf)
		p.mu.Lock()
		p.seen += string(buf[:n])
		p.more.Broadcast()
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// screen is everything written to the terminal so far.
func (p *pty) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.seen
}

// await waits until text was written after the first from bytes of the screen,
// and returns where it ends.
func (p *pty) await(from int, text string) int {
	p.t.Helper()
	late := false
	timer := time.AfterFunc(20*time.Second, func() {
		p.mu.Lock()
		late = true
		p.more.Broadcast()
		p.mu.Unlock()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if i := strings.Index(p.seen[min(from, len(p.seen)):], text); i >= 0 {
			return from + i + len(text)
		}
		if late {
			p.t.Fatalf("the terminal shows %q, want %q", p.seen[from:], text)
		}
		p.more.Wait()
	}
}

func (p *pty) typed(keys string) {
	p.t.Helper()
	if _, err := p.person.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

func environ(vars ...string) func(string) string {
	return func(name string) string {
		for _, v := range vars {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestUseColor(t *testing.T) {
	tests := []struct {
		mode string
		tty  bool
		vars string
		want bool
	}{
		{"auto", true, "TERM=xterm", true},
		{"", true, "TERM=vt100", true},
		{"auto", false, "TERM=xterm", false},
		{"auto", true, "TERM=dumb", false},
		{"auto", true, "", false},
		{"auto", true, "TERM=xterm NO_COLOR=1", false},
		{"auto", true, "TERM=xterm NO_COLOR=", true},
		{"auto", false, "CLICOLOR_FORCE=1", true},
		{"auto", false, "CLICOLOR_FORCE=0", false},
		{"auto", false, "CLICOLOR_FORCE=1 NO_COLOR=1", false},
		{"always", false, "", true},
		{"always", false, "NO_COLOR=1 TERM=dumb", true},
		{"never", true, "TERM=xterm CLICOLOR_FORCE=1", false},
	}
	for _, tt := range tests {
		if got := useColor(tt.mode, tt.tty, environ(strings.Fields(tt.vars)...)); got != tt.want {
			t.Errorf("useColor(%q, %v, %q) = %v, want %v", tt.mode, tt.tty, tt.vars, got, tt.want)
		}
	}
}

func TestColumns(t *testing.T) {
	p := newPty(t, 40)
	if got := columns(p.tty); got != 40 {
		t.Errorf("columns = %d, want 40", got)
	}
	if got := columns(nil); got != 80 {
		t.Errorf("columns(nil) = %d, want 80", got)
	}
}

func TestAsTerminal(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if asTerminal(r) != nil || asTerminal((*os.File)(nil)) != nil || asTerminal(&strings.Builder{}) != nil || asTerminal(nil) != nil {
		t.Error("something that is no terminal is taken for one")
	}
	if p := newPty(t, 80); asTerminal(p.tty) != p.tty {
		t.Error("a terminal is not taken for one")
	}
}

func TestDiscardInput(t *testing.T) {
	p := newPty(t, 80)
	p.typed("early\nunfinished")
	p.await(0, "unfinished") // the driver has echoed it, so it is in its queue
	if err := discardInput(p.tty); err != nil {
		t.Fatal(err)
	}
	p.typed("late\n")
	r := &lineedit.Lines{In: p.tty}
	if line, err := r.Next(t.Context()); line != "late" || err != nil {
		t.Errorf("Next = %q, %v; want the line typed afterwards", line, err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if discardInput(null) == nil {
		t.Error("input of no terminal was discarded without an error")
	}
}
