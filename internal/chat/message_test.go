package chat

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/valyala/fastjson"
)

func mustParse(t *testing.T, text string) Message {
	t.Helper()
	m, err := ParseMessage(fastjson.MustParse(text))
	if err != nil {
		t.Fatalf("ParseMessage(%s): %v", text, err)
	}
	return m
}

func TestAppendMessage(t *testing.T) {
	tests := []struct {
		m    Message
		want string
	}{
		{Message{Role: User, Content: "hi\n\x1b"}, `{"role":"user","content":"hi\n\u001b"}`},
		{Message{Role: User, Notice: true}, `{"role":"user","content":"","notice":true}`},
		{Message{Role: Assistant, Content: "a", Reasoning: "r"}, `{"role":"assistant","content":"a","thinking":"r"}`},
		{Message{Role: User, Content: "u", Images: []Image{{"/a b.png", 12, "ab", "image/png"}}},
			`{"role":"user","content":"u","images":[{"path":"/a b.png","size":12,"hash":"ab","mime":"image/png"}]}`},
		{Message{Role: Assistant, ReasoningKey: "reasoning_content"}, `{"role":"assistant","content":"","reasoning_content":""}`},
		{Message{Role: Assistant, Reasoning: "r", ReasoningKey: "reasoning", Host: "h:1"},
			`{"role":"assistant","content":"","reasoning":"r","host":"h:1"}`},
		{Message{Role: Assistant, Reasoning: "r", ReasoningKey: "content"}, `{"role":"assistant","content":"","reasoning_content":"r"}`},
		{Message{Role: Assistant, Details: "[\n{\"a\":\"\\u001b\"}]"}, `{"role":"assistant","content":"","reasoning_details":[{"a":"\u001b"}]}`},
		{Message{Role: Assistant, Details: "[1", ToolCalls: []ToolCall{{ID: "c1", Name: "bash", Args: `{"a":`}}},
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"a\":"}}]}`},
		{Message{Role: Assistant, ToolCalls: []ToolCall{{ID: "c1", Name: "b", Extra: "{\"id\":\"x\",\n\"sig\":{\"k\":[nan,1.50]}}"}, {ID: "c2", Extra: "[]"}}},
			`{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"b","arguments":""},"sig":{"k":[null,1.50]}},` +
				`{"id":"c2","type":"function","function":{"name":"","arguments":""}}]}`},
		{Message{Role: Tool, ToolCallID: "c1", Content: "ok", Host: "not a tool's"}, `{"role":"tool","content":"ok","tool_call_id":"c1"}`},
	}
	for _, tt := range tests {
		got := string(AppendMessage(nil, tt.m))
		if got != tt.want {
			t.Errorf("AppendMessage(%+v) = %s, want %s", tt.m, got, tt.want)
		}
		if !json.Valid([]byte(got)) {
			t.Errorf("AppendMessage(%+v) = %s, want JSON", tt.m, got)
		}
	}
}

func TestParseMessage(t *testing.T) {
	tests := []struct {
		text string
		want Message
	}{
		{`{"role":"user","content":"hi","notice":true}`, Message{Role: User, Content: "hi", Notice: true}},
		{`{"role":"assistant","content":null}`, Message{Role: Assistant}},
		{`{"role":"assistant"}`, Message{Role: Assistant}},
		{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"},"b"]}`, Message{Role: User, Content: "ab"}},
		{`{"role":"tool","content":{"a":"\u001b"},"tool_call_id":7}`, Message{Role: Tool, Content: `{"a":"\u001b"}`, ToolCallID: "7"}},
		{`{"role":"assistant","content":"","reasoning":"a","reasoning_content":null}`,
			Message{Role: Assistant, Reasoning: "a", ReasoningKey: "reasoning"}},
		{`{"role":"assistant","content":"","reasoning_content":"","reasoning":"a"}`,
			Message{Role: Assistant, ReasoningKey: "reasoning_content"}},
		{`{"role":"assistant","tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":{"x": 1}},"sig":1},null]}`,
			Message{Role: Assistant, ToolCalls: []ToolCall{{ID: "c", Name: "f", Args: `{"x":1}`, Extra: `{"sig":1}`}, {}}}},
		{`{"role":"user","content":"x","tool_calls":[{"id":"c"}],"tool_call_id":"c"}`, Message{Role: User, Content: "x"}},
		{`{"role":"system","content":"s"}`, Message{Role: System, Content: "s"}},
	}
	for _, tt := range tests {
		if got := mustParse(t, tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("ParseMessage(%s) = %+v, want %+v", tt.text, got, tt.want)
		}
	}
	for _, text := range []string{`1`, `null`, `[]`, `{}`, `{"role":7}`, `{"role":"User"}`, `{"role":"function","content":"x"}`} {
		if m, err := ParseMessage(fastjson.MustParse(text)); err == nil {
			t.Errorf("ParseMessage(%s) = %+v, want an error", text, m)
		}
	}
}

// What ParseMessage returns must not change when the parser goes on.
func TestParseMessageCopies(t *testing.T) {
	var p fastjson.Parser
	v, err := p.Parse(`{"role":"assistant","content":"alpha","reasoning":"beta","host":"gamma","tool_calls":[{"id":"delta","function":{"name":"eps","arguments":"zeta"}}]}`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := ParseMessage(v)
	if err != nil {
		t.Fatal(err)
	}
	before := string(AppendMessage(nil, m))
	if _, err := p.Parse(strings.Repeat(" ", 20) + `"` + strings.Repeat("#", 400) + `"`); err != nil {
		t.Fatal(err)
	}
	if after := string(AppendMessage(nil, m)); after != before {
		t.Errorf("after another Parse the message is %s, want %s", after, before)
	}
}

func TestCountValues(t *testing.T) {
	for text, want := range map[string]int{
		``: 1, `0`: 1, `"a,[{"`: 1, `"\"[,"`: 1, `"\\",0`: 2, `[]`: 2, `[1,2,3]`: 4, `{"a":{"b":[0]},"c":"\\\","}`: 5,
	} {
		if got := CountValues([]byte(text)); got != want {
			t.Errorf("CountValues(%s) = %d, want %d", text, got, want)
		}
	}
}

// FuzzParseMessage checks that what was read is written as one line of JSON
// that reads the same.
func FuzzParseMessage(f *testing.F) {
	for _, s := range []string{
		`{"role":"user","content":"a"}`,
		`{"role":"assistant","content":[{"text":"a"}],"reasoning":"","tool_calls":[{"id":"1","function":{"name":"n","arguments":{}},"x":[nan]}]}`,
		`{"role":"assistant","reasoning_details":[{"text":"\ud800"}],"host":"a:1"}`,
		`{"role":"tool","tool_call_id":"1","content":"\u0000\u2028"}`,
		`{"role":"system"}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v, err := fastjson.Parse(text)
		if err != nil {
			return
		}
		m, err := ParseMessage(v)
		if err != nil {
			return
		}
		line := AppendMessage(nil, m)
		if !json.Valid(line) || strings.ContainsAny(string(line), "\n\r\x00") {
			t.Fatalf("AppendMessage(%+v) = %q, want one line of JSON", m, line)
		}
		again, err := ParseMessage(fastjson.MustParseBytes(line))
		if err != nil {
			t.Fatalf("ParseMessage(%s): %v", line, err)
		}
		if second := AppendMessage(nil, again); string(second) != string(line) {
			t.Fatalf("written again: %s, want %s", second, line)
		}
	})
}
