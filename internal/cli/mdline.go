package cli

import "strings"

// open finds out from its beginning what the present line is, and takes that
// beginning; false says that more of the line must come.
func (m *markdown) open() bool {
	if m.fence != "" {
		return m.openCode()
	}
	text, lead := indented(m.line)
	if m.style != 0 { // the words of the line before go on
		return m.openProse(text, lead)
	}
	inner, indent := text, ""
	if strings.HasPrefix(text, ">") && m.quoted == "" {
		inner, indent, _ = m.quotes(text, lead)
		inner = strings.TrimLeft(inner, " \t")
	}
	row := inner != "" && inner[0] == '|' && len(m.line) < maxRow
	if m.head = false; !row && inner == text && text != "" && (lead == 0 || len(m.table) > 0) && len(m.line) < maxRow {
		var known bool
		if row, known = m.bareRow(text); !known {
			m.head = len(m.table) == 0
			return false
		}
	}
	switch {
	case !m.whole && (row || inner == "" && len(m.line) < maxHeld):
		return false
	case row:
		m.addRow(inner, indent)
		return true
	}
	m.endTable()
	switch {
	case len(m.line)-len(text) >= maxHeld, lead >= 4 && !m.list && text != "":
		m.kind = verbatim
	case text == "":
		m.line, m.kind = "", verbatim
	default:
		return m.openBlock(text, lead)
	}
	return true
}

// indented is a line without its leading blanks, and their columns.
func indented(line string) (text string, lead int) {
	text = strings.TrimLeft(line, " \t")
	blank := line[:len(line)-len(text)]
	return text, len(blank) + 3*strings.Count(blank, "\t")
}

// openBlock is open for a line that is no code and no table.
func (m *markdown) openBlock(text string, lead int) bool {
	mark := text[:1]
	run := len(text) - len(strings.TrimLeft(text, mark))
	rest := text[run:]
	switch mark[0] {
	case '`', '~':
		n, known := m.fenceRun(text)
		if n > 0 {
			m.openFence(text, n, lead)
		}
		if n > 0 || !known {
			return known
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
	text, indent, depth := m.quotes(text, lead)
	switch {
	case depth == 0:
		m.quoted = ""
	case m.quoted != "":
		return m.quotedCode(text, indent)
	}
	n, known := listMark(text)
	if !m.whole && (!known || text == "") {
		return false
	}
	code, run := strings.TrimLeft(text, " "), 0
	if n+depth > 0 && len(text) < maxHeld {
		for next := n; next > 0; next, known = listMark(code) { // lists in lists
			code = strings.TrimLeft(code[next:], " ")
		}
		if known || m.whole {
			run, known = m.fenceRun(code)
		}
		if !known {
			return false
		}
	}
	if n > 0 || lead == 0 {
		m.list = n > 0
	}
	if run > 0 && depth > 0 {
		m.quoted = code[:run]
		m.kind, m.line = verbatim, text
		m.put(indent, 0)
		return true
	}
	if run > 0 {
		n = len(text) - len(code)
	}
	mark := text[:n]
	if n > 0 && (mark[0] == '*' || mark[0] == '+') {
		mark = "-" + mark[1:]
	}
	if len(indent)+n+4 >= m.width {
		indent = ""
	}
	m.put(indent+mark, 0)
	if run > 0 {
		m.openFence(code, run, lead+n)
		return true
	}
	m.kind, m.line = prose, text[n:]
	m.indent = indent + strings.Repeat(" ", n)
	return true
}

// quotes takes the signs of quotes from the beginning of text, and returns what
// stands for them and the blanks before them on the screen.
func (m *markdown) quotes(text string, lead int) (rest, indent string, depth int) {
	indent = strings.Repeat(" ", min(lead, maxIndent, m.width/3))
	for ; depth < maxQuotes && strings.HasPrefix(text, ">"); depth++ {
		if text = strings.TrimPrefix(text[1:], " "); len(indent)+4 < m.width {
			indent += "| "
		}
	}
	return text, indent, depth
}

// quotedCode begins a line of a code block in a quote, or ends the block.
func (m *markdown) quotedCode(text, indent string) bool {
	if signs := strings.Trim(text, " "); len(text) < maxHeld && strings.Trim(signs, m.quoted[:1]) == "" {
		if !m.whole {
			return false
		}
		if len(signs) >= len(m.quoted) {
			m.quoted = ""
		}
	}
	m.kind, m.line = verbatim, text
	m.put(indent, 0)
	return true
}

// fenceRun is the length of the run that opens a block of code, 0 if text opens
// none; known is false while more of it may.
func (m *markdown) fenceRun(text string) (n int, known bool) {
	switch {
	case text == "":
		return 0, m.whole
	case text[0] != '`' && text[0] != '~', len(text) >= maxHeld:
		return 0, true
	}
	n = runLength(text)
	switch {
	case n < 3 && n < len(text), m.whole && (n < 3 || text[0] == '`' && strings.Contains(text[n:], "`")):
		return 0, true
	case !m.whole:
		return 0, false
	}
	return n, true
}

// openFence begins a block of code, whose lines have lead blanks before them.
func (m *markdown) openFence(text string, run, lead int) {
	m.fence, m.lead = text[:run], lead
	m.rule(text, strings.TrimSpace(text[run:]))
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
	text, lead := indented(m.line)
	signs := strings.TrimRight(text, " ")
	if len(m.line) < maxHeld && strings.Trim(signs, m.fence[:1]) == "" && lead <= m.lead+3 {
		if !m.whole {
			return false
		}
		if len(signs) >= len(m.fence) {
			m.rule(signs, "")
			m.fence = ""
			return true
		}
	}
	for left := m.lead; left > 0 && m.line != text; left-- {
		if m.line[0] == '\t' {
			left -= 3
		}
		m.line = m.line[1:]
	}
	m.kind = verbatim
	return true
}
