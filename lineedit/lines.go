package lineedit

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// ErrLongLine says that a line without editing was longer than one message may
// be; it is dropped.
var ErrLongLine = errors.New("line too long")

// Lines reads the lines of a terminal in its ordinary mode, which edits them
// itself, or of a pipe. It holds what was read behind a line, so one input has
// one of them.
type Lines struct {
	In    *os.File
	Whole bool // a line of a terminal counts only with Enter: behind Ctrl-D the input is at its end
	buf   []byte
	eof   bool
}

// Next returns the next line without its end. At the end of the input it is
// io.EOF, when ctx ends the context's error; a wait has no other limit.
func (l *Lines) Next(ctx context.Context) (string, error) {
	for {
		if i := bytes.IndexByte(l.buf, '\n'); i >= 0 {
			line := string(l.buf[:i])
			l.buf = append(l.buf[:0], l.buf[i+1:]...)
			return strings.TrimSuffix(line, "\r"), nil
		}
		switch {
		case l.Whole && len(l.buf) > 0:
			return "", io.EOF
		case l.eof && len(l.buf) > 0:
			line := string(l.buf)
			l.buf = nil
			return line, nil
		case l.eof:
			return "", io.EOF
		case len(l.buf) > maxMessage:
			l.buf = nil
			return "", ErrLongLine
		}
		if _, err := Await(ctx, l.In, -1); err != nil {
			return "", err
		}
		if err := l.fill(); err != nil {
			return "", err
		}
	}
}

// fill reads once. A terminal that went away counts as the end of the input.
func (l *Lines) fill() error {
	var chunk [4096]byte
	n, err := l.In.Read(chunk[:])
	l.buf = append(l.buf, chunk[:n]...)
	if err != nil || n == 0 {
		l.eof = true
	}
	if err != nil && !errors.Is(err, io.EOF) && !isTerminal(l.In) {
		return err
	}
	return nil
}

// more says whether another line is there already, or comes within limit.
func (l *Lines) more(ctx context.Context, limit time.Duration) bool {
	if bytes.IndexByte(l.buf, '\n') >= 0 {
		return true
	}
	if l.eof {
		return false
	}
	ready, err := Await(ctx, l.In, limit)
	return ready && err == nil && l.fill() == nil && bytes.IndexByte(l.buf, '\n') >= 0
}

// peek is the next line if it is there already, else "".
func (l *Lines) peek() string {
	line, _, _ := bytes.Cut(l.buf, []byte("\n"))
	return string(line)
}

// readPlain reads a message without editing. Lines that are there at once are
// one message, because they were pasted, and so are those that a terminal marks
// as a paste, though it was not asked to; a line that ends in a backslash goes
// on.
func (r *Reader) readPlain(ctx context.Context, prompt string) (string, error) {
	text, err := r.ask(ctx, prompt)
	if err != nil || r.o.Alone(text) {
		return text, err
	}
	for {
		var line string
		switch continued, ok := strings.CutSuffix(text, `\`); {
		case strings.LastIndex(text, string(pasteStart)) > strings.LastIndex(text, string(pasteEnd)):
			line, err = r.lines.Next(ctx)
		case ok:
			text = continued
			line, err = r.ask(ctx, ". ")
		case r.lines.more(ctx, pasteGap) && !r.o.Alone(r.lines.peek()):
			line, err = r.lines.Next(ctx)
		default:
			return text, nil
		}
		if err != nil {
			return "", err
		}
		if text += "\n" + line; len(text) > maxMessage {
			return "", ErrLongLine
		}
	}
}

func (r *Reader) ask(ctx context.Context, prompt string) (string, error) {
	if r.o.Out != nil {
		if _, err := r.o.Out.WriteString(prompt); err != nil {
			return "", err
		}
	}
	line, err := r.lines.Next(ctx)
	if err != nil && r.o.Is() {
		r.o.Out.WriteString("\n") // nobody else ends the line
	}
	return line, err
}
