package agent

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"cluade/internal/chat"
)

// The line between the two ends of a result that was cut. Tools that bound
// their output while they read it write the same.
const (
	cutBegin = "\n[... "
	cutEnd   = " bytes cut ...]\n"

	maxDigits = 19 // of its number
)

// clip makes a result fit for the transcript: cleaned, not empty, and at most
// max bytes. What is too long keeps its first 60 and last 40 per cent around a
// line that says how many bytes are missing.
func clip(text string, max int) string {
	text = chat.CleanText(text)
	if text == "" {
		return "(no output)"
	}
	if len(text) <= max {
		return text
	}
	keep := max - len(cutLine(math.MaxInt64))
	if keep < 0 {
		keep = 0
	}
	head, tail := keep*6/10, len(text)-(keep-keep*6/10)
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	head, tail, missing := mergeCut(text, head, tail)
	return text[:head] + cutLine(missing) + text[tail:]
}

// mergeCut counts the bytes missing when text[head:tail] goes. The tool may
// have cut before, and cleaning makes a text longer that is not UTF-8; so where
// the tool's line falls into the gap, the gap takes it whole and its number
// too, or a lost megabyte would read as a few bytes.
func mergeCut(text string, head, tail int) (int, int, int64) {
	var before int64
	for at := 0; ; {
		begin, end, n := findCut(text, at)
		if begin < 0 {
			return head, tail, before + int64(tail-head)
		}
		if begin < tail && end > head {
			head, tail = min(head, begin), max(tail, end)
			before += n - int64(end-begin)
		}
		at = end
	}
}

// findCut finds the first line of a cut in text[from:]: where it begins and
// ends, and its number. begin is -1 if there is none.
func findCut(text string, from int) (begin, end int, n int64) {
	for {
		i := strings.Index(text[from:], cutBegin)
		if i < 0 {
			return -1, 0, 0
		}
		begin = from + i
		from = begin + len(cutBegin)
		number, _, ok := strings.Cut(text[from:min(len(text), from+maxDigits+len(cutEnd))], cutEnd)
		if n, err := strconv.ParseInt(number, 10, 64); ok && err == nil && n > 0 {
			return begin, from + len(number) + len(cutEnd), n
		}
	}
}

func cutLine(n int64) string { return fmt.Sprint(cutBegin, n, cutEnd) }
