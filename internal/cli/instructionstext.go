package cli

import "strings"

// fence follows fenced code blocks line by line (CommonMark 0.31, section
// 4.5). The zero value stands outside of one.
type fence struct{ mark string }

// line takes the next line and says whether it belongs to a fenced block, the
// fences themselves included.
func (f *fence) line(line string) bool {
	text := strings.TrimRight(line, " \t\n")
	indent := len(text) - len(strings.TrimLeft(text, " "))
	run := leadingRun(text[indent:])
	rest := text[indent+len(run):]
	switch {
	case f.mark != "":
		if indent < 4 && rest == "" && len(run) >= len(f.mark) && run[0] == f.mark[0] {
			f.mark = ""
		}
		return true
	case indent < 4 && len(run) >= 3 && (run[0] == '~' || !strings.Contains(rest, "`")):
		f.mark = run
		return true
	}
	return false
}

// leadingRun is the run of backticks or tildes that s begins with.
func leadingRun(s string) string {
	if s == "" || s[0] != '`' && s[0] != '~' {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
}

// importName is the path of a line that is "@path" and nothing else, "" for
// any other line. An indented line is code.
func importName(line string) string {
	if strings.HasPrefix(line, "    ") || strings.HasPrefix(strings.TrimLeft(line, " "), "\t") {
		return ""
	}
	name, ok := strings.CutPrefix(strings.TrimSpace(line), "@")
	if !ok || strings.ContainsAny(name, " \t") {
		return ""
	}
	return name
}

// stripComments removes HTML comments outside of code. A line that held nothing
// else goes with them; a comment without an end is text.
func stripComments(text string) string {
	// No comment ends behind the line with the last end, so nothing there is
	// searched for one.
	last := strings.LastIndex(text, "-->")
	if last < 0 {
		return text
	}
	end := last + len(firstLine(text[last:]))
	var b strings.Builder
	var code fence
	for rest := text[:end]; rest != ""; {
		line := firstLine(rest)
		if code.line(line) {
			b.WriteString(line)
			rest = rest[len(line):]
			continue
		}
		rest = stripLine(&b, rest)
	}
	b.WriteString(text[end:])
	return b.String()
}

// stripLine writes the first line of text without comments and returns what
// follows. A comment may reach over many lines; what stands behind it belongs
// to the line it began on.
func stripLine(b *strings.Builder, text string) string {
	var kept strings.Builder
	stripped := false
	for {
		line := firstLine(text)
		start := commentStart(line)
		end := -1
		if start >= 0 {
			end = strings.Index(text[start:], "-->")
		}
		if end < 0 {
			kept.WriteString(line)
			text = text[len(line):]
			break
		}
		kept.WriteString(line[:start])
		text = text[start+end+len("-->"):]
		stripped = true
	}
	if !stripped || strings.TrimSpace(kept.String()) != "" {
		b.WriteString(kept.String())
	}
	return text
}

// firstLine is the first line of text with its end.
func firstLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}

// commentStart is where a comment begins in line, outside of code spans; -1 if
// none does.
func commentStart(line string) int {
	for i := 0; i < len(line); {
		rest := line[i:]
		switch {
		case strings.HasPrefix(rest, "<!--"):
			return i
		case rest[0] == '`':
			i += spanLen(rest)
		default:
			i++
		}
	}
	return -1
}

// spanLen is the length of the code span that s begins with, or of its
// backticks alone if it has no end.
func spanLen(s string) int {
	ticks := leadingRun(s)
	for i := len(ticks); i < len(s); {
		j := strings.IndexByte(s[i:], '`')
		if j < 0 {
			break
		}
		i += j
		run := leadingRun(s[i:])
		i += len(run)
		if len(run) == len(ticks) {
			return i
		}
	}
	return len(ticks)
}
