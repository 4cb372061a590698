package tools

import (
	"net/url"
	"strings"
)

// text writes content. Outside of preformatted text blanks are folded, and so
// are non-breaking ones; soft hyphens are dropped.
func (r *htmlReader) text(s string) {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\u00a0", " "), "\u00ad", "")
	if r.pre {
		r.preText(s)
		return
	}
	for s != "" && r.out.Len() <= r.max {
		i := strings.IndexAny(s, blanks)
		switch {
		case i == 0:
			r.space = true
			s = s[1:]
			continue
		case i < 0:
			i = len(s)
		}
		r.flush()
		r.out.WriteString(s[:i])
		r.bol = false
		s = s[i:]
	}
}

// preText writes preformatted text. The fence has a line of its own, for which
// a line end that follows at once is taken.
func (r *htmlReader) preText(s string) {
	if strings.HasSuffix(r.out.String(), "```") {
		s = "\n" + strings.TrimPrefix(strings.TrimPrefix(s, "\r"), "\n")
	}
	r.out.WriteString(s)
}

// flush writes what is owed before a word.
func (r *htmlReader) flush() {
	r.fresh = false
	if r.pending > 0 || r.out.Len() == 0 {
		if r.out.Len() > 0 {
			r.out.WriteString("\n\n"[:min(r.pending, 2)])
		}
		r.pending = 0
		r.out.WriteString(strings.Repeat("> ", min(r.quotes, maxNesting)))
		r.bol = true
	}
	if r.prefix != "" {
		r.out.WriteString(r.prefix)
		r.prefix, r.bol = "", true
	}
	if r.space && !r.bol {
		r.out.WriteByte(' ')
	}
	r.space = false
}

// newline owes line ends. At the beginning of a cell or an item none are.
func (r *htmlReader) newline(n int) {
	switch {
	case n == 0:
	case r.pre:
		if !strings.HasSuffix(r.out.String(), "\n") {
			r.out.WriteByte('\n')
		}
	case r.fresh:
	case r.prefix != "":
		r.pending = max(r.pending, 1)
	default:
		r.pending = max(r.pending, min(n, 2))
	}
}

// fence begins preformatted text.
func (r *htmlReader) fence() {
	if r.pre {
		return
	}
	r.newline(2)
	r.text("```")
	r.pre, r.bol = true, false
}

func (r *htmlReader) unfence() {
	if !r.pre {
		return
	}
	r.pre = false
	if !strings.HasSuffix(r.out.String(), "\n") {
		r.out.WriteByte('\n')
	}
	r.out.WriteString("```")
	r.newline(2)
}

// mark begins or ends code within a line.
func (r *htmlReader) mark(start bool) {
	if r.pre || r.code == start {
		return
	}
	r.code = start
	space := r.space
	if !start {
		r.space = false
	}
	r.text("`")
	r.space = space && !start
}

// endLink adds the address behind a link's text.
func (r *htmlReader) endLink() {
	href := r.href
	r.href = ""
	if href == "" || r.out.Len() == r.linkAt {
		return
	}
	to := r.resolve(href)
	shown := strings.TrimSpace(r.out.String()[r.linkAt:])
	if to == "" || strings.HasSuffix(shown, strings.TrimSuffix(to, "/")) || strings.HasSuffix(shown, to) {
		return
	}
	r.out.WriteString(" <" + to + ">")
	r.fresh = false
}

// resolve is the whole address of a link, "" where it leads nowhere outside of
// the page.
func (r *htmlReader) resolve(href string) string {
	if len(href) > maxLink {
		return ""
	}
	href = strings.Join(strings.FieldsFunc(strings.TrimSpace(unescapeHTML(href)), func(c rune) bool { return c < ' ' }), "")
	if href == "" || href[0] == '#' {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil {
		return strings.Join(strings.Fields(href), "%20")
	}
	switch u.Scheme {
	case "javascript", "data", "blob", "vbscript", "about":
		return ""
	}
	if r.base != nil {
		u = r.base.ResolveReference(u)
	}
	if to := u.String(); len(to) <= 2*maxLink {
		return to
	}
	return ""
}

// setBase takes the page's word for what its links are relative to, once.
func (r *htmlReader) setBase(href string) {
	if r.base == nil || r.based || href == "" {
		return
	}
	if u, err := url.Parse(r.resolve(href)); err == nil && u.Host != "" {
		r.base, r.based = u, true
	}
}

// refresh shows where a page sends its reader after a time.
func (r *htmlReader) refresh(attrs string) {
	if !strings.EqualFold(attr(attrs, "http-equiv"), "refresh") {
		return
	}
	_, to, _ := strings.Cut(attr(attrs, "content"), "=")
	if to = r.resolve(strings.Trim(strings.TrimSpace(to), `"'`)); to != "" {
		r.newline(2)
		r.text("[this page leads on to " + to + "]")
		r.newline(2)
	}
}
