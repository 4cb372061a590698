package provider

import (
	"strings"
	"testing"

	"cluade/internal/chat"
)

func TestFallback(t *testing.T) {
	tests := []struct {
		name   string
		first  []testResponse
		second []testResponse
		text   string
		asked  [2]int
		err    string
	}{
		{"first answers", []testResponse{says("one")}, nil, "one", [2]int{1, 0}, ""},
		{"first is down", []testResponse{status(401, "no")}, []testResponse{says("two")}, "two", [2]int{1, 1}, ""},
		{"both are down", []testResponse{status(401, "no")}, []testResponse{status(402, "poor")}, "", [2]int{1, 1}, "poor"},
		{"text was shown", []testResponse{ended(sse(half("Ha")), "abort")}, []testResponse{says("two")}, "Ha", [2]int{1, 0}, "broke off"},
		{"too long", []testResponse{refuses("prompt is too long: 9000 tokens > 8000 maximum")}, []testResponse{says("two")}, "", [2]int{1, 0}, "too long"},
		{"filtered", []testResponse{status(400, `{"error":{"code":"content_filter","message":"no"}}`)}, []testResponse{says("two")}, "", [2]int{1, 0}, "no"},
	}
	for _, tt := range tests {
		a, b := &server{t: t, answers: tt.first, n: 64}, &server{t: t, answers: tt.second, n: 64}
		zero := func(o *Options) { o.Retries = 0 }
		f := NewFallback(testClient(t, a, zero), testClient(t, b, zero))
		var d told
		reply, err := f.Chat(t.Context(), testRequest(), d.take)
		if reply.Message.Content != tt.text || len(a.asked) != tt.asked[0] || len(b.asked) != tt.asked[1] {
			t.Errorf("%s: text %q, asked %d and %d, want %q, %v", tt.name, reply.Message.Content, len(a.asked), len(b.asked), tt.text, tt.asked)
		}
		if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
		}
		if switched := len(b.asked) > 0; switched != strings.Contains(strings.Join(d.notices, ""), "going on with m at http://127.0.0.1:9/v1") {
			t.Errorf("%s: notices %q", tt.name, d.notices)
		}
	}
}

// TestFallbackStays: the endpoint that answered is asked from then on.
func TestFallbackStays(t *testing.T) {
	a, b := &server{t: t, answers: []testResponse{status(401, "no")}, n: 64}, &server{t: t, answers: []testResponse{says("x"), says("y")}, n: 64}
	f := NewFallback(testClient(t, a, nil), testClient(t, b, nil))
	for range 2 {
		if _, err := f.Chat(t.Context(), testRequest(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if len(a.asked) != 1 || len(b.asked) != 2 {
		t.Errorf("asked %d and %d times, want 1 and 2", len(a.asked), len(b.asked))
	}
	var _ chat.Model = f
}
