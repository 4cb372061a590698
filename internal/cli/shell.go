package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"cluade/internal/chat"
	"cluade/internal/proc"
)

// shell runs a command that the person typed, in their own shell, at once: no
// rule stands before it, because a person typed it. What it writes is part of
// their next message.
func (a *app) shell(ctx context.Context, command string) error {
	if strings.TrimSpace(command) == "" {
		return errors.New("usage: !command")
	}
	sh := a.env.Getenv("SHELL")
	if info, err := os.Stat(sh); err != nil || !info.Mode().IsRegular() {
		sh = "/bin/sh"
	}
	a.out.Settle()
	r, err := a.foreground(ctx, proc.Spec{
		Path: sh, Argv: []string{sh, "-c", command}, Dir: a.place.Dir, Env: a.env.Environ, Keep: a.cfg.ResultBytes,
	}, a.env.Stdout)
	if err != nil {
		return err
	}
	a.typed = append(a.typed, shellText(command, r))
	if r.Exit != 0 {
		a.out.Notice(fmt.Sprintf("the command ended with %d", r.Exit))
	}
	return nil
}

// ownCommands are the commands of an input in which each line begins with !. Any
// other is a message: in several lines it was pasted, and meant to be read.
func ownCommands(input string) []string {
	lines := strings.Split(strings.TrimRight(input, "\n"), "\n")
	for i, l := range lines {
		command, ok := strings.CutPrefix(l, "!")
		if !ok {
			return nil
		}
		lines[i] = command
	}
	return lines
}

// foreground lends the terminal to a program of the person. The keys that end
// programs are the program's meanwhile, Ctrl-\ too, and one that fails, or was
// ended, leaves the terminal in no mode of its own. What is shown next begins a line.
func (a *app) foreground(ctx context.Context, s proc.Spec, show io.Writer) (proc.Result, error) {
	a.lent.Add(1)
	// A signal that ended the program may reach us a moment later.
	defer time.AfterFunc(lentTime, func() { a.lent.Add(-1) })
	modes, noTerminal := term.GetState(int(a.env.Stdin.Fd()))
	r, err := proc.Foreground(ctx, s, a.env.Stdin, show)
	if noTerminal == nil && (r.Exit != 0 || r.Cancelled) {
		term.Restore(int(a.env.Stdin.Fd()), modes)
	}
	if shown := r.Head + r.Tail; r.Exit == keyInt || r.Exit == keyQuit || shown != "" && !strings.HasSuffix(shown, "\n") {
		a.out.Print("") // the terminal echoes these keys as ^C and ^\
	}
	return r, err
}

// The exit statuses of a program that Ctrl-C or Ctrl-\ ended.
const (
	keyInt  = 128 + int(syscall.SIGINT)
	keyQuit = 128 + int(syscall.SIGQUIT)
)

// lentTime is how much longer than it runs a program owns the signals of keys.
const lentTime = 200 * time.Millisecond

// shellMark begins what the model reads of a command that the person ran.
const shellMark = "[I ran this myself]"

// shellText tells the model what the person ran.
func shellText(command string, r proc.Result) string {
	text := r.Head
	if r.Dropped > 0 {
		text += fmt.Sprintf("\n[%d bytes are left out]\n", r.Dropped) + r.Tail
	}
	if drawsScreen(text) {
		text = "[screen output is left out]"
	}
	return fmt.Sprintf(shellMark+"\n$ %s\n%s\n[exit status %d]\n\n", command, strings.TrimRight(chat.CleanText(text), "\n"), r.Exit)
}

// drawsScreen says that a program moved the cursor about, cleared the screen or
// changed to another (ECMA-48: CUP, HVP and ED; xterm's mode 1049 and its kin):
// what is left without that is no text.
func drawsScreen(text string) bool {
	for {
		_, rest, found := strings.Cut(text, "\x1b[")
		if !found {
			return false
		}
		text = strings.TrimLeft(rest, "0123456789;?")
		params := rest[:len(rest)-len(text)]
		if text == "" {
			return false
		}
		switch text[0] {
		case 'H', 'J', 'f':
			return true
		case 'h':
			if params == "?1049" || params == "?1047" || params == "?47" {
				return true
			}
		}
	}
}
