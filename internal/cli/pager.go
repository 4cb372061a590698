package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// pager shows a text that must be read before an answer counts. What fits on
// the screen is written; a longer text is turned page by page with single keys,
// and only who has seen its last line gets any further. On a terminal without
// cursor control everything is written at once.
type pager struct {
	in    *os.File
	to    *stream
	dumb  bool
	lines []string // one row of the screen each
	rows  int      // of text
	end   int      // lines[:end] were written, the last of them at the bottom
}

// escapeGap is how long the rest of a key's sequence may take to come.
const escapeGap = 50 * time.Millisecond

// show writes the text and reports whether the person has seen all of it; if
// not they refused.
func (p *pager) show(ctx context.Context, text string) (all bool, err error) {
	columns, height := p.size()
	p.lines = wrapLines(text, columns)
	p.rows = height - 2 // the line below, and the one of the answer
	if p.dumb || len(p.lines) <= p.rows || p.rows < 1 {
		p.to.write(text)
		return true, p.to.err
	}
	before, err := term.MakeRaw(int(p.in.Fd()))
	if err != nil {
		p.to.write(text)
		return true, p.to.err
	}
	defer term.Restore(int(p.in.Fd()), before)
	p.forward(p.rows)
	for p.end < len(p.lines) {
		p.to.write(p.to.paint(cyan, fmt.Sprintf("-- %d of %d lines: Space goes on, n refuses --", p.end, len(p.lines))))
		key, err := p.key(ctx)
		p.to.write("\r\x1b[K")
		if err != nil || p.to.err != nil {
			return false, errors.Join(err, p.to.err)
		}
		if !p.turn(key) {
			return false, nil
		}
	}
	return true, nil
}

func (p *pager) size() (columns, rows int) {
	f := p.to.tty
	if f == nil {
		f = p.in
	}
	columns, rows, err := term.GetSize(int(f.Fd()))
	if err != nil || columns < 1 || rows < 1 {
		return 80, 24
	}
	return columns, rows
}

// forward writes the next n lines.
func (p *pager) forward(n int) {
	n = min(n, len(p.lines)-p.end)
	p.to.write(strings.Join(p.lines[p.end:p.end+n], "\r\n") + "\r\n")
	p.end += n
}

// back shows again what was on the screen n lines before.
func (p *pager) back(n int) {
	first := max(p.end-p.rows-n, 0)
	p.end = first
	p.to.write("\x1b[H\x1b[2J")
	p.forward(p.rows)
}

// turn does what a key says; false refuses. Keys that answer mean nothing here.
func (p *pager) turn(key string) bool {
	switch key {
	case " ", "\x1b[6~":
		p.forward(p.rows)
	case "\x1b[B", "\x1bOB":
		p.forward(1)
	case "\x1b[5~":
		p.back(p.rows)
	case "\x1b[A", "\x1bOA":
		p.back(1)
	case "n", "N", "q", "\x1b", "\r", "\n", "\x03", "\x04", "":
		return false
	}
	return true
}

// key reads one key; "" is the end of the input.
func (p *pager) key(ctx context.Context) (string, error) {
	var b [1]byte
	read := func(limit time.Duration) (bool, error) {
		ready, err := awaitInput(ctx, p.in, limit)
		if err != nil || !ready {
			return false, err
		}
		n, _ := p.in.Read(b[:])
		return n == 1, nil
	}
	if ok, err := read(-1); !ok {
		return "", err
	}
	key := string(b[:])
	if key != "\x1b" {
		return key, nil
	}
	for len(key) < 8 {
		ok, err := read(escapeGap)
		if err != nil {
			return "", err
		}
		if !ok {
			break
		}
		key += string(b[:])
		if c := b[0]; len(key) > 2 && c >= '@' && c <= '~' {
			break
		}
	}
	return key, nil
}

// wrapLines breaks a text into rows of a screen. The colours that we put into
// it take no column; nothing is cut.
func wrapLines(text string, columns int) (rows []string) {
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		start, used := 0, 0
		for i := 0; i < len(line); {
			if strings.HasPrefix(line[i:], "\x1b[") {
				if end := strings.IndexByte(line[i:], 'm'); end >= 0 {
					i += end + 1
					continue
				}
			}
			r, size := utf8.DecodeRuneInString(line[i:])
			w := runeColumns(r)
			if used+w > columns && i > start {
				rows = append(rows, line[start:i])
				start, used = i, 0
			}
			used += w
			i += size
		}
		rows = append(rows, line[start:])
	}
	return rows
}
