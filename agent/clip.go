package agent

import (
	"fmt"
	"unicode/utf8"

	"cluade/internal/chat"
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
	const note = "\n[... %d bytes cut ...]\n"
	keep := max - len(fmt.Sprintf(note, len(text)))
	if keep < 0 {
		keep = 0
	}
	head := runeStart(text, keep*6/10)
	tail := len(text) - (keep - keep*6/10)
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return text[:head] + fmt.Sprintf(note, tail-head) + text[tail:]
}

// runeStart is the last start of a character at or before n.
func runeStart(text string, n int) int {
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
