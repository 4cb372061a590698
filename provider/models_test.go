package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"cluade/internal/chat"
	"cluade/internal/httpc"

	"github.com/valyala/fastjson"
)

// prober answers GET from a map of paths and chats from a list.
type prober struct {
	probes map[string]json.RawMessage
	server *server
	asked  []string
	header httpc.Header
}

func (p *prober) send(ctx context.Context, r *httpc.Request) (*httpc.Response, error) {
	if r.Method == "POST" {
		return p.server.send(ctx, r)
	}
	p.asked = append(p.asked, r.URL.Path)
	b, ok := p.probes[r.URL.Path]
	code := 200
	if !ok {
		code, b = 404, []byte(`{"error":{"message":"not found"}}`)
	}
	return &httpc.Response{Status: code, Header: p.header, Body: io.NopCloser(bytes.NewReader(b))}, nil
}

func probeClient(t *testing.T, p *prober, model string) *Client {
	t.Helper()
	c := testClient(t, &server{t: t}, func(o *Options) { o.Model = model })
	c.send = p.send
	return c
}

func TestProbeCases(t *testing.T) {
	for _, tc := range loadCases(t) {
		if tc.Kind != "probe" {
			continue
		}
		t.Run(tc.Name, func(t *testing.T) {
			var want struct {
				Models      []string
				Window      int
				WindowOf    map[string]int `json:"window_of"`
				MaxOutputOf map[string]int `json:"max_output_of"`
				Source      string
			}
			if err := json.Unmarshal(tc.Outcome, &want); err != nil {
				t.Fatal(err)
			}
			model := "m"
			if len(want.Models) > 0 {
				model = want.Models[0]
			}
			c := probeClient(t, &prober{probes: tc.Probes}, model)
			list, err := c.Models(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, m := range list {
				ids = append(ids, m.ID)
				if w, ok := want.WindowOf[m.ID]; ok && w != m.Window {
					t.Errorf("window of %s = %d, want %d", m.ID, m.Window, w)
				}
				if n, ok := want.MaxOutputOf[m.ID]; ok && n != m.MaxOutput {
					t.Errorf("output of %s = %d, want %d", m.ID, m.MaxOutput, n)
				}
			}
			if !slices.Equal(ids, want.Models) {
				t.Errorf("models %q, want %q", ids, want.Models)
			}
			c = probeClient(t, &prober{probes: tc.Probes}, model)
			if w := c.Window(t.Context()); want.Window > 0 && (w.Tokens != want.Window || w.Source != want.Source) {
				t.Errorf("window %+v, want %d from %s", w, want.Window, want.Source)
			}
		})
	}
}

// TestNoModels: a page in the place of the list is no list without models.
func TestNoModels(t *testing.T) {
	for body, want := range map[string]string{"\n<title>Login</title>": "Login", "hello": "not JSON", `{"data":null}`: "", "": ""} {
		c := probeClient(t, &prober{probes: map[string]json.RawMessage{"/v1/models": json.RawMessage(body)}}, "m")
		if list, err := c.Models(t.Context()); len(list) > 0 || (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, error %v", body, list, err)
		}
	}
}

func TestWindow(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		name   string
		model  string
		probes map[string]json.RawMessage
		want   Window
		kind   serverKind
	}{
		{"llama.cpp now", "any", map[string]json.RawMessage{
			"/v1/models": raw(`{"models":[{"name":"q","model":"q"}],"object":"list","data":[{"id":"q","owned_by":"llamacpp","meta":{"n_ctx":4096,"n_ctx_train":32768}}]}`),
		}, Window{4096, "models"}, llamaServer},
		{"LM Studio", "a", map[string]json.RawMessage{
			"/v1/models":     raw(`{"data":[{"id":"a"},{"id":"b"}]}`),
			"/api/v0/models": raw(`{"data":[{"id":"b","state":"loaded","loaded_context_length":512,"max_context_length":9},{"id":"a","state":"loaded","loaded_context_length":8192,"max_context_length":131072}]}`),
		}, Window{8192, "loaded"}, unknownServer},
		{"LM Studio, not loaded", "a", map[string]json.RawMessage{
			"/v1/models":     raw(`{"data":[{"id":"a"},{"id":"b"}]}`),
			"/api/v0/models": raw(`{"data":[{"id":"a","state":"not-loaded","max_context_length":131072}]}`),
		}, Window{}, unknownServer},
		{"Ollama", "q", map[string]json.RawMessage{
			"/v1/models":   raw(`{"object":"list","data":[{"id":"q:latest"},{"id":"z"}]}`),
			"/api/version": raw(`{"version":"0.9"}`),
			"/api/ps":      raw(`{"models":[{"name":"z:latest","context_length":99},{"name":"q:latest","model":"q:latest","context_length":4096}]}`),
		}, Window{4096, "running"}, ollamaServer},
		{"Ollama without models", "q", map[string]json.RawMessage{
			"/v1/models":   raw(`{"object":"list","data":null}`),
			"/api/version": raw(`{"version":"0.9"}`),
			"/api/ps":      raw(`{"models":[]}`),
		}, Window{}, ollamaServer},
		{"OpenRouter", "x/y", map[string]json.RawMessage{
			"/v1/models": raw(`{"data":[{"id":"x/z","context_length":1},{"id":"x/y","context_length":200000,"top_provider":{"context_length":131072,"max_completion_tokens":null}}]}`),
		}, Window{131072, "models"}, unknownServer},
		{"nothing", "m", nil, Window{}, unknownServer},
	}
	for _, tt := range tests {
		c := probeClient(t, &prober{probes: tt.probes}, tt.model)
		if got := c.Window(t.Context()); got != tt.want || c.kind != tt.kind {
			t.Errorf("%s: %+v of a server of kind %d, want %+v, %d", tt.name, got, c.kind, tt.want, tt.kind)
		}
	}
}

// TestLook: a local server is asked before the first request and never again;
// what it tells shows in the request and in the reply.
func TestLook(t *testing.T) {
	s := &server{t: t, answers: []testResponse{says("a"), says("b")}, n: 64}
	p := &prober{server: s, probes: map[string]json.RawMessage{
		"/v1/models": json.RawMessage(`{"data":[{"id":"q","owned_by":"llamacpp","meta":{"n_ctx":4096}}]}`),
	}}
	c := probeClient(t, p, "q")
	if got := c.Look(t.Context()); got != 4096 {
		t.Errorf("Look() = %d, want 4096", got)
	}
	for range 2 {
		reply, _, err := ask(t, c)
		if err != nil || reply.Window != 4096 {
			t.Errorf("window %d, error %v, want 4096", reply.Window, err)
		}
	}
	if len(p.asked) != 1 {
		t.Errorf("asked for %q, want one look", p.asked)
	}
	if got := sent(t, s.asked[0], "return_progress"); got != "true" {
		t.Errorf("return_progress %q, want true", got)
	}
	p = &prober{server: &server{t: t, answers: []testResponse{says("a")}, n: 64}}
	c = probeClient(t, p, "q")
	c.quirks = otherRow
	if ask(t, c); len(p.asked) > 0 || c.Look(t.Context()) != 0 {
		t.Errorf("a server elsewhere was asked for %q", p.asked)
	}
}

func TestOllamaWarning(t *testing.T) {
	probes := func(window int) map[string]json.RawMessage {
		return map[string]json.RawMessage{
			"/v1/models": json.RawMessage(`{"data":[{"id":"q"},{"id":"z"}]}`), "/api/version": json.RawMessage(`{"version":"1"}`),
			"/api/ps": json.RawMessage(fmt.Sprintf(`{"models":[{"name":"q","context_length":%d}]}`, window)),
		}
	}
	tests := []struct {
		window, prompt, length int
		warn                   bool
	}{
		{4096, 300, 10, true},
		{32768, 5000, 20000, false},
		{8192, 8000, 90000, true},  // longer than the window
		{32768, 1000, 40000, true}, // the server counted far less than was sent
	}
	for _, tt := range tests {
		usage := fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`, tt.prompt)
		answer := sse(half("a"), usage, "[DONE]")
		c := probeClient(t, &prober{probes: probes(tt.window), server: &server{t: t, answers: []testResponse{answer, answer}, n: 1 << 20}}, "q")
		var d told
		req := testRequest()
		req.Messages[0].Content = strings.Repeat("word ", tt.length/5)
		for range 2 {
			if _, err := c.Chat(t.Context(), req, d.take); err != nil {
				t.Fatal(err)
			}
		}
		want := 0
		if tt.warn {
			want = 1
		}
		if len(d.notices) != want {
			t.Errorf("%+v: notices %q, want %d", tt, d.notices, want)
		}
	}
}

func TestEachObject(t *testing.T) {
	tests := []struct{ in, want string }{
		{`[{"id":"a"},{"id":"b","x":{"id":"c"}}]`, ":a :b"},
		{`{"x":[1,[{"id":"no"}]],"data":[{"id":"a","t":"}]\"{["},{"id":"b"}],"models":[{"id":"c"}]}`, "data:a data:b models:c"},
		{`{"id":"a"}`, ""},
		{`{"data":null}`, ""},
		{`}}]]`, ""},
		{`{"data":[{"id":"a"},{"id":`, "data:a"},
	}
	for _, tt := range tests {
		for n := 1; n < 4; n++ {
			var got []string
			eachObject(&slowBody{data: []byte(tt.in), n: n}, func(key string, v *fastjson.Value) {
				got = append(got, key+":"+text(v.Get("id")))
			})
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("eachObject(%q) = %q, want %q", tt.in, s, tt.want)
			}
		}
	}
}

var _ chat.Model = (*Client)(nil)
