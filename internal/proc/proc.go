// Package proc starts child processes, and is the only place that does: each
// in a session of its own (so in its own process group, without a controlling
// terminal), with a time limit, its output bounded while it is read, and the
// whole session ended on timeout, flood or cancel. What a child that ended by
// itself leaves in the background lives on.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// ErrTimeout is the cause of a child's context when its time limit ended it.
var ErrTimeout = errors.New("time limit reached")

const (
	holdTime = 500 * time.Millisecond // how long the output may outlive the child
	termTime = 2 * time.Second        // between SIGTERM and SIGKILL
	killTime = 2 * time.Second        // how long a killed child may take to go: it may hang in the kernel
)

// Spec says what to run. The zero value of a limit means none.
type Spec struct {
	Path    string    // the program's file; "" is that of Argv[0]
	Argv    []string  // program and arguments; a bare name is looked up on the PATH of Env, never in the current directory
	Dir     string    // working directory; "" is this process's
	Env     []string  // the whole environment, NAME=value; nil gives an empty one
	Stdin   io.Reader // nil is the null device; else it is Run's, and read until it or the child ends
	Timeout time.Duration
	Grace   time.Duration // between SIGTERM and SIGKILL; 0 is two seconds
	Keep    int           // bytes of output to keep, first 60 %, last 40 %
	Kill    int64         // bytes of output after which the session is ended
	Sandbox Sandbox       // what holds for the child; the zero value is nothing

	// Stdout gets the output as it comes, in the place of Head and Tail.
	Stdout io.Writer

	// Stderr gets what the child writes to its standard error, which is else
	// part of the output; Report what it writes to descriptor 3, which is else
	// closed. Each is written to by one goroutine, which is done when Run
	// returns. An error of theirs stops nothing.
	Stderr, Report io.Writer
}

// Result is how a child ended. The output is stdout and stderr in one stream,
// bytes as they came; where some were dropped, no character of UTF-8 is cut.
type Result struct {
	Head, Tail string // Tail is empty unless something between was dropped
	Dropped    int64  // bytes between Head and Tail that were not kept
	Total      int64  // bytes that the child wrote
	Exit       int    // exit status; 128+N when signal N ended it
	Signal     syscall.Signal
	TimedOut   bool // the time limit ended the session
	Flooded    bool // Spec.Kill ended the session
	Cancelled  bool // the context ended the session
	Held       bool // background processes still held the output when Run returned
	Elapsed    time.Duration
}

// stopped says that the child did not end by itself.
func (r *Result) stopped() bool { return r.TimedOut || r.Flooded || r.Cancelled }

// Run starts the child and waits for it. An error means that nothing ran.
//
// When the child has ended, Run waits half a second at most for the end of the
// output. Processes that still hold it then are left alone and get a reader of
// their own, so that they neither block nor die writing. Processes in sessions
// of their own are never signalled.
func Run(ctx context.Context, s Spec) (Result, error) {
	if len(s.Argv) == 0 {
		return Result{}, errors.New("run: no program given")
	}
	if err := ctx.Err(); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	if s.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.Timeout, ErrTimeout)
		defer cancel()
	}
	began := time.Now()
	c, err := start(&s)
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	var r Result
	c.wait(ctx, &r)
	c.finish(&s, &r)
	r.Elapsed = time.Since(began)
	return r, nil
}
