// Package proc starts child processes, and is the only place that does: each
// in a session of its own (so in its own process group, without a controlling
// terminal), with a time limit, its output bounded while it is read, and the
// whole group ended on timeout or cancel.
package proc

import (
	"context"
	"errors"
	"io"
	"syscall"
	"time"
)

// ErrTimeout is the cause in Result when the time limit ended the child.
var ErrTimeout = errors.New("time limit reached")

// Spec says what to run. The zero value of a limit means none.
type Spec struct {
	Argv    []string  // program and arguments; a bare name is looked up on PATH, never in the current directory
	Dir     string    // working directory; "" is this process's
	Env     []string  // the whole environment, NAME=value; nil gives an empty one
	Stdin   io.Reader // nil is the null device
	Timeout time.Duration
	Keep    int   // bytes of output to keep, first 60 %, last 40 %
	Kill    int64 // bytes of output after which the group is ended
}

// Result is how a child ended. Out holds stdout and stderr in one stream.
type Result struct {
	Head, Tail string // Tail is empty unless something between was dropped
	Dropped    int64  // bytes between Head and Tail that were not kept
	Total      int64  // bytes that the child wrote
	Exit       int    // exit status; 128+N when signal N ended it
	Signal     syscall.Signal
	TimedOut   bool // the time limit ended the group
	Flooded    bool // Spec.Kill ended the group
	Cancelled  bool // the context ended the group
	Held       bool // background processes still held the output when Run returned
	Elapsed    time.Duration
}

// Run starts the child and waits for it. An error means that nothing ran.
func Run(ctx context.Context, s Spec) (Result, error) {
	return Result{}, errors.New("not built")
}
