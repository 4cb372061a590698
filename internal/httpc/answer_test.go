package httpc

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// script is a connection on which a server says some bytes, at most n a read,
// and hangs up.
type script struct {
	net.Conn
	says string
	n    int
}

func (s *script) Read(p []byte) (int, error) {
	if s.says == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.n)], s.says)
	s.says = s.says[n:]
	return n, nil
}

func (s *script) Write(p []byte) (int, error)      { return len(p), nil }
func (s *script) Close() error                     { return nil }
func (s *script) SetReadDeadline(time.Time) error  { return nil }
func (s *script) SetWriteDeadline(time.Time) error { return nil }

// scripted is a client whose servers say that.
func scripted(says string, n int) *Client {
	return &Client{Dial: func(context.Context, string, string) (net.Conn, error) { return &script{says: says, n: n}, nil }}
}

func TestAnswers(t *testing.T) {
	huge := strings.Repeat("x", 100<<10)
	const ok = "HTTP/1.1 200 OK\r\n"
	tests := []struct {
		name, method, says string
		status             int
		length             int64
		body               string
		fault              string // of the head or of the body
	}{
		{"length", "", ok + "Content-Length: 5\r\n\r\nhello", 200, 5, "hello", ""},
		{"length and more", "", ok + "Content-Length: 5\r\n\r\nhello!", 200, 5, "hello", ""},
		{"no body", "", ok + "Content-Length: 0\r\n\r\n", 200, 0, "", ""},
		{"until close", "", ok + "\r\nhello", 200, -1, "hello", ""},
		{"lines without CR", "", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", 200, 5, "hello", ""},
		{"no reason", "", "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", 404, 0, "", ""},
		{"empty reason", "", "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n", 404, 0, "", ""},
		{"odd status", "", "HTTP/1.1 999 Odd\r\n\r\n", 999, -1, "", ""},
		{"old", "", "HTTP/1.0 200 OK\r\n\r\nhello", 200, -1, "hello", ""},
		{"old and chunked", "", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 200, -1, "ok", ""},
		{"HEAD", "HEAD", ok + "Content-Length: 5\r\n\r\n", 200, 0, "", ""},
		{"204", "", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", 204, 0, "", ""},
		{"304", "", "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n", 304, 0, "", ""},
		{"same lengths", "", ok + "Content-Length: 5\r\ncontent-length: 5 , 5\r\n\r\nhello", 200, 5, "hello", ""},
		{"folded", "", ok + "X: a\r\n  b\r\n\tc\r\nContent-Length:\r\n 5\r\n\r\nhello", 200, 5, "hello", ""},
		{"interim answers", "", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok + "Content-Length: 5\r\n\r\nhello", 200, 5, "hello", ""},

		{"chunks", "", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n", 200, -1, "hello", ""},
		{"chunks, odd writing", "", ok + "transfer-encoding: Chunked\r\n\r\n02 \r\nhe\r\n3;a=\"b;c\"\r\nllo\r\n00;x\r\nTrailer: y\r\n z\r\n\r\n", 200, -1, "hello", ""},
		{"chunk A", "", ok + "Transfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", 200, -1, "01234567890123456789", ""},
		{"chunks over a length", "", ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", 200, -1, "hello", ""},

		{"nothing", "", "", 0, 0, "", "EOF"},
		{"cut in the status", "", "HTTP/1.1 20", 0, 0, "", "unexpected EOF"},
		{"cut in the header", "", ok + "A: b\r\n", 0, 0, "", "unexpected EOF"},
		{"cut body", "", ok + "Content-Length: 5\r\n\r\nhel", 200, 5, "hel", "unexpected EOF"},
		{"cut chunk", "", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", 200, -1, "hel", "unexpected EOF"},
		{"cut after a chunk", "", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", 200, -1, "hel", "unexpected EOF"},
		{"cut before the trailer", "", ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n", 200, -1, "hel", "unexpected EOF"},

		{"SSH", "", "SSH-2.0-dropbear\r\n", 0, 0, "", `malformed HTTP response "SSH-2.0-dropbear"`},
		{"TLS", "", "\x15\x03\x01\x00\x02\x02\x0a\n", 0, 0, "", "malformed HTTP response"},
		{"HTTP/2", "", "HTTP/2.0 200 OK\r\n\r\n", 0, 0, "", "malformed HTTP response"},
		{"no status", "", "HTTP/1.1 OK\r\n\r\n", 0, 0, "", "malformed HTTP response"},
		{"status with a sign", "", "HTTP/1.1 +20 OK\r\n\r\n", 0, 0, "", "malformed HTTP response"},
		{"long status", "", "HTTP/1.1 2000 OK\r\n\r\n", 0, 0, "", "malformed HTTP response"},
		{"low status", "", "HTTP/1.1 099 OK\r\n\r\n", 0, 0, "", "malformed HTTP response"},
		{"other protocol", "", "HTTP/1.1 101 Switching Protocols\r\n\r\n", 0, 0, "", "another protocol"},
		{"header without a colon", "", ok + "hello\r\n\r\n", 0, 0, "", "malformed header line"},
		{"blank before the colon", "", ok + "Content-Length : 5\r\n\r\nhello!", 200, 5, "hello", ""},
		{"blank in the name", "", ok + "Content Length: 5\r\n\r\nhello", 0, 0, "", "malformed header line"},
		{"identity", "", ok + "Transfer-Encoding: Identity\r\nContent-Length: 5\r\n\r\nhello!", 200, 5, "hello", ""},
		{"no name", "", ok + ": 5\r\n\r\nhello", 0, 0, "", "malformed header line"},
		{"NUL", "", ok + "X: a\x00b\r\n\r\n", 0, 0, "", "malformed header line"},
		{"CR", "", ok + "X: a\rb\r\n\r\n", 0, 0, "", "malformed header line"},
		{"folded first", "", ok + " x: y\r\n\r\n", 0, 0, "", "malformed header line"},
		{"long header", "", ok + "X: " + huge + "\r\n\r\n", 0, 0, "", "exceeds 65536 bytes"},
		{"many headers", "", ok + strings.Repeat("X: y\r\n", 20000), 0, 0, "", "exceeds 65536 bytes"},
		{"long status line", "", "HTTP/1.1 200 " + huge, 0, 0, "", "exceeds 65536 bytes"},
		{"interim without end", "", strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 10000), 0, 0, "", "exceeds 65536 bytes"},
		{"different lengths", "", ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 0, 0, "", "Content-Length"},
		{"lengths in a list", "", ok + "Content-Length: 5, 6\r\n\r\nhello", 0, 0, "", "Content-Length"},
		{"negative length", "", ok + "Content-Length: -5\r\n\r\nhello", 0, 0, "", "Content-Length"},
		{"signed length", "", ok + "Content-Length: +5\r\n\r\nhello", 0, 0, "", "Content-Length"},
		{"hex length", "", ok + "Content-Length: 0x5\r\n\r\nhello", 0, 0, "", "Content-Length"},
		{"huge length", "", ok + "Content-Length: 9223372036854775808\r\n\r\nhello", 0, 0, "", "Content-Length"},
		{"empty length", "", ok + "Content-Length: \r\n\r\nhello", 0, 0, "", "Content-Length"},
		{"other coding", "", ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", 0, 0, "", "transfer encoding"},
		{"chunked twice", "", ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n", 0, 0, "", "transfer encoding"},

		{"chunk without a size", "", ok + "Transfer-Encoding: chunked\r\n\r\n\r\nhe\r\n", 200, -1, "", "malformed chunked encoding"},
		{"chunk size with junk", "", ok + "Transfer-Encoding: chunked\r\n\r\n2x\r\nhe\r\n", 200, -1, "", "malformed chunked encoding"},
		{"chunk size with a sign", "", ok + "Transfer-Encoding: chunked\r\n\r\n-2\r\nhe\r\n", 200, -1, "", "malformed chunked encoding"},
		{"chunk size 0x2", "", ok + "Transfer-Encoding: chunked\r\n\r\n0x2\r\nhe\r\n", 200, -1, "", "malformed chunked encoding"},
		{"chunk size too large", "", ok + "Transfer-Encoding: chunked\r\n\r\n8000000000000000\r\nhe", 200, -1, "", "malformed chunked encoding"},
		{"chunk size without end", "", ok + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("0", 100<<10), 200, -1, "", "malformed chunked encoding"},
		{"huge chunk", "", ok + "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nhe", 200, -1, "he", "unexpected EOF"},
		{"chunk without its end", "", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", 200, -1, "he", "malformed chunked encoding"},
		{"chunk line without CR", "", ok + "Transfer-Encoding: chunked\r\n\r\n2;x\nhe\r\n0\r\n\r\n", 200, -1, "", "malformed chunked encoding"},
		{"trailer without end", "", ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", 20000), 200, -1, "", "exceeds 65536 bytes"},
	}
	for _, tt := range tests {
		for _, n := range []int{1, 2, 3, 7, 4096, 1 << 20} {
			r := get(t, "http://h/")
			if tt.method != "" {
				r.Method = tt.method
			}
			resp, err := scripted(tt.says, n).Do(t.Context(), r)
			body := ""
			if err == nil {
				var b []byte
				b, err = io.ReadAll(resp.Body)
				body = string(b)
				resp.Body.Close()
			}
			if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) || err != nil && len(err.Error()) > 300 {
				t.Errorf("%s, %d bytes a read: error %.400v, want %q", tt.name, n, err, tt.fault)
			}
			if (resp == nil) != (tt.status == 0) || resp != nil && (resp.Status != tt.status || resp.Length != tt.length) || body != tt.body {
				t.Errorf("%s, %d bytes a read: %+v with %q, want %d, %d and %q", tt.name, n, resp, body, tt.status, tt.length, tt.body)
			}
		}
	}
	resp, err := scripted(ok+"X: a\r\n  b\r\nY:c \r\n\r\n", 1).Do(t.Context(), get(t, "http://h/"))
	if err != nil || resp.Reason != "OK" || fmt.Sprint(resp.Header) != "[{X a b} {Y c}]" || resp.Header.Get("y") != "c" || resp.Header.Get("z") != "" {
		t.Errorf("%+v, %v", resp, err)
	}
}

// TestStreaming: what a server has sent is read without waiting for more,
// compressed or not.
func TestStreaming(t *testing.T) {
	for _, coding := range []string{"", "gzip", "X-Gzip"} {
		next := make(chan bool)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Accept-Encoding") != "gzip" {
				t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
			}
			var out io.Writer = w
			flush := func() {}
			if coding != "" {
				w.Header().Set("Content-Encoding", coding)
				z := gzip.NewWriter(w)
				defer z.Close()
				out, flush = z, func() { z.Flush() }
			}
			for i := range 3 {
				fmt.Fprintf(out, "part %d", i)
				flush()
				w.(http.Flusher).Flush()
				<-next
			}
		}))
		c := newClient(t)
		resp, err := c.Do(t.Context(), get(t, s.URL))
		if err != nil {
			t.Fatal(err)
		}
		if resp.Header.Get("Content-Encoding") != "" || resp.Length != -1 {
			t.Errorf("%+v", resp)
		}
		for i := range 3 {
			b := make([]byte, 6)
			if _, err := io.ReadFull(resp.Body, b); err != nil || string(b) != fmt.Sprintf("part %d", i) {
				t.Errorf("%q %d: %q, %v", coding, i, b, err)
			}
			next <- true
		}
		if b, err := io.ReadAll(resp.Body); err != nil || len(b) > 0 || len(c.idle) != 1 {
			t.Errorf("%q: %q, %v, %d connections kept", coding, b, err, len(c.idle))
		}
		resp.Body.Close()
		s.Close()
	}
}

func TestGzip(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	io.WriteString(w, strings.Repeat("many words ", 1000))
	w.Close()
	head := func(n int) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: GZIP\r\nContent-Length: %d\r\n\r\n", n)
	}
	for _, tt := range []struct {
		name, says string
		size       int
		err        error
	}{
		{"whole", head(z.Len()) + z.String(), 11000, nil},
		{"cut by the server", head(z.Len()) + z.String()[:40], 0, io.ErrUnexpectedEOF},
		{"cut before", head(40) + z.String()[:40], 0, io.ErrUnexpectedEOF},
		{"no gzip", head(12) + "no gzip here", 0, gzip.ErrHeader},
		{"empty", head(0), 0, nil},
		{"empty until close", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", 0, nil},
	} {
		for _, n := range []int{1, 1 << 20} {
			_, body, err := ask(t, scripted(tt.says, n), get(t, "http://h/"))
			if !errors.Is(err, tt.err) || tt.err == nil && len(body) != tt.size {
				t.Errorf("%s: %d bytes, %v, want %d, %v", tt.name, len(body), err, tt.size, tt.err)
			}
		}
	}
}

// TestLikeNetHTTP compares with Go's own client over the answers of Go's own
// server.
func TestLikeNetHTTP(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Query", r.URL.RawQuery+" "+r.Host+" "+r.Method)
		switch r.URL.Path {
		case "/chunks":
			for range 5 {
				w.Write(b)
				w.(http.Flusher).Flush()
			}
		case "/none":
			w.WriteHeader(204)
		case "/bad":
			http.Error(w, "bad", 400)
		case "/gzip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write(b)
			z.Close()
		case "/close":
			w.Header().Set("Connection", "close")
			w.Write(b)
		default:
			w.Write(b)
		}
	}))
	defer s.Close()
	c := newClient(t)
	for _, path := range []string{"/", "/chunks", "/none", "/bad", "/gzip", "/close", "/a%20b/%2F?x=%zz&y", "//x", "/?"} {
		for _, size := range []int{0, 10, 100 << 10} {
			text := strings.Repeat("z", size)
			want, err := http.Post(s.URL+path, "text/plain", strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			wantBody, _ := io.ReadAll(want.Body)
			want.Body.Close()
			got, body, err := ask(t, c, post(t, s.URL+path, text))
			if err != nil || got.Status != want.StatusCode || got.Length != want.ContentLength || body != string(wantBody) || got.Header.Get("X-Query") != want.Header.Get("X-Query") {
				t.Errorf("%s with %d bytes: %v, %+v and %d bytes, want %+v and %d", path, size, err, got, len(body), want, len(wantBody))
			}
		}
	}
}

func FuzzResponse(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x\r\nhe\r\n0\r\nA: b\r\n\r\n", uint8(1))
	f.Add("HTTP/1.1 103 E\r\n\r\nHTTP/1.0 200\nContent-Length: 5, 5\n x\n\nhello", uint8(3))
	f.Add("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b\x08", uint8(9))
	f.Fuzz(func(t *testing.T, says string, n uint8) {
		resp, err := scripted(says, int(n)+1).Do(t.Context(), get(t, "http://h/"))
		if err != nil {
			return
		}
		defer resp.Body.Close()
		for _, field := range resp.Header {
			if !IsToken(field.Name) || !IsValue(field.Value) || len(field.Name)+len(field.Value) > maxHead {
				t.Fatalf("field %q", field)
			}
		}
		size, err := io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20))
		if resp.Length >= 0 && (size > resp.Length || err == nil && size < min(resp.Length, 1<<20)) {
			t.Fatalf("%d bytes of %d, %v", size, resp.Length, err)
		}
	})
}
