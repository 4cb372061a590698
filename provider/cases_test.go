package provider

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// A case says what a server answers and what a right client makes of it. A file
// holds one, or a list of them.
// The same format is used by the cases kept here and by the larger collection
// beside the project.
type testCase struct {
	Name      string                     `json:"name"`
	Kind      string                     `json:"kind"`
	Responses []testResponse             `json:"responses"`
	Probes    map[string]json.RawMessage `json:"probes"`
	Outcome   json.RawMessage            `json:"outcome"`
}

type testResponse struct {
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Events  []json.RawMessage `json:"events"`
	JSON    json.RawMessage   `json:"json"`
	Text    *string           `json:"text"`
	B64     string            `json:"b64"`
	EOL     string            `json:"eol"`
	Space   *bool             `json:"space"`
	Gzip    bool              `json:"gzip"`
	End     string            `json:"end"`
	Fill    map[string][2]any `json:"fill"`
	Outcome json.RawMessage   `json:"outcome"`
}

// caseDirs are the collections; the second is not part of the repository.
var caseDirs = []string{"testdata/cases", "../../shared/cases/provider"}

func loadCases(t testing.TB) []testCase {
	t.Helper()
	var out []testCase
	for _, dir := range caseDirs {
		files, _ := filepath.Glob(filepath.Join(dir, "*.json"))
		if len(files) == 0 {
			t.Logf("skipped: no cases in %s", dir)
		}
		sort.Strings(files)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if b[0] != '[' {
				b = append(append([]byte{'['}, b...), ']')
			}
			var list []testCase
			if err := json.Unmarshal(b, &list); err != nil {
				t.Fatalf("%s: %v", f, err)
			}
			out = append(out, list...)
		}
	}
	if len(out) == 0 {
		t.Fatal("no cases at all")
	}
	return out
}

func (r *testResponse) fill(b []byte) []byte {
	for word, fv := range r.Fill {
		b = bytes.ReplaceAll(b, []byte(word), []byte(strings.Repeat(fv[0].(string), int(fv[1].(float64)))))
	}
	return b
}

func (r *testResponse) body(t testing.TB) []byte {
	t.Helper()
	var out []byte
	prefix, eol := "data: ", "\n"
	if r.Space != nil && !*r.Space {
		prefix = "data:"
	}
	if r.EOL != "" {
		eol = r.EOL
	}
	compact := func(raw json.RawMessage) []byte {
		var b bytes.Buffer
		if err := json.Compact(&b, raw); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, ev := range r.Events {
		var s string
		var pause struct {
			MS *int `json:"pause_ms"`
		}
		switch {
		case json.Unmarshal(ev, &s) == nil:
			out = append(out, strings.ReplaceAll(s, "\n", eol)...)
		case json.Unmarshal(ev, &pause) == nil && pause.MS != nil:
		default:
			out = append(append(append(out, prefix...), compact(ev)...), eol+eol...)
		}
	}
	switch {
	case r.JSON != nil:
		out = compact(r.JSON)
	case r.Text != nil:
		out = []byte(*r.Text)
	case r.B64 != "":
		out, _ = base64.StdEncoding.DecodeString(r.B64)
	}
	out = r.fill(out)
	if r.Gzip {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(out)
		w.Close()
		out = b.Bytes()
	}
	return out
}

// slowBody gives its bytes n at a time and then ends as it is told.
type slowBody struct {
	data []byte
	n    int
	end  string
	ctx  context.Context
}

func (b *slowBody) Read(p []byte) (int, error) {
	if len(b.data) > 0 {
		n := copy(p[:min(len(p), b.n)], b.data)
		b.data = b.data[n:]
		return n, nil
	}
	switch b.end {
	case "abort":
		return 0, io.ErrUnexpectedEOF
	case "reset":
		return 0, syscall.ECONNRESET
	case "stall", "hold", "comments":
		<-b.ctx.Done()
		return 0, context.Cause(b.ctx)
	}
	return 0, io.EOF
}

func (b *slowBody) Close() error { return nil }

// server stands in for the HTTP client. It answers from a list and keeps what it was asked.
type server struct {
	t       testing.TB
	answers []testResponse
	n       int // bytes a read
	asked   [][]byte
}

func (s *server) send(ctx context.Context, req *httpc.Request) (*httpc.Response, error) {
	if req.Method != "POST" {
		return &httpc.Response{Status: 404, Body: io.NopCloser(strings.NewReader(""))}, nil
	}
	var out bytes.Buffer
	if err := req.Body(&out); err != nil {
		return nil, err
	}
	b := out.Bytes()
	if int64(len(b)) != req.Size {
		s.t.Errorf("body has %d bytes, announced were %d", len(b), req.Size)
	}
	s.asked = append(s.asked, b)
	if len(s.answers) == 0 {
		return nil, syscall.ECONNREFUSED
	}
	a := s.answers[0]
	s.answers = s.answers[1:]
	if a.Status == 0 {
		return nil, syscall.ECONNRESET
	}
	var h httpc.Header
	for k, v := range a.Headers {
		h.Set(k, v)
	}
	body := io.ReadCloser(&slowBody{a.body(s.t), s.n, a.End, ctx})
	if a.Gzip { // the HTTP client undoes it
		z, err := gzip.NewReader(body)
		if err != nil {
			return nil, err
		}
		body = z
	}
	return &httpc.Response{Status: a.Status, Header: h, Body: body}, nil
}

// testClient is a client of s on a local address.
func testClient(t testing.TB, s *server, change func(*Options)) *Client {
	t.Helper()
	o := Options{
		BaseURL: "http://127.0.0.1:9/v1", Model: "m", Key: "replay-key-000", Stream: true, Retries: 3,
		Thinking: true, IdleTimeout: 300 * time.Millisecond, RequestTimeout: 5 * time.Second,
	}
	if change != nil {
		change(&o)
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.send = s.send
	c.unit = time.Millisecond
	return c
}

var testTools = []chat.ToolSpec{
	{Name: "read", Desc: "r", Params: `{"type":"object","properties":{"filePath":{"type":"string"}},"required":["filePath"]}`},
	{Name: "write", Desc: "w", Params: `{"type":"object","properties":{"filePath":{"type":"string"},"content":{"type":"string"}}}`},
	{Name: "bash", Desc: "b", Params: `{"type":"object","properties":{"command":{"type":"string"},"timeout":{"type":"integer"}}}`},
	{Name: "glob", Desc: "g", Params: `{"type":"object","properties":{"pattern":{"type":"string"}}}`},
}

func testRequest() chat.Request {
	return chat.Request{System: "s", Messages: []chat.Message{{Role: chat.User, Content: "hi"}}, Tools: testTools}
}

// TestOutcomes feeds every reply of every case to the client in pieces of
// several sizes and compares its account with the right one.
func TestOutcomes(t *testing.T) {
	for _, tc := range loadCases(t) {
		if tc.Kind == "probe" {
			continue
		}
		for i, resp := range tc.Responses {
			if len(resp.Outcome) == 0 {
				continue
			}
			for _, n := range []int{1, 3, 64, 1 << 20} {
				t.Run(fmt.Sprintf("%s/%d/%d", tc.Name, i+1, n), func(t *testing.T) {
					t.Parallel()
					s := &server{t: t, answers: []testResponse{resp}, n: n}
					path := filepath.Join(t.TempDir(), "trace")
					c := testClient(t, s, func(o *Options) { o.Trace = path })
					var shown strings.Builder
					x := &exchange{c: c, ctx: t.Context(), url: c.url, req: testRequest(), onDelta: func(d chat.Delta) {
						if d.Restart {
							shown.Reset()
						}
						shown.WriteString(d.Text)
					}}
					got, f := x.attempt()
					line, err := os.ReadFile(path)
					if err != nil {
						t.Fatal(err)
					}
					want := string(resp.fill(resp.Outcome))
					for _, m := range compareOutcome(t, want, line) {
						t.Error(m)
					}
					if f == nil && strings.TrimSpace(shown.String()) != strings.TrimSpace(got.Message.Content) {
						t.Errorf("shown was %q, the text is %q", shown.String(), got.Message.Content)
					}
				})
			}
		}
	}
}

func compareOutcome(t *testing.T, wantText string, line []byte) (out []string) {
	var want, got map[string]any
	if err := json.Unmarshal([]byte(wantText), &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("trace line %q: %v", line, err)
	}
	bad := func(key string, g, w any) { out = append(out, fmt.Sprintf("%s = %v, want %v", key, g, w)) }
	for k, w := range want {
		switch k {
		case "trim", "redirect":
		case "text", "reasoning":
			g, w := got[k].(string), w.(string)
			if want["trim"] == true {
				g, w = strings.TrimSpace(g), strings.TrimSpace(w)
			}
			if g != w {
				bad(k, g, w)
			}
		case "error":
			e, _ := got["error"].(map[string]any)
			for kk, ww := range w.(map[string]any) {
				if kk == "message_has" {
					if m, _ := e["message"].(string); !strings.Contains(m, ww.(string)) {
						bad("error.message", m, ww)
					}
				} else if !reflect.DeepEqual(e[kk], ww) {
					bad("error."+kk, e[kk], ww)
				}
			}
		case "usage":
			for kk, ww := range w.(map[string]any) {
				if g := got["usage"].(map[string]any)[kk]; !reflect.DeepEqual(g, ww) {
					bad("usage."+kk, g, ww)
				}
			}
		case "tool_calls":
			out = append(out, compareCalls(w.([]any), got["tool_calls"].([]any))...)
		default:
			if !reflect.DeepEqual(got[k], w) {
				bad(k, got[k], w)
			}
		}
	}
	if calls, _ := got["tool_calls"].([]any); want["tool_calls"] == nil && want["error"] == nil && len(calls) > 0 {
		bad("tool_calls", calls, "none")
	}
	if want["error"] == nil && want["redirect"] == nil && got["error"] != nil {
		bad("error", got["error"], "none")
	}
	return out
}

func compareCalls(want, got []any) (out []string) {
	if len(want) != len(got) {
		return []string{fmt.Sprintf("%d calls %v, want %d", len(got), got, len(want))}
	}
	ids := map[string]bool{}
	for i := range want {
		w, g := want[i].(map[string]any), got[i].(map[string]any)
		id := g["id"].(string)
		if id == "" || ids[id] || w["id"] != "*" && w["id"] != id {
			out = append(out, fmt.Sprintf("call %d has id %q, want %v", i, id, w["id"]))
		}
		ids[id] = true
		if g["name"] != w["name"] {
			out = append(out, fmt.Sprintf("call %d has name %v, want %v", i, g["name"], w["name"]))
		}
		var args any
		if json.Unmarshal([]byte(g["arguments"].(string)), &args) != nil {
			args = nil
		}
		if !reflect.DeepEqual(args, w["arguments"]) {
			out = append(out, fmt.Sprintf("call %d has arguments %v, want %v", i, args, w["arguments"]))
		}
	}
	return out
}
