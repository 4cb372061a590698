package tools

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cluade/internal/policy"
)

// site is a web server on loopback for one test.
func site(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// served answers every request with a body of a type.
func served(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = nil
		if contentType != "" {
			w.Header().Set("Content-Type", contentType)
		}
		io.WriteString(w, body)
	}
}

func TestWebFetch(t *testing.T) {
	tests := []struct{ name, contentType, body, kind, want string }{
		{"html", "text/html; charset=utf-8", "<title>T</title><p>caf\xc3\xa9", "text/html", "# T\n\ncafé"},
		{"xhtml", "application/xhtml+xml", "<?xml version='1.0'?><p>x</p>", "application/xhtml+xml", "x"},
		{"html without a type", "", "<!DOCTYPE html><p>x &amp; y", "text/html", "x & y"},
		{"json", "application/json", `{"a": [1, "<b>"]}` + "\n", "application/json", `{"a": [1, "<b>"]}`},
		{"json of a kind", "application/problem+json", `{}`, "application/problem+json", `{}`},
		{"plain", "text/plain", "<p>a &amp; b\n  c\n", "text/plain", "<p>a &amp; b\n  c"},
		{"plain without a type", "", "one\ntwo", "text/plain", "one\ntwo"},
		{"plain called bytes", "application/octet-stream", "#!/bin/sh\nexit\n", "text/plain", "#!/bin/sh\nexit"},
		{"xml", "application/rss+xml; charset=UTF-8", "<a>x</a>", "application/rss+xml", "<a>x</a>"},
		{"script", "application/javascript", "f()", "application/javascript", "f()"},
		{"upper case", "TEXT/HTML", "<b>x</b>", "text/html", "x"},
		{"faulty type", "text/html; charset=utf-8; charset=utf-8", "<b>x</b>", "text/html", "x"},
		{"empty", "text/plain", "", "text/plain", "(no text)"},
		{"scripts alone", "text/html", "<body><script>go()</script><div id=app></div>", "text/html", "(no text in this page; it may need a browser that runs scripts)"},
	}
	for _, tt := range tests {
		base := site(t, served(tt.contentType, tt.body))
		want(t, testEnv(t), "web_fetch", args{"url": base + "/x#part"}, fmt.Sprintf("[200 %s %s/x]\n%s", tt.kind, base, tt.want))
	}
}

func TestWebFetchErrors(t *testing.T) {
	tests := []struct {
		name, contentType, body string
		status                  int
		parts                   []string
	}{
		{"not found", "text/html", "<h1>Not here</h1><p>Ask elsewhere", 404, []string{"HTTP 404 Not Found from http://127.0.0.1:", "(text/html, 33 bytes)", ": # Not here Ask elsewhere"}},
		{"fault with a reason", "application/json", `{"error":"q is missing"}`, 422, []string{"HTTP 422", `{"error":"q is missing"}`}},
		{"odd status", "text/plain", "", 599, []string{"HTTP 599", "0 bytes"}},
		{"image", "image/png", "\x89PNG\r\n\x1a\n", 200, []string{"is image/png, not text (8 bytes)"}},
		{"pdf", "application/pdf", "%PDF-1.4 text", 200, []string{"is application/pdf, not text (13 bytes)"}},
		{"bytes", "application/octet-stream", "\x7fELF\x01\x00\x00", 200, []string{"is application/octet-stream, not text (7 bytes)"}},
		{"bytes called text", "text/plain", "\x7fELF\x01\x00\x00", 200, []string{"is called text/plain, but holds binary data (ELF program or library, 7 bytes)"}},
		{"japanese", "text/html; charset=Shift_JIS", "<p>\x93\xfa\x96{", 200, []string{`unsupported charset "shift_jis"`}},
		{"chinese", "text/html", "<meta charset=gb18030><p>\xd6\xd0", 200, []string{`unsupported charset "gb18030"`}},
	}
	for _, tt := range tests {
		base := site(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", tt.contentType)
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		})
		wantError(t, testEnv(t), "web_fetch", args{"url": base}, tt.parts...)
	}
	for url, part := range map[string]string{
		"":                        `only http:// and https:// addresses are fetched, not ""`,
		"example.org/x":           `not "example.org/x"`,
		"file:///etc/passwd":      "only http:// and https://",
		"ftp://h/x":               "only http:// and https://",
		"http://":                 "names no host",
		"http:///x":               "names no host",
		"http://h\x7f/":           "is no URL",
		"http://[::1":             "is no URL",
		"http://h:port/":          "is no URL",
		"http://127.0.0.1:1/":     "connection refused by 127.0.0.1:1",
		"http://0.0.0.0/":         "0.0.0.0 is no server's address",
		"http://[::]/":            ":: is no server's address",
		"http://224.0.0.1/":       "224.0.0.1 is no server's address",
		"http://255.255.255.255/": "255.255.255.255 is no server's address",
		"http://[fe80::1]:0/":     "fe80::1", // typed, so it is tried
	} {
		wantError(t, testEnv(t), "web_fetch", args{"url": url}, part)
	}
}

// TestSniffKind: what a body is whose server does not say.
func TestSniffKind(t *testing.T) {
	for body, want := range map[string]string{
		"":                            "text/plain",
		"words":                       "text/plain",
		"caf\xc3\xa9 \xe9":            "text/plain",
		"a\tb\r\n\x1b[1mc":            "text/plain",
		"\xff\xfea\x00b\x00":          "text/plain",
		"a < b":                       "text/plain",
		"<pre>x":                      "text/plain",
		"<a":                          "text/plain",
		"<":                           "text/plain",
		"html >":                      "text/plain",
		"<ab>":                        "text/plain",
		"<!DOCTYPE HTML>":             "text/html",
		"\xef\xbb\xbf \n<HTML lang=x": "text/html",
		"<!-- x -->":                  "text/html",
		"<p>x":                        "text/html",
		"<Body\n>":                    "text/html",
		"<?xml version=\"1.0\"?>":     "text/xml",
		"<!DOCTYPE svg>":              "text/plain",
		"%PDF-1.7":                    "application/pdf",
		"\x89PNG\r\n\x1a\n":           "image/png",
		"\xff\xd8\xff\xe0":            "image/jpeg",
		"GIF89a":                      "image/gif",
		"PK\x03\x04\x14":              "application/zip",
		"\x1f\x8b\x08":                "application/gzip",
		"\x7fELF\x01":                 "application/octet-stream",
		"a\x00b":                      "application/octet-stream",
		"a\x08":                       "application/octet-stream",
	} {
		if got := sniffKind([]byte(body)); got != want {
			t.Errorf("sniffKind(%q) = %q, want %q", body, got, want)
		}
	}
}

// The host of a subject is spelled as it is dialled.
func TestWebFetchSubject(t *testing.T) {
	for url, want := range map[string]string{
		" https://u:p@Example.org:8443/a?b#c ": "https://u:p@example.org:8443/a?b",
		"http://127。0。0。1:80/":                 "http://127.0.0.1:80/",
		"http://127．0．0．1/":                    "http://127.0.0.1/",
		"http://127%E3%80%820.0.1/":            "http://127.0.0.1/",
		"http://[::ffff:127.0.0.1]:80/":        "http://127.0.0.1:80/",
		"http://[0:0:0:0:0:0:0:1]/":            "http://[::1]/",
		"http://[fe80::1%25eth0]/":             "http://[fe80::1%25eth0]/",
		"http://Bücher.example/ü":              "http://xn--bcher-kva.example/%C3%BC",
		"http://xn--bcher-kva.example/":        "http://xn--bcher-kva.example/",
	} {
		c, err := Builtin.Parse(testEnv(t), "web_fetch", `{"url":"`+url+`"}`)
		if err != nil || c.Subject.URL != want || c.Subject.Effect != policy.Network {
			t.Errorf("subject of %q: %+v, %v, want the URL %q", url, c, err, want)
		}
	}
}

// TestWebRequest: what a server sees.
func TestWebRequest(t *testing.T) {
	var got []*http.Request
	base := site(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r)
		switch r.URL.Path {
		case "/start":
			http.Redirect(w, r, "http://"+r.Host+"/middle", http.StatusFound)
		case "/middle":
			http.Redirect(w, r, "next?x=1#part", http.StatusFound)
		default:
			io.WriteString(w, "end")
		}
	})
	e := testEnv(t)
	typed := strings.Replace(base, "//", "//ada:s3cret@", 1)
	text, err := use(t, e, "web_fetch", args{"url": typed + "/start"})
	if err != nil || !strings.HasPrefix(text, "[200 text/plain "+strings.Replace(base, "//", "//ada:xxxxx@", 1)+"/next?x=1]\nend") {
		t.Errorf("result %q, %v", text, err)
	}
	if len(got) != 3 {
		t.Fatalf("%d requests", len(got))
	}
	for _, r := range got {
		if user, password, _ := r.BasicAuth(); user != "ada" || password != "s3cret" {
			t.Errorf("%s comes with user %q, %q", r.URL, user, password)
		}
		if agent := r.UserAgent(); !strings.Contains(agent, "Chrome/147.") || r.Method != "GET" || r.Referer() != "" || r.Proto != "HTTP/1.1" {
			t.Errorf("request %s %s by %q", r.Method, r.Proto, agent)
		}
	}
	wantError(t, e, "web_fetch", args{"url": "http://ada:s3cret@127.0.0.1:1/"}, "fetch http://ada:xxxxx@127.0.0.1:1/: connection refused")
	e.Web.UserAgent = "mine/1"
	want(t, e, "web_fetch", args{"url": base}, "[200 text/plain "+base+"]\nend")
	if agent := got[3].UserAgent(); agent != "mine/1" {
		t.Errorf("the configured user agent is not used: %q", agent)
	}
}

func TestWebRedirects(t *testing.T) {
	other := site(t, served("text/plain", "other"))
	base := site(t, func(w http.ResponseWriter, r *http.Request) {
		var n, status int
		switch {
		case r.URL.Path == "/end":
			io.WriteString(w, "end")
		case r.URL.Path == "/other":
			http.Redirect(w, r, other, http.StatusMovedPermanently)
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case r.URL.Path == "/nowhere":
			w.WriteHeader(http.StatusFound)
		case r.URL.Path == "/ftp":
			w.Header().Set("Location", "ftp://h/x")
			w.WriteHeader(307)
		case r.URL.Path == "/broken":
			w.Header().Set("Location", "http://[::1")
			w.WriteHeader(308)
		case r.URL.Path == "/link-local":
			http.Redirect(w, r, "http://169.254.169.254/x", http.StatusFound)
		case r.URL.Path == "/300":
			w.Header().Set("Location", "/end")
			w.WriteHeader(300)
		default:
			fmt.Sscanf(r.URL.Path, "/%d/%d", &n, &status)
			to := "/end"
			if n > 1 {
				to = fmt.Sprintf("/%d/%d", n-1, status)
			}
			http.Redirect(w, r, to, status)
		}
	})
	e := testEnv(t)
	for _, path := range []string{"/1/301", "/1/302", "/1/303", "/1/307", "/1/308", "/5/302"} {
		want(t, e, "web_fetch", args{"url": base + path}, "[200 text/plain "+base+"/end]\nend")
	}
	want(t, e, "web_fetch", args{"url": base + "/other"}, "[200 text/plain "+other+"]\nother")
	want(t, e, "web_fetch", args{"url": base + "/300"}, "[300 text/plain "+base+"/300]\n(no text)")
	for path, parts := range map[string][]string{
		"/6/302":      {"more than 5 redirects", "/end"},
		"/loop":       {"more than 5 redirects", "/loop"},
		"/nowhere":    {"HTTP 302 without a usable address"},
		"/ftp":        {`only http:// and https:// addresses are fetched, not "ftp://h/x"`},
		"/broken":     {"HTTP 308 without a usable address"},
		"/link-local": {"169.254.169.254", "link-local"},
	} {
		wantError(t, e, "web_fetch", args{"url": base + path}, parts...)
	}
}

// TestWebRefuse: the rules are asked again before a redirect is followed.
func TestWebRefuse(t *testing.T) {
	asked := 0
	hit := false
	other := site(t, func(http.ResponseWriter, *http.Request) { hit = true })
	base := site(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other+"/x", http.StatusFound) })
	e := testEnv(t)
	e.Web.Met = func(by, s policy.Subject) policy.Decision {
		asked++
		if !strings.HasPrefix(by.URL, base) {
			t.Errorf("asked on behalf of %+v", by)
		}
		if s.Tool != "web_fetch" || s.Effect != policy.Network || s.URL != other+"/x" {
			t.Errorf("asked about %+v", s)
		}
		return policy.Decision{Reason: "denied by rule web_fetch(domain:x)"}
	}
	wantError(t, e, "web_fetch", args{"url": base}, other+"/x", "denied by rule web_fetch(domain:x)")
	if asked != 1 || hit {
		t.Errorf("asked %d times, the other server reached: %v", asked, hit)
	}
	rule, err := policy.ParseRule("web_fetch(domain:127.0.0.1)", "")
	if err != nil {
		t.Fatal(err)
	}
	p := policy.Policy{Levels: policy.Defaults(), Rules: policy.Rules{Deny: []policy.Rule{rule}}}
	e.Web.Met = p.Met
	base2 := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", strings.Replace(other, "127.0.0.1", "127。0。0。1", 1))
		w.WriteHeader(302)
	})
	if wantError(t, e, "web_fetch", args{"url": base2}, "denied by rule"); hit {
		t.Error("a redirect to another spelling of the host was followed")
	}
	for v, followed := range map[policy.Verdict]bool{policy.Ask: false, policy.Allow: true} {
		e.Web.Met = func(_, _ policy.Subject) policy.Decision { return policy.Decision{Verdict: v} }
		if _, err := use(t, e, "web_fetch", args{"url": base}); (err == nil) != followed {
			t.Errorf("with %v: %v", v, err)
		}
	}
}

func TestWebSizes(t *testing.T) {
	big := strings.Repeat("häuser ", 1<<20/8)
	e := testEnv(t)
	for _, tt := range []struct {
		bytes, keep int
		body        string
		most        int
	}{{0, 1 << 20, big, 32768}, {0, 0, big, defaultKeep}, {1024, 0, big, 1024}, {1 << 20, 131072, big, 131072}, {0, 1 << 20, big[:40000], 32768}} {
		e.Web.Bytes, e.Keep = tt.bytes, tt.keep
		for _, kind := range []string{"text/plain", "text/html"} {
			base := site(t, served(kind+"; charset=utf-8", tt.body))
			got, err := use(t, e, "web_fetch", args{"url": base})
			if err != nil || len(got) > tt.most || len(got) < tt.most-2*maxNote-100 || !utf8.ValidString(got) {
				t.Errorf("%s, fetch_bytes %d, keep %d: %d bytes, %v, want at most %d", kind, tt.bytes, tt.keep, len(got), err, tt.most)
			}
			if !strings.Contains(got, "\n[cut: the text goes on after these ") {
				t.Errorf("no note at the end: %q", got[max(len(got)-100, 0):])
			}
		}
	}
	e.Web.Bytes, e.Keep = 1<<20, 1<<20
	base := site(t, served("text/html", "123456"+big)) // cut in a character
	if got, err := use(t, e, "web_fetch", args{"url": base}); err != nil || strings.ContainsAny(got, "\ufffdÃ") {
		t.Errorf("a page cut within a character: %v, %q", err, got[max(len(got)-100, 0):])
	}
	base = site(t, served("text/plain", big))
	got, err := use(t, e, "web_fetch", args{"url": base})
	if err != nil || len(got) > maxBody+200 || !strings.HasSuffix(got, "\n[cut: only the first 512 KiB were read]") {
		t.Errorf("a large page gives %d bytes, %v, ending %q", len(got), err, got[max(len(got)-100, 0):])
	}
}

// TestWebWithoutEnd: a server that never ends its answer costs neither memory
// nor time, and its connection is closed.
func TestWebWithoutEnd(t *testing.T) {
	closed := make(chan error, 2)
	base := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if r.URL.Path == "/silent" {
			<-r.Context().Done()
			closed <- nil
			return
		}
		line := strings.Repeat("x", 1<<10) + "\n"
		if r.URL.Path == "/slow" {
			line = "drop\n"
		}
		for {
			if _, err := io.WriteString(w, line); err != nil {
				closed <- err
				return
			}
			w.(http.Flusher).Flush()
			if r.URL.Path == "/slow" {
				<-r.Context().Done()
				closed <- nil
				return
			}
		}
	})
	e := testEnv(t)
	e.Web.Timeout = 300 * time.Millisecond
	began := time.Now()
	got, err := use(t, e, "web_fetch", args{"url": base + "/fast"})
	if err != nil || len(got) > 32<<10 || !strings.Contains(got, "[cut: ") {
		t.Errorf("without end: %d bytes, %v", len(got), err)
	}
	<-closed
	want(t, e, "web_fetch", args{"url": base + "/slow"}, "[200 text/plain "+base+"/slow]\ndrop\n[cut: only 5 bytes came in time: no whole answer within 300ms]")
	<-closed
	wantError(t, e, "web_fetch", args{"url": base + "/silent"}, "no whole answer within 300ms")
	<-closed
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestWebCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("the user has gone")
	closed := make(chan bool, 1)
	base := site(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "begin")
		w.(http.Flusher).Flush()
		cancel(stop)
		<-r.Context().Done()
		closed <- true
	})
	c, err := Builtin.Parse(testEnv(t), "web_fetch", `{"url":"`+base+`"}`)
	if err != nil {
		t.Fatal(err)
	}
	if res, err := c.Run(ctx); !errors.Is(err, stop) {
		t.Errorf("a cancelled fetch gives %q, %v", res.Text, err)
	}
	<-closed
}

func zipped(s string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.Bytes()
}

func TestWebCompression(t *testing.T) {
	bodies := map[string][]byte{
		"/good": zipped("plain words"), "/bomb": zipped(strings.Repeat("0", 64<<20)), "/cut": zipped(strings.Repeat("many words ", 1000))[:60],
		"/none": []byte("this is no gzip at all"),
	}
	base := site(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		if coding, ok := strings.CutPrefix(r.URL.Path, "/coding/"); ok {
			w.Header().Set("Content-Encoding", coding)
			io.WriteString(w, "x")
			return
		}
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("asked for %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bodies[r.URL.Path])
	})
	e := testEnv(t)
	want(t, e, "web_fetch", args{"url": base + "/good"}, "[200 text/plain "+base+"/good]\nplain words")
	want(t, e, "web_fetch", args{"url": base + "/coding/identity"}, "[200 text/plain "+base+"/coding/identity]\nx")
	if got, err := use(t, e, "web_fetch", args{"url": base + "/bomb"}); err != nil || len(got) > 32<<10 || !strings.Contains(got, "[cut: ") {
		t.Errorf("64 MiB of zeros: %d bytes, %v", len(got), err)
	}
	if got, err := use(t, e, "web_fetch", args{"url": base + "/cut"}); err == nil && !strings.Contains(got, "[cut: the connection broke off after ") {
		t.Errorf("a cut answer: %q", got)
	}
	wantError(t, e, "web_fetch", args{"url": base + "/none"}, "gzip")
	wantError(t, e, "web_fetch", args{"url": base + "/coding/br"}, `content encoding "br"`)
}

// TestWebOddServers: what no server should send.
func TestWebOddServers(t *testing.T) {
	for answer, part := range map[string]string{
		"":                     "closed the connection without an answer",
		"SSH-2.0-dropbear\r\n": "malformed HTTP response",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 100<<10) + "\r\n\r\n":     "exceeds 65536 bytes",
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello": "Content-Length",
		strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n", 10000):        "exceeds 65536 bytes",
	} {
		base := rawSite(t, answer)
		wantError(t, testEnv(t), "web_fetch", args{"url": base}, part)
	}
	base := rawSite(t, "HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 2000000000\r\n\r\nPK")
	wantError(t, testEnv(t), "web_fetch", args{"url": base}, "is application/zip, not text (2000000000 bytes)")
	base = rawSite(t, "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"+strings.Repeat("x", 600<<10))
	wantError(t, testEnv(t), "web_fetch", args{"url": base}, "is image/png, not text (more than 524288 bytes)")
	base = rawSite(t, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\nhalf")
	want(t, testEnv(t), "web_fetch", args{"url": base}, "[200 text/plain "+base+"]\nhalf\n[cut: the connection broke off after 4 bytes]")
	base = rawSite(t, "HTTP/1.1 302 Found\r\nLocation: /"+strings.Repeat("x", 60<<10)+"\r\n\r\n")
	if _, err := use(t, testEnv(t), "web_fetch", args{"url": base}); err == nil || len(err.Error()) > 3000 {
		t.Errorf("a redirect of 60 KiB: %.200v", err)
	}
}

func TestWebTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(served("text/plain", "safe"))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	e := testEnv(t)
	var hosts []string
	pool := x509.NewCertPool()
	e.Web.TLS = func(host string) *tls.Config {
		hosts = append(hosts, host)
		return &tls.Config{RootCAs: pool}
	}
	wantError(t, e, "web_fetch", args{"url": s.URL}, "the certificate of 127.0.0.1 is not trusted", "install ca-bundle", "ca_file")
	pool.AddCert(s.Certificate())
	want(t, e, "web_fetch", args{"url": s.URL}, "[200 text/plain "+s.URL+"]\nsafe")
	if len(hosts) != 2 || hosts[1] != "127.0.0.1" {
		t.Errorf("certificates were checked for %q", hosts)
	}
	localhost := strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	wantError(t, e, "web_fetch", args{"url": localhost}, "the certificate of localhost is not good", "example.com")
	e.Web.TLS = func(string) *tls.Config {
		return &tls.Config{RootCAs: pool, Time: func() time.Time { return time.Unix(1<<32, 0) }}
	}
	wantError(t, e, "web_fetch", args{"url": s.URL}, "is not valid at this time", "the clock here says")
	wantError(t, e, "web_fetch", args{"url": strings.Replace(site(t, served("", "x")), "http:", "https:", 1)}, "does not speak TLS")
}
