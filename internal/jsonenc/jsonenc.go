// Package jsonenc writes JSON text by appending to byte slices. It exists
// because fastjson, with which everything is read, escapes control characters
// in a way that is not JSON. It never reads JSON, keeps no state and accepts
// every string: bytes that are not UTF-8 become U+FFFD.
package jsonenc

import (
	"io"
	"strconv"
	"unicode/utf8"
)

const hex = "0123456789abcdef"

// AppendString appends s as a JSON string (RFC 8259, section 7), quotes
// included. Each byte that is not part of valid UTF-8 becomes U+FFFD; U+2028
// and U+2029 are escaped, since some readers take them for line ends.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	dst = appendChars(dst, s)
	return append(dst, '"')
}

func appendChars(dst []byte, s string) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= 0x20 && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[start:i]...)
			dst = appendEscape(dst, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, s[start:i]...)
			dst = append(dst, "\ufffd"...)
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hex[r&0xf])
		default:
			i += n
			continue
		}
		i += n
		start = i
	}
	return append(dst, s[start:]...)
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// AppendKey appends an object member's name and its colon, after a comma
// unless dst ends in an opening brace.
func AppendKey(dst []byte, key string) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' {
		dst = append(dst, ',')
	}
	return append(AppendString(dst, key), ':')
}

// AppendInt appends n in decimal.
func AppendInt(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }

// AppendBool appends true or false.
func AppendBool(dst []byte, b bool) []byte { return strconv.AppendBool(dst, b) }

// bufSize is the largest piece that Writer keeps before it writes it out.
const bufSize = 4096

// Writer streams JSON text through one small buffer, so that a long string is
// never copied whole. With a nil destination it only counts. The first write
// error sticks and is returned by Flush.
type Writer struct {
	w   io.Writer
	buf []byte
	n   int64
	err error
}

// NewWriter returns a Writer to w; w may be nil, to count bytes.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, buf: make([]byte, 0, bufSize+64)}
}

// Raw writes s as it stands: punctuation, or a value that is JSON already.
func (w *Writer) Raw(s string) {
	for len(s) > bufSize {
		w.buf = append(w.buf, s[:bufSize]...)
		s = s[bufSize:]
		w.drain()
	}
	w.buf = append(w.buf, s...)
	w.drain()
}

// String writes s as a JSON string, as AppendString does.
func (w *Writer) String(s string) {
	w.buf = append(w.buf, '"')
	for len(s) > bufSize {
		n := cut(s, bufSize)
		w.buf = appendChars(w.buf, s[:n])
		s = s[n:]
		w.drain()
	}
	w.buf = append(appendChars(w.buf, s), '"')
	w.drain()
}

// cut returns the largest length up to n that does not split a character.
func cut(s string, n int) int {
	for i := n; i > n-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return n
}

// Int writes n in decimal.
func (w *Writer) Int(n int64) {
	w.buf = AppendInt(w.buf, n)
	w.drain()
}

// Len is the number of bytes written so far, those still buffered included.
func (w *Writer) Len() int64 { return w.n + int64(len(w.buf)) }

// Flush writes out what is buffered and returns the first error met.
func (w *Writer) Flush() error {
	w.write()
	return w.err
}

func (w *Writer) drain() {
	if len(w.buf) >= bufSize {
		w.write()
	}
}

func (w *Writer) write() {
	w.n += int64(len(w.buf))
	if w.w != nil && w.err == nil && len(w.buf) > 0 {
		_, w.err = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
}
