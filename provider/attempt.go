package provider

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"

	"cluade/internal/chat"
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
	out := &outgoing{request: r, size: r.size()}
	x.size = out.size
	defer func() {
		if out.wait(); r.err != nil {
			clear(c.images) // one was changed: look at them again
		}
	}()

	var known map[string]string
	if len(x.req.Tools) > 0 && c.textTools() {
		known = toolSchemas(x.req.Tools)
	}
	resp, err := c.post(w.ctx, x.url, out)
	switch {
	case err != nil:
		f = c.network(err, w)
	case resp.StatusCode >= 400:
		f = c.refusal(resp, w)
	case resp.StatusCode >= 300:
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
		resp.Body.Close()
	}
	if f != nil && x.ctx.Err() != nil {
		f = fail(Cancelled, adviseNo, context.Cause(x.ctx), "cancelled")
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

// post sends the request. The body can be made again, so that a connection
// which the server had closed in the meantime costs nothing.
func (c *Client) post(ctx context.Context, u *url.URL, b *outgoing) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header = c.headers.Clone()
	req.Host = c.headers.Get("Host")
	req.ContentLength = b.size
	req.Body = b.open()
	req.GetBody = func() (io.ReadCloser, error) { return b.open(), nil }
	// Present but without a value it is not sent, and tells net/http that the
	// request may go out again when the server had closed the idle connection.
	req.Header["Idempotency-Key"] = []string{}
	return c.http.Do(req)
}

// refusal reads and judges an answer with an error status.
func (c *Client) refusal(resp *http.Response, w *watch) *failure {
	text, err := io.ReadAll(io.LimitReader(w.reader(c.debugBody(resp)), maxErrorBody))
	if t := w.timeout(); err != nil && t != nil && len(text) == 0 {
		return fail(Stall, adviseResend, t, t.Error())
	}
	return c.classify(resp.StatusCode, parseComplaint(text), resp.Header)
}

// redirected judges a redirect and takes note of where it leads; a permanent
// one holds for the requests that follow too.
func (x *exchange) redirected(resp *http.Response) *failure {
	f, target := x.c.redirect(resp, x.url)
	if target != nil {
		x.url = target
		if resp.StatusCode == http.StatusPermanentRedirect {
			x.c.url = target
		}
	}
	return f
}

// outgoing is the request on its way out. It is encoded into a pipe by a
// goroutine that has ended before the attempt does, since it reads the caller's
// messages.
type outgoing struct {
	request *request
	size    int64
	pipes   []*io.PipeReader
	writers sync.WaitGroup
}

func (b *outgoing) open() io.ReadCloser {
	r, w := io.Pipe()
	b.pipes = append(b.pipes, r)
	b.writers.Go(func() { w.CloseWithError(b.request.writeTo(w)) })
	return r
}

// wait ends the encoders.
func (b *outgoing) wait() {
	for _, p := range b.pipes {
		p.Close()
	}
	b.writers.Wait()
}
