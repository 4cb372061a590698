package chat

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// CleanText returns s as it may enter a transcript: valid UTF-8, without ANSI
// escape sequences and without control characters but line feed and tab. A
// carriage return before a line feed goes; a lone one becomes a line feed.
// Bytes that are not UTF-8 become U+FFFD, one each.
func CleanText(s string) string {
	var c Cleaner
	return c.Feed(s) + c.Flush()
}

// Cleaner does what CleanText does to text that arrives in pieces, which may
// be cut anywhere: the outputs of Feed and the last one of Flush, put together,
// are CleanText of the inputs put together. The zero value is ready for use.
type Cleaner struct {
	state cleanState
	held  string // the beginning of a character whose rest has not come
	cr    bool   // a carriage return came and nothing that is kept after it
}

// cleanState is where in an escape sequence the text stands (ECMA-48,
// section 5.4 and 5.6; ECMA-35, section 13.2).
type cleanState byte

const (
	inText    cleanState = iota
	inEscape             // after ESC
	inCharset            // after ESC and an intermediate byte
	inControl            // in a control sequence, after CSI
	inString             // in the text of OSC, DCS, SOS, PM or APC
)

// Control characters by name. The 8-bit ones are those of Unicode, U+0080 to
// U+009F; as bare bytes they are not UTF-8 and no terminal in UTF-8 obeys them.
const (
	esc    = 0x1b
	del    = 0x7f
	dcs    = 0x90
	sos    = 0x98
	csi    = 0x9b
	osc    = 0x9d // PM and APC follow
	lastC1 = 0x9f
)

// Feed returns what of s, and of what was held back, is text.
func (c *Cleaner) Feed(s string) string {
	s = c.held + s
	c.held = ""
	var out []byte
	start := 0 // s[start:i] is text that is not in out yet
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && n == 1
		if bad && !utf8.FullRuneInString(s[i:]) {
			c.held = strings.Clone(s[i:])
			s = s[:i]
			break
		}
		keep := c.keeps(r)
		if keep && !bad && (!c.cr || r == '\n') {
			c.cr = false
			i += n
			continue
		}
		out = append(out, s[start:i]...)
		i += n
		start = i
		if !keep {
			continue
		}
		out = c.endLine(out)
		if bad {
			out = append(out, "\ufffd"...)
		} else {
			out = append(out, s[i-n:i]...)
		}
	}
	if start == 0 {
		return s
	}
	return string(append(out, s[start:]...))
}

// Flush ends the text: what was held back is returned as far as it is text,
// and an escape sequence that was not finished is dropped.
func (c *Cleaner) Flush() string {
	var out []byte
	for range len(c.held) {
		if c.keeps(utf8.RuneError) {
			out = append(c.endLine(out), "\ufffd"...)
		}
	}
	out = c.endLine(out)
	*c = Cleaner{}
	return string(out)
}

// endLine appends the line feed that a lone carriage return stands for.
func (c *Cleaner) endLine(out []byte) []byte {
	if !c.cr {
		return out
	}
	c.cr = false
	return append(out, '\n')
}

// keeps moves the state on by one character and says whether that is text. A
// character that cannot belong to the sequence ends it and counts for itself;
// so does a line end in a string, so that a string without an end costs a line
// and not everything after it.
func (c *Cleaner) keeps(r rune) bool {
	printable := r >= ' ' && r < del
	switch {
	case c.state == inEscape && printable:
		c.state = afterEscape(r)
		return false
	case c.state == inCharset && printable:
		if r >= '0' {
			c.state = inText
		}
		return false
	case c.state == inControl && printable:
		if r >= '@' {
			c.state = inText
		}
		return false
	case c.state == inString && (printable || r == '\t' || r > lastC1):
		return false
	}
	c.state = inText
	switch {
	case r == esc:
		c.state = inEscape
	case r == csi:
		c.state = inControl
	case r == dcs || r == sos || r >= osc && r <= lastC1:
		c.state = inString
	case r == '\r':
		c.cr = true
	}
	return r == '\n' || r == '\t' || printable || r > lastC1
}

// afterEscape is the state that a printable character after ESC leads to. "k"
// is no standard: terminal multiplexers take a window title after it.
func afterEscape(r rune) cleanState {
	switch {
	case r < '0':
		return inCharset
	case r == '[':
		return inControl
	case strings.ContainsRune("]PX^_k", r):
		return inString
	}
	return inText
}

// EscapeText returns s on one line, fit for a terminal or a log: control
// characters, escape sequences, bidirectional marks and whatever else cannot
// be seen are shown as escapes (\n, \x1b, \u202e), bytes that are not UTF-8 as
// \xff. It is cut after max bytes with "...", never within a character or an
// escape. max 0 is no limit. A backslash stays as it is, so that a shell
// command reads as it was written.
func EscapeText(s string, max int) string {
	var out []byte
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		had := len(out)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(out, '\\', 'x')
			out = strconv.AppendUint(out, uint64(s[i]), 16)
		case strconv.IsGraphic(r):
			out = append(out, s[i:i+n]...)
		default:
			q := strconv.QuoteRuneToGraphic(r)
			out = append(out, q[1:len(q)-1]...)
		}
		if max > 0 && len(out) > max {
			return string(out[:had]) + "..."
		}
		i += n
	}
	return string(out)
}
