package dangercheck

import "strings"

// fresh and said are bits of a place in a segment that a rule's text reaches:
// the run of text that goes on there has met none, or some, of the segment's own.
const (
	fresh = 1 << iota
	said
)

// MayBe reports whether a pattern of a rule, in which * is any text, could cover
// the segment by what its patterns of file names stand for. Those stand for no
// blank, no slash, and no hyphen or dot that begins a name, and each run of the
// rule's text needs some of the segment's own: a lone * says nothing of a name.
func (g *Segment) MayBe(pattern string) bool {
	if g.glob == "" || len(g.glob) > maxLook || len(pattern) > maxLook {
		return g.glob != ""
	}
	at, next := make([]byte, len(g.glob)+1), make([]byte, len(g.glob)+1)
	at[0] = fresh
	between := true // of two runs
	for i := range len(pattern) {
		g.skipStars(at)
		clear(next)
		c := pattern[i]
		if c == '*' {
			for j, reached := 0, false; j < len(at); j++ {
				if reached = reached || at[j]&said != 0 || between && at[j] != 0; reached {
					next[j] = fresh
				}
			}
		} else {
			begins := i > 0 && (pattern[i-1] == ' ' || pattern[i-1] == '/')
			g.step(at, next, c, c != ' ' && c != '/' && !(begins && (c == '-' || c == '.')))
		}
		at, next = next, at
		between = c == '*'
	}
	g.skipStars(at)
	last := at[len(g.glob)]
	return last&said != 0 || between && last != 0
}

// skipStars lets each * stand for nothing.
func (g *Segment) skipStars(at []byte) {
	for j := range len(g.glob) {
		if g.glob[j] == markStar {
			at[j+1] |= at[j]
		}
	}
}

// step goes on by one character of the rule, for which a pattern may stand.
func (g *Segment) step(at, next []byte, c byte, stands bool) {
	for j := range len(g.glob) {
		x := at[j]
		switch b := g.glob[j]; {
		case x == 0:
		case b == markStar && stands:
			next[j] |= x
		case b == markQuery && stands:
			next[j+1] |= x
		case b == markBracket && stands:
			end := strings.IndexByte(g.glob[j:], ']')
			next[j+max(end, 0)+1] |= x
		case b == c, b == markHome && c == '~':
			next[j+1] |= said
		}
	}
}
