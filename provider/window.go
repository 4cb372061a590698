package provider

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/valyala/fastjson"
)

// Window is how much a server takes at once, in tokens, and where that was
// found: "models", "props" (llama.cpp), "loaded" (LM Studio), "running"
// (Ollama), "learnt" from a refusal, or "" with 0.
type Window struct {
	Tokens int
	Source string
}

// serverKind tells the servers on this network apart, as far as it matters.
type serverKind int

const (
	unknownServer serverKind = iota
	llamaServer
	ollamaServer
)

// Window asks the server for the window of the current model. Nothing depends
// on it: where nothing is told it is zero.
func (c *Client) Window(ctx context.Context) Window {
	if l := c.learnt(); l.window > 0 && l.windowFrom != "" {
		return Window{l.window, l.windowFrom}
	}
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	w := c.probe(ctx)
	if w.Tokens > 0 {
		c.learn(w.Tokens, w.Source)
	}
	return w
}

func (c *Client) learn(window int, from string) {
	l := c.learnt()
	l.window, l.windowFrom = window, from
}

// probe looks at the addresses that local servers tell their window at. Each
// tells by its answers what it is.
func (c *Client) probe(ctx context.Context) Window {
	list, err := c.list(ctx, under(c.base, "/models"))
	var status *StatusError
	c.asked = err == nil || errors.As(err, &status) && status.Code != 503
	m := findModel(list, c.o.Model)
	if m == nil && len(list) == 1 { // a server of one model takes any name for it
		m = &list[0]
	}
	if m != nil && m.llamaCPP {
		c.kind = llamaServer
		c.learnt().progress = true
	}
	switch {
	case m != nil && m.Window > 0:
		return Window{m.Window, "models"}
	case m != nil && m.llamaCPP:
		return c.props(ctx)
	}
	if loaded, err := c.list(ctx, c.root("/api/v0/models")); err == nil {
		if m := findModel(loaded, c.o.Model); m != nil && m.Window > 0 {
			return Window{m.Window, "loaded"}
		}
		return Window{}
	}
	if v, err := c.getJSON(ctx, c.root("/api/version")); err == nil && text(v.Get("version")) != "" {
		c.kind = ollamaServer
		return c.running(ctx)
	}
	if w := c.props(ctx); w.Tokens > 0 {
		c.kind = llamaServer
		c.learnt().progress = true
		return w
	}
	return Window{}
}

// root is an address beside the API, which is below /v1 on these servers.
func (c *Client) root(path string) *url.URL {
	u := *c.base
	u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/v1"), strings.TrimSuffix(u.RawPath, "/v1")
	return under(&u, path)
}

// props is llama.cpp's account of itself.
func (c *Client) props(ctx context.Context) Window {
	v, err := c.getJSON(ctx, c.root("/props"))
	if err != nil {
		return Window{}
	}
	if n := count(v.Get("default_generation_settings"), "n_ctx"); n > 0 {
		return Window{n, "props"}
	}
	return Window{}
}

// running is the window that Ollama has given the model. It is known only once
// the model is loaded, so after the first reply.
func (c *Client) running(ctx context.Context) Window {
	v, err := c.getJSON(ctx, c.root("/api/ps"))
	if err != nil {
		return Window{}
	}
	for _, m := range v.GetArray("models") {
		if n := count(m, "context_length"); n > 0 && isRunning(m, c.o.Model) {
			return Window{n, "running"}
		}
	}
	return Window{}
}

func isRunning(v *fastjson.Value, model string) bool {
	for _, k := range []string{"name", "model"} {
		if name := text(v.Get(k)); name == model || name == model+":latest" {
			return true
		}
	}
	return false
}

// smallWindow is what Ollama gives every model unless it is told otherwise.
const smallWindow = 4096

// Look asks a server on this network what it is, before its first request, and
// returns the window of the current model as far as it is known, else 0.
func (c *Client) Look(ctx context.Context) int {
	if c.quirks.Local && !c.asked && c.looks < 2 { // one that is down or still loading is asked once more
		c.looks++
		c.Window(ctx)
	}
	return c.learnt().window
}

// checkOllama warns, once, of a window that Ollama keeps to by cutting the
// begin of the conversation without a word. size is the length of the request,
// prompt what the server counted.
func (x *exchange) checkOllama(size int64, prompt int) {
	c, l := x.c, x.c.learnt()
	if c.kind != ollamaServer || l.overWarned {
		return
	}
	if l.windowFrom != "running" {
		ctx, cancel := context.WithTimeout(x.ctx, probeLimit)
		defer cancel()
		if w := c.running(ctx); w.Tokens > 0 {
			c.learn(w.Tokens, w.Source)
		}
	}
	estimate := int(size / 4)
	cut := prompt > 0 && prompt < estimate/2
	if l.window > 0 && (estimate > l.window || cut || l.window <= smallWindow) {
		l.overWarned = true
		x.notice("Ollama runs this model with a window of %d tokens and silently cuts off what is longer; "+
			"set OLLAMA_CONTEXT_LENGTH, or PARAMETER num_ctx in a Modelfile", l.window)
	}
}
