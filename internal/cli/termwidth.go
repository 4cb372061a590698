package cli

import (
	"strings"
	"unicode"
)

// wideRanges are the blocks whose characters take two columns on a terminal:
// East Asian wide and full-width forms (Unicode Standard Annex 11), coarsely.
var wideRanges = [...][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
}

// runeColumns is how many columns a character takes.
func runeColumns(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wideRanges {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}

// cutColumns shortens one line to at most max columns, the three dots that
// mark a cut included. max is at least 3.
func cutColumns(s string, max int) string {
	end, used := 0, 0
	for i, r := range s {
		if used <= max-3 {
			end = i // up to here it fits together with the dots
		}
		if used += runeColumns(r); used > max {
			return s[:end] + "..."
		}
	}
	return s
}

// lastLines returns the last n lines of text as a terminal of that width shows
// them, without blank ones. It breaks where the width is full: what is left out
// matters more than where a word ends.
func lastLines(text string, n, width int) []string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		start, used := 0, 0
		for i, r := range line {
			w := runeColumns(r)
			if used+w > width && i > start {
				lines = append(lines, line[start:i])
				start, used = i, 0
			}
			used += w
		}
		lines = append(lines, line[start:])
	}
	return lines[max(0, len(lines)-n):]
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
		case runeColumns(r) == 0:
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
