// Package httpc is a small client of HTTP/1.1 (RFC 9110, RFC 9112). net/http
// would be a tenth of the whole program on a router, most of it for what a
// program that makes one request at a time does not need: it follows no
// redirects, keeps no cookies and speaks no HTTP/2. What comes from a server is
// bounded and refused where its meaning is in doubt.
package httpc

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// Client makes requests and keeps the connections of the last ones, one to a
// server. It may be used by several goroutines.
type Client struct {
	// Dial opens a connection to a host and port; the host is ASCII.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// TLS gives the configuration for a host, a name or an address, which the
	// client may then change. raw is the connection to that host itself, nil
	// where a proxy stands between. Without a function it is Go's own.
	TLS func(host string, raw net.Conn) *tls.Config
	// Proxy names the proxy for a URL, nil for none: http, https, socks5 or
	// socks5h. Without a function there is none.
	Proxy func(*url.URL) (*url.URL, error)
	// Handshake limits what follows a dial: the proxy's consent and TLS. 0 is
	// 30 s.
	Handshake time.Duration

	mu   sync.Mutex
	idle []*conn // in the order of their last use
}

// What bounds a client.
const (
	maxHead  = 64 << 10 // of an answer, interim answers included
	maxIdle  = 2
	idleTime = 5 * time.Minute
)

// Request is what is asked. Its header has neither Content-Length nor
// Accept-Encoding; a Host field stands in place of the URL's host. The URL's
// user is not sent, see Header.SetBasic.
type Request struct {
	Method string
	URL    *url.URL
	Header Header
	// Body writes the body of Size bytes; nil is none. It is called again where
	// the connection turns out to be closed, and may still run when Do has
	// returned, until the answer's body is at its end or closed.
	Body func(io.Writer) error
	Size int64
}

// Response is an answer. The caller closes Body.
type Response struct {
	Status int
	Reason string // the server's own word for Status, as it came
	Header Header
	Length int64 // of Body; -1 where it is not known
	Body   io.ReadCloser
}

// Do sends a request and returns when the head of the answer is there. The end
// of ctx, whose cause is the error, ends everything, the body of the answer
// included. A connection that was kept and that the server has closed in the
// meantime is replaced in silence, as long as no byte of an answer has come.
func (c *Client) Do(ctx context.Context, r *Request) (*Response, error) {
	w, err := c.wayTo(r.URL)
	if err != nil {
		return nil, err
	}
	head, err := appendHead(nil, r, w)
	if err != nil {
		return nil, err
	}
	for cn := c.take(w.key()); ; cn = nil {
		if cn == nil {
			if cn, err = c.connect(ctx, w); err != nil {
				return nil, err
			}
		}
		resp, err := c.exchange(ctx, cn, r, head)
		if !errors.Is(err, errStale) || !cn.used {
			return resp, err
		}
	}
}

// conn is a connection to a server, or to one by way of a proxy.
type conn struct {
	net.Conn          // with TLS where the URL asks for it
	raw      net.Conn // without it: to be closed at once, even within a write
	in       *bufio.Reader
	out      *bufio.Writer
	key      string
	used     bool // by a request before
	expiry   *time.Timer
}

// take is the kept connection of a key, nil if there is none.
func (c *Client) take(key string) *conn {
	c.mu.Lock()
	var cn *conn
	for i := range c.idle {
		if c.idle[i].key == key {
			cn = c.idle[i]
			c.idle = append(c.idle[:i], c.idle[i+1:]...)
			break
		}
	}
	c.mu.Unlock()
	if cn == nil {
		return nil
	}
	cn.expiry.Stop()
	if !cn.silent() {
		cn.Close()
		return nil
	}
	return cn
}

// silent says that a kept connection is open and has nothing to say. What some
// servers write before they close one must not pass for the next answer.
func (cn *conn) silent() bool {
	waiting, open := peek(cn.raw)
	if !open {
		return false
	}
	limit := time.Unix(1, 0) // for a look at what was read already
	if waiting {
		limit = time.Now().Add(time.Millisecond) // it may be for TLS alone
	}
	cn.raw.SetReadDeadline(limit)
	_, err := cn.in.Peek(1)
	cn.raw.SetReadDeadline(time.Time{})
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}

// peek says whether something waits to be read from a socket, without waiting
// for it, and whether the other end is there.
func peek(nc net.Conn) (waiting, open bool) {
	socket, ok := nc.(syscall.Conn)
	if !ok {
		return false, false
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return false, false
	}
	var n int
	raw.Read(func(fd uintptr) bool {
		n, _, err = syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		return true
	})
	return n > 0, n > 0 || err == syscall.EAGAIN
}

// keep puts a connection by for the next request.
func (c *Client) keep(cn *conn) {
	cn.used = true
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.idle {
		if c.idle[i].key == cn.key {
			cn.Close()
			return
		}
	}
	if len(c.idle) == maxIdle {
		c.idle[0].expiry.Stop()
		c.idle[0].Close()
		c.idle = append(c.idle[:0], c.idle[1:]...)
	}
	c.idle = append(c.idle, cn)
	cn.expiry = time.AfterFunc(idleTime, func() { c.expire(cn) })
}

func (c *Client) expire(cn *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.idle {
		if c.idle[i] == cn {
			c.idle = append(c.idle[:i], c.idle[i+1:]...)
			cn.Close()
			return
		}
	}
}

// CloseIdle closes the connections that were kept.
func (c *Client) CloseIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, cn := range c.idle {
		cn.expiry.Stop()
		cn.Close()
	}
	c.idle = nil
}
