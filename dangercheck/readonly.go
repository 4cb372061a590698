package dangercheck

import "strings"

// maxLook is the longest command that may only look.
const maxLook = 4096

// ReadOnly reports whether a command only looks: it writes nothing, sends
// nothing of what it reads, and starts no other program. The whole text must be
// plain words and pipes, joined by && and ||, with no redirection but of errors
// to /dev/null or to the output, and every program must stand in the table of
// lookers. It says no to everything it does not know. dir is where the command
// would run, absolute; "" if that is not known.
func ReadOnly(cmd, dir string) bool {
	if len(cmd) > maxLook || hasControl(cmd) || strings.ContainsAny(cmd, "\n\r") {
		return false
	}
	ls, _ := readings(cmd, false, false)
	l := ls[0]
	at, before := 0, ""
	for i := range l.items {
		it := &l.items[i]
		if it.op != "&&" && it.op != "||" && it.op != "" {
			return false
		}
		for _, c := range it.pipe {
			if strings.Trim(cmd[at:c.pos], " \t") != before || !looks(c, cmd, dir) {
				return false
			}
			at, before = c.end, "|"
		}
		before = it.op
	}
	return len(l.items) > 0 && before == "" && strings.Trim(cmd[at:], " \t") == ""
}

// looks reports whether one command of the text src is a plain call of a
// program that looks.
func looks(c *command, src, dir string) bool {
	if c.kind != simple || len(c.assigns) > 0 || len(c.words) == 0 {
		return false
	}
	for i := range c.redirs {
		switch r := &c.redirs[i]; src[r.pos:r.end] {
		case "2>/dev/null", "2> /dev/null", "2>&1":
		default:
			return false
		}
	}
	args, texts := make([]string, len(c.words)), make([]string, len(c.words))
	glob := noGlob
	for i := range c.words {
		text, g, ok := lookWord(&c.words[i])
		if !ok {
			return false
		}
		args[i], texts[i], glob = show(text), text, max(glob, g)
	}
	l := lookerOf(c.words[0].bare())
	return l != nil && glob <= l.globs && l.looks(args[1:]) && !opensDevice(texts, dir)
}

// globbing is how far a word is a file name pattern.
type globbing int

const (
	noGlob   globbing = iota
	safeGlob          // it begins with something else, so that no file's name becomes an option
	anyGlob
)

// lookWord returns a word that stands for itself, with its marks. $HOME may
// begin one.
func lookWord(w *word) (text string, g globbing, ok bool) {
	if w.odd {
		return "", noGlob, false
	}
	var b strings.Builder
	for i := range w.parts {
		p := &w.parts[i]
		switch {
		case p.kind == partVar && p.text == "HOME" && p.op == 0 && len(p.alt) == 0 && b.Len() == 0:
			b.WriteByte(markHome)
		case p.kind != partText, strings.IndexByte(p.text, markOpen) >= 0:
			return "", noGlob, false
		default:
			b.WriteString(p.text)
		}
	}
	text = b.String()
	switch {
	case len(text) > 1 && text[0] == markHome && text[1] != '/': // $HOME may be empty
		return "", noGlob, false
	case strings.ContainsAny(text, patterns):
		g = safeGlob
		if text[0] == '-' || strings.IndexByte(patterns, text[0]) >= 0 {
			g = anyGlob
		}
	}
	return text, g, true
}

// options reads arguments as getopt does, for the short options named, of which
// those with a colon behind take a value, and the blank-separated long ones, of
// which those that end in = do. It returns the other words. ok is false if
// there is any other option, one that is shortened, or a value that looks like
// an option.
func options(a []string, short, long string) (operands []string, ok bool) {
	for i := 0; i < len(a); i++ {
		t := a[i]
		if len(t) < 2 || t[0] != '-' {
			operands = append(operands, t)
			continue
		}
		var value bool
		if t[1] == '-' {
			value, ok = longOption(t, long)
		} else {
			value, ok = shortOptions(t, short)
		}
		if !ok {
			return nil, false
		}
		if value {
			if i++; i == len(a) || strings.HasPrefix(a[i], "-") {
				return nil, false
			}
		}
	}
	return operands, true
}

// longOption reports whether an option is one of those named, and whether its
// value is the next word.
func longOption(t, long string) (value, ok bool) {
	name, _, has := strings.Cut(t[2:], "=")
	if hasWord(long, name+"=") {
		return !has, true
	}
	return false, !has && hasWord(long, name)
}

func shortOptions(t, short string) (value, ok bool) {
	for j := 1; j < len(t); j++ {
		n := strings.IndexByte(short, t[j])
		if n < 0 || t[j] == ':' {
			return false, false
		}
		if n+1 < len(short) && short[n+1] == ':' {
			return j == len(t)-1, true
		}
	}
	return false, true
}
