package httpc

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
)

// TestHostField: what the server is told of its own name.
func TestHostField(t *testing.T) {
	for to, want := range map[string]string{
		"http://h":                  "h h:80",
		"http://h:80/":              "h:80 h:80",
		"http://h:/":                "h h:80",
		"https://h/":                "h h:443",
		"https://h:8443":            "h:8443 h:8443",
		"http://[::1]:8080/":        "[::1]:8080 [::1]:8080",
		"http://[fe80::1%25eth0]/":  "[fe80::1] [fe80::1%eth0]:80",
		"http://user:pw@h/":         "h h:80",
		"https://bücher.example:1/": "xn--bcher-kva.example:1 xn--bcher-kva.example:1",
	} {
		w, err := (&Client{}).wayTo(get(t, to).URL)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.named + " " + w.addr(); got != want {
			t.Errorf("%s: %q, want %q", to, got, want)
		}
	}
}

// TestKey: no way uses the connection of another.
func TestKey(t *testing.T) {
	seen := map[string]string{}
	for _, proxy := range []string{"", "http://p:1", "http://u@p:1", "socks5://p:1"} {
		c := &Client{Proxy: func(*url.URL) (p *url.URL, err error) {
			if proxy != "" {
				p, err = url.Parse(proxy)
			}
			return p, err
		}}
		for _, to := range []string{"http://h/", "https://h/", "http://h:443/"} {
			w, err := c.wayTo(get(t, to).URL)
			if err != nil {
				t.Fatal(err)
			}
			what := to + " by way of " + proxy
			if seen[w.key()] != "" {
				t.Errorf("%s has the key of %s", what, seen[w.key()])
			}
			seen[w.key()] = what
		}
	}
}

func TestProxyFromEnv(t *testing.T) {
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD"} {
		t.Setenv(name, "")
	}
	for _, tt := range []struct {
		env  string // names and values, with blanks between
		url  string
		want string // "" is none, "fault" an error
	}{
		{"", "http://h/", ""},
		{"HTTP_PROXY=http://p:1", "http://h/", "http://p:1"},
		{"http_proxy=http://p:1", "http://h/", "http://p:1"},
		{"HTTP_PROXY=http://p:1 http_proxy=http://q:1", "http://h/", "http://p:1"},
		{"HTTP_PROXY=http://p:1", "https://h/", ""},
		{"HTTPS_PROXY=http://p:1", "https://h/", "http://p:1"},
		{"HTTPS_PROXY=http://p:1", "http://h/", ""},
		{"https_proxy=p:1", "https://h/", "http://p:1"},
		{"https_proxy=p", "https://h/", "http://p"},
		{"https_proxy=u:pw@10.0.0.1:3128", "https://h/", "http://u:pw@10.0.0.1:3128"},
		{"https_proxy=socks5h://p", "https://h/", "socks5h://p"},
		{"https_proxy=https://p", "https://h/", "https://p"},
		{"https_proxy=ftp://p", "https://h/", "fault"},
		{"https_proxy=http://", "https://h/", "fault"},
		{"https_proxy=http://p:x", "https://h/", "fault"},
		{"REQUEST_METHOD=GET HTTP_PROXY=http://p:1", "http://h/", ""},
		{"REQUEST_METHOD=GET http_proxy=http://p:1", "http://h/", "http://p:1"},
		{"REQUEST_METHOD=GET HTTPS_PROXY=http://p:1", "https://h/", "http://p:1"},
		{"HTTP_PROXY=p", "http://localhost/", ""},
		{"HTTP_PROXY=p", "http://LOCALHOST:80/", ""},
		{"HTTP_PROXY=p", "http://127.1.2.3/", ""},
		{"HTTP_PROXY=p", "http://[::1]:8080/", ""},
		{"HTTP_PROXY=p", "http://[::ffff:127.0.0.1]/", ""},
		{"HTTP_PROXY=p NO_PROXY=*", "http://h/", ""},
		{"HTTP_PROXY=p NO_PROXY=a,*", "http://h/", ""},
		{"HTTP_PROXY=p no_proxy=h", "http://h/", ""},
		{"HTTP_PROXY=p NO_PROXY=,,H", "http://h/", ""},
		{"HTTP_PROXY=p NO_PROXY=h", "http://x.h/", ""},
		{"HTTP_PROXY=p NO_PROXY=h", "http://xh/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=.h", "http://h/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=.h", "http://x.h/", ""},
		{"HTTP_PROXY=p NO_PROXY=*.h", "http://h/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=*.h", "http://X.y.H/", ""},
		{"HTTP_PROXY=p NO_PROXY=h:80", "http://h/", ""},
		{"HTTP_PROXY=p NO_PROXY=h:81", "http://h/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=h:81", "http://h:81/", ""},
		{"HTTP_PROXY=p NO_PROXY=10.1.2.3", "http://10.1.2.3/", ""},
		{"HTTP_PROXY=p NO_PROXY=10.1.2.3", "http://10.1.2.4/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=10.1.2.3:80", "http://10.1.2.3/", ""},
		{"HTTP_PROXY=p NO_PROXY=10.1.2.3:81", "http://10.1.2.3/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=10.0.0.0/8", "http://10.1.2.3:99/", ""},
		{"HTTP_PROXY=p NO_PROXY=10.0.0.0/8", "http://11.1.2.3/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=fd00::/8", "http://[fd00::1]/", ""},
		{"HTTP_PROXY=p NO_PROXY=fd00::1", "http://[fd00::1]:8/", ""},
		{"HTTP_PROXY=p NO_PROXY=[fd00::1]:8", "http://[fd00::1]:8/", ""},
		{"HTTP_PROXY=p NO_PROXY=[fd00::1]:8", "http://[fd00::1]:9/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=10.0.0.0/99,:,/,.,%", "http://10.1.2.3/", "http://p"},
		{"HTTP_PROXY=p NO_PROXY=bücher.example", "http://BÜCHER.example/", ""},
	} {
		t.Run(tt.env+" "+tt.url, func(t *testing.T) {
			for _, kv := range strings.Fields(tt.env) {
				name, value, _ := strings.Cut(kv, "=")
				t.Setenv(name, value)
			}
			p, err := ProxyFromEnv(get(t, tt.url).URL)
			got := ""
			if err != nil {
				got = "fault"
			} else if p != nil {
				got = p.String()
			}
			if got != tt.want {
				t.Errorf("%q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

// tlsSite is a server for TLS, and the configuration that trusts it.
func tlsSite(t *testing.T, h http.HandlerFunc) (*httptest.Server, func(string, net.Conn) *tls.Config) {
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	pool := x509.NewCertPool()
	pool.AddCert(s.Certificate())
	return s, func(string, net.Conn) *tls.Config { return &tls.Config{RootCAs: pool} }
}

func TestTLS(t *testing.T) {
	resumed := 0
	s, trust := tlsSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.DidResume {
			resumed++
		}
		io.WriteString(w, r.Proto+r.TLS.NegotiatedProtocol)
	})
	var asked []string
	sessions := tls.NewLRUClientSessionCache(1)
	c := newClient(t)
	c.TLS = func(host string, raw net.Conn) *tls.Config {
		asked = append(asked, host+" "+raw.RemoteAddr().String())
		cfg := trust(host, raw)
		cfg.ClientSessionCache = sessions
		return cfg
	}
	for range 3 {
		if _, body, err := ask(t, c, get(t, s.URL)); err != nil || body != "HTTP/1.1" {
			t.Fatalf("%q, %v", body, err)
		}
	}
	if want := "[127.0.0.1 " + s.Listener.Addr().String() + "]"; fmt.Sprint(asked) != want {
		t.Errorf("TLS was asked for %s, want %s", asked, want)
	}
	c.CloseIdle()
	if _, _, err := ask(t, c, get(t, s.URL)); err != nil || resumed != 1 {
		t.Errorf("%d sessions resumed, %v", resumed, err)
	}
	_, _, err := ask(t, newClient(t), get(t, s.URL))
	var unknown x509.UnknownAuthorityError
	if !errors.As(err, &unknown) {
		t.Errorf("error %v, want one about the authority", err)
	}
	plain := newSite(t, func(c net.Conn, _ int64) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") })
	_, _, err = ask(t, c, get(t, "https://"+plain.addr))
	var record tls.RecordHeaderError
	if !errors.As(err, &record) {
		t.Errorf("error %v, want one about TLS", err)
	}
}

// TestHTTPProxy: a proxy passes plain requests on and TLS through.
func TestHTTPProxy(t *testing.T) {
	var lines []string
	serve := func(w http.ResponseWriter, r *http.Request) {
		lines = append(lines, r.Method+" "+r.RequestURI+" "+r.Host+" "+r.Header.Get("Proxy-Authorization"))
		if r.Method != "CONNECT" {
			io.WriteString(w, "relayed")
			return
		}
		to, err := net.Dial("tcp", r.Host)
		if err != nil {
			w.WriteHeader(502)
			return
		}
		from, _, _ := w.(http.Hijacker).Hijack()
		io.WriteString(from, "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
		go func() {
			io.Copy(to, from)
			to.Close()
		}()
		io.Copy(from, to)
		from.Close()
	}
	plain := httptest.NewServer(http.HandlerFunc(serve))
	defer plain.Close()
	secret, trustProxy := tlsSite(t, serve)
	site, trust := tlsSite(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "through") })
	addr := site.Listener.Addr().String()
	for _, proxy := range []string{plain.URL, secret.URL} {
		c := newClient(t)
		c.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse(strings.Replace(proxy, "//", "//ada:pw@", 1)) }
		c.TLS = func(host string, raw net.Conn) *tls.Config {
			if raw != nil {
				t.Error("behind a proxy the connection counts as the server's")
			}
			if len(lines) == 0 {
				return trustProxy(host, raw)
			}
			return trust(host, raw)
		}
		lines = nil
		for range 2 {
			_, body, err := ask(t, c, get(t, "http://u:p@example.test/x?y#z"))
			if err != nil || body != "relayed" {
				t.Errorf("%q, %v", body, err)
			}
		}
		for range 2 {
			if _, body, err := ask(t, c, get(t, site.URL)); err != nil || body != "through" {
				t.Errorf("%q, %v", body, err)
			}
		}
		const who = " Basic YWRhOnB3"
		want := []string{"GET http://example.test/x?y example.test" + who, "GET http://example.test/x?y example.test" + who, "CONNECT " + addr + " " + addr + who}
		if fmt.Sprint(lines) != fmt.Sprint(want) {
			t.Errorf("by way of %s: %q, want %q", proxy, lines, want)
		}
		c.CloseIdle()
	}
}

func TestProxyRefuses(t *testing.T) {
	for _, tt := range []struct {
		answer string
		status int
		part   string
	}{
		{"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 3\r\n\r\nno!", 407, "wants a user and a password (HTTP 407)"},
		{"HTTP/1.0 403 Forbidden\r\n\r\n", 403, "does not connect: HTTP 403 Forbidden"},
		{"HTTP/1.1 502 Bad Gateway\r\n\r\n", 502, "HTTP 502"},
		{"", 0, "EOF"},
		{"what?\r\n", 0, "malformed"},
		{"HTTP/1.1 200 OK\r\n\r\nmore", 0, "sent something before"},
	} {
		s := newSite(t, says(1, tt.answer))
		c := newClient(t)
		c.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse("http://" + s.addr) }
		_, _, err := ask(t, c, get(t, "https://example.test/"))
		if err == nil || !strings.Contains(err.Error(), tt.part) || !strings.Contains(err.Error(), s.addr) {
			t.Errorf("%q: error %v, want %q", tt.answer, err, tt.part)
		}
		var refused *ProxyError
		if errors.As(err, &refused) != (tt.status > 0) || refused != nil && (refused.Status != tt.status || refused.Final != (tt.status < 500)) {
			t.Errorf("%q: error %#v", tt.answer, err)
		}
	}
	c := newClient(t)
	c.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse("http://127.0.0.1:1") }
	var down *ProxyError
	if _, _, err := ask(t, c, get(t, "http://h/")); !errors.As(err, &down) || down.Final || !errors.Is(err, syscall.ECONNREFUSED) || !strings.Contains(err.Error(), "the proxy 127.0.0.1:1 cannot be reached") {
		t.Errorf("a proxy that is down: error %v", err)
	}
	fault := errors.New("no such proxy")
	c.Proxy = func(*url.URL) (*url.URL, error) { return nil, fault }
	if _, _, err := ask(t, c, get(t, "http://h/")); !errors.Is(err, fault) {
		t.Errorf("error %v", err)
	}
}

// TestSOCKS plays a proxy byte by byte: what it hears and what it says.
func TestSOCKS(t *testing.T) {
	const (
		done   = "\x05\x00\x00\x01\x0a\x00\x00\x01\x00\x50"
		named  = "\x05\x00\x00\x03\x04name\x00\x50"
		six    = "\x05\x00\x00\x04" + "0123456789abcdef" + "\x00\x50"
		answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	)
	for _, tt := range []struct {
		proxy, to string
		talk      []string // heard and said in turn
		part      string
	}{
		{"socks5://", "http://example.test/", []string{"\x05\x01\x00", "\x05\x00", "\x05\x01\x00\x03\x0cexample.test\x00\x50", done}, ""},
		{"socks5h://", "http://10.0.0.9:8080/", []string{"\x05\x01\x00", "\x05\x00", "\x05\x01\x00\x01\x0a\x00\x00\x09\x1f\x90", named}, ""},
		{"socks5://", "http://[fd00::1]/", []string{"\x05\x01\x00", "\x05\x00", "\x05\x01\x00\x04\xfd" + strings.Repeat("\x00", 14) + "\x01\x00\x50", six}, ""},
		{"socks5://ada:pw@", "http://h/", []string{"\x05\x02\x00\x02", "\x05\x02", "\x01\x03ada\x02pw", "\x01\x00", "\x05\x01\x00\x03\x01h\x00\x50", done}, ""},
		{"socks5://ada:pw@", "http://h/", []string{"\x05\x02\x00\x02", "\x05\x00", "\x05\x01\x00\x03\x01h\x00\x50", done}, ""},
		{"socks5://ada:pw@", "http://h/", []string{"\x05\x02\x00\x02", "\x05\x02", "\x01\x03ada\x02pw", "\x01\x01"}, "does not accept the user"},
		{"socks5://ada:" + strings.Repeat("x", 256) + "@", "http://h/", []string{"\x05\x02\x00\x02", "\x05\x02"}, "too long"},
		{"socks5://", "http://h/", []string{"\x05\x01\x00", "\x05\xff"}, "wants a user and a password"},
		{"socks5://", "http://h/", []string{"\x05\x01\x00", "\x05\x02"}, "wants a user and a password"},
		{"socks5://", "http://h/", []string{"\x05\x01\x00", "HT"}, "does not speak SOCKS 5"},
		{"socks5://", "http://h/", []string{"\x05\x01\x00", "\x05"}, "EOF"},
		{"socks5://", "http://h/", []string{"\x05\x01\x00", "\x05\x00", "\x05\x01\x00\x03\x01h\x00\x50", "\x05\x05\x00\x01\x00"}, "does not connect: connection refused"},
		{"socks5://", "http://h/", []string{"\x05\x01\x00", "\x05\x00", "\x05\x01\x00\x03\x01h\x00\x50", "\x05\xc8\x00\x01\x00"}, "fault 200"},
		{"socks5://", "http://h/", []string{"\x05\x01\x00", "\x05\x00", "\x05\x01\x00\x03\x01h\x00\x50", "\x05\x00\x00\x01\x00"}, "EOF"},
		{"socks5://", "http://h:99999/", []string{"\x05\x01\x00", "\x05\x00"}, "no address"},
	} {
		s := newSite(t, func(c net.Conn, _ int64) {
			for i := 0; i < len(tt.talk); i += 2 {
				b := make([]byte, len(tt.talk[i]))
				if io.ReadFull(c, b); string(b) != tt.talk[i] {
					t.Errorf("%s: heard %q, want %q", tt.to, b, tt.talk[i])
				}
				for _, one := range []byte(tt.talk[i+1]) {
					c.Write([]byte{one})
				}
			}
			if tt.part == "" {
				if r, err := http.ReadRequest(bufio.NewReader(c)); err != nil || r.RequestURI != "/" {
					t.Errorf("request %+v, %v", r, err)
				}
				io.WriteString(c, answer)
			}
		})
		c := newClient(t)
		c.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse(tt.proxy + s.addr) }
		_, body, err := ask(t, c, get(t, tt.to))
		if tt.part == "" && (err != nil || body != "ok") || tt.part != "" && (err == nil || !strings.Contains(err.Error(), tt.part)) {
			t.Errorf("%s by way of %.20s: %q, %v, want %q", tt.to, tt.proxy, body, err, tt.part)
		}
		var refused *ProxyError
		if errors.As(err, &refused) && refused.Final != strings.Contains(tt.part, "user") {
			t.Errorf("%q is final: %v", tt.part, refused.Final)
		}
	}
}

func TestStatusText(t *testing.T) {
	for code := 400; code < 600; code++ {
		if got := StatusText(code); got != "" && !strings.EqualFold(got, http.StatusText(code)) || strings.Contains(got, "\n") {
			t.Errorf("StatusText(%d) = %q, want %q", code, got, http.StatusText(code))
		}
	}
	if StatusText(404) != "Not Found" || StatusText(511) == "" || StatusText(0) != "" || StatusText(40) != "" {
		t.Error("StatusText does not know its statuses")
	}
}
