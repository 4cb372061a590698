package skills

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// The metadata is YAML by its specification, of which skills use little. This
// reads what published ones have: plain, quoted and block scalars over one or
// more lines, and lists in three forms. It is more lenient than YAML where text
// would be lost: a plain scalar may hold ": ". Keys that are not known are
// passed over with whatever is nested below them.

const maxMetadata = 16 << 10 // bytes; published skills have less than 3 KiB

// header is the metadata of a skill, or of a command.
type header struct {
	name, description string
	tools             []string

	command bool   // description and hint are all that counts
	hint    string // of a command's arguments
}

// parse reads the front matter of a text whose line ends are plain, and returns
// what follows it. An error names the line.
func parse(text string) (h header, body string, err error) {
	body, err = h.parse(text)
	return h, body, err
}

func (h *header) parse(text string) (body string, err error) {
	r, body, err := metadata(text)
	for err == nil && r.at < len(r.lines) {
		err = r.field(h)
	}
	return strings.TrimLeft(body, "\n"), err
}

// metadata parts a text behind the line that ends its metadata. The text may be
// long, so lines are made of the metadata alone.
func metadata(text string) (r reader, body string, err error) {
	line, body, more := "", text, true
	for more {
		line, body, more = strings.Cut(body, "\n")
		if strings.TrimSpace(line) != "" {
			break
		}
		r.lines = append(r.lines, line)
	}
	if strings.TrimRight(line, " \t") != "---" {
		return r, "", errors.New("line 1: it does not begin with a line ---")
	}
	r.lines = append(r.lines, line)
	r.at, r.seen = len(r.lines), map[string]bool{}
	for size := 0; more; r.lines = append(r.lines, line) {
		line, body, more = strings.Cut(body, "\n")
		if size += len(line) + 1; size > maxMetadata {
			return r, "", r.fault(len(r.lines), "the metadata is larger than %d bytes", maxMetadata)
		}
		if l := strings.TrimRight(line, " \t"); l == "---" || l == "..." {
			return r, body, nil
		}
	}
	return r, "", r.fault(r.at-1, "the line --- has no second one that ends the metadata")
}

// reader goes through the lines of the front matter.
type reader struct {
	lines []string
	at    int             // the next one, from 0
	seen  map[string]bool // keys of ours that were there
}

func (r *reader) fault(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: "+format, append([]any{line + 1}, args...)...)
}

// field reads one key and its value.
func (r *reader) field(h *header) (err error) {
	at := r.at
	line := r.lines[at]
	r.at++
	if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed[0] == '#' {
		return nil
	}
	key, rest, ok := cutKey(line)
	if !ok {
		return r.fault(at, "%.40q is no key with a value", line)
	}
	switch key {
	case "name", "description", "allow", "allowed-tools", "argument-hint":
		if r.seen[key] {
			return r.fault(at, "%s stands twice", key)
		}
		r.seen[key] = true
	}
	switch {
	case key == "description":
		h.description, err = r.scalar(rest)
	case h.command && key == "argument-hint":
		h.hint, err = r.hint(rest)
	case h.command:
		r.skip()
	case key == "name":
		h.name, err = r.scalar(rest)
	case key == "allow", key == "allowed-tools":
		var list []string
		list, err = r.list(rest)
		for _, tool := range list {
			if tool = oneLine(tool); tool != "" {
				h.tools = append(h.tools, tool)
			}
		}
	default:
		r.skip()
	}
	return err
}

// cutKey parts a line at the colon that ends its key. A key begins the line.
func cutKey(line string) (key, rest string, ok bool) {
	for i := 0; i < len(line); i++ {
		if line[i] == ':' && (i+1 == len(line) || isBlank(line[i+1])) {
			key = strings.Trim(strings.TrimRight(line[:i], " \t"), `"'`)
			return key, strings.TrimSpace(line[i+1:]), i > 0 && !isBlank(line[0]) && line[0] != '-'
		}
	}
	return "", "", false
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// nested says whether a line belongs to the key above it: it is indented, or
// empty.
func nested(line string) bool { return strings.TrimSpace(line) == "" || isBlank(line[0]) }

// skip passes over the value of a key that means nothing here. Lists and the
// ends of brackets may stand at the beginning of a line.
func (r *reader) skip() {
	for ; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		if !nested(line) && !strings.HasPrefix(line, "- ") && line != "-" && strings.Trim(line, "]}, \t") != "" {
			return
		}
	}
}

// below takes the lines that belong to the present key.
func (r *reader) below() []string {
	from := r.at
	for r.at < len(r.lines) && nested(r.lines[r.at]) {
		r.at++
	}
	return r.lines[from:r.at]
}

// scalar reads a text of which rest stands on the key's line, as one line.
func (r *reader) scalar(rest string) (string, error) {
	at := r.at - 1
	if plainText(rest) == "" {
		rest = ""
		for r.at < len(r.lines) && strings.TrimSpace(r.lines[r.at]) == "" {
			r.at++
		}
		if r.at < len(r.lines) && nested(r.lines[r.at]) {
			at, rest = r.at, strings.TrimSpace(r.lines[r.at])
			r.at++
		}
	}
	switch plain := plainText(rest); {
	case plain == "" || plain == "~" || plain == "null":
		return "", nil
	case rest[0] == '"' || rest[0] == '\'':
		return r.quoted(at, rest)
	case rest[0] == '>' || rest[0] == '|':
		if !isBlockMark(rest) {
			return "", r.fault(at, "%.40q begins no text; put it in quotes", rest)
		}
		return oneLine(strings.Join(r.below(), "\n")), nil
	case strings.IndexByte("[{&*!", rest[0]) >= 0 || rest == "-" || strings.HasPrefix(rest, "- "):
		return "", r.fault(at, "a text cannot begin with %c; put it in quotes", rest[0])
	}
	parts := []string{plainText(rest)}
	for _, line := range r.below() {
		parts = append(parts, plainText(line))
	}
	return oneLine(strings.Join(parts, "\n")), nil
}

// hint reads a text that may begin with a bracket, as in "[file] [line]": most
// write it without quotes, which YAML takes for a list.
func (r *reader) hint(rest string) (string, error) {
	if rest != "" && strings.IndexByte("[{", rest[0]) >= 0 {
		r.below()
		return oneLine(plainText(rest)), nil
	}
	return r.scalar(rest)
}

// isBlockMark says whether s is what begins a block scalar: > or |, a digit for
// the indentation and a sign for the line ends, in either order, a comment.
func isBlockMark(s string) bool {
	s = plainText(s)[1:]
	digit, sign := strings.Trim(s, "+-"), strings.Trim(s, "123456789")
	return len(s) <= 2 && len(digit) <= 1 && len(sign) <= 1 && len(digit)+len(sign) == len(s)
}

// plainText is a line of a plain scalar without blanks and comment around it. A
// number sign begins a comment only between blanks: "#12" is text to most who
// write it.
func plainText(line string) string {
	line = strings.TrimSpace(line)
	if line == "#" || strings.HasPrefix(line, "# ") {
		return ""
	}
	for i := 1; i < len(line); i++ {
		if line[i] == '#' && isBlank(line[i-1]) && (i+1 == len(line) || isBlank(line[i+1])) {
			return strings.TrimRight(line[:i], " \t")
		}
	}
	return line
}

// quoted reads a text in quotes that begins rest, on line at, and may end on a
// later line.
func (r *reader) quoted(at int, rest string) (string, error) {
	text := rest
	if r.at < len(r.lines) {
		text += "\n" + strings.Join(r.lines[r.at:], "\n")
	}
	value, after, err := unquote(text)
	if err != nil {
		return "", r.fault(at, "%w", err)
	}
	r.at += strings.Count(text[:len(text)-len(after)], "\n")
	line, _, _ := strings.Cut(after, "\n")
	if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
		return "", r.fault(r.at-1, "%.40q follows the text in quotes", line)
	}
	return oneLine(value), nil
}

// unquote reads the text in quotes that begins s, and returns what is behind it.
func unquote(s string) (value, after string, err error) {
	var b strings.Builder
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == quote && quote == '\'' && strings.HasPrefix(s[i+1:], "'"):
			b.WriteByte(c)
			i++
		case c == quote:
			return b.String(), s[i+1:], nil
		case c == '\\' && quote == '"':
			r, n, err := escape(s[i+1:])
			if err != nil {
				return "", "", err
			}
			b.WriteString(r)
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return "", "", errors.New("the quotes have no end")
}

// escape reads what stands behind a backslash in double quotes (YAML 1.2.2,
// section 5.7) and returns its length. White space and control characters of
// all kinds become a blank.
func escape(s string) (text string, n int, err error) {
	if s == "" {
		return "", 0, errors.New("the quotes have no end")
	}
	digits := 0
	switch c := s[0]; {
	case strings.IndexByte(`"\/`, c) >= 0:
		return s[:1], 1, nil
	case c == '\n':
		return "", 1, nil
	case strings.IndexByte("0abtnvfre N_LP\t", c) >= 0:
		return " ", 1, nil
	case c == 'x':
		digits = 2
	case c == 'u':
		digits = 4
	case c == 'U':
		digits = 8
	}
	if digits > 0 && len(s) > digits {
		if r, err := strconv.ParseUint(s[1:1+digits], 16, 31); err == nil {
			return string(rune(r)), 1 + digits, nil
		}
	}
	return "", 0, fmt.Errorf("unknown escape \\%.1q in the quotes", s)
}

// list reads the names of tools: "a, b" or "a b", [a, b], or a line "- a" each.
// All but the first may begin on the key's line or below it.
func (r *reader) list(rest string) ([]string, error) {
	at := r.at - 1
	switch {
	case strings.HasPrefix(rest, "["):
		return r.flow(at, rest)
	case plainText(rest) != "":
		text, err := r.scalar(rest)
		return splitTools(text), err
	}
	var list []string
	for ; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		item := toolText(line)
		value, isItem := strings.CutPrefix(item+" ", "- ")
		switch {
		case item == "":
			continue
		case !isItem && !nested(line):
			return list, nil
		case !isItem && list == nil:
			r.at++
			return r.list(item)
		case !isItem:
			return nil, r.fault(r.at, "%.40q is no item of a list (- name)", item)
		}
		list = append(list, splitTools(value)...)
	}
	return list, nil
}

// flow reads a list in brackets, which may go over several lines.
func (r *reader) flow(at int, rest string) ([]string, error) {
	line := toolText(rest)
	parts := []string{line}
	for ; !strings.HasSuffix(line, "]"); r.at++ {
		if r.at == len(r.lines) || !nested(r.lines[r.at]) && strings.Trim(r.lines[r.at], "], \t") != "" {
			return nil, r.fault(at, "the list has no end ]")
		}
		line = toolText(r.lines[r.at])
		parts = append(parts, line)
	}
	text := strings.Join(parts, " ")
	text = text[1 : len(text)-1]
	if strings.ContainsAny(outsideQuotes(text), "[]{}") {
		return nil, r.fault(at, "a list of tools holds names only")
	}
	return splitTools(text), nil
}

// toolText is a line of a list of tools without blanks and comment around it.
func toolText(line string) string {
	line = strings.TrimSpace(line)
	return line[:len(plainText(outsideQuotes(line)))]
}

// splitTools parts names at commas and blanks that stand outside of parentheses
// and quotes: Bash(git add *) is one. A text in quotes is parted again.
func splitTools(text string) (list []string) {
	outside := outsideQuotes(text)
	depth, from := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) {
			switch outside[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth > 0 || outside[i] != ',' && !isBlank(outside[i]) && outside[i] != '\n' {
				continue
			}
		}
		item := text[from:i]
		from = i + 1
		if item == "" {
			continue
		}
		if item[0] == '"' || item[0] == '\'' {
			if inner, after, err := unquote(item); err == nil && after == "" {
				list = append(list, splitTools(inner)...)
				continue
			}
		}
		if item = strings.Trim(item, `"'`); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// outsideQuotes is s with an x for each byte in quotes, and for the quotes. One
// behind a letter or a digit, as in "it's", begins none, nor does one without an
// end, or any of its kind that follows.
func outsideQuotes(s string) string {
	b := []byte(s)
	kinds := `"'`
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(kinds, s[i]) < 0 || i > 0 && (isDigit(s[i-1:]) || s[i-1]|0x20 >= 'a' && s[i-1]|0x20 <= 'z') {
			continue
		}
		_, after, err := unquote(s[i:])
		if err != nil {
			kinds = strings.Trim(kinds, s[i:i+1])
			continue
		}
		for end := len(s) - len(after); i < end; i++ {
			b[i] = 'x'
		}
		i--
	}
	return string(b)
}

// oneLine puts blanks in the place of line ends, of control characters and of
// what steers the direction of writing: the text stands in lists.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c) || unicode.Is(unicode.Bidi_Control, c)
	}), " ")
}
