package tools

import (
	"slices"
	"strings"
)

// htmlScanner takes an HTML page apart, in one pass and without a tree. Broken
// markup is read as far as it goes, nothing in it is an error.
type htmlScanner struct {
	src      string
	pos      int
	raw      string   // the element whose content is text up to its end tag
	unclosed []string // elements that have no end tag in the rest of the page
}

// htmlToken is text between tags as it is written, or a tag.
type htmlToken struct {
	name string // of the tag, lower case; "" for text
	end  bool   // an end tag
	text string // the text, or the attributes of the tag
}

// next returns the next token, false at the end of the page. Comments,
// declarations, scripts and styles are passed over.
func (s *htmlScanner) next() (htmlToken, bool) {
	for s.pos < len(s.src) {
		if s.raw != "" {
			name := s.raw
			s.raw = ""
			return htmlToken{text: s.content(name)}, true
		}
		if n := strings.IndexByte(s.src[s.pos:], '<'); n != 0 {
			if n < 0 {
				n = len(s.src) - s.pos
			}
			s.pos += n
			return htmlToken{text: s.src[s.pos-n : s.pos]}, true
		}
		if t, ok := s.markup(); ok {
			return t, true
		}
	}
	return htmlToken{}, false
}

// markup reads what begins with <. Without a token it was something to pass
// over.
func (s *htmlScanner) markup() (htmlToken, bool) {
	rest := s.src[s.pos:]
	switch {
	case strings.HasPrefix(rest, "<!--"):
		s.skipComment()
		return htmlToken{}, false
	case strings.HasPrefix(rest, "<!"), strings.HasPrefix(rest, "<?"):
		s.skipPast(">")
		return htmlToken{}, false
	case len(rest) > 2 && rest[1] == '/' && isLetter(rest[2]):
		t := htmlToken{end: true}
		t.name, _ = s.tag(2)
		return t, true
	case strings.HasPrefix(rest, "</"):
		s.skipPast(">")
		return htmlToken{}, false
	case len(rest) < 2 || !isLetter(rest[1]):
		s.pos++
		return htmlToken{text: "<"}, true
	}
	var t htmlToken
	t.name, t.text = s.tag(1)
	switch t.name {
	case "script", "style", "iframe", "noframes", "noembed":
		if !selfClosed(t.text) {
			s.content(t.name)
		}
		return htmlToken{}, false
	case "title", "textarea":
		if !selfClosed(t.text) {
			s.raw = t.name
		}
	}
	return t, true
}

// selfClosed says of a tag's attributes that they end in the slash of XML, which
// is no part of a value.
func selfClosed(attrs string) bool {
	rest, ok := strings.CutSuffix(attrs, "/")
	return ok && (rest == "" || strings.IndexByte(blanks+`"'`, rest[len(rest)-1]) >= 0)
}

// tag reads a tag whose name begins at an offset.
func (s *htmlScanner) tag(at int) (name, attrs string) {
	body := s.src[s.pos+at:]
	end := tagEnd(body)
	s.pos = min(s.pos+at+end+1, len(s.src))
	body = body[:end]
	n := strings.IndexAny(body, blanks+"/")
	if n < 0 {
		n = len(body)
	}
	return strings.ToLower(body[:n]), body[n:]
}

// blanks are what HTML takes for white space.
const blanks = " \t\r\n\f"

// tagEnd is the index of the > that ends a tag; one in a quoted value does not.
// A quote that is never closed is none.
func tagEnd(s string) int {
	last := byte(0) // before blanks
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '>':
			return i
		case (c == '"' || c == '\'') && last == '=':
			n := strings.IndexByte(s[i+1:], c)
			if n < 0 {
				if n = strings.IndexByte(s[i:], '>'); n < 0 {
					return len(s)
				}
				return i + n
			}
			i += n + 1
			last = c
		case strings.IndexByte(blanks, c) < 0:
			last = c
		}
	}
	return len(s)
}

func (s *htmlScanner) skipPast(mark string) {
	if i := strings.Index(s.src[s.pos:], mark); i >= 0 {
		s.pos += i + len(mark)
		return
	}
	s.pos = len(s.src)
}

// skipComment passes a comment; <!--> and <!---> are whole ones.
func (s *htmlScanner) skipComment() {
	s.pos += len("<!--")
	for _, short := range []string{">", "->"} {
		if strings.HasPrefix(s.src[s.pos:], short) {
			s.pos += len(short)
			return
		}
	}
	s.skipPast("-->")
}

// content passes what stands before the end tag of an element, and returns it.
// Without an end tag all the rest belongs to the element.
func (s *htmlScanner) content(name string) string {
	start := s.pos
	s.pos = len(s.src)
	if slices.Contains(s.unclosed, name) {
		return s.src[start:]
	}
	for at := start; ; {
		i := strings.Index(s.src[at:], "</")
		if i < 0 {
			s.unclosed = append(s.unclosed, name)
			return s.src[start:]
		}
		at += i
		tag := s.src[at+2:]
		if len(tag) >= len(name) && strings.EqualFold(tag[:len(name)], name) && (len(tag) == len(name) || strings.IndexByte(blanks+"/>", tag[len(name)]) >= 0) {
			s.pos = at
			return s.src[start:at]
		}
		at += 2
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// attr is the value of an attribute as it is written, "" where there is none.
func attr(attrs, name string) string {
	for i := 0; i < len(attrs); {
		if strings.IndexByte(blanks+"/", attrs[i]) >= 0 {
			i++
			continue
		}
		start := i
		for i++; i < len(attrs) && strings.IndexByte(blanks+"/=", attrs[i]) < 0; {
			i++
		}
		key, val := attrs[start:i], ""
		if rest := strings.TrimLeft(attrs[i:], blanks); strings.HasPrefix(rest, "=") {
			val, i = attrValue(attrs, len(attrs)-len(rest)+1)
		}
		if strings.EqualFold(key, name) {
			return val
		}
	}
	return ""
}

// attrValue reads a value, quoted or not, and returns where it ends.
func attrValue(s string, i int) (string, int) {
	i = len(s) - len(strings.TrimLeft(s[i:], blanks))
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		if n := strings.IndexByte(s[i+1:], s[i]); n >= 0 {
			return s[i+1 : i+1+n], i + n + 2
		}
	}
	n := strings.IndexAny(s[i:], blanks)
	if n < 0 {
		n = len(s) - i
	}
	return s[i : i+n], i + n
}

// plainHTML is the text of a piece of HTML in one line.
func plainHTML(src string) string {
	var b strings.Builder
	s := htmlScanner{src: src}
	for t, ok := s.next(); ok; t, ok = s.next() {
		if t.name == "" {
			b.WriteString(unescapeHTML(t.text))
		}
	}
	return oneLine(b.String())
}

// oneLine folds the blanks of a text and bounds it.
func oneLine(s string) string { return cutText(strings.Join(strings.Fields(s), " "), 600) }
