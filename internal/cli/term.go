package cli

import (
	"os"
	"runtime"
	"strings"
	"syscall"

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
