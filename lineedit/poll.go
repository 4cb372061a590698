package lineedit

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

// pollFd is struct pollfd of poll(2).
type pollFd struct {
	fd      int32
	events  int16
	revents int16
}

// The conditions of poll(2) that are waited for.
const (
	pollIn  = 1
	pollOut = 4
)

// Await waits until a read of f would not block, and reports whether that is
// so. It gives up without an error after limit (none if negative), and with the
// context's error when that ends. Nothing runs meanwhile.
func Await(ctx context.Context, f *os.File, limit time.Duration) (bool, error) {
	w, err := newWaker(ctx)
	if err != nil {
		return false, err
	}
	defer w.close()
	ready, _, err := w.await(f, limit)
	return ready, err
}

// waker is a pipe that ends a wait: the end of a context writes to it, and
// whoever else has it.
type waker struct {
	ctx  context.Context
	pipe [2]int
	stop func()
}

func newWaker(ctx context.Context) (*waker, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := &waker{ctx: ctx}
	if err := syscall.Pipe2(w.pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		w.wake()
	})
	w.stop = func() {
		if !stop() {
			<-woken // the descriptor may not be closed under the write
		}
	}
	return w, nil
}

func (w *waker) wake() { syscall.Write(w.pipe[1], []byte{0}) }

func (w *waker) close() {
	w.stop()
	syscall.Close(w.pipe[0])
	syscall.Close(w.pipe[1])
}

// await waits for f, a wake or the limit; neither ready nor woken means that
// the time is over.
func (w *waker) await(f *os.File, limit time.Duration) (ready, woken bool, err error) {
	fds := [2]pollFd{{fd: int32(f.Fd()), events: pollIn}, {fd: int32(w.pipe[0]), events: pollIn}}
	for {
		err := poll(fds[:], limit)
		switch {
		case w.ctx.Err() != nil:
			return false, false, w.ctx.Err()
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return false, false, os.NewSyscallError("poll", err)
		}
		if fds[1].revents != 0 {
			var b [16]byte
			syscall.Read(w.pipe[0], b[:])
		}
		return fds[0].revents != 0, fds[1].revents != 0, nil
	}
}

// atHand says that a read of f would not block.
func atHand(f *os.File) bool {
	fds := [1]pollFd{{fd: int32(f.Fd()), events: pollIn}}
	return poll(fds[:], 0) == nil && fds[0].revents != 0
}

// poll is poll(2), by way of ppoll because newer machines have only that.
func poll(fds []pollFd, limit time.Duration) error {
	var ts *syscall.Timespec
	if limit >= 0 {
		t := syscall.NsecToTimespec(int64(limit))
		ts = &t
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)),
		uintptr(unsafe.Pointer(ts)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// catchStops says whether SIGTSTP comes by way of package signal or stops the
// process, as usual. The runtime never gives a signal back that it once caught,
// and so would leave it without effect; so the kernel is asked (rt_sigaction(2)).
// An action of zeros is the usual one on every machine, and the runtime's own is
// that of another signal it catches.
func catchStops(yes bool) {
	var action [16]uint64
	size := uintptr(8) // bytes of a set of signals
	if strings.HasPrefix(runtime.GOARCH, "mips") {
		size = 16
	}
	if yes {
		syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGWINCH), 0, uintptr(unsafe.Pointer(&action)), size, 0, 0)
	}
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGTSTP), uintptr(unsafe.Pointer(&action)), 0, size, 0, 0)
}
