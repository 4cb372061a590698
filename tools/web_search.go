package tools

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cluade/internal/policy"
)

var webSearch = Tool{
	Name:    "web_search",
	Desc:    "Search the web; returns titles, links and snippets.",
	Params:  `{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`,
	Effect:  policy.Network,
	Subject: webSearchSubject,
	Run:     runWebSearch,
}

// What bounds one search.
const (
	maxHits  = 10
	maxQuery = 1000 // bytes
)

// hit is one result of a search.
type hit struct{ title, url, snippet string }

// errBlocked says that an engine took the request for a robot's; errChanged
// that its page has another form than this program reads. Neither means that
// nothing was found.
var (
	errBlocked = errors.New("the search was blocked (the engine takes this for a robot); wait, fetch a page you know with web_fetch, or have another engine set with web.search")
	errChanged = errors.New("page could not be parsed (layout changed or blocked)")
)

// engine is one way to search. pages are the addresses of an answer, of which
// the next is tried when one is blocked or changed.
type engine struct {
	name  string
	keyed bool
	pages func(w *Web, query string) ([]*url.URL, error)
	parse func(*webPage) ([]hit, error)
}

var engines = []engine{
	{name: "duckduckgo", pages: duckPages, parse: parseDuck},
	{name: "searxng", pages: searxPages, parse: parseSearx},
	{name: "brave", keyed: true, pages: bravePages, parse: parseBrave},
}

func webSearchSubject(e *Env, a *Args) (policy.Subject, error) {
	switch query := wanted(a); {
	case query == "":
		return policy.Subject{}, errors.New("query is empty")
	case len(query) > maxQuery:
		return policy.Subject{}, fmt.Errorf("query is too long: %d bytes, at most %d", len(query), maxQuery)
	}
	return policy.Subject{}, nil
}

// wanted is the query in one line.
func wanted(a *Args) string { return strings.Join(strings.Fields(a.Text("query")), " ") }

func runWebSearch(ctx context.Context, e *Env, a *Args) (Result, error) {
	ctx, cancel := e.Web.limited(ctx)
	defer cancel()
	query := wanted(a)
	eng, err := e.Web.engine()
	if err != nil {
		return Result{}, err
	}
	hits, err := e.Web.search(ctx, eng, query)
	if err != nil {
		return Result{}, fmt.Errorf("web search: %s: %w", eng.name, err)
	}
	if len(hits) == 0 {
		return Result{Text: fmt.Sprintf("No results for %q.", query)}, nil
	}
	var b strings.Builder
	for i, h := range hits {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", i+1, h.title, h.url)
		if h.snippet != "" {
			fmt.Fprintf(&b, "   %s\n", h.snippet)
		}
	}
	return Result{Text: strings.TrimSuffix(b.String(), "\n")}, nil
}

// search asks an engine. Without an error and without hits there are none.
func (w *Web) search(ctx context.Context, eng *engine, query string) ([]hit, error) {
	pages, err := eng.pages(w, query)
	if err != nil {
		return nil, err
	}
	var first error
	for _, page := range pages {
		hits, err := w.ask(ctx, eng, page)
		if err == nil {
			return hits, nil
		}
		if first == nil {
			first = err
		}
		if !errors.Is(err, errBlocked) && !errors.Is(err, errChanged) {
			break
		}
	}
	return nil, first
}

func (w *Web) engine() (*engine, error) {
	for i := range engines {
		if engines[i].name == w.Search || w.Search == "" {
			return &engines[i], nil
		}
	}
	return nil, fmt.Errorf("web.search names no engine: %q (duckduckgo, searxng or brave)", w.Search)
}

// ask gets one page of an engine and reads it.
func (w *Web) ask(ctx context.Context, eng *engine, page *url.URL) ([]hit, error) {
	r := webRequest{url: page, tool: "web_search", accept: "text/html,application/json"}
	if eng.keyed {
		r.key = w.SearchKey
	}
	p, err := w.fetch(ctx, r)
	if err != nil {
		return nil, err
	}
	hits, err := eng.parse(p)
	return hits[:min(len(hits), maxHits)], err
}

// withQuery adds parameters to an address.
func withQuery(base string, params url.Values) (*url.URL, error) {
	u, err := parseURL(base)
	if err != nil {
		return nil, fmt.Errorf("web.search_url: %w", err)
	}
	q := u.Query()
	for name, values := range params {
		q[name] = values
	}
	u.RawQuery = q.Encode()
	return u, nil
}
