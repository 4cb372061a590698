package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"cluade/internal/proc"
	"cluade/lineedit"
)

// historySize is how many messages Up goes back to.
const historySize = 100

// newReader makes the reader of the person's messages.
func (a *app) newReader(ctx context.Context) *lineedit.Reader {
	file, lines := a.cfg.History(a.place)
	if a.flags.unsaved() {
		file = ""
	}
	h, err := lineedit.OpenHistory(historySize, file, lines)
	if err != nil {
		a.out.Warn(err.Error())
	}
	h.Skip = func(line string) bool { return a.mask(line) != line || strings.HasPrefix(line, "/config set ") }
	a.history = h
	return lineedit.New(lineedit.Options{
		Terminal: lineedit.Terminal{In: a.env.Stdin, Out: a.out.console().tty, Modes: &a.modes},
		Plain:    dumbTerminal(a.env.Getenv),
		History:  h,
		Alone:    isCommand,
		Complete: a.complete,
		Edit:     func(text string) (string, error) { return a.edit(ctx, text) },
	})
}

// closeHistory keeps what was entered for the next run.
func (a *app) closeHistory() {
	if file, _ := a.cfg.History(a.place); file != "" && filepath.Dir(file) == a.place.State {
		os.MkdirAll(a.place.State, 0o700)
	}
	if err := a.history.Close(); err != nil {
		a.out.Warn(err.Error())
	}
}

// editCommand runs the person's editor on a file, with all its streams on the
// terminal, whatever those of this process are. Ctrl-C is the editor's: the
// shell has a trap so that it does not end with 130 behind an editor that goes on.
const editCommand = `trap : INT; eval "${VISUAL:-${EDITOR:-vi}} \"\$1\"" >/dev/tty 2>&1`

// edit has the person's editor change a text. It stands in a file that nobody
// else can read, in a directory of its own.
func (a *app) edit(ctx context.Context, text string) (string, error) {
	edited, err := a.runEditor(ctx, text)
	if err != nil && ctx.Err() == nil {
		a.out.Error("edit the message: " + err.Error())
	}
	return edited, err
}

func (a *app) runEditor(ctx context.Context, text string) (string, error) {
	dir, err := os.MkdirTemp("", "cluade-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "message.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return "", err
	}
	r, err := a.foreground(ctx, proc.Spec{
		Argv: []string{"/bin/sh", "-c", editCommand, "cluade", file}, Dir: a.place.Dir, Env: a.env.Environ,
	}, a.env.Stderr)
	if err != nil {
		return "", err
	}
	if r.Exit != 0 {
		return "", fmt.Errorf("the editor ended with %d, the message stays as it was", r.Exit)
	}
	return readEdited(file)
}

// maxEdited bounds what is read of an edited message; a message holds less, and
// says so.
const maxEdited = 4 << 20

// readEdited reads what an editor left. What is no file any more, a FIFO say, is
// not waited for.
func readEdited(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("the editor left no regular file, the message stays as it was")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEdited))
	return string(data), err
}
