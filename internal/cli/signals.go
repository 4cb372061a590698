package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	// impatience is how soon a second Ctrl-C must follow to end the program.
	impatience = 2 * time.Second
	// haste is how long that may take: children that ignore SIGTERM are killed
	// two seconds after the first Ctrl-C.
	haste = 2500 * time.Millisecond
	// grace is how long a run that a signal ended may take to end its children
	// and to finish its journal.
	grace = 5 * time.Second
)

// stopped is the cause of a context that a signal cancelled.
type stopped struct{ sig syscall.Signal }

// Error is what the model reads as the result of a call that was stopped.
func (s stopped) Error() string {
	if s.sig == syscall.SIGINT {
		return "cancelled by the user"
	}
	return "cancelled: the program was told to end (" + s.sig.String() + ")"
}

// exitCode is that of a shell for a program that the signal ended.
func (s stopped) exitCode() int { return 128 + int(s.sig) }

// watchRun ends the run when it is told to end. Ctrl-C ends a one-shot; in a
// conversation that is the turn's affair. The function returned ends the watch.
//
// The first use of os.Process asks the kernel for pidfds by way of a child that
// shares the signal handlers (os.checkPidfd): a Ctrl-C at that moment would
// count twice. So it is done here, before anybody types.
func (a *app) watchRun(oneShot bool) func() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		p.Release()
	}
	sigs := []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} // the last is Ctrl-\ on a terminal
	if oneShot {
		sigs = append(sigs, syscall.SIGINT)
	}
	return a.watch(sigs, a.end, grace)
}

// watchTurn cancels a turn of a conversation by Ctrl-C.
func (a *app) watchTurn(cancel context.CancelCauseFunc) func() {
	return a.watch([]os.Signal{syscall.SIGINT}, cancel, 0)
}

// watch cancels when one of the signals comes. A second Ctrl-C soon after the
// first ends the run. If limit is not 0 the process ends when that time has
// passed and the watch was not ended. A signal that the process was started to
// ignore (nohup, a shell's background job) stays ignored.
func (a *app) watch(sigs []os.Signal, cancel context.CancelCauseFunc, limit time.Duration) func() {
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
		var last stopped
		var at time.Time
		late := time.NewTimer(time.Hour)
		late.Stop()
		for {
			select {
			case <-quit:
				return
			case <-late.C:
				a.modes.Restore()
				a.die(last.exitCode())
			case s := <-ch:
				if (s == syscall.SIGINT || s == syscall.SIGQUIT) && a.lent.Load() > 0 {
					continue // a key that was for that program
				}
				next := stopped{s.(syscall.Signal)}
				again := next.sig == syscall.SIGINT && next == last && time.Since(at) < impatience
				last, at = next, time.Now()
				cancel(next)
				switch {
				case again:
					a.end(next)
					late.Reset(haste)
				case limit > 0:
					late.Reset(limit)
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
