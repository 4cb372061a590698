package provider

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// Client is one endpoint with its connection and what was learnt of it.
type Client struct {
	o       Options
	base    *url.URL
	url     *url.URL // of the chat completions, after a redirect where it led
	host    string   // host and port of the base URL; marks whose thinking is whose
	quirks  Quirks
	extra   []field
	headers httpc.Header
	secrets secrets
	roots   *roots
	http    *httpc.Client
	send    func(context.Context, *httpc.Request) (*httpc.Response, error) // by http; tests answer in its place
	known   map[string]*learnt                                             // by model
	images  map[string]bool                                                // those looked at, and whether they are as they were
	kind    serverKind
	asked   bool // the server has told what it has
	looks   int  // how often it was asked
	trace   *trace
	unit    time.Duration // of the back-off, a second outside of tests
}

// New checks the options; it opens no connection.
func New(o Options) (*Client, error) {
	o = o.withDefaults()
	base, err := parseBase(o.BaseURL)
	if err != nil {
		return nil, err
	}
	c := &Client{
		o:      o,
		base:   base,
		url:    under(base, "/chat/completions"),
		host:   strings.ToLower(base.Host),
		quirks: quirksOf(strings.ToLower(base.Hostname())),
		roots:  newRoots(o.CAFile),
		known:  map[string]*learnt{},
		images: map[string]bool{},
		unit:   time.Second,
	}
	if c.extra, err = parseExtra(o.ExtraBody); err != nil {
		return nil, err
	}
	if err = c.quirks.override(o.Quirks); err != nil {
		return nil, err
	}
	if err = c.setHeaders(); err != nil {
		return nil, err
	}
	c.trace = &trace{path: o.Trace, secrets: c.secrets}
	c.http = newHTTP(o.Insecure, c.roots)
	c.send = c.http.Do
	return c, nil
}

// setHeaders prepares what every request carries, and notes what of it is
// secret.
func (c *Client) setHeaders() error {
	var h httpc.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", strings.TrimSuffix("cluade/"+c.o.Version, "/"))
	if c.o.Key != "" {
		if c.quirks.KeyHeader != "" {
			h.Set(c.quirks.KeyHeader, c.o.Key)
		} else {
			h.Set("Authorization", "Bearer "+c.o.Key)
		}
		c.secrets = append(c.secrets, c.o.Key)
	}
	for _, kv := range c.o.Headers {
		if !httpc.IsToken(kv[0]) || !httpc.IsValue(kv[1]) {
			return fmt.Errorf("header %q cannot be sent", chat.EscapeText(kv[0], 60))
		}
		switch strings.ToLower(kv[0]) {
		case "content-length", "transfer-encoding", "connection", "accept-encoding":
			return fmt.Errorf("header %s is set by the transport", kv[0])
		}
		h.Set(kv[0], kv[1])
		c.hide(kv[1])
		for _, word := range strings.FieldsFunc(kv[1], func(r rune) bool { return strings.ContainsRune(" \t=;,", r) }) {
			c.hide(word)
		}
	}
	c.headers = h
	c.hideURL(c.base)
	if proxy, _ := proxyFor(c.base); proxy != nil {
		c.hideURL(proxy)
	}
	return nil
}

// hide makes s a secret; what is shorter is none.
func (c *Client) hide(s string) {
	if len(s) >= 6 {
		c.secrets = append(c.secrets, s)
	}
}

// hideURL makes secrets of what a URL holds that lets somebody in: the user's
// password, in the form of the header too, and keys in the query.
func (c *Client) hideURL(u *url.URL) {
	secret, ok := u.User.Password()
	if !ok {
		secret = u.User.Username() // a token stands there
	}
	if secret != "" {
		var h httpc.Header
		h.SetBasic(u.User)
		c.secrets = append(c.secrets, secret, strings.TrimRight(strings.TrimPrefix(h.Get("Authorization"), "Basic "), "="))
	}
	for rest, more := u.RawQuery, true; more; {
		var pair string
		pair, rest, more = strings.Cut(rest, "&")
		name, value, _ := strings.Cut(pair, "=")
		if hasAny(strings.ToLower(name), "key", "token", "sig", "secret", "pass", "auth", "code") {
			if plain, err := url.QueryUnescape(value); err == nil {
				value = plain
			}
			c.hide(value)
		}
	}
}

// SetModel changes the model for the next request.
func (c *Client) SetModel(name string) { c.o.Model = name }

// learnt is what was learnt of the current model on this host.
func (c *Client) learnt() *learnt {
	l := c.known[c.o.Model]
	if l == nil {
		l = &learnt{}
		c.known[c.o.Model] = l
	}
	return l
}

// Chat sends one request and reads its reply. Retries, waits and repairs happen
// inside and are told through onDelta.
func (c *Client) Chat(ctx context.Context, req chat.Request, onDelta func(chat.Delta)) (chat.Reply, error) {
	x := &exchange{c: c, ctx: ctx, url: c.url, req: req, onDelta: onDelta}
	c.Look(ctx)
	for {
		got, f := x.attempt()
		if f == nil {
			x.checkOllama(x.size, got.Usage.Prompt)
			return c.complete(got), nil
		}
		switch x.next(f, &got) {
		case again:
			continue
		case accept:
			return c.complete(got), nil
		}
		got.Message.ToolCalls = nil
		return got, x.end(f)
	}
}

// complete adds what is known beside the reply.
func (c *Client) complete(got chat.Reply) chat.Reply {
	if got.Finish == "" {
		got.Finish = chat.FinishStop
	}
	got.Window = c.learnt().window
	return got
}

// end is the error of an exchange that is given up.
func (x *exchange) end(f *failure) error {
	if x.ctx.Err() != nil {
		return fmt.Errorf("request cancelled: %w", context.Cause(x.ctx))
	}
	if x.madePlain { // it was no better
		x.c.learnt().plain = false
	}
	if f.class == ContextOverflow && f.limit > 0 {
		x.c.learn(f.limit, "learnt")
	}
	return f.final()
}

// Close ends the trace and the idle connection. A client can be used on after
// it.
func (c *Client) Close() error {
	c.http.CloseIdle()
	return c.trace.close()
}
