package cli

import (
	"errors"
	"fmt"
	"strings"

	"cluade/internal/chat"
)

// slashCommand is one command of a conversation. run gets what stands behind
// the name; with true the conversation ends. An error is told to the person.
type slashCommand struct {
	name  string
	args  string // as /help shows them
	help  string
	words string // what may stand there, for completion
	run   func(a *app, arg string) (quit bool, err error)
}

// slashCommands is the table of slash commands, in the order of /help, whose
// lines fit into forty columns. It is a function because /help is in it and
// shows it.
func slashCommands() []slashCommand {
	return []slashCommand{
		{"help", "", "show this list", "", (*app).cmdHelp},
		{"exit", "", "leave; so does Ctrl-D", "", cmdExit},
		{"quit", "", "the same as /exit", "", cmdExit},
		{"sessions", "[...]", "list the saved ones", "delete", (*app).cmdSessions},
		{"resume", "<id>", "go on with a saved one", anySession, (*app).cmdResume},
		{"new", "", "begin a new session", "", (*app).cmdNew},
		{"clear", "", "empty this one", "", (*app).cmdClear},
		{"save", "<name>", "give it a name for -r", "", (*app).cmdSave},
		{"rewind", "[N]", "go back before a turn", "", (*app).cmdRewind},
		{"undo", "", "take the last turn back", "", (*app).cmdUndo},
		{"diff", "", "files that were changed", "", (*app).cmdDiff},
		{"cwd", "[dir]", "show it, or go there", anyPath, (*app).cmdCwd},
		{"config", "[...]", "show it, or set a key", "all set", (*app).cmdConfig},
		{"model", "[name]", "list, or use another", anyModel, (*app).cmdModel},
		{"think", "[...]", "show or change thinking", thinkWords, (*app).cmdThink},
		{"compact", "[text]", "sum up what was said", "", (*app).cmdCompact},
		{"context", "", "what fills the window", "", (*app).cmdContext},
		{"cost", "", "tokens used so far", "", (*app).cmdCost},
		{"status", "", "how this run stands", "", (*app).cmdStatus},
		{"doctor", "[...]", "what is wrong here", doctorWord, (*app).cmdDoctor},
		{"mode", "[mode]", "show or change the mode", "default ask accept-edits plan", (*app).cmdMode},
		{"plan", "", "only look from now on", "", (*app).cmdPlan},
		{"rules", "[...]", "show or change them", "deny ask remove", (*app).cmdRules},
		{"sandbox", "[...]", "show or change it", "off limits confined", (*app).cmdSandbox},
		{"skills", "", "list the skills", "", (*app).cmdSkills},
		{"jobs", "", "list the background jobs", "", (*app).cmdJobs},
	}
}

// splitCommand parts a line that begins with a slash into the command's name
// and the rest. A line with a space before the slash is no command. Several lines
// were pasted, and meant to be read, unless the command takes words.
func splitCommand(line string) (name, arg string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimRight(line, " \t\n"), "/")
	if !ok {
		return "", "", false
	}
	name = rest
	if i := strings.IndexAny(rest, " \t\n"); i >= 0 {
		name, arg = rest[:i], strings.TrimSpace(rest[i:])
	}
	if strings.Contains(rest, "\n") {
		c := findCommand(name)
		ok = c != nil && c.args != ""
	}
	return name, arg, ok
}

// findCommand returns the command of that name, nil if there is none.
func findCommand(name string) *slashCommand {
	for _, c := range slashCommands() {
		if c.name == name {
			return &c
		}
	}
	return nil
}

// command runs one slash command and reports whether the conversation ends.
func (a *app) command(name, arg string) (quit bool) {
	c := findCommand(name)
	if c == nil {
		a.out.Error(unknownCommand(name))
		return false
	}
	var err error
	switch {
	case c.args == "" && arg != "":
		err = fmt.Errorf("/%s takes no argument (%s)", name, chat.EscapeText(arg, 60))
	case strings.HasPrefix(c.args, "<") && arg == "":
		err = fmt.Errorf("usage: /%s %s", name, c.args)
	default:
		quit, err = c.run(a, arg)
	}
	if err != nil {
		a.out.Error(err.Error())
	}
	return quit
}

// laterCommands are known, but not there yet.
const laterCommands = " hooks mcp veil "

func unknownCommand(name string) string {
	if strings.Contains(laterCommands, " "+name+" ") {
		return "/" + name + " is not there yet"
	}
	var names []string
	for _, c := range slashCommands() {
		names = append(names, c.name)
	}
	text := fmt.Sprintf("unknown command: /%s (try /help)", chat.EscapeText(name, 60))
	if strings.Contains(name, "/") {
		text += "; a message that begins with / needs a blank before it"
	} else if near := nearest(name, names); distance(name, near) <= len(near)/2 {
		text += "; did you mean /" + near + "?"
	}
	return text
}

func (a *app) cmdHelp(string) (bool, error) {
	var b strings.Builder
	all := slashCommands()
	parts := 1 + min(columns(a.out.out.tty)/(2*(helpLeft+helpRight+1)), 1) // side by side
	rows := (len(all) + parts - 1) / parts
	for i := range rows {
		line := ""
		for ; i < len(all); i += rows {
			left := strings.TrimSpace("/" + all[i].name + " " + all[i].args)
			line += fmt.Sprintf("%-*s %-*s ", helpLeft, left, helpRight, all[i].help)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	b.WriteString(a.customHelp())
	b.WriteString(keysHelp)
	a.out.Print(b.String())
	return false, nil
}

// keysHelp names what is typed besides commands.
const keysHelp = `!command runs it in your shell; its output goes with your next message.
@path attaches a file. Tab completes commands, their words and paths.
Ctrl-R searches older messages, Ctrl-X Ctrl-E opens your editor.
A \ at the end of a line continues it. Ctrl-C drops a line and stops a turn.
`

func (a *app) cmdJobs(string) (bool, error) {
	lines := a.tools.Jobs()
	if len(lines) == 0 {
		lines = []string{"no background jobs"}
	}
	for _, l := range lines {
		a.out.Print(chat.EscapeText(l, 0))
	}
	return false, nil
}

func cmdExit(*app, string) (bool, error) { return true, nil }

func (a *app) cmdResume(id string) (bool, error) {
	if a.sessions == nil {
		return false, errNoSessions
	}
	if id == a.session.ID {
		return false, errors.New("that is the present session")
	}
	if err := a.resume(id); err != nil {
		return false, err
	}
	a.out.Print(fmt.Sprintf("session %s, %d messages", a.session.ID, len(a.session.Messages)))
	a.recall()
	return false, nil
}

func (a *app) cmdNew(string) (bool, error) {
	a.showResume()
	a.pending = ""
	a.newSession()
	a.out.Print("a new session begins")
	return false, nil
}
