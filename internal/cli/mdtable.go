package cli

import (
	"strings"

	"cluade/lineedit"
)

const (
	minColumn    = 6 // columns below which nobody reads a table's column any more
	maxRow       = 8 << 10
	headReach    = 24 // bytes of a paragraph in which a table's first bar is looked for
	maxTableRows = 200
	maxTableLen  = 64 << 10
)

// addRow takes a line that may be a row, behind the signs of a quote. The first two
// tell whether it is a table; one that is too long is text from there on.
func (m *markdown) addRow(line, quote string) {
	if quote != m.quote {
		m.endTable()
	}
	m.quote = quote
	m.table = append(m.table, line)
	m.tableLen += len(line)
	if len(m.table) == 2 && !isSeparator(line) || len(m.table) > maxTableRows || m.tableLen > maxTableLen {
		m.endTable()
	}
	m.line, m.kind = "", taken
}

// bareRow says whether text is a row of a table without a bar before it. The first
// one begins a paragraph and has a bar behind a word or two: no more of a text is
// held back for it. The second tells. The next are what has a bar, and no other
// mark. In a table whose first row has a bar before it all rows have.
func (m *markdown) bareRow(text string) (row, known bool) {
	bar := strings.IndexByte(text, '|')
	signs := strings.Trim(text, "|-: \t") == ""
	mark, _ := listMark(text)
	switch {
	case len(m.table) > 0 && (m.quote != "" || m.table[0][0] == '|'):
		return false, true
	case len(m.table) == 1:
		return signs && bar >= 0, m.whole || !signs
	case mark > 0, strings.IndexByte("#>~", text[0]) >= 0:
		return false, true
	case len(m.table) > 0:
		return bar >= 0, m.whole || bar >= 0
	case m.below, bar > 0 && (text[bar-1] == '\\' || strings.Count(text[:bar], "`")%2 > 0):
		return false, true
	}
	cell := text
	if bar >= 0 {
		cell = text[:bar]
	}
	long := len(cell) >= headReach || strings.Count(strings.TrimRight(cell, " "), " ") > 1
	return bar >= 0 && !long, bar >= 0 || long || m.whole || m.force
}

// endTable shows the rows held back: as a table, or as records where the window
// is too narrow for its columns.
func (m *markdown) endTable() {
	rows := m.table
	if len(rows) == 0 {
		return
	}
	long := len(rows) > maxTableRows || m.tableLen > maxTableLen
	m.table, m.tableLen = nil, 0
	if long || len(rows) < 2 || !isSeparator(rows[1]) {
		for _, r := range rows {
			m.put(m.quote, 0)
			m.indent = m.quote
			m.prose(r)
		}
		return
	}
	var cells [][]string
	n := 0
	for i, r := range rows {
		if i != 1 {
			cells = append(cells, splitRow(r))
			n = max(n, len(cells[len(cells)-1]))
		}
	}
	widths := make([]int, n)
	for y, row := range cells {
		for x, c := range row {
			for _, l := range m.cell(c, 1<<20, y == 0) {
				widths[x] = max(widths[x], shownWidth(l), 1)
			}
		}
	}
	if !shrink(widths, m.width-len(m.quote)-3*(n-1)) {
		m.records(cells)
		return
	}
	right := splitRow(rows[1])
	for y, row := range cells {
		m.tableRow(row, widths, right, y == 0)
	}
}

// prose writes one line of words, in the middle of others.
func (m *markdown) prose(s string) {
	line := m.line
	m.kind = prose
	m.inner(s)
	m.endLine()
	m.line = line
}

// record writes one cell of a row that is shown as lines.
func (m *markdown) record(name, text string) {
	line := m.line
	m.put(m.quote, 0)
	m.indent = m.quote + "  "
	m.base = bold
	m.inner(name)
	m.base, m.style, m.ticks = 0, 0, 0
	m.atom(" ", true)
	m.inner(strings.ReplaceAll(text, "<br>", " "))
	m.endLine()
	m.line = line
}

func isSeparator(line string) bool {
	return strings.Contains(line, "-") && strings.Trim(line, "|-: \t") == ""
}

// splitRow cuts a row at the bars that are no text.
func splitRow(line string) []string {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	var cells []string
	var cell []byte
	code := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell = append(cell, '|')
			i++
		case c == '|' && (!code || !strings.Contains(line[i:], "`")):
			cells = append(cells, strings.TrimSpace(string(cell)))
			cell, code = cell[:0], false
		default:
			code = code != (c == '`')
			cell = append(cell, c)
		}
	}
	if rest := strings.TrimSpace(string(cell)); rest != "" || len(cells) == 0 {
		cells = append(cells, rest)
	}
	return cells
}

// cell renders a cell into rows of that width.
func (m *markdown) cell(text string, width int, head bool) []string {
	sub := markdown{width: width, styled: m.styled}
	for _, part := range strings.Split(text, "<br>") {
		if head {
			sub.base = bold
		}
		sub.prose(part)
	}
	sub.look(0)
	return strings.Split(sub.take(), "\n")
}

// shownWidth is the number of columns of a row that was rendered.
func shownWidth(s string) int {
	n := 0
	for {
		text, rest, styled := strings.Cut(s, "\x1b[")
		n += lineedit.Width(text)
		if !styled {
			return n
		}
		_, s, _ = strings.Cut(rest, "m")
	}
}

// shrink takes columns away from the widest until all fit into room; false says
// that one would get too narrow.
func shrink(widths []int, room int) bool {
	sum := 0
	for _, w := range widths {
		sum += w
	}
	for ; sum > room; sum-- {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= minColumn {
			return false
		}
		widths[widest]--
	}
	return true
}

// tableRow writes one row, in as many lines as its longest cell needs, and a
// dim rule below the head.
func (m *markdown) tableRow(row []string, widths []int, align []string, head bool) {
	cells := make([][]string, len(row))
	height := 1
	for x, c := range row {
		cells[x] = m.cell(c, widths[x], head)
		height = max(height, len(cells[x]))
	}
	for y := range height {
		var line strings.Builder
		owed := 0
		for x := range row {
			text := ""
			if y < len(cells[x]) {
				text = cells[x][y]
			}
			blank := widths[x] - shownWidth(text)
			if x < len(align) && strings.HasSuffix(align[x], ":") && !strings.HasPrefix(align[x], ":") {
				owed, blank = owed+blank, 0
			}
			line.WriteString(strings.Repeat(" ", owed) + text)
			if owed = blank; x < len(row)-1 {
				line.WriteString(strings.Repeat(" ", owed) + " | ")
				owed = 0
			}
		}
		m.put(m.quote+strings.TrimRight(line.String(), " "), 0)
		m.endRow()
	}
	if head {
		var rule []string
		for _, w := range widths {
			rule = append(rule, strings.Repeat("-", w))
		}
		m.put(m.quote, 0)
		m.put(strings.Join(rule, "-+-"), faint)
		m.endRow()
	}
}

// records shows a table that is too wide, a line for each cell.
func (m *markdown) records(cells [][]string) {
	for y, row := range cells[1:] {
		if y > 0 {
			m.put(m.quote, 0)
			m.endRow()
		}
		for x, c := range row {
			name := ""
			if x < len(cells[0]) {
				name = cells[0][x] + ":"
			}
			if c != "" {
				m.record(name, c)
			}
		}
	}
}
