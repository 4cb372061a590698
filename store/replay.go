package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

const (
	maxLine  = 32 << 20 // bytes of a line; a longer one is damage
	maxParts = 200000   // JSON values in a line; more is damage
	maxCount = 1 << 30  // of a counter, so that a run can add to it on 32 bits
)

// replay rebuilds a session from the records of its journal, in file order.
// Damage of a power cut (a torn last line, runs of NUL, lines that are no
// record) is counted and passed over; records of an unknown type are passed
// over silently. Nothing that a record says can widen what a run may do.
type replay struct {
	hold bool // keep the messages; else they are only counted

	found   bool // a session record was read
	sess    chat.Session
	count   int    // messages
	fixed   int    // messages that came with the last reset
	first   string // the first prompt of the person
	size    int64
	skipped int  // damaged lines
	torn    bool // the last line was cut off
	open    bool // the last line has no line feed
}

// errNoRecord says that a file holds no session.
var errNoRecord = errors.New("there is no session record in it")

// read replays a journal. The error says why it cannot be used.
func (r *replay) read(in io.Reader) error {
	lines := lineReader{in: bufio.NewReaderSize(in, 32<<10)}
	var p fastjson.Parser
	for {
		line, err := lines.next()
		r.size += int64(lines.read)
		if err := r.line(&p, line, lines.open); err != nil {
			return err
		}
		if lines.long {
			r.skipped++
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if !r.found {
		return errNoRecord
	}
	return nil
}

// line replays the records of one line: one, unless a power cut put a run of
// NUL where the end of a record was to be. No record holds a NUL itself.
func (r *replay) line(p *fastjson.Parser, line []byte, open bool) error {
	if len(line) == 0 {
		return nil
	}
	r.open = open
	if bytes.IndexByte(line, 0) >= 0 {
		r.skipped++
	}
	pieces := bytes.FieldsFunc(line, func(c rune) bool { return c == 0 })
	for i, piece := range pieces {
		if len(bytes.TrimSpace(piece)) == 0 {
			continue
		}
		v, err := parsePart(p, piece)
		if err == nil && v.Type() == fastjson.TypeObject {
			if err := r.record(v); err != nil {
				return err
			}
			continue
		}
		if open && i == len(pieces)-1 {
			r.torn = true
			continue
		}
		r.skipped++
	}
	return nil
}

// parsePart parses the text of one record, unless the parser would make many
// times its length of it.
func parsePart(p *fastjson.Parser, text []byte) (*fastjson.Value, error) {
	if chat.CountValues(text) > maxParts {
		return nil, errors.New("too many values")
	}
	return p.ParseBytes(text)
}

func (r *replay) record(v *fastjson.Value) error {
	switch string(v.GetStringBytes("t")) {
	case "session":
		return r.head(v)
	case "msg":
		return r.add(v.Get("m"))
	case "reset":
		r.cut(0)
		for _, m := range v.GetArray("messages") {
			if err := r.add(m); err != nil {
				return err
			}
		}
		r.fixed = r.count
	case "truncate":
		if n := v.Get("n"); n != nil {
			if keep, err := n.Int(); err == nil {
				r.cut(r.place(keep, string(v.GetStringBytes("why"))))
			}
		}
	case "state":
		r.state(v)
	case "cwd":
		r.chdir(v)
	case "mode":
		r.sess.Mode = string(v.GetStringBytes("mode"))
	case "name":
		r.sess.Name = string(v.GetStringBytes("name"))
	}
	return nil
}

func (r *replay) head(v *fastjson.Value) error {
	if n := v.Get("v"); n != nil && jsonText(n) != strconv.Itoa(journalVersion) {
		return fmt.Errorf("it was written by a newer version (format %s)", chat.EscapeText(jsonText(n), 20))
	}
	if r.found {
		return nil
	}
	r.found = true
	r.sess.ID = string(v.GetStringBytes("id"))
	r.chdir(v)
	r.sess.Model = string(v.GetStringBytes("model"))
	r.sess.Created = parseTime(string(v.GetStringBytes("created")))
	return nil
}

// chdir takes the directory of a record. A relative one would mean another in
// every directory.
func (r *replay) chdir(v *fastjson.Value) {
	if dir := string(v.GetStringBytes("cwd")); filepath.IsAbs(dir) {
		r.sess.Dir = dir
	}
}

// state reads the counters. completion_tokens and what follows it are ours;
// without them all tokens count as prompt.
func (r *replay) state(v *fastjson.Value) {
	number := func(key string) int { return min(max(0, v.GetInt(key)), maxCount) }
	total, completion := number("total_tokens"), number("completion_tokens")
	completion = min(completion, total)
	r.sess.Steps, r.sess.Context = number("steps"), number("context_tokens")
	r.sess.Total = chat.Usage{
		Prompt: total - completion, Completion: completion,
		Cached: number("cached_tokens"), Reasoning: number("reasoning_tokens"),
	}
	if m := v.GetStringBytes("model"); len(m) > 0 {
		r.sess.Model = string(m)
	}
	r.sess.Window, r.sess.Jobs = number("window"), r.sess.Jobs || v.GetBool("jobs")
}

// add takes one message. The system message is never taken from a file.
func (r *replay) add(v *fastjson.Value) error {
	if v == nil || v.Type() != fastjson.TypeObject {
		r.skipped++
		return nil
	}
	m, err := chat.ParseMessage(v)
	if err != nil {
		return err
	}
	if m.Role == chat.System {
		return nil
	}
	if r.first == "" && m.Role == chat.User && !m.Notice {
		r.first = m.Content
	}
	r.count++
	if r.hold {
		r.sess.Messages = append(r.sess.Messages, m)
	}
	return nil
}

// place is how many messages a truncation to n keeps where lines before it were
// lost, which may have been messages. What a person takes back, and what got no
// answer, begins with a message of the person.
func (r *replay) place(n int, why string) int {
	all := r.sess.Messages
	if !r.hold || why == "failed" && n < len(all) {
		return n
	}
	for back := 0; back <= r.skipped && back <= n; back++ {
		if i := n - back; i < len(all) && all[i].Role == chat.User && !all[i].Notice {
			return i
		}
	}
	return n
}

// cut keeps the first n messages.
func (r *replay) cut(n int) {
	if n < 0 || n >= r.count {
		return
	}
	r.count, r.fixed = n, min(r.fixed, n)
	if r.hold {
		clear(r.sess.Messages[n:])
		r.sess.Messages = r.sess.Messages[:n]
	}
}

// damage is the mark of a listing, "" for a whole journal; err is what read
// returned.
func (r *replay) damage(err error) string {
	switch {
	case r.size == 0 && (err == nil || errors.Is(err, errNoRecord)):
		return "empty"
	case r.torn:
		return "torn"
	case err != nil:
		return "unusable: " + chat.EscapeText(why(err), 80)
	case r.skipped == 1:
		return "1 line skipped"
	case r.skipped > 0:
		return fmt.Sprintf("%d lines skipped", r.skipped)
	}
	return ""
}

// lineReader reads lines of any length up to maxLine into one buffer.
type lineReader struct {
	in   *bufio.Reader
	buf  []byte
	read int  // bytes of the last line, with its end
	open bool // the last line has no line feed
	long bool // the last line was too long and is left out
}

// next returns the next line without its end; it is valid until the next call.
// With io.EOF comes what stands after the last line feed.
func (l *lineReader) next() ([]byte, error) {
	l.buf, l.read, l.long = l.buf[:0], 0, false
	for {
		piece, err := l.in.ReadSlice('\n')
		l.read += len(piece)
		if l.long = l.long || l.read > maxLine; l.long {
			l.buf = nil
		} else {
			l.buf = append(l.buf, piece...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		l.open = err != nil
		return bytes.TrimSuffix(l.buf, []byte("\n")), err
	}
}
