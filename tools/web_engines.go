package tools

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/valyala/fastjson"
)

// duckPages are DuckDuckGo's pages for browsers without scripts.
func duckPages(w *Web, query string) ([]*url.URL, error) {
	bases := []string{"https://html.duckduckgo.com/html/", "https://lite.duckduckgo.com/lite/"}
	if w.SearchURL != "" {
		bases = []string{w.SearchURL}
	}
	var pages []*url.URL
	for _, base := range bases {
		page, err := withQuery(base, url.Values{"q": {query}})
		if err != nil {
			return nil, err
		}
		pages = append(pages, page)
	}
	return pages, nil
}

// parseDuck reads either page. What is recognised is told by class, never by
// words, for the words of the query stand in every page.
func parseDuck(p *webPage) ([]hit, error) {
	text, err := decodeText(p.body, p.header.Get("Content-Type"), true)
	if err != nil {
		return nil, err
	}
	d := duckReader{scan: htmlScanner{src: text}}
	d.read()
	switch {
	case len(d.hits) > 0:
		return d.hits, nil
	case d.robot, p.status == 202, p.status == 403, p.status == 429:
		return nil, errBlocked
	case p.status >= 400:
		return nil, errors.New(p.failure())
	case d.none:
		return nil, nil
	}
	return nil, errChanged
}

// duckReader collects hits in one pass.
type duckReader struct {
	scan  htmlScanner
	hits  []hit
	robot bool // the page asks whether a robot is there
	none  bool // the page says that there is nothing
}

func (d *duckReader) read() {
	open := false // a hit that may get its snippet
	for t, ok := d.scan.next(); ok && len(d.hits) <= maxHits; t, ok = d.scan.next() {
		if t.name == "" {
			d.none = d.none || saysNone(t.text)
			continue
		}
		class := strings.Fields(attr(t.text, "class"))
		switch {
		case t.end:
		case slices.Contains(class, "result__a"), slices.Contains(class, "result-link"):
			h := hit{url: unwrapDuck(attr(t.text, "href")), title: d.content(t.name)}
			if open = h.url != "" && h.title != ""; open {
				d.hits = append(d.hits, h)
			}
		case slices.Contains(class, "result__snippet"), slices.Contains(class, "result-snippet"):
			if open {
				d.hits[len(d.hits)-1].snippet = d.content(t.name)
				open = false
			}
		case slices.Contains(class, "no-results"), slices.Contains(class, "result--no-result"):
			d.none = true
		case attr(t.text, "id") == "challenge-form", slices.ContainsFunc(class, func(c string) bool { return strings.HasPrefix(c, "anomaly-modal") }):
			d.robot = true
		}
	}
}

// saysNone knows the sentence of the lite page, which has no class.
func saysNone(text string) bool {
	text = strings.TrimSpace(text[:min(len(text), 200)])
	return text == "No results." || text == "No more results."
}

// content is the text up to the end tag of an element.
func (d *duckReader) content(name string) string {
	const most = 8 << 10
	var b strings.Builder
	for t, ok := d.scan.next(); ok && b.Len() < most; t, ok = d.scan.next() {
		if t.end && t.name == name {
			break
		}
		if t.name == "" {
			b.WriteString(unescapeHTML(cutText(t.text, most)))
		}
	}
	return oneLine(b.String())
}

// unwrapDuck takes the true address out of DuckDuckGo's redirect. It is "" for
// what is no result, such as an advertisement.
func unwrapDuck(href string) string {
	base := url.URL{Scheme: "https", Host: "duckduckgo.com", Path: "/"}
	u, err := base.Parse(strings.TrimSpace(unescapeHTML(href)))
	if err != nil {
		return ""
	}
	if isDuck(u) && u.Path == "/l/" {
		if u, err = url.Parse(u.Query().Get("uddg")); err != nil {
			return ""
		}
	}
	if isDuck(u) && u.Path == "/y.js" {
		return ""
	}
	return webURL(u.String())
}

func isDuck(u *url.URL) bool {
	return u.Hostname() == "duckduckgo.com" || strings.HasSuffix(u.Hostname(), ".duckduckgo.com")
}

// webURL is the address of a result, "" if it is none.
func webURL(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(s) > maxLink {
		return ""
	}
	return u.String()
}

func searxPages(w *Web, query string) ([]*url.URL, error) {
	if w.SearchURL == "" {
		return nil, errors.New("web.search_url must name the SearXNG server")
	}
	base := strings.TrimSuffix(w.SearchURL, "/")
	if !strings.HasSuffix(base, "/search") {
		base += "/search"
	}
	page, err := withQuery(base, url.Values{"q": {query}, "format": {"json"}})
	return []*url.URL{page}, err
}

// parseSearx reads the JSON of a SearXNG server. Where none of its engines
// found anything and some gave no answer, that is not the same as nothing.
func parseSearx(p *webPage) ([]hit, error) {
	switch p.status {
	case 403:
		return nil, errors.New("HTTP 403: the SearXNG server gives no JSON; its search.formats must have json")
	case 429:
		return nil, errBlocked
	}
	v, err := parseAnswer(p)
	if err != nil {
		return nil, err
	}
	results := v.Get("results")
	if results == nil {
		return nil, errChanged
	}
	hits, err := readHits(results, "content", oneLine)
	if silent := silentEngines(v.GetArray("unresponsive_engines")); err == nil && len(hits) == 0 && silent != "" {
		return nil, fmt.Errorf("nothing was found, but these engines of the SearXNG server did not answer, so there may be something: %s", silent)
	}
	return hits, err
}

// silentEngines names engines and why they gave no answer.
func silentEngines(list []*fastjson.Value) string {
	var names []string
	for _, e := range list[:min(len(list), maxHits)] {
		name := string(e.GetStringBytes("0"))
		if reason := string(e.GetStringBytes("1")); reason != "" {
			name += " (" + reason + ")"
		}
		if name = oneLine(name); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func bravePages(w *Web, query string) ([]*url.URL, error) {
	if w.SearchKey == "" {
		return nil, errors.New("no key: the environment variable that web.search_key_env names must hold it")
	}
	base := w.SearchURL
	if base == "" {
		base = "https://api.search.brave.com/res/v1/web/search"
	}
	page, err := withQuery(base, url.Values{"q": {query}, "count": {fmt.Sprint(maxHits)}})
	return []*url.URL{page}, err
}

// parseBrave reads the JSON of Brave's search API. An answer without results
// has no web member.
func parseBrave(p *webPage) ([]hit, error) {
	v, err := parseAnswer(p)
	if err != nil {
		return nil, err
	}
	results := v.Get("web", "results")
	if results == nil {
		if v.Exists("web") || string(v.GetStringBytes("type")) != "search" {
			return nil, errChanged
		}
		return nil, nil
	}
	return readHits(results, "description", plainHTML)
}

// parseAnswer is the JSON object of an answer that is no error.
func parseAnswer(p *webPage) (*fastjson.Value, error) {
	switch p.status {
	case 401, 403:
		return nil, fmt.Errorf("the key was refused: %s", p.failure())
	case 429:
		return nil, fmt.Errorf("too many searches for now: %s", p.failure())
	}
	if p.status >= 400 {
		return nil, errors.New(p.failure())
	}
	v, err := fastjson.ParseBytes(p.body)
	if err != nil || v.Type() != fastjson.TypeObject {
		return nil, errChanged
	}
	return v, nil
}

// readHits reads results; snippet is the name of their text, and text makes a
// line of it. Where there are results but none can be read, that is not the
// same as none.
func readHits(list *fastjson.Value, snippet string, text func(string) string) ([]hit, error) {
	var hits []hit
	results, err := list.Array()
	if err != nil {
		return nil, errChanged
	}
	for _, r := range results {
		h := hit{
			title:   text(string(r.GetStringBytes("title"))),
			url:     webURL(string(r.GetStringBytes("url"))),
			snippet: text(string(r.GetStringBytes(snippet))),
		}
		if h.title == "" {
			h.title = h.url
		}
		if h.url != "" {
			hits = append(hits, h)
		}
		if len(hits) == maxHits {
			break
		}
	}
	if len(hits) == 0 && len(results) > 0 {
		return nil, errChanged
	}
	return hits, nil
}
