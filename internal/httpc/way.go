package httpc

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"cluade/internal/hostname"
)

// way is how a server is reached.
type way struct {
	https bool
	host  string // ASCII, an IPv6 address without brackets
	port  string
	named string // host and port as the Host field has them
	proxy *url.URL
}

func (c *Client) wayTo(u *url.URL) (*way, error) {
	w := &way{https: u.Scheme == "https", port: portOf(u)}
	if !w.https && u.Scheme != "http" || u.Opaque != "" {
		return nil, fmt.Errorf("%q is no address of an HTTP server", u.Redacted())
	}
	var err error
	if w.host, err = hostname.ASCII(u.Hostname()); err != nil {
		return nil, err
	}
	w.named, _, _ = strings.Cut(w.host, "%") // a zone is of no concern to the server
	if strings.Contains(w.named, ":") {
		w.named = "[" + w.named + "]"
	}
	if port := u.Port(); port != "" {
		w.named += ":" + port
	}
	if c.Proxy != nil {
		w.proxy, err = c.Proxy(u)
	}
	return w, err
}

// addr is what Dial and proxies are given.
func (w *way) addr() string { return net.JoinHostPort(w.host, w.port) }

// key tells ways apart that cannot share a connection.
func (w *way) key() string {
	key := w.addr()
	if w.https {
		key += " https"
	}
	if w.proxy != nil {
		key += " " + w.proxy.String()
	}
	return key
}

// relayed says that a proxy reads the request and passes it on.
func (w *way) relayed() bool { return w.proxy != nil && !w.https && !isSOCKS(w.proxy) }

func isSOCKS(proxy *url.URL) bool { return strings.HasPrefix(proxy.Scheme, "socks5") }

// portOf is the port of a URL, the usual one of its scheme where it has none.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	case isSOCKS(u):
		return "1080"
	}
	return "80"
}

// connect opens a connection by a way.
func (c *Client) connect(ctx context.Context, w *way) (*conn, error) {
	addr := w.addr()
	if w.proxy != nil {
		addr = net.JoinHostPort(w.proxy.Hostname(), portOf(w.proxy))
	}
	raw, err := c.Dial(ctx, "tcp", addr)
	if err != nil {
		switch {
		case ctx.Err() != nil:
			err = context.Cause(ctx)
		case w.proxy != nil:
			err = &ProxyError{Proxy: w.proxy.Host, Err: err}
		}
		return nil, err
	}
	limit := c.Handshake
	if limit <= 0 {
		limit = 30 * time.Second
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s takes the connection, but has not agreed to use it within %v", addr, limit))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	nc, err := c.agree(raw, w)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		raw.Close()
		return nil, err
	}
	return &conn{Conn: nc, raw: raw, in: bufio.NewReader(nc), out: bufio.NewWriter(nc), key: w.key()}, nil
}

// agree does what comes before the first request.
func (c *Client) agree(nc net.Conn, w *way) (net.Conn, error) {
	direct := nc
	if w.proxy != nil {
		direct = nil
		var err error
		if w.proxy.Scheme == "https" {
			nc, err = c.secure(nc, w.proxy.Hostname(), nil)
		}
		switch {
		case err != nil:
		case isSOCKS(w.proxy):
			err = askSOCKS(nc, w)
		case w.https:
			err = askConnect(nc, w)
		}
		if err != nil {
			return nil, err
		}
	}
	if w.https {
		return c.secure(nc, w.host, direct)
	}
	return nc, nil
}

// secure begins TLS. What a server that does not speak it sends instead is a
// tls.RecordHeaderError.
func (c *Client) secure(nc net.Conn, host string, raw net.Conn) (net.Conn, error) {
	cfg := &tls.Config{}
	if c.TLS != nil {
		cfg = c.TLS(host, raw)
	}
	if cfg.ServerName == "" {
		cfg.ServerName = host
	}
	t := tls.Client(nc, cfg)
	return t, t.Handshake()
}

// ProxyError is the fault of a proxy: it cannot be reached, it refuses to
// connect, or the environment names none that can be used.
type ProxyError struct {
	Proxy  string // host and port, "" where the environment is at fault
	Status int    // of an HTTP proxy's answer, 0 of a SOCKS proxy's
	Reason string
	Final  bool  // it would say the same again
	Err    error // why it cannot be reached, nil if it can
}

func (e *ProxyError) Error() string {
	switch {
	case e.Proxy == "":
		return e.Reason
	case e.Err != nil:
		return "the proxy " + e.Proxy + " cannot be reached: " + e.Err.Error()
	case e.Status == 407:
		return "the proxy " + e.Proxy + " wants a user and a password (HTTP 407); put them into the proxy's URL"
	}
	return "the proxy " + e.Proxy + " does not connect: " + e.Reason
}

func (e *ProxyError) Unwrap() error { return e.Err }

// askConnect has an HTTP proxy pass everything through (RFC 9110, section
// 9.3.6).
func askConnect(nc net.Conn, w *way) error {
	b := "CONNECT " + w.addr() + " HTTP/1.1\r\nHost: " + w.addr() + "\r\n"
	if w.proxy.User != nil {
		b += "Proxy-Authorization: " + basic(w.proxy.User) + "\r\n"
	}
	if _, err := nc.Write([]byte(b + "\r\n")); err != nil {
		return err
	}
	in := bufio.NewReader(nc)
	resp, _, err := readHead(in, "CONNECT")
	switch {
	case err != nil:
		return fmt.Errorf("proxy %s: %w", w.proxy.Host, err)
	case resp.Status >= 300:
		return &ProxyError{
			Proxy: w.proxy.Host, Status: resp.Status, Final: resp.Status/100 == 4,
			Reason: fmt.Sprintf("HTTP %d %s", resp.Status, resp.Reason),
		}
	case in.Buffered() > 0:
		return errors.New("the proxy " + w.proxy.Host + " sent something before the server could")
	}
	return nil
}
