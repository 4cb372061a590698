package provider

import (
	"strings"
	"testing"
	"time"

	"cluade/internal/httpc"
)

func TestParseBase(t *testing.T) {
	tests := []struct{ in, want string }{
		{"https://api.deepseek.com/v1", "https://api.deepseek.com/v1/chat/completions"},
		{" https://h/v1/ ", "https://h/v1/chat/completions"},
		{"https://h/v1//", "https://h/v1/chat/completions"},
		{"http://h:8080", "http://h:8080/chat/completions"},
		{"http://h/v1/chat/completions", "http://h/v1/chat/completions"},
		{"http://h/v1/chat/completions/", "http://h/v1/chat/completions"},
		{"https://h/v1beta/openai/", "https://h/v1beta/openai/chat/completions"},
		{"https://h/openai/deployments/d?api-version=2024-10-21", "https://h/openai/deployments/d/chat/completions?api-version=2024-10-21"},
		{"http://h/a%2Fb/v1/", "http://h/a%2Fb/v1/chat/completions"},
		{"http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"},
	}
	for _, tt := range tests {
		u, err := parseBase(tt.in)
		if err != nil {
			t.Errorf("parseBase(%q): %v", tt.in, err)
			continue
		}
		if got := under(u, "/chat/completions").String(); got != tt.want {
			t.Errorf("parseBase(%q) leads to %s, want %s", tt.in, got, tt.want)
		}
	}
	for _, in := range []string{"", "h/v1", "ftp://h/v1", "http://", "http:///v1", "file:///etc/passwd", "http://h:port/", "http://user:secret@/v1"} {
		if _, err := New(Options{BaseURL: in}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("New with base URL %q: error %v", in, err)
		}
	}
}

func TestPrivateHost(t *testing.T) {
	tests := []struct {
		host string
		want bool
	}{
		{"localhost", true}, {"127.0.0.1", true}, {"::1", true}, {"192.168.0.9", true}, {"10.1.2.3", true}, {"172.16.0.1", true},
		{"172.32.0.1", false}, {"100.100.1.1", true}, {"fe80::1", true}, {"fd00::1", true}, {"169.254.1.1", true}, {"::ffff:10.0.0.1", true},
		{"nas", true}, {"nas.lan", true}, {"pi.local", true}, {"box.home.arpa", true}, {"Pi.Local.", true},
		{"api.openai.com", false}, {"8.8.8.8", false}, {"local.example.org", false}, {"2001:db8::1", false},
	}
	for _, tt := range tests {
		if got := isPrivateHost(tt.host); got != tt.want {
			t.Errorf("isPrivateHost(%q) = %v, want %v", tt.host, got, tt.want)
		}
	}
}

func TestEffort(t *testing.T) {
	tests := []struct{ host, model, want, effort string }{
		{"api.openai.com", "gpt-5", "max", "xhigh"},
		{"api.openai.com", "gpt-5", "low", "low"},
		{"api.openai.com", "gpt-4o", "max", ""},
		{"api.groq.com", "openai/gpt-oss-20b", "max", "high"},
		{"api.groq.com", "openai/gpt-oss-20b", "minimal", "low"},
		{"api.groq.com", "qwen/qwen3-32b", "high", ""},
		{"api.groq.com", "qwen/qwen3-32b", "default", "default"},
		{"generativelanguage.googleapis.com", "models/gemini-3", "xhigh", "high"},
		{"api.moonshot.cn", "kimi-k3", "medium", "low"},
		{"api.moonshot.cn", "kimi-k2.6", "high", ""},
		{"api.x.ai", "grok-4", "high", ""},
		{"api.x.ai", "grok-3-mini-fast", "max", "high"},
		{"api.x.ai", "grok-5", "odd", "odd"},
		{"localhost", "m", "max", "max"},
		{"example.org", "m", "zzz", "zzz"},
	}
	for _, tt := range tests {
		q := quirksOf(tt.host)
		if got := q.effortFor(tt.model, tt.want); got != tt.effort {
			t.Errorf("effort %s for %s at %s = %q, want %q", tt.want, tt.model, tt.host, got, tt.effort)
		}
	}
}

// TestRows: every row is found by its hosts, and can be taken apart from the
// row for all others.
func TestRows(t *testing.T) {
	for _, q := range rows {
		for _, p := range strings.Fields(q.Hosts) {
			host := strings.ReplaceAll(p, "*", "x")
			if got := quirksOf(host); got.Hosts != q.Hosts {
				t.Errorf("quirksOf(%q) is the row of %q, want %q", host, got.Hosts, q.Hosts)
			}
		}
	}
}

func TestOverride(t *testing.T) {
	for _, bad := range []string{"[]", "{", `{"x":1}`, `{"thinking":3}`, `{"thinking":"odd"}`, `{"stream_usage":"yes"}`, `{"replay_reasoning":"odd"}`, `{"max_tokens_field":7}`, `{"reasoning_effort":"high"}`} {
		if _, err := New(Options{BaseURL: "http://h/", Quirks: bad}); err == nil || !strings.Contains(err.Error(), "provider") {
			t.Errorf("override %s: error %v", bad, err)
		}
	}
	c, err := New(Options{BaseURL: "http://h/", Quirks: `{"thinking":"reasoning","replay_reasoning":"details","max_tokens_field":false}`})
	if err != nil || c.quirks.Switch != switchObject || c.quirks.Replay != replayDetails || c.quirks.MaxField != "" {
		t.Errorf("quirks %+v, error %v", c.quirks, err)
	}
}

func TestHeaders(t *testing.T) {
	good := Options{BaseURL: "https://me.openai.azure.com/openai/v1", Key: "azure-key-0123", Version: "1.2", Headers: [][2]string{{"x-title", "token-abcdefgh"}, {"User-Agent", "mine"}}}
	c, err := New(good)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]string{"Api-Key": "azure-key-0123", "Authorization": "", "X-Title": "token-abcdefgh", "User-Agent": "mine"} {
		if got := c.headers.Get(k); got != want {
			t.Errorf("header %s = %q, want %q", k, got, want)
		}
	}
	if got := c.secrets.mask("azure-key-0123 token-abcdefgh mine"); got != "*** *** mine" {
		t.Errorf("masked %q", got)
	}
	for _, bad := range [][2]string{{"a b", "x"}, {"", "x"}, {"a", "x\r\nb: c"}, {"Content-Length", "3"}, {"ä", "x"}} {
		if _, err := New(Options{BaseURL: "http://h/", Headers: [][2]string{bad}}); err == nil {
			t.Errorf("header %q was taken", bad)
		}
	}
	for _, extra := range []string{"[]", "3", "{"} {
		if _, err := New(Options{BaseURL: "http://h/", ExtraBody: extra}); err == nil {
			t.Errorf("extra body %s was taken", extra)
		}
	}
}

func TestWaits(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		headers []string
		want    time.Duration
		ok      bool
	}{
		{[]string{"Retry-After", "7"}, 7 * time.Second, true},
		{[]string{"Retry-After", " 0.5 "}, 500 * time.Millisecond, true},
		{[]string{"Retry-After", "Fri, 01 May 2026 12:00:30 GMT"}, 30 * time.Second, true},
		{[]string{"Retry-After", "Fri, 01 May 2026 11:00:00 GMT"}, 0, true},
		{[]string{"Retry-After", "Friday, 01-May-26 12:00:30 GMT"}, 30 * time.Second, true},
		{[]string{"Retry-After", "Fri May  1 12:00:30 2026"}, 30 * time.Second, true},
		{[]string{"Retry-After", "Fri, 01 May 2026 12:00:30 CET"}, 0, false},
		{[]string{"Retry-After", "6m0s"}, 6 * time.Minute, true},
		{[]string{"Retry-After", "-3"}, 0, false},
		{[]string{"Retry-After", "1e300"}, 0, false},
		{[]string{"Retry-After", "NaN"}, 0, false},
		{[]string{"Retry-After", "soon"}, 0, false},
		{[]string{"Retry-After-Ms", "1250", "Retry-After", "9"}, 1250 * time.Millisecond, true},
		{[]string{"X-Ratelimit-Reset", "1777636812000"}, 12 * time.Second, true},
		{[]string{"X-Ratelimit-Reset", "1777636812"}, 12 * time.Second, true},
		{[]string{"X-Ratelimit-Reset", "12"}, 12 * time.Second, true},
		{[]string{"X-Ratelimit-Reset-Tokens", "2s"}, 2 * time.Second, true},
		{[]string{"X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "6m0s", "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "1s"}, 6 * time.Minute, true},
		{[]string{"X-Ratelimit-Remaining-Requests", "5", "X-Ratelimit-Reset-Requests", "6m0s"}, 0, false},
		{[]string{"Anthropic-Ratelimit-Tokens-Remaining", "0", "Anthropic-Ratelimit-Tokens-Reset", "2026-05-01T12:00:05Z"}, 5 * time.Second, true},
		{nil, 0, false},
	}
	for _, tt := range tests {
		var h httpc.Header
		for i := 0; i < len(tt.headers); i += 2 {
			h.Set(tt.headers[i], tt.headers[i+1])
		}
		got, ok := retryAfter(h, now)
		if !ok {
			got, ok = budgetReset(h, now)
		}
		if got != tt.want || ok != tt.ok {
			t.Errorf("wait of %q = %v, %v, want %v, %v", tt.headers, got, ok, tt.want, tt.ok)
		}
	}
}

func TestWaitInWords(t *testing.T) {
	for in, want := range map[string]time.Duration{
		"please try again in 7m12s.": 432 * time.Second, "try again in 28m13s": 1693 * time.Second, "try again in 20ms.": 20 * time.Millisecond,
		"please retry after 20 seconds.": 20 * time.Second, "please retry in 45.8s.": 45800 * time.Millisecond, "try again in 3 minutes": 3 * time.Minute,
		"try again after 2 hours": 2 * time.Hour, "retry after 2 days": 48 * time.Hour, "try again in 250 milliseconds": 250 * time.Millisecond,
		"try again in ": 0, "try again in a while": 0, "try again in -5s": 0, "try again in 1e300 days": 0, "slow down": 0, "try again in 5": 0,
	} {
		if got := waitInWords(in); got != want {
			t.Errorf("waitInWords(%q) = %v, want %v", in, got, want)
		}
	}
}

func TestNamesField(t *testing.T) {
	tests := []struct {
		words, name string
		want        bool
	}{
		{"unknown name \"thinking\"", "thinking", true},
		{"unrecognized request argument supplied: thinking", "thinking", true},
		{"body.messages.2.reasoning: not permitted", "reasoning", true},
		{"the thinking mode does not support this", "thinking", false},
		{"stream_options is not permitted", "stream_options", true},
		{"my_stream_options is not permitted", "stream_options", false},
		{"unsupported parameter `user`", "user", true},
		{"the user is unknown", "user", false},
		{"", "user", false},
	}
	for _, tt := range tests {
		if got := namesField(tt.words, tt.name); got != tt.want {
			t.Errorf("namesField(%q, %q) = %v, want %v", tt.words, tt.name, got, tt.want)
		}
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		s, pattern string
		n          int
		ok         bool
	}{
		{"length is 128,000 tokens", "length is #", 128000, true},
		{"length is 128,000, sorry", "length is #", 128000, true},
		{"length is large; length is 9", "length is #", 9, true},
		{"a 1 b 2", "a * b #", 2, true},
		{"input token count is 5, the maximum number of tokens allowed (7)", "input token count ... tokens allowed (#", 7, true},
		{"tokens allowed (7) input token count", "input token count ... tokens allowed (#", 0, false},
		{"length is 99999999999999999999", "length is #", 0, false},
		{"plain words", "plain words", 0, true},
		{"", "x", 0, false},
	}
	for _, tt := range tests {
		if n, ok := match(tt.s, tt.pattern); n != tt.n || ok != tt.ok {
			t.Errorf("match(%q, %q) = %d, %v, want %d, %v", tt.s, tt.pattern, n, ok, tt.n, tt.ok)
		}
	}
}

func TestTextToolsSwitch(t *testing.T) {
	for _, tt := range []struct {
		base, option string
		want         bool
	}{
		{"http://localhost/v1", "auto", true}, {"http://localhost/v1", "", true}, {"http://localhost/v1", "false", false},
		{"https://api.deepseek.com/v1", "auto", false}, {"https://api.deepseek.com/v1", "true", true},
	} {
		c, err := New(Options{BaseURL: tt.base, TextTools: tt.option})
		if err != nil || c.textTools() != tt.want {
			t.Errorf("text calls at %s under %q = %v, want %v", tt.base, tt.option, c.textTools(), tt.want)
		}
	}
}

func TestIsLoading(t *testing.T) {
	for _, tt := range []struct {
		said complaint
		want bool
	}{
		{complaint{words: "loading model"}, true},
		{complaint{words: "the model is not loaded yet"}, true},
		{complaint{words: "busy", kind: "unavailable_error"}, true},
		{complaint{words: "the server is overloaded"}, false},
		{complaint{words: "overloading"}, false},
		{complaint{words: "unavailable", kind: "unavailable"}, false},
	} {
		if got := isLoading(&tt.said); got != tt.want {
			t.Errorf("isLoading(%q, %q) = %v, want %v", tt.said.words, tt.said.kind, got, tt.want)
		}
	}
}
