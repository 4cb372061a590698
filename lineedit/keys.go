package lineedit

// The rules of the terminal. Raw mode is entered by Modes.take and left by
// Modes.give, which every way out goes through: return, error, panic, a signal
// that ends the context, a stop. Bracketed paste is switched off with it.
// Modes.Restore does the same for whoever ends the process at once.

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"
)

// escapeWait is how long a lone ESC may be the beginning of a sequence, and
// sequenceWait how long the rest of one may take over a slow line.
const (
	escapeWait   = 50 * time.Millisecond
	sequenceWait = time.Second
)

const (
	pasteOn  = "\x1b[?2004h"
	pasteOff = "\x1b[?2004l"
)

// Terminal is where keys come from and where it is shown what they do.
type Terminal struct {
	In, Out *os.File
	Modes   *Modes // remembers how In was found; shared by all readers of a process
}

// Is says whether both ends are a terminal.
func (t Terminal) Is() bool { return isTerminal(t.In) && isTerminal(t.Out) }

func isTerminal(f *os.File) bool { return f != nil && term.IsTerminal(int(f.Fd())) }

// Size is the terminal's in columns and rows, 80 by 24 if it does not say.
func (t Terminal) Size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.Out.Fd()))
	if err != nil || columns < 1 || rows < 1 {
		return 80, 24
	}
	return columns, rows
}

// Modes remembers how a terminal was found while keys are read from it. The
// zero value is ready to use.
type Modes struct {
	mu      sync.Mutex
	in, out *os.File
	found   *term.State // nil while nobody reads keys
	paste   bool
	closed  bool
}

// take makes the terminal raw.
func (m *Modes) take(t Terminal, paste bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return os.ErrClosed
	}
	found, err := term.MakeRaw(int(t.In.Fd()))
	if err != nil {
		return os.NewSyscallError("set the mode of the terminal", err)
	}
	m.in, m.out, m.found, m.paste = t.In, t.Out, found, paste
	return nil
}

// again makes it raw once more, after somebody else had it.
func (m *Modes) again() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found != nil {
		term.MakeRaw(int(m.in.Fd()))
	}
}

// give writes the last bytes of an edited line, and its end, and gives the
// terminal back as it was found.
func (m *Modes) give(last []byte) error {
	m.mu.Lock()
	raw, paste, out := m.found != nil, m.paste, m.out
	m.mu.Unlock()
	if !raw {
		return nil
	}
	if paste {
		last = append(last, pasteOff+"\r\n"...) // in this order, for others write behind the line end
	}
	var err error
	if len(last) > 0 {
		_, err = out.Write(last) // may take long, so Restore is not kept waiting
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found == nil {
		return err
	}
	if e := term.Restore(int(m.in.Fd()), m.found); err == nil {
		err = e
	}
	m.found = nil
	return err
}

// Restore gives the terminal back as it was found, if keys are read from it
// now, and lets nobody read any more. It is for the end of the process, may be
// called by any goroutine, and does not wait for a terminal that is stopped.
func (m *Modes) Restore() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	if m.found == nil {
		return
	}
	term.Restore(int(m.in.Fd()), m.found)
	m.found = nil
	fds := [1]pollFd{{fd: int32(m.out.Fd()), events: pollOut}}
	if m.paste && poll(fds[:], 0) == nil && fds[0].revents&pollOut != 0 {
		m.out.WriteString(pasteOff)
	}
}

// Keys reads single keys. The terminal is raw until Close. One goroutine uses
// it.
type Keys struct {
	t       Terminal
	paste   bool
	dec     *decoder
	ctx     context.Context
	wake    *waker
	signals chan os.Signal
	watched chan struct{} // closed when nobody reads signals any more
	news    chan Code     // what signals mean

	stoppable bool // SIGTSTP is not ignored, as nohup and some shells have it
}

// OpenKeys begins to read keys. What was typed before counts, unless it was
// thrown away; a paste comes as the keys it is made of. The end of ctx ends a
// wait with its error.
func OpenKeys(ctx context.Context, t Terminal) (*Keys, error) {
	return openKeys(ctx, t, false, &decoder{})
}

func openKeys(ctx context.Context, t Terminal, paste bool, dec *decoder) (*Keys, error) {
	wake, err := newWaker(ctx)
	if err != nil {
		return nil, err
	}
	k := &Keys{
		t: t, paste: paste, dec: dec, ctx: ctx, wake: wake,
		signals: make(chan os.Signal, 4), watched: make(chan struct{}), news: make(chan Code, 4),
	}
	// The signals first: a stop must find the terminal as it was.
	signal.Notify(k.signals, syscall.SIGWINCH, syscall.SIGCONT)
	if k.stoppable = !signal.Ignored(syscall.SIGTSTP); k.stoppable {
		signal.Notify(k.signals, syscall.SIGTSTP)
		catchStops(true)
	}
	go k.watch()
	if err := t.Modes.take(t, paste); err != nil {
		k.end()
		return nil, err
	}
	return k, nil
}

// watch makes signals end a wait.
func (k *Keys) watch() {
	defer close(k.watched)
	for s := range k.signals {
		code := CodeResize
		switch s {
		case syscall.SIGTSTP:
			code = ctrl('Z')
		case syscall.SIGCONT: // whoever continued the process may have changed the modes
			k.t.Modes.again()
			code = CodeContinue
		}
		select {
		case k.news <- code:
		default: // the same is waiting already
		}
		k.wake.wake()
	}
}

// Close gives the terminal back as it was found.
func (k *Keys) Close() error { return k.close(nil) }

func (k *Keys) close(last []byte) error {
	err := k.t.Modes.give(last)
	k.end()
	return err
}

func (k *Keys) end() {
	if k.stoppable {
		catchStops(false)
	}
	signal.Stop(k.signals)
	close(k.signals)
	<-k.watched
	k.wake.close()
}

// Suspend stops the process as the terminal does it for Ctrl-Z, with the
// terminal as it was found, and takes it again when the person comes back. What
// is shown is to be shown anew then.
func (k *Keys) Suspend() error { return k.suspend(nil) }

func (k *Keys) suspend(last []byte) error {
	if err := k.t.Modes.give(last); err != nil {
		return err
	}
	if k.stoppable {
		resumed := make(chan os.Signal, 1)
		signal.Notify(resumed, syscall.SIGCONT)
		catchStops(false)
		syscall.Kill(0, syscall.SIGTSTP)
		select {
		case <-resumed:
		case <-time.After(200 * time.Millisecond): // where nobody could continue us the kernel does not stop us
		}
		catchStops(true)
		signal.Stop(resumed)
	}
	return k.t.Modes.take(k.t, k.paste)
}

// Next waits for the next key. At the end of the input the error is io.EOF.
func (k *Keys) Next() (Key, error) {
	for {
		if key, ok := k.dec.next(false); ok {
			return key, nil
		}
		ready, woken, err := k.wake.await(k.t.In, k.patience())
		switch {
		case err != nil:
			return Key{}, err
		case woken:
			select {
			case code := <-k.news:
				return Key{Code: code}, nil
			default:
			}
		case ready:
			if err := k.fill(); err != nil {
				return Key{}, err
			}
		default:
			if key, ok := k.dec.next(true); ok {
				return key, nil
			}
		}
	}
}

// patience is how long the rest of a key may take.
func (k *Keys) patience() time.Duration {
	switch b := k.dec.buf; {
	case !k.dec.undecided():
		return -1
	case k.dec.inPaste || k.dec.inString || b[0] != 0x1b:
	case len(bytes.Trim(b, "\x1b")) == 0 || len(b) == 2 && beginsString(b[1]):
		return escapeWait
	}
	return sequenceWait
}

// fill reads once.
func (k *Keys) fill() error {
	var chunk [4096]byte
	n, err := k.t.In.Read(chunk[:])
	if n == 0 || err != nil {
		return io.EOF // the terminal is gone
	}
	k.dec.feed(chunk[:n])
	return nil
}

// ahead returns what was typed and not read yet, or comes within limit; "" is
// nothing.
func (k *Keys) ahead(limit time.Duration) string {
	if len(k.dec.buf) == 0 {
		if ready, err := Await(k.ctx, k.t.In, limit); !ready || err != nil || k.fill() != nil {
			return ""
		}
	}
	return string(k.dec.buf)
}
