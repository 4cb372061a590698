package provider

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxReply is the most bytes of one reply. A model writes a few hundred KiB at
// most; what is longer is no reply, and the devices have little memory.
const maxReply = 16 << 20

var errTooLarge = errors.New("the reply is larger than 16 MiB")

// lines splits a stream at LF, CR and CRLF, as the WHATWG event stream format
// asks, without waiting for the byte after a CR.
type lines struct {
	r      *bufio.Reader
	line   []byte
	taken  int
	skipLF bool
	err    error
}

func newLines(r io.Reader) *lines {
	return &lines{r: bufio.NewReaderSize(r, 4096)}
}

// sniff skips a byte order mark and white space and returns the first byte
// after them, which stays unread.
func (l *lines) sniff() (byte, error) {
	for {
		b, err := l.r.ReadByte()
		if err != nil {
			return 0, err
		}
		if l.taken++; l.taken > maxReply {
			return 0, errTooLarge
		}
		switch b {
		case ' ', '\t', '\r', '\n', 0xEF, 0xBB, 0xBF:
			continue
		}
		l.taken--
		return b, l.r.UnreadByte()
	}
}

// next returns the next line without its end; it is good until the next call.
// A last line without an end counts. The error comes after the last line:
// io.EOF, or what broke the stream.
func (l *lines) next() ([]byte, error) {
	l.line = l.line[:0]
	for l.err == nil {
		if _, l.err = l.r.Peek(1); l.err != nil {
			break
		}
		buf, _ := l.r.Peek(l.r.Buffered())
		if l.skipLF && buf[0] == '\n' {
			l.skipLF = false
			l.take(1)
			continue
		}
		l.skipLF = false
		i := bytes.IndexAny(buf, "\r\n")
		if i >= 0 {
			l.line = append(l.line, buf[:i]...)
			l.skipLF = buf[i] == '\r'
			l.take(i + 1)
			return l.line, nil
		}
		l.line = append(l.line, buf...)
		l.take(len(buf))
	}
	if len(l.line) > 0 && l.err != errTooLarge {
		return l.line, nil
	}
	return nil, l.err
}

func (l *lines) take(n int) {
	l.r.Discard(n)
	if l.taken += n; l.taken > maxReply {
		l.err = errTooLarge
	}
}

// all returns everything that is left.
func (l *lines) all() ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(l.r, int64(maxReply-l.taken)+1))
	if err == nil && l.taken+len(b) > maxReply {
		err = errTooLarge
	}
	return b, err
}

// event is one event of a stream: its name, "" for the usual one, and its
// data, good until the next call.
type event struct {
	name  string
	data  []byte
	whole bool // the data was complete by itself
}

// events gathers lines to events. It forgives what servers get wrong: a
// missing blank line between events, a missing blank after the colon, an error
// object that a proxy puts in without "data:".
type events struct {
	l    *lines
	name string
	data []byte // lines of an event that is not whole yet
	n    int    // number of those lines
	rest []byte // lines that make no event together and are looked at one by one
	junk []byte // the begin of what is no event stream at all
	err  error
}

// next returns the next event that has data. whole tells whether a data line
// is complete by itself; then no blank line is waited for, unless lines before
// it have begun an event that it may be the middle of.
func (e *events) next(whole func([]byte) bool) (event, error) {
	for e.err == nil || len(e.rest) > 0 {
		if ev, ok := e.single(whole); ok {
			return ev, nil
		}
		var line []byte
		if line, e.err = e.l.next(); e.err != nil {
			break
		}
		field, value := splitField(line)
		switch {
		case len(line) == 0:
			if e.n > 0 {
				return e.flush(whole), nil
			}
			e.name = ""
		case string(field) == "event":
			e.name = string(value)
		case string(field) == "data" && !e.open() && whole(value):
			e.n = 0 // what was gathered before is no event by itself
			return event{e.name, value, true}, nil
		case string(field) == "data":
			if e.n > 0 {
				e.data = append(e.data, '\n')
			} else {
				e.data = e.data[:0]
			}
			e.data = append(e.data, value...)
			e.n++
		case !isField(field) && len(e.junk) < maxJunk:
			e.junk = append(append(e.junk, line[:min(len(line), maxErrorBody)]...), '\n')
		}
	}
	if e.n > 0 {
		return e.flush(whole), nil
	}
	return event{}, e.err
}

// open says whether the lines gathered have begun a document.
func (e *events) open() bool {
	return e.n > 0 && len(e.data) > 0 && (e.data[0] == '{' || e.data[0] == '[')
}

// maxJunk is how much is shown of an answer that is something else.
const maxJunk = 200

// isField knows the fields of an event stream; the empty name is a comment.
func isField(name []byte) bool {
	switch string(name) {
	case "", "data", "event", "id", "retry":
		return true
	}
	return false
}

// flush puts the gathered lines together. Where that makes no document, a blank
// line was missing, and those that are one count by themselves.
func (e *events) flush(whole func([]byte) bool) event {
	ev := event{e.name, e.data, whole(e.data)}
	if e.n > 1 && !ev.whole {
		e.rest = e.data
		if one, ok := e.single(whole); ok {
			ev = one
		}
	}
	if e.n = 0; len(e.rest) == 0 {
		e.name = ""
	}
	return ev
}

// single is the next of the lines in rest that is an event by itself.
func (e *events) single(whole func([]byte) bool) (event, bool) {
	for len(e.rest) > 0 {
		var line []byte
		if line, e.rest, _ = bytes.Cut(e.rest, []byte{'\n'}); whole(line) {
			return event{e.name, line, true}, true
		}
	}
	return event{}, false
}

// splitField takes a line apart. A line that begins an object, or is a bare
// end mark, is taken for data.
func splitField(line []byte) (field, value []byte) {
	if len(line) > 0 && line[0] == '{' || string(bytes.TrimSpace(line)) == "[DONE]" {
		return []byte("data"), line
	}
	field, value, _ = bytes.Cut(line, []byte(":"))
	return field, bytes.TrimPrefix(value, []byte(" "))
}
