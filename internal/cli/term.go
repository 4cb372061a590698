package cli

import (
	"os"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/term"
)

// What the terminal driver is asked. No mode of it is changed here.

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

// discardInput drops what was typed but not read, an unfinished line included.
func discardInput(f *os.File) error {
	const flush, ofMips = 0x540b, 0x5407 // TCFLSH
	return ioctl(f, flush, ofMips, nil)  // TCIFLUSH is 0
}

// linesBytes is how many bytes the lines have that were entered and not read yet.
func linesBytes(f *os.File) int {
	const unread, ofMips = 0x541b, 0x467f // FIONREAD
	var n int32
	if ioctl(f, unread, ofMips, unsafe.Pointer(&n)) != nil {
		return 0
	}
	return int(n)
}

// ioctl asks the driver of a terminal. The numbers are of the kernel's asm/ioctls.h; package
// syscall has them for some machines only.
func ioctl(f *os.File, request, ofMips uintptr, arg unsafe.Pointer) error {
	if strings.HasPrefix(runtime.GOARCH, "mips") {
		request = ofMips
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}
