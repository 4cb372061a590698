package provider

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// authority signs certificates for 127.0.0.1.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().AddDate(-10, 0, 0), NotAfter: time.Now().AddDate(10, 0, 0), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{t, cert, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}
}

func (a *authority) sign(from, to time.Time, host string) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "leaf"}, NotBefore: from, NotAfter: to}
	if ip := net.ParseIP(host); ip != nil {
		tmpl.IPAddresses = []net.IP{ip}
	} else {
		tmpl.DNSNames = []string{host}
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, &key.PublicKey, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// answerGood is a handler that answers each chat well.
func answerGood(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", half("Good."))
}

func serveTLS(t *testing.T, cert tls.Certificate, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains about each refused handshake
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func realClient(t *testing.T, base string, change func(*Options)) *Client {
	t.Helper()
	o := Options{BaseURL: base, Model: "m", Stream: true, IdleTimeout: 5 * time.Second, RequestTimeout: 5 * time.Second}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.unit = time.Millisecond
	t.Cleanup(func() { c.Close() })
	return c
}

// TestCertificates: each fault of a certificate is named with what a person
// can do about it, and none is overlooked.
func TestCertificates(t *testing.T) {
	ca, foreign, now := newAuthority(t, "good"), newAuthority(t, "foreign"), time.Now()
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, append(append([]byte("# comment\n"), foreignNoise(t)...), ca.pem...), 0o600); err != nil {
		t.Fatal(err)
	}
	year := func(n int) time.Time { return now.AddDate(n, 0, 0) }
	tests := []struct {
		name     string
		cert     tls.Certificate
		clock    time.Time
		insecure bool
		want     []string // parts of the error, none for success
	}{
		{"good", ca.sign(year(-1), year(1), "127.0.0.1"), now, false, nil},
		{"unknown authority", foreign.sign(year(-1), year(1), "127.0.0.1"), now, false, []string{"unknown authority", "ca-bundle", "ca_file"}},
		{"ran out", ca.sign(year(-2), year(-1), "127.0.0.1"), now, false, []string{"ran out on", "date"}},
		{"not yet valid", ca.sign(year(1), year(2), "127.0.0.1"), now, false, []string{"not yet valid", "clock", "date", "sysntpd", "timedatectl"}},
		{"clock of 1970", ca.sign(year(-1), year(1), "127.0.0.1"), time.Unix(9, 0), false, []string{"not yet valid", "1970-01-01", "date"}},
		{"other name", ca.sign(year(-1), year(1), "example.org"), now, false, []string{"not for 127.0.0.1"}},
		{"unchecked on this network", foreign.sign(year(-1), year(-1), "example.org"), now, true, nil},
	}
	for _, tt := range tests {
		s := serveTLS(t, tt.cert, answerGood)
		c := realClient(t, s.URL+"/v1", func(o *Options) { o.CAFile, o.Insecure, o.Retries = caFile, tt.insecure, 3 })
		c.roots.now = func() time.Time { return tt.clock }
		n := 0
		_, err := c.Chat(t.Context(), testRequest(), func(d chat.Delta) {
			if d.Notice != "" {
				n++
			}
		})
		if len(tt.want) == 0 && err != nil || len(tt.want) > 0 && err == nil {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.want)
			continue
		}
		for _, w := range tt.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: error %q lacks %q", tt.name, err, w)
			}
		}
		if n > 0 {
			t.Errorf("%s: tried again, which cures nothing", tt.name)
		}
	}
}

// foreignNoise is a bundle of authorities that sign nothing here.
func foreignNoise(t *testing.T) []byte {
	return append(newAuthority(t, "one").pem, newAuthority(t, "two").pem...)
}

func TestNoBundle(t *testing.T) {
	ca := newAuthority(t, "good")
	s := serveTLS(t, ca.sign(time.Now().AddDate(-1, 0, 0), time.Now().AddDate(1, 0, 0), "127.0.0.1"), answerGood)
	c := realClient(t, s.URL+"/v1", nil)
	c.roots.once.Do(func() { c.roots.err = errNoRoots })
	_, err := c.Chat(t.Context(), testRequest(), nil)
	if !errors.Is(err, errNoRoots) || !strings.Contains(err.Error(), "install ca-bundle") {
		t.Errorf("error %v, want one that names ca-bundle", err)
	}
	c = realClient(t, s.URL+"/v1", func(o *Options) { o.CAFile = "/nowhere/ca.pem" })
	if _, err = c.Chat(t.Context(), testRequest(), nil); err == nil || !strings.Contains(err.Error(), "/nowhere/ca.pem") {
		t.Errorf("error %v, want one that names the file", err)
	}
}

// TestInsecureIsLocal: a public server is checked whatever was asked for. The
// name leads to loopback here, but the connection says it comes from outside.
func TestInsecureIsLocal(t *testing.T) {
	for _, tt := range []struct {
		addr    string
		private bool
	}{{"127.0.0.1:1", true}, {"[::1]:1", true}, {"192.168.1.1:443", true}, {"100.64.3.4:443", true}, {"[fe80::1]:1", true}, {"8.8.8.8:443", false}, {"[2001:db8::1]:443", false}, {"", false}} {
		if got := isPrivateConn(addrConn{addr: tt.addr}); got != tt.private {
			t.Errorf("isPrivateConn(%q) = %v, want %v", tt.addr, got, tt.private)
		}
	}
	for _, tt := range []struct {
		insecure bool
		raw      net.Conn // nil behind a proxy
		checked  bool
	}{{true, addrConn{addr: "192.168.1.1:443"}, false}, {true, addrConn{addr: "8.8.8.8:443"}, true}, {true, nil, true}, {false, addrConn{addr: "127.0.0.1:1"}, true}} {
		cfg := newHTTP(tt.insecure, newRoots("")).TLS("h", tt.raw)
		if err := cfg.VerifyConnection(tls.ConnectionState{}); (err != nil) != tt.checked {
			t.Errorf("insecure %v, by %v: a server without a certificate gives %v", tt.insecure, tt.raw, err)
		}
	}
}

type addrConn struct {
	net.Conn
	addr string
}

func (c addrConn) RemoteAddr() net.Addr { return c }
func (c addrConn) Network() string      { return "tcp" }
func (c addrConn) String() string       { return c.addr }

// TestConnection: one connection serves the steps of a session, and a TLS
// session is taken up again after it was closed.
func TestConnection(t *testing.T) {
	ca := newAuthority(t, "good")
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(caFile, ca.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	var conns, resumed atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.DidResume {
			resumed.Add(1)
		}
		answerGood(w, r)
		w.(http.Flusher).Flush()
		time.Sleep(10 * time.Millisecond) // the end comes apart from the end mark
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{ca.sign(time.Now().AddDate(-1, 0, 0), time.Now().AddDate(1, 0, 0), "127.0.0.1")}}
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			conns.Add(1)
		}
	}
	s.StartTLS()
	defer s.Close()
	c := realClient(t, s.URL+"/v1", func(o *Options) { o.CAFile = caFile })
	for range 5 {
		if _, err := c.Chat(t.Context(), testRequest(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections for five requests, want 1", n)
	}
	c.http.CloseIdle()
	if _, err := c.Chat(t.Context(), testRequest(), nil); err != nil || resumed.Load() != 1 {
		t.Errorf("resumed %d sessions after the connection was closed, error %v, want 1", resumed.Load(), err)
	}
}

func TestNoConnection(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base := "http://" + l.Addr().String() + "/v1"
	l.Close()
	c := realClient(t, base, func(o *Options) { o.Retries = 1 })
	_, err = c.Chat(t.Context(), testRequest(), nil)
	if err == nil || !strings.Contains(err.Error(), "network: connection refused by 127.0.0.1:") || !strings.Contains(err.Error(), "is the local server running?") {
		t.Errorf("error %v, want one that names the refusal", err)
	}

	c = realClient(t, "http://no-such-host.invalid/v1", nil)
	c.http.Dial = func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "no-such-host.invalid", IsNotFound: true}}
	}
	_, err = c.Chat(t.Context(), testRequest(), nil)
	if err == nil || !strings.Contains(err.Error(), "no such host: no-such-host.invalid") || !strings.Contains(err.Error(), "/etc/resolv.conf") {
		t.Errorf("error %v, want one that names DNS", err)
	}
	var dns *net.DNSError
	if !errors.As(err, &dns) {
		t.Errorf("error %v does not carry its cause", err)
	}
}

// TestProxyAtFault: what a proxy does is not said of the server, and what another
// try does not cure is tried once.
func TestProxyAtFault(t *testing.T) {
	for _, tt := range []struct {
		err   error
		final bool
		part  string
	}{
		{&httpc.ProxyError{Proxy: "px:1", Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}, false, "the proxy px:1 cannot be reached: connection refused"},
		{&httpc.ProxyError{Proxy: "px:1", Err: &net.DNSError{Name: "px", IsNotFound: true}}, true, "the proxy px:1 cannot be reached: no such host: px"},
		{&httpc.ProxyError{Proxy: "px:1", Status: 407, Final: true}, true, "the proxy px:1 wants a user"},
		{&httpc.ProxyError{Proxy: "px:1", Status: 502, Reason: "HTTP 502"}, false, "the proxy px:1 does not connect: HTTP 502"},
		{&httpc.ProxyError{Reason: "HTTP_PROXY has a proxy of the kind ftp", Final: true}, true, "HTTP_PROXY has"},
	} {
		c := testClient(t, &server{t: t}, func(o *Options) { o.BaseURL = "http://other.example/v1" })
		f := c.network(tt.err, newWatch(t.Context(), &c.o, true))
		if !strings.HasPrefix(f.message, "network: "+tt.part) || (f.advice == adviseNo) != tt.final || strings.Contains(f.message, "other.example") {
			t.Errorf("%v: %s, %q", tt.err, f.advice, f.message)
		}
	}
	s := &server{t: t, answers: []testResponse{status(407, "<title>Proxy login</title>")}, n: 64}
	if _, _, err := ask(t, testClient(t, s, nil)); err == nil || !strings.Contains(err.Error(), "the proxy wants a user and a password") || strings.Contains(err.Error(), "base_url") {
		t.Errorf("407: error %v", err)
	}
}

func TestPlainServerOnTLS(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(answerGood))
	defer s.Close()
	c := realClient(t, strings.Replace(s.URL, "http:", "https:", 1)+"/v1", nil)
	if _, err := c.Chat(t.Context(), testRequest(), nil); err == nil || !strings.Contains(err.Error(), "does not speak TLS") {
		t.Errorf("error %v, want one that names TLS", err)
	}
}

// TestLimits: a server that is silent, in every phase.
func TestLimits(t *testing.T) {
	flush := func(w http.ResponseWriter, s string) {
		io.WriteString(w, s)
		w.(http.Flusher).Flush()
	}
	wait := func(r *http.Request) { <-r.Context().Done() }
	tests := []struct {
		name   string
		change func(*Options)
		serve  http.HandlerFunc
		want   string
	}{
		{"no headers", func(o *Options) { o.FirstByteTimeout = 50 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) { wait(r) }, "timeout after 0.05s"},
		{"one limit for both", func(o *Options) { o.FirstByteTimeout, o.RequestTimeout = 50*time.Millisecond, 50*time.Millisecond }, func(w http.ResponseWriter, r *http.Request) { wait(r) }, "timeout after 0.05s)"},
		{"no byte", func(o *Options) { o.FirstByteTimeout = 50 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) { flush(w, ""); wait(r) }, "timeout after 0.05s"},
		{"no next byte", func(o *Options) { o.IdleTimeout = 50 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) { flush(w, "data: "+half("x")+"\n\n"); wait(r) }, "timeout after 0.05s in the middle"},
		{"only comments", func(o *Options) { o.RequestTimeout = 200 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				flush(w, ": keep-alive\n\n")
				select {
				case <-time.After(20 * time.Millisecond):
				case <-r.Context().Done():
				}
			}
		}, "timeout after 0.2s without data"},
		{"plain", func(o *Options) { o.RequestTimeout, o.Stream, o.Retries = 100*time.Millisecond, false, 2 }, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				flush(w, "\n")
				select {
				case <-time.After(20 * time.Millisecond):
				case <-r.Context().Done():
				}
			}
		}, "timeout after 0.1s"},
		{"an error's body", func(o *Options) { o.FirstByteTimeout = 50 * time.Millisecond }, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(400); flush(w, ""); wait(r) }, "timeout after 0.05s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if io.Copy(io.Discard, r.Body); r.Method == http.MethodPost {
					tt.serve(w, r)
				}
			}))
			defer s.Close()
			c := realClient(t, s.URL+"/v1", tt.change)
			asked := 0
			c.send = func(ctx context.Context, r *httpc.Request) (*httpc.Response, error) {
				if r.Method == "POST" {
					asked++
				}
				return c.http.Do(ctx, r)
			}
			start := time.Now()
			_, err := c.Chat(t.Context(), testRequest(), nil)
			if !errors.Is(err, ErrTimeout) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if tt.name == "plain" && asked != 1 {
				t.Errorf("asked %d times within one limit on the whole", asked)
			}
			if d := time.Since(start); d > 4*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

// TestSlowIsAlive: a stream may take longer than every limit, as long as it
// moves.
func TestSlowIsAlive(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 30 {
			fmt.Fprintf(w, "data: %s\n\n", half("x"))
			w.(http.Flusher).Flush()
			time.Sleep(10 * time.Millisecond) // the pace of the server under test
		}
		answerGood(w, r)
	}))
	defer s.Close()
	c := realClient(t, s.URL+"/v1", func(o *Options) {
		o.RequestTimeout, o.FirstByteTimeout, o.IdleTimeout = 150*time.Millisecond, 150*time.Millisecond, 150*time.Millisecond
	})
	if reply, err := c.Chat(t.Context(), testRequest(), nil); err != nil || len(reply.Message.Content) != 35 {
		t.Errorf("reply %q, error %v", reply.Message.Content, err)
	}
}

func TestProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:3128")
	for _, u := range []string{"http://127.0.0.1:1/", "http://localhost/", "http://[::1]:8080/", "http://x.localhost/"} {
		at, err := url.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		if p, err := proxyFor(at); p != nil || err != nil {
			t.Errorf("proxyFor(%s) = %v, %v, want none", u, p, err)
		}
	}
}

// TestProxyRefuses: the refusal of a proxy is told as such, and asked about
// again only where that may help.
func TestProxyRefuses(t *testing.T) {
	for _, tt := range []struct {
		status  int
		notices int
		want    string
	}{{407, 0, "wants a user and a password (HTTP 407)"}, {403, 0, "does not connect: HTTP 403 Forbidden"}, {502, 1, "does not connect: HTTP 502 Bad Gateway"}} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(tt.status) }))
		t.Setenv("HTTPS_PROXY", s.URL)
		t.Setenv("NO_PROXY", "")
		c := realClient(t, "https://api.example.test/v1", func(o *Options) { o.Retries = 1 })
		n := 0
		_, err := c.Chat(t.Context(), testRequest(), func(d chat.Delta) {
			if d.Notice != "" {
				n++
			}
		})
		if err == nil || !strings.Contains(err.Error(), "network: the proxy "+strings.TrimPrefix(s.URL, "http://")+" "+tt.want) || n != tt.notices {
			t.Errorf("%d: %v after %d notices, want %q after %d", tt.status, err, n, tt.want, tt.notices)
		}
		s.Close()
	}
}

// TestWho: a key says who asks, else the user that the base URL names.
func TestWho(t *testing.T) {
	var who, host string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, host = r.Header.Get("Authorization"), r.Host
		answerGood(w, r)
	}))
	defer s.Close()
	base := strings.Replace(s.URL, "//", "//ada:s3cret@", 1) + "/v1"
	for _, tt := range []struct{ key, host, who string }{{"", "", "Basic YWRhOnMzY3JldA=="}, {"sk-1", "other.test", "Bearer sk-1"}} {
		c := realClient(t, base, func(o *Options) {
			if o.Key = tt.key; tt.host != "" {
				o.Headers = [][2]string{{"host", tt.host}}
			}
		})
		if _, err := c.Chat(t.Context(), testRequest(), nil); err != nil || who != tt.who || tt.host != "" && host != tt.host {
			t.Errorf("asked as %q at %q, %v, want %q at %q", who, host, err, tt.who, tt.host)
		}
	}
}

// TestRefusedEarly: a server that refuses a long request before it has read
// it, and hangs up, is heard.
func TestRefusedEarly(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	go func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			io.CopyN(io.Discard, conn, 1000)
			io.WriteString(conn, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 36\r\n\r\n{\"error\":{\"message\":\"who are you?\"}}\n")
			conn.(*net.TCPConn).CloseWrite()
			io.CopyN(io.Discard, conn, 1<<20)
			conn.Close()
		}
	}()
	c := realClient(t, "http://"+ln.Addr().String()+"/v1", nil)
	req := testRequest()
	req.Messages[0].Content = strings.Repeat("long ", 4<<20)
	_, err = c.Chat(t.Context(), req, nil)
	var status *StatusError
	if !errors.As(err, &status) || status.Code != 401 || status.Message != "who are you?" {
		t.Errorf("error %v, want the server's 401", err)
	}
}
