package cli

import (
	"fmt"
	"strings"

	"cluade/internal/chat"
	"cluade/skills"
)

// commandRoots are the places for commands that are files.
func (a *app) commandRoots() []skills.Root {
	return skills.CommandRoots(a.place.Dir, a.place.Home, a.place.State)
}

// customCommands are the commands that are files, by name, without those whose
// name a command of the program has.
func (a *app) customCommands() (list []*skills.Command) {
	for _, c := range skills.Commands(a.commandRoots()) {
		if findCommand(c.Name) == nil {
			list = append(list, c)
		}
	}
	return list
}

// customPrompt is the prompt that a line "/NAME words" stands for; "" if NAME is
// no such command. The prompt is text: no line in it is a command, no word of it
// names a file.
func (a *app) customPrompt(line string) (string, error) {
	rest, ok := strings.CutPrefix(line, "/")
	if !ok {
		return "", nil
	}
	name, args := rest, ""
	if i := strings.IndexAny(rest, " \t\n"); i >= 0 {
		name, args = rest[:i], strings.TrimSpace(rest[i:])
	}
	if findCommand(name) != nil {
		return "", nil
	}
	c, ok := skills.FindCommand(a.commandRoots(), name)
	if !ok {
		return "", nil
	}
	text, err := c.Expand(args)
	return chat.CleanText(text), err
}

// expandWords puts the prompt of a command in the place of the words that name
// it, and reports whether it did.
func (a *app) expandWords() (bool, error) {
	if a.flags.promptFile != "" {
		return false, nil // the words follow its text
	}
	text, err := a.customPrompt(strings.Join(a.flags.words, " "))
	if text == "" || err != nil {
		return false, err
	}
	a.flags.words = []string{text}
	return true, nil
}

const (
	helpLeft  = 15 // columns of a command in /help
	helpRight = 23 // and of what it does
)

// customHelp are the lines of /help for the commands that are files.
func (a *app) customHelp() string {
	var b strings.Builder
	for _, c := range a.customCommands() {
		about := cutColumns(chat.EscapeText(c.Description, 0), helpRight)
		if c.Fault != "" {
			about = "cannot be used: " + chat.EscapeText(c.Fault, 200)
		}
		left := cutColumns(strings.TrimSpace("/"+c.Name+" "+chat.EscapeText(c.Hint, 0)), helpLeft+helpRight)
		if len(left) > helpLeft {
			left += "\n" + strings.Repeat(" ", helpLeft)
		}
		fmt.Fprintf(&b, "%-*s %s\n", helpLeft, left, about)
	}
	return b.String()
}
