package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"cluade/internal/chat"
	"cluade/store"
	"cluade/tools"
)

// Going back: the files that the program's own tools changed, and with them the
// conversation, are what they were before a turn. What a person or a command
// did to a file since is never taken back without a yes for just that.

// maxRewindList is how many turns /rewind shows.
const maxRewindList = 20

// rewinder remembers files for the session of j, nil where nobody could make use
// of it.
func (a *app) rewinder(j *store.Journal) *tools.Rewind {
	keep := j != nil && a.cfg.KeepsUndo(a.place)
	if a.oneShot() && !keep {
		return nil
	}
	r := &tools.Rewind{Max: a.cfg.RewindBytes}
	if keep {
		r.Log = func(record []byte, first bool) {
			if err := j.Undo(record, first); err != nil {
				a.out.Warn(err.Error())
			}
		}
	}
	return r
}

// confirm shows a text and asks about it. Only yes is a yes.
func (a *app) confirm(text func(*stream) string, question string) (bool, error) {
	if !a.attended() {
		return false, errors.New("there is nobody to ask")
	}
	ctx, done := a.untilSignal()
	defer done()
	line, err := (&approver{a.env, a.out}).ask(ctx, text, func(*stream) string { return question + " [y/N] " })
	switch {
	case ctx.Err() != nil:
		return false, nil
	case err != nil:
		return false, err
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// untilSignal is a context for what waits for a person outside of a turn.
func (a *app) untilSignal() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := a.watch([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}, cancel, 0)
	return ctx, func() { stop(); cancel(nil) }
}

// turnsBack are the turns that /rewind can go back to. Where the transcript has no
// message of the person in a turn's place, its files alone can be brought back.
func (a *app) turnsBack() []tools.Turn {
	turns := a.tools.Rewind.Turns()
	for i, t := range turns {
		m := a.session.Messages
		if t.Start >= len(m) || t.Start >= 0 && (m[t.Start].Role != chat.User || m[t.Start].Notice) {
			turns[i].Start = -1
		}
	}
	return turns
}

// turnText shows the message that began a turn in so many columns, without the
// commands of the person's own that went with it.
func turnText(input string, columns int) string {
	if strings.HasPrefix(input, shellMark) {
		input = input[strings.LastIndex(input, "]\n\n")+1:]
	}
	return cutColumns(chat.EscapeText(strings.TrimSpace(input), 200), columns)
}

func (a *app) cmdRewind(arg string) (bool, error) {
	turns := a.turnsBack()
	if len(turns) == 0 {
		return false, errors.New("there is no turn to go back to: there was none since the conversation began, was resumed or was compacted")
	}
	if arg != "" {
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 || n > len(turns) {
			return false, fmt.Errorf("there is no turn %s; /rewind numbers them", chat.EscapeText(arg, 20))
		}
		return false, a.goBack(turns[n-1], n-1)
	}
	var b strings.Builder
	if hidden := len(turns) - maxRewindList; hidden > 0 {
		fmt.Fprintf(&b, "     (%d earlier ones)\n", hidden)
	}
	for i := max(0, len(turns)-maxRewindList); i < len(turns); i++ {
		t := turns[i]
		fmt.Fprintf(&b, "%3d  %s", i+1, turnText(t.Input, 50))
		if t.Files > 0 {
			fmt.Fprintf(&b, "  (files: %d)", t.Files)
		}
		b.WriteByte('\n')
	}
	b.WriteString("/rewind NUMBER goes back to before that turn.\n")
	a.out.Print(b.String())
	return false, nil
}

func (a *app) cmdUndo(string) (bool, error) {
	turns := a.turnsBack()
	if len(turns) == 0 {
		return false, errors.New("there is no turn to undo: there was none since the conversation began, was resumed or was compacted")
	}
	return false, a.goBack(turns[len(turns)-1], len(turns)-1)
}

// goBack goes back to before turn t, the n-th of those remembered.
func (a *app) goBack(t tools.Turn, n int) error {
	steps := a.tools.Plan(n)
	todo, foreign := 0, 0
	for _, s := range steps {
		switch {
		case s.Lost != "":
			continue
		case s.Foreign:
			foreign++
		}
		todo++
	}
	if todo == 0 {
		a.out.Print(a.backText(t, steps, &stream{}))
	} else if yes, err := a.confirm(func(to *stream) string { return a.backText(t, steps, to) }, "go back?"); err != nil {
		return err
	} else if !yes {
		return errors.New("nothing was changed")
	}
	over := false
	if foreign > 0 {
		var err error
		if over, err = a.confirm(func(to *stream) string { return foreignText(steps, to) }, "take these changes back too?"); err != nil {
			return err
		}
	}
	var back []string
	deleted := 0
	for _, s := range steps {
		if s.Lost != "" || s.Foreign && !over {
			continue
		}
		if err := a.tools.GoBack(context.Background(), s); err != nil {
			return fmt.Errorf("%w; the conversation stays as it is, and /rewind can be tried again", err)
		}
		back = append(back, s.Path)
		if s.Delete {
			deleted++
		}
	}
	a.forgetTurns(t, n, back)
	told := "gone back"
	if restored := len(back) - deleted; restored > 0 {
		told += "; files restored: " + strconv.Itoa(restored)
	}
	if deleted > 0 {
		told += "; files deleted: " + strconv.Itoa(deleted)
	}
	if t.Start < 0 {
		told += "; the conversation was compacted meanwhile and stays as it is"
	}
	a.out.Print(told)
	return nil
}

// forgetTurns takes turn n and later ones out of the conversation.
func (a *app) forgetTurns(t tools.Turn, n int, back []string) {
	a.tools.Rewind.Forget(n)
	a.tools.Unchanged(back)
	if a.journal != nil {
		a.journal.ForgetUndo()
	}
	if t.Start >= 0 {
		a.agent.Rewind(t.Start)
	}
}

// backText is what going back means: what is done to files, what stays, and
// what nothing can take back.
func (a *app) backText(t tools.Turn, steps []tools.Step, to *stream) string {
	show := shower(to, to.color)
	var b strings.Builder
	fmt.Fprintf(&b, "back to before: %s\n", show(turnText(t.Input, 60)))
	for _, s := range steps {
		what := "restore"
		switch {
		case s.Lost != "":
			fmt.Fprintf(&b, "  %-8s %s: %s\n", "stays", show(s.Path), show(s.Lost))
			continue
		case s.Delete:
			what = "delete"
		}
		fmt.Fprintf(&b, "  %-8s %s", what, show(s.Path))
		if s.Foreign {
			b.WriteString(" (something else changed it since)")
		}
		b.WriteByte('\n')
	}
	if lasting := a.lasting(t.Start); len(lasting) > 0 {
		b.WriteString("what these did stays:\n")
		for _, l := range lasting {
			fmt.Fprintf(&b, "  %s\n", show(l))
		}
	}
	return b.String()
}

// lasting are the calls from message start on that going back does not take
// back: commands, other hosts, subagents.
func (a *app) lasting(start int) (list []string) {
	if start < 0 {
		return []string{"commands that ran in it"}
	}
	msgs := a.session.Messages[start:]
	for i, m := range msgs {
		for _, c := range m.ToolCalls {
			text := tools.Builtin.Lasting(c.Name, c.Args)
			ran := slices.ContainsFunc(msgs[i+1:], func(r chat.Message) bool {
				return r.ToolCallID == c.ID && !strings.HasPrefix(r.Content, "error: denied") && !strings.HasPrefix(r.Content, "error: cancelled")
			})
			if text != "" && ran && c.Name != "compact" {
				list = append(list, cutColumns(chat.EscapeText(text, 200), 70))
			}
		}
	}
	if n := len(list); n > maxRewindList {
		list = append(list[:maxRewindList], fmt.Sprintf("and %d more", n-maxRewindList))
	}
	return list
}

// foreignText shows what a yes would do to files that something else changed.
func foreignText(steps []tools.Step, to *stream) string {
	show := shower(to, to.color)
	var b strings.Builder
	for _, s := range steps {
		if s.Lost != "" || !s.Foreign {
			continue
		}
		b.WriteString(to.paint(yellow, "changed since by something else: "+show(s.Path)) + "\n")
		for _, line := range textLines(s.Diff) {
			b.WriteString("  " + show(line) + "\n")
		}
	}
	return b.String()
}

// undoSession undoes what the last turn of a finished session did to files, from
// what was kept beside the session.
func (a *app) undoSession() (int, error) {
	if a.place.State == "" {
		return exitUsage, errors.New("there is no home directory, so nothing is kept that could be undone")
	}
	u, err := store.OpenSessions(a.place, a.cfg).Undone(a.flags.undoID)
	if err != nil {
		return exitUsage, err
	}
	e := &tools.Env{
		Dir: a.place.Dir, Home: a.place.Home, State: a.place.State, Project: projectRoot(a.place.Dir),
		Saved: a.cfg.SessionsDir, Private: a.cfg.Private(), Rewind: tools.ReadRewind(u),
	}
	turns := e.Rewind.Turns()
	if len(turns) == 0 {
		u.Close(false)
		return exitUsage, fmt.Errorf("session %s: what was kept to undo is damaged", u.ID)
	}
	fmt.Fprintf(a.env.Stderr, "cluade: session %s, before: %s\n", u.ID, turnText(turns[0].Input, 60))
	done, left := undoSteps(e)
	for _, l := range left {
		fmt.Fprintf(a.env.Stderr, "cluade: left as it is: %s\n", l)
	}
	u.Close(len(left) == 0)
	if len(done)+len(left) == 0 {
		done = []string{"all files are as they were before"}
	}
	code, err := a.print(strings.Join(append(done, ""), "\n"))
	if code == exitDone && len(left) > 0 {
		code = exitFailed
	}
	return code, err
}

func undoSteps(e *tools.Env) (done, left []string) {
	for _, s := range e.Plan(0) {
		path := chat.EscapeText(s.Path, 0)
		switch {
		case s.Lost != "":
			left = append(left, path+": "+chat.EscapeText(s.Lost, 200))
			continue
		case s.Foreign:
			left = append(left, path+": something else changed it since")
			continue
		}
		if err := e.GoBack(context.Background(), s); err != nil {
			left = append(left, chat.EscapeText(err.Error(), 0))
			continue
		}
		verb := "restored "
		if s.Delete {
			verb = "deleted "
		}
		done = append(done, verb+path)
	}
	return done, left
}
