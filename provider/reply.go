package provider

import (
	"strings"
	"unicode/utf16"

	"cluade/internal/chat"

	"github.com/valyala/fastjson"
)

// reply puts one reply together, from a stream or from a whole document.
type reply struct {
	c       *Client
	known   map[string]string // the tools that were sent; nil looks for no calls in text
	onDelta func(chat.Delta)
	watch   *watch

	text      *outlet
	reasoning *outlet
	tags      splitter
	key       string // the name under which thinking came
	detailed  bool   // it came in reasoning_details alone
	details   details
	calls     calls
	finish    string // in the words of chat.Finish, "" if none came
	usage     chat.Usage
	timings   chat.Usage
	late      bool   // something came after the finish
	splits    bool   // the event ends a text within a character of two escapes
	half      string // the first of them
	done      bool   // [DONE]
	data      bool   // at least one event with data
	shown     bool   // text or thinking went out to the caller
	loose     bool   // thinking ended with a tag that nothing opened
}

func (c *Client) newReply(known map[string]string, w *watch, onDelta func(chat.Delta)) *reply {
	r := &reply{c: c, known: known, watch: w, onDelta: onDelta}
	r.tags.loose = c.quirks.LooseTags
	r.tags.hold = c.learnt().looseTag
	r.text = &outlet{secrets: c.secrets, calls: known != nil, emit: func(s string) {
		r.shown = true
		r.tell(chat.Delta{Text: s})
	}}
	r.reasoning = &outlet{secrets: c.secrets, emit: func(s string) {
		r.shown = true
		r.tell(chat.Delta{Reasoning: s})
	}}
	return r
}

func (r *reply) tell(d chat.Delta) {
	if r.onDelta != nil && d != (chat.Delta{}) {
		r.onDelta(d)
	}
}

// take reads one event of a stream, or the whole of a plain reply. An error in
// it ends the reply.
func (r *reply) take(v *fastjson.Value, named string) *failure {
	r.data = true
	if f := r.complaint(v, named); f != nil {
		return f
	}
	r.meter(v)
	choice := v.Get("choices", "0")
	if choice == nil {
		return nil
	}
	delta := choice.Get("delta")
	whole := kind(delta) != fastjson.TypeObject
	if m := choice.Get("message"); whole && kind(m) == fastjson.TypeObject && !r.begun() {
		delta = m
	}
	r.message(delta, whole)
	r.setFinish(text(choice.Get("finish_reason")))
	if r.finish == "error" {
		return r.c.classify(0, &complaint{message: "the server broke the reply off", code: "server_error", json: true}, nil)
	}
	return nil
}

// complaint looks for an error where a reply should be. Once there was a begin
// of one the request as such was taken.
func (r *reply) complaint(v *fastjson.Value, named string) *failure {
	f := r.errorIn(v, named)
	switch {
	case f == nil:
	case f.class == UnsupportedParam && r.begun():
		f.class, f.advice, f.param = StreamError, adviseBackoff, ""
	case f.class == StreamError && f.advice == adviseBackoff && text(v.Get("choices", "0", "finish_reason")) == "error":
		f.class = Overloaded
	}
	return f
}

// errorIn is the error that comes in the place of choices, beside them, or
// inside the first.
func (r *reply) errorIn(v *fastjson.Value, named string) *failure {
	for _, e := range []*fastjson.Value{v.Get("error"), v.Get("choices", "0", "error"), v.Get("x_groq", "error")} {
		if isError(e) {
			said := complaintOf(v)
			if kind(v.Get("error")) == fastjson.TypeNull {
				said = complaintOf(e)
			}
			return r.c.classify(0, said, nil)
		}
	}
	base := v.GetInt("base_resp", "status_code")
	if named == "error" || text(v.Get("object")) == "error" || base != 0 || isFlatError(v) {
		return r.c.classify(0, complaintOf(v), nil)
	}
	return nil
}

// isFlatError knows an error object that stands bare in the place of a reply.
func isFlatError(v *fastjson.Value) bool {
	if len(v.GetArray("choices")) > 0 {
		return false
	}
	said := text(v.Get("message")) != "" || text(v.Get("msg")) != "" || v.Exists("detail")
	for _, k := range []string{"code", "type", "status", "status_code", "param"} {
		if said && scalar(v.Get(k)) != "" {
			return true
		}
	}
	return false
}

// isError tells an error from the empty value that some servers always send.
func isError(v *fastjson.Value) bool {
	switch kind(v) {
	case fastjson.TypeObject:
		return v.GetObject().Len() > 0
	case fastjson.TypeString:
		return len(v.GetStringBytes()) > 0
	case fastjson.TypeArray:
		return len(v.GetArray()) > 0
	}
	return kind(v) == fastjson.TypeTrue
}

// meter reads what stands beside the text: usage in all its places, and how
// far llama.cpp is with the prompt.
func (r *reply) meter(v *fastjson.Value) {
	for _, u := range []*fastjson.Value{v.Get("usage"), v.Get("choices", "0", "usage"), v.Get("x_groq", "usage")} {
		if n, ok := parseUsage(u); ok {
			r.usage = n
			break
		}
	}
	if n, ok := parseTimings(v.Get("timings")); ok {
		r.timings = n
	}
	if p := v.Get("prompt_progress"); p != nil {
		if total := p.GetFloat64("total"); total > 0 {
			percent := int(100 * p.GetFloat64("processed") / total)
			r.tell(chat.Delta{Progress: min(max(percent, 1), 100)})
		}
	}
}

// begun says whether any of the reply itself has come.
func (r *reply) begun() bool {
	return r.text.all.Len() > 0 || r.reasoning.all.Len() > 0 || len(r.calls.list) > 0
}

// message reads a delta, or the message of a plain reply.
func (r *reply) message(m *fastjson.Value, whole bool) {
	if kind(m) != fastjson.TypeObject {
		return
	}
	r.thinking(m)
	r.content(m.Get("content"))
	if kind(m.Get("content")) == fastjson.TypeNull {
		r.addText(text(m.Get("refusal")))
	}
	list := m.GetArray("tool_calls")
	for _, v := range list {
		if whole {
			r.calls.addWhole(parsePiece(v))
		} else {
			r.calls.add(parsePiece(v))
		}
	}
	if f := m.Get("function_call"); kind(f) == fastjson.TypeObject { // the form before tools
		r.calls.add(piece{idx: 0, name: text(f.Get("name")), args: argsText(f.Get("arguments"))})
		list = append(list, f)
	}
	if r.finish != "" && !r.late && (len(list) > 0 || len(m.GetStringBytes("content")) > 0) {
		r.late = true
		r.watch.finished(false)
	}
}

// thinkingKeys are the names of the thinking text, in the order of preference.
var thinkingKeys = [2]string{"reasoning_content", "reasoning"}

// thinking reads the thinking text under the first name that has any, and from
// then on under that name: some servers send it under two, or under one and in
// reasoning_details.
func (r *reply) thinking(m *fastjson.Value) {
	name := ""
	for _, k := range thinkingKeys {
		v := m.Get(k)
		if kind(v) != fastjson.TypeString {
			continue
		}
		if r.key == "" {
			r.key = k // there, though perhaps empty: some want it back all the same
		}
		if len(v.GetStringBytes()) > 0 && (name == "" || k == r.key) {
			name = k
		}
	}
	readable := r.details.add(m.Get("reasoning_details"))
	first := r.reasoning.all.Len() == 0
	switch {
	case name != "":
		if first {
			r.key = name
		}
		r.reasoning.write(text(m.Get(name)))
	case readable != "" && (first || r.detailed):
		r.detailed = true
		r.reasoning.write(readable)
	}
}

// content reads a string or a list of parts.
func (r *reply) content(v *fastjson.Value) {
	switch kind(v) {
	case fastjson.TypeString:
		r.addText(text(v))
	case fastjson.TypeObject:
		r.part(v)
	case fastjson.TypeArray:
		for _, p := range v.GetArray() {
			r.part(p)
		}
	}
}

func (r *reply) part(p *fastjson.Value) {
	if kind(p) == fastjson.TypeString {
		r.addText(text(p))
		return
	}
	switch text(p.Get("type")) {
	case "thinking", "reasoning":
		for _, k := range []string{"thinking", "reasoning", "text", "content"} {
			if v := p.Get(k); v != nil {
				r.reasoning.write(joinText(v))
				return
			}
		}
	default:
		r.addText(joinText(p.Get("text")))
	}
}

// joinText is a string, or the texts of a list of parts put together.
func joinText(v *fastjson.Value) string {
	if kind(v) != fastjson.TypeArray {
		return text(v)
	}
	var b strings.Builder
	for _, p := range v.GetArray() {
		b.WriteString(text(p))
		b.WriteString(text(p.Get("text")))
	}
	return b.String()
}

func (r *reply) addText(s string) {
	if r.half != "" && s != "" {
		r.half, s = "", joinHalves(r.half, s)
	}
	if n := len(s) - escapeLen; r.splits && n >= 0 && utf16.IsSurrogate(escaped(s[n:])) {
		s, r.half = s[:n], s[n:]
	}
	if s == "" {
		return
	}
	if r.tags.state == atStart && r.reasoning.all.Len() > 0 {
		r.tags.loose = false // the server takes thinking out itself
	}
	r.place(r.tags.feed(s))
}

// place puts what the splitter found where it belongs.
func (r *reply) place(s split) {
	if s.void {
		r.loose = true
		before := r.text.all.String()
		if r.shown {
			r.tell(chat.Delta{Restart: true})
		}
		r.text = &outlet{secrets: r.text.secrets, calls: r.text.calls, emit: r.text.emit}
		r.reasoning.write(before)
	}
	r.reasoning.write(s.reasoning)
	r.text.write(s.text)
}

// finishes maps the reasons to stop of many servers to four; all others are a
// plain stop.
var finishes = []struct {
	finish chat.Finish
	names  string
}{
	{chat.FinishCalls, " tool_calls function_call tool_use tool_call tool "},
	{chat.FinishLength, " length max_tokens max_output_tokens model_length max_length model_context_window_exceeded "},
	{chat.FinishFilter, " content_filter content_filtered safety recitation blocklist prohibited_content spii sensitive refusal image_safety "},
	{"error", " error network_error insufficient_system_resource server_error "},
}

func (r *reply) setFinish(reason string) {
	reason = strings.ToLower(strings.TrimSpace(reason))
	if reason == "" || reason == "null" {
		return
	}
	first := r.finish == ""
	r.finish = string(chat.FinishStop)
	for _, f := range finishes {
		if strings.Contains(f.names, " "+reason+" ") {
			r.finish = string(f.finish)
		}
	}
	if first && !r.late {
		r.watch.finished(true)
	}
}
