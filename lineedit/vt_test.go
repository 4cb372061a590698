package lineedit

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// vt is a terminal as far as the editor knows one: it shows what is written to
// it. Like xterm it stays on the last column of a full row until more comes.
type vt struct {
	t             *testing.T
	columns, rows int
	cells         [][]string // "" behind a wide character
	row, col      int
	full          bool // the next character goes to the next row
	scrolled      int
	rest          string
}

func newVT(t *testing.T, columns, rows int) *vt {
	v := &vt{t: t, columns: columns, rows: rows}
	for range rows {
		v.cells = append(v.cells, v.blank())
	}
	return v
}

func (v *vt) blank() []string {
	line := make([]string, v.columns)
	for i := range line {
		line[i] = " "
	}
	return line
}

func (v *vt) Write(p []byte) (int, error) {
	s := v.rest + string(p)
	v.rest = ""
	for s != "" {
		n := v.take(s)
		if n == 0 {
			v.t.Errorf("the output ends in the middle: %q", s)
			break
		}
		s = s[n:]
	}
	return len(p), nil
}

// take shows the first thing of s and returns its bytes.
func (v *vt) take(s string) int {
	switch s[0] {
	case '\r':
		v.col, v.full = 0, false
		return 1
	case '\n':
		v.full = false
		v.down()
		return 1
	case '\b':
		v.col, v.full = max(v.col-1, 0), false
		return 1
	case 0x1b:
		i := 2
		for i < len(s) && s[i] < 0x40 {
			i++
		}
		if i >= len(s) || s[1] != '[' {
			return 0
		}
		v.csi(s[2:i], s[i])
		return i + 1
	}
	if r, n := utf8.DecodeRuneInString(s); isControl(r) || r == utf8.RuneError && n == 1 {
		v.t.Errorf("%q is written", s[:n])
		return n
	}
	n, w := Cluster(s)
	if w == 0 {
		v.t.Errorf("%q, which has no width, is written on its own", s[:n])
	}
	if v.full || v.col+w > v.columns {
		v.col, v.full = 0, false
		v.down()
	}
	v.cells[v.row][v.col] = s[:n]
	for i := 1; i < w; i++ {
		v.cells[v.row][v.col+i] = ""
	}
	if v.col += w; v.col == v.columns {
		v.col, v.full = v.columns-1, true
	}
	return n
}

func (v *vt) down() {
	if v.row < v.rows-1 {
		v.row++
		return
	}
	v.scrolled++
	v.cells = append(v.cells[1:], v.blank())
}

func (v *vt) csi(params string, final byte) {
	n, err := strconv.Atoi(params)
	if err != nil || n < 1 {
		n = 1
	}
	line := v.cells[v.row]
	switch final {
	case 'A':
		v.row = max(v.row-n, 0)
	case 'B':
		v.row = min(v.row+n, v.rows-1)
	case 'C':
		v.col = min(v.col+n, v.columns-1)
	case 'D':
		v.col = max(v.col-n, 0)
	case 'H':
		v.row, v.col = 0, 0
	case 'K':
		copy(line[v.col:], v.blank())
	case 'J':
		from := v.row + 1
		copy(line[v.col:], v.blank())
		if params == "2" {
			from = 0
		}
		for i := from; i < v.rows; i++ {
			v.cells[i] = v.blank()
		}
	case 'L':
		for range n {
			v.cells = append(v.cells[:v.rows-1:v.rows-1], v.blank())
			copy(v.cells[v.row+1:], v.cells[v.row:v.rows-1])
			v.cells[v.row] = v.blank()
		}
	case '@':
		old := append([]string(nil), line[v.col:]...)
		copy(line[v.col:], v.blank()[:n])
		copy(line[v.col+n:], old)
	case 'P':
		copy(line[v.col:], line[v.col+n:])
		copy(line[v.columns-n:], v.blank())
	case 'm', 'h', 'l':
		return
	default:
		v.t.Errorf("ESC [ %s %c is written", params, final)
	}
	v.full = false
}

// text is what is shown, with the cursor as |.
func (v *vt) text() string {
	var b strings.Builder
	for i, line := range v.cells {
		var s string
		for j, c := range line {
			if i == v.row && j == v.col {
				s += "|"
			}
			s += c
		}
		b.WriteString(strings.TrimRight(s, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
