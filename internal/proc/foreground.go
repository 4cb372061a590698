package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Foreground runs a program of the person in the foreground of their terminal:
// in the session and the process group of this process, so that the keys of
// the terminal reach it, Ctrl-C too. Its standard input is in; what it writes
// goes to show as it comes and is kept as Run keeps it. Of s count Argv, Path,
// Dir, Env and Keep. An error means that nothing ran.
//
// When the program has ended, what it left in the background lives on, as with
// Run. When ctx ends the program alone is ended.
func Foreground(ctx context.Context, s Spec, in *os.File, show io.Writer) (Result, error) {
	if len(s.Argv) == 0 {
		return Result{}, errors.New("run: no program given")
	}
	began := time.Now()
	c, err := startForeground(&s, in)
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	c.stdout = show
	go c.read(0)
	var r Result
	c.wait(ctx, &r)
	c.finish(&s, &r)
	r.Elapsed = time.Since(began)
	return r, nil
}

func startForeground(s *Spec, in *os.File) (*child, error) {
	path, err := locate(s)
	if err != nil {
		return nil, err
	}
	closeOnExec()
	out, w, err := newPipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	p, err := os.StartProcess(path, s.Argv, &os.ProcAttr{Dir: s.Dir, Env: append([]string{}, s.Env...), Files: []*os.File{in, w, w}})
	if err != nil {
		out.Close()
		return nil, err
	}
	c := &child{
		pid: p.Pid, shared: true, grace: termTime, out: out, seen: NewCapture(s.Keep),
		exited: make(chan struct{}), eof: make(chan struct{}), flood: make(chan struct{}),
	}
	go func() {
		defer close(c.exited)
		c.status = waitStatus(p)
	}()
	return c, nil
}

// endAlone ends a program that is in our own process group.
func (c *child) endAlone() {
	for _, step := range []struct {
		sig  syscall.Signal
		wait time.Duration
	}{{syscall.SIGTERM, c.grace}, {syscall.SIGKILL, killTime}} {
		syscall.Kill(c.pid, step.sig)
		select {
		case <-c.exited:
			return
		case <-time.After(step.wait):
		}
	}
}
