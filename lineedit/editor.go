package lineedit

import "strings"

// verdict is what a key leads to.
type verdict int

const (
	goOn      verdict = iota
	accept            // Enter
	interrupt         // Ctrl-C
	endOfFile         // Ctrl-D on an empty line
	suspend           // Ctrl-Z
	external          // Ctrl-X Ctrl-E
	list              // show the completions
	redraw            // Ctrl-L
)

// editor is the state machine of one line: keys go in, the buffer changes.
type editor struct {
	buf      buffer
	history  *History
	complete func(line string, pos int) (from int, options []string)

	at    int    // index in the history; its length is the line being written
	draft string // that line, while an older one is shown

	undo    undo
	kills   []string
	yankAt  int      // place of the last yank in the ring
	options []string // of the last completion, for list
	search  *search  // nil unless one is in progress

	chain
}

// chain is what the last key means for the next.
type chain struct {
	typing  bool // it inserted characters, and more of them join these
	killing bool // it cut, and another cut joins this
	yank    int  // bytes it yanked, for Alt-Y
	prefixX bool // it was Ctrl-X
	tabs    int  // it ended so many Tabs in a row
}

// begin makes the line a new one that begins with text.
func (e *editor) begin(text string) {
	e.buf = buffer{}
	e.buf.set(text)
	e.at = len(e.history.lines)
	e.draft, e.undo, e.search, e.chain = "", undo{}, nil, chain{}
}

// key applies one key.
func (e *editor) key(k Key) verdict {
	if e.search != nil && e.searchKey(k) {
		return goOn
	}
	was := e.chain
	e.chain = chain{}
	switch {
	case k.Code == CodeText && !k.Alt:
		if !was.typing {
			e.undo.push(e.buf)
		}
		e.typing = true
		e.buf.insert(k.Text)
		return goOn
	case k.Code == CodePaste:
		e.undo.push(e.buf)
		e.buf.insertPaste(k.Text, k.Cut)
		return goOn
	case k.Code == '\t':
		e.tabs = was.tabs + 1
		return e.completion()
	case was.prefixX && k.Code == ctrl('E'):
		return external
	case was.prefixX && k.Code == ctrl('U'):
		e.undo.pop(&e.buf)
		return goOn
	case k.Alt && k.Code == CodeText:
		e.altKey(k.Text, was.killing, was.yank)
		return goOn
	case k.Alt && (k.Code == '\r' || k.Code == '\n'):
		e.edit(func() { e.buf.insert("\n") })
		return goOn
	case k.Alt && (k.Code == 0x7f || k.Code == 8):
		e.kill(e.buf.left(isWord), e.buf.pos, killBack, was.killing)
		return goOn
	}
	if e.moveKey(k) {
		return goOn
	}
	return e.controlKey(k, was.killing)
}

// moveKey applies a key that only moves.
func (e *editor) moveKey(k Key) bool {
	b := &e.buf
	word := k.Ctrl || k.Alt
	switch k.Code {
	case CodeLeft, ctrl('B'):
		if word {
			b.pos = b.left(isWord)
		} else {
			b.pos = b.prev()
		}
	case CodeRight, ctrl('F'):
		if word {
			b.pos = b.right()
		} else {
			b.pos = b.next()
		}
	case CodeHome, ctrl('A'):
		b.pos = b.lineStart()
	case CodeEnd, ctrl('E'):
		b.pos = b.lineEnd()
	case CodeUp, ctrl('P'):
		if !b.vertical(-1) {
			e.older(-1)
		}
	case CodeDown, ctrl('N'):
		if !b.vertical(1) {
			e.older(1)
		}
	default:
		return false
	}
	return true
}

// controlKey applies the keys that edit or end the line; others do nothing.
func (e *editor) controlKey(k Key, killing bool) verdict {
	b := &e.buf
	switch k.Code {
	case '\r':
		if b.pos == len(b.text) && (len(b.text)-len(strings.TrimRight(b.text, `\`)))%2 == 1 {
			e.edit(func() {
				b.cut(len(b.text)-1, len(b.text))
				b.insert("\n")
			})
			return goOn
		}
		return accept
	case '\n':
		e.edit(func() { b.insert("\n") })
	case ctrl('C'):
		return interrupt
	case ctrl('D'):
		if b.text == "" {
			return endOfFile
		}
		e.edit(func() { b.cut(b.pos, b.next()) })
	case CodeDelete:
		e.edit(func() { b.cut(b.pos, b.next()) })
	case 8, 0x7f:
		e.edit(func() { b.cut(b.prev(), b.pos) })
	case ctrl('K'):
		end := b.lineEnd()
		if end == b.pos && end < len(b.text) {
			end++
		}
		e.kill(b.pos, end, killOn, killing)
	case ctrl('U'):
		e.kill(b.lineStart(), b.pos, killBack, killing)
	case ctrl('W'):
		e.kill(b.left(isInk), b.pos, killBack, killing)
	case ctrl('Y'):
		e.yankAt = len(e.kills) - 1
		e.yankText()
	case ctrl('T'):
		e.edit(b.transpose)
	case ctrl('_'):
		e.undo.pop(b)
	case ctrl('R'):
		e.search = &search{found: -1, saved: *b}
	case ctrl('X'):
		e.prefixX = true
	case ctrl('Z'):
		return suspend
	case ctrl('L'):
		return redraw
	}
	return goOn
}

func (e *editor) altKey(text string, killing bool, yank int) {
	b := &e.buf
	switch text {
	case "b", "B":
		b.pos = b.left(isWord)
	case "f", "F":
		b.pos = b.right()
	case "d", "D":
		e.kill(b.pos, b.right(), killOn, killing)
	case "y", "Y":
		if yank > 0 {
			b.cut(b.pos-yank, b.pos)
			e.yankAt = (e.yankAt - 1 + len(e.kills)) % len(e.kills)
			e.yankText()
		}
	case "<":
		b.pos = 0
	case ">":
		b.pos = len(b.text)
	}
}

// edit changes the buffer as one step that can be undone.
func (e *editor) edit(f func()) {
	before := e.buf
	if f(); e.buf.text != before.text {
		e.undo.push(before)
	}
}

// The directions of a cut.
const (
	killOn   = false
	killBack = true
)

// maxKills bounds the ring of cut texts.
const maxKills = 8

// kill cuts text into the ring. Cuts in a row make one text.
func (e *editor) kill(from, to int, back, join bool) {
	if from == to {
		e.killing = join
		return
	}
	var s string
	e.edit(func() { s = e.buf.cut(from, to) })
	e.killing = true
	last := len(e.kills) - 1
	switch {
	case join && back:
		e.kills[last] = s + e.kills[last]
	case join:
		e.kills[last] += s
	default:
		if e.kills = append(e.kills, s); len(e.kills) > maxKills {
			e.kills = append(e.kills[:0], e.kills[1:]...)
		}
	}
}

func (e *editor) yankText() {
	if len(e.kills) == 0 {
		return
	}
	s, from := e.kills[e.yankAt], e.buf.pos
	e.edit(func() { e.buf.insert(s) })
	if e.buf.pos == from+len(s) { // else it became part of a paste
		e.yank = len(s)
	}
}

// older shows the entry before (-1) or behind (+1) the present one.
func (e *editor) older(step int) {
	to := e.at + step
	if to < 0 || to > len(e.history.lines) {
		return
	}
	if e.at == len(e.history.lines) {
		e.draft = e.buf.text
	}
	e.at = to
	e.undo = undo{}
	if to == len(e.history.lines) {
		e.buf.text, e.buf.pos = e.draft, len(e.draft)
		return
	}
	e.buf.set(e.history.lines[to])
}

// completion replaces what stands before the cursor by what all options have
// in common; with nothing to add, the second Tab lists them.
func (e *editor) completion() verdict {
	if e.complete == nil {
		return goOn
	}
	b := &e.buf
	from, options := e.complete(b.text, b.pos)
	if from < 0 || from > b.pos || len(options) == 0 {
		return goOn
	}
	common := cleanText([]byte(options[0]))
	for _, o := range options[1:] {
		n := 0
		for n < len(common) && n < len(o) && common[n] == o[n] {
			n++
		}
		common = strings.ToValidUTF8(common[:n], "")
	}
	if typed := b.text[from:b.pos]; common != typed && len(common) >= len(typed) || len(options) == 1 {
		e.edit(func() {
			b.cut(from, b.pos)
			b.insert(common)
		})
		return goOn
	}
	if e.tabs > 1 {
		e.options = options
		return list
	}
	return goOn
}

// prompt is what stands before the text.
func (e *editor) prompt(normal string) string {
	switch s := e.search; {
	case s == nil:
		return normal
	case s.found < 0 && s.what != "":
		return "(not found: " + s.what + ") "
	default:
		return "(search: " + s.what + ") "
	}
}
