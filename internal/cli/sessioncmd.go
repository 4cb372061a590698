package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"cluade/internal/chat"
	"cluade/lineedit"
	"cluade/store"
)

// The commands on sessions as a whole, and the directory of one.

func (a *app) cmdSessions(arg string) (bool, error) {
	if a.sessions == nil {
		return false, errNoSessions
	}
	verb, id, _ := strings.Cut(arg, " ")
	switch {
	case verb == "":
		return false, a.showSessions()
	case verb == "delete" && strings.TrimSpace(id) != "":
		return false, a.deleteSession(a.sessions, strings.TrimSpace(id))
	}
	return false, errors.New("usage: /sessions, /sessions delete ID")
}

// showSessions lists the newest sessions, as many as the window holds.
func (a *app) showSessions() error {
	rows := 0
	if a.out.out.tty != nil {
		_, rows = lineedit.Terminal{Out: a.out.out.tty}.Size()
		rows = max(rows-3, 5)
	}
	list, more, err := a.sessions.Newest(rows)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		a.out.Print("no saved sessions")
		return nil
	}
	var b strings.Builder
	lines, width := 0, a.listColumns()
	for i, s := range list {
		text := sessionLine(s, a.session.ID, a.place.Dir, width)
		if lines += strings.Count(text, "\n"); rows > 0 && lines > rows {
			more += len(list) - i
			break
		}
		b.WriteString(text)
	}
	if more > 0 {
		fmt.Fprintf(&b, "  %d older ones: cluade --list-sessions\n", more)
	}
	a.out.Print(b.String())
	return nil
}

// listSessions prints what is saved.
func (a *app) listSessions() (int, error) {
	if a.place.State == "" {
		return exitUsage, errors.New("there is no home directory, so no sessions are saved")
	}
	list, err := store.OpenSessions(a.place, a.cfg).List()
	if err != nil {
		return exitUsage, err
	}
	if len(list) == 0 {
		fmt.Fprintln(a.env.Stderr, "cluade: no saved sessions")
	}
	var b strings.Builder
	width := a.listColumns()
	for _, s := range list {
		b.WriteString(sessionLine(s, "", a.place.Dir, width))
	}
	return a.print(b.String())
}

// listColumns is how wide a row of the list may be, 0 where standard output is no
// terminal. The last column stays free: some terminals go on to a new row behind it.
func (a *app) listColumns() int {
	if tty := asTerminal(a.env.Stdout); tty != nil {
		return columns(tty) - 1
	}
	return 0
}

// sessionLine shows one session; current is marked. In a window of so many
// columns (0 is no window) the prompt is shortened, and the name and another
// directory go to a line of their own. In a narrow one so does the prompt; the
// date stands in the id.
func sessionLine(s store.Summary, current, dir string, columns int) string {
	mark := ' '
	if s.ID == current {
		mark = '*'
	}
	damage, tail := "", ""
	if s.Damage != "" {
		damage = "  [" + s.Damage + "]"
	}
	if s.Name != "" {
		tail += "  name " + s.Name
	}
	if s.Dir != "" && s.Dir != chat.EscapeText(dir, 240) {
		tail += "  in " + s.Dir
	}
	head := fmt.Sprintf("%c %s  %s  %d messages  ~%s%s  ", mark, s.ID, s.Created.Format("2006-01-02 15:04"), s.Messages, sizeText(s.Bytes), damage)
	if columns == 0 {
		return head + `"` + s.First + `"` + tail + "\n"
	}
	room := columns - len(head) - 2
	if room < minTitle {
		head = cutColumns(fmt.Sprintf("%c %s  %d messages%s", mark, s.ID, s.Messages, damage), columns) + "\n    "
		room = columns - 6
	}
	line := head + `"` + cutColumns(s.First, max(room, 1)) + "\"\n"
	if tail != "" {
		line += cutColumns("    "+strings.TrimSpace(tail), columns) + "\n"
	}
	return line
}

// minTitle is how many columns of a session's prompt are worth to be shown.
const minTitle = 12

// sizeText shows a number of bytes in three digits or so.
func sizeText(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1000*1000:
		return fmt.Sprintf("%d kB", (n+500)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// deleteSession removes a saved session after a question, without one under -y.
func (a *app) deleteSession(from *store.Sessions, id string) error {
	full, err := from.Find(id)
	switch {
	case err != nil:
		return err
	case a.session != nil && full == a.session.ID:
		return errors.New("that is the present session: begin another with /new first")
	}
	if !a.flags.yes {
		yes, err := a.confirm(func(*stream) string { return "" }, "delete session "+full+" for good?")
		if err != nil {
			return fmt.Errorf("delete session %s: %w (-y deletes without a question)", full, err)
		}
		if !yes {
			return errors.New("nothing was deleted")
		}
	}
	if _, err := from.Delete(full); err != nil {
		return err
	}
	a.out.Print("deleted " + full)
	return nil
}

// dropSession is the option that deletes a session.
func (a *app) dropSession() (int, error) {
	if a.place.State == "" {
		return exitUsage, errNoSessions
	}
	a.out = newOutput(a.env, outputOptions{Color: a.cfg.Color, ASCII: a.flags.ascii})
	if err := a.deleteSession(store.OpenSessions(a.place, a.cfg), a.flags.deleteID); err != nil {
		return exitUsage, err
	}
	return writeCode(a.out.Err()), nil
}

// prune removes the oldest sessions when this run has made one more than are to
// be kept.
func (a *app) prune() {
	if a.sessions == nil || a.journal == nil || !a.journal.Made() {
		return
	}
	if gone := a.sessions.Prune(a.cfg.SessionsKeep, a.session.ID); len(gone) > 0 {
		a.out.Notice(fmt.Sprintf("the newest %d sessions are kept (sessions_keep); removed: %s", a.cfg.SessionsKeep, strings.Join(gone, ", ")))
	}
}

func (a *app) cmdSave(name string) (bool, error) {
	if a.sessions == nil || a.journal == nil {
		return false, errNoSessions
	}
	if err := a.sessions.CheckName(name, a.session.ID); err != nil {
		return false, err
	}
	a.session.Name = a.mask(name)
	if err := a.journal.Update(); err != nil {
		return false, err
	}
	a.out.Print("named; go on with it by: cluade -r '" + strings.ReplaceAll(chat.EscapeText(name, 0), "'", `'\''`) + "'")
	return false, nil
}

func (a *app) cmdClear(string) (bool, error) {
	a.endJobs()
	a.agent.Clear()
	a.tools.Rewind.Replaced()
	a.pending, a.typed = "", nil
	a.out.Print("the conversation is empty; the session goes on")
	return false, nil
}

func (a *app) cmdCwd(arg string) (bool, error) {
	if arg == "" {
		a.out.Print(chat.EscapeText(a.place.Dir, 0))
		return false, nil
	}
	dir := arg
	if rest, ok := strings.CutPrefix(arg, "~"); ok && (rest == "" || rest[0] == '/') && a.place.Home != "" {
		dir = a.place.Home + rest
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(a.place.Dir, dir)
	}
	if err := a.enterDir(filepath.Clean(dir)); err != nil {
		return false, err
	}
	a.session.Dir = a.place.Dir
	a.again()
	if a.journal != nil {
		if err := a.journal.Update(); err != nil {
			a.out.Warn("the session does not remember the directory: " + err.Error())
		}
	}
	a.out.Print("working in " + chat.EscapeText(a.place.Dir, 0))
	return false, nil
}
