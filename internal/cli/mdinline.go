package cli

import (
	"strings"
	"unicode/utf8"

	"cluade/lineedit"
)

// inline takes the next character or mark of a line of words; false says that
// more of the line must come.
func (m *markdown) inline() bool {
	rest := m.line
	n := 0
	switch c := rest[0]; {
	case m.ticks > 0 && c == '`':
		n = m.closeCode(rest)
	case m.ticks > 0:
	case c == '[', c == '!':
		n = m.link(rest)
	case !m.styled:
	case c == '`':
		n = m.openSpan(rest)
	case c == '*', c == '_':
		n = m.emphasis(rest)
	case c == '\\':
		n = m.backslash(rest)
	case c == '#' && m.base == bold && m.prev == ' ' && len(rest) < maxHeld && strings.Trim(rest, "# ") == "": // closing signs of a heading
		if n = len(rest); !m.whole {
			n = wait
		}
	}
	if n == 0 {
		n = m.atom(rest, m.whole || m.force)
	}
	if n == wait {
		return false
	}
	m.line = rest[n:]
	return true
}

// wait is returned in the place of a length while more text must come.
const wait = -1

// atom takes the next character, blank or run of plain letters as it stands and
// returns its length. A character counts when nothing can join it any more.
func (m *markdown) atom(rest string, whole bool) int {
	if rest[0] == ' ' || rest[0] == '\t' {
		m.endWord()
		if m.prev != 0 {
			m.spaces++
			m.joined = false
			m.prev = ' '
		}
		return 1
	}
	n := 0
	for n < len(rest) && rest[n] > ' ' && rest[n] < utf8.RuneSelf && (n == 0 || strings.IndexByte("`*_[!\\#", rest[n]) < 0) {
		n++
	}
	if n > 0 {
		m.addText(rest[:n])
		return n
	}
	n, width := lineedit.Cluster(rest)
	switch {
	case n == len(rest) && !whole:
		return wait
	case width == 2: // a row may break before and after it
		m.endWord()
		m.addText(rest[:n])
		m.endWord()
	default:
		m.addText(rest[:n])
	}
	return n
}

func (m *markdown) addText(s string) {
	m.add(s)
	m.prev, _ = utf8.DecodeLastRuneInString(s)
}

// addAll takes all of s as it stands.
func (m *markdown) addAll(s string) {
	for s != "" {
		s = s[m.atom(s, true):]
	}
}

// backslash takes one before a sign or a line's end that makes words of it. At the
// end of a paragraph it is text.
func (m *markdown) backslash(rest string) int {
	switch {
	case len(rest) > 1 && rest[1] > ' ' && rest[1] < 0x7f && (rest[1] == '_' || !wordRune(rune(rest[1]))):
		m.addText(rest[1:2])
		return 2
	case len(rest) > 1:
		return 0
	case !m.whole:
		return wait
	}
	switch next, whole := m.ahead(); {
	case next != "":
		return 1
	case !whole:
		return wait
	}
	return 0
}

// openSpan takes the backticks before a span of code. Without an end in reach
// they are text.
func (m *markdown) openSpan(rest string) int {
	n := runLength(rest)
	end := m.closing(rest, n)
	switch {
	case end == later && !m.force:
		return wait
	case end == none, end != inReach && (n == len(rest) || rest[n] == ' '):
		m.addText(rest[:n])
	default:
		m.ticks = n
		m.style |= inCode
	}
	return n
}

func (m *markdown) closeCode(rest string) int {
	n := runLength(rest)
	switch {
	case n == len(rest) && n < maxHeld && !m.whole:
		return wait
	case n == m.ticks:
		m.ticks = 0
		m.style &^= inCode
		m.prev = '`'
	default:
		m.addText(rest[:n])
	}
	return n
}

// runLength is the number of times that the first character stands there, as
// far as that matters.
func runLength(s string) int {
	n := 1
	for n < len(s) && n < maxHeld && s[n] == s[0] {
		n++
	}
	return n
}

// What is known of a mark's end.
const (
	none    = iota
	inReach // it is there
	later   // it may be in what comes next
	far     // it is not in reach
)

// closing looks for the run of exactly n marks that ends what the n marks at
// the beginning of rest open.
func (m *markdown) closing(rest string, n int) int {
	c, whole, short := rest[0], m.whole, m.whole && len(rest) < reach
	if short {
		var next string
		next, whole = m.ahead()
		rest += next
	}
	for i := n; i < min(len(rest), reach); {
		if rest[i] != c {
			if rest[i] == '\\' && c != '`' {
				i++
			}
			i++
			continue
		}
		run := runLength(rest[i:])
		if i+run == len(rest) && run < maxHeld && !whole {
			return later
		}
		before, _ := utf8.DecodeLastRuneInString(rest[:i])
		if (run == n || run == 3 && n < 3 && c == '*') && (c == '`' || closes(c, before, nextRune(rest[i+run:]))) {
			return inReach
		}
		i += run
	}
	switch {
	case len(rest) >= reach && !short:
		return far
	case len(rest) >= reach, whole:
		return none
	}
	return later
}

// openMark looks for the end of what is open at the end of a line in the next.
func (m *markdown) openMark() int {
	mark := strings.Repeat("`", m.ticks)
	if m.ticks == 0 {
		mark = [...]string{"", "**", "*", "***"}[m.style&(bold|emphasis)]
	}
	if mark == "" {
		return none
	}
	if m.ticks == 0 && m.style&m.under != 0 {
		mark = strings.Repeat("_", len(mark))
	}
	return m.closing(mark, len(mark))
}

// ahead is what goes on with the words of the present line in the next ones, each
// with a blank before it; whole says that no more will come, or count.
func (m *markdown) ahead() (text string, whole bool) {
	if m.base != 0 { // a heading is one line
		return "", true
	}
	rest := m.rest[:min(len(m.rest), maxHeld)]
	all, ended := len(rest) == maxHeld || m.force, true
	for ended && len(text) < reach {
		var line string
		line, rest, ended = strings.Cut(rest, "\n")
		line = strings.TrimLeft(line, " \t")
		n, known := listMark(line)
		switch {
		case !ended && (len(line) < 2 || !known):
			return text, all
		case line == "", n > 0, !known, strings.IndexByte("#>|", line[0]) >= 0,
			strings.IndexByte("-*_`~", line[0]) >= 0 && strings.HasPrefix(line[1:], line[:1]): // a rule or a fence
			return text, true
		}
		text += " " + line
	}
	return text, all || ended
}

// emphasis takes * ** *** and the same of _, which count if they touch a word
// as an opening or closing mark does and, to open, have an end in reach. What
// may be long is believed without.
func (m *markdown) emphasis(rest string) int {
	n := runLength(rest)
	if n == len(rest) && n < maxHeld && !m.whole {
		return wait
	}
	before := m.prev != 0 && m.prev != ' '
	if open := m.style & (bold | emphasis); n == 3 && before && rest[0] == '*' && (open == bold || open == emphasis) { // ends one, begins another
		n -= int(open)
	}
	next := nextRune(rest[n:])
	after := n < len(rest) && strings.IndexByte(" \t./", rest[n]) < 0
	if n > 1 && (next == '.' || next == '/') { // *.c is a file, **/x/** are files
		inner, _, ended := strings.Cut(rest[n:], rest[:n])
		after = !ended || inner[len(inner)-1] != '/'
	}
	looks := [...]style{0, emphasis, bold, emphasis | bold, 0}[min(n, 4)]
	inWord := wordRune(m.prev) && (rest[0] == '_' || n == 1 && m.prev < utf8.RuneSelf)
	under := looks
	if rest[0] == '*' {
		under = 0
	}
	switch {
	case looks == 0:
	case m.style&looks == looks && m.under&looks == under && closes(rest[0], m.prev, next):
		m.style &^= looks
		m.prev = '*'
		return n
	case after && m.style&looks == 0 && !inWord:
		end := m.closing(rest, n)
		guess := rest[0] == '*' && wordRune(next) && (end == far && n == 2 || end == later && m.force)
		switch {
		case end == later && !guess:
			return wait
		case end == inReach || guess:
			m.style |= looks
			m.under = m.under&^looks | under
			return n
		}
	}
	m.addText(rest[:n])
	return n
}

// closes reports whether a mark between two characters may end something. One
// behind a sign and before a word can only begin it, as in f(*p), but behind the
// signs that end words themselves. Between words _ is a letter.
func closes(mark byte, before, next rune) bool {
	switch {
	case before == 0, before == ' ', mark == '_' && wordRune(next):
		return false
	}
	return wordRune(before) || !wordRune(next) || next >= utf8.RuneSelf || strings.ContainsRune(")]}`.!?*", before)
}

// nextRune is the first character of s, 0 of nothing.
func nextRune(s string) rune {
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

// wordRune says that r belongs to a word. Beyond ASCII everything does.
func wordRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r >= utf8.RuneSelf
}

// link takes [text](url) and ![text](url), shown as text (url).
func (m *markdown) link(rest string) int {
	open := strings.IndexByte("[!", rest[0]) // where the bracket must be
	unknown := !m.whole && len(rest) < maxHeld
	switch {
	case rest == "!" && unknown:
		return wait
	case rest[open:] == "" || rest[open] != '[':
		m.addText(rest[:1])
		return 1
	}
	reach := rest[:min(len(rest), maxHeld)]
	mid := closingBracket(reach, open)
	if mid < 0 || mid+1 == len(reach) || reach[mid+1] == '(' {
		end := -1
		if mid >= 0 && mid+1 < len(reach) {
			end = closingBracket(reach, mid+1)
		}
		if end < 0 && unknown {
			return wait
		}
		if end > 0 {
			m.addLink(reach[open+1:mid], reach[mid+2:end])
			return end + 1
		}
	}
	m.addText(rest[:open+1])
	return open + 1
}

// closingBracket is the place of the bracket that closes the one at i, -1 if
// there is none.
func closingBracket(s string, i int) int {
	open, end, depth := s[i], byte(']'), 0
	if open == '(' {
		end = ')'
	}
	for ; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// addLink writes a link; a title behind its address is left out.
func (m *markdown) addLink(text, url string) {
	url = strings.TrimSpace(url)
	if inner, _, ok := strings.Cut(url, ">"); ok && url[0] == '<' {
		url = inner[1:]
	} else {
		url, _, _ = strings.Cut(url, " ")
	}
	if text == "" || text == url {
		m.addAll(url)
		return
	}
	style := m.style
	m.inner(text)
	m.style, m.ticks = m.style&style, 0
	if url != "" && url[0] != '#' {
		m.addAll(" (" + url + ")")
	}
}
