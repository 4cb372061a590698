package provider

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// BenchmarkStream reads a reply of a megabyte in pieces of a few characters,
// as they come from a fast server.
func BenchmarkStream(b *testing.B) {
	var body strings.Builder
	for body.Len() < 1<<20 {
		fmt.Fprintf(&body, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word %d \"},\"finish_reason\":null}]}\n\n", body.Len()%97)
	}
	body.WriteString("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	c := testClient(b, &server{t: b}, nil)
	c.quirks = otherRow
	c.send = func(_ context.Context, r *httpc.Request) (*httpc.Response, error) {
		r.Body(io.Discard)
		return &httpc.Response{Status: 200, Body: io.NopCloser(strings.NewReader(body.String()))}, nil
	}
	b.SetBytes(int64(body.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Chat(b.Context(), testRequest(), func(chat.Delta) {}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncode counts and writes a transcript of 1.5 MB.
func BenchmarkEncode(b *testing.B) {
	req := chat.Request{System: strings.Repeat("s", 2000), Tools: testTools}
	for i := 0; i < 100; i++ {
		id := fmt.Sprintf("call_%d", i)
		req.Messages = append(req.Messages,
			chat.Message{Role: chat.User, Content: "go on"},
			chat.Message{Role: chat.Assistant, Host: "127.0.0.1:9", Reasoning: "hm", ReasoningKey: "reasoning_content", ToolCalls: []chat.ToolCall{{ID: id, Name: "bash", Args: `{"command":"ls"}`}}},
			chat.Message{Role: chat.Tool, ToolCallID: id, Content: strings.Repeat("total 12\t\"x\"\n", 1150)},
			chat.Message{Role: chat.Assistant, Content: "done"})
	}
	c := testClient(b, &server{t: b}, nil)
	r := c.newRequest(req, "")
	b.SetBytes(r.size())
	b.ReportAllocs()
	for b.Loop() {
		r := c.newRequest(req, "")
		if r.size() == 0 || r.writeTo(io.Discard) != nil {
			b.Fatal("nothing was written")
		}
	}
}
