package provider

import (
	"strconv"
	"strings"
	"testing"

	"cluade/internal/chat"
)

// TestPrefixStays: whatever a reply brings, what was sent before it goes out
// again as it was, byte for byte, on every kind of host.
func TestPrefixStays(t *testing.T) {
	for _, base := range []string{"http://localhost/v1", "https://api.deepseek.com/v1", "https://openrouter.ai/api/v1", "https://api.mistral.ai/v1", "https://api.groq.com/v1"} {
		c, err := New(goldenOptions(base, "m"))
		if err != nil {
			t.Fatal(err)
		}
		kinds := []chat.Message{
			{Host: c.host},
			{Host: c.host, ReasoningKey: "reasoning_content", Reasoning: "hm"},
			{Host: c.host, ReasoningKey: "reasoning"},
			{Host: "elsewhere:1", ReasoningKey: "reasoning", Reasoning: "foreign"},
		}
		for n := range len(kinds) * len(kinds) * len(kinds) {
			all, last := []chat.Message{{Role: chat.User, Content: "go"}}, ""
			for k := n + len(kinds)*len(kinds)*len(kinds); k > 1; k /= len(kinds) {
				m, id := kinds[k%len(kinds)], strconv.Itoa(k)
				m.Role, m.ToolCalls = chat.Assistant, []chat.ToolCall{{ID: id, Name: "bash", Args: "{}"}}
				all = append(all, m, chat.Message{Role: chat.Tool, ToolCallID: id, Content: "done"})
				var b strings.Builder
				if err := c.newRequest(chat.Request{Messages: all}, "").writeTo(&b); err != nil {
					t.Fatal(err)
				}
				if !strings.HasPrefix(b.String(), last) {
					t.Fatalf("%s: %s\ndoes not begin with\n%s", base, b.String(), last)
				}
				last = b.String()[:strings.LastIndex(b.String(), `{"role":"tool"`)]
			}
		}
	}
}

// TestEchoFollows: once a reply had thinking, later calls without carry an empty
// one.
func TestEchoFollows(t *testing.T) {
	c, err := New(goldenOptions("http://localhost/v1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	call := []chat.ToolCall{{ID: "c", Name: "bash", Args: "{}"}}
	var b strings.Builder
	r := c.newRequest(chat.Request{Messages: []chat.Message{
		{Role: chat.Assistant, Host: c.host, ToolCalls: call},
		{Role: chat.Assistant, Host: c.host, Reasoning: "hm", ReasoningKey: "reasoning", Content: "well"},
		{Role: chat.Assistant, Host: c.host, ToolCalls: call},
		{Role: chat.Assistant, Host: "elsewhere:1", ToolCalls: call},
	}}, "")
	r.size() // which goes through the messages too
	if err := r.writeTo(&b); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), `,"reasoning":"","tool_calls"`); n != 2 || strings.Count(b.String(), "reasoning") != 3 {
		t.Errorf("%d empty thoughts, want 2: %s", n, b.String())
	}
}

// TestOnce: an empty reply to a request that is made once is the reply, and no
// other endpoint is asked.
func TestOnce(t *testing.T) {
	a, b := &server{t: t, answers: []testResponse{says("")}, n: 64}, &server{t: t, n: 64}
	f := NewFallback(testClient(t, a, nil), testClient(t, b, nil))
	req := testRequest()
	req.Once = true
	if reply, err := f.Chat(t.Context(), req, nil); err != nil || reply.Message.Content != "" || len(a.asked) != 1 || len(b.asked) != 0 {
		t.Errorf("%q, %v after %d and %d requests, want an empty reply after one", reply.Message.Content, err, len(a.asked), len(b.asked))
	}
}
