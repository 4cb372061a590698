package tools

import "strings"

// listing collects result lines up to a number and a size, so that the notes
// behind them always fit.
type listing struct {
	b      strings.Builder
	lines  int
	max    int
	room   int
	capped bool // a line was refused
}

// reserved is kept free for notes.
const reserved = 1024

func newListing(keep, max int) *listing { return &listing{max: max, room: keep - reserved} }

// add takes a line; false means that the listing is full and it was not taken.
func (l *listing) add(line string) bool {
	if l.lines == l.max || l.lines > 0 && l.b.Len()+len(line) >= l.room {
		l.capped = true
		return false
	}
	l.b.WriteString(line + "\n")
	l.lines++
	return true
}

// text is the listing with its notes, one a line. limit is said when a line
// was refused; only a whole search may say that nothing matches.
func (l *listing) text(limit string, whole bool, notes []string) string {
	if l.capped {
		if l.lines < l.max {
			limit = "[the result is full; narrow the pattern or path]"
		}
		notes = append([]string{limit}, notes...)
	}
	text := l.b.String()
	if text == "" && whole {
		text = "(no matches)\n"
	}
	return strings.TrimSuffix(text+strings.Join(notes, "\n"), "\n")
}
