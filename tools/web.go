package tools

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"time"

	"cluade/internal/hostname"
	"cluade/internal/httpc"
	"cluade/internal/policy"
)

// Web is how the web tools reach the network.
type Web struct {
	UserAgent string        // "" is that of a common browser
	Search    string        // duckduckgo, searxng or brave; "" is duckduckgo
	SearchURL string        // of a SearXNG server, or in place of an engine's own
	SearchKey string        // of the Brave API
	Timeout   time.Duration // of a whole call; 0 is 15 s
	Bytes     int           // most bytes of a page's text; 0 is 32768
	// TLS is how the certificate of a host, a name or an address, is checked;
	// nil is Go's own way.
	TLS func(host string) *tls.Config
	// Met is asked before a redirect is followed, with the call and what it met;
	// nil allows all.
	Met func(by, s policy.Subject) policy.Decision
}

// What bounds one fetch.
const (
	maxRedirects = 5
	maxBody      = 512 << 10 // after decompression
	maxShownURL  = 2000
)

// chrome is the name under which pages are fetched: many servers turn unknown
// programs away.
const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36"

// webRequest is a page that is wanted.
type webRequest struct {
	url    *url.URL
	tool   string // on whose behalf, for the rules
	accept string
	key    string // of the Brave API, which goes to no other host than the first
}

// webPage is an answer of a web server.
type webPage struct {
	status int
	url    *url.URL
	header httpc.Header
	body   []byte // at most maxBody bytes
	size   int64  // as announced, -1 where it was not
	cut    string // why body is not the whole, "" where it is
}

// limited bounds a call as a whole.
func (w *Web) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := w.Timeout
	if limit <= 0 {
		limit = 15 * time.Second
	}
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("no whole answer within %v", limit))
}

// fetch gets a page and follows redirects. ctx must have a limit.
func (w *Web) fetch(ctx context.Context, r webRequest) (*webPage, error) {
	u := r.url
	t := newTrip(u)
	for range maxRedirects + 1 {
		p, next, err := w.get(ctx, t, u, r)
		if err != nil {
			return nil, explain(ctx, u, err)
		}
		if next == nil {
			return p, nil
		}
		if w.Met != nil {
			by := policy.Subject{Tool: r.tool, Effect: policy.Network, URL: r.url.String()}
			s := by
			s.URL = next.String()
			if d := w.Met(by, s); d.Verdict != policy.Allow {
				return nil, fmt.Errorf("redirect to %s: %s", shownURL(next), d.Reason)
			}
		}
		if err := t.redirect(next); err != nil {
			return nil, fmt.Errorf("redirect to %s: %w", shownURL(next), err)
		}
		switch same := next.Scheme == u.Scheme && strings.EqualFold(next.Host, u.Host); {
		case !same:
			r.key = ""
		case next.User == nil:
			next.User = u.User
		}
		u = next
	}
	return nil, fmt.Errorf("more than %d redirects, the last to %s", maxRedirects, shownURL(u))
}

// get makes one request. next is where the answer points, nil where it is a
// page.
func (w *Web) get(ctx context.Context, t *trip, u *url.URL, r webRequest) (p *webPage, next *url.URL, err error) {
	c, err := t.client(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	defer c.CloseIdle()
	if w.TLS != nil {
		c.TLS = func(host string, _ net.Conn) *tls.Config { return w.TLS(host) }
	}
	resp, err := c.Do(ctx, &httpc.Request{Method: "GET", URL: u, Header: w.header(u, r)})
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	switch resp.Status {
	case 301, 302, 303, 307, 308:
		next, err = location(resp, u)
		return nil, next, err
	}
	p, err = readPage(ctx, resp)
	if err == nil {
		p.url = u
	}
	return p, nil, err
}

// header says who asks for what.
func (w *Web) header(u *url.URL, r webRequest) (h httpc.Header) {
	agent := w.UserAgent
	if agent == "" {
		agent = chrome
	}
	h.Set("User-Agent", agent)
	h.Set("Accept", r.accept)
	h.Set("Accept-Language", "en-US,en;q=0.9")
	if r.key != "" {
		h.Set("X-Subscription-Token", r.key)
	}
	h.SetBasic(u.User)
	return h
}

// location is where a redirect points.
func location(resp *httpc.Response, from *url.URL) (*url.URL, error) {
	where := resp.Header.Get("Location")
	next, err := from.Parse(where)
	if where == "" || err != nil {
		return nil, fmt.Errorf("HTTP %d without a usable address to go to (%q)", resp.Status, cutText(where, 200))
	}
	if next, err = parseURL(next.String()); err != nil {
		return nil, fmt.Errorf("redirect: %w", err)
	}
	return next, nil
}

// readPage takes what is wanted of a body and no more. What came before the
// time was over or the connection broke off is worth showing.
func readPage(ctx context.Context, resp *httpc.Response) (*webPage, error) {
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return nil, fmt.Errorf("the server sent the content encoding %q, which was not asked for", cutText(coding, 40))
	}
	p := &webPage{status: resp.Status, header: resp.Header, size: resp.Length}
	if p.size >= 0 && !isText(p.kind()) && resp.Header.Get("Content-Type") != "" {
		return p, nil // it would be for nothing
	}
	var err error
	p.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	timeout := errors.Is(ctx.Err(), context.DeadlineExceeded)
	switch {
	case len(p.body) > maxBody:
		p.body, p.cut = p.body[:maxBody], fmt.Sprintf("only the first %d KiB were read", maxBody>>10)
	case err == nil:
	case len(p.body) == 0 || ctx.Err() != nil && !timeout:
		return nil, err
	case timeout:
		p.cut = fmt.Sprintf("only %d bytes came in time: %v", len(p.body), context.Cause(ctx))
	default:
		p.cut = fmt.Sprintf("the connection broke off after %d bytes", len(p.body))
	}
	return p, nil
}

// parseURL reads an address that may be fetched. Its host has the spelling that
// is dialled and that rules are compared with.
func parseURL(raw string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no URL: %w", cutText(raw, 200), errors.Unwrap(err))
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("only http:// and https:// addresses are fetched, not %q", cutText(raw, 200))
	case u.Hostname() == "":
		return nil, fmt.Errorf("%q names no host", cutText(raw, 200))
	}
	host, err := hostname.Canonical(u.Hostname())
	if err != nil {
		return nil, err
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	u.Host, u.Fragment, u.RawFragment = host, "", ""
	return u, nil
}

// shownURL is an address for reading, without a password.
func shownURL(u *url.URL) string { return cutText(u.Redacted(), maxShownURL) }
