package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/lineedit"
)

var (
	errNoSessions = errors.New("no sessions are kept in this run")
	errDropped    = errors.New("line dropped") // by Ctrl-C
)

// repl talks with the person until they leave, and returns the exit code. The
// terminal is in its ordinary mode but while a line is edited.
func (a *app) repl(ctx context.Context) int {
	// Between two watches of Ctrl-C the key must not end the program.
	spare := make(chan os.Signal, 1)
	signal.Notify(spare, os.Interrupt)
	defer signal.Stop(spare)

	in := a.newReader(ctx)
	defer a.closeHistory()
	a.recall()
	for {
		text, err := a.readInput(ctx, in)
		switch {
		case errors.Is(err, errDropped):
			continue
		case errors.Is(err, lineedit.ErrLongLine):
			a.out.Error(err.Error())
			continue
		case err != nil:
			return a.leave(ctx, err)
		}
		if a.obey(ctx, text) {
			return a.leave(ctx, nil)
		}
		if ctx.Err() != nil {
			return a.leave(ctx, ctx.Err())
		}
	}
}

// obey carries out one input and reports whether the conversation ends. An
// empty one repeats what could not be sent, which is no command then.
func (a *app) obey(ctx context.Context, line string) (quit bool) {
	again := strings.TrimSpace(line) == ""
	if again {
		line = a.pending
	}
	name, arg, isCommand := splitCommand(line)
	prompt, err := a.customPrompt(line)
	commands := ownCommands(line)
	switch {
	case err != nil:
		a.out.Error(err.Error())
	case prompt != "":
		a.send(ctx, line, prompt, "")
	case isCommand && !again:
		return a.command(name, arg)
	case commands != nil && !again:
		for _, command := range commands {
			if err := a.shell(ctx, command); err != nil {
				a.out.Error(err.Error())
			}
		}
	default:
		text := chat.CleanText(line)
		a.send(ctx, line, text, text)
	}
	return false
}

// send asks the model. line is what was typed, and typed again if need be; only
// words of typed name files.
func (a *app) send(ctx context.Context, line, text, typed string) {
	a.pending = ""
	if strings.TrimSpace(text) == "" {
		return
	}
	message, err := a.compose(ctx, text, typed)
	if err != nil {
		a.out.Error(err.Error())
		a.offer(line)
		return
	}
	var unsent *agent.UnsentError
	if err := a.turn(ctx, message); errors.As(err, &unsent) && ctx.Err() == nil {
		a.offer(line)
		return
	}
	a.typed, a.images = nil, nil
}

// offer keeps a message that had no answer for another try.
func (a *app) offer(text string) {
	if a.pending = text; text != "" {
		a.history.Add(text)
		a.out.Notice("not answered: " + chat.EscapeText(text, 60) + " (an empty line sends it again)")
	}
}

// recall shows where a conversation stands that is gone on with, and offers what
// had no answer in it.
func (a *app) recall() {
	answer := ""
	for i := len(a.session.Messages) - 1; i >= 0; i-- {
		m := &a.session.Messages[i]
		if m.Role == chat.User && !m.Notice {
			a.out.Recall(turnText(m.Content, 200), answer)
			break
		}
		if m.Role == chat.Assistant && answer == "" {
			answer = m.Content
		}
	}
	a.offer(a.pending)
}

// leave ends the conversation. err is why no line could be read; io.EOF is the
// person's wish.
func (a *app) leave(ctx context.Context, err error) int {
	a.showResume()
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		a.out.Error("read standard input: " + err.Error())
		return exitFailed
	}
	if err := a.agent.SaveError(); err != nil {
		a.out.Error("not all of the conversation was saved: " + err.Error())
		return exitFailed
	}
	return exitDone
}

// showResume tells how to come back, if there is something to come back to.
func (a *app) showResume() {
	if a.sessions != nil && a.session.ID != "" && a.agent.SaveError() == nil {
		a.out.Print("resume with: cluade -r " + a.session.ID)
	}
}

// readInput asks for a message. Ctrl-C makes it errDropped, as a key and as a
// signal; it is watched for before the prompt says that keys count.
func (a *app) readInput(ctx context.Context, in *lineedit.Reader) (string, error) {
	reading, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer a.watch([]os.Signal{syscall.SIGINT}, cancel, 0)()
	text, err := in.ReadLine(reading, a.out.Prompt(a.promptText()), "")
	if errors.Is(err, lineedit.ErrInterrupt) || err != nil && reading.Err() != nil && ctx.Err() == nil {
		return "", errDropped
	}
	return text, err
}

// isCommand says that the line is a slash command that exists.
func isCommand(line string) bool {
	name, _, ok := splitCommand(line)
	return ok && findCommand(name) != nil
}

// banner is the first line: what runs, with which model, where.
func (a *app) banner() string {
	host := a.cfg.BaseURL
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	return chat.EscapeText(fmt.Sprintf("cluade %s - %s - %s - %s (/help)", a.env.Version, a.cfg.Model, host, a.place.Dir), 0)
}
