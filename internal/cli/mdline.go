package cli

import "strings"

// open finds out from its beginning what the present line is, and takes that
// beginning; false says that more of the line must come.
func (m *markdown) open() bool {
	if m.fence != "" {
		return m.openCode()
	}
	text := strings.TrimLeft(m.line, " \t")
	blank := m.line[:len(m.line)-len(text)]
	if len(blank) < maxHeld && text == "" && !m.whole || text != "" && text[0] == '|' && !m.whole && len(m.line) < maxRow {
		return false
	}
	if text != "" && text[0] == '|' && len(m.line) < maxRow {
		m.addRow(m.line)
		return true
	}
	m.endTable()
	lead := len(blank) + 3*strings.Count(blank, "\t")
	switch {
	case len(blank) >= maxHeld, lead >= 4 && !m.list && text != "":
		m.kind = verbatim
	case text == "":
		m.line, m.kind = "", verbatim
	default:
		return m.openBlock(text, lead)
	}
	return true
}

// openBlock is open for a line that is no code and no table.
func (m *markdown) openBlock(text string, lead int) bool {
	mark := text[:1]
	run := len(text) - len(strings.TrimLeft(text, mark))
	rest := text[run:]
	switch mark[0] {
	case '`', '~':
		if !m.whole && len(text) < maxHeld && (rest == "" || run >= 3) {
			return false
		}
		if m.whole && len(text) < maxHeld && run >= 3 && !strings.Contains(rest, "`") {
			m.fence, m.lead = text[:run], lead
			m.rule(text, strings.TrimSpace(rest))
			return true
		}
	case '#':
		if rest == "" && run <= 6 && !m.whole {
			return false
		}
		if run <= 6 && (rest == "" || rest[0] == ' ') {
			m.heading(text, rest)
			return true
		}
	case '-', '*', '_', '+':
		switch signs := len(text) < maxHeld && strings.Trim(text, mark+" ") == ""; {
		case signs && !m.whole:
			return false
		case signs && mark != "+" && strings.Count(text, mark) >= 3:
			m.rule(text, "")
			return true
		}
	}
	return m.openProse(text, lead)
}

// heading begins a heading. Without styles its signs stay.
func (m *markdown) heading(text, rest string) {
	m.list = false
	m.kind, m.base, m.line = prose, bold, rest
	if !m.styled {
		m.line = text
	}
}

// openProse begins a line of words, with the marks of quotes and lists before
// them. The rows behind the first hang below the text.
func (m *markdown) openProse(text string, lead int) bool {
	indent := strings.Repeat(" ", min(lead, maxIndent, m.width/3))
	depth := 0
	for ; depth < maxQuotes && strings.HasPrefix(text, ">"); depth++ {
		if text = strings.TrimPrefix(text[1:], " "); len(indent)+4 < m.width {
			indent += "| "
		}
	}
	fence := strings.HasPrefix(text, "```") && !strings.Contains(strings.TrimLeft(text, "`"), "`")
	switch {
	case depth == 0:
		m.quoted = false
	case !m.whole && len(text) < maxHeld && (fence || strings.Trim(text, "`") == ""):
		return false
	case fence || m.quoted:
		m.quoted = m.quoted != fence
		m.kind, m.line = verbatim, text
		m.put(indent, 0)
		return true
	}
	n, known := listMark(text)
	if !m.whole && (!known || text == "") {
		return false
	}
	if n > 0 || lead == 0 {
		m.list = n > 0
	}
	mark := text[:n]
	if n > 0 && (mark[0] == '*' || mark[0] == '+') {
		mark = "-" + mark[1:]
	}
	if len(indent)+n+4 >= m.width {
		indent = ""
	}
	m.kind, m.line = prose, text[n:]
	m.indent = indent + strings.Repeat(" ", n)
	m.put(indent+mark, 0)
	return true
}

// listMark is the length of "- " or "12. "; known is false while more of the
// text may make it one.
func listMark(text string) (n int, known bool) {
	n = len(text) - len(strings.TrimLeft(text, "0123456789"))
	switch {
	case n > 4:
		return 0, true
	case n == len(text):
		return 0, n == 0
	case n > 0 && text[n] != '.' && text[n] != ')', n == 0 && text[0] != '-' && text[0] != '*' && text[0] != '+':
		return 0, true
	case n+1 == len(text):
		return 0, false
	case text[n+1] != ' ':
		return 0, true
	}
	return n + 2, true
}

// rule draws a dim line in the place of a whole line of signs, with a word in
// it. Without styles the signs stay.
func (m *markdown) rule(signs, word string) {
	m.line, m.kind, m.list = "", verbatim, m.list && m.fence != ""
	if m.styled {
		signs = strings.TrimRight("--- "+word, " ")
	}
	m.putLong(signs, faint)
}

// openCode begins a line of a code block, or ends the block.
func (m *markdown) openCode() bool {
	text := strings.TrimLeft(m.line, " ")
	blank := len(m.line) - len(text)
	signs := strings.TrimRight(text, " ")
	if len(m.line) < maxHeld && strings.Trim(signs, m.fence[:1]) == "" && blank <= m.lead+3 {
		if !m.whole {
			return false
		}
		if len(signs) >= len(m.fence) {
			m.rule(signs, "")
			m.fence = ""
			return true
		}
	}
	m.line = m.line[min(blank, m.lead):]
	m.kind = verbatim
	return true
}
