package cli

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/term"
)

// What the terminal driver is asked. No mode of it is changed here: it echoes,
// edits lines and turns Ctrl-C into a signal all the time.

// asTerminal returns v as a file if it is a terminal, else nil.
func asTerminal(v any) *os.File {
	f, ok := v.(*os.File)
	if !ok || f == nil || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// columns is the width of a terminal, 80 if it does not say.
func columns(f *os.File) int {
	if f == nil {
		return 80
	}
	w, _, err := term.GetSize(int(f.Fd()))
	if err != nil || w < 1 {
		return 80
	}
	return w
}

// dumbTerminal says that nothing is known of cursor and colours. A run without
// TERM (cron, procd, env -i) is taken for one.
func dumbTerminal(getenv func(string) string) bool {
	t := getenv("TERM")
	return t == "" || t == "dumb"
}

// useColor decides for one stream. mode is auto, always or never; NO_COLOR and
// CLICOLOR_FORCE are the conventions of no-color.org and bixense.com/clicolors.
func useColor(mode string, tty bool, getenv func(string) string) bool {
	force := getenv("CLICOLOR_FORCE")
	switch {
	case mode == "always":
		return true
	case mode == "never", getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return tty && !dumbTerminal(getenv)
}

// discardInput drops what was typed but not read (TCFLSH of TCIFLUSH), an
// unfinished line included.
func discardInput(f *os.File) error {
	// The number is of the kernel's asm/ioctls.h; package syscall has it for
	// some machines only.
	request := uintptr(0x540b)
	if strings.HasPrefix(runtime.GOARCH, "mips") {
		request = 0x5407
	}
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, syscall.TCIFLUSH)
	if errno != 0 {
		return errno
	}
	return nil
}

// pollFd is struct pollfd of poll(2).
type pollFd struct {
	fd      int32
	events  int16
	revents int16
}

const pollIn = 1 // POLLIN

// awaitInput waits until a read of f would not block, and reports whether that
// is so. It gives up without an error after limit (none if negative), and with
// the context's error when that ends. Nothing runs meanwhile.
func awaitInput(ctx context.Context, f *os.File, limit time.Duration) (bool, error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var wake [2]int
	if err := syscall.Pipe2(wake[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return false, os.NewSyscallError("pipe2", err)
	}
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		syscall.Write(wake[1], []byte{0})
	})
	defer func() {
		if !stop() {
			<-woken // the descriptor may not be closed under the write
		}
		syscall.Close(wake[0])
		syscall.Close(wake[1])
	}()
	fds := [2]pollFd{{fd: int32(f.Fd()), events: pollIn}, {fd: int32(wake[0]), events: pollIn}}
	for {
		n, err := poll(fds[:], limit)
		switch {
		case ctx.Err() != nil:
			return false, ctx.Err()
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return false, os.NewSyscallError("poll", err)
		}
		return n > 0, nil
	}
}

// poll is poll(2), by way of ppoll because newer machines have only that.
func poll(fds []pollFd, limit time.Duration) (int, error) {
	var ts *syscall.Timespec
	if limit >= 0 {
		t := syscall.NsecToTimespec(int64(limit))
		ts = &t
	}
	n, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)),
		uintptr(unsafe.Pointer(ts)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
