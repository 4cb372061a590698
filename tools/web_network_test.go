package tools

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The rule for redirects is tested with public addresses, which must not be
// reached for real: in a network namespace whose loopback has them.

const networkScript = `ip link set lo up
for a in 198.51.100.1/32 203.0.113.1/32 192.168.7.1/32 169.254.9.9/32 2001:db8::1/128 fd00:7::1/128; do ip addr add $a dev lo; done
exec "$@"`

// inNetwork runs the test again in a namespace and returns true there. Where
// none can be made the test is skipped; in CI it fails.
func inNetwork(t *testing.T, env ...string) bool {
	t.Helper()
	const inside = "TOOLS_TEST_WEB"
	if os.Getenv(inside) == t.Name() {
		return true
	}
	needNamespace(t, "-n")
	needProgram(t, "ip")
	cmd := exec.Command(needProgram(t, "unshare"), "-n", "sh", "-ec", networkScript, "sh", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(append(os.Environ(), inside+"="+t.Name()), env...)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("in the namespace: %v\n%s", err, out)
	}
	return false
}

// names are what the namespace's resolver knows. Of a name with several rows
// each question takes the next.
var names = map[string][][]string{
	"public.test":  {{"198.51.100.1"}},
	"six.test":     {{"2001:db8::1"}},
	"inner.test":   {{"192.168.7.1"}},
	"mixed.test":   {{"127.0.0.1", "192.168.7.1", "198.51.100.1"}},
	"mixed6.test":  {{"fd00:7::1", "198.51.100.1"}},
	"local.test":   {{"169.254.9.9"}},
	"down.test":    {{"198.51.100.66", "198.51.100.1"}},
	"rebound.test": {{"198.51.100.1"}, {"127.0.0.1"}},
	"half.test":    {{"127.0.0.1", "198.51.100.66"}},
}

// useNames makes a server for names on loopback the resolver of the process.
func useNames(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		asked := map[string]int{}
		buf := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			if answer := answerName(buf[:n], asked); answer != nil {
				conn.WriteTo(answer, from)
			}
		}
	}()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answerName answers one question (RFC 1035, section 4).
func answerName(q []byte, asked map[string]int) []byte {
	const header = 12
	if len(q) < header {
		return nil
	}
	var labels []string
	i := header
	for i < len(q) && q[i] != 0 && i+1+int(q[i]) < len(q) {
		labels = append(labels, string(q[i+1:i+1+int(q[i])]))
		i += 1 + int(q[i])
	}
	if i += 5; i > len(q) {
		return nil
	}
	kind := binary.BigEndian.Uint16(q[i-4:])
	name := strings.ToLower(strings.Join(labels, "."))
	rows := names[name]
	flags := uint16(0x8580) // an answer, authoritative
	if rows == nil {
		flags |= 3 // no such name
	}
	a := append([]byte(nil), q[:i]...)
	binary.BigEndian.PutUint16(a[2:], flags)
	var count uint16
	if rows != nil {
		turn := asked[fmt.Sprint(name, kind)]
		asked[fmt.Sprint(name, kind)]++
		for _, s := range rows[min(turn, len(rows)-1)] {
			addr := netip.MustParseAddr(s)
			if addr.Is4() != (kind == 1) || addr.Is6() != (kind == 28) {
				continue
			}
			count++
			a = append(a, 0xc0, header, 0, byte(kind), 0, 1, 0, 0, 0, 60, 0, byte(len(addr.AsSlice())))
			a = append(a, addr.AsSlice()...)
		}
	}
	binary.BigEndian.PutUint16(a[6:], count)
	binary.BigEndian.PutUint32(a[8:], 0)
	return a
}

// hosts is a server on every address of the namespace that notes where it was
// reached.
type hosts struct {
	mu      sync.Mutex
	reached []string
}

func startHosts(t *testing.T) *hosts {
	h := &hosts{}
	ln, err := net.Listen("tcp", ":8080")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: h, ConnState: func(c net.Conn, state http.ConnState) {
		if state == http.StateNew {
			host, _, _ := net.SplitHostPort(c.LocalAddr().String())
			h.mu.Lock()
			h.reached = append(h.reached, host)
			h.mu.Unlock()
		}
	}}
	t.Cleanup(func() { s.Close() })
	go s.Serve(ln)
	return h
}

// ServeHTTP leads to where the query says, one station after the other.
func (h *hosts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if to, rest, _ := strings.Cut(r.URL.Query().Get("to"), " "); to != "" {
		u := "http://" + to + ":8080/"
		if rest != "" {
			u += "?to=" + strings.ReplaceAll(rest, " ", "+")
		}
		http.Redirect(w, r, u, http.StatusFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain")
	io.WriteString(w, "here")
}

func (h *hosts) taken() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	defer func() { h.reached = nil }()
	return strings.Join(slices.Compact(h.reached), " ")
}

func TestWebAddresses(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	useNames(t)
	h := startHosts(t)
	const public, other, home, self = "198.51.100.1", "203.0.113.1", "192.168.7.1", "127.0.0.1"
	tests := []struct {
		way     string // the host of the call and those of the redirects
		reached string
		fault   string
	}{
		{public, public, ""},
		{self, self, ""},
		{home, home, ""},
		{"inner.test", home, ""},
		{"localhost", self, ""},
		{"[fd00:7::1]", "fd00:7::1", ""},
		{"169.254.9.9", "169.254.9.9", ""},
		{public + " " + other, public + " " + other, ""},
		{home + " " + self, home + " " + self, ""},
		{home + " inner.test", home, ""},
		{self + " " + public, self + " " + public, ""},

		{public + " " + self, public, "127.0.0.1"},
		{public + " " + home, public, "192.168.7.1"},
		{public + " 169.254.9.9", public, "169.254.9.9"},
		{public + " localhost", public, "127.0.0.1"},
		{public + " inner.test", public, "192.168.7.1"},
		{public + " local.test", public, "169.254.9.9"},
		{public + " [::1]", public, "::1"},
		{public + " [::ffff:127.0.0.1]", public, "127.0.0.1"},
		{public + " [::ffff:7f00:1]", public, "127.0.0.1"},
		{public + " [fd00:7::1]", public, "fd00:7::1"},
		{public + " [64:ff9b::192.168.7.1]", public, "64:ff9b::c0a8:701"},
		{public + " 0.0.0.0", public, "0.0.0.0"},
		{public + " 192.0.0.192", public, "192.0.0.192"},
		{public + " x@" + self, public, "127.0.0.1"},
		{"public.test " + self, public, "127.0.0.1"},
		{"six.test inner.test", "2001:db8::1", "192.168.7.1"},
		{public + " " + other + " " + self, public + " " + other, "127.0.0.1"},
		{home + " " + public + " " + home, home + " " + public, "192.168.7.1"},

		{"mixed.test", public, ""},
		{"mixed6.test", public, ""},
		{"mixed.test " + home, public, "192.168.7.1"},
		{public + " mixed.test", public, ""},
		{"half.test", "", "half.test has private addresses too"},
		{"down.test", public, ""},
		{"rebound.test rebound.test", public, "127.0.0.1"},
		{"local.test", "", "169.254.9.9"},
		{home + " 169.254.9.9", home, "169.254.9.9"},
		{"169.254.9.9 169.254.9.9", "169.254.9.9", ""},
		{"169.254.9.9 local.test", "169.254.9.9", ""},
		{"nosuch.test", "", "no such host: nosuch.test"},
	}
	for _, tt := range tests {
		host, rest, _ := strings.Cut(tt.way, " ")
		url := "http://" + host + ":8080/"
		if rest != "" {
			url += "?to=" + strings.ReplaceAll(rest, " ", "%20")
		}
		got, err := use(t, testEnv(t), "web_fetch", args{"url": url})
		reached := h.taken()
		ok := err == nil && strings.HasSuffix(got, "\nhere")
		if tt.fault != "" {
			ok = err != nil && strings.Contains(err.Error(), tt.fault)
		}
		if !ok || reached != tt.reached {
			t.Errorf("%s: reached %q, want %q; %q, %v, want an error with %q", tt.way, reached, tt.reached, got, err, tt.fault)
		}
	}
}

// TestWebProxy: what a proxy dials counts as public, and private addresses are
// never asked of it.
func TestWebProxy(t *testing.T) {
	if !inNetwork(t, "HTTP_PROXY=http://192.168.7.1:3128", "http_proxy=", "NO_PROXY=", "no_proxy=") {
		return
	}
	useNames(t)
	h := startHosts(t)
	ln, err := net.Listen("tcp", "192.168.7.1:3128")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	proxy := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Hostname())
		h.ServeHTTP(w, r)
	})}
	defer proxy.Close()
	go proxy.Serve(ln)
	for _, tt := range []struct{ way, asked, reached, fault string }{
		{"public.test", "public.test", "", ""},
		{"nosuch.test", "nosuch.test", "", ""},
		{"nosuch.test other.test", "nosuch.test other.test", "", ""},
		{"192.168.7.1", "", "192.168.7.1", ""},
		{"[::1]", "", "::1", ""},
		{"public.test 192.168.7.1", "public.test", "", "192.168.7.1"},
		{"public.test inner.test", "public.test", "", "192.168.7.1"},
		{"public.test mixed.test", "public.test", "", "private address"},
		{"public.test localhost", "public.test", "", "127.0.0.1"},
	} {
		host, rest, _ := strings.Cut(tt.way, " ")
		got, err := use(t, testEnv(t), "web_fetch", args{"url": "http://" + host + ":8080/?to=" + rest})
		if ok := err == nil && strings.HasSuffix(got, "\nhere"); ok != (tt.fault == "") || tt.fault != "" && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%s: %q, %v, want an error with %q", tt.way, got, err, tt.fault)
		}
		if got := strings.Join(asked, " "); got != tt.asked || h.taken() != tt.reached {
			t.Errorf("%s: the proxy was asked for %q, want %q", tt.way, got, tt.asked)
		}
		asked = nil
	}
}
