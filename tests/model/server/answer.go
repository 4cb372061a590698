package server

import (
	"fmt"
	"net/http"
	"strings"
)

// answer is one reply on its way.
type answer struct {
	Reply
	w         http.ResponseWriter
	r         *http.Request
	asked     Asked
	key       string
	firstCall int
}

func (a *answer) send() {
	switch {
	case a.Status != 0:
		f := a.Error
		f.Message = strings.ReplaceAll(f.Message, "$key", a.key)
		fault(a.w, a.Status, f)
		return
	case a.Raw != nil:
		a.w.Header().Set("Content-Type", "text/event-stream")
		a.w.Write(a.Raw)
	case a.asked.Stream && !a.Plain:
		a.stream()
	default:
		a.document()
	}
	a.end()
}

// end closes the connection as the script wants it.
func (a *answer) end() {
	switch a.End {
	case Cut:
		a.flush()
		panic(http.ErrAbortHandler)
	case Stall:
		a.flush()
		<-a.r.Context().Done()
	}
}

func (a *answer) flush() {
	if f, ok := a.w.(http.Flusher); ok {
		f.Flush()
	}
}

// stream sends the pieces as server-sent events, cut small: text by a few
// characters, arguments by a few bytes, so that a client has to put them
// together.
func (a *answer) stream() {
	a.w.Header().Set("Content-Type", "text/event-stream")
	a.event(map[string]any{"role": "assistant", "content": ""}, "")
	calls := 0
	for _, p := range a.Pieces {
		switch {
		case p.Call != nil:
			a.streamCall(calls, *p.Call)
			calls++
		case p.Reason != "":
			a.streamText("reasoning_content", p.Reason)
		case p.Echo:
			a.streamText("content", a.asked.LastResult)
		default:
			a.streamText("content", p.Text)
		}
	}
	if a.End != Whole {
		return
	}
	a.event(map[string]any{}, a.finish())
	if u := a.usage(); u != nil && a.asked.WantsUsage {
		a.data(map[string]any{"choices": []any{}, "usage": u})
	}
	fmt.Fprint(a.w, "data: [DONE]\n\n")
}

func (a *answer) streamText(field, text string) {
	const piece = 16
	runes := []rune(text)
	for len(runes) > 0 {
		n := min(piece, len(runes))
		a.event(map[string]any{field: string(runes[:n])}, "")
		runes = runes[n:]
	}
}

func (a *answer) streamCall(index int, c Call) {
	const piece = 16
	head := a.call(index, Call{c.Name, ""})
	head["index"] = index
	a.event(map[string]any{"tool_calls": []any{head}}, "")
	runes := []rune(c.Args)
	for len(runes) > 0 {
		n := min(piece, len(runes))
		a.event(map[string]any{"tool_calls": []any{
			map[string]any{"index": index, "function": map[string]any{"arguments": string(runes[:n])}},
		}}, "")
		runes = runes[n:]
	}
}

func (a *answer) event(delta map[string]any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta, "finish_reason": nil}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	a.data(map[string]any{"choices": []any{choice}})
}

func (a *answer) data(v map[string]any) {
	v["id"], v["object"], v["model"] = "reply", "chat.completion.chunk", a.asked.Model
	fmt.Fprintf(a.w, "data: %s\n\n", encode(v))
	a.flush()
}

// document sends the pieces as one JSON object.
func (a *answer) document() {
	var text, reason strings.Builder
	var calls []any
	for _, p := range a.Pieces {
		switch {
		case p.Call != nil:
			calls = append(calls, a.call(len(calls), *p.Call))
		case p.Reason != "":
			reason.WriteString(p.Reason)
		case p.Echo:
			text.WriteString(a.asked.LastResult)
		default:
			text.WriteString(p.Text)
		}
	}
	m := map[string]any{"role": "assistant", "content": text.String()}
	if reason.Len() > 0 {
		m["reasoning_content"] = reason.String()
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	doc := map[string]any{
		"id": "reply", "object": "chat.completion", "model": a.asked.Model,
		"choices": []any{map[string]any{"index": 0, "message": m, "finish_reason": a.finish()}},
	}
	if u := a.usage(); u != nil {
		doc["usage"] = u
	}
	a.w.Header().Set("Content-Type", "application/json")
	a.w.Write(encode(doc))
}

func (a *answer) call(index int, c Call) map[string]any {
	return map[string]any{
		"id": fmt.Sprintf("call_%d", a.firstCall+index), "type": "function",
		"function": map[string]any{"name": c.Name, "arguments": c.Args},
	}
}

func (a *answer) finish() string {
	if a.Finish != "" {
		return a.Finish
	}
	for _, p := range a.Pieces {
		if p.Call != nil {
			return "tool_calls"
		}
	}
	return "stop"
}

// usage are the figures of the script, or about a token for four bytes.
func (a *answer) usage() map[string]any {
	u := a.Usage
	if u == nil {
		out := 1
		for _, p := range a.Pieces {
			out += (len(p.Text) + len(p.Reason)) / 4
			if p.Call != nil {
				out += (len(p.Call.Name) + len(p.Call.Args)) / 4
			}
		}
		u = &Usage{Prompt: a.asked.Bytes / 4, Completion: out}
	}
	if *u == (Usage{}) {
		return nil
	}
	return map[string]any{
		"prompt_tokens": u.Prompt, "completion_tokens": u.Completion, "total_tokens": u.Prompt + u.Completion,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached},
	}
}
