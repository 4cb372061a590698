package provider

import "strings"

// thinkTags are the tags between which local models put their thinking when
// their server does not take it apart.
var thinkTags = [][2]string{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"<seed:think>", "</seed:think>"},
	{"[THINK]", "[/THINK]"},
	{"◁think▷", "◁/think▷"},
}

// splitter takes thinking out of content. Only a tag at the very start opens
// it: in the middle it is a word of the answer.
type splitter struct {
	state splitState
	close string
	held  string
	// loose looks for a closing tag without an opening one too: some templates
	// put the opening tag into the prompt. What came before it was thinking.
	loose bool
	// hold keeps such text back until the tag comes, or until it is longer than
	// thinking that a server leaves in would be worth waiting for.
	hold  bool
	seen  string // the end of the text so far, to judge a tag in its place
	fence fence
}

type splitState int

const (
	atStart splitState = iota
	inThinking
	afterTag // white space between the tag and the answer
	inAnswer
)

// split is what a piece of content turned out to be. Void says that all text
// given out before was thinking.
type split struct {
	void            bool
	reasoning, text string
}

func (s *splitter) feed(piece string) split {
	s.held += piece
	var out split
	for s.step(&out) {
	}
	return out
}

// step moves on by one state and reports whether it is worth another try.
func (s *splitter) step(out *split) bool {
	switch s.state {
	case atStart:
		return s.open()
	case inThinking:
		i := strings.Index(s.held, s.close)
		if i < 0 {
			n := len(s.held) - partial(s.held, s.close)
			out.reasoning += s.held[:n]
			s.held = s.held[n:]
			return false
		}
		out.reasoning += s.held[:i]
		s.held = s.held[i+len(s.close):]
		s.state = afterTag
		return true
	case afterTag:
		s.held = strings.TrimLeft(s.held, " \t\r\n")
		if s.held == "" {
			return false
		}
		s.state = inAnswer
		return true
	}
	return s.answer(out)
}

// open decides whether the content begins with a tag. White space before it
// belongs to nothing.
func (s *splitter) open() bool {
	rest := strings.TrimLeft(s.held, " \t\r\n")
	if rest == "" {
		return false
	}
	for _, t := range thinkTags {
		if strings.HasPrefix(rest, t[0]) {
			s.held, s.close, s.state, s.loose = rest[len(t[0]):], t[1], inThinking, false
			return true
		}
	}
	for _, t := range thinkTags {
		if strings.HasPrefix(t[0], rest) {
			return false
		}
	}
	s.state = inAnswer
	return true
}

const looseTag = "</think>"

// maxHold bounds the text that is held back.
const maxHold = 2 << 10

func (s *splitter) answer(out *split) bool {
	if !s.loose {
		out.text += s.held
		s.held = ""
		return false
	}
	i := strings.Index(s.held, looseTag)
	if s.hold = s.hold && len(s.held) < maxHold; s.hold && (i < 0 || i+len(looseTag) == len(s.held)) {
		return false
	}
	if i < 0 {
		n := len(s.held) - partial(s.held, looseTag)
		s.give(out, s.held[:n])
		s.held = s.held[n:]
		return false
	}
	rest := s.held[i+len(looseTag):]
	if rest == "" { // the next byte tells whether it stands in a sentence
		s.give(out, s.held[:i])
		s.held = s.held[i:]
		return false
	}
	s.give(out, s.held[:i])
	s.held = rest
	if !s.isTag(rest) {
		s.give(out, looseTag)
		return true
	}
	s.loose, s.state = false, afterTag
	out.void, out.reasoning, out.text = true, out.reasoning+out.text, ""
	return true
}

func (s *splitter) give(out *split, text string) {
	out.text += text
	s.fence.feed(text)
	s.seen += text
	s.seen = s.seen[max(0, len(s.seen)-8):]
}

// isTag tells a tag from the word in a sentence or in code: a tag ends a line
// or a word directly, or the line ends after it.
func (s *splitter) isTag(rest string) bool {
	if s.fence.open() {
		return false
	}
	if s.seen == "" {
		return true
	}
	last := s.seen[len(s.seen)-1]
	if rest[0] == '\n' || rest[0] == '\r' {
		return !strings.ContainsRune("`'\"", rune(last))
	}
	return !strings.ContainsRune(" `'\"(", rune(last)) && !strings.ContainsRune("`'\"", rune(rest[0]))
}

// flush returns what was held back when the reply ends.
func (s *splitter) flush() split {
	var out split
	switch {
	case s.state == inThinking:
		out.reasoning = s.held
	case s.state == inAnswer && s.loose && strings.HasSuffix(s.held, looseTag):
		s.give(&out, strings.TrimSuffix(s.held, looseTag))
		if out.void = s.isTag("\n"); out.void {
			out.reasoning, out.text = out.text, ""
		} else {
			out.text += looseTag
		}
	case s.state != afterTag:
		out.text = s.held
	}
	s.held = ""
	return out
}

// partial is the length of the longest end of s that begins tag.
func partial(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if s[len(s)-n:] == tag[:n] {
			return n
		}
	}
	return 0
}

// fence follows Markdown code fences line by line.
type fence struct {
	line string // the begin of the current line, as far as it can matter
	char byte   // the fence that is open: '`', '~' or 0
}

func (f *fence) feed(text string) {
	for text != "" {
		part, rest, ended := strings.Cut(text, "\n")
		if len(f.line) < 16 {
			f.line += part[:min(len(part), 16)]
		}
		if ended {
			f.endLine()
		}
		text = rest
	}
}

func (f *fence) endLine() {
	line := strings.TrimLeft(f.line, " \t>")
	f.line = ""
	for _, c := range []byte{'`', '~'} {
		if strings.HasPrefix(line, strings.Repeat(string(c), 3)) {
			switch f.char {
			case 0:
				f.char = c
			case c:
				f.char = 0
			}
		}
	}
}

// open says whether what comes next stands in a fence, an opening line that
// has not ended yet included.
func (f *fence) open() bool {
	g := *f
	g.endLine()
	return f.char != 0 || g.char != 0
}
