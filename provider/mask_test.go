package provider

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

const testKey = "sk-Ab/c+9_d%E=f\"x\\y"

// forms are the ways in which a server may echo the key.
func forms() []string {
	half := strings.Replace(testKey, "/", "%2F", 1)
	slash := strings.NewReplacer("/", `\/`, `"`, `\"`, `\`, `\\`).Replace(testKey)
	hex := ""
	for _, c := range testKey {
		hex += fmt.Sprintf(`\u%04X`, c)
	}
	return []string{testKey, url.QueryEscape(testKey), half, slash, hex, "Bearer " + testKey + "."}
}

func TestMask(t *testing.T) {
	x := secrets{testKey, "ollama"}
	for _, f := range forms() {
		for _, s := range []string{f, "key " + f + " is bad", f + f} {
			got := x.mask(s)
			if strings.Contains(got, "Ab") || strings.Contains(got, "0041") || !strings.Contains(got, masked) {
				t.Errorf("mask(%q) = %q", s, got)
			}
		}
	}
	tests := []struct{ in, want string }{
		{"", ""},
		{"nothing here", "nothing here"},
		{"sk-Ab", "sk-Ab"},
		{"key ollama refused", "key *** refused"},
		{"ollamas and collama", "ollamas and collama"},
		{`a\`, `a\`},
		{"50%", "50%"},
	}
	for _, tt := range tests {
		if got := x.mask(tt.in); got != tt.want {
			t.Errorf("mask(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
	short := secrets{"ollama", "abc-12345", "tok12"}
	for _, tt := range []struct{ in, mask, text string }{
		{"ask ollama now", "ask *** now", "ask ollama now"},
		{"key abc-12345 ends", "key *** ends", "key *** ends"},
		{"Bearerabc-12345x", "Bearer***x", "Bearer***x"},
		{"tok12 tok123", "*** tok123", "tok12 tok123"},
	} {
		if got := short.mask(tt.in); got != tt.mask {
			t.Errorf("mask(%q) = %q, want %q", tt.in, got, tt.mask)
		}
		if got := short.maskText(tt.in); got != tt.text {
			t.Errorf("maskText(%q) = %q, want %q", tt.in, got, tt.text)
		}
	}
}

// TestKeyNeverLeaves: the server puts the key wherever it can; it comes out
// nowhere.
func TestKeyNeverLeaves(t *testing.T) {
	var answers []testResponse
	for _, f := range forms() {
		answers = append(answers,
			refuses("bad key "+f), status(401, "<title>"+f+"</title>"), status(500, f), sse(`{"error":`+quote(f)+`}`),
			sse(half(f), `{"choices":[{"delta":{"reasoning":`+quote(f)+`},"finish_reason":"stop"}]}`, "[DONE]"),
			sse(calls1(`{"filePath":`+quote(f)+`}`), "[DONE]"), sse(strings.ReplaceAll(calls1("{}"), `"read"`, quote(f)), "[DONE]"), status(302, "", "Location", "http://h/"+url.PathEscape(testKey)),
			status(200, f), status(200, "<title>"+f+"</title>"), ended(sse(half(f)), "abort"),
			sse(`{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","index":0,"text":`+quote(f)+`}],"content":"x"}}]}`, "[DONE]"))
	}
	for i, a := range answers {
		for _, n := range []int{1, 5, 1 << 20} {
			var debug bytes.Buffer
			path := filepath.Join(t.TempDir(), "trace")
			c := testClient(t, &server{t: t, answers: []testResponse{a}, n: n}, func(o *Options) {
				o.Key, o.Debug, o.Trace, o.Retries = testKey, &debug, path, 0
			})
			var shown strings.Builder
			reply, err := c.Chat(t.Context(), testRequest(), func(d chat.Delta) { fmt.Fprint(&shown, d.Text, d.Reasoning, d.Notice) })
			trace, _ := os.ReadFile(path)
			for where, s := range map[string]string{
				"reply": fmt.Sprint(reply), "error": fmt.Sprint(err), "delta": shown.String(), "trace": string(trace), "debug": debug.String(),
			} {
				if strings.Contains(s, "Ab") && strings.Contains(s, "9_d") || strings.Contains(s, "0041") {
					t.Errorf("answer %d in pieces of %d: the %s holds the key: %q", i, n, where, s)
				}
			}
		}
	}
	// A word in the place of a key is left in the text, and nowhere else.
	path := filepath.Join(t.TempDir(), "trace")
	c := testClient(t, &server{t: t, answers: []testResponse{says("it is ollama, I think")}, n: 64}, func(o *Options) { o.Key, o.Trace = "ollama", path })
	if reply, _, err := ask(t, c); err != nil || !strings.Contains(reply.Message.Content, "ollama") {
		t.Errorf("reply %q, error %v", reply.Message.Content, err)
	}
	if trace, _ := os.ReadFile(path); strings.Contains(string(trace), "ollama") {
		t.Errorf("the trace holds the key: %s", trace)
	}
	info, err := os.Stat(func() string {
		path := filepath.Join(t.TempDir(), "trace")
		ask(t, testClient(t, &server{t: t, answers: []testResponse{says("x")}, n: 64}, func(o *Options) { o.Trace = path }))
		return path
	}())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("trace file: mode %v, error %v, want 0600", info.Mode(), err)
	}
}

// TestNoPartOfTheKey: what is cut to be shown is cut after the key is masked,
// wherever the cut falls.
func TestNoPartOfTheKey(t *testing.T) {
	const key = "sk-Zq7Rt9Xw2Lm4Kp8Vn6Bc3"
	for at := 0; at < 330; at += 5 {
		long := strings.Repeat("y", at) + key + " more"
		for i, a := range []testResponse{
			status(404, "<title>"+long+"</title>"), status(404, long), status(405, long), status(407, long), status(400, long),
			status(404, `{"error":{"message":"route `+long+`"}}`), status(200, long), status(200, "<title>"+long+"</title>"),
			status(200, `{"foo":"`+long+`"}`), status(200, `{"a":"`+long+"\"}\nxx"), status(302, "", "Location", "http://h/"+long),
		} {
			c := testClient(t, &server{t: t, answers: []testResponse{a}, n: 1 << 20}, func(o *Options) { o.Key, o.Retries = key, 0 })
			_, _, err := ask(t, c)
			noPart(t, fmt.Sprintf("error of answer %d at %d", i, at), fmt.Sprint(err), key)
		}
		c := testClient(t, &server{t: t}, func(o *Options) { o.Key = key })
		bad := &httpc.MalformedError{What: "malformed header line", Text: long}
		noPart(t, "network error", c.network(bad, newWatch(t.Context(), &c.o, true)).message, key)
	}
	// A reply that breaks off, or ends, within the key.
	for n := 1; n < len(key); n++ {
		for _, a := range []testResponse{ended(sse(half("k "+key[:n])), "abort"), says("k " + key[:n]), sse(`{"choices":[{"delta":{"reasoning":"` + key[:n] + `"},"finish_reason":"stop"}]}`)} {
			c := testClient(t, &server{t: t, answers: []testResponse{a}, n: 3}, func(o *Options) { o.Key, o.Retries = key, 0 })
			reply, d, _ := ask(t, c)
			noPart(t, "delta", d.text, key)
			noPart(t, "reply", fmt.Sprint(reply.Message), key)
		}
	}
}

func noPart(t *testing.T, where, text, key string) {
	t.Helper()
	for i := 0; i+8 <= len(key); i++ {
		if strings.Contains(text, key[i:i+8]) {
			t.Fatalf("%s: %q holds a part of the key", where, text)
		}
	}
}

// TestSecretsOfURLs: the passwords of the server's and of the proxy's URL, as
// they go out, the keys in the query, and the parts of a header's value.
func TestSecretsOfURLs(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://pu:Proxy%40Pass@127.0.0.1:9")
	c, err := New(Options{
		BaseURL: "https://bob:HunterPass@api.example.com/v1?api-version=2024-10-21&key=QueryKey99",
		Headers: [][2]string{{"Cookie", "sid=SessionValue9; lang=en"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"Basic cHU6UHJveHlAUGFzcw==": "Basic ***==", "Proxy@Pass": "***", "Proxy%40Pass": "***", "HunterPass": "***",
		"?key=QueryKey99": "?key=***", "v 2024-10-21": "v 2024-10-21", "is SessionValue9 lang": "is *** lang",
	} {
		if got := c.secrets.maskText(in); got != want {
			t.Errorf("maskText(%q) = %q, want %q", in, got, want)
		}
	}
}
