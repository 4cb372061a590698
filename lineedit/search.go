package lineedit

import "strings"

// search is a Ctrl-R in progress.
type search struct {
	what  string
	found int // index in the history, -1 if nothing
	saved buffer
}

// maxSearch is the longest paste that can be meant as a text to search for, in
// bytes.
const maxSearch = 200

// searchKey applies a key while the history is searched. False says that the
// search ended and the key is still to be applied to the line.
func (e *editor) searchKey(k Key) bool {
	s := e.search
	switch {
	case k.Code == CodePaste && (strings.Contains(k.Text, "\n") || len(k.Text) > maxSearch):
		e.buf, e.search = s.saved, nil
		return false
	case k.Code == CodeText && !k.Alt, k.Code == CodePaste:
		s.what += k.Text
		s.found = -1
		e.find(len(e.history.lines) - 1)
	case k.Code == ctrl('R'):
		from := len(e.history.lines) - 1
		if s.found >= 0 {
			from = s.found - 1
		}
		e.find(from)
	case k.Code == 8 || k.Code == 0x7f:
		b := buffer{text: s.what, pos: len(s.what)}
		s.what = s.what[:b.prev()]
		s.found = -1
		e.find(len(e.history.lines) - 1)
	case k.Code == ctrl('G'):
		e.buf, e.search = s.saved, nil
	default:
		e.search = nil
		if s.found >= 0 {
			if e.at == len(e.history.lines) {
				e.draft = s.saved.text
			}
			e.at, e.undo = s.found, undo{}
		}
		return k.Code == CodeEscape
	}
	return true
}

// find looks for the search text from an entry back. Without one the line
// stays as it is.
func (e *editor) find(from int) {
	s := e.search
	for i := from; i >= 0 && s.what != ""; i-- {
		if at := strings.LastIndex(e.history.lines[i], s.what); at >= 0 {
			s.found = i
			e.buf.set(e.history.lines[i])
			if e.buf.text == e.history.lines[i] {
				e.buf.pos = at
			}
			return
		}
	}
}

// undo are the states of the buffer before the last changes, bounded in number
// and in bytes.
type undo struct {
	states []buffer
	bytes  int
}

const (
	maxUndo      = 200
	maxUndoBytes = 512 << 10
)

func (u *undo) push(b buffer) {
	u.states = append(u.states, b)
	u.bytes += len(b.text)
	drop := 0
	for ; len(u.states)-drop > maxUndo || u.bytes > maxUndoBytes && len(u.states)-drop > 1; drop++ {
		u.bytes -= len(u.states[drop].text)
	}
	u.states = append(u.states[:0], u.states[drop:]...)
}

// pop takes the last change back. What a paste stands for is never forgotten.
func (u *undo) pop(b *buffer) {
	n := len(u.states) - 1
	if n < 0 {
		return
	}
	last := u.states[n]
	u.states = u.states[:n]
	u.bytes -= len(last.text)
	b.text, b.pos = last.text, last.pos
}
