package provider

import (
	"crypto/tls"
	"net"
	"net/url"
	"strings"
	"time"

	"cluade/internal/httpc"
)

// newHTTP makes the one HTTP client of a client. It keeps its connection and
// resumes TLS sessions: on a slow device a handshake costs a second. There is
// no limit on a whole exchange here; watch has the limits.
func newHTTP(insecure bool, r *roots) *httpc.Client {
	dialer := &net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &httpc.Client{
		Dial:  dialer.DialContext,
		Proxy: proxyFor,
		TLS: func(host string, raw net.Conn) *tls.Config {
			// Whether a certificate may go unchecked depends on the address
			// that was dialled, not on the name, which anybody's resolver can
			// answer.
			return r.config(host, insecure && raw != nil && isPrivateConn(raw))
		},
	}
}

// proxyFor takes the proxy from the environment, but never one for this device
// itself.
func proxyFor(u *url.URL) (*url.URL, error) {
	if strings.HasSuffix(strings.ToLower(u.Hostname()), ".localhost") {
		return nil, nil
	}
	return httpc.ProxyFromEnv(u)
}

// redirect judges a redirect. Only one that keeps the method and the host is
// followed, to target: the key belongs to the host that the user named.
func (c *Client) redirect(resp *httpc.Response, at *url.URL) (f *failure, target *url.URL) {
	f = &failure{class: NotAPI, advice: adviseNo, code: resp.Status, message: "redirected to nowhere"}
	where := resp.Header.Get("Location")
	to, err := at.Parse(where)
	if where == "" || err != nil {
		return f, nil
	}
	shown := c.secrets.mask(shownURL(to))
	keeps := resp.Status == 307 || resp.Status == 308
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
