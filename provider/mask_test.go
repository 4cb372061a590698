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
	if got := x.maskLong("ask ollama"); got != "ask ollama" {
		t.Errorf("maskLong keeps a short key as a word: %q", got)
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
	// A short key is left in the text, where it would be a word, and nowhere else.
	path := filepath.Join(t.TempDir(), "trace")
	c := testClient(t, &server{t: t, answers: []testResponse{says("it is hunter2, I think")}, n: 64}, func(o *Options) { o.Key, o.Trace = "hunter2", path })
	if reply, _, err := ask(t, c); err != nil || !strings.Contains(reply.Message.Content, "hunter2") {
		t.Errorf("reply %q, error %v", reply.Message.Content, err)
	}
	if trace, _ := os.ReadFile(path); strings.Contains(string(trace), "hunter2") {
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
