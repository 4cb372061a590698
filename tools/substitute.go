package tools

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// matchError is an edit that does not apply; kind is ErrNoMatch or
// ErrManyMatches.
type matchError struct {
	text string
	kind error
}

func (e *matchError) Error() string { return e.text }

// Unwrap returns the kind.
func (e *matchError) Unwrap() error { return e.kind }

// substitute works out the content after an edit. Both texts are literal, with
// two exceptions: models write LF whatever the file has, so a line feed in from
// matches CRLF too, and those in to become what the place has; and a byte order
// mark stays. A carriage return in from or to switches the first off.
func (c *change) substitute(from, to string, all bool) error {
	old := c.old.data
	if bytes.HasPrefix(old, []byte(bom)) && len(from) > len(bom) && strings.HasPrefix(from, bom) {
		from, to = from[len(bom):], strings.TrimPrefix(to, bom)
	}
	size, first := int64(len(old)), 0
	fit := fitting(old, from, to)
	at := newPlaces(old, from)
	for start, end, ok := at.next(); ok; start, end, ok = at.next() {
		if c.hits == 0 {
			first = start
		}
		c.hits++
		size += int64(len(fit(start)) - (end - start))
	}
	switch {
	case c.hits == 0:
		return c.notFound(from)
	case c.hits > 1 && !all:
		return c.ambiguous(from)
	case !all && overlaps(old, from, first):
		return &matchError{fmt.Sprintf("oldString matches twice in %s, overlapping itself at line %d; add context or set replaceAll", shown(c.name), lineAt(old, first)), ErrManyMatches}
	case size > maxFile:
		return fmt.Errorf("%s would become %d bytes; edit makes files of up to 1 MiB", shown(c.name), size)
	}
	c.data = make([]byte, 0, size)
	done := 0
	fit = fitting(old, from, to)
	at = newPlaces(old, from)
	for start, end, ok := at.next(); ok; start, end, ok = at.next() {
		c.data = append(c.data, old[done:start]...)
		c.data = append(c.data, fit(start)...)
		done = end
	}
	c.data = append(c.data, old[done:]...)
	if bytes.Equal(c.data, old) {
		return errors.New("the edit would change nothing")
	}
	return nil
}

// places finds where a text stands in data, from left to right, not
// overlapping. A line feed in the text matches a CRLF in data unless the text
// holds a carriage return itself.
type places struct {
	data, from []byte
	text       []byte // data as it is compared
	at, real   int    // the same place in text and in data
}

func newPlaces(data []byte, from string) *places {
	p := &places{data: data, from: []byte(from), text: data}
	if !strings.Contains(from, "\r") {
		p.text = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return p
}

// next is the next place in data; false says that there is none.
func (p *places) next() (start, end int, ok bool) {
	i := bytes.Index(p.text[p.at:], p.from)
	if i < 0 {
		return 0, 0, false
	}
	start = p.ahead(p.at + i)
	return start, p.ahead(p.at + len(p.from)), true
}

// ahead goes on to a place in text and returns the one in data.
func (p *places) ahead(to int) int {
	for ; p.at < to; p.at++ {
		if p.text[p.at] == '\n' && p.data[p.real] == '\r' {
			p.real++
		}
		p.real++
	}
	return p.real
}

// overlaps says whether from matches again inside its match at first.
func overlaps(data []byte, from string, first int) bool {
	next := first + 1
	if data[first] == '\r' && from[0] == '\n' {
		next++
	}
	_, _, ok := newPlaces(data[next:], from).next()
	return ok
}

// fitting returns a function from a place to the new text with the line ends
// in use there: that of the text replaced, else of its line, else of the last
// line. Places must be asked for in ascending order.
func fitting(data []byte, from, to string) func(start int) string {
	if !strings.Contains(to, "\n") || strings.Contains(from+to, "\r") {
		return func(int) string { return to }
	}
	crlf := strings.ReplaceAll(to, "\n", "\r\n")
	last, next := bytes.LastIndexByte(data, '\n'), -1 // line feeds: of the file, and the first behind a place
	return func(start int) string {
		if next < start && start <= last {
			next = start + bytes.IndexByte(data[start:], '\n')
		}
		i := next
		if start > last {
			i = last
		}
		if i > 0 && data[i-1] == '\r' {
			return crlf
		}
		return to
	}
}

// lineAt is the number of the line that holds data[at].
func lineAt(data []byte, at int) int { return bytes.Count(data[:at], []byte("\n")) + 1 }

func (c *change) ambiguous(from string) error {
	var lines []string
	line, done := 1, 0
	at := newPlaces(c.old.data, from)
	for start, _, ok := at.next(); ok; start, _, ok = at.next() {
		line += bytes.Count(c.old.data[done:start], []byte("\n"))
		done = start
		if n := strconv.Itoa(line); !slices.Contains(lines, n) {
			lines = append(lines, n)
		}
		if len(lines) == 11 {
			lines[10] = "..."
			break
		}
	}
	text := fmt.Sprintf("oldString matches %d times in %s (lines %s); add context or set replaceAll", c.hits, shown(c.name), strings.Join(lines, ", "))
	return &matchError{text, ErrManyMatches}
}

func (c *change) notFound(from string) error {
	text := "oldString not found in " + shown(c.name)
	if hint := whyNot(c.old.data, from); hint != "" {
		text += "; " + hint
	}
	return &matchError{text, ErrNoMatch}
}

// whyNot guesses why from is not in data; "" when nothing comes to mind.
func whyNot(data []byte, from string) string {
	has := func(s string) bool { return s != "" && bytes.Contains(withoutSpace(data), withoutSpace([]byte(s))) }
	bare, numbered := withoutNumbers(from)
	lf := strings.ReplaceAll(from, "\r\n", "\n")
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return "the file is UTF-16 text, which edit cannot change"
	case numbered && has(bare):
		return "it holds the line-number prefixes of read ('12: '); leave them out"
	case lf != from && bytes.Contains(data, []byte(lf)):
		return "it has CRLF line ends, the file has LF"
	case strings.ContainsRune(from, utf8.RuneError):
		return "it holds U+FFFD, which stands for bytes of the file that are not UTF-8; choose text without them"
	}
	bareFrom := withoutSpace([]byte(from))
	if i := bytes.Index(withoutSpace(data), bareFrom); i >= 0 && len(bareFrom) > 0 {
		return fmt.Sprintf("it differs only in whitespace at line %d; copy the text as it is there", lineOfBare(data, i))
	}
	return ""
}

// withoutNumbers takes away the 'N: ' with which read begins each line; ok says
// that every line had one.
func withoutNumbers(s string) (bare string, ok bool) {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		number, text, found := strings.Cut(strings.TrimLeft(line, " \t"), ":")
		if _, err := strconv.ParseUint(number, 10, 64); err != nil || !found {
			return "", false
		}
		lines[i] = strings.TrimPrefix(text, " ")
	}
	return strings.Join(lines, "\n"), true
}

func withoutSpace(b []byte) []byte {
	bare := make([]byte, 0, len(b))
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if !unicode.IsSpace(r) {
			bare = append(bare, b[:n]...)
		}
		b = b[n:]
	}
	return bare
}

// lineOfBare is the line of the byte of data that is byte i of its text
// without whitespace.
func lineOfBare(data []byte, i int) int {
	line := 1
	for at := 0; at < len(data); {
		r, n := utf8.DecodeRune(data[at:])
		switch {
		case r == '\n':
			line++
		case unicode.IsSpace(r):
		case i < n:
			return line
		default:
			i -= n
		}
		at += n
	}
	return line
}
