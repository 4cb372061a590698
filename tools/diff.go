package tools

import (
	"fmt"
	"slices"
	"strings"
)

// A diff costs time and memory with the lines of its middle times the lines
// that differ. Beyond these limits the middle is shown as one block.
const (
	maxDiffLines = 20000
	maxDiffSteps = 400
)

// diffContext is how many unchanged lines stand around a change.
const diffContext = 3

// diffPart is a line of a diff, or a block of lines with one sign: ' ', '-' or
// '+'. Lines end with a line feed but for the file's last.
type diffPart struct {
	sign byte
	text string
}

func (p diffPart) lines() int {
	n := strings.Count(p.text, "\n")
	if !strings.HasSuffix(p.text, "\n") {
		n++
	}
	return n
}

// diff shows the change as a unified diff under a line with its counts.
func (c *change) diff() string {
	body, added, removed := unified(string(c.old.data), string(c.data))
	head := fmt.Sprintf("%s added, %d removed\n", plural(int64(added), "line"), removed)
	if body == "" {
		return head + "(the content stays the same)"
	}
	return head + body
}

// unified is the diff from a to b, "" when they are equal, and the number of
// lines added and removed.
func unified(a, b string) (text string, added, removed int) {
	if a == b {
		return "", 0, 0
	}
	head, tail := commonLines(a, b)
	before, after := lastLines(a[:head], diffContext), firstLines(a[len(a)-tail:], diffContext)
	parts := appendParts(nil, ' ', splitLines(before))
	parts = append(parts, middle(a[head:len(a)-tail], b[head:len(b)-tail])...)
	parts = appendParts(parts, ' ', splitLines(after))
	for _, p := range parts {
		switch p.sign {
		case '+':
			added += p.lines()
		case '-':
			removed += p.lines()
		}
	}
	return formatDiff(parts, strings.Count(a[:head-len(before)], "\n")+1), added, removed
}

// commonLines is how many bytes of whole lines a and b share at their
// beginnings and, behind that, at their ends.
func commonLines(a, b string) (head, tail int) {
	for n := min(len(a), len(b)); head < n && a[head] == b[head]; {
		head++
	}
	head = strings.LastIndexByte(a[:head], '\n') + 1
	for n := min(len(a), len(b)) - head; tail < n && a[len(a)-1-tail] == b[len(b)-1-tail]; {
		tail++
	}
	startsLine := func(s string, i int) bool { return i == 0 || s[i-1] == '\n' }
	if !startsLine(a, len(a)-tail) || !startsLine(b, len(b)-tail) {
		end := a[len(a)-tail:]
		tail = len(end) - (strings.IndexByte(end, '\n') + 1)
		if !strings.Contains(end, "\n") {
			tail = 0
		}
	}
	return head, tail
}

func firstLines(s string, n int) string {
	end := 0
	for ; n > 0 && end < len(s); n-- {
		i := strings.IndexByte(s[end:], '\n')
		if i < 0 {
			return s
		}
		end += i + 1
	}
	return s[:end]
}

// lastLines takes the last n lines of s, which ends with a line feed.
func lastLines(s string, n int) string {
	start := len(s)
	for ; n > 0 && start > 0; n-- {
		start = strings.LastIndexByte(s[:start-1], '\n') + 1
	}
	return s[start:]
}

// splitLines cuts text behind each line feed.
func splitLines(text string) []string {
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func appendParts(parts []diffPart, sign byte, texts []string) []diffPart {
	for _, t := range texts {
		parts = append(parts, diffPart{sign, t})
	}
	return parts
}

// middle is the diff of two texts that have no common line at either end.
func middle(a, b string) []diffPart {
	if strings.Count(a, "\n")+strings.Count(b, "\n") <= maxDiffLines {
		if parts, ok := shortestEdit(splitLines(a), splitLines(b)); ok {
			return parts
		}
	}
	var parts []diffPart
	if a != "" {
		parts = append(parts, diffPart{'-', a})
	}
	if b != "" {
		parts = append(parts, diffPart{'+', b})
	}
	return parts
}

// shortestEdit is the greedy algorithm of Myers (An O(ND) difference algorithm
// and its variations, 1986). reach[mid+k] is how far into a the best path on
// diagonal k = x-y comes; a copy from before each step is kept to walk back.
func shortestEdit(a, b []string) (parts []diffPart, ok bool) {
	const mid = maxDiffSteps + 1
	reach := make([]int, 2*mid+1)
	var steps [][]int
	for d := 0; d <= maxDiffSteps; d++ {
		steps = append(steps, slices.Clone(reach[mid-d-1:mid+d+2]))
		for k := -d; k <= d; k += 2 {
			x := reach[mid+k-1] + 1
			if down(reach[mid-d-1:], d, k) {
				x = reach[mid+k+1]
			}
			for x < len(a) && x-k < len(b) && a[x] == b[x-k] {
				x++
			}
			reach[mid+k] = x
			if x >= len(a) && x-k >= len(b) {
				return walkBack(steps, a, b), true
			}
		}
	}
	return nil, false
}

// down says whether step d reaches diagonal k by adding a line of b rather than
// by removing one of a. reach begins at diagonal -d-1.
func down(reach []int, d, k int) bool {
	i := k + d + 1
	return k == -d || k != d && reach[i-1] < reach[i+1]
}

// walkBack goes the kept steps from the end of both texts to their beginning.
func walkBack(steps [][]int, a, b []string) []diffPart {
	var parts []diffPart
	x, y := len(a), len(b)
	for d := len(steps) - 1; d >= 0; d-- {
		from := x - y - 1
		if down(steps[d], d, x-y) {
			from = x - y + 1
		}
		fromX := steps[d][from+d+1]
		fromY := fromX - from
		for x > fromX && y > fromY {
			x, y = x-1, y-1
			parts = append(parts, diffPart{' ', a[x]})
		}
		switch {
		case d == 0:
		case x == fromX:
			y--
			parts = append(parts, diffPart{'+', b[y]})
		default:
			x--
			parts = append(parts, diffPart{'-', a[x]})
		}
	}
	slices.Reverse(parts)
	return parts
}

// formatDiff prints the changes, of which line is the number of the first
// part, with their context; groups of changes get a header each.
func formatDiff(parts []diffPart, line int) string {
	var b strings.Builder
	from, to := line, line // the next line in the old and in the new file
	for i := 0; i < len(parts); {
		first, end := hunk(parts, i)
		from, to = from+first-i, to+first-i // skipped parts are single unchanged lines
		var body strings.Builder
		removed, added := 0, 0
		for _, p := range parts[first:end] {
			if p.sign != '+' {
				removed += p.lines()
			}
			if p.sign != '-' {
				added += p.lines()
			}
			for rest := p.text; rest != ""; {
				n := strings.IndexByte(rest, '\n') + 1
				if n == 0 {
					n = len(rest)
				}
				writeLine(&body, p.sign, rest[:n])
				rest = rest[n:]
			}
		}
		if first < end {
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n%s", from, removed, to, added, body.String())
		}
		from, to, i = from+removed, to+added, end
	}
	return b.String()
}

func writeLine(b *strings.Builder, sign byte, line string) {
	if line == "" {
		return
	}
	b.WriteByte(sign)
	b.WriteString(line)
	if !strings.HasSuffix(line, "\n") {
		b.WriteString("\n\\ No newline at end of file\n")
	}
}

// hunk finds the next changes at or behind i that lie close together, with
// their context.
func hunk(parts []diffPart, i int) (first, end int) {
	changed := func(p diffPart) bool { return p.sign != ' ' }
	n := slices.IndexFunc(parts[i:], changed)
	if n < 0 {
		return len(parts), len(parts)
	}
	last := i + n
	for j := last; j < len(parts) && j-last <= 2*diffContext; j++ {
		if changed(parts[j]) {
			last = j
		}
	}
	return max(i, i+n-diffContext), min(len(parts), last+1+diffContext)
}
