package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

func sse(events ...string) testResponse {
	text := ""
	for _, e := range events {
		text += "data: " + e + "\n\n"
	}
	return testResponse{Status: 200, Text: &text}
}

// says is a whole streamed reply.
func says(text string) testResponse {
	return sse(half(text), `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]")
}

// half is the event that brings text.
func half(text string) string { return fmt.Sprintf(`{"choices":[{"delta":{"content":%q}}]}`, text) }

func calls1(args string) string {
	return fmt.Sprintf(`{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"read","arguments":%q}}]}}]}`, args)
}

func status(code int, body string, headers ...string) testResponse {
	h := map[string]string{}
	for i := 0; i+1 < len(headers); i += 2 {
		h[headers[i]] = headers[i+1]
	}
	return testResponse{Status: code, Text: &body, Headers: h}
}

func refuses(message string) testResponse {
	return status(400, `{"error":{"message":`+quote(message)+`}}`)
}

func ended(r testResponse, how string) testResponse {
	r.End = how
	return r
}

// told is what came through onDelta.
type told struct {
	text     string
	notices  []string
	restarts int
}

func (d *told) take(x chat.Delta) {
	if x.Restart {
		d.text, d.restarts = "", d.restarts+1
	}
	d.text += x.Text
	if x.Notice != "" {
		d.notices = append(d.notices, x.Notice)
	}
}

func ask(t *testing.T, c *Client) (chat.Reply, told, error) {
	t.Helper()
	var d told
	reply, err := c.Chat(t.Context(), testRequest(), d.take)
	return reply, d, err
}

// TestSequences drives whole exchanges: what the server answers one after the
// other, how often it must be asked, and what comes of it.
func TestSequences(t *testing.T) {
	cut, good := ended(sse(half("Half an ans")), "abort"), says("Good.")
	tests := []struct {
		name     string
		answers  []testResponse
		asked    int
		text     string
		err      string // part of the error; "" is success
		notice   string // part of one of the notices
		restarts int
	}{
		{"good", []testResponse{good}, 1, "Good.", "", "", 0},
		{"busy once", []testResponse{status(503, ""), good}, 2, "Good.", "", "retry 1/3 in", 0},
		{"busy for good", []testResponse{status(500, "x"), status(502, "x"), status(529, "x"), status(504, "gone")}, 4, "", "HTTP 504: gone", "retry 3/3", 0},
		{"reset before headers", []testResponse{{}, good}, 2, "Good.", "", "retry 1/3", 0},
		{"wait named", []testResponse{status(429, "x", "Retry-After", "0.01"), good}, 2, "Good.", "", "retry 1/3 in 0s: HTTP 429", 0},
		{"wait too long", []testResponse{status(429, "slow", "Retry-After", "7200"), good}, 1, "", "resets in 2h0m0s", "", 0},
		{"no money", []testResponse{status(429, `{"error":{"message":"no","code":"insufficient_quota"}}`), good}, 1, "", "HTTP 429: no", "", 0},
		{"model being loaded", []testResponse{loading(), loading(), loading(), loading(), loading(), good}, 6, "Good.", "", "loading its model", 0},
		{"cut once", []testResponse{cut, good}, 2, "Good.", "", "asking again (1/2)", 1},
		{"cut for good", []testResponse{cut, cut, cut}, 3, "Half an ans", "reply broke off", "asking again (2/2)", 2},
		{"never marks its end", []testResponse{sse(half("All.")), sse(half("All."))}, 2, "All.", "", "does not mark the end", 1},
		{"calls cut at the limit", []testResponse{sse(calls1(`{"fi`)), sse(calls1(`{"fi`))}, 2, "", "max_tokens", "asking again", 0},
		{"no data twice", []testResponse{sse(), sse(), status(200, `{"choices":[{"message":{"content":"Plain."}}]}`)}, 3, "Plain.", "", "plain reply", 0},
		{"empty once", []testResponse{says(""), good}, 2, "Good.", "", "the reply is empty", 0},
		{"empty twice", []testResponse{says(""), says("")}, 2, "", "context window may be full", "", 0},
		{"silence", []testResponse{ended(sse(half("Hm")), "stall"), good}, 2, "Good.", "", "timeout after 0.3s", 1},
		{"error in the stream", []testResponse{sse(half("Ha"), `{"error":{"code":502,"message":"gone"}}`), good}, 2, "Good.", "", "HTTP 502", 1},
		{"parser of the server", []testResponse{sse(`{"error":{"code":500,"message":"got exception: x"}}`), sse(`{"error":{"code":500,"message":"got exception: x"}}`)}, 2, "", "got exception", "", 0},
		{"refused call", []testResponse{failedCall(), failedCall(), good}, 3, "Good.", "", "could not be read", 0},
		{"refused for good", []testResponse{failedCall(), failedCall(), failedCall()}, 3, "", "tool_use_failed", "", 0},
		{"permanent", []testResponse{status(500, `{"error":{"code":500,"message":"Failed to parse tools: x"}}`), good}, 1, "", "Failed to parse tools", "", 0},
		{"redirected", []testResponse{status(307, "", "Location", "/v2/chat/completions"), good}, 2, "Good.", "", "", 0},
		{"redirected in a circle", []testResponse{moved(), moved(), moved(), moved(), good}, 4, "", "without an end", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &server{t: t, answers: tt.answers, n: 16}
			reply, d, err := ask(t, testClient(t, s, nil))
			if len(s.asked) != tt.asked {
				t.Errorf("asked %d times, want %d", len(s.asked), tt.asked)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if err != nil && !strings.HasPrefix(err.Error(), "request failed (") {
				t.Errorf("error %q, want the form of all of them", err)
			}
			if reply.Message.Content != tt.text || d.text != tt.text {
				t.Errorf("text %q, shown %q, want %q", reply.Message.Content, d.text, tt.text)
			}
			if tt.notice != "" && !strings.Contains(strings.Join(d.notices, "\n"), tt.notice) {
				t.Errorf("notices %q, want %q", d.notices, tt.notice)
			}
			if d.restarts != tt.restarts {
				t.Errorf("%d restarts, want %d", d.restarts, tt.restarts)
			}
			if err != nil && len(reply.Message.ToolCalls) > 0 {
				t.Errorf("calls %v beside an error", reply.Message.ToolCalls)
			}
		})
	}
}

func loading() testResponse {
	return status(503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`)
}

func moved() testResponse { return status(308, "", "Location", "/v1/chat/completions") }

func failedCall() testResponse {
	return status(400, `{"error":{"message":"tool_use_failed: see failed_generation","code":"tool_use_failed","failed_generation":"<f>"}}`)
}

func TestNoRetries(t *testing.T) {
	for _, first := range []testResponse{status(500, ""), ended(sse(half("x")), "abort"), says(""), {}} {
		s := &server{t: t, answers: []testResponse{first, says("Good.")}, n: 16}
		_, _, err := ask(t, testClient(t, s, func(o *Options) { o.Retries = 0 }))
		if err == nil || len(s.asked) != 1 {
			t.Errorf("with retries 0 asked %d times, error %v", len(s.asked), err)
		}
	}
}

// sent picks a member of a request's body; "" if it is not there.
func sent(t *testing.T, body []byte, key string) string {
	t.Helper()
	var m map[string]json.RawMessage
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatalf("request %s: %v", body, err)
	}
	return string(m[key])
}

// TestRepairs: a refused field is repaired once, the repair is remembered, and
// the same words again end it.
func TestRepairs(t *testing.T) {
	tests := []struct {
		message, key, before, after string
	}{
		{"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_completion_tokens", "", "100000"},
		{"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "max_tokens", "100000", "8192"},
		{"max_tokens must be less than 8192", "max_tokens", "100000", "8191"},
		{"Extra inputs are not permitted: max_tokens", "max_tokens", "100000", ""},
		{"Unknown parameter: 'stream_options'.", "stream_options", `{"include_usage":true}`, ""},
		{"'reasoning_effort': Input should be 'low', 'medium' or 'high'", "reasoning_effort", `"max"`, `"high"`},
		{"model does not support parameter reasoningEffort", "reasoning_effort", `"max"`, ""},
		{"Function tools with reasoning_effort are not supported. Set reasoning_effort to 'none'.", "reasoning_effort", `"max"`, `"none"`},
		{"Thinking mode does not support this tool_choice", "tool_choice", `"auto"`, ""},
		{"'stream' does not support true with this model, it is unsupported", "stream", "true", ""},
	}
	for _, tt := range tests {
		s := &server{t: t, answers: []testResponse{refuses(tt.message), says("Good."), says("Good.")}, n: 64}
		c := testClient(t, s, func(o *Options) {
			o.Effort, o.EffortSet, o.MaxTokens, o.MaxTokensSet = "max", true, 100000, true
		})
		for range 2 {
			if _, _, err := ask(t, c); err != nil {
				t.Errorf("%q: %v", tt.message, err)
			}
		}
		if len(s.asked) != 3 {
			t.Fatalf("%q: asked %d times, want 3", tt.message, len(s.asked))
		}
		for i, want := range []string{tt.before, tt.after, tt.after} {
			if got := sent(t, s.asked[i], tt.key); got != want {
				t.Errorf("%q: request %d has %s = %s, want %s", tt.message, i+1, tt.key, got, want)
			}
		}
		s = &server{t: t, answers: []testResponse{refuses(tt.message), refuses(tt.message), refuses(tt.message)}, n: 64}
		c = testClient(t, s, func(o *Options) { o.Effort, o.EffortSet, o.MaxTokens, o.MaxTokensSet = "max", true, 100000, true })
		_, _, err := ask(t, c)
		if err == nil || !strings.Contains(err.Error(), "HTTP 400") || len(s.asked) > 3 {
			t.Errorf("%q again: asked %d times, error %v", tt.message, len(s.asked), err)
		}
	}
}

// TestRepairsOfExtra: what the user adds to the request is repaired as ours is,
// and what is said to be left out is.
func TestRepairsOfExtra(t *testing.T) {
	tests := []struct {
		extra, message string
		key, after     string
		asked          int
	}{
		{`{"prompt_cache_key":"x"}`, "Unrecognized request argument supplied: prompt_cache_key", "prompt_cache_key", "", 2},
		{`{"temperature":0.2}`, "'temperature' does not support 0.2 with this model. Only the default (1) value is supported.", "temperature", "", 2},
		{`{"top_k":3}`, "body.top_k: Extra inputs are not permitted", "top_k", "", 2},
		{`{"max_tokens":77}`, "max_tokens is not supported", "max_tokens", "", 2},
		{`{"max_tokens":9000}`, "max_tokens is too large: it may be at most 4096", "max_tokens", "4096", 2},
		{`{"max_tokens":77}`, "'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_completion_tokens", "77", 2},
		{`{"reasoning_effort":"max"}`, "'reasoning_effort': Input should be 'low', 'medium' or 'high'", "reasoning_effort", `"high"`, 2},
		{`{"top_k":3}`, "body.top_p: Extra inputs are not permitted", "top_k", "", 1},
	}
	for _, tt := range tests {
		s := &server{t: t, answers: []testResponse{refuses(tt.message), says("Good.")}, n: 64}
		ask(t, testClient(t, s, func(o *Options) { o.ExtraBody = tt.extra }))
		if len(s.asked) != tt.asked {
			t.Errorf("%s, %q: asked %d times, want %d", tt.extra, tt.message, len(s.asked), tt.asked)
		} else if got := sent(t, s.asked[len(s.asked)-1], tt.key); tt.asked > 1 && got != tt.after {
			t.Errorf("%s, %q: %s = %s in the end, want %s", tt.extra, tt.message, tt.key, got, tt.after)
		}
		s = &server{t: t, answers: []testResponse{refuses(tt.message), refuses(tt.message), refuses(tt.message), refuses(tt.message)}, n: 64}
		if _, _, err := ask(t, testClient(t, s, func(o *Options) { o.ExtraBody = tt.extra })); err == nil || len(s.asked) > 3 {
			t.Errorf("%s, %q again: asked %d times, error %v", tt.extra, tt.message, len(s.asked), err)
		}
	}
}

// TestNullOnlyIfSent: a complaint about null repairs nothing where none was sent.
func TestNullOnlyIfSent(t *testing.T) {
	s := &server{t: t, answers: []testResponse{refuses("Invalid value for 'content': expected a string, got null."), says("Good.")}, n: 64}
	if _, d, err := ask(t, testClient(t, s, nil)); err == nil || len(s.asked) != 1 || len(d.notices) > 0 {
		t.Errorf("asked %d times, notices %q, error %v", len(s.asked), d.notices, err)
	}
}

func TestRepairsAreCounted(t *testing.T) {
	s := &server{t: t, n: 64, answers: []testResponse{
		refuses("Unknown parameter: 'stream_options'."), refuses("max_tokens is not supported, use max_completion_tokens instead"),
		refuses("unsupported parameter: reasoning_effort"), refuses("this tool_choice is not supported"),
		refuses("max_completion_tokens must be at most 100"), says("Good."),
	}}
	c := testClient(t, s, func(o *Options) { o.Effort, o.EffortSet, o.MaxTokens, o.MaxTokensSet = "high", true, 9000, true })
	if _, _, err := ask(t, c); err == nil || len(s.asked) != 5 {
		t.Errorf("asked %d times, error %v, want an error after the fourth repair", len(s.asked), err)
	}
}

func TestReasoningRepairs(t *testing.T) {
	req := testRequest()
	req.Messages = transcript("127.0.0.1:9")
	req.Messages[1].Details = ""
	tests := []struct {
		answers []testResponse
		want    []string // reasoning_content of the first assistant message in each request
	}{
		{[]testResponse{refuses("property 'reasoning_content' is unsupported"), says("Good.")}, []string{`"look\n"`, ""}},
		{[]testResponse{refuses("reasoning_content must be passed back to the API"), says("Good.")}, []string{`"look\n"`, `"look\n"`}},
	}
	for _, tt := range tests {
		s := &server{t: t, answers: tt.answers, n: 64}
		c := testClient(t, s, nil)
		if _, err := c.Chat(t.Context(), req, nil); err != nil {
			t.Fatal(err)
		}
		for i, want := range tt.want {
			var body struct{ Messages []json.RawMessage }
			if err := json.Unmarshal(s.asked[i], &body); err != nil {
				t.Fatal(err)
			}
			if got := sent(t, body.Messages[2], "reasoning_content"); got != want {
				t.Errorf("request %d: %s, want %s", i+1, got, want)
			}
		}
	}
	if c := testClient(t, &server{t: t}, nil); true {
		c.learnt().added = 2
		var b strings.Builder
		c.newRequest(req, "").writeTo(&b)
		if n := strings.Count(b.String(), `"reasoning_content":" "`); n != 1 {
			t.Errorf("%d messages with a blank for thinking, want 1 in %s", n, b.String())
		}
	}
}

func TestOverflow(t *testing.T) {
	s := &server{t: t, answers: []testResponse{refuses("This model's maximum context length is 8192 tokens."), says("Good.")}, n: 64}
	c := testClient(t, s, nil)
	_, _, err := ask(t, c)
	var o *chat.OverflowError
	var e *StatusError
	if !errors.As(err, &o) || o.Limit != 8192 || !errors.As(err, &e) || e.Class != ContextOverflow {
		t.Fatalf("error %#v, want an overflow of 8192", err)
	}
	if reply, _, err := ask(t, c); err != nil || reply.Window != 8192 {
		t.Errorf("window %d, error %v, want the 8192 that were learnt", reply.Window, err)
	}
}

// TestOverflowOfOutput: the conversation fits, only not with the output that
// was asked for.
func TestOverflowOfOutput(t *testing.T) {
	words := "This model's maximum context length is 8192 tokens. However, you requested 131572 tokens (500 in the messages, 131072 in the completion)."
	s := &server{t: t, answers: []testResponse{refuses(words), says("Good.")}, n: 64}
	c := testClient(t, s, func(o *Options) { o.MaxTokens, o.MaxTokensSet = 131072, true })
	if _, _, err := ask(t, c); err != nil {
		t.Fatal(err)
	}
	var n int
	if json.Unmarshal([]byte(sent(t, s.asked[1], "max_tokens")), &n); n < minRoom || n > 8000 {
		t.Errorf("max_tokens %d in the second request, want what is left of 8192", n)
	}
}

// TestCancel: whatever the client waits for, a cancel ends it at once, with
// the text that had come and no calls.
func TestCancel(t *testing.T) {
	tests := []struct {
		name   string
		answer testResponse
		when   func(chat.Delta) bool
		text   string
	}{
		{"reading", ended(sse(half("Half"), calls1(`{"filePath":"a"}`)), "stall"), func(d chat.Delta) bool { return d.Text != "" }, "Half"},
		{"waiting", status(429, "x", "Retry-After", "50"), func(d chat.Delta) bool { return d.Notice != "" }, ""},
	}
	for _, tt := range tests {
		s := &server{t: t, answers: []testResponse{tt.answer}, n: 1 << 20}
		c := testClient(t, s, func(o *Options) { o.IdleTimeout = time.Minute })
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		reply, err := c.Chat(ctx, testRequest(), func(d chat.Delta) {
			if tt.when(d) {
				cancel()
			}
		})
		cancel()
		if !errors.Is(err, context.Canceled) || time.Since(start) > 5*time.Second {
			t.Errorf("%s: error %v after %v", tt.name, err, time.Since(start))
		}
		if reply.Message.Content != tt.text || len(reply.Message.ToolCalls) > 0 {
			t.Errorf("%s: reply %+v, want the text %q alone", tt.name, reply.Message, tt.text)
		}
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	c := testClient(t, &server{t: t, answers: []testResponse{says("x")}}, nil)
	c.send = func(ctx context.Context, _ *httpc.Request) (*httpc.Response, error) { return nil, ctx.Err() }
	if _, err := c.Chat(ctx, testRequest(), nil); !errors.Is(err, cause) {
		t.Errorf("error %v, want the cause of the cancel", err)
	}
}

// TestIDs: an id that the conversation has already is not used again.
func TestIDs(t *testing.T) {
	s := &server{t: t, answers: []testResponse{sse(strings.Replace(calls1(`{}`), `"id":"c"`, `"id":"call_1"`, 1), "[DONE]")}, n: 64}
	req := testRequest()
	req.Messages = transcript("h:1")
	reply, err := testClient(t, s, nil).Chat(t.Context(), req, nil)
	if err != nil || len(reply.Message.ToolCalls) != 1 {
		t.Fatal(reply, err)
	}
	if id := reply.Message.ToolCalls[0].ID; id == "call_1" || !isNine(id) {
		t.Errorf("id %q, want a new one of nine letters and digits", id)
	}
}

// TestRedirects: a permanent one is remembered, another is asked for anew.
func TestRedirects(t *testing.T) {
	for code, want := range map[int]string{307: "/v1/chat/completions", 308: "/there"} {
		var paths []string
		s := &server{t: t, answers: []testResponse{status(code, "", "Location", "/there"), says("a"), says("b")}, n: 64}
		c := testClient(t, s, nil)
		c.quirks = otherRow
		c.send = func(ctx context.Context, r *httpc.Request) (*httpc.Response, error) {
			paths = append(paths, r.URL.Path)
			return s.send(ctx, r)
		}
		for range 2 {
			if _, _, err := ask(t, c); err != nil {
				t.Fatal(err)
			}
		}
		if len(paths) != 3 || paths[1] != "/there" || paths[2] != want {
			t.Errorf("after a %d: %q, want the last at %s", code, paths, want)
		}
	}
}

// TestPlainOnce: a plain reply that is tried in place of a stream and fails too
// does not end streaming for good.
func TestPlainOnce(t *testing.T) {
	s := &server{t: t, answers: []testResponse{sse(), sse(), sse(), says("Good.")}, n: 64}
	c := testClient(t, s, nil)
	if _, _, err := ask(t, c); err == nil || len(s.asked) != 3 {
		t.Errorf("asked %d times, error %v, want an error after three", len(s.asked), err)
	}
	if _, _, err := ask(t, c); err != nil || sent(t, s.asked[3], "stream") != "true" {
		t.Errorf("error %v, the next request has stream %q, want true", err, sent(t, s.asked[3], "stream"))
	}
}

// TestLooseTag: thinking that no tag opens is shown and taken back once; from
// then on such text waits for the tag, as long as the model goes on like that.
func TestLooseTag(t *testing.T) {
	loose := sse(half("I plan "), half("this.</think>"), half("Seven."), `{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
	long := strings.Repeat("word ", 500)
	s := &server{t: t, n: 8, answers: []testResponse{loose, loose, says("Plain."), loose, loose, says(long), says("the </think> tag"), loose, ended(sse(half("Half")), "abort"), loose}}
	c := testClient(t, s, nil)
	for i, want := range []struct {
		text     string
		restarts int
	}{{"Seven.", 1}, {"Seven.", 0}, {"Plain.", 0}, {"Seven.", 1}, {"Seven.", 0}, {long, 0}, {"the </think> tag", 0}, {"Seven.", 1}, {"Seven.", 1}} {
		reply, d, err := ask(t, c)
		if err != nil || d.text != want.text || reply.Message.Content != want.text || d.restarts != want.restarts {
			t.Errorf("reply %d: shown %q, text %q, %d restarts, error %v, want %+v", i+1, d.text, reply.Message.Content, d.restarts, err, want)
		}
	}
}

func TestProgress(t *testing.T) {
	s := &server{t: t, answers: []testResponse{sse(
		`{"choices":[{"delta":{"role":"assistant","content":null}}],"prompt_progress":{"total":24011,"cache":4,"processed":2052,"time_ms":498}}`,
		half("Hi"), "[DONE]")}, n: 64}
	var seen []int
	_, err := testClient(t, s, nil).Chat(t.Context(), testRequest(), func(d chat.Delta) {
		if d.Progress > 0 {
			seen = append(seen, d.Progress)
		}
	})
	if err != nil || len(seen) != 1 || seen[0] != 8 {
		t.Errorf("progress %v, error %v, want 8 per cent", seen, err)
	}
}
