package tools

import (
	"net/url"
	"strconv"
	"strings"
)

// What is shown of a page's structure.
const (
	maxNesting = 8    // of lists and quotes
	maxLink    = 2048 // bytes of a link's address; longer ones are left out
)

// htmlReader reduces a page to what a person would read.
type htmlReader struct {
	base  *url.URL // what links are relative to; nil leaves them as they are
	based bool     // the page has named it
	max   int
	out   strings.Builder

	pending int    // line ends owed before the next text
	space   bool   // a blank is owed before the next text
	bol     bool   // at the beginning of a line
	prefix  string // what the next line begins with: a list mark, a heading
	lists   []int  // per open list: the last number, -1 for bullets
	quotes  int
	pre     bool
	code    bool // between backquotes

	hidden string // the element that is not shown
	depth  int    // how often it is open

	row   int  // where the table row began in out
	cell  int  // cells seen in this row
	fresh bool // nothing was written in this cell

	href   string // of the open link, as it is written
	linkAt int    // where its text begins in out
}

// htmlText turns a page into text: headings, lists, quotes and code with
// Markdown's signs, table cells with bars between them, links as text <url>.
// It stops once there are more than max bytes; more says so. base may be nil.
func htmlText(src string, base *url.URL, max int) (text string, more bool) {
	r := &htmlReader{max: max}
	if base != nil {
		r.base = &url.URL{}
		*r.base = *base
		r.base.User = nil
	}
	s := htmlScanner{src: src}
	for t, ok := s.next(); ok && r.out.Len() <= max; t, ok = s.next() {
		r.token(t)
	}
	if r.pre {
		r.end("pre")
	}
	r.endLink()
	text = strings.TrimSpace(r.out.String())
	return cutText(text, max), len(text) > max
}

func (r *htmlReader) token(t htmlToken) {
	if r.hidden != "" {
		switch {
		case t.name != r.hidden:
		case t.end:
			if r.depth--; r.depth == 0 {
				r.hidden = ""
			}
		case !selfClosed(t.text):
			r.depth++
		}
		return
	}
	switch {
	case t.name == "":
		r.text(unescapeHTML(t.text))
	case t.end:
		r.end(t.name)
	default:
		r.start(t.name, t.text)
	}
}

func (r *htmlReader) start(name, attrs string) {
	switch name {
	case "svg", "template", "object", "select", "canvas", "datalist":
		if !selfClosed(attrs) {
			r.hidden, r.depth = name, 1
		}
	case "base":
		r.setBase(attr(attrs, "href"))
	case "meta":
		r.refresh(attrs)
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.newline(2)
		if !strings.HasSuffix(r.prefix, "# ") {
			r.prefix += strings.Repeat("#", int(name[1]-'0')) + " "
		}
	case "title":
		r.newline(2)
		r.prefix = "# "
	case "br":
		r.newline(r.pending + 1)
	case "hr":
		r.newline(2)
		r.text("---")
		r.newline(2)
	case "dd":
		r.newline(1)
		r.prefix = "  "
	case "ul", "ol", "menu", "li":
		r.list(name, attrs)
	case "blockquote":
		r.newline(2)
		r.quotes++
	case "pre", "listing", "xmp":
		r.fence()
	case "code", "kbd", "samp", "tt":
		r.mark(true)
	case "tr", "td", "th":
		r.table(name)
	case "img":
		if alt := strings.TrimSpace(unescapeHTML(attr(attrs, "alt"))); alt != "" {
			r.text("[image: " + alt + "]")
		}
	case "a":
		r.endLink()
		r.href, r.linkAt = attr(attrs, "href"), r.out.Len()
	default:
		r.newline(lineEnds(name))
	}
}

func (r *htmlReader) end(name string) {
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6", "title", "li", "dd":
		r.prefix = "" // nothing came to stand behind it
	}
	switch name {
	case "h1", "h2", "h3", "h4", "h5", "h6", "title":
		r.newline(2)
	case "dd", "li":
		r.newline(1)
	case "ul", "ol", "menu":
		if len(r.lists) > 0 {
			r.lists = r.lists[:len(r.lists)-1]
		}
		r.newline(r.listGap())
	case "blockquote":
		r.quotes = max(r.quotes-1, 0)
		r.newline(2)
	case "pre", "listing", "xmp":
		r.unfence()
	case "code", "kbd", "samp", "tt":
		r.mark(false)
	case "tr":
		r.table("/tr")
	case "a":
		r.endLink()
	default:
		r.newline(lineEnds(name))
	}
}

// lineEnds is how many line ends stand before and after an element that is only
// a block of text.
func lineEnds(name string) int {
	switch name {
	case "p", "section", "article", "main", "header", "footer", "nav", "aside", "figure", "form", "fieldset",
		"dl", "address", "details", "dialog", "table", "center", "hgroup", "search", "body":
		return 2
	case "div", "dt", "summary", "figcaption", "legend", "option", "caption", "textarea", "button", "thead", "tbody", "tfoot":
		return 1
	}
	return 0
}

// list begins a list or one of its items.
func (r *htmlReader) list(name, attrs string) {
	if name != "li" {
		r.newline(r.listGap())
		last := -1
		if name == "ol" {
			last = 0
			if n, err := strconv.Atoi(attr(attrs, "start")); err == nil && n > 0 {
				last = n - 1
			}
		}
		if len(r.lists) < 1000 {
			r.lists = append(r.lists, last)
		}
		return
	}
	r.newline(1)
	mark, n := "- ", len(r.lists)
	if n > 0 && r.lists[n-1] >= 0 {
		r.lists[n-1]++
		mark = strconv.Itoa(r.lists[n-1]) + ". "
	}
	r.prefix = strings.Repeat("  ", max(min(n, maxNesting)-1, 0)) + mark
}

// listGap is what stands around a list: an empty line, unless it is part of
// another.
func (r *htmlReader) listGap() int {
	if len(r.lists) > 0 {
		return 1
	}
	return 2
}

// table begins a row or a cell, or ends a row. Cells of a row share a line as
// long as they are single lines themselves.
func (r *htmlReader) table(name string) {
	inside := r.cell > 0 && r.out.Len() > r.row
	switch name {
	case "tr":
		r.fresh = false
		r.newline(1)
		r.row, r.cell = r.out.Len(), 0
	case "/tr":
		r.fresh = false
		if inside {
			r.pending = 0
		}
		r.newline(1)
	default:
		if inside {
			r.pending = 0
		}
		if r.cell++; r.cell > 1 {
			r.text(" | ")
		}
		r.fresh = true
	}
}
