package cli

import (
	"strings"

	"cluade/lineedit"
)

// markdown renders an answer for a terminal while it arrives. It is a state
// machine over lines: the beginning of a line decides what it is, then its
// words are written one by one. Held back are an undecided beginning or mark,
// the word at hand and a table. The lines of the text stay lines, nothing is
// joined, and what is copied from the screen is what the model wrote: code has
// no box and no indent, and its long lines are left to the terminal to break.
//
// It takes clean text and returns what to write, the same for every way to cut
// the text into pieces, except where pause came in between. The zero value with
// a width is ready for use.
type markdown struct {
	width  int  // columns that may be used
	styled bool // colours are on; without them the marks of the text stay
	uncut  bool // a word wider than a row is left to the terminal

	out      []byte
	line     string // what of the present line is not taken yet
	rest     string // what came behind the present line
	whole    bool   // the line's end has come
	force    bool   // nothing came for a moment, or will come: guess
	kind     lineKind
	list     bool // the last line that began at the left opened a list
	below    bool // the line before was one of words
	head     bool // held back because it may be that of a table
	table    []string
	tableLen int    // bytes in table
	quote    string // the signs of the quote that the table is in
	fence    string // the run that opened the code block; its end is as long
	lead     int    // blanks before the fence, which its lines have too
	quoted   string // the same run, of a code block in the quote at hand

	base    style // of the whole line
	style   style // of the text at hand
	under   style // what of it a _ began
	ticks   int   // length of the run that opened a code span, 0 outside
	prev    rune  // the character before, 0 at the line's beginning
	indent  string
	word    []byte
	pieces  []piece // of word
	spaces  int     // blanks owed before the next word
	joined  bool    // the word at hand goes on after a pause
	current style   // in force on the terminal
	col     int     // columns used in the present row
	ends    int     // line ends owed before the next text
	begun   bool    // something was written
}

// lineKind is what the present line is.
type lineKind byte

const (
	undecided lineKind = iota
	prose
	verbatim
	taken // as a whole
)

const (
	reach     = 80  // bytes in which the end of a mark is looked for
	maxHeld   = 512 // bytes that are held back undecided
	maxIndent = 16  // columns of it that are kept
	maxQuotes = 8   // quotes within quotes
	minWidth  = 8
)

// style is a set of looks.
type style byte

const (
	bold style = 1 << iota
	emphasis
	inCode
	faint
)

// piece is a part of a word in one style; end is its end in the word.
type piece struct {
	end   int
	style style
}

// write takes the next piece of the text and returns what can be shown.
func (m *markdown) write(text string) string {
	m.width = max(m.width, minWidth)
	m.rest += text
	m.lines()
	return m.take()
}

// lines goes through the text at hand as far as it is decided.
func (m *markdown) lines() {
	for {
		if !m.whole {
			line, rest, ended := strings.Cut(m.rest, "\n")
			m.line += line
			m.rest, m.whole = rest, ended
		}
		if !m.advance() {
			return
		}
		m.whole = false
	}
}

// pause says that nothing came for a moment: a word is shown as far as it came,
// a mark taken for what it probably is, and the row left free where a table is
// awaited.
func (m *markdown) pause() string {
	switch {
	case m.kind == prose, m.head:
		m.force = true
		m.lines()
		m.force = false
		if len(m.word) > 0 {
			m.endWord()
			m.joined = true
		}
	case len(m.table) > 0:
		m.endLines()
	}
	return m.take()
}

// end shows the rest and makes m ready for the next answer.
func (m *markdown) end() string {
	m.force = true
	out := m.write("\n")
	m.endTable()
	m.look(0)
	out += m.take()
	*m = markdown{width: m.width, styled: m.styled}
	return out
}

// interrupt says that somebody else ends the row and writes below. It returns
// what has to be written before that.
func (m *markdown) interrupt() string {
	m.look(0)
	m.col, m.spaces = 0, 0
	m.ends = max(m.ends-1, 0)
	return m.take()
}

// waits says that text is held back which a pause would show.
func (m *markdown) waits() bool {
	return m.head || m.kind == prose && len(m.word)+len(m.line)+len(m.rest) > 0
}

func (m *markdown) take() string {
	s := string(m.out)
	m.out = m.out[:0]
	return s
}

// advance goes through the present line as far as it is decided, and says
// whether that was all of it.
func (m *markdown) advance() bool {
	if m.kind == undecided && !m.open() {
		return false
	}
	end := none
	switch m.kind {
	case verbatim:
		m.put(m.line, 0)
		m.line = ""
	case prose:
		if m.words(); m.whole && m.line == "" {
			m.endWord()
			end = m.openMark()
		}
	}
	if !m.whole || m.line != "" && m.kind == prose || end == later {
		return false
	}
	style, ticks := m.style, m.ticks
	if m.endLine(); end == inReach {
		m.style, m.ticks = style, ticks
	}
	return true
}

func (m *markdown) words() {
	for m.line != "" && m.inline() {
	}
}

// inner takes all the words of s, in the midst of a line or between two.
func (m *markdown) inner(s string) {
	line, rest, whole, force := m.line, m.rest, m.whole, m.force
	m.line, m.rest, m.whole, m.force = s, "", true, true
	m.words()
	m.line, m.rest, m.whole, m.force = line, rest, whole, force
}

// endLine ends a line of the text.
func (m *markdown) endLine() {
	m.endWord()
	if m.kind != taken {
		m.endRow()
	}
	m.below = m.kind == prose && m.base == 0
	m.line, m.kind = "", undecided
	m.base, m.style, m.ticks, m.prev = 0, 0, 0, 0
	m.indent, m.spaces, m.joined = "", 0, false
}

func (m *markdown) endRow() {
	m.col = 0
	if m.begun {
		m.ends++
	}
}

// endLines writes the line ends that are owed. The last one of an answer never
// comes to that, so nothing empty stands below it.
func (m *markdown) endLines() {
	if m.ends > 0 {
		m.look(0)
	}
	for ; m.ends > 0; m.ends-- {
		m.out = append(m.out, '\n')
	}
}

// put writes text into the present row.
func (m *markdown) put(s string, st style) {
	if s == "" {
		return
	}
	m.endLines()
	m.look(st)
	m.out = append(m.out, s...)
	m.col += lineedit.Width(s)
	m.begun = true
}

// look switches the terminal to a style (ECMA-48, section 8.3.117).
func (m *markdown) look(st style) {
	if !m.styled || st == m.current {
		return
	}
	m.current = st
	m.out = append(m.out, "\x1b[0"...)
	for i, param := range [...]string{";1", ";4", ";36", ";2"} {
		if st&(1<<i) != 0 {
			m.out = append(m.out, param...)
		}
	}
	m.out = append(m.out, 'm')
}

// add puts text at the end of the word at hand.
func (m *markdown) add(s string) {
	m.word = append(m.word, s...)
	st := m.base | m.style
	if n := len(m.pieces); n > 0 && m.pieces[n-1].style == st {
		m.pieces[n-1].end = len(m.word)
		return
	}
	m.pieces = append(m.pieces, piece{len(m.word), st})
}

// endWord writes the word at hand, in the next row if this one is too short.
func (m *markdown) endWord() {
	if len(m.word) == 0 {
		return
	}
	width, start := 0, 0
	for _, p := range m.pieces {
		width += lineedit.Width(string(m.word[start:p.end]))
		start = p.end
	}
	if m.spaces > 0 && m.col+m.spaces >= m.width || m.col+m.spaces+width > m.width && !m.joined {
		m.nextRow()
	}
	if m.spaces = min(m.spaces, m.width-m.col-1); m.spaces > 0 {
		m.put(strings.Repeat(" ", m.spaces), m.pieces[0].style&m.current)
	}
	start = 0
	for _, p := range m.pieces {
		m.putLong(string(m.word[start:p.end]), p.style)
		start = p.end
	}
	m.word, m.pieces = m.word[:0], m.pieces[:0]
	m.spaces, m.joined = 0, false
}

// nextRow goes on below, unless that would bring no room.
func (m *markdown) nextRow() {
	if m.col <= len(m.indent) {
		return
	}
	m.endRow()
	m.spaces = 0
	m.put(m.indent, 0)
}

// putLong writes text that may be wider than a row.
func (m *markdown) putLong(s string, st style) {
	for s != "" {
		fits := s
		if !m.uncut {
			fits = lineedit.Truncate(s, m.width-m.col)
		}
		if fits == "" && m.col > len(m.indent) {
			m.nextRow()
			continue
		}
		if fits == "" {
			n, _ := lineedit.Cluster(s)
			fits = s[:n]
		}
		m.put(fits, st)
		s = s[len(fits):]
	}
}

// wrap says how text is broken into rows.
type wrap struct {
	indent string // of the rows behind the first
	col    int    // columns that are used in the first
	width  int
	uncut  bool // a word wider than a row is left to the terminal
}

// behind is text with a blank before it, broken into rows.
func (w wrap) behind(text string) string {
	m := markdown{width: max(w.width, minWidth), indent: w.indent, col: w.col, uncut: w.uncut, spaces: 1, begun: true, prev: ' '}
	m.addAll(text)
	m.endWord()
	return m.take()
}

// wrapText is text in rows, without its blank lines.
func wrapText(text string, width int) []string {
	m := markdown{width: max(width, minWidth)}
	for _, line := range strings.Split(text, "\n") {
		m.prev = ' ' // blanks at the beginning count
		m.addAll(line)
		m.endLine()
	}
	return strings.FieldsFunc(m.take(), func(r rune) bool { return r == '\n' })
}
