package lineedit

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cell is what stands in one place of the screen: a cluster with its columns.
type cell struct {
	s string
	w int
}

type row []cell

func (r row) width() int {
	n := 0
	for _, c := range r {
		n += c.w
	}
	return n
}

// layout is the prompt and the text as rows of cells, with the cursor.
type layout struct {
	columns  int
	rows     []row // all but the last
	last     row
	used     int // columns of the last
	row, col int
}

// lay puts prompt and text into rows of so many columns.
func lay(prompt string, b *buffer, columns int) *layout {
	l := &layout{columns: columns}
	for _, c := range promptCells(prompt) {
		l.put(c)
	}
	placed := false
	for i := 0; ; {
		if i >= b.pos && !placed {
			placed = true
			if l.used >= columns {
				l.breakRow()
			}
			l.row, l.col = len(l.rows), l.used
		}
		if i >= len(b.text) {
			break
		}
		if b.text[i] == '\n' {
			l.breakRow()
			i++
			continue
		}
		n, w := Cluster(b.text[i:])
		for _, c := range b.cells(b.text[i:i+n], w) {
			l.put(c)
		}
		i += n
	}
	l.rows = append(l.rows, l.last)
	return l
}

func (l *layout) put(c cell) {
	if c.w > l.columns { // nothing so wide fits at all
		c = cell{"?", 1}
	}
	if l.used+c.w > l.columns {
		l.breakRow()
	}
	l.last = append(l.last, c)
	l.used += c.w
}

func (l *layout) breakRow() {
	l.rows = append(l.rows, l.last)
	l.last, l.used = nil, 0
}

// cells are how one cluster of width w is shown.
func (b *buffer) cells(s string, w int) []cell {
	r, _ := utf8.DecodeRuneInString(s)
	if p, ok := b.pasteOf(r); ok {
		return asCells(p.shown())
	}
	return clusterCells(s, w)
}

// asCells are the cells of a text of ASCII.
func asCells(s string) (cells []cell) {
	for i := range s {
		cells = append(cells, cell{s[i : i+1], 1})
	}
	return cells
}

func clusterCells(s string, w int) []cell {
	r, n := utf8.DecodeRuneInString(s)
	switch {
	case isTurn(r): // would show what follows in another order than it is sent
		return asCells("<" + strconv.FormatInt(int64(r), 16) + ">")
	case r == '\t': // as wide everywhere, so that it does not change with what stands before it
		blank := cell{" ", 1}
		return []cell{blank, blank, blank, blank}
	case isControl(r), r == utf8.RuneError && n == 1:
		return []cell{{"?", 1}}
	case w == 0: // a mark with nothing to stand on
		return []cell{{" " + s, 1}}
	}
	return []cell{{s, w}}
}

// promptCells cuts a prompt into cells. Colour sequences (ESC [ ... m) belong
// to the cell behind them, the last to the one before.
func promptCells(s string) []cell {
	var out []cell
	pre := ""
	for s != "" {
		if strings.HasPrefix(s, "\x1b[") {
			if i := strings.IndexByte(s, 'm'); i > 0 {
				pre += s[:i+1]
				s = s[i+1:]
				continue
			}
		}
		n, w := Cluster(s)
		cells := clusterCells(s[:n], w)
		cells[0].s = pre + cells[0].s
		out = append(out, cells...)
		pre = ""
		s = s[n:]
	}
	if pre != "" && len(out) > 0 {
		out[len(out)-1].s += pre
	}
	return out
}

// screen knows what the terminal shows of the line, and writes only what
// changes. Rows count from the first of those shown; what does not fit into
// the height is left out around the cursor.
type screen struct {
	columns, height int
	rows            []row
	row, col        int // the cursor; col is columns when the row is just full
	top             int // first row of the layout that is shown
	out             bytes.Buffer
}

// paint shows a layout. The bytes to write are in out.
func (s *screen) paint(l *layout) {
	top := s.top
	rows := s.window(l)
	s.scroll(s.top - top)
	for i, r := range rows {
		if i >= len(s.rows) {
			s.move(i, 0)
			s.rows = append(s.rows, nil)
		}
		s.paintRow(i, s.rows[i], r)
		s.rows[i] = r
	}
	if n := len(rows); len(s.rows) > n {
		s.move(n, 0)
		s.out.WriteString("\x1b[J")
		s.rows = s.rows[:n]
	}
	s.move(l.row-s.top, l.col)
}

// window chooses the rows that fit into the height, with the cursor's.
func (s *screen) window(l *layout) []row {
	height := max(s.height, 1)
	if len(l.rows) <= height {
		s.top = 0
		return l.rows
	}
	switch {
	case l.row < s.top:
		s.top = l.row
	case l.row >= s.top+height:
		s.top = l.row - height + 1
	}
	s.top = min(s.top, len(l.rows)-height)
	return l.rows[s.top : s.top+height]
}

// scroll moves what is shown up by d rows, or down if d is negative, for rows
// that are in the window before and after. It must be full: only there the line
// feed of the last row and IL of ECMA-48 in the first move all that is shown.
func (s *screen) scroll(d int) {
	n := len(s.rows)
	if n != s.height || d == 0 || d >= n || -d >= n {
		return
	}
	rows := make([]row, n)
	if d > 0 {
		s.move(n-1, 0)
		for i := 0; i < d; i++ {
			s.out.WriteByte('\n')
		}
		copy(rows, s.rows[d:])
	} else {
		s.move(0, 0)
		s.escape(-d, 'L')
		copy(rows[-d:], s.rows)
	}
	s.rows = rows
}

// Behind a change of at most maxShift cells the terminal is told to shift what
// stands there, which costs about four bytes, if it is at least shiftCells.
const (
	maxShift   = 4
	shiftCells = 6
)

// paintRow brings one row from old to now: from the first cell that differs,
// with what stands behind it shifted if that is shorter (ICH and DCH of
// ECMA-48).
func (s *screen) paintRow(i int, old, now row) {
	same := equalCells(old, now)
	at := now[:same].width()
	old, now = old[same:], now[same:]
	if len(old) == 0 && len(now) == 0 {
		return
	}
	s.move(i, at)
	for n := 1; n < len(now) && n <= maxShift; n++ { // inserted; what stood at the end may be pushed out
		k := equalCells(old, now[n:])
		if k >= shiftCells && k == len(now)-n && (k == len(old) || at+now.width() == s.columns) {
			s.escape(now[:n].width(), '@')
			s.put(now[:n])
			return
		}
	}
	for n := 1; n < len(old) && n <= maxShift; n++ { // taken out; what follows may move up to the end
		k := equalCells(old[n:], now)
		if k >= shiftCells && k == len(old)-n {
			s.escape(old[:n].width(), 'P')
			if rest := now[k:]; len(rest) > 0 {
				s.move(i, at+now[:k].width())
				s.put(rest)
			}
			return
		}
	}
	s.put(now)
	if old.width() > now.width() {
		s.out.WriteString("\x1b[K")
	}
}

// equalCells is how many cells two rows begin with in common.
func equalCells(a, b row) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func (s *screen) put(cells row) {
	for _, c := range cells {
		s.out.WriteString(c.s)
		s.col += c.w
	}
}

// move takes the cursor to a row and column. A row that is not there yet is
// made by a line feed. On a terminal the cursor of a full row stands on its last
// column, or behind it: it is only left by an absolute way.
func (s *screen) move(row, col int) {
	for made := len(s.rows); row >= made && s.row < row; {
		if s.row < made-1 {
			s.vertical(made - 1 - s.row)
			s.row = made - 1
		}
		s.out.WriteString("\r\n")
		s.row, s.col = s.row+1, 0
	}
	if row != s.row && s.col >= s.columns || col < s.col && s.col >= s.columns {
		s.out.WriteByte('\r')
		s.col = 0
	}
	s.vertical(row - s.row)
	s.row = row
	d := col - s.col
	s.col = col
	switch {
	case d == 0:
	case col == 0:
		s.out.WriteByte('\r')
	case d < 0 && d >= -3:
		s.out.WriteString("\b\b\b"[:-d])
	case d < 0:
		s.escape(-d, 'D')
	default:
		s.escape(d, 'C')
	}
}

func (s *screen) vertical(d int) {
	switch {
	case d < 0:
		s.escape(-d, 'A')
	case d > 0:
		s.escape(d, 'B')
	}
}

// escape writes ESC [ n final.
func (s *screen) escape(n int, final byte) {
	s.out.WriteString("\x1b[")
	if n > 1 {
		s.out.WriteString(strconv.Itoa(n))
	}
	s.out.WriteByte(final)
}

// forget drops what is known of the terminal: the cursor stands at the
// beginning of an empty row.
func (s *screen) forget() { s.rows, s.row, s.col, s.top = nil, 0, 0, 0 }

// leave puts the cursor behind everything that is shown, where a line end is to
// follow.
func (s *screen) leave() {
	if last := len(s.rows) - 1; last >= 0 {
		s.move(last, s.rows[last].width())
	}
	s.forget()
}

// resize takes a new size and clears what is shown, to be painted anew. A
// terminal that became narrower has broken each row into several.
func (s *screen) resize(columns, height int) {
	up := min(s.col, s.columns-1) / columns
	for _, r := range s.rows[:min(s.row, len(s.rows))] {
		up += max(1, (r.width()+columns-1)/columns)
	}
	s.out.WriteByte('\r')
	s.vertical(-min(up, max(height-1, 0)))
	s.out.WriteString("\x1b[J")
	s.columns, s.height = columns, height
	s.forget()
}
