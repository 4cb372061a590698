package provider

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// network is the failure of an exchange in which no headers came.
func (c *Client) network(err error, w *watch) *failure {
	if t := w.timeout(); t != nil {
		return fail(Network, adviseNo, t, t.Error())
	}
	a := adviseBackoff
	reason, final := c.reason(err)
	if final {
		a = adviseNo
	}
	reason = chat.EscapeText(c.secrets.mask(reason), maxMessage)
	return fail(Network, a, err, "network: "+reason)
}

// reason says in one sentence why there is no connection and what can be done.
// final is true for what waiting does not cure.
func (c *Client) reason(err error) (reason string, final bool) {
	var dns *net.DNSError
	var invalid x509.CertificateInvalidError
	var host x509.HostnameError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var proxy *httpc.ProxyError
	var malformed *httpc.MalformedError
	name := c.url.Hostname()
	switch {
	case errors.As(err, &proxy) && proxy.Err == nil:
		return proxy.Error(), proxy.Final
	case proxy != nil && errors.As(err, &dns):
		why, final := dnsReason(dns)
		return "the proxy " + proxy.Proxy + " cannot be reached: " + why, final
	case proxy != nil:
		return "the proxy " + proxy.Proxy + " cannot be reached: " + cause(proxy.Err), false
	case errors.As(err, &dns):
		return dnsReason(dns)
	case errors.Is(err, errNoRoots):
		return name + " cannot be checked: " + err.Error(), true
	case errors.As(err, &unknown):
		return "the certificate of " + name + " is from an unknown authority: install ca-bundle (opkg install ca-bundle, apk add ca-bundle), or set ca_file", true
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return clockReason(name, invalid.Cert, c.roots.now()), true
	case errors.As(err, &invalid):
		return "the certificate of " + name + " is not good: " + invalid.Error(), true
	case errors.As(err, &host):
		return "the certificate is not for " + name + ": a login page of this network may be in between", true
	case errors.As(err, &malformed):
		return fmt.Sprintf("%s %q", malformed.What, c.secrets.clip(malformed.Text, 80)), false
	case errors.As(err, &record):
		return name + " does not speak TLS on this port; is base_url to be http:// ?", true
	case errors.Is(err, syscall.ECONNREFUSED):
		return refusedReason(c.url)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection", false
	}
	return cause(err), strings.Contains(err.Error(), "ca_file")
}

func dnsReason(e *net.DNSError) (string, bool) {
	if e.IsNotFound {
		return "no such host: " + e.Name + "; is the name right, and does DNS work here (/etc/resolv.conf)?", true
	}
	return "the name " + e.Name + " cannot be resolved: no DNS server answers; see /etc/resolv.conf", false
}

func refusedReason(u *url.URL) (string, bool) {
	s := "connection refused by " + u.Host
	if isPrivateHost(u.Hostname()) {
		s += "; is the local server running?"
	}
	return s, false
}

// built is when this copy of the program was made, in the form of RFC 3339; the
// linker sets it.
var built string

// Earliest is a moment before which no copy of this program can run: a clock
// that shows less is wrong.
func Earliest() time.Time {
	if t, err := time.Parse(time.RFC3339, built); err == nil {
		return t
	}
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
}

// clockReason tells a wrong clock from a certificate that has run out. Boards
// without a clock chip start months in the past.
func clockReason(name string, cert *x509.Certificate, now time.Time) string {
	const day = "2006-01-02 15:04"
	clock := "the clock here says " + now.UTC().Format(day) + " UTC"
	cure := "compare it with date, and set it (/etc/init.d/sysntpd restart, or timedatectl)"
	if cert == nil {
		return "the certificate of " + name + " is not valid at this time; " + clock + ": " + cure
	}
	switch {
	case now.Before(Earliest()), now.Before(cert.NotBefore):
		return fmt.Sprintf("the certificate of %s is not yet valid, before %s; %s, which seems wrong: %s",
			name, cert.NotBefore.UTC().Format(day), clock, cure)
	}
	return fmt.Sprintf("the certificate of %s ran out on %s; %s: %s", name, cert.NotAfter.UTC().Format(day), clock, cure)
}

// cause is the innermost account of what went wrong, without the address and
// the layers before it.
func cause(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		var sys syscall.Errno
		if errors.As(op.Err, &sys) {
			return sys.Error()
		}
		return op.Op + ": " + op.Err.Error()
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "the connection was closed"
	}
	return err.Error()
}
