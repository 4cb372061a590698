package cli

import (
	"strings"

	"cluade/lineedit"
)

// cutColumns shortens one line to at most max columns, the three dots that
// mark a cut included. max is at least 3.
func cutColumns(s string, max int) string {
	if lineedit.Width(s) <= max {
		return s
	}
	return lineedit.Truncate(s, max-3) + "..."
}

// wrapLines breaks a text into rows of a screen. The colours that we put into
// it take no column; nothing is cut. Where terminals differ a character counts
// what it takes at most, so that no row becomes two.
func wrapLines(text string, columns int) (rows []string) {
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		start, used := 0, 0
		for i := 0; i < len(line); {
			if strings.HasPrefix(line[i:], "\x1b[") {
				if end := strings.IndexByte(line[i:], 'm'); end >= 0 {
					i += end + 1
					continue
				}
			}
			size, w := lineedit.Cluster(line[i:])
			most := 0
			for _, r := range line[i : i+size] {
				if most += lineedit.RuneWidth(r); r >= 0x4dc0 && r <= 0x4dff { // wide since Unicode 16
					most++
				}
			}
			w = max(w, most)
			if used+w > columns && i > start {
				rows = append(rows, line[start:i])
				start, used = i, 0
			}
			used += w
			i += size
		}
		rows = append(rows, line[start:])
	}
	return rows
}

// asciiText replaces what a console without UTF-8 cannot show: punctuation and
// line drawing by their likeness, everything else by a question mark.
func asciiText(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r == 0xa0 || r >= 0x2000 && r <= 0x200a || r == 0x202f:
			b.WriteByte(' ')
		case r == '‘' || r == '’' || r == '‚' || r == '′':
			b.WriteByte('\'')
		case r == '“' || r == '”' || r == '„' || r == '″':
			b.WriteByte('"')
		case r >= 0x2010 && r <= 0x2015 || r == '−' || r == '─' || r == '━':
			b.WriteByte('-')
		case r == '│' || r == '┃':
			b.WriteByte('|')
		case r >= 0x2500 && r <= 0x257f:
			b.WriteByte('+')
		case r == '•' || r == '·' || r == '●' || r == '▪':
			b.WriteByte('*')
		case r == '…':
			b.WriteString("...")
		case r == '→':
			b.WriteString("->")
		case r == '←':
			b.WriteString("<-")
		case r == '×':
			b.WriteByte('x')
		case lineedit.RuneWidth(r) == 0:
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
