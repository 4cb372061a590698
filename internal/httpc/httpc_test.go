package httpc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// site is a server on loopback that hands each connection to serve.
type site struct {
	url   string
	addr  string
	conns atomic.Int64
}

func newSite(t testing.TB, serve func(c net.Conn, n int64)) *site {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	s := &site{url: "http://" + ln.Addr().String() + "/p", addr: ln.Addr().String()}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			n := s.conns.Add(1)
			go func() {
				defer c.Close()
				serve(c, n)
			}()
		}
	}()
	return s
}

// says answers each request of a connection with these bytes, one write a
// piece, and closes after the last request that it knows.
func says(requests int, pieces ...string) func(net.Conn, int64) {
	return func(c net.Conn, _ int64) {
		in := bufio.NewReader(c)
		for range requests {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			io.Copy(io.Discard, r.Body)
			for _, p := range pieces {
				io.WriteString(c, p)
			}
		}
	}
}

func newClient(t testing.TB) *Client {
	t.Helper()
	c := &Client{Dial: (&net.Dialer{}).DialContext}
	t.Cleanup(c.CloseIdle)
	return c
}

func get(t testing.TB, to string) *Request {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return &Request{Method: "GET", URL: u}
}

func post(t testing.TB, to, body string) *Request {
	t.Helper()
	r := get(t, to)
	r.Method, r.Size = "POST", int64(len(body))
	r.Body = func(w io.Writer) error {
		_, err := io.WriteString(w, body)
		return err
	}
	return r
}

// ask makes a request and reads the answer to its end.
func ask(t testing.TB, c *Client, r *Request) (*Response, string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	resp, err := c.Do(ctx, r)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

// noneLeft waits until no goroutine of this package runs any more.
func noneLeft(t *testing.T) {
	t.Helper()
	buf := make([]byte, 1<<20)
	var text string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); runtime.Gosched() {
		text = string(buf[:runtime.Stack(buf, true)])
		if !strings.Contains(text, "httpc.(*exchange)") && !strings.Contains(text, "httpc.(*Client)") {
			return
		}
	}
	t.Errorf("a goroutine is left behind:\n%s", text)
}

func TestRequest(t *testing.T) {
	got := make(chan string, 1)
	s := newSite(t, func(c net.Conn, _ int64) {
		in := bufio.NewReader(c)
		var b strings.Builder
		for {
			line, err := in.ReadString('\n')
			b.WriteString(line)
			if err != nil || line == "\r\n" {
				break
			}
		}
		got <- b.String()
		io.WriteString(c, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
	})
	user := url.UserPassword("ada", "s:3")
	for _, tt := range []struct {
		path string
		head Header
		want string
	}{
		{"/", nil, "GET / HTTP/1.1\r\nHost: ADDR\r\nAccept-Encoding: gzip\r\n\r\n"},
		{"", Header{{"X-A", "1"}, {"X-A", "2"}, {"User-Agent", "me"}}, "GET / HTTP/1.1\r\nHost: ADDR\r\nX-A: 1\r\nX-A: 2\r\nUser-Agent: me\r\nAccept-Encoding: gzip\r\n\r\n"},
		{"/a b?c d&\u00e9#f", Header{{"host", "other:1"}}, "GET /a%20b?c%20d&%C3%A9 HTTP/1.1\r\nHost: other:1\r\nAccept-Encoding: gzip\r\n\r\n"},
		{"/", Header{{"Authorization", "x"}}, "GET / HTTP/1.1\r\nHost: ADDR\r\nAuthorization: Basic YWRhOnM6Mw==\r\nAccept-Encoding: gzip\r\n\r\n"},
	} {
		r := get(t, "http://"+s.addr+tt.path)
		if r.Header = tt.head; tt.head.Get("authorization") != "" {
			r.Header.SetBasic(user)
		}
		if _, _, err := ask(t, newClient(t), r); err != nil {
			t.Fatal(err)
		}
		if g, w := <-got, strings.ReplaceAll(tt.want, "ADDR", s.addr); g != w {
			t.Errorf("%q: sent %q, want %q", tt.path, g, w)
		}
	}
}

// TestRefusedRequests: nothing goes out that could be read as two requests.
func TestRefusedRequests(t *testing.T) {
	s := newSite(t, says(1, "HTTP/1.1 204 x\r\n\r\n"))
	with := func(change func(*Request)) *Request {
		r := post(t, s.url, "x")
		change(r)
		return r
	}
	for name, r := range map[string]*Request{
		"method":      with(func(r *Request) { r.Method = "GET / HTTP/1.1\r\nX:" }),
		"no method":   with(func(r *Request) { r.Method = "" }),
		"value":       with(func(r *Request) { r.Header.Set("X", "a\r\nY: b") }),
		"bare LF":     with(func(r *Request) { r.Header.Set("X", "a\nY: b") }),
		"NUL":         with(func(r *Request) { r.Header.Set("X", "a\x00") }),
		"name":        with(func(r *Request) { r.Header.Set("X: a\r\nY", "b") }),
		"space":       with(func(r *Request) { r.Header.Set("X ", "b") }),
		"host field":  with(func(r *Request) { r.Header.Set("Host", "a\r\nY: b") }),
		"host":        with(func(r *Request) { r.URL.Host = "a\r\nb" }),
		"host space":  with(func(r *Request) { r.URL.Host = "a b" }),
		"no host":     with(func(r *Request) { r.URL.Host = "" }),
		"scheme":      with(func(r *Request) { r.URL.Scheme = "ftp" }),
		"opaque":      with(func(r *Request) { r.URL = &url.URL{Scheme: "http", Opaque: "//h/x"} }),
		"body long":   with(func(r *Request) { r.Size = 0 }),
		"body short":  with(func(r *Request) { r.Size = 2 }),
		"body faulty": with(func(r *Request) { r.Body = func(io.Writer) error { return errors.New("gone") } }),
	} {
		if _, _, err := ask(t, newClient(t), r); err == nil {
			t.Errorf("%s: sent", name)
		} else if strings.HasPrefix(name, "body") && !strings.HasPrefix(err.Error(), "write request: ") {
			t.Errorf("%s: error %v, want one about the body", name, err)
		}
	}
	r := with(func(r *Request) { r.URL.Path, r.URL.RawQuery = "/a\r\nX: y", "b\r\nX: y" })
	if _, _, err := ask(t, newClient(t), r); err != nil {
		t.Errorf("a target with a line end is not escaped: %v", err)
	}
	noneLeft(t)
}

// TestReuse: one connection serves one request after the other, and one that
// the server closed is replaced once and in silence.
func TestReuse(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	for _, tt := range []struct {
		name            string
		serve           func(net.Conn, int64)
		requests, conns int64
	}{
		{"kept", says(9, ok), 3, 1},
		{"chunked", says(9, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), 3, 1},
		{"HTTP/1.0 that says so", says(9, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok"), 3, 1},
		{"an error", says(9, "HTTP/1.1 500 OK\r\nContent-Length: 2\r\n\r\nok"), 3, 1},
		{"HTTP/1.0", says(9, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"), 3, 3},
		{"close", says(9, "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 2\r\n\r\nok"), 3, 3},
		{"until close", says(1, "HTTP/1.1 200 OK\r\n\r\nok"), 3, 3},
		{"both lengths", says(9, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), 3, 3},
		{"closed after each", says(1, ok), 3, 3},
		{"more than the answer", says(9, ok+"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n"), 3, 3},
		{"closed when asked again", func(c net.Conn, _ int64) {
			says(1, ok)(c, 0)
			bufio.NewReader(c).ReadByte()
		}, 3, 3},
	} {
		s := newSite(t, tt.serve)
		c := newClient(t)
		for range tt.requests {
			if _, body, err := ask(t, c, post(t, s.url, "hello")); err != nil || body != "ok" {
				t.Errorf("%s: %q, %v", tt.name, body, err)
			}
		}
		if n := s.conns.Load(); n != tt.conns {
			t.Errorf("%s: %d connections, want %d", tt.name, n, tt.conns)
		}
	}
	noneLeft(t)
}

// TestResend: a request is sent again only where nothing of an answer came, on
// a connection that was kept, and once.
func TestResend(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	read := func(c net.Conn) {
		if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			io.Copy(io.Discard, r.Body)
		}
	}
	for _, tt := range []struct {
		name  string
		first string // the beginning of the answer on which the server hangs up
		conns int64
		want  error
	}{{"silent", "", 2, io.EOF}, {"begun", "H", 1, io.ErrUnexpectedEOF}, {"a head", "HTTP/1.1 200 OK\r\nA: b\r\n", 1, io.ErrUnexpectedEOF}} {
		s := newSite(t, func(c net.Conn, n int64) {
			if n == 1 {
				says(1, ok)(c, n)
			}
			read(c)
			io.WriteString(c, tt.first)
		})
		c := newClient(t)
		ask(t, c, post(t, s.url, "a"))
		_, _, err := ask(t, c, post(t, s.url, "b"))
		if !errors.Is(err, tt.want) || s.conns.Load() != tt.conns {
			t.Errorf("%s: %v after %d connections, want %v after %d", tt.name, err, s.conns.Load(), tt.want, tt.conns)
		}
	}
}

// TestIdle: two connections are kept, each for its own server, and none for
// ever.
func TestIdle(t *testing.T) {
	ok := says(9, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	a, b, d := newSite(t, ok), newSite(t, ok), newSite(t, ok)
	c := newClient(t)
	for _, s := range []*site{a, b, a, d, a, b} {
		if _, _, err := ask(t, c, get(t, s.url)); err != nil {
			t.Fatal(err)
		}
	}
	if a.conns.Load() != 1 || b.conns.Load() != 2 || d.conns.Load() != 1 || len(c.idle) != 2 {
		t.Errorf("%d, %d and %d connections, %d kept", a.conns.Load(), b.conns.Load(), d.conns.Load(), len(c.idle))
	}
	kept := c.idle[0]
	c.expire(kept)
	if _, err := kept.Write([]byte("x")); !errors.Is(err, net.ErrClosed) || len(c.idle) != 1 {
		t.Errorf("after its time %d are kept, and the connection says %v", len(c.idle), err)
	}
	c.CloseIdle()
	if len(c.idle) != 0 {
		t.Errorf("%d are kept after CloseIdle", len(c.idle))
	}
}

// TestEarlyAnswer: an answer that comes while the request still goes out is
// seen. A refusal ends the upload at once, any other when it has been read; the
// connection serves no other request.
func TestEarlyAnswer(t *testing.T) {
	for _, status := range []int{200, 413} {
		ended := make(chan error, 1)
		s := newSite(t, func(c net.Conn, _ int64) {
			http.ReadRequest(bufio.NewReader(c))
			fmt.Fprintf(c, "HTTP/1.1 %d X\r\nContent-Length: 4\r\n\r\n", status)
			if status == 413 {
				<-ended
			}
			io.WriteString(c, "much")
			<-t.Context().Done()
		})
		r := post(t, s.url, "")
		r.Size = 1 << 40
		r.Body = func(w io.Writer) error {
			b := make([]byte, 1<<16)
			for {
				if _, err := w.Write(b); err != nil {
					ended <- err
					return err
				}
			}
		}
		c := newClient(t)
		resp, body, err := ask(t, c, r)
		if err != nil || resp.Status != status || body != "much" || len(c.idle) > 0 {
			t.Errorf("%+v, %q, %v, %d connections kept", resp, body, err, len(c.idle))
		}
	}
	noneLeft(t)
}

// TestBothWays: a server may begin its answer before it has read the request.
func TestBothWays(t *testing.T) {
	s := newSite(t, func(c net.Conn, _ int64) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n")
		io.Copy(c, r.Body)
	})
	text := strings.Repeat("0123456789", 500000)
	if _, body, err := ask(t, newClient(t), post(t, s.url, text)); err != nil || body != text {
		t.Errorf("%d bytes came back, %v", len(body), err)
	}
}

// TestCancel: the end of the context ends everything in every phase, with its
// cause.
func TestCancel(t *testing.T) {
	cause := errors.New("enough")
	block := func(c net.Conn, _ int64) { <-t.Context().Done() }
	read := func(c net.Conn) { http.ReadRequest(bufio.NewReader(c)) }
	for name, serve := range map[string]func(net.Conn, int64){
		"upload": block,
		"head":   func(c net.Conn, n int64) { read(c); block(c, n) },
		"in the head": func(c net.Conn, n int64) {
			read(c)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nA")
			block(c, n)
		},
		"body": func(c net.Conn, n int64) {
			read(c)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
			block(c, n)
		},
	} {
		s := newSite(t, serve)
		ctx, cancel := context.WithCancelCause(t.Context())
		r := get(t, s.url)
		if name == "upload" {
			r = post(t, s.url, strings.Repeat("x", 32<<20))
		}
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
		resp, err := newClient(t).Do(ctx, r)
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if !errors.Is(err, cause) {
			t.Errorf("%s: error %v, want the cause", name, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	c := newClient(t)
	c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		cancel(cause)
		<-ctx.Done()
		return nil, errors.New("operation was canceled")
	}
	if _, err := c.Do(ctx, get(t, "http://h/")); !errors.Is(err, cause) {
		t.Errorf("dial: error %v, want the cause", err)
	}
	for _, to := range []string{"http://", "https://"} { // a TLS server and a proxy that say nothing
		s := newSite(t, block)
		ctx, cancel := context.WithCancelCause(t.Context())
		c := newClient(t)
		if to == "http://" {
			c.Proxy = func(*url.URL) (*url.URL, error) { return url.Parse("socks5://" + s.addr) }
		}
		time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
		if _, err := c.Do(ctx, get(t, to+s.addr)); !errors.Is(err, cause) {
			t.Errorf("handshake: error %v, want the cause", err)
		}
		c.Handshake = 20 * time.Millisecond
		if _, err := c.Do(t.Context(), get(t, to+s.addr)); err == nil || !strings.Contains(err.Error(), "has not agreed to use it within 20ms") {
			t.Errorf("handshake: error %v, want one with the limit", err)
		}
	}
	noneLeft(t)
}

// TestClosedEarly: a body that nobody reads costs its connection and no more.
func TestClosedEarly(t *testing.T) {
	s := newSite(t, says(9, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"+strings.Repeat("x", 100000)))
	c := newClient(t)
	for range 2 {
		resp, err := c.Do(t.Context(), get(t, s.url))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Read(make([]byte, 10))
		resp.Body.Close()
		if n, err := resp.Body.Read(make([]byte, 10)); n > 0 || err == nil || err == io.EOF {
			t.Errorf("a closed body gives %d bytes, %v", n, err)
		}
	}
	if s.conns.Load() != 2 || len(c.idle) != 0 {
		t.Errorf("%d connections, %d kept", s.conns.Load(), len(c.idle))
	}
	noneLeft(t)
}
