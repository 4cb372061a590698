package dangercheck

import "strings"

// Marks stand in word text for what quoting and expansion made of a character.
// They are control bytes, which shell text from a model does not hold; any in
// the input are taken for unknown values.
const (
	markHome    = '\x01' // the home directory, however it was spelt
	markUnknown = '\x02' // a value that the text does not tell
	markPwd     = '\x03' // the working directory, as $PWD or $(pwd)
	markStar    = '\x11' // an unquoted *, ?, [ as pathname expansion sees it
	markQuery   = '\x12'
	markBracket = '\x13'
	markOpen    = '\x14' // an unquoted {, comma, } as brace expansion sees it
	markComma   = '\x15'
	markClose   = '\x16'
)

const (
	marked   = "\x11\x12\x13\x14\x15\x16"
	unmarked = "*?[{,}"
	patterns = "\x11\x12\x13"
	globs    = "*?["
)

const (
	home    = string(markHome)
	unknown = string(markUnknown)
)

// partKind says what one piece of a word is.
type partKind int

const (
	partText  partKind = iota // literal text with marks
	partVar                   // $name, ${name...}
	partSubst                 // $(...) or backquotes
	partFrom                  // <(...)
	partInto                  // >(...)
)

// part is one piece of a word. op says what ${name op alt} does with the value:
// '-' and '=' give a default, '+' another value, '%' and '#' cut the end or the
// start, '*' something not followed here.
type part struct {
	kind   partKind
	text   string // literal text, or the variable's name
	quoted bool   // inside quotes: no splitting, no patterns
	all    bool   // ${name[@]}: every element
	op     byte
	alt    []part
	list   *list // commands of a substitution
}

// word is one word as typed. odd marks spellings that shells read differently
// or that hide more than is read here.
type word struct {
	parts    []part
	quoted   bool
	odd      bool
	pos, end int
}

// bare returns the word's text when it was typed without any quoting, so that
// it may be a reserved word or the name of a function.
func (w word) bare() string {
	if w.quoted || len(w.parts) != 1 || w.parts[0].kind != partText {
		return ""
	}
	return plain(w.parts[0].text)
}

// plain turns the marks of patterns and braces back into the characters that
// were typed.
func plain(s string) string {
	if !strings.ContainsAny(s, marked) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if n := strings.IndexByte(marked, c); n >= 0 {
			b[i] = unmarked[n]
		}
	}
	return string(b)
}

// markFor returns the mark for an unquoted character.
func markFor(c byte) byte {
	if n := strings.IndexByte(unmarked, c); n >= 0 {
		return marked[n]
	}
	if c < ' ' && c != markHome && c != markPwd {
		return markUnknown
	}
	return c
}

// hideMarks takes the bytes that stand for marks out of foreign text.
func hideMarks(s string) string {
	if !hasControl(s) {
		return s
	}
	b := []byte(s)
	for i, c := range b {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' && c != 0 {
			b[i] = markUnknown
		}
	}
	return string(b)
}

func hasControl(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return true
		}
	}
	return false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isMeta reports whether c ends an unquoted word.
func isMeta(c byte) bool { return strings.IndexByte(" \t\n\r;&|()<>", c) >= 0 }

// isOrdinary reports whether c stands for itself wherever it is in a word.
func isOrdinary(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '-' && c <= ':' || c >= 'A' && c <= 'Z' || c >= 0x80 || strings.IndexByte("_=@%+^#]!", c) >= 0
}

func isNameByte(c byte, first bool) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && c >= '0' && c <= '9'
}

// isAssignment reports whether s is NAME=value.
func isAssignment(s string) bool {
	for i := range len(s) {
		if s[i] == '=' {
			return i > 0
		}
		if !isNameByte(s[i], i == 0) {
			return false
		}
	}
	return false
}

// wordBuilder collects the parts of one word.
type wordBuilder struct {
	w   word
	lit []byte
}

func (b *wordBuilder) flush(quoted bool) {
	if len(b.lit) > 0 {
		b.w.parts = append(b.w.parts, part{text: string(b.lit), quoted: quoted})
		b.lit = b.lit[:0]
	}
}

func (b *wordBuilder) add(p part) {
	b.flush(false)
	b.w.parts = append(b.w.parts, p)
}

// word reads one word; ok is false where none starts.
func (p *parser) word() (w word, ok bool) {
	start := p.pos
	i := start
	for i < len(p.src) && isOrdinary(p.src[i]) {
		i++
	}
	if i > start && (i == len(p.src) || isMeta(p.src[i]) && p.src[i] != '(') {
		p.pos = i
		return word{parts: p.one(part{text: p.src[start:i]}), pos: start, end: i}, true
	}
	b := wordBuilder{w: word{pos: start}}
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if isMeta(c) && !p.inWord(&b, c, start) {
			break
		}
		if !isMeta(c) {
			p.wordByte(&b, c, start)
		}
	}
	if p.pos == start {
		return word{}, false
	}
	b.flush(false)
	b.w.end = p.pos
	b.w.odd = b.w.odd || b.w.bare() == "[[" // some shells read on differently behind it
	return b.w, true
}

// one returns a part as a word's only one. They share memory.
func (p *parser) one(x part) []part {
	if len(p.slab) == cap(p.slab) {
		p.slab = make([]part, 0, 16)
	}
	n := len(p.slab)
	p.slab = append(p.slab, x)
	return p.slab[n : n+1 : n+1]
}

// inWord takes a parenthesis that belongs to a word: <( and >( at its start,
// and the patterns ?( *( +( @( !( of some shells.
func (p *parser) inWord(b *wordBuilder, c byte, start int) bool {
	switch {
	case (c == '<' || c == '>') && p.pos == start && p.peek(1) == '(':
		p.pos += 2
		kind := partFrom
		if c == '>' {
			kind = partInto
		}
		b.add(part{kind: kind, list: p.nested()})
		p.accept(')')
	case c == '(' && p.pos > start && strings.IndexByte("?*+@!", p.src[p.pos-1]) >= 0:
		p.skipBalanced()
		b.lit = append(b.lit, markUnknown)
		b.w.odd = true
	default:
		return false
	}
	return true
}

// wordByte takes the next piece of an unquoted word, which begins with c.
func (p *parser) wordByte(b *wordBuilder, c byte, start int) {
	switch c {
	case '\\':
		p.escaped(b)
	case '\'', '"':
		b.add(part{quoted: true}) // the word is there, even if empty
		b.w.quoted = true
		p.pos++
		if c == '"' {
			p.doubleQuoted(b, '"')
			return
		}
		text, _, closed := strings.Cut(p.src[p.pos:], "'")
		b.w.odd = b.w.odd || !closed
		b.w.parts[len(b.w.parts)-1].text = text
		p.pos = min(p.pos+len(text)+1, len(p.src))
	case '$':
		p.dollar(b, false)
	case '`':
		p.backquoted(b, false)
	case '~':
		if p.pos == start || p.src[p.pos-1] == '=' && isAssignment(p.src[start:p.pos]) {
			p.tilde(b)
			return
		}
		b.lit = append(b.lit, c)
		p.pos++
	default:
		b.lit = append(b.lit, markFor(c))
		p.pos++
	}
}

// escaped takes a backslash outside quotes and what it protects.
func (p *parser) escaped(b *wordBuilder) {
	p.pos++
	switch {
	case p.pos >= len(p.src):
		b.w.odd = true
		return
	case p.src[p.pos] == '\n':
		p.pos++
		return
	}
	b.flush(false)
	b.w.quoted = true
	b.lit = append(b.lit, p.src[p.pos])
	b.flush(true)
	p.pos++
}

// tilde takes ~ and ~user; both are a home.
func (p *parser) tilde(b *wordBuilder) {
	i := p.pos + 1
	for i < len(p.src) && !isMeta(p.src[i]) && p.src[i] != '/' {
		if !isNameByte(p.src[i], false) && p.src[i] != '-' {
			b.w.odd = true // ~+ is the working directory in some shells
			b.lit = append(b.lit, '~')
			p.pos++
			return
		}
		i++
	}
	b.w.odd = b.w.odd || i > p.pos+1
	b.lit = append(b.lit, markHome)
	p.pos = i
}

// doubleQuoted takes text up to the closing quote, which it consumes. A quote
// of 0 reads to the end of the text, as in a here-document.
func (p *parser) doubleQuoted(b *wordBuilder, quote byte) {
	closed := quote == 0
	for p.pos < len(p.src) {
		c, n := p.src[p.pos], p.peek(1)
		if c == quote && quote != 0 {
			p.pos++
			closed = true
			break
		}
		switch {
		case c == '\\' && p.pos+1 < len(p.src):
			if n != '$' && n != '`' && n != '\\' && n != '\n' && (n != '"' || quote == 0) {
				b.lit = append(b.lit, '\\')
			}
			if n != '\n' {
				b.lit = append(b.lit, n)
			}
			p.pos += 2
		case c == '$' || c == '`':
			b.flush(true)
			if c == '$' {
				p.dollar(b, true)
			} else {
				p.backquoted(b, true)
			}
		default:
			b.lit = append(b.lit, c)
			p.pos++
		}
	}
	b.w.odd = b.w.odd || !closed
	b.flush(true)
}

// backquoted takes `...`; inside, \ protects only itself, ` and $, and " when
// the whole stands in double quotes.
func (p *parser) backquoted(b *wordBuilder, quoted bool) {
	p.pos++
	var in []byte
	for p.pos < len(p.src) && p.src[p.pos] != '`' {
		if n := p.peek(1); p.src[p.pos] == '\\' && (n == '`' || n == '\\' || n == '$' || n == '"' && quoted) {
			p.pos++
		}
		in = append(in, p.src[p.pos])
		p.pos++
	}
	p.accept('`')
	b.add(part{kind: partSubst, list: p.sub(string(in)), quoted: quoted})
}

// skipBalanced passes a parenthesis and everything up to the one that closes
// it.
func (p *parser) skipBalanced() {
	depth := 0
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case '(':
			depth++
		case ')':
			depth--
		case '\\':
			p.pos++
		}
		p.pos++
		if depth <= 0 {
			break
		}
	}
	p.pos = min(p.pos, len(p.src))
}

// peek returns the byte n places on, 0 behind the end.
func (p *parser) peek(n int) byte {
	if p.pos+n < len(p.src) {
		return p.src[p.pos+n]
	}
	return 0
}

func (p *parser) accept(c byte) bool {
	if p.pos < len(p.src) && p.src[p.pos] == c {
		p.pos++
		return true
	}
	return false
}
