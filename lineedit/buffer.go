package lineedit

import (
	"strconv"
	"strings"
)

// A large paste stands in the text as one character of this range, so that it
// is moved over and deleted as one. The range is for private use; nothing that
// is typed or pasted may hold it.
const (
	pasteRune = '\U000f0000'
	maxPastes = 256
)

// A paste of more lines or bytes is shown by its size.
const (
	pasteLines = 10
	pasteBytes = 4096
)

// maxTyped is how many bytes of text are edited as such; more becomes a paste.
const maxTyped = 64 << 10

// buffer is the text being edited: UTF-8 without control characters but line
// feed and tab. pos is a byte offset between clusters.
type buffer struct {
	text   string
	pos    int
	pastes []paste
}

// paste is a text that is not shown. Its first bytes are kept if it is cut.
type paste struct {
	text string
	cut  bool
}

func (b *buffer) insert(s string) {
	b.text = b.text[:b.pos] + s + b.text[b.pos:]
	b.pos += len(s)
	if len(b.text) <= maxTyped || len(b.pastes) >= maxPastes {
		return
	}
	// What comes as quick typing was pasted by a terminal that does not say so.
	head := buffer{text: b.text[:b.pos], pastes: b.pastes}
	rest := b.text[b.pos:]
	b.text, b.pos = "", 0
	b.insertPaste(head.whole(), false)
	b.text += rest
}

// set makes s the text, a long one as a paste.
func (b *buffer) set(s string) {
	b.text, b.pos = "", 0
	b.insertPaste(s, false)
}

// insertPaste inserts a paste, a long one as a single character. cut says that
// its end was lost already.
func (b *buffer) insertPaste(s string, cut bool) {
	if countLines(s) <= pasteLines && len(s) <= pasteBytes || len(b.pastes) >= maxPastes {
		b.insert(s)
		return
	}
	if room := max(maxMessage-len(b.whole()), 0); len(s) > room {
		s, cut = strings.ToValidUTF8(s[:room], ""), true
	}
	p := paste{s, cut}
	for i, old := range b.pastes { // the history gives the same more than once
		if old == p {
			b.insert(string(pasteRune + rune(i)))
			return
		}
	}
	b.pastes = append(b.pastes[:len(b.pastes):len(b.pastes)], p)
	b.insert(string(pasteRune + rune(len(b.pastes)-1)))
}

// pasteOf returns the paste that a character stands for.
func (b *buffer) pasteOf(r rune) (paste, bool) {
	if i := int(r - pasteRune); i >= 0 && i < len(b.pastes) {
		return b.pastes[i], true
	}
	return paste{}, false
}

// shown is how a paste appears in the line.
func (p paste) shown() string {
	s := "[pasted " + strconv.Itoa(len(p.text)) + " bytes"
	if n := countLines(p.text); n > 1 {
		s = "[pasted " + strconv.Itoa(n) + " lines"
	}
	if p.cut {
		s += ", the rest does not fit"
	}
	return s + "]"
}

func countLines(s string) int { return strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1 }

// whole is the text with all pastes put in.
func (b *buffer) whole() string {
	if len(b.pastes) == 0 {
		return b.text
	}
	var out strings.Builder
	for _, r := range b.text {
		if p, ok := b.pasteOf(r); ok {
			out.WriteString(p.text)
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

func (b *buffer) next() int {
	n, _ := Cluster(b.text[b.pos:])
	return b.pos + n
}

// prev is the beginning of the cluster before the cursor. Clusters can only be
// found going forward, from the beginning of the line.
func (b *buffer) prev() int {
	if b.pos == 0 {
		return 0
	}
	i := strings.LastIndexByte(b.text[:b.pos-1], '\n') + 1
	for {
		n, _ := Cluster(b.text[i:])
		if n == 0 || i+n >= b.pos {
			return i
		}
		i += n
	}
}

func (b *buffer) lineStart() int { return strings.LastIndexByte(b.text[:b.pos], '\n') + 1 }

func (b *buffer) lineEnd() int {
	if i := strings.IndexByte(b.text[b.pos:], '\n'); i >= 0 {
		return b.pos + i
	}
	return len(b.text)
}

// cut removes the text between two offsets and returns it.
func (b *buffer) cut(from, to int) string {
	s := b.text[from:to]
	b.text = b.text[:from] + b.text[to:]
	b.pos = from
	return s
}

func isWord(c byte) bool {
	return c >= 0x80 || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func isInk(c byte) bool { return c != ' ' && c != '\t' && c != '\n' }

// left is the beginning of the word before the cursor.
func (b *buffer) left(in func(byte) bool) int {
	i := b.pos
	for i > 0 && !in(b.text[i-1]) {
		i--
	}
	for i > 0 && in(b.text[i-1]) {
		i--
	}
	return i
}

// right is the end of the word behind the cursor.
func (b *buffer) right() int {
	i := b.pos
	for i < len(b.text) && !isWord(b.text[i]) {
		i++
	}
	for i < len(b.text) && isWord(b.text[i]) {
		i++
	}
	return i
}

// vertical moves to the line above (-1) or below (+1), to the same column, and
// reports whether there is one.
func (b *buffer) vertical(step int) bool {
	column := Width(b.text[b.lineStart():b.pos])
	start := b.lineEnd() + 1
	if step < 0 {
		end := b.lineStart() - 1
		start = strings.LastIndexByte(b.text[:max(end, 0)], '\n') + 1
		if end < 0 {
			return false
		}
	}
	if start > len(b.text) {
		return false
	}
	b.pos = start
	b.pos += len(Truncate(b.text[start:b.lineEnd()], column))
	return true
}

// transpose exchanges the two clusters around the cursor.
func (b *buffer) transpose() {
	at := b.pos
	if b.pos == b.lineEnd() {
		b.pos = b.prev()
	}
	mid, end, start := b.pos, b.next(), b.prev()
	if mid <= b.lineStart() || end == mid {
		b.pos = at
		return
	}
	b.text = b.text[:start] + b.text[mid:end] + b.text[start:mid] + b.text[end:]
	b.pos = end
}
