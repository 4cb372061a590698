package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

const (
	maxLine = 1 << 20 // bytes; a terminal driver passes on no more than 4095 of a line
	// pasteGap is how soon the next line must be there to belong to the same
	// paste. Nobody types that fast; over a network a paste comes in pieces.
	pasteGap = 50 * time.Millisecond
)

var errLongLine = errors.New("line too long")

// lineReader reads lines of a terminal in its ordinary mode, or of a pipe. It
// holds what was read behind a line, so one input has one lineReader.
type lineReader struct {
	in  *os.File
	buf []byte
	eof bool
}

// readLine returns the next line without its end. At the end of the input it is
// io.EOF, when ctx ends the context's error; a wait has no other limit.
func (r *lineReader) readLine(ctx context.Context) (string, error) {
	for {
		if i := bytes.IndexByte(r.buf, '\n'); i >= 0 {
			line := string(r.buf[:i])
			r.buf = append(r.buf[:0], r.buf[i+1:]...)
			return strings.TrimSuffix(line, "\r"), nil
		}
		switch {
		case r.eof && len(r.buf) > 0:
			line := string(r.buf)
			r.buf = nil
			return line, nil
		case r.eof:
			return "", io.EOF
		case len(r.buf) > maxLine:
			r.buf = nil
			return "", errLongLine
		}
		if _, err := awaitInput(ctx, r.in, -1); err != nil {
			return "", err
		}
		if err := r.fill(); err != nil {
			return "", err
		}
	}
}

// fill reads once. A terminal that went away counts as the end of the input.
func (r *lineReader) fill() error {
	var chunk [4096]byte
	n, err := r.in.Read(chunk[:])
	r.buf = append(r.buf, chunk[:n]...)
	if err != nil || n == 0 {
		r.eof = true
	}
	if err != nil && !errors.Is(err, io.EOF) && asTerminal(r.in) == nil {
		return err
	}
	return nil
}

// more says whether another line is there already.
func (r *lineReader) more(ctx context.Context) bool {
	if bytes.IndexByte(r.buf, '\n') >= 0 {
		return true
	}
	if r.eof {
		return false
	}
	ready, err := awaitInput(ctx, r.in, pasteGap)
	return ready && err == nil && r.fill() == nil && bytes.IndexByte(r.buf, '\n') >= 0
}

// peek is the next line if it is there already, else "".
func (r *lineReader) peek() string {
	line, _, _ := bytes.Cut(r.buf, []byte("\n"))
	return string(line)
}
