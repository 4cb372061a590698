package chat

// CleanText returns s as it may enter a transcript: valid UTF-8, without ANSI
// escape sequences and without control characters but line feed and tab. A
// carriage return before a line feed goes; a lone one becomes a line feed.
func CleanText(s string) string { return s }

// EscapeText returns s on one line, fit for a terminal or a log: control
// characters, escape sequences and bidirectional marks are shown as escapes
// (\n, \x1b, \u202e), and it is cut after max bytes with "...". max 0 is no
// limit.
func EscapeText(s string, max int) string { return s }
