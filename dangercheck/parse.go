package dangercheck

import "strings"

// maxDepth bounds nesting of substitutions, groups and texts handed to shells;
// what lies deeper is not looked at.
const maxDepth = 12

// commandKind says what a command is.
type commandKind int

const (
	simple    commandKind = iota
	test                  // [[ ]] or (( )): only substitutions in it run
	subshell              // ( list )
	group                 // { list; }, if, case: the lists of body in order
	forLoop               // for name in words; do body; done
	whileLoop             // while or until body[0]; do body[1]; done
	function              // name() body
)

// command is one command of a pipeline. pos and end are its place in the text.
type command struct {
	kind     commandKind
	assigns  []assign
	words    []word
	redirs   []redir
	body     []*list
	name     string // of a function or of a loop's variable
	pos, end int
}

type assign struct {
	name  string
	value word
	array []word // NAME=(words)
	added bool   // NAME+=value
}

// redir is one redirection. op is one of > >> >| <> < <& >& &> &>> << <<- <<<.
type redir struct {
	op       string
	fd       string // the number before it
	target   word
	body     *word // a here-document's text
	pos, end int
}

// item is one pipeline and the operator behind it.
type item struct {
	pipe []*command
	op   string // "", ";", "&", "&&", "||"
}

// list is a sequence of pipelines. foreign says that its places are not those
// of the text around it, because quoting was undone before it was read.
type list struct {
	items   []item
	foreign bool
}

// parser reads shell text into lists. It takes every text: what is no valid
// shell is read as far as it can be, and never an error.
type parser struct {
	*reading
	src     string
	pos     int
	depth   int // substitutions and expansions around this place
	open    int // compound commands around it
	foreign bool
	slab    []part
	heredoc []heredoc // begun on this line
}

// reading is what the parsers of one text and of the texts inside it share.
// Bash alone has (( )), [[ ]], NAME+=value and quotes within $'...': to other
// shells they are parentheses, programs of those names, and an earlier end.
type reading struct {
	posix   bool // read as those other shells do
	differs bool // they read it differently
	tests   bool // it holds [[ ]], which they take for a command
	cut     bool // something nests deeper than is followed
}

type heredoc struct {
	body    *word
	delim   string
	strip   bool // leading tabs do not count
	literal bool
}

// readings parses a text as bash reads it and, where that differs, also as
// other shells do; strict counts a [[ ]] test as a difference. cut says that not
// all of it was read.
func readings(src string, foreign, strict bool) (ls []*list, cut bool) {
	p := &parser{reading: &reading{}, src: src, foreign: foreign}
	ls = append(ls, p.list(false))
	if p.differs || strict && p.tests {
		p = &parser{reading: &reading{posix: true, cut: p.cut}, src: src, foreign: foreign}
		ls = append(ls, p.list(false))
	}
	return ls, p.cut
}

// sub parses a text of its own, one level deeper.
func (p *parser) sub(src string) *list {
	if p.depth >= maxDepth {
		p.cut = true
		return &list{}
	}
	q := &parser{reading: p.reading, src: src, depth: p.depth + 1, foreign: true}
	return q.list(false)
}

// nested parses up to a closing parenthesis, which it leaves.
func (p *parser) nested() *list {
	if p.depth >= maxDepth {
		p.cut = true
		p.pos--
		p.skipBalanced()
		return &list{}
	}
	open, waiting := p.open, p.heredoc
	p.depth++
	p.open, p.heredoc = 0, nil
	l := p.list(true)
	p.open, p.heredoc = open, append(waiting, p.heredoc...)
	p.depth--
	return l
}

// isEnd reports whether a word ends a list inside a compound command.
func isEnd(s string) bool {
	switch s {
	case "then", "do", "done", "fi", "else", "elif", "esac", "}":
		return true
	}
	return false
}

// list reads pipelines up to a closing parenthesis if there is one to come, a
// word that ends the compound command around it, or the end of the text.
func (p *parser) list(closed bool) *list {
	l := &list{foreign: p.foreign}
	inside := p.open > 0
	for {
		p.skipSeparators()
		if p.pos >= len(p.src) {
			return l
		}
		w := p.peekBare()
		switch c := p.src[p.pos]; {
		case c == ')':
			if closed || inside {
				return l
			}
			p.pos++
			continue
		case c == ';': // ;; as skipSeparators leaves it
			if inside {
				return l
			}
			p.pos += 2
			continue
		case isEnd(w):
			if inside {
				return l
			}
			p.pos += len(w)
			continue
		}
		start := p.pos
		if it := p.pipeline(); len(it.pipe) > 0 {
			l.items = append(l.items, it)
		}
		if p.pos == start { // nothing was understood here: pass one character
			p.pos++
		}
	}
}

// skipBlank passes blanks, continued lines and a comment, which starts only
// where a word could.
func (p *parser) skipBlank() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case isBlank(c), c == '\r':
			p.pos++
		case c == '\\' && p.peek(1) == '\n':
			p.pos += 2
		case c == '#':
			if n := strings.IndexByte(p.src[p.pos:], '\n'); n >= 0 {
				p.pos += n
			} else {
				p.pos = len(p.src)
			}
		default:
			return
		}
	}
}

// skipSeparators passes blanks, line ends (with the here-documents that begin
// there) and stray separators before a command.
func (p *parser) skipSeparators() {
	for p.pos < len(p.src) {
		p.skipBlank()
		switch c := p.peek(0); {
		case c == '\n':
			p.pos++
			p.readHeredocs()
		case c == ';' && p.peek(1) != ';', c == '&' && p.peek(1) != '>':
			p.pos++
		default:
			return
		}
	}
}

// delimiter is the line that ends a here-document, from the word that names it:
// its quotes are taken out, and nothing in it is expanded (POSIX, Shell Command
// Language, 2.7.4).
func (p *parser) delimiter(text string) (delim string, quoted bool) {
	name, quoted := unquoted(text, p.posix)
	p.differs = p.differs || strings.Contains(text, "$'") || strings.Contains(text, `$"`) || strings.Contains(name, "\n")
	return name, quoted
}

// unquoted takes the quotes out of a text. Bash takes the $ before them too.
func unquoted(text string, posix bool) (plain string, any bool) {
	var out []byte
	in := byte(0) // the quote that is open
	for i := 0; i < len(text); i++ {
		c, next := text[i], byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch {
		case c == '\\' && in != '\'' && (in == 0 || next != 0 && strings.IndexByte("$`\"\\\n", next) >= 0):
			any = true
			if i++; next != 0 && next != '\n' {
				out = append(out, next)
			}
		case c == in:
			in = 0
		case in == 0 && (c == '\'' || c == '"'):
			in, any = c, true
		case in == 0 && c == '$' && (next == '\'' || next == '"') && !posix:
		default:
			out = append(out, c)
		}
	}
	return string(out), any
}

// readHeredocs reads the here-documents begun on the line that has ended.
func (p *parser) readHeredocs() {
	waiting := p.heredoc
	p.heredoc = nil
	for _, h := range waiting {
		start := p.pos
		var body strings.Builder
		for p.pos < len(p.src) {
			if rest, ok := strings.CutPrefix(p.src[p.pos:], h.delim); ok && p.posix && (rest == "" || rest[0] == '\n') {
				p.pos = min(len(p.src)-len(rest)+1, len(p.src)) // it may have several lines
				break
			}
			line, _, found := strings.Cut(p.src[p.pos:], "\n")
			p.pos += len(line)
			if found {
				p.pos++
			}
			if h.strip {
				line = strings.TrimLeft(line, "\t")
			}
			if strings.TrimSuffix(line, "\r") == h.delim {
				break
			}
			body.WriteString(line)
			body.WriteByte('\n')
		}
		*h.body = p.heredocBody(body.String(), h.literal)
		h.body.pos, h.body.end = start, p.pos
	}
}

func (p *parser) heredocBody(text string, literal bool) word {
	if literal || strings.IndexByte(text, '$') < 0 && strings.IndexByte(text, '`') < 0 && strings.IndexByte(text, '\\') < 0 {
		return word{parts: []part{{text: text, quoted: true}}}
	}
	if p.depth >= maxDepth {
		p.cut = true
		return word{}
	}
	q := &parser{reading: p.reading, src: text, depth: p.depth + 1, foreign: true}
	var b wordBuilder
	q.doubleQuoted(&b, 0)
	return b.w
}

// peekBare returns the unquoted word that starts here without consuming it.
func (p *parser) peekBare() string {
	i := p.pos
	for i < len(p.src) && !isMeta(p.src[i]) {
		if strings.IndexByte("'\"\\$`", p.src[i]) >= 0 {
			return ""
		}
		i++
	}
	return p.src[p.pos:i]
}

func (p *parser) acceptWord(s string) bool {
	p.skipSeparators()
	if p.peekBare() != s {
		return false
	}
	p.pos += len(s)
	return true
}

func (p *parser) pipeline() item {
	var it item
	for {
		p.skipBlank()
		c := p.command()
		if c == nil {
			return it
		}
		it.pipe = append(it.pipe, c)
		p.skipBlank()
		switch c, n := p.peek(0), p.peek(1); {
		case (c == '|' || c == '&') && c == n:
			it.op = p.src[p.pos : p.pos+2]
			p.pos += 2
			return it
		case c == '|':
			p.pos++
			p.accept('&')
			p.skipSeparators()
		case c == '&', c == ';' && n != ';':
			it.op = p.src[p.pos : p.pos+1]
			p.pos++
			return it
		default:
			if c == '\n' {
				it.op = ";"
			}
			return it
		}
	}
}
