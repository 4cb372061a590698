package provider

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cluade/internal/chat"
)

var update = flag.Bool("update", false, "write the golden requests anew")

// transcript is a conversation on host that shows every kind of message: one
// with thinking and a signature, one whose model was another host's, one with
// nothing in it, arguments that are no JSON, and a long id.
func transcript(host string) []chat.Message {
	return []chat.Message{
		{Role: chat.User, Content: "why is my disk full?"},
		{
			Role: chat.Assistant, Host: host, Reasoning: "look\n", ReasoningKey: "reasoning_content",
			Details:   `[{"type":"reasoning.text","index":0,"text":"look","signature":"S=="}]`,
			ToolCalls: []chat.ToolCall{{ID: "call_1", Name: "bash", Args: `{"command":"df"}`, Extra: `{"extra_content":{"google":{"thought_signature":"T="}}}`}},
		},
		{Role: chat.Tool, ToolCallID: "call_1", Content: "100%\t/\n"},
		{
			Role: chat.Assistant, Host: "elsewhere:1", Content: "More.", Reasoning: "foreign", ReasoningKey: "reasoning",
			ToolCalls: []chat.ToolCall{{ID: "a_very_long_id_that_is_beyond_what_openai_takes", Name: "read", Args: `{"filePath": x}`, Extra: `{"x":1}`}},
		},
		{Role: chat.Tool, ToolCallID: "a_very_long_id_that_is_beyond_what_openai_takes", Content: "error: bad"},
		{Role: chat.Assistant, Host: host},
		{Role: chat.User, Content: "\x1b[31mgo\u2028on", Notice: true},
		{Role: chat.User, Content: "please"},
	}
}

func goldenOptions(base, model string) Options {
	return Options{BaseURL: base, Model: model, Key: "k", Stream: true, Thinking: true, Effort: "max", MaxTokens: 131072}
}

// asked is o with everything that a user can ask for.
func asked(o Options) Options {
	o.ThinkingSet, o.EffortSet, o.MaxTokensSet, o.MaxTokens = true, true, true, 8000
	return o
}

// thoughtless is o with thinking turned off by the user.
func thoughtless(o Options) Options {
	o.ThinkingSet, o.Thinking = true, false
	return o
}

func TestRequests(t *testing.T) {
	rows := []struct{ file, base, model string }{
		{"deepseek", "https://api.deepseek.com/v1", "deepseek-v4-pro"},
		{"openai", "https://api.openai.com/v1", "gpt-5"},
		{"openai-5.6", "https://api.openai.com/v1", "gpt-5.6"},
		{"azure", "https://me.openai.azure.com/openai/v1", "gpt-4o"},
		{"openrouter", "https://openrouter.ai/api/v1", "anthropic/claude-x"},
		{"groq", "https://api.groq.com/openai/v1", "openai/gpt-oss-120b"},
		{"groq-qwen", "https://api.groq.com/openai/v1", "qwen/qwen3-32b"},
		{"mistral", "https://api.mistral.ai/v1", "magistral-medium"},
		{"google", "https://generativelanguage.googleapis.com/v1beta/openai", "gemini-3-pro"},
		{"xai", "https://api.x.ai/v1", "grok-4"},
		{"xai-4.5", "https://api.x.ai/v1", "grok-4.5"},
		{"moonshot", "https://api.moonshot.ai/v1", "kimi-k2.6"},
		{"moonshot-k3", "https://api.moonshot.cn/v1", "kimi-k3"},
		{"zai", "https://api.z.ai/api/paas/v4", "glm-4.7"},
		{"minimax", "https://api.minimax.io/v1", "MiniMax-M2"},
		{"dashscope", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen3-max"},
		{"together", "https://api.together.xyz/v1", "some/model"},
		{"cerebras", "https://api.cerebras.ai/v1", "gpt-oss-120b"},
		{"nvidia", "https://integrate.api.nvidia.com/v1", "nemotron"},
		{"anthropic", "https://api.anthropic.com/v1", "claude-x"},
		{"local", "http://192.168.1.7:8080/v1", "qwen3"},
		{"other", "https://llm.example.org/v1", "deepseek-v3"},
	}
	for _, r := range rows {
		o := goldenOptions(r.base, r.model)
		golden(t, r.file, body(t, o, true), body(t, asked(o), false), body(t, thoughtless(o), false))
	}
	plain := goldenOptions("https://api.deepseek.com/v1", "deepseek-v4-pro")
	plain.Stream = false
	golden(t, "deepseek-plain", body(t, plain, false))
	extra := goldenOptions("http://localhost:8080/v1", "m")
	extra.ExtraBody = `{"model":"x","stream":false,"chat_template_kwargs":{"enable_thinking":false},"stream_options":{"a":1},"tool_choice":"none"}`
	golden(t, "extra-body", body(t, extra, false))
	override := goldenOptions("https://llm.example.org/v1", "m")
	override.Quirks = `{"thinking":true,"reasoning_effort":true,"max_tokens_field":"max_completion_tokens","stream_usage":false,"replay_reasoning":false}`
	golden(t, "override", body(t, asked(override), true))
}

// TestForeignCalls: a host that misses thinking gets an empty one for the calls
// of another host's model, unless thinking is off.
func TestForeignCalls(t *testing.T) {
	for _, tt := range []struct {
		base string
		off  bool
		want int
	}{{"https://api.deepseek.com/v1", false, 1}, {"https://api.deepseek.com/v1", true, 0}, {"https://api.groq.com/v1", false, 0}, {"http://localhost/v1", false, 0}} {
		o := goldenOptions(tt.base, "m")
		if tt.off {
			o = thoughtless(o)
		}
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		all := transcript("")
		c.newRequest(chat.Request{Messages: []chat.Message{all[0], all[3], all[4]}}, "").writeTo(&b)
		if n := strings.Count(b.String(), `"reasoning_content":""`); n != tt.want || strings.Contains(b.String(), "foreign") {
			t.Errorf("%s, off %v: %d empty thoughts, want %d, and no other's: %s", tt.base, tt.off, n, tt.want, b.String())
		}
	}
}

// body is the request that o gives, for the long transcript or a short one.
func body(t *testing.T, o Options, long bool) string {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	req := chat.Request{System: "You are a test.", Messages: []chat.Message{{Role: chat.User, Content: "hi"}}, Tools: testTools[2:3]}
	if long {
		req.Messages = transcript(c.host)
	}
	r := c.newRequest(req, "")
	var b bytes.Buffer
	if err := r.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	if r.size() != int64(b.Len()) {
		t.Errorf("size() = %d, want %d", r.size(), b.Len())
	}
	if !json.Valid(b.Bytes()) {
		t.Errorf("no JSON: %s", b.Bytes())
	}
	return b.String()
}

// golden compares requests with the lines of the file of that name.
func golden(t *testing.T, name string, bodies ...string) {
	t.Helper()
	got := strings.Join(bodies, "\n") + "\n"
	path := filepath.Join("testdata", "requests", name+".jsonl")
	if *update {
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n got %s\nwant %s", name, got, want)
	}
}
