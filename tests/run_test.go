package tests

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start says how a program is to be run.
type start struct {
	argv, env []string
	dir       string
	pipe      bool   // standard input is a pipe that holds input
	open      bool   // and never ends
	closed    bool   // there is no standard input
	tty       bool   // all three streams are a terminal
	input     string // for the pipe
	typed     string // for the terminal, see keys
}

// run is a program that runs or has run. On a terminal all output is in out.
type run struct {
	cmd      *exec.Cmd
	out, err *screen
	tty      *os.File      // our side of the terminal
	modes    *unix.Termios // of the terminal before
	stdin    io.Closer     // our side of a pipe
	ended    chan struct{} // closed when it was waited for
	typing   chan error    // the end of typing, if there is a terminal
	code     int
}

// start runs it in a process group of its own, so that all of it can be ended.
func (s start) start() (*run, error) {
	argv := s.argv
	if s.closed {
		argv = append([]string{"/bin/sh", "-c", `exec "$@" <&-`, "sh"}, argv...)
	}
	r := &run{cmd: exec.Command(argv[0], argv[1:]...), out: newScreen(), err: newScreen(), ended: make(chan struct{})}
	r.cmd.Dir, r.cmd.Env = s.dir, s.env
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if s.tty {
		return r, r.startOnTerminal(s.typed)
	}
	r.cmd.Stdout, r.cmd.Stderr = r.out, r.err
	// A process in the background of cluade may hold the output open; the
	// run is over when cluade itself is.
	r.cmd.WaitDelay = time.Second
	if s.pipe {
		w, err := r.cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		r.stdin = w
		go func() {
			io.WriteString(w, s.input)
			if !s.open {
				w.Close()
			}
		}()
	}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	go r.reap()
	return r, nil
}

func (r *run) startOnTerminal(typed string) error {
	ours, theirs, err := openTerminal()
	if err != nil {
		return err
	}
	defer theirs.Close()
	r.tty = ours
	if r.modes, err = terminalModes(ours); err != nil {
		return err
	}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = theirs, theirs, theirs
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := r.cmd.Start(); err != nil {
		return err
	}
	read := make(chan struct{})
	go func() {
		io.Copy(r.out, ours) // ends with EIO when the last holder is gone
		close(read)
	}()
	r.typing = make(chan error, 1)
	go func() { r.typing <- r.typeKeys(typed) }()
	go func() {
		r.cmd.Wait()
		select {
		case <-read:
		case <-time.After(time.Second): // somebody else holds the terminal
		}
		r.finishReap()
	}()
	return nil
}

func (r *run) reap() {
	r.cmd.Wait()
	r.finishReap()
}

func (r *run) finishReap() {
	r.code = r.cmd.ProcessState.ExitCode()
	if ws, ok := r.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		r.code = 128 + int(ws.Signal())
	}
	r.out.close()
	r.err.close()
	close(r.ended)
}

// wait waits for the end; after limit it makes one.
func (r *run) wait(limit time.Duration) error {
	var err error
	select {
	case <-r.ended:
	case <-time.After(limit):
		err = fmt.Errorf("still running after %v", limit)
		r.kill()
	}
	if r.stdin != nil {
		r.stdin.Close()
	}
	if r.tty != nil {
		if typing := <-r.typing; err == nil {
			err = typing
		}
		if err == nil {
			err = r.leftTerminal()
		}
		r.tty.Close()
	}
	return err
}

func (r *run) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

func (r *run) kill() {
	syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL)
	<-r.ended
}

// await waits until the output holds re.
func (r *run) await(re *regexp.Regexp, limit time.Duration) error {
	deadline := time.After(limit)
	for {
		outGrew, errGrew := r.out.grew(), r.err.grew()
		if re.MatchString(r.out.String()) || re.MatchString(r.err.String()) {
			return nil
		}
		select {
		case <-outGrew:
		case <-errGrew:
		case <-r.ended:
			if re.MatchString(r.out.String()) || re.MatchString(r.err.String()) {
				return nil
			}
			return errors.New("it ended first")
		case <-deadline:
			return fmt.Errorf("not seen after %v", limit)
		}
	}
}

// colour are the sequences that a terminal may be sent: colours, those of a
// waiting line that is drawn over, and the switch of marked pastes.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m|\r?\x1b\[K|\x1b\[\?2004[hl]`)

// output is what was written; of a terminal's without colours and with plain
// line ends, so that patterns are easy to write.
func (r *run) output() (stdout, stderr string) {
	stdout, stderr = r.out.String(), r.err.String()
	if r.tty != nil {
		stdout = strings.ReplaceAll(colour.ReplaceAllString(stdout, ""), "\r\n", "\n")
	}
	return stdout, stderr
}

// screen collects output and tells when it grows.
type screen struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	wake chan struct{}
	shut bool
}

func newScreen() *screen { return &screen{wake: make(chan struct{})} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buf.Write(p)
	if !s.shut {
		close(s.wake)
		s.wake = make(chan struct{})
	}
	return len(p), nil
}

func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.shut {
		s.shut = true
		close(s.wake)
	}
}

// grew is closed at the next output, or when there will be none.
func (s *screen) grew() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wake
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}
