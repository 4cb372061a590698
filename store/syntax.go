package store

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"cluade/internal/chat"
)

// What a configuration may hold: a stranger's file must not fill the memory,
// and a parser takes two hundred bytes for a value.
const (
	maxNesting = 60 // objects and lists in each other
	maxValues  = 5000
)

// scanner checks that a text is one JSON value (RFC 8259) in which no object
// holds a name twice: two readers would see two configurations. It exists
// because fastjson says neither where a fault is nor that there is one in many
// a case (nan, 01, a raw line feed in a string).
type scanner struct {
	s    []byte
	i    int
	deep int
	n    int    // values begun
	msg  string // the first fault, found at i
}

// checkSyntax returns the place of the first fault of data, counted from 1, and
// what is wrong. msg "" means that there is none.
func checkSyntax(data []byte) (line, col int, msg string) {
	sc := scanner{s: data}
	sc.space()
	if sc.value() {
		sc.space()
		if sc.i < len(sc.s) {
			sc.fail("nothing may follow the closing brace, but there is " + sc.here())
		}
	}
	if sc.msg == "" {
		return 0, 0, ""
	}
	before := data[:sc.i]
	start := bytes.LastIndexByte(before, '\n') + 1
	return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1, sc.msg
}

func (sc *scanner) fail(msg string) bool {
	if sc.msg == "" {
		sc.msg = msg
	}
	return false
}

// peek is the present byte, 0 at the end.
func (sc *scanner) peek() byte {
	if sc.i >= len(sc.s) {
		return 0
	}
	return sc.s[sc.i]
}

func (sc *scanner) space() {
	for sc.i < len(sc.s) && strings.IndexByte(" \t\r\n", sc.s[sc.i]) >= 0 {
		sc.i++
	}
}

// here names the present character for people.
func (sc *scanner) here() string {
	if sc.i >= len(sc.s) {
		return "the end of the file"
	}
	switch sc.s[sc.i] {
	case '\n', '\r':
		return "the end of the line"
	case '/', '#':
		return "a comment, which JSON has not"
	}
	_, n := utf8.DecodeRune(sc.s[sc.i:])
	return "'" + chat.EscapeText(string(sc.s[sc.i:sc.i+n]), 0) + "'"
}

func (sc *scanner) value() bool {
	if sc.n++; sc.n > maxValues {
		return sc.fail(fmt.Sprintf("it holds more than %d values", maxValues))
	}
	switch c := sc.peek(); {
	case c == '{':
		return sc.object()
	case c == '[':
		return sc.list()
	case c == '"':
		_, ok := sc.text()
		return ok
	case c == '-' || c >= '0' && c <= '9':
		return sc.number()
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return sc.word()
	}
	return sc.fail("a value is missing before " + sc.here())
}

func (sc *scanner) object() bool {
	if sc.deep++; sc.deep > maxNesting {
		return sc.fail("objects and lists are nested too deep")
	}
	seen := map[string]bool{}
	sc.i++
	for sc.space(); sc.peek() != '}'; sc.space() {
		if len(seen) > 0 && !sc.comma("}", "name") {
			return false
		}
		if sc.peek() != '"' {
			return sc.fail("a name in double quotes is missing before " + sc.here())
		}
		at := sc.i
		name, ok := sc.text()
		if !ok {
			return false
		}
		if seen[name] {
			sc.i = at
			return sc.fail("\"" + chat.EscapeText(name, 80) + "\" stands here a second time")
		}
		seen[name] = true
		sc.space()
		if sc.peek() != ':' {
			return sc.fail("a colon is missing before " + sc.here())
		}
		sc.i++
		sc.space()
		if !sc.value() {
			return false
		}
	}
	sc.i++
	sc.deep--
	return true
}

func (sc *scanner) list() bool {
	if sc.deep++; sc.deep > maxNesting {
		return sc.fail("objects and lists are nested too deep")
	}
	sc.i++
	first := true
	for sc.space(); sc.peek() != ']'; sc.space() {
		if !first && !sc.comma("]", "value") {
			return false
		}
		first = false
		if !sc.value() {
			return false
		}
	}
	sc.i++
	sc.deep--
	return true
}

// comma reads the comma between two entries; closing ends the list of them.
func (sc *scanner) comma(closing, entry string) bool {
	if sc.peek() != ',' {
		return sc.fail(fmt.Sprintf("a comma or '%s' is missing before %s", closing, sc.here()))
	}
	sc.i++
	sc.space()
	if sc.peek() == closing[0] {
		return sc.fail(fmt.Sprintf("a comma stands before '%s' and no %s follows it", closing, entry))
	}
	return true
}

// text reads a string and returns it with simple escapes resolved, which is
// enough to tell names apart.
func (sc *scanner) text() (string, bool) {
	var b []byte
	start := sc.i
	for sc.i++; sc.i < len(sc.s); sc.i++ {
		switch c := sc.s[sc.i]; {
		case c == '"':
			sc.i++
			return string(b), true
		case c == '\\':
			r, ok := sc.escape()
			if !ok {
				return "", false
			}
			if utf16.IsSurrogate(r) {
				b = append(b, sc.s[sc.i-5:sc.i+1]...)
				continue
			}
			b = utf8.AppendRune(b, r)
		case c == '\n' || c == '\r':
			sc.i = start
			return "", sc.fail("this string is not closed on its line")
		case c < 0x20:
			return "", sc.fail(fmt.Sprintf("a control character (0x%02x) stands in a string", c))
		default:
			b = append(b, c)
		}
	}
	sc.i = start
	return "", sc.fail("this string is not closed")
}

// escape reads an escape sequence and stops at its last byte.
func (sc *scanner) escape() (rune, bool) {
	sc.i++
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if k := strings.IndexByte(from, sc.peek()); k >= 0 && sc.peek() != 0 {
		return rune(to[k]), true
	}
	if sc.peek() != 'u' {
		sc.i--
		return 0, sc.fail(`a backslash in a string begins one of \" \\ \/ \b \f \n \r \t \uXXXX`)
	}
	var r rune
	for range 4 {
		sc.i++
		c := sc.peek()
		k := strings.IndexByte("0123456789abcdef", c|0x20)
		if k < 0 || c < '0' {
			return 0, sc.fail(`\u takes four hexadecimal digits`)
		}
		r = r<<4 | rune(k)
	}
	return r, true
}

func (sc *scanner) digits() bool {
	start := sc.i
	for c := sc.peek(); c >= '0' && c <= '9'; c = sc.peek() {
		sc.i++
	}
	return sc.i > start
}

func (sc *scanner) number() bool {
	start := sc.i
	if sc.peek() == '-' {
		sc.i++
	}
	zero := sc.peek() == '0'
	whole := sc.i
	ok := sc.digits() && !(zero && sc.i > whole+1)
	if ok && sc.peek() == '.' {
		sc.i++
		ok = sc.digits()
	}
	if ok && sc.peek()|0x20 == 'e' {
		sc.i++
		if c := sc.peek(); c == '+' || c == '-' {
			sc.i++
		}
		ok = sc.digits()
	}
	if !ok {
		sc.i = start
		return sc.fail("this is not a number as JSON writes it")
	}
	return true
}

func (sc *scanner) word() bool {
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(sc.s[sc.i:], []byte(w)) {
			sc.i += len(w)
			return true
		}
	}
	return sc.fail("a text needs double quotes; without them only true, false and null are known")
}
