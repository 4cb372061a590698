package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

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
	r, err := proc.Foreground(ctx, proc.Spec{
		Path: sh, Argv: []string{sh, "-c", command}, Dir: a.place.Dir, Env: a.env.Environ, Keep: a.cfg.ResultBytes,
	}, a.env.Stdin, a.env.Stdout)
	if err != nil {
		return err
	}
	if shown := r.Head + r.Tail; shown != "" && !strings.HasSuffix(shown, "\n") {
		a.out.Print("")
	}
	a.typed = append(a.typed, shellText(command, r))
	if r.Exit != 0 {
		a.out.Notice(fmt.Sprintf("the command ended with %d", r.Exit))
	}
	return nil
}

// shellMark begins what the model reads of a command that the person ran.
const shellMark = "[I ran this myself]"

// shellText tells the model what the person ran.
func shellText(command string, r proc.Result) string {
	text := r.Head
	if r.Dropped > 0 {
		text += fmt.Sprintf("\n[%d bytes are left out]\n", r.Dropped) + r.Tail
	}
	return fmt.Sprintf(shellMark+"\n$ %s\n%s\n[exit status %d]\n\n", command, strings.TrimRight(chat.CleanText(text), "\n"), r.Exit)
}
