package provider

import (
	"context"
	"io"
	"net/url"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// maxErrorBody is the most that is read of an answer that is no reply.
const maxErrorBody = 64 << 10

// attempt sends the request once and judges what comes back. Its account goes
// to the trace whatever happened.
func (x *exchange) attempt() (got chat.Reply, f *failure) {
	c := x.c
	r := c.newRequest(x.req, x.note)
	x.sent, x.shown = r.fields, false
	w := newWatch(x.ctx, &c.o, c.streams())
	defer w.stop()
	x.size = r.size()

	var known map[string]string
	if len(x.req.Tools) > 0 && c.textTools() {
		known = toolSchemas(x.req.Tools)
	}
	resp, err := c.post(w.ctx, x.url, r, x.size)
	switch {
	case err != nil:
		f = c.network(err, w)
	case resp.Status >= 400:
		f = c.refusal(resp, w)
		if f.param == "messages.content" && x.hasImages() && !x.hasNull() {
			f.param, f.advice = imageParam, adviseDrop // the list that an image makes of it
		}
	case resp.Status >= 300:
		f = x.redirected(resp)
	default:
		answer := c.newReply(known, w, x.onDelta)
		in := c.debugBody(resp)
		bad, end := answer.read(in)
		got, f = answer.close(bad, end, x.usedID)
		x.shown = answer.shown
		if answer.done {
			w.drain(in)
		}
	}
	if resp != nil {
		resp.Body.Close() // which ends the writing of r too
	}
	if r.err != nil {
		clear(c.images) // one was changed: look at them again
	}
	if f != nil && x.ctx.Err() != nil {
		f = fail(Cancelled, adviseNo, context.Cause(x.ctx), "cancelled")
	}
	if f != nil && f.class == EmptyResponse && x.req.Once {
		f = nil
	}
	c.trace.write(&got, f)
	c.debugReply(&got, f)
	return got, f
}

// usedID says whether a call of the conversation has that id already.
func (x *exchange) usedID(id string) bool {
	for i := range x.req.Messages {
		for j := range x.req.Messages[i].ToolCalls {
			if x.req.Messages[i].ToolCalls[j].ID == id {
				return true
			}
		}
	}
	return false
}

// textTools says whether calls are looked for in the text.
func (c *Client) textTools() bool {
	switch c.o.TextTools {
	case "true":
		return true
	case "false":
		return false
	}
	return c.quirks.TextTools
}

// post sends a request of size bytes.
func (c *Client) post(ctx context.Context, u *url.URL, r *request, size int64) (*httpc.Response, error) {
	return c.send(ctx, &httpc.Request{Method: "POST", URL: u, Header: c.headerFor(u), Body: r.writeTo, Size: size})
}

// headerFor is the header of a request, with the user that its URL names unless
// there is a key.
func (c *Client) headerFor(u *url.URL) httpc.Header {
	h := c.headers
	if h.Get("Authorization") == "" {
		h.SetBasic(u.User)
	}
	return h
}

// refusal reads and judges an answer with an error status.
func (c *Client) refusal(resp *httpc.Response, w *watch) *failure {
	text, err := io.ReadAll(io.LimitReader(w.reader(c.debugBody(resp)), maxErrorBody))
	if f := w.stall(); err != nil && f != nil && len(text) == 0 {
		return f
	}
	return c.classify(resp.Status, parseComplaint(text), resp.Header)
}

// redirected judges a redirect and takes note of where it leads; a permanent
// one holds for the requests that follow too.
func (x *exchange) redirected(resp *httpc.Response) *failure {
	f, target := x.c.redirect(resp, x.url)
	if target != nil {
		x.url = target
		if resp.Status == 308 {
			x.c.url = target
		}
	}
	return f
}
