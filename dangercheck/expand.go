package dangercheck

import "strings"

// value is one word after expansion. s may hold marks; from is what is known of
// what it does not tell. file is set where the word names one made of commands.
// varies says that some of it is the value of a variable.
type value struct {
	s      string
	from   *origin
	file   *file
	varies bool
}

// file is what a word of <(...) names, with its content, or of >(...), with the
// commands that read what is written to it.
type file struct {
	fact
	into *list
}

func (v *value) text() string  { return plain(v.s) }
func (v *value) unknown() bool { return strings.IndexByte(v.s, markUnknown) >= 0 }

// downloaded reports whether the word holds, or the file it names, output of a
// download.
func (v *value) downloaded() bool {
	return v.from.isDownload() || v.file != nil && v.file.from.isDownload()
}

func texts(vals []value) string {
	if len(vals) == 1 {
		return vals[0].s
	}
	var b strings.Builder
	for i := range vals {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(vals[i].s)
	}
	return b.String()
}

// scope is what a running shell would know; subshells work on a copy.
type scope struct {
	vars      *variable
	args      []value // $0, $1, $2 ...; meaningless unless argsKnown
	argsKnown bool
	in        fact   // standard input of what runs now
	dir       string // where commands run: as join returns it
	moved     bool   // cd stood in the text
	lost      bool   // cd went somewhere unknown; dir is as seen from there
	cleared   bool   // what runs does not inherit the variables
	accepts   bool   // a rule of the packet filter has let something in
	committed bool   // uci has committed the network's settings, which the next reload applies
}

// topScope is that of a text which a shell is given without parameters.
func topScope() *scope { return &scope{args: []value{{s: "sh"}}, argsKnown: true} }

// fork returns the scope of a subshell.
func (s *scope) fork() *scope {
	t := *s
	return &t
}

// variable is a link of a list that subshells share; the newest comes first.
type variable struct {
	name string
	vals []value // several for an array
	next *variable
}

func (s *scope) set(name string, vals ...value) {
	if name != "" {
		s.vars = &variable{name, vals, s.vars}
	}
}

// maxLookup is how many assignments a look-up goes back.
const maxLookup = 256

// lookup returns the values of a variable; none if the text does not set it.
func (s *scope) lookup(name string) []value {
	n := 0
	for v := s.vars; v != nil && n < maxLookup; v = v.next {
		if v.name == name {
			return v.vals
		}
		n++
	}
	switch name {
	case "HOME":
		return []value{{s: home}}
	case "PWD":
		return []value{{s: string(markPwd)}}
	case "IFS":
		return []value{{s: " "}}
	}
	return s.positional(name)
}

func (s *scope) positional(name string) []value {
	switch {
	case !s.argsKnown:
		return nil
	case name == "@" || name == "*":
		return s.args[min(1, len(s.args)):]
	case len(name) == 1 && name[0] >= '0' && name[0] <= '9':
		if i := int(name[0] - '0'); i < len(s.args) {
			return s.args[i : i+1]
		}
		return []value{{}}
	}
	return nil
}

// call returns the scope of a function or a shell with parameters of its own.
func (s *scope) call(name value, args []value) *scope {
	t := s.fork()
	t.args, t.argsKnown = append([]value{name}, args...), true
	return t
}

// field is a word while it is built.
type field struct {
	buf  []byte
	v    value
	keep bool // it counts even if it is empty
}

// add appends a value to the word.
func (f *field) add(c *checker, v *value) {
	if !c.spend(len(v.s)) {
		return
	}
	f.buf = append(f.buf, v.s...)
	f.v.from = f.v.from.and(v.from)
	if v.file != nil {
		f.v.file = v.file
	}
}

func (f *field) done(c *checker, dst []value) []value {
	if (len(f.buf) > 0 || f.keep) && c.spend(valueCost) {
		f.v.s = string(f.buf)
		dst = c.braces(dst, f.v)
	}
	*f = field{buf: f.buf[:0]}
	return dst
}

func (c *checker) expandAll(ws []word, s *scope) []value {
	if !c.spend(valueCost * len(ws)) {
		return nil
	}
	out := make([]value, 0, len(ws))
	for i := range ws {
		out = c.expand(out, &ws[i], s)
	}
	return out
}

// expand turns a word into fields, as a shell would: variables and
// substitutions replaced, split where unquoted, braces expanded.
func (c *checker) expand(dst []value, w *word, s *scope) []value {
	if len(w.parts) == 1 && w.parts[0].kind == partText {
		return c.braces(dst, value{s: w.parts[0].text})
	}
	var f field
	for i := range w.parts {
		p := &w.parts[i]
		if p.kind == partText {
			f.keep = f.keep || p.quoted
			f.add(c, &value{s: p.text})
			continue
		}
		for j, v := range c.part(p, s) {
			if j > 0 {
				dst = f.done(c, dst)
			}
			f.v.varies = f.v.varies || p.kind == partVar
			if p.quoted {
				f.keep = true
				f.add(c, &v)
			} else {
				dst = f.split(c, dst, v)
			}
		}
	}
	return f.done(c, dst)
}

// split adds an unquoted value, which breaks at blanks and whose patterns
// count.
func (f *field) split(c *checker, dst []value, v value) []value {
	v.s = asPattern(v.s)
	if !strings.ContainsAny(v.s, " \t\n") {
		f.add(c, &v)
		return dst
	}
	if isSpace(v.s[0]) {
		dst = f.done(c, dst)
	}
	for i, w := range strings.Fields(v.s) {
		if i > 0 {
			dst = f.done(c, dst)
		}
		x := v
		x.s = w
		f.add(c, &x)
	}
	if isSpace(v.s[len(v.s)-1]) {
		dst = f.done(c, dst)
	}
	return dst
}

func isSpace(c byte) bool { return isBlank(c) || c == '\n' }

// asPattern marks the pattern characters of an unquoted value.
func asPattern(s string) string {
	if !strings.ContainsAny(s, globs) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if n := strings.IndexByte(globs, c); n >= 0 {
			b[i] = patterns[n]
		}
	}
	return string(b)
}

// one expands a word to a single value without splitting it, as an assignment
// or a redirection does.
func (c *checker) one(w *word, s *scope) value {
	if len(w.parts) == 1 && w.parts[0].kind == partText {
		return value{s: w.parts[0].text}
	}
	var f field
	for i := range w.parts {
		p := &w.parts[i]
		if p.kind == partText {
			f.add(c, &value{s: p.text})
			continue
		}
		for j, v := range c.part(p, s) {
			if j > 0 {
				f.add(c, &value{s: " "})
			}
			f.add(c, &v)
		}
	}
	f.v.s = string(f.buf)
	return f.v
}

// part returns what an expansion stands for: one value, or each element of an
// array or of the arguments.
func (c *checker) part(p *part, s *scope) []value {
	switch p.kind {
	case partVar:
		return c.variable(p, s)
	case partInto:
		return []value{{s: unknown, file: &file{into: p.list}}}
	}
	t := s.fork()
	t.in.from = nil // it mostly writes something of its own
	f := c.list(p.list, t, t.in)
	if p.kind == partFrom {
		return []value{{s: unknown, file: &file{fact: f}}}
	}
	return []value{{s: strings.TrimRight(strings.ReplaceAll(f.text, "\x00", ""), "\n"), from: f.from}}
}

func (c *checker) variable(p *part, s *scope) []value {
	vals := s.lookup(p.text)
	switch {
	case p.text == "*" && p.quoted && len(vals) > 1:
		vals = []value{{s: texts(vals)}}
	case !p.all && p.text != "@" && p.text != "*" && len(vals) > 1:
		vals = vals[:1]
	}
	if len(p.alt) == 0 {
		return known(vals, p)
	}
	alt := c.one(&word{parts: p.alt}, s)
	if p.text == "" {
		return c.nameless(plain(alt.s))
	}
	unset := len(vals) == 0 || len(vals) == 1 && vals[0].s == ""
	switch {
	case p.op == '=' && unset:
		s.set(p.text, alt)
		return []value{alt}
	case p.op == '-' && unset, p.op == '+' && !unset:
		return []value{alt}
	case p.op == '%' && len(vals) == 1 && !alt.unknown():
		vals = []value{cut(vals[0], alt.s, strings.CutSuffix)}
	case p.op == '#' && len(vals) == 1 && !alt.unknown():
		vals = []value{cut(vals[0], alt.s, strings.CutPrefix)}
	}
	return known(vals, p)
}

// known returns the values of a variable, or one that says they are not told.
func known(vals []value, p *part) []value {
	if p.op == '*' || vals == nil {
		return []value{{s: unknown}}
	}
	return vals
}

// cut takes a literal end or start off a value; of patterns only /* is known,
// which takes the last element off a path.
func cut(v value, what string, f func(s, what string) (string, bool)) value {
	if i := strings.LastIndexByte(v.s, '/'); what == "/"+patterns[:1] && i >= 0 {
		v.s = v.s[:i]
		return v
	}
	if strings.ContainsAny(what, marked) {
		return value{s: unknown}
	}
	v.s, _ = f(v.s, what)
	return v
}

// maxBraces bounds the words that one word with braces becomes.
const maxBraces = 64

// braces expands the first {a,b} of a value, and so on; a range {1..9} stands
// for something unknown.
func (c *checker) braces(dst []value, v value) []value {
	open := strings.IndexByte(v.s, markOpen)
	if open < 0 {
		return append(dst, v)
	}
	if !c.spend(commandCost + len(v.s)) {
		return dst
	}
	end, commas := braceEnd(v.s, open)
	switch {
	case end < 0 || len(commas) == 0 && !strings.Contains(v.s[open:end], ".."):
		v.s = v.s[:open] + "{" + v.s[open+1:]
		return c.braces(dst, v)
	case len(commas) == 0:
		v.s = v.s[:open] + unknown + v.s[end+1:]
		return c.braces(dst, v)
	}
	limit := len(dst) + maxBraces
	from := open + 1
	for _, to := range append(commas, end) {
		x := v
		x.s = v.s[:open] + v.s[from:to] + v.s[end+1:]
		from = to + 1
		if dst = c.braces(dst, x); len(dst) >= limit {
			break
		}
	}
	return dst
}

// braceEnd finds the brace that closes the one at open, and the commas between
// that belong to it; -1 if none does.
func braceEnd(s string, open int) (end int, commas []int) {
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case markOpen:
			depth++
		case markComma:
			if depth == 1 {
				commas = append(commas, i)
			}
		case markClose:
			if depth--; depth == 0 {
				return i, commas
			}
		}
	}
	return -1, nil
}
