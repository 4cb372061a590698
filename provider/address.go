package provider

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

// parseBase reads a base URL: blanks, trailing slashes and a trailing
// /chat/completions are cut off. Nothing is added by guess, not even /v1: the
// paths of providers differ.
func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, errors.New("base URL is not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return nil, fmt.Errorf("base URL %q is not of the form http://host/path or https://host/path", shownURL(u))
	}
	u.Path, u.RawPath, u.Fragment = trimPath(u.Path), trimPath(u.RawPath), ""
	return u, nil
}

func trimPath(s string) string {
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(s, "/ "), "/chat/completions"), "/")
}

// under is base with more path.
func under(base *url.URL, more string) *url.URL {
	u := *base
	u.Path += more
	if u.RawPath != "" { // a slash that is no separator
		u.RawPath += more
	}
	return &u
}

// shownURL is u as a person may see it: without password and query, where keys
// are put.
func shownURL(u *url.URL) string {
	v := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return v.String()
}

// IsPrivate says whether a base URL leads to this device or its network.
func IsPrivate(base string) bool {
	u, err := parseBase(base)
	return err == nil && isPrivateHost(u.Hostname())
}

// isPrivateHost says whether host is on this device or its network, by its
// address or by a name that no public server has.
func isPrivateHost(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return isPrivateAddr(a)
	}
	if !strings.Contains(host, ".") {
		return true // one label: localhost, or a name of the local resolver
	}
	for _, end := range []string{".localhost", ".local", ".lan", ".home", ".internal", ".home.arpa", ".intranet"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// isPrivateAddr also takes 100.64.0.0/10 (RFC 6598) for private: overlay
// networks live there.
func isPrivateAddr(a netip.Addr) bool {
	a = a.Unmap()
	if a.Is4() {
		if b := a.As4(); b[0] == 100 && b[1]&0xC0 == 64 {
			return true
		}
	}
	return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast()
}

// isPrivateConn says whether the other end of c is on the local network,
// whatever its name was.
func isPrivateConn(c net.Conn) bool {
	ap, err := netip.ParseAddrPort(c.RemoteAddr().String())
	return err == nil && isPrivateAddr(ap.Addr())
}
