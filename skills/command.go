package skills

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const (
	commandEnd  = ".md"
	maxCommand  = 64 << 10  // bytes of a command's file
	maxExpanded = 256 << 10 // bytes of the prompt that it becomes
)

// Command is a prompt that a file holds, for a person who types /NAME. As with
// skills, what the file declares grants nothing.
type Command struct {
	Name        string
	Description string // one line; else the first of the text
	Hint        string // what arguments it wants, one line
	Path        string
	Fault       string // why it cannot be used; "" if it can

	root *root
}

// CommandRoots are the places for commands, the nearest first. Links are
// followed as those of skills are; home and state may be "".
func CommandRoots(dir, home, state string) []Root {
	return places("commands .cluade .claude", dir, home, state)
}

// Commands returns the commands of the roots by name. Of several with one name
// the nearest counts.
func Commands(roots []Root) (list []*Command) {
	seen := map[string]bool{}
	found, _ := resolve(roots)
	for _, r := range found {
		for _, file := range listed(r.real) {
			name, ok := strings.CutSuffix(file, commandEnd)
			if !ok || seen[name] {
				continue
			}
			if c, ok := r.command(name); ok {
				seen[name] = true
				list = append(list, c)
			}
		}
	}
	slices.SortFunc(list, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// FindCommand returns the command of that name.
func FindCommand(roots []Root, name string) (*Command, bool) {
	found, _ := resolve(roots)
	for _, r := range found {
		if c, ok := r.command(name); ok {
			return c, true
		}
	}
	return nil, false
}

// command reads the command in a file of the root; false says that there is
// none.
func (r *root) command(name string) (*Command, bool) {
	c := &Command{Name: name, Path: filepath.Join(r.real, name+commandEnd), root: r}
	if fi, err := os.Stat(c.Path); !validName(name) || err != nil || fi.IsDir() {
		return nil, false
	}
	if _, err := c.load(); err != nil {
		c.Fault = err.Error()
	}
	return c, true
}

// load reads the file and returns its text without the metadata. Metadata that
// cannot be read costs no more than what it says.
func (c *Command) load() (string, error) {
	text, err := readText(c.Path, maxCommand, c.root.real, c.root.within)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(text, "---") {
		h := header{command: true}
		if body, err := h.parse(text); err == nil || body != "" {
			text = body
		}
		c.Description, c.Hint = h.description, h.hint
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errors.New("it holds no text")
	}
	if c.Description == "" {
		line, _, _ := strings.Cut(text, "\n")
		c.Description = oneLine(strings.TrimLeft(line, "# "))
	}
	return text, nil
}

// Expand returns the prompt that the command and its arguments make. $ARGUMENTS
// is all of them, $1 to $9 are one each, the text between blanks, and so is
// $ARGUMENTS[N], which counts from 0; $10 and more are text. Where none of these occurs the arguments
// follow the text.
func (c *Command) Expand(args string) (string, error) {
	text, err := c.load()
	if err != nil {
		return "", fmt.Errorf("the command /%s cannot be used: %w", c.Name, err)
	}
	text, used := expand(text, args)
	if !used && args != "" {
		text += "\n\n" + args
	}
	if len(text) > maxExpanded {
		return "", fmt.Errorf("the command /%s becomes a prompt of more than %d bytes", c.Name, maxExpanded)
	}
	return text, nil
}

// expand puts the arguments into a text, once: what they contain stays as it
// is. It stops when the result is too long.
func expand(text, args string) (result string, used bool) {
	words := strings.Fields(args)
	word := func(n int) string {
		if n < len(words) {
			return words[n]
		}
		return ""
	}
	var b strings.Builder
	for b.Len() <= maxExpanded {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			break
		}
		text = after
		rest, isAll := strings.CutPrefix(after, "ARGUMENTS")
		switch {
		case isAll:
			n, end := index(rest)
			if end > 0 {
				b.WriteString(word(n))
			} else {
				b.WriteString(args)
			}
			text = rest[end:]
		case isDigit(after) && after[0] != '0' && !isDigit(after[1:]):
			b.WriteString(word(int(after[0] - '1')))
			text = after[1:]
		default:
			b.WriteByte('$')
			continue
		}
		used = true
	}
	return b.String(), used
}

// index is the number of the [N] that s begins with, and where that ends; 0 if
// it does not.
func index(s string) (n, end int) {
	digits, _, ok := strings.Cut(s, "]")
	if !ok || len(digits) < 2 || digits[0] != '[' || strings.Trim(digits[1:], "0123456789") != "" {
		return 0, 0
	}
	n, _ = strconv.Atoi(digits[1:]) // one that is too large is the largest
	return n, len(digits) + 1
}

func isDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }
