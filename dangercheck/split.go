package dangercheck

import "strings"

// Segment is one command of a command line as rules see it: its words with one
// blank between them. As typed, quoting is undone, but a word that holds a
// blank, or is empty, keeps single quotes around it, so that two words never
// look like one. Nested marks what was not typed as a command: behind a
// wrapper, in a text for a shell, in a substitution or a function, or a
// spelling with known values filled in and paths taken off the program.
type Segment struct {
	Text   string
	Nested bool
	glob   string // the text with marks, where it holds patterns of file names
}

// Shape is a command line cut up for rules. Simple says that it is a sequence
// of plain commands and pipelines, without redirection, substitution,
// background, here-document, assignment or compound command, and that nothing
// in it was passed over, so that the segments not nested are all that it does:
// none of them changes which programs the later ones run.
// Cut says that there may be more segments: the text nests or multiplies more
// than is followed, or a pattern of file names is its program.
type Shape struct {
	Segments []Segment
	Typed    int // commands as typed, of which two may be the same
	Simple   bool
	Cut      bool
}

// Split cuts a command line into its segments.
func Split(cmd string) Shape {
	s := splitter{had: make(map[string]bool)}
	s.Simple = !hasControl(cmd) && strings.IndexByte(cmd, '\r') < 0
	c := checker{work: maxWork, seen: s.run}
	for n, src := range forms(hideMarks(cmd)) {
		s.src, s.first = src, n == 0
		ls, cut := readings(s.src, false, true)
		s.Cut = s.Cut || cut
		s.Simple = s.Simple && s.plain(ls[0])
		for _, l := range ls {
			s.typed(l)
			c.list(l, topScope(), fact{})
		}
	}
	s.Cut = s.Cut || c.cut || c.work < 0
	return s.Shape
}

type splitter struct {
	Shape
	src   string
	had   map[string]bool
	first bool // this is the text as it stands
}

func (s *splitter) add(text string, nested bool) {
	if s.first && !nested && text != "" {
		s.Typed++
	}
	if text != "" && !s.had[text] {
		s.had[text] = true
		seg := Segment{Text: show(text), Nested: nested}
		if strings.ContainsAny(text, patterns) {
			seg.glob = text
		}
		s.Segments = append(s.Segments, seg)
	}
}

// run adds a command that would run, with its path and without.
func (s *splitter) run(args []value) {
	s.add(texts(args), true)
	if name := args[0].text(); strings.IndexByte(name, '/') >= 0 {
		args = append([]value{{s: base(name)}}, args[1:]...)
		s.add(texts(args), true)
	}
}

// typed adds the commands as they were typed, whatever they stand in.
func (s *splitter) typed(l *list) {
	for i := range l.items {
		for _, cmd := range l.items[i].pipe {
			s.command(cmd, l.foreign)
		}
	}
}

func (s *splitter) command(cmd *command, foreign bool) {
	var text []string
	for i := range cmd.words {
		w := &cmd.words[i]
		text = append(text, typedWord(w))
		s.within(w.parts)
	}
	if cmd.kind == simple {
		s.add(strings.Join(text, " "), foreign)
	}
	for i := range cmd.assigns {
		a := &cmd.assigns[i]
		s.within(a.value.parts)
		for _, w := range a.array {
			s.within(w.parts)
		}
	}
	for i := range cmd.redirs {
		s.within(cmd.redirs[i].target.parts)
		if b := cmd.redirs[i].body; b != nil {
			s.within(b.parts)
		}
	}
	for _, b := range cmd.body {
		s.typed(b)
	}
}

// within adds the commands in substitutions.
func (s *splitter) within(ps []part) {
	for i := range ps {
		if ps[i].list != nil {
			s.typed(ps[i].list)
		}
		s.within(ps[i].alt)
	}
}

// typedWord is a word with quoting undone and variables by name.
func typedWord(w *word) string {
	var b strings.Builder
	for i := range w.parts {
		switch p := &w.parts[i]; p.kind {
		case partText:
			b.WriteString(p.text)
		case partVar:
			b.WriteString("$" + p.text)
		default:
			b.WriteString("$(...)")
		}
	}
	t := b.String()
	if t == "" || strings.ContainsAny(t, " \t\n'\"") {
		t = "'" + strings.ReplaceAll(t, "'", `'\''`) + "'"
	}
	return t
}

// plain reports whether a list holds nothing but plain commands, and whether
// their words and what separates them are the whole text: redirections and
// assignments are neither.
func (s *splitter) plain(l *list) bool {
	at := 0
	changed, moved := false, false
	for i := range l.items {
		it := &l.items[i]
		if it.op == "&" {
			return false
		}
		for _, cmd := range it.pipe {
			if changed || cmd.kind != simple || len(cmd.words) == 0 || !isProgram(&cmd.words[0]) || !separates(s.src[at:cmd.words[0].pos]) {
				return false
			}
			program := cmd.words[0].bare()
			if moved && IsRelative(program) {
				return false
			}
			changed = ChangesShell(program) && !isCd(program) || program == "printf" && strings.HasPrefix(firstArgument(cmd), "-v")
			moved = moved || isCd(program)
			at = cmd.words[0].pos
			for j := range cmd.words {
				w := &cmd.words[j]
				if strings.Trim(strings.ReplaceAll(s.src[at:w.pos], "\\\n", ""), " \t") != "" || !isPlain(w) || evaluates(program, w) {
					return false
				}
				at = w.end
			}
		}
	}
	return separates(s.src[at:])
}

func firstArgument(cmd *command) string {
	if len(cmd.words) < 2 {
		return ""
	}
	return typedWord(&cmd.words[1])
}

// ChangesShell reports whether a builtin changes what the shell does with the
// commands behind it.
func ChangesShell(name string) bool {
	return isCd(name) || declares(name) ||
		hasWord("alias unalias set unset hash enable shopt let read getopts mapfile readarray trap eval . source exec builtin command complete bind", name)
}

func isCd(name string) bool { return hasWord("cd pushd popd chdir", name) }

// IsRelative reports whether a program is named by a path that leads elsewhere
// from another directory.
func IsRelative(program string) bool {
	return strings.IndexByte(program, '/') >= 0 && program[0] != '/' && program[0] != '~' && program[0] != markHome
}

// separates reports whether a gap between commands holds only what ends one:
// blanks, line ends, comments, ; | && || and the ! before a pipeline.
func separates(gap string) bool {
	for gap != "" {
		switch c := gap[0]; {
		case isSpace(c), c == ';', c == '|', c == '!':
			gap = gap[1:]
		case strings.HasPrefix(gap, "&&"):
			gap = gap[2:]
		case c == '#':
			_, gap, _ = strings.Cut(gap, "\n")
		default:
			return false
		}
	}
	return true
}

// isProgram reports whether a word names a program as it stands. Names of
// other shapes are assignments to array elements, or words that some shells
// keep for themselves.
func isProgram(w *word) bool {
	name := w.bare()
	if name == "" || hasWord("coproc time select function [[ ]] { } in do done then fi esac", name) {
		return false
	}
	for i := range len(name) {
		if c := name[i]; !isNameByte(c, false) && strings.IndexByte("./+-:@,", c) < 0 && c != markHome {
			return name == "["
		}
	}
	return true
}

// isPlain reports whether a word runs nothing and is read alike by all shells.
func isPlain(w *word) bool {
	if w.odd {
		return false
	}
	for i := range w.parts {
		switch p := &w.parts[i]; {
		case p.kind == partText:
		case p.kind != partVar, p.op != 0, len(p.alt) > 0:
			return false
		}
	}
	return true
}

// evaluates reports whether a builtin could run a substitution that stands in
// quotes, because it takes the word for an array element or for arithmetic.
func evaluates(program string, w *word) bool {
	if !hasWord("test [ printf read unset let declare typeset export readonly local wait eval mapfile readarray getopts", program) {
		return false
	}
	for i := range w.parts {
		if strings.Contains(w.parts[i].text, "$(") || strings.Contains(w.parts[i].text, "`") {
			return true
		}
	}
	return false
}
