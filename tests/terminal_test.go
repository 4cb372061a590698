package tests

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo-terminal of 80x24.
func openTerminal() (ours, theirs *os.File, err error) {
	ours, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	conn, err := ours.SyscallConn()
	if err != nil {
		return nil, nil, err
	}
	var n int
	var failed error
	err = conn.Control(func(fd uintptr) {
		if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed != nil {
			return
		}
		if n, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN); failed != nil {
			return
		}
		failed = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		ours.Close()
		return nil, nil, fmt.Errorf("open a terminal: %w", err)
	}
	return ours, theirs, nil
}

// terminalModes are those of the other side of a pseudo-terminal.
func terminalModes(ours *os.File) (modes *unix.Termios, err error) {
	conn, err := ours.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := conn.Control(func(fd uintptr) { modes, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) })
	return modes, errors.Join(failed, err)
}

// leftTerminal checks that a program left its terminal as it found it, unless
// it had no chance to.
func (r *run) leftTerminal() error {
	if r.code == 128+int(syscall.SIGKILL) {
		return nil
	}
	now, err := terminalModes(r.tty)
	if err != nil {
		return err
	}
	if *now != *r.modes {
		return fmt.Errorf("the terminal is left as %+v, was %+v", *now, *r.modes)
	}
	out := r.out.String()
	if strings.LastIndex(out, "\x1b[?2004h") > strings.LastIndex(out, "\x1b[?2004l") {
		return errors.New("the terminal is left with marked pastes")
	}
	return nil
}

// prompts is how output ends when the program waits for a line.
var prompts = regexp.MustCompile(`(^|[\r\n])[a-z+-]*> $|\[y/N\][:?]? ?$|\[N\] no: ?$`)

// typeKeys types a script of lines, one after the other:
//
//	WORDS      wait until the program asks for a line, then type it and Enter
//	type WORDS the same without Enter
//	? REGEXP   wait until this shows up in what came since the last key
//	file NAME  wait until this file is there and not empty
//	^C  ^D ... press it at once
func (r *run) typeKeys(script string) error {
	seen := 0
	for _, line := range strings.Split(strings.TrimSuffix(script, "\n"), "\n") {
		wait, keys := prompts, line+"\r"
		switch {
		case strings.HasPrefix(line, "? "):
			re, err := regexp.Compile(`(?m)` + line[2:])
			if err != nil {
				return err
			}
			wait, keys = re, ""
		case strings.HasPrefix(line, "file "):
			if !becomes(func() bool { return r.hasEnded() || filled(filepath.Join(r.cmd.Dir, line[5:])) }) {
				return fmt.Errorf("%s does not appear", line)
			}
			continue
		case strings.HasPrefix(line, "type "):
			keys = line[5:]
		case len(line) == 2 && line[0] == '^':
			wait, keys = nil, string(line[1]&0x1f)
		}
		if wait != nil {
			if err := r.awaitAfter(seen, wait); err != nil {
				return fmt.Errorf("typing %q: %w", line, err)
			}
		}
		if keys == "" {
			continue
		}
		seen = len(r.out.String())
		if _, err := r.tty.WriteString(keys); err != nil {
			return fmt.Errorf("typing %q: %w", line, err)
		}
	}
	return nil
}

// awaitAfter waits until the output from byte n on, without colours, fits re.
func (r *run) awaitAfter(n int, re *regexp.Regexp) error {
	deadline := time.After(patience)
	for {
		grew := r.out.grew()
		if re.MatchString(colour.ReplaceAllString(r.out.String()[n:], "")) {
			return nil
		}
		select {
		case <-grew:
		case <-r.ended:
			return fmt.Errorf("it ended first")
		case <-deadline:
			return fmt.Errorf("%s not seen after %v", re, patience)
		}
	}
}
