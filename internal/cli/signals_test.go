package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"reflect"
	"syscall"
	"testing"
	"time"

	"cluade/lineedit"

	"golang.org/x/term"
)

// watched is an app whose death is told instead of died, and the context of
// its run.
func watched() (*app, context.Context, chan int) {
	died := make(chan int, 8)
	ctx, end := context.WithCancelCause(context.Background())
	return &app{die: func(code int) { died <- code }, end: end}, ctx, died
}

// TestMain makes signals as usual that nohup or a script's background ignores:
// the program respects that, and tests would wait for ever.
func TestMain(m *testing.M) {
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	os.Exit(m.Run())
}

func raise(t *testing.T, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(os.Getpid(), sig); err != nil {
		t.Fatal(err)
	}
}

func TestSignalsCancelTheRun(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGQUIT: 131} {
		a, ctx, died := watched()
		stop := a.watchRun(true)
		raise(t, sig)
		<-ctx.Done()
		stop()
		var s stopped
		if !errors.As(context.Cause(ctx), &s) || s.exitCode() != code {
			t.Errorf("%v: cause %v, want code %d", sig, context.Cause(ctx), code)
		}
		select {
		case got := <-died:
			t.Errorf("%v: died with %d, want an end in order", sig, got)
		default:
		}
	}
}

// TestKeysOfABorrowedTerminal: what Ctrl-C and Ctrl-\\ send while a program of the
// person has the terminal is that program's.
func TestKeysOfABorrowedTerminal(t *testing.T) {
	a, ctx, _ := watched()
	a.lent.Add(1)
	stop := a.watchRun(true)
	defer stop()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		raise(t, sig)
	}
	<-ctx.Done()
	if got := context.Cause(ctx); got != (stopped{syscall.SIGTERM}) {
		t.Errorf("ended by %v, want SIGTERM alone", got)
	}
}

func TestSecondInterruptEndsTheRun(t *testing.T) {
	a, run, died := watched()
	turn, cancel := context.WithCancelCause(run)
	stop := a.watchTurn(cancel)
	raise(t, syscall.SIGINT)
	<-turn.Done()
	if run.Err() != nil {
		t.Error("the first Ctrl-C ended the run")
	}
	raise(t, syscall.SIGINT)
	<-run.Done()
	wantDeath(t, died, 130) // a turn that does not end
	stop()
}

func TestRunThatDoesNotEndIsEnded(t *testing.T) {
	a, _, died := watched()
	defer a.watch([]os.Signal{syscall.SIGTERM}, a.end, time.Millisecond)()
	raise(t, syscall.SIGTERM)
	wantDeath(t, died, 143)
}

// TestEndRestoresTheTerminal has a run that does not end read keys.
func TestEndRestoresTheTerminal(t *testing.T) {
	p := newPty(t, 80)
	before, err := term.GetState(int(p.tty.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	a, _, died := watched()
	keys, err := lineedit.OpenKeys(t.Context(), lineedit.Terminal{In: p.tty, Out: p.tty, Modes: &a.modes})
	if err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	defer a.watch([]os.Signal{syscall.SIGTERM}, a.end, time.Millisecond)()
	if now, _ := term.GetState(int(p.tty.Fd())); reflect.DeepEqual(now, before) {
		t.Error("the terminal is not raw")
	}
	raise(t, syscall.SIGTERM)
	wantDeath(t, died, 143)
	if now, _ := term.GetState(int(p.tty.Fd())); !reflect.DeepEqual(now, before) {
		t.Errorf("the terminal is %+v, was %+v", now, before)
	}
}

func wantDeath(t *testing.T, died chan int, code int) {
	t.Helper()
	select {
	case got := <-died:
		if got != code {
			t.Errorf("died with %d, want %d", got, code)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("still alive, want an end with %d", code)
	}
}

// TestIgnoredSignalStaysIgnored is the way of nohup.
func TestIgnoredSignalStaysIgnored(t *testing.T) {
	signal.Ignore(syscall.SIGHUP)
	defer func() { // Reset alone leaves it marked as ignored
		ch := make(chan os.Signal, 1)
		signal.Notify(ch, syscall.SIGHUP)
		signal.Reset(syscall.SIGHUP)
	}()
	a, ctx, _ := watched()
	defer a.watchRun(true)()
	raise(t, syscall.SIGHUP)
	raise(t, syscall.SIGTERM)
	<-ctx.Done()
	if got, want := context.Cause(ctx), (stopped{syscall.SIGTERM}); got != want {
		t.Errorf("cause %v, want %v", got, want)
	}
}
