package provider

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// newTransport makes the one transport of a client. It keeps its connection
// and resumes TLS sessions: on a slow device a handshake costs a second.
// HTTP/1.1 only: long streams over HTTP/2 are broken off by intermediaries.
// There is no limit on a whole exchange here; watch has the limits.
func newTransport(insecure bool, r *roots) *http.Transport {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		Proxy:               proxyFor,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     r.config(false),
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{},
		TLSHandshakeTimeout: 30 * time.Second,
		MaxIdleConns:        2,
		MaxIdleConnsPerHost: 2,
		IdleConnTimeout:     5 * time.Minute,
	}
	if insecure {
		// Whether a certificate may go unchecked depends on the address that
		// was dialled, not on the name, which anybody's resolver can answer.
		t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return dialLocal(ctx, dialer, r, addr)
		}
	}
	return t
}

func dialLocal(ctx context.Context, d *net.Dialer, r *roots, addr string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	cfg := r.config(isPrivateConn(conn))
	cfg.ServerName, _, _ = net.SplitHostPort(addr)
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	t := tls.Client(conn, cfg)
	if err := t.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return t, nil
}

// proxyFor takes the proxy from the environment, but never one for this device
// itself.
func proxyFor(r *http.Request) (*url.URL, error) {
	host := strings.ToLower(r.URL.Hostname())
	ip := net.ParseIP(host)
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback() {
		return nil, nil
	}
	return http.ProxyFromEnvironment(r)
}

// redirect judges a redirect. Only one that keeps the method and the host is
// followed, to target: the key belongs to the host that the user named.
func (c *Client) redirect(resp *http.Response, at *url.URL) (f *failure, target *url.URL) {
	f = &failure{class: NotAPI, advice: adviseNo, code: resp.StatusCode, message: "redirected to nowhere"}
	to, err := resp.Location()
	if err != nil {
		return f, nil
	}
	shown := c.secrets.mask(shownURL(to))
	keeps := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect
	switch {
	case !keeps:
		f.message = "redirected to " + shown + "; set base_url to where the API is"
		return f, nil
	case !sameHost(at, to):
		f.message = "redirected to another host, " + shown + ", which would get the key; set base_url to it if it is right"
		return f, nil
	}
	to.User = at.User
	f.advice, f.target, f.message = adviseMove, shown, "redirected to "+shown
	return f, to
}

// sameHost says whether b is the same host as a, reached at least as safely.
func sameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	if a.Scheme == b.Scheme {
		return portOf(a) == portOf(b)
	}
	return a.Scheme == "http" && b.Scheme == "https" && portOf(b) == "443"
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if u.Scheme == "https" {
		return "443"
	}
	return "80"
}
