package httpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// errStale marks the failure of an exchange in which the server said nothing:
// on a kept connection that means that it was closed before the request came.
var errStale = errors.New("no byte of an answer")

// exchange is one request and its answer on a connection. The request is
// written by a goroutine of its own, so that an answer which comes before its
// end is seen; end waits for it.
type exchange struct {
	ctx    context.Context
	client *Client
	conn   *conn
	stop   func() bool // takes back that the end of ctx closes conn
	wrote  chan error
	sent   error // what wrote said, once written is true

	written, ended bool
}

func (c *Client) exchange(ctx context.Context, cn *conn, r *Request, head []byte) (*Response, error) {
	x := &exchange{ctx: ctx, client: c, conn: cn, wrote: make(chan error, 1)}
	x.stop = context.AfterFunc(ctx, func() { cn.raw.Close() })
	go func() { x.wrote <- x.write(r, head) }()

	_, err := cn.in.Peek(1)
	stale := err != nil
	var resp *Response
	var f framing
	if !stale {
		resp, f, err = readHead(cn.in, r.Method)
	}
	if err != nil {
		x.end(false)
		return nil, x.fault(err, stale)
	}
	if resp.Status >= 300 {
		x.endUpload() // it will not be read
	}
	resp.Body = newBody(x, f)
	unzip(resp)
	return resp, nil
}

// write sends the request. A fault of the body closes the connection: the
// server would wait for the rest. Where the connection fails nothing is done
// here, for the server may have said why before it hung up.
func (x *exchange) write(r *Request, head []byte) error {
	out := x.conn.out
	out.Write(head)
	if r.Body == nil {
		return out.Flush()
	}
	b := counted{w: out, left: r.Size}
	err := r.Body(&b)
	switch {
	case b.lost:
		return out.Flush() // the same error again
	case err == nil && b.left != 0:
		err = fmt.Errorf("the body is %d bytes shorter than announced", b.left)
	case err == nil:
		return out.Flush()
	}
	x.conn.raw.Close()
	return &bodyError{err}
}

// bodyError is why a body could not be written that is not the connection's
// fault.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return "write request: " + e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// counted passes no more than what was announced: more would be taken for the
// next request.
type counted struct {
	w    *bufio.Writer
	left int64
	lost bool // the connection has failed
}

func (c *counted) Write(p []byte) (int, error) {
	if int64(len(p)) > c.left {
		return 0, errors.New("the body is longer than announced")
	}
	c.left -= int64(len(p))
	n, err := c.w.Write(p)
	c.lost = c.lost || err != nil
	return n, err
}

// endUpload stops the writing and says whether all had been written.
func (x *exchange) endUpload() bool {
	if !x.written {
		x.conn.raw.SetWriteDeadline(time.Unix(1, 0))
		x.sent = <-x.wrote
		x.written = true
		x.conn.raw.SetWriteDeadline(time.Time{})
	}
	return x.sent == nil
}

// end ends the exchange. The connection is kept where the server is ready for
// another request, else closed.
func (x *exchange) end(reusable bool) {
	if x.ended {
		return
	}
	x.ended = true
	if !reusable {
		x.conn.raw.Close()
	}
	sent := x.endUpload()
	switch {
	case x.stop() && sent && reusable:
		x.client.keep(x.conn)
	case reusable:
		x.conn.raw.Close()
	}
}

// fault is the error of an exchange that has no answer, once it has ended.
func (x *exchange) fault(err error, stale bool) error {
	var own *bodyError
	switch {
	case x.ctx.Err() != nil:
		return context.Cause(x.ctx)
	case errors.As(x.sent, &own):
		return own
	case err == io.EOF && !stale:
		err = io.ErrUnexpectedEOF
	}
	if stale {
		return &staleError{err}
	}
	return err
}

// staleError is err that is errStale too.
type staleError struct{ err error }

func (e *staleError) Error() string        { return e.err.Error() }
func (e *staleError) Unwrap() error        { return e.err }
func (e *staleError) Is(target error) bool { return target == errStale }
