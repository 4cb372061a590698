package dangercheck

import "strings"

// dollar takes an expansion.
func (p *parser) dollar(b *wordBuilder, quoted bool) {
	x := part{quoted: quoted}
	switch c := p.peek(1); {
	case p.depth >= maxDepth:
		p.cut = true
		b.lit = append(b.lit, markUnknown)
		b.w.odd = true
		p.pos++
		return
	case c == '(' && p.peek(2) == '(' && p.isArithmetic(p.pos+1):
		p.pos++
		p.arithmetic(b, quoted)
		return
	case c == '(':
		p.pos += 2
		x.kind, x.list = partSubst, p.nested()
		p.accept(')')
	case c == '{':
		p.pos += 2
		p.depth++
		p.braced(&x, quoted)
		p.depth--
	case c == '\'' && !quoted && !p.posix:
		p.pos += 2
		b.w.quoted, b.w.odd = true, true
		x.text, x.quoted = p.ansiQuoted(), true
	case c == '"' && !quoted: // a translated string; where there is no translation, the string
		p.pos++
		b.w.odd = true
		p.wordByte(b, '"', p.pos)
		return
	case isNameByte(c, true):
		i := p.pos + 1
		for i < len(p.src) && isNameByte(p.src[i], false) {
			i++
		}
		x.kind, x.text = partVar, p.src[p.pos+1:i]
		p.pos = i
	case c != 0 && strings.IndexByte("0123456789@*#?$!-", c) >= 0:
		x.kind, x.text = partVar, p.src[p.pos+1:p.pos+2]
		p.pos += 2
	default:
		b.w.odd = b.w.odd || c != 0 && c != '"' && !isBlank(c)
		b.lit = append(b.lit, '$')
		p.pos++
		return
	}
	b.add(x)
}

// braced takes the rest of ${...} after the brace; quoted says that it stands in
// double quotes.
func (p *parser) braced(v *part, quoted bool) {
	i := p.pos
	for i < len(p.src) && isNameByte(p.src[i], false) {
		i++
	}
	if i == p.pos && (p.peek(0) == '@' || p.peek(0) == '*') {
		i++
	}
	v.kind, v.text = partVar, p.src[p.pos:i]
	p.pos = i
	if rest := p.src[i:]; strings.HasPrefix(rest, "[@]") || strings.HasPrefix(rest, "[*]") {
		v.all = true
		p.pos += 3
	}
	op := p.peek(0)
	if n := p.peek(1); op == ':' && (n == '-' || n == '=' || n == '+' || n == '?') {
		p.pos++
		op = n
	}
	if op != '}' && op != 0 {
		p.pos++
		if op == p.peek(0) && (op == '%' || op == '#') {
			p.pos++
		}
	}
	v.alt = p.untilBrace(quoted, op != 0 && strings.IndexByte("-=+?", op) >= 0)
	switch {
	case v.text == "": // ${#x}, ${!x}
		v.op = '*'
	case op == '-', op == '=', op == '+', op == '%', op == '#':
		v.op = op
	case op != '}' && op != '?':
		v.op = '*'
	}
}

// untilBrace takes the word inside ${x:-word} and its closing brace. In double
// quotes a single quote in a word that stands for the value is itself to a POSIX
// shell (Shell Command Language, 2.6.2); bash wants it to have its like.
func (p *parser) untilBrace(quoted, instead bool) []part {
	var b wordBuilder
	start := p.pos
	for p.pos < len(p.src) && !p.accept('}') {
		c := p.src[p.pos]
		literal := isMeta(c)
		if c == '\'' && quoted && instead {
			p.differs = true
			literal = p.posix
		}
		switch {
		case literal:
			b.lit = append(b.lit, c)
			p.pos++
		case quoted && c == '$':
			p.dollar(&b, true)
		default:
			p.wordByte(&b, c, start)
		}
	}
	b.flush(false)
	return b.w.parts
}

// arithmeticReach is how far the end of $(( is looked for; one that is longer
// is taken for arithmetic.
const arithmeticReach = 256

// isArithmetic tells $((1+2)) from $((a; b) | c), which is a substitution that
// begins with a subshell: the last two parentheses of the first are neighbours.
func (p *parser) isArithmetic(pos int) bool {
	depth, closed := 0, -1
	for i := pos; i < len(p.src) && i < pos+arithmeticReach; i++ {
		switch p.src[i] {
		case '(':
			depth++
		case ')':
			depth--
			if depth == 0 {
				return closed == i-1
			}
			closed = i
		case '\\':
			i++
		}
	}
	return true
}

// arithmetic takes the parentheses of $(( )) or (( )) as one part with their
// text, behind those of the substitutions inside, which run.
func (p *parser) arithmetic(b *wordBuilder, quoted bool) {
	b.flush(false)
	start := p.pos
	p.depth++
	depth := 0
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case '(':
			depth++
			p.pos++
		case ')':
			depth--
			p.pos++
		case '$':
			p.dollar(b, true)
		case '`':
			p.backquoted(b, true)
		default:
			p.pos++
		}
		if depth <= 0 {
			break
		}
	}
	p.depth--
	b.lit = b.lit[:0]
	b.add(part{kind: partVar, op: '*', alt: []part{{text: p.src[start:p.pos]}}, quoted: quoted})
}

// ansiQuoted takes the rest of $'...' with its escapes.
func (p *parser) ansiQuoted() string {
	start := p.pos
	for p.pos < len(p.src) && p.src[p.pos] != '\'' {
		if p.src[p.pos] == '\\' {
			p.pos++
			p.differs = p.differs || p.peek(0) == '\''
		}
		p.pos++
	}
	p.pos = min(p.pos, len(p.src))
	s, _, _ := strings.Cut(unescaped(p.src[start:p.pos]), "\x00") // which ends a string
	p.accept('\'')
	return s
}

// unescaped replaces the escapes of printf, echo -e and $'...'. Control bytes
// that come out of it are unknown values, never marks.
func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		switch c := s[i]; c {
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'x':
			v, n := digits(s[i+1:], 16, 2)
			out = append(out, v)
			i += n
		case '0', '1', '2', '3', '4', '5', '6', '7':
			v, n := digits(s[i:], 8, 4)
			out = append(out, v)
			i += n - 1
		case '\\', '\'', '"':
			out = append(out, c)
		default:
			out = append(out, '\\', c)
		}
	}
	return hideMarks(string(out))
}

// digits reads at most most digits of a base.
func digits(s string, base, most int) (byte, int) {
	v, i := 0, 0
	for ; i < most && i < len(s); i++ {
		d := strings.IndexByte("0123456789abcdef", s[i]|0x20)
		if d < 0 || d >= base {
			break
		}
		v = v*base + d
	}
	return byte(v), i
}
