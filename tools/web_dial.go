package tools

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"cluade/internal/httpc"
)

// trip is one fetch with all its redirects. Once a public server was reached,
// no private address is: a page of the internet must not lead into the house.
// What counts is the address that is dialled. Not seen is what a proxy dials,
// and that a public address may be this device's own.
type trip struct {
	typed      netip.Addr // the address that the call named, invalid where it named a host
	public     bool       // a public server was reached
	redirected bool
}

func newTrip(u *url.URL) *trip {
	typed, _ := netip.ParseAddr(u.Hostname())
	return &trip{typed: typed.Unmap()}
}

// redirect judges where a redirect points as far as its text tells; dial judges
// the rest.
func (t *trip) redirect(next *url.URL) error {
	t.redirected = true
	if a, err := netip.ParseAddr(next.Hostname()); err == nil {
		return t.judge(a)
	}
	return nil
}

// client is for one request, so that each address is judged by what led there.
func (t *trip) client(ctx context.Context, u *url.URL) (*httpc.Client, error) {
	c := &httpc.Client{Dial: t.dial, Handshake: dialLimit}
	proxy, err := proxyFor(u)
	if err != nil || proxy == nil {
		return c, err
	}
	if err := t.judgeBehindProxy(ctx, u.Hostname()); err != nil {
		return nil, err
	}
	t.public = true
	c.Proxy = func(*url.URL) (*url.URL, error) { return proxy, nil }
	c.Dial = (&net.Dialer{Timeout: dialLimit}).DialContext
	return c, nil
}

// proxyFor takes the proxy from the environment, but never one for a private
// address: that would lead out of the house and back in.
func proxyFor(u *url.URL) (*url.URL, error) {
	if a, err := netip.ParseAddr(u.Hostname()); err == nil && !isPublic(a) {
		return nil, nil
	}
	return httpc.ProxyFromEnv(u)
}

// judgeBehindProxy refuses a redirect to a name that is private as this device
// sees it. Where names are resolved by the proxy alone nothing is known here,
// and the proxy has to judge.
func (t *trip) judgeBehindProxy(ctx context.Context, host string) error {
	if !t.redirected {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	addrs, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	for _, a := range addrs {
		if err := t.judge(a); err != nil {
			return err
		}
	}
	return nil
}

// dialLimit is for one address, dialNext for one that others stand behind.
const (
	dialLimit = 10 * time.Second
	dialNext  = 3 * time.Second
)

// dial connects to the first address of a host that may be reached and answers.
// A name that has public and private addresses counts as public: its private
// ones are not tried.
func (t *trip) dial(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	addrs, err := addresses(ctx, host)
	if err != nil {
		return nil, err
	}
	all := len(addrs)
	var public []netip.Addr
	for _, a := range addrs {
		if isPublic(a) {
			public = append(public, a)
		}
	}
	if len(public) > 0 {
		addrs = public
	}
	for i, a := range addrs {
		if err = t.judge(a); err != nil {
			continue
		}
		d := net.Dialer{Timeout: dialLimit}
		if i+1 < len(addrs) {
			d.Timeout = dialNext
		}
		var conn net.Conn
		if conn, err = d.DialContext(ctx, network, net.JoinHostPort(a.String(), port)); err == nil {
			t.public = t.public || isPublic(a)
			return conn, nil
		}
	}
	if len(addrs) < all {
		err = fmt.Errorf("%w; %s has private addresses too, but a name that has a public one counts as public", err, host)
	}
	return nil, err
}

func addresses(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = &net.DNSError{Err: "no address", Name: host, IsNotFound: true}
	}
	return addrs, err
}

// judge refuses an address that this trip must not reach.
func (t *trip) judge(a netip.Addr) error {
	a = a.Unmap()
	in := embedded(a)
	switch {
	case in.IsUnspecified(), in.IsMulticast(), in == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return refusal(fmt.Sprintf("refused: %s is no server's address", a))
	case t.public && !isPublic(a):
		return refusal(fmt.Sprintf("refused: %s is a private address, and a public server led there", a))
	case in.IsLinkLocalUnicast() && a != t.typed:
		return refusal(fmt.Sprintf("refused: %s is a link-local address, which is only fetched where the call names it", a))
	}
	return nil
}

// refusal is why an address was not dialled.
type refusal string

func (r refusal) Error() string { return string(r) }

// private are the ranges beyond those that net/netip knows: this network,
// carriers' translation (RFC 6598, also virtual private networks), protocol
// assignments, reserved; local translation (RFC 8215), site-local (RFC 3879).
// Ranges for documentation and benchmarks are not here: routers that look names
// up through a tunnel give out 198.18.0.0/15 for public names.
var private = []netip.Prefix{
	netip.PrefixFrom(netip.AddrFrom4([4]byte{0}), 8),
	netip.PrefixFrom(netip.AddrFrom4([4]byte{100, 64}), 10),
	netip.PrefixFrom(netip.AddrFrom4([4]byte{192}), 24),
	netip.PrefixFrom(netip.AddrFrom4([4]byte{240}), 4),
	netip.PrefixFrom(netip.AddrFrom16([16]byte{0, 0x64, 0xff, 0x9b, 0, 1}), 48),
	netip.PrefixFrom(netip.AddrFrom16([16]byte{0xfe, 0xc0}), 10),
}

// isPublic says that an address belongs to the internet at large.
func isPublic(a netip.Addr) bool {
	a = embedded(a)
	switch {
	case !a.IsValid(), a.IsLoopback(), a.IsPrivate(), a.IsLinkLocalUnicast(), a.IsUnspecified(), a.IsMulticast():
		return false
	}
	return !slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(a) })
}

// embedded is the IPv4 address that an IPv6 one leads to: mapped, compatible,
// translated (RFC 6052) or 6to4 (RFC 3056). Any other address is returned as it
// is, without its zone.
func embedded(a netip.Addr) netip.Addr {
	a = a.Unmap().WithZone("")
	if !a.Is6() || a.IsLoopback() || a.IsUnspecified() {
		return a
	}
	b := a.As16()
	switch {
	case strings.HasPrefix(string(b[:]), "\x00\x64\xff\x9b\x00\x00\x00\x00\x00\x00\x00\x00"),
		strings.HasPrefix(string(b[:]), "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"):
		return netip.AddrFrom4([4]byte(b[12:]))
	case b[0] == 0x20 && b[1] == 0x02:
		return netip.AddrFrom4([4]byte(b[2:6]))
	}
	return a
}
