package server

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		in   string
		want []Reply
	}{
		{"", nil},
		{"# nothing\n\n\n", nil},
		{"text hello\n", []Reply{{Pieces: []Piece{{Text: "hello"}}}}},
		{"text hel\ntext lo\n", []Reply{{Pieces: []Piece{{Text: "hel"}, {Text: "lo"}}}}},
		{`text "a\x1b[2Jb"`, []Reply{{Pieces: []Piece{{Text: "a\x1b[2Jb"}}}}},
		{"call bash {\"command\":\"ls\"}\n\ntext done", []Reply{
			{Pieces: []Piece{{Call: &Call{"bash", `{"command":"ls"}`}}}},
			{Pieces: []Piece{{Text: "done"}}},
		}},
		{"reason hm\necho\nfinish length\nusage 7 8\ncut", []Reply{
			{Pieces: []Piece{{Reason: "hm"}, {Echo: true}}, Finish: "length", Usage: &Usage{7, 8, 0}, End: Cut},
		}},
		{"times 2\nplain\nusage none", []Reply{
			{Plain: true, Usage: &Usage{}}, {Plain: true, Usage: &Usage{}},
		}},
		{"status 429 retry-after=1 code=slow slow down, a=b", []Reply{
			{Status: 429, Error: Fault{Message: "slow down, a=b", Code: "slow", RetryAfter: "1"}},
		}},
	}
	for _, tt := range tests {
		got, err := Parse(tt.in, "")
		if err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Parse(%q) = %+v, %v, want %+v", tt.in, got, err, tt.want)
		}
	}
	for _, in := range []string{"speak hello", "usage many", "status soon", "text \"open", "times few", "call", "raw no-such-file"} {
		if _, err := Parse(in, t.TempDir()); err == nil {
			t.Errorf("Parse(%q) gives no error", in)
		}
	}
}

func TestCheck(t *testing.T) {
	const (
		asked  = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"bash","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"bash","arguments":"{}"}}]}`
		first  = `{"role":"tool","tool_call_id":"a","content":"one"}`
		second = `{"role":"tool","tool_call_id":"b","content":"two"}`
		user   = `{"role":"user","content":"hi"}`
		system = `{"role":"system","content":"be brief"}`
		ended  = `{"role":"assistant","content":"bye"}`
	)
	tests := []struct {
		messages string
		err      string
	}{
		{system + "," + user, ""},
		{user + "," + asked + "," + first + "," + second, ""},
		{user + "," + asked + "," + first + "," + second + "," + ended + "," + user, ""},
		{"", "no messages"},
		{user + "," + system, "not the first"},
		{user + "," + asked, "call a has no result"},
		{user + "," + asked + "," + first, "call b has no result"},
		{user + "," + asked + "," + first + "," + user, "call b has no result"},
		{user + "," + asked + "," + second + "," + first, "not the call that waits"},
		{user + "," + asked + "," + first + "," + first, "not the call that waits"},
		{user + "," + asked + "," + first + "," + second + "," + asked, "two calls with the id a"},
		{user + "," + first, "not the call that waits"},
		{user + "," + `{"role":"assistant","content":null}`, "without content"},
		{user + "," + `{"role":"assistant"}`, "without content"},
		{`{"role":"user","content":null}`, "without content"},
		{`{"role":"developer","content":"x"}`, "unknown role"},
		{user + "," + strings.Replace(asked, `"{}"`, `"{"`, 1), "no JSON object"},
		{user + "," + strings.Replace(asked, `"{}"`, `"null"`, 1), "no JSON object"},
		{user + "," + strings.Replace(asked, `"id":"a"`, `"id":"a","index":0`, 1), "index of a stream"},
		{user + "," + asked + "," + `{"role":"tool","tool_call_id":"a","content":["one"]}`, "result of a"},
	}
	for _, tt := range tests {
		body := `{"model":"m","messages":[` + tt.messages + `]}`
		_, err := Check([]byte(body))
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("Check(%s) = %v, want %q", body, err, tt.err)
		}
	}
	for _, body := range []string{
		`[]`, `{"messages":[` + user + `]}`, `{"model":"m","temperature":null,"messages":[` + user + `]}`,
		`{"model":"m","tools":[],"messages":[` + user + `]}`,
		`{"model":"m","tools":[{"type":"function","function":{"name":"x","parameters":{"type":"object"}}}],"messages":[` + user + `]}`,
	} {
		if _, err := Check([]byte(body)); err == nil {
			t.Errorf("Check(%s) gives no error", body)
		}
	}
}

// ask sends one request and returns status and body; a dropped connection ends
// the body.
func ask(t *testing.T, s *Server, body string) (status int, got string, header http.Header) {
	t.Helper()
	req, err := http.NewRequest("POST", s.Base()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sk-test")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, _ := io.ReadAll(res.Body)
	return res.StatusCode, string(data), res.Header
}

func start(t *testing.T, script string) *Server {
	t.Helper()
	replies, err := Parse(script, "")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Start(replies, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

const streamed = `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"hi"}]}`

func TestStream(t *testing.T) {
	s := start(t, "reason hm\ntext seventeen letters and more\ncall bash {\"command\":\"uname -a\"}\nusage 5 6")
	_, body, _ := ask(t, s, streamed)
	var text, args, finish string
	usage := 0
	for _, line := range strings.Split(strings.TrimSpace(body), "\n\n") {
		data := strings.TrimPrefix(line, "data: ")
		if data == "[DONE]" {
			continue
		}
		var e struct {
			Choices []struct {
				Delta struct {
					Content   string
					ToolCalls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
			Usage struct {
				TotalTokens int `json:"total_tokens"`
			}
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event %q: %v", data, err)
		}
		usage += e.Usage.TotalTokens
		for _, c := range e.Choices {
			text += c.Delta.Content
			finish += c.FinishReason
			for _, tc := range c.Delta.ToolCalls {
				args += tc.Function.Arguments
			}
		}
	}
	if text != "seventeen letters and more" || args != `{"command":"uname -a"}` || finish != "tool_calls" || usage != 11 {
		t.Errorf("stream gives text %q, args %q, finish %q, usage %d", text, args, finish, usage)
	}
	if !strings.HasSuffix(body, "data: [DONE]\n\n") {
		t.Errorf("stream ends %q", body[max(0, len(body)-40):])
	}
}

func TestAnswers(t *testing.T) {
	s := start(t, "plain\ntext hello\n\ncut\ntext begin\n\nstatus 401 code=bad no such key: $key\n\nstatus 429 retry-after=3 slow")
	if _, body, _ := ask(t, s, streamed); !json.Valid([]byte(body)) || !strings.Contains(body, `"content":"hello"`) {
		t.Errorf("plain gives %q", body)
	}
	if _, body, _ := ask(t, s, streamed); strings.Contains(body, "DONE") || !strings.Contains(body, "begin") {
		t.Errorf("cut gives %q", body)
	}
	if code, body, _ := ask(t, s, streamed); code != 401 || !strings.Contains(body, "no such key: sk-test") || !strings.Contains(body, `"code":"bad"`) {
		t.Errorf("status gives %d %q", code, body)
	}
	if code, _, h := ask(t, s, streamed); code != 429 || h.Get("Retry-After") != "3" {
		t.Errorf("status gives %d, wait %q", code, h.Get("Retry-After"))
	}
	if code, body, _ := ask(t, s, streamed); code != 400 || !strings.Contains(body, "no reply 5") {
		t.Errorf("after the script: %d %q", code, body)
	}
	if code, body, _ := ask(t, s, `{}`); code != 400 || !strings.Contains(body, "no model") {
		t.Errorf("a bad request gives %d %q", code, body)
	}
	if got := s.Requests(); len(got) != 6 || !bytes.Equal(got[0].Body, []byte(streamed)) || got[0].Header.Get("Authorization") != "Bearer sk-test" {
		t.Errorf("Requests() gives %d requests, first %q", len(got), got[0].Body)
	}
}
