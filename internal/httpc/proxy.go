package httpc

import (
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"cluade/internal/hostname"
)

// ProxyFromEnv is the proxy that the environment names for a URL, nil for
// none: HTTPS_PROXY or HTTP_PROXY by its scheme, in capitals or not, unless
// NO_PROXY excepts the host. This device itself is always excepted. Under a web
// server HTTP_PROXY in capitals does not count: there a client's header Proxy
// arrives under that name.
func ProxyFromEnv(u *url.URL) (*url.URL, error) {
	name := "HTTP_PROXY"
	if u.Scheme == "https" {
		name = "HTTPS_PROXY"
	}
	proxy := os.Getenv(name)
	if name == "HTTP_PROXY" && os.Getenv("REQUEST_METHOD") != "" {
		proxy = ""
	}
	if proxy == "" {
		proxy = os.Getenv(strings.ToLower(name))
	}
	if proxy == "" || excepted(u) {
		return nil, nil
	}
	if !strings.Contains(proxy, "://") {
		proxy = "http://" + proxy
	}
	p, err := url.Parse(proxy)
	if err != nil || p.Hostname() == "" {
		return nil, &ProxyError{Final: true, Reason: name + " is not of the form http://host:port"}
	}
	switch p.Scheme {
	case "http", "https", "socks5", "socks5h":
		return p, nil
	}
	return nil, &ProxyError{Final: true, Reason: fmt.Sprintf("%s has a proxy of the kind %q, which is none of http, https, socks5 and socks5h", name, p.Scheme)}
}

// excepted says that a URL is reached without a proxy.
func excepted(u *url.URL) bool {
	host, err := hostname.ASCII(strings.ToLower(u.Hostname()))
	addr, _ := netip.ParseAddr(host)
	if err != nil || host == "localhost" || addr.Unmap().IsLoopback() {
		return true
	}
	list := os.Getenv("NO_PROXY")
	if list == "" {
		list = os.Getenv("no_proxy")
	}
	for more := true; more; {
		var entry string
		entry, list, more = strings.Cut(list, ",")
		entry = strings.ToLower(strings.TrimSpace(entry))
		if entry == "*" || entry != "" && excepts(entry, host, portOf(u)) {
			return true
		}
	}
	return false
}

// excepts says whether an entry of NO_PROXY covers a host: an address, a range,
// a name with all below it, or with a dot or an asterisk in front only those
// below it; with a port it covers that port alone.
func excepts(entry, host, port string) bool {
	addr, _ := netip.ParseAddr(host)
	addr = addr.Unmap().WithZone("")
	if p, err := netip.ParsePrefix(entry); err == nil {
		return p.Contains(addr)
	}
	if a, err := netip.ParseAddr(entry); err == nil {
		return a.Unmap() == addr
	}
	if a, err := netip.ParseAddrPort(entry); err == nil {
		return a.Addr().Unmap() == addr && entry[strings.LastIndexByte(entry, ':')+1:] == port
	}
	if name, only, ok := strings.Cut(entry, ":"); ok {
		if only != port {
			return false
		}
		entry = name
	}
	entry, err := hostname.ASCII(strings.TrimPrefix(entry, "*"))
	if err != nil {
		return false
	}
	if strings.HasPrefix(entry, ".") {
		return strings.HasSuffix(host, entry)
	}
	return host == entry || strings.HasSuffix(host, "."+entry)
}
