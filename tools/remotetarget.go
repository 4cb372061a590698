package tools

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"cluade/internal/policy"
)

// target is where an SSH connection ends, as it is dialled. host is a name in
// small letters or an address in its one canonical form.
type target struct {
	user, host string
	port       int
}

// String is user@host:port, an IPv6 address in brackets.
func (t target) String() string { return t.user + "@" + t.addr() }

func (t target) addr() string { return net.JoinHostPort(t.host, strconv.Itoa(t.port)) }

const (
	defaultUser = "root"
	sshPort     = 22
)

// typed is a host as the model or a configuration wrote it. What was not
// written is zero.
type typed struct {
	user, host string
	port       int
}

// parseHost takes [user@]host[:port] apart, also behind ssh://. An IPv6 address
// may stand in brackets and must where a port follows.
func parseHost(text string) (typed, error) {
	s := strings.TrimSuffix(strings.TrimPrefix(text, "ssh://"), "/")
	var t typed
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		t.user, s = s[:i], s[i+1:]
		if err := checkWord("user", t.user); err != nil {
			return t, err
		}
	}
	host, port := s, ""
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return t, fmt.Errorf("host %q: the bracket is not closed", text)
		}
		if _, err := netip.ParseAddr(s[1:end]); err != nil {
			return t, fmt.Errorf("host %q: brackets are for an IPv6 address, as in [fe80::1]:22", text)
		}
		host, port = s[1:end], s[end+1:]
	} else if i := strings.IndexByte(s, ':'); i >= 0 && i == strings.LastIndexByte(s, ':') {
		host, port = s[:i], s[i:]
	}
	if port != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(port, ":"))
		if err != nil || port[0] != ':' || n < 1 || n > 65535 {
			return t, fmt.Errorf("host %q: the port must be 1 to 65535", text)
		}
		t.port = n
	}
	t.host = host
	return t, checkWord("host", host)
}

// checkWord refuses what other programs would take for an option or for
// several words.
func checkWord(what, s string) error {
	odd := func(r rune) bool { return r <= ' ' || r == 0x7f || r == 0x85 || r == 0xa0 }
	switch {
	case s == "":
		return fmt.Errorf("the %s is empty", what)
	case s[0] == '-':
		return fmt.Errorf("%s %q begins with a dash", what, s)
	case strings.IndexFunc(s, odd) >= 0:
		return fmt.Errorf("%s %q holds a blank or a control character", what, s)
	}
	return nil
}

// canonicalHost is the one spelling of a host, so that rules and known keys
// cannot be passed by with another.
func canonicalHost(host string) (string, error) {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(".-_", r)
	}
	addr, err := netip.ParseAddr(host)
	if err == nil && strings.IndexFunc(addr.Zone(), odd) < 0 {
		return addr.Unmap().String(), nil
	}
	name := strings.TrimRight(strings.ToLower(host), ".")
	if strings.IndexFunc(name, odd) >= 0 {
		return "", fmt.Errorf("host %q is neither a name nor an address", host)
	}
	return name, checkWord("host", name)
}

// hop is one connection of a route, with what the SSH configuration says of it.
type hop struct {
	target
	identity []string // private keys of this host; nil: the usual ones
	known    []string // files of host keys; nil: the usual one
	alias    string   // the name that its host key is filed under; "" is its own
	named    string   // what it was called, in the form of the target
}

// route is how a host is reached: the jump hosts, then the host itself.
type route []hop

func (r route) target() target { return r[len(r)-1].target }

// String tells the routes apart.
func (r route) String() string { return strings.Join(r.hops(), " ") }

func (r route) hops() []string {
	var hops []string
	for _, h := range r {
		hops = append(hops, h.target.String())
	}
	return hops
}

// subject names the hosts of a route for the policy.
func (r route) subject() policy.Subject {
	hops := r.hops()
	s := policy.Subject{Host: hops[len(hops)-1], Via: hops[:len(hops)-1]}
	for _, h := range r {
		s.Named = append(s.Named, h.named)
	}
	return s
}

// remoteRoute finds the host that a call means: its arguments, then the SSH
// configuration, then the defaults. notes says what of that configuration was
// passed by.
func (e *Env) remoteRoute(a *Args) (way route, notes []string, err error) {
	t, err := parseHost(a.Text("host"))
	if err != nil {
		return nil, nil, err
	}
	if name := a.Text("username"); name != "" {
		if err := checkWord("username", name); err != nil {
			return nil, nil, err
		}
		t.user = name
	}
	if a.Has("port") {
		n := a.Int("port")
		if n < 1 || n > 65535 {
			return nil, nil, fmt.Errorf("port is %d, must be 1 to 65535", n)
		}
		t.port = int(n)
	}
	r := router{env: e}
	way, err = r.find(t, maxHops)
	if s := a.subject; err == nil && s.Host != "" && strings.Join(append(s.Via[:len(s.Via):len(s.Via)], s.Host), " ") != way.String() {
		err = fmt.Errorf("the SSH configuration changed after %s was judged; call again", s.Host)
	}
	return way, r.notes, err
}

// maxHops is the longest route.
const maxHops = 8

// router finds one route.
type router struct {
	env   *Env
	notes []string
}

// find returns the route to t, of at most so many hops. The first jump host may
// itself be behind others; the later ones are reached through the one before
// them (ssh_config(5), ProxyJump).
func (r *router) find(t typed, most int) (route, error) {
	if most <= 0 {
		return nil, fmt.Errorf("the jump hosts of the SSH configuration are more than %d, or lead back to themselves", maxHops-1)
	}
	h, jumps, err := r.resolve(t)
	if err != nil {
		return nil, err
	}
	var way route
	for i, j := range jumps {
		if j.host == t.host || j.host == h.host {
			continue // "Host *" also covers the jump host that it names
		}
		if i == 0 {
			way, err = r.find(j, most-1)
		} else {
			var next hop
			next, _, err = r.resolve(j)
			way = append(way, next)
		}
		if err != nil {
			return nil, err
		}
	}
	if way = append(way, h); len(way) > maxHops {
		return nil, fmt.Errorf("the route to %s has more than %d hops", h.target, maxHops)
	}
	return way, nil
}

// resolve applies the configuration to one host, and gives the jump hosts that
// lead there.
func (r *router) resolve(t typed) (hop, []typed, error) {
	c, err := r.env.hostConfig(t)
	if err != nil {
		return hop{}, nil, err
	}
	r.notes = append(r.notes, c.notes...)
	if c.command != "" {
		return hop{}, nil, fmt.Errorf("%s: ProxyCommand is a program and is not run, so %s cannot be reached; use ProxyJump", c.command, t.host)
	}
	host, err := canonicalHost(c.hostName)
	named := target{c.user, strings.ToLower(t.host), c.port}.String()
	return hop{target{c.user, host, c.port}, c.identity, c.known, c.alias, named}, c.jumps, err
}

// remoteSubject names the host of a call for the policy.
func (e *Env) remoteSubject(a *Args) (policy.Subject, error) {
	way, _, err := e.remoteRoute(a)
	if err != nil {
		return policy.Subject{}, err
	}
	return way.subject(), nil
}
