package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"cluade/lineedit"
)

// pager shows a text that must be read before an answer counts. What fits on
// the screen is written; a longer text is turned page by page with single keys,
// and only who has seen its last line gets any further. On a terminal without
// cursor control everything is written at once.
type pager struct {
	tty     lineedit.Terminal
	to      *stream
	dumb    bool
	make    func(*stream) string // the text for the window of the moment
	text    string
	lines   []string // one row of the screen each
	rows    int      // of text
	columns int
	end     int // lines[:end] were written, the last of them at the bottom
}

// show writes the text and reports whether the person has seen all of it; if
// not they refused.
func (p *pager) show(ctx context.Context) (all bool, err error) {
	if p.measure(); p.dumb || len(p.lines) <= p.rows {
		p.to.write(p.text)
		return true, p.to.err
	}
	keys, err := lineedit.OpenKeys(ctx, p.tty)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		p.to.write(p.text)
		return true, p.to.err
	}
	defer keys.Close()
	p.forward(p.rows)
	for p.end < len(p.lines) {
		p.to.write(p.to.paint(cyan, cutColumns(fmt.Sprintf("-- %d of %d: Space goes on, n refuses", p.end, len(p.lines)), p.columns-1)))
		key, err := keys.Next()
		p.to.write(eraseLine)
		if err != nil || p.to.err != nil {
			return false, errors.Join(err, p.to.err)
		}
		if key.Code == 'C'-64 { // the terminal would have made a signal of it
			return false, interrupt(ctx)
		}
		if key.Code == 'Z'-64 {
			key.Code = lineedit.CodeContinue
			if err := keys.Suspend(); err != nil {
				return false, err
			}
		}
		if !p.turn(key) {
			return false, nil
		}
	}
	return true, nil
}

// interrupt does what Ctrl-C does where the terminal is not raw, and returns
// what it made of ctx.
func interrupt(ctx context.Context) error {
	syscall.Kill(os.Getpid(), syscall.SIGINT)
	select {
	case <-ctx.Done():
	case <-time.After(time.Second): // nobody watches
	}
	return ctx.Err()
}

// again shows what the person saw when they left.
func (p *pager) again() {
	if len(p.lines) <= p.rows || p.end == 0 {
		p.to.write(p.text)
		return
	}
	p.back(0)
}

// measure breaks the text for the window of the moment. Two rows are kept: for
// the line below, and for the answer.
func (p *pager) measure() {
	columns, rows := p.tty.Size()
	p.text = p.make(p.to)
	p.columns, p.rows = columns, max(rows-2, 1)
	p.lines, p.end = wrapLines(p.text, columns), 0
}

// forward writes the next n lines.
func (p *pager) forward(n int) {
	n = min(n, len(p.lines)-p.end)
	if n > 0 {
		p.to.write(strings.Join(p.lines[p.end:p.end+n], "\r\n") + "\r\n")
	}
	p.end += n
}

// back shows again what was on the screen n lines before.
func (p *pager) back(n int) {
	p.end = max(p.end-p.rows-n, 0)
	p.to.write("\x1b[H\x1b[2J")
	p.forward(p.rows)
}

// turn does what a key says; false refuses. Keys that answer mean nothing here,
// and so does a paste.
func (p *pager) turn(k lineedit.Key) bool {
	switch k.Code {
	case lineedit.CodePageDown:
		p.forward(p.rows)
	case lineedit.CodeDown:
		p.forward(1)
	case lineedit.CodePageUp:
		p.back(p.rows)
	case lineedit.CodeUp:
		p.back(1)
	case lineedit.CodeContinue:
		p.back(0)
	case lineedit.CodeResize: // other rows: what was seen of them is not known
		p.measure()
		p.back(0)
	case lineedit.CodeEscape, '\r', '\n', 'D' - 64:
		return false
	case lineedit.CodeText:
		for _, c := range k.Text {
			switch c {
			case ' ':
				p.forward(p.rows)
			case 'n', 'N', 'q':
				return false
			}
		}
	}
	return true
}
