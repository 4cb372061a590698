package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxPattern = 4096 // bytes of a pattern, for glob and grep
	maxBraces  = 200  // alternatives that the braces of one pattern may give
)

// expandBraces writes out {a,b}: each alternative becomes a pattern of its
// own, also where it holds a slash. Braces without a comma, or without their
// partner, and characters behind a backslash stand for themselves. A set that
// is not closed is an error.
func expandBraces(pattern string) ([]string, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	done, todo := []string(nil), []string{pattern}
	for len(todo) > 0 {
		if len(done)+len(todo) > maxBraces {
			return nil, fmt.Errorf("the braces of %q give more than %d patterns", cutText(pattern, 200), maxBraces)
		}
		p := todo[0]
		todo = todo[1:]
		open, commas, end := findBraces(p)
		if commas == nil && openSet(p) {
			return nil, fmt.Errorf("the pattern %s has a [ without its ]; \\[ stands for the character", cutText(p, 200))
		}
		if commas == nil {
			done = append(done, p)
			continue
		}
		var made []string
		start := open + 1
		for _, stop := range append(commas, end) {
			made = append(made, p[:open]+p[start:stop]+p[end+1:])
			start = stop + 1
		}
		todo = append(made, todo...)
	}
	return done, nil
}

// openSet says whether a pattern has a set that does not end before the next
// slash.
func openSet(pattern string) bool {
	for _, s := range strings.Split(pattern, "/") {
		for i := 0; i < len(s); i++ {
			switch s[i] {
			case '\\':
				i++
			case '[':
				_, n := matchSet(s[i:], 0)
				if n == 0 {
					return true
				}
				i += n - 1
			}
		}
	}
	return false
}

// findBraces finds the first braces that hold a comma of their own. commas is
// nil when there are none.
func findBraces(p string) (open int, commas []int, end int) {
	for open = 0; open < len(p); open++ {
		switch p[open] {
		case '\\':
			open++
		case '{':
			if commas, end = closeBrace(p, open); commas != nil {
				return open, commas, end
			}
		}
	}
	return 0, nil, 0
}

func closeBrace(p string, open int) (commas []int, end int) {
	depth := 0
	for i := open; i < len(p); i++ {
		switch p[i] {
		case '\\':
			i++
		case '{':
			depth++
		case ',':
			if depth == 1 {
				commas = append(commas, i)
			}
		case '}':
			if depth--; depth == 0 {
				return commas, i
			}
		}
	}
	return nil, 0
}

// segment is one part of a glob pattern between slashes.
type segment struct {
	text string // of a literal: without backslashes
	kind segmentKind
}

type segmentKind int

const (
	literal segmentKind = iota
	wild
	anyDepth // **: any number of directories, none included
)

// everything fits whatever lies below a directory.
func everything() []segment { return []segment{{"**", anyDepth}, {"*", wild}} }

// parseSegments takes a pattern apart. A ** at the end means all that lies
// below, not the directory itself; several in a row mean no more than one.
func parseSegments(pattern string) []segment {
	var segs []segment
	deep := false // the last segment is **
	for _, s := range strings.Split(pattern, "/") {
		seg := parseSegment(s)
		if s == "" || deep && seg.kind == anyDepth {
			continue
		}
		segs = append(segs, seg)
		deep = seg.kind == anyDepth
	}
	if deep {
		segs = append(segs, segment{"*", wild})
	}
	return segs
}

func parseSegment(s string) segment {
	if s == "**" {
		return segment{s, anyDepth}
	}
	if strings.ContainsAny(s, "*?[") {
		return segment{s, wild}
	}
	return segment{unescape(s), literal}
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// matchName says whether a file name fits one segment: * any run of
// characters, ? one, [...] one of a set, backslash takes the next character as
// it is. A leading dot is a character like any other, so that no file is
// hidden from the model. It takes at most len(pattern) times len(name) steps.
func matchName(pattern, name string) bool {
	p, n := 0, 0
	star, resume := -1, 0 // behind the last *, and where its run ends
	for n < len(name) || p < len(pattern) {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, resume = p, n
			continue
		}
		if n < len(name) && p < len(pattern) {
			if plen, nlen := matchOne(pattern[p:], name[n:]); nlen > 0 {
				p, n = p+plen, n+nlen
				continue
			}
		}
		if star < 0 || resume >= len(name) {
			return false
		}
		_, size := utf8.DecodeRuneInString(name[resume:])
		resume += size
		p, n = star, resume
	}
	return true
}

// matchOne fits the first element of a pattern to the first character of a
// name and returns the length of both; nlen is 0 when they do not fit.
func matchOne(pattern, name string) (plen, nlen int) {
	r, size := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '?':
		return 1, size
	case '[':
		if in, plen := matchSet(pattern, r); plen > 0 {
			if !in {
				size = 0
			}
			return plen, size
		}
	case '\\':
		if len(pattern) > 1 && pattern[1] == name[0] {
			return 2, 1
		}
	}
	if pattern[0] == name[0] {
		return 1, 1
	}
	return 1, 0
}

// matchSet says whether r is in the set that begins the pattern, and how long
// the set is written; 0 when it has no end and is no set.
func matchSet(pattern string, r rune) (in bool, plen int) {
	i := 1
	not := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if not {
		i++
	}
	for first := true; i < len(pattern); first = false {
		if pattern[i] == ']' && !first {
			return in != not, i + 1
		}
		lo, n := setRune(pattern[i:])
		i += n
		hi := lo
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			hi, n = setRune(pattern[i+1:])
			i += 1 + n
		}
		in = in || lo <= r && r <= hi
	}
	return false, 0
}

func setRune(s string) (rune, int) {
	if s[0] == '\\' && len(s) > 1 {
		r, n := utf8.DecodeRuneInString(s[1:])
		return r, n + 1
	}
	return utf8.DecodeRuneInString(s)
}
