// Package lineedit reads messages from a terminal, with editing and history,
// and single keys for paging. The line is a state machine from bytes to edits;
// the modes of the terminal are changed only while keys are read, and given
// back on every way out. While no key comes, nothing runs.
package lineedit

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"
)

// ErrInterrupt says that Ctrl-C ended the line. Ctrl-D on an empty line and the
// end of the input are io.EOF.
var ErrInterrupt = errors.New("interrupted")

// pasteGap is how soon something must follow an Enter to belong to the same
// message: a terminal that does not mark pastes sends one as keys. Nobody types
// that fast; over a network a paste comes in pieces.
const pasteGap = 25 * time.Millisecond

// Options are the parts of a Reader.
type Options struct {
	Terminal
	History *History
	Plain   bool // read lines without editing, as where there is no terminal

	// Alone says that a line is a message of its own, whatever comes right
	// behind it; nil is none.
	Alone func(line string) bool
	// Complete returns what the text before byte pos of the line can be
	// continued to: from is the byte where each option begins. nil completes
	// nothing.
	Complete func(line string, pos int) (from int, options []string)
	// Edit lets another program edit a text; the terminal is as that program
	// wants it. nil is none.
	Edit func(text string) (string, error)
}

// Reader reads messages of a person, of one or more lines. One goroutine uses
// it.
type Reader struct {
	o      Options
	ed     editor
	dec    decoder
	screen screen
	keys   *Keys // while a line is read, and no other program has the terminal
	prompt string
	kept   string // what another program was editing when the line was ended
	lines  Lines
}

// New returns a Reader; it changes nothing yet.
func New(o Options) *Reader {
	if o.Alone == nil {
		o.Alone = func(string) bool { return false }
	}
	if o.History == nil {
		o.History = &History{max: 100}
	}
	o.Plain = o.Plain || !o.Is()
	return &Reader{o: o, ed: editor{history: o.History, complete: o.Complete}, lines: Lines{In: o.In}}
}

// ReadLine shows the prompt, which may hold colours, and returns what was
// entered, line feeds between its lines. text is what it begins with; without
// one it is what another program was editing when the context of the last line
// ended. The error is ErrInterrupt, io.EOF, the context's, or that of the
// terminal. Where lines are read without editing, text is ignored and Ctrl-C is
// a signal.
func (r *Reader) ReadLine(ctx context.Context, prompt, text string) (line string, err error) {
	if r.o.Plain {
		return r.readPlain(ctx, prompt)
	}
	if r.keys, err = openKeys(ctx, r.o.Terminal, true, &r.dec); err != nil {
		return "", err
	}
	defer func() {
		r.screen.leave()
		if r.keys == nil {
			return
		}
		if e := r.keys.close(r.flush()); err == nil {
			err = e
		}
	}()
	if err := r.takeTypedAhead(); err != nil {
		return "", err
	}
	r.prompt = prompt
	if text == "" {
		text = r.kept
	}
	r.kept = ""
	r.ed.begin(text)
	r.show()
	for {
		k, err := r.nextKey()
		if err != nil {
			return "", err
		}
		done, err := r.act(k)
		if err != nil {
			return "", err
		}
		if done {
			return r.finish(), nil
		}
	}
}

// takeTypedAhead takes what was typed before anybody read keys. Of the keys that
// ended a line the terminal made line feeds, and of Ctrl-D a zero.
func (r *Reader) takeTypedAhead() error {
	for {
		ready, err := Await(r.keys.ctx, r.o.In, 0)
		if err != nil || !ready {
			return err
		}
		from := len(r.dec.buf)
		if err := r.keys.fill(); err != nil {
			return err
		}
		for i, c := range r.dec.buf[min(from, len(r.dec.buf)):] {
			switch c {
			case '\n':
				r.dec.buf[from+i] = '\r'
			case 0:
				r.dec.buf[from+i] = 'D' - 64
			}
		}
	}
}

// nextKey returns the next key. Only when it has to wait for one, the screen is
// brought up to date.
func (r *Reader) nextKey() (Key, error) {
	for {
		if k, ok := r.dec.next(false); ok {
			return k, nil
		}
		if r.keys.ctx.Err() != nil || !atHand(r.o.In) {
			break
		}
		if err := r.keys.fill(); err != nil {
			return Key{}, err
		}
	}
	r.paint()
	if err := r.write(); err != nil {
		return Key{}, err
	}
	return r.keys.Next()
}

// act does what a key leads to; done ends the message.
func (r *Reader) act(k Key) (done bool, err error) {
	switch k.Code {
	case CodeResize:
		r.screen.resize(r.o.Size())
		return false, nil
	case CodeContinue:
		r.show()
		return false, nil
	}
	switch r.ed.key(k) {
	case accept:
		return r.accepts()
	case interrupt:
		r.ed.buf.pos, r.ed.search = len(r.ed.buf.text), nil
		r.paint()
		r.screen.out.WriteString("^C")
		return false, ErrInterrupt
	case endOfFile:
		return false, io.EOF
	case redraw:
		r.screen.out.WriteString("\x1b[H\x1b[2J")
		r.screen.forget()
	case list:
		r.listOptions()
	case suspend:
		r.paint()
		r.screen.leave()
		if err := r.keys.suspend(r.flush()); err != nil {
			return false, err
		}
		r.show()
	case external:
		return false, r.edit()
	}
	return false, nil
}

// accepts says whether Enter ends the message. It does not in the middle of a
// paste that the terminal does not mark; that is not painted line by line.
func (r *Reader) accepts() (bool, error) {
	if r.o.Alone(r.ed.buf.text) {
		return true, nil
	}
	if len(r.dec.buf) == 0 && !atHand(r.o.In) {
		r.paint()
		if err := r.write(); err != nil {
			return false, err
		}
	}
	next := r.keys.ahead(pasteGap)
	if next == "" || next[0] < ' ' && !strings.Contains("\r\n\t", next[:1]) || next[0] == 0x7f {
		return true, nil // what comes next is no text
	}
	if line, _, whole := strings.Cut(next, "\r"); whole && r.o.Alone(line) {
		return true, nil
	}
	r.ed.buf.pos = len(r.ed.buf.text)
	r.ed.edit(func() { r.ed.buf.insert("\n") })
	return false, nil
}

// finish shows the message as it was sent and keeps it.
func (r *Reader) finish() string {
	line := r.ed.buf.whole()
	r.ed.buf.pos = len(r.ed.buf.text)
	r.paint()
	r.o.History.Add(line)
	return line
}

// edit has another program edit the message.
func (r *Reader) edit() error {
	if r.o.Edit == nil {
		return nil
	}
	r.paint()
	r.screen.leave()
	ctx := r.keys.ctx
	err := r.keys.close(r.flush())
	r.keys = nil
	if err != nil {
		return err
	}
	if text, failed := r.o.Edit(r.ed.buf.whole()); failed == nil {
		text = strings.TrimRight(cleanText([]byte(text)), "\n")
		r.ed.edit(func() { r.ed.buf.set(text) })
	}
	if r.keys, err = openKeys(ctx, r.o.Terminal, true, &r.dec); err != nil {
		r.kept = r.ed.buf.whole() // a Ctrl-C that was for that program may have ended ctx
		return err
	}
	r.show()
	return nil
}

// show paints everything anew, at the cursor.
func (r *Reader) show() {
	r.screen.columns, r.screen.height = r.o.Size()
	r.screen.forget()
	r.screen.out.WriteString(pasteOn + "\r\x1b[K") // over what was echoed meanwhile
	r.paint()
}

func (r *Reader) paint() {
	r.screen.paint(lay(r.ed.prompt(r.prompt), &r.ed.buf, r.screen.columns))
}

// listOptions shows the completions below the message, in columns, as many as
// the window holds.
func (r *Reader) listOptions() {
	const most = 100
	options := r.ed.options[:min(len(r.ed.options), most)]
	r.paint()
	r.screen.leave()
	r.screen.out.WriteString("\r\n")
	width := 0
	for _, o := range options {
		width = max(width, Width(o)+2)
	}
	per := max(1, r.screen.columns/width)
	options = options[:min(len(options), per*max(r.screen.height-3, 1))]
	for i, o := range options {
		o = Truncate(strings.ReplaceAll(cleanText([]byte(o)), "\n", " "), r.screen.columns-1)
		r.screen.out.WriteString(o)
		if i%per == per-1 || i == len(options)-1 {
			r.screen.out.WriteString("\r\n")
			continue
		}
		r.screen.out.WriteString(strings.Repeat(" ", max(width-Width(o), 0)))
	}
	if len(options) < len(r.ed.options) {
		r.screen.out.WriteString("...\r\n")
	}
}

// flush returns what is to be written, and forgets it.
func (r *Reader) flush() []byte {
	b := append([]byte(nil), r.screen.out.Bytes()...)
	r.screen.out.Reset()
	return b
}

func (r *Reader) write() error {
	if r.screen.out.Len() == 0 {
		return nil
	}
	_, err := r.o.Out.Write(r.screen.out.Bytes())
	r.screen.out.Reset()
	return err
}
