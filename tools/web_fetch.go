package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cluade/internal/httpc"
	"cluade/internal/policy"
)

var webFetch = Tool{
	Name:    "web_fetch",
	Desc:    "Fetch an http or https URL as text, at most 32 KB.",
	Params:  `{"type":"object","properties":{"url":{"type":"string"}},"required":["url"]}`,
	Effect:  policy.Network,
	Subject: webFetchSubject,
	Run:     runWebFetch,
}

func webFetchSubject(_ *Env, a *Args) (policy.Subject, error) {
	u, err := parseURL(a.Text("url"))
	if err != nil {
		return policy.Subject{}, err
	}
	return policy.Subject{URL: u.String()}, nil
}

func runWebFetch(ctx context.Context, e *Env, a *Args) (Result, error) {
	u, err := parseURL(a.Text("url"))
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := e.Web.limited(ctx)
	defer cancel()
	p, err := e.Web.fetch(ctx, webRequest{
		url: u, tool: "web_fetch",
		accept: "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.8,*/*;q=0.1",
	})
	if err != nil {
		return Result{}, fmt.Errorf("fetch %s: %w", cutText(u.Redacted(), 200), err)
	}
	if p.status >= 400 {
		return Result{}, errors.New(p.failure())
	}
	first := fmt.Sprintf("[%d %s %s]\n", p.status, p.kind(), shownURL(p.url))
	text, err := p.text(max(e.textLimit()-len(first)-maxNote, maxNote))
	if err != nil {
		return Result{}, fmt.Errorf("%s %w", shownURL(p.url), err)
	}
	if strings.TrimSpace(text) == "" {
		text = "(no text)"
		if isHTML(p.kind()) && len(p.body) > 0 {
			text = "(no text in this page; it may need a browser that runs scripts)"
		}
	}
	if p.cut != "" {
		text += "\n[cut: " + p.cut + "]"
	}
	return Result{Text: first + text}, nil
}

// maxNote is the room that is kept for a note on what is missing.
const maxNote = 200

// textLimit is the most bytes of a page, notes included.
func (e *Env) textLimit() int {
	limit := e.Web.Bytes
	if limit <= 0 {
		limit = 32 << 10
	}
	return min(limit, e.keep())
}

// text is what there is to read in a page, at most limit bytes. Where that is
// not all, p.cut says so.
func (p *webPage) text(limit int) (string, error) {
	kind := p.kind()
	if !isText(kind) {
		return "", fmt.Errorf("is %s, not text (%s)", kind, p.length())
	}
	body := p.body
	if p.cut != "" {
		body = trimPartial(body)
	}
	text, err := decodeText(body, p.header.Get("Content-Type"), isMarkup(kind))
	if err != nil {
		return "", fmt.Errorf("cannot be read: %w", err)
	}
	if isBinary([]byte(text[:min(len(text), sniffSize)])) {
		return "", fmt.Errorf("is called %s, but holds binary data (%s, %s)", kind, fileType(p.body), p.length())
	}
	cut := len(text) > limit
	if isHTML(kind) {
		text, cut = htmlText(text, p.url, limit)
	}
	if cut {
		p.cut = fmt.Sprintf("the text goes on after these %d bytes", limit)
	}
	return strings.TrimRight(cutText(text, limit), "\n"), nil
}

// failure tells of an error page what a person would look for.
func (p *webPage) failure() string {
	kind := p.kind()
	s := fmt.Sprintf("HTTP %d %s from %s (%s, %s)", p.status, httpc.StatusText(p.status), shownURL(p.url), kind, p.length())
	if text, err := p.text(1000); err == nil && strings.TrimSpace(text) != "" {
		s += ": " + oneLine(text)
	}
	return s
}

// length is what is known of the size of a page.
func (p *webPage) length() string {
	switch {
	case p.size >= 0:
		return fmt.Sprintf("%d bytes", p.size)
	case p.cut != "":
		return fmt.Sprintf("more than %d bytes", len(p.body))
	}
	return fmt.Sprintf("%d bytes", len(p.body))
}

// kind is the type of a page in lower case. Where the server does not say, the
// first bytes decide.
func (p *webPage) kind() string {
	kind, _, _ := strings.Cut(p.header.Get("Content-Type"), ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	if !strings.Contains(kind, "/") || kind == "application/octet-stream" || kind == "unknown/unknown" {
		kind = sniffKind(p.body[:min(len(p.body), 512)])
	}
	return cutText(kind, 100)
}

// sniffKind is the type of a body that begins in this way, by its magic number
// or as text that may be a page.
func sniffKind(head []byte) string {
	for _, t := range []struct{ magic, kind string }{
		{"%PDF-", "application/pdf"}, {"\x89PNG\r\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"},
		{"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"},
		{"\xff\xfe", "text/plain"}, {"\xfe\xff", "text/plain"}, // UTF-16
	} {
		if strings.HasPrefix(string(head), t.magic) {
			return t.kind
		}
	}
	for _, c := range head {
		if c < ' ' && strings.IndexByte("\t\n\f\r\x1b", c) < 0 {
			return "application/octet-stream"
		}
	}
	const tags = " html head body title style script iframe table div font h1 p a b br "
	start := strings.ToLower(strings.TrimSpace(strings.TrimPrefix(string(head), "\xef\xbb\xbf")))
	name := strings.TrimPrefix(start, "<")
	name = name[:max(strings.IndexAny(name, " \t\r\n\f>"), 0)]
	switch {
	case strings.HasPrefix(start, "<?xml"):
		return "text/xml"
	case strings.HasPrefix(start, "<!doctype html"), strings.HasPrefix(start, "<!--"),
		strings.HasPrefix(start, "<") && name != "" && strings.Contains(tags, " "+name+" "):
		return "text/html"
	}
	return "text/plain"
}

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// isMarkup says that a page of this type may name its own charset.
func isMarkup(kind string) bool {
	return isHTML(kind) || strings.HasSuffix(kind, "/xml") || strings.HasSuffix(kind, "+xml")
}

// isText says that a type is for reading.
func isText(kind string) bool {
	if strings.HasPrefix(kind, "text/") || isMarkup(kind) || strings.HasSuffix(kind, "json") {
		return true
	}
	switch kind {
	case "application/javascript", "application/x-javascript", "application/ecmascript", "application/yaml", "application/x-yaml",
		"application/toml", "application/x-sh", "application/x-shellscript", "application/x-perl", "application/x-python", "application/sql",
		"application/x-httpd-php", "application/x-www-form-urlencoded", "application/graphql", "application/jsonl", "application/pgp-signature",
		"application/x-pem-file", "message/rfc822", "message/http":
		return true
	}
	return false
}
