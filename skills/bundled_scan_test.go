package skills

import (
	"regexp"
	"slices"
	"strings"
)

// line is a line of shell in a skill, and the releases that it is for.
type line struct{ releases, text string }

var (
	releasePattern = `\d\d(?:\.\d\d)?(?: to \d\d(?:\.\d\d)?)?`
	releaseItem    = regexp.MustCompile(`^ *- (` + releasePattern + `): `)
	releaseCell    = regexp.MustCompile(`^` + releasePattern + `$`)
	codeSpan       = regexp.MustCompile("`([^`]+)`")
)

// commandLines are the lines of the blocks ```sh of a text, without what goes to
// a command's input, and the spans of code outside of blocks that have a blank.
func commandLines(text string) (list []line) {
	fence, input := "", ""
	var head []string
	for _, l := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(l)
		switch {
		case input != "":
			if trimmed == input {
				input = ""
			}
		case strings.HasPrefix(trimmed, "```"):
			if fence == "" {
				fence = trimmed
			} else {
				fence = ""
			}
		case fence == "```sh":
			l, input, _ = strings.Cut(l, "<<")
			list = append(list, line{"", l})
		case fence != "":
		case strings.HasPrefix(l, "|"):
			cells := strings.Split(strings.Trim(l, "|"), "|")
			if head == nil {
				head = cells
			}
			for i, c := range cells {
				in := ""
				if i < len(head) && releaseCell.MatchString(strings.TrimSpace(head[i])) {
					in = strings.TrimSpace(head[i])
				}
				list = append(list, spans(in, c)...)
			}
		default:
			head = nil
			in := ""
			if m := releaseItem.FindStringSubmatch(l); m != nil {
				in = m[1]
			}
			list = append(list, spans(in, l)...)
		}
	}
	return list
}

func spans(in, text string) (list []line) {
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], " ") {
			list = append(list, line{in, m[1]})
		}
	}
	return list
}

// transparent are words before a command.
var transparent = strings.Fields("sudo exec do then else ! {")

var assignment = regexp.MustCompile(`^\w+=`)

// commandsOf are the simple commands of a line of shell, with their words: also
// those of substitutions and of a text behind -c.
func commandsOf(text string) (list [][]string) {
	var words, inner []string
	end := func() {
		for len(words) > 0 && (slices.Contains(transparent, words[0]) || assignment.MatchString(words[0])) {
			words = words[1:]
		}
		if len(words) > 0 && !slices.Contains([]string{"for", "done", "fi", "}"}, words[0]) {
			list = append(list, words)
		}
		if n := len(words); n > 2 && words[n-2] == "-c" && words[n-1][0] == '\'' {
			inner = append(inner, strings.Trim(words[n-1], "'"))
		}
		words = nil
	}
	for rest := text; rest != ""; {
		switch word := shellWord(rest); {
		case rest[0] == ' ' || rest[0] == '\t':
			rest = rest[1:]
		case rest[0] == '#':
			rest = ""
		case word == "":
			end()
			rest = rest[1:]
		default:
			rest = rest[len(word):]
			for _, text := range substitutions(word) {
				list = append(list, commandsOf(text)...)
			}
			words = append(words, word)
		}
	}
	end()
	for _, text := range inner {
		list = append(list, commandsOf(text)...)
	}
	return list
}

// shellWord is the word at the beginning of text, "" if it begins with an
// operator.
func shellWord(text string) string {
	var quote byte
	depth := 0
	for i := range len(text) {
		c := text[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			}
		case strings.HasPrefix(text[i:], "$("):
			depth++
		case depth > 0:
			if c == ')' {
				depth--
			}
		case c == '"':
			quote ^= '"'
		case quote != 0:
		case c == '\'':
			quote = c
		case c == '&' && i > 0 && text[i-1] == '>':
		case strings.IndexByte(" \t;|&()", c) >= 0:
			return text[:i]
		}
	}
	return text
}

// substitutions are the texts of $(...) in a word.
func substitutions(word string) (list []string) {
	if word[0] == '\'' {
		return nil
	}
	for {
		_, after, ok := strings.Cut(word, "$(")
		if !ok {
			return list
		}
		i := strings.LastIndexByte(after, ')')
		list = append(list, after[:i])
		word = after[i:]
	}
}
