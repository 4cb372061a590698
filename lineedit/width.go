package lineedit

import (
	"sort"
	"unicode/utf8"
)

// RuneWidth is the number of columns a character takes on a terminal: 0, 1 or
// 2. Control characters count 0.
func RuneWidth(r rune) int {
	switch {
	case r < 0x20 || r >= 0x7f && r < 0xa0:
		return 0
	case r < 0x300:
		return 1
	case inRanges(zeroRanges[:], r):
		return 0
	case inRanges(wideRanges[:], r):
		return 2
	}
	return 1
}

func inRanges(t [][2]uint32, r rune) bool {
	i := sort.Search(len(t), func(i int) bool { return t[i][1] >= uint32(r) })
	return i < len(t) && t[i][0] <= uint32(r)
}

const (
	zeroWidthJoiner   = '\u200d'
	emojiPresentation = '\ufe0f'
)

// Cluster returns the length in bytes and the columns of the first character
// of s as a person sees it: with its combining marks, joined emoji, a flag of
// two letters.
func Cluster(s string) (size, width int) {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return 0, 0
	}
	width = RuneWidth(r)
	if isTurn(r) {
		return size, 0
	}
	if isFlagLetter(r) {
		width = 1
		if r2, n := utf8.DecodeRuneInString(s[size:]); isFlagLetter(r2) {
			size, width = size+n, 2
		}
		r = 0 // takes marks, but is no picture that others join
	}
	for size < len(s) {
		next, n := utf8.DecodeRuneInString(s[size:])
		switch {
		case next == zeroWidthJoiner:
			size += n
			if joined, m := utf8.DecodeRuneInString(s[size:]); m > 0 && isPictograph(r) && isPictograph(joined) {
				size += m
			}
		case next == emojiPresentation:
			size += n
			if isPictograph(r) || r > 0 && r < 0x80 { // of ASCII the keycaps
				width = 2
			}
		case next >= 0x1f3fb && next <= 0x1f3ff && isPictograph(r): // skin tones
			size += n
		case next >= 0x20 && RuneWidth(next) == 0 && next != utf8.RuneError && !isControl(next) && !isTurn(next):
			size += n
		default:
			return size, width
		}
	}
	return size, width
}

func isControl(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }

// isTurn says that r is a mark that turns the direction of writing (UAX 9). It
// is a cluster of its own, so that it can be shown.
func isTurn(r rune) bool {
	return r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

func isFlagLetter(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

func isPictograph(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0x3030 || r == 0x303d || r == 0xa9 || r == 0xae
}

// Width is the number of columns of s on one line. Control characters count
// nothing, so s should hold none.
func Width(s string) int {
	n := 0
	for s != "" {
		size, w := Cluster(s)
		n += w
		s = s[size:]
	}
	return n
}

// Truncate returns the longest beginning of s that fits into columns.
func Truncate(s string, columns int) string {
	n := 0
	for i := 0; i < len(s); {
		size, w := Cluster(s[i:])
		if n+w > columns {
			return s[:i]
		}
		n += w
		i += size
	}
	return s
}
