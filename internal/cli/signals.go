package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// impatience is how soon a second Ctrl-C must follow to end the program at
	// once.
	impatience = 2 * time.Second
	// grace is how long a run that a signal ended may take to end its children
	// (TERM, two seconds, KILL) and to finish its journal.
	grace = 5 * time.Second
)

// stopped is the cause of a context that a signal cancelled.
type stopped struct{ sig syscall.Signal }

func (s stopped) Error() string { return "stopped by " + s.sig.String() }

// exitCode is that of a shell for a program that the signal ended.
func (s stopped) exitCode() int { return 128 + int(s.sig) }

// watchRun cancels the run when it is told to end. A one-shot ends by Ctrl-C
// as well; in a conversation that is the turn's affair. The function returned
// ends the watch.
func (a *app) watchRun(cancel context.CancelCauseFunc, oneShot bool) func() {
	sigs := []os.Signal{syscall.SIGTERM, syscall.SIGHUP}
	if oneShot {
		sigs = append(sigs, syscall.SIGINT)
	}
	return a.watch(sigs, grace, cancel)
}

// watchTurn cancels a turn of a conversation by Ctrl-C.
func (a *app) watchTurn(cancel context.CancelCauseFunc) func() {
	return a.watch([]os.Signal{syscall.SIGINT}, 0, cancel)
}

// watch cancels when one of the signals comes. The process is ended at once by
// a second Ctrl-C, and, if limit is not 0, when that time has passed and the
// watch was not ended. A signal that the process was started to ignore (nohup,
// a shell's background job) stays ignored.
func (a *app) watch(sigs []os.Signal, limit time.Duration, cancel context.CancelCauseFunc) func() {
	ch := make(chan os.Signal, 4)
	for _, s := range sigs {
		if !signal.Ignored(s) {
			signal.Notify(ch, s)
		}
	}
	quit := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		var first stopped
		var at time.Time
		var late <-chan time.Time
		for {
			select {
			case <-quit:
				return
			case <-late:
				a.die(first.exitCode())
			case s := <-ch:
				next := stopped{s.(syscall.Signal)}
				if next.sig == syscall.SIGINT && first == next && time.Since(at) < impatience {
					a.die(next.exitCode())
				}
				first, at = next, time.Now()
				cancel(next)
				if limit > 0 && late == nil {
					late = time.After(limit)
				}
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(quit)
		<-done
	}
}

// catchBrokenPipe keeps a write to a closed pipe from ending the process in
// the middle of a journal line: the write fails with EPIPE instead. The signal
// is caught, not ignored, because children would inherit that.
func catchBrokenPipe() func() {
	ch := make(chan os.Signal, 1)
	signal.Notify(ch, syscall.SIGPIPE)
	return func() { signal.Stop(ch) }
}
