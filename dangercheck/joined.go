package dangercheck

import "strings"

// forms are the texts that a text may be to a shell. The shell takes a backslash
// and the line end behind it out before it sees words, so that $\<newline>(...)
// is a substitution and th\<newline>en a reserved word (POSIX, Shell Command
// Language, 2.2.1). The text as it stands is the first form, for the places in
// it; without such pairs it is the only one.
func forms(src string) []string {
	if strings.Contains(src, "\\\n") {
		if j := joined(src); j != src {
			return []string{src, j}
		}
	}
	return []string{src}
}

// joined is a text without those pairs, which stay in single quotes, comments
// and the bodies of here-documents whose delimiter is quoted.
func joined(src string) string {
	j := joiner{src: src}
	for j.pos < len(j.src) {
		j.next()
	}
	return string(j.out)
}

// joiner goes through a text once. It knows what stands within what by a stack:
// a double quote, a parenthesis, a brace or a backquote that is open.
type joiner struct {
	src    string
	pos    int
	out    []byte
	open   []byte
	docs   []int // places in out behind the << of here-documents that begin with the next line
	dollar bool  // what was written last is a $ that begins something
}

// in reports what is open at this place, 0 for nothing.
func (j *joiner) in() byte {
	if len(j.open) == 0 {
		return 0
	}
	return j.open[len(j.open)-1]
}

// words reports whether this place is read as words of a command, not as text in
// quotes or braces.
func (j *joiner) words() bool { return j.in() != '"' && j.in() != '{' }

func (j *joiner) put(n int) {
	j.out = append(j.out, j.src[j.pos:j.pos+n]...)
	j.pos += n
}

func (j *joiner) push(c byte) { j.open = append(j.open, c) }
func (j *joiner) pop()        { j.open = j.open[:len(j.open)-1] }

// skipPairs passes the pairs at this place.
func (j *joiner) skipPairs() {
	for strings.HasPrefix(j.src[j.pos:], "\\\n") {
		j.pos += 2
	}
}

func (j *joiner) next() {
	j.skipPairs()
	if j.pos == len(j.src) {
		return
	}
	dollar := j.dollar
	j.dollar = false
	switch c := j.src[j.pos]; c {
	case '\\':
		j.put(min(2, len(j.src)-j.pos))
		return
	case '\'':
		if j.in() != '"' && !j.quotedBrace() {
			j.singleQuoted(dollar)
			return
		}
	case '"', '`':
		if j.in() == c {
			j.pop()
		} else {
			j.push(c)
		}
	case '$':
		j.dollar = !dollar // $$ is a number
	case '(':
		if dollar || j.words() {
			j.push(c)
		}
	case '{':
		if dollar {
			j.push(c)
		}
	case ')', '}':
		if j.in() == c-1 || j.in() == c-2 { // the sign that opens it
			j.pop()
		}
	case '#':
		if j.words() && !dollar && j.startsWord() {
			line, _, _ := strings.Cut(j.src[j.pos:], "\n")
			j.put(len(line))
			return
		}
	case '<':
		switch n, prev := len(j.docs), len(j.out)-1; {
		case n > 0 && j.docs[n-1] == prev+1: // <<< is none
			j.docs = j.docs[:n-1]
		case j.words() && prev >= 0 && j.out[prev] == '<' && (prev == 0 || j.out[prev-1] != '<'):
			j.docs = append(j.docs, prev+2)
		}
	case '\n':
		if j.words() && len(j.docs) > 0 {
			j.put(1)
			j.bodies()
			return
		}
	}
	j.put(1)
}

// quotedBrace reports whether this is the inside of "${...}", where single
// quotes mean nothing.
func (j *joiner) quotedBrace() bool {
	for i := len(j.open) - 1; i >= 0 && j.open[i] != '(' && j.open[i] != '`'; i-- {
		if j.open[i] == '"' {
			return true
		}
	}
	return false
}

func (j *joiner) startsWord() bool {
	return len(j.out) == 0 || isMeta(j.out[len(j.out)-1]) || j.out[len(j.out)-1] == '`'
}

// singleQuoted takes text up to the closing quote; in $'...' a backslash keeps
// the next character.
func (j *joiner) singleQuoted(ansi bool) {
	i := j.pos + 1
	for i < len(j.src) && j.src[i] != '\'' {
		if ansi && j.src[i] == '\\' {
			i++
		}
		i++
	}
	j.put(min(i+1, len(j.src)) - j.pos)
}

// bodies takes the here-documents that begin here.
func (j *joiner) bodies() {
	docs := j.docs
	j.docs = nil
	for _, at := range docs {
		delim, strip := strings.CutPrefix(string(j.out[at:]), "-")
		delim = strings.TrimLeft(delim, " \t")
		name, quoted := unquoted(delim[:wordEnd(delim)], false)
		for ended := false; j.pos < len(j.src) && !ended; {
			from := len(j.out)
			j.line(quoted)
			line := strings.TrimRight(string(j.out[from:]), "\r\n")
			if strip {
				line = strings.TrimLeft(line, "\t")
			}
			ended = line == name
		}
	}
}

// wordEnd is where the first word of a text ends, at the latest at the line's end.
func wordEnd(text string) int {
	in := byte(0) // the quote that is open
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n', in == 0 && isMeta(c):
			return i
		case c == '\\' && in != '\'':
			i++
		case c == in:
			in = 0
		case in == 0 && (c == '\'' || c == '"'):
			in = c
		}
	}
	return len(text)
}

// line takes one line of a here-document, with those that pairs join to it.
func (j *joiner) line(literal bool) {
	for j.pos < len(j.src) {
		if !literal {
			j.skipPairs()
		}
		n := 1
		if rest := j.src[j.pos:]; rest == "" {
			return
		} else if rest[0] == '\\' && !literal && len(rest) > 1 {
			n = 2
		}
		j.put(n)
		if j.out[len(j.out)-1] == '\n' {
			return
		}
	}
}
