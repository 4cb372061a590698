package chat

import (
	"errors"
	"fmt"
	"strings"

	"cluade/internal/jsonenc"
	"github.com/valyala/fastjson"
)

// The names under which servers send the thinking text of a reply, and our own
// for one that came without a field of its own: it is for a person to read and
// goes back to no server under any of them.
const (
	reasoningContent = "reasoning_content"
	reasoningShort   = "reasoning"
	reasoningNone    = "thinking"
)

// AppendMessage appends m to dst as one JSON object on one line, in the form of
// the journal: the keys of a chat-completions message, and "notice", "images",
// "host", "thinking" and "reasoning_details" of our own. Fields that are not set are left out, fields
// that do not belong to the role too. It is no request: what a server gets of
// a message depends on the server.
func AppendMessage(dst []byte, m Message) []byte {
	dst = append(dst, '{')
	dst = appendMember(dst, "role", string(m.Role))
	dst = appendMember(dst, "content", m.Content)
	switch m.Role {
	case User:
		if m.Notice {
			dst = append(jsonenc.AppendKey(dst, "notice"), "true"...)
		}
		dst = appendImages(dst, m.Images)
	case Assistant:
		dst = appendThinking(dst, m)
		dst = appendCalls(dst, m.ToolCalls)
	case Tool:
		dst = appendMember(dst, "tool_call_id", m.ToolCallID)
	}
	return append(dst, '}')
}

func appendMember(dst []byte, key, text string) []byte {
	return jsonenc.AppendString(jsonenc.AppendKey(dst, key), text)
}

func appendThinking(dst []byte, m Message) []byte {
	if m.Reasoning != "" || m.ReasoningKey != "" {
		key := reasoningContent
		switch m.ReasoningKey {
		case reasoningShort:
			key = reasoningShort
		case "":
			key = reasoningNone
		}
		dst = appendMember(dst, key, m.Reasoning)
	}
	if v := parseRaw(m.Details); v != nil && v.Type() == fastjson.TypeArray {
		dst = AppendValue(jsonenc.AppendKey(dst, "reasoning_details"), v)
	}
	if m.Host != "" {
		dst = appendMember(dst, "host", m.Host)
	}
	return dst
}

func appendImages(dst []byte, images []Image) []byte {
	if len(images) == 0 {
		return dst
	}
	dst = append(jsonenc.AppendKey(dst, "images"), '[')
	for i, im := range images {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendMember(dst, "path", im.Path)
		dst = jsonenc.AppendInt(jsonenc.AppendKey(dst, "size"), im.Size)
		dst = appendMember(dst, "hash", im.Hash)
		dst = appendMember(dst, "mime", im.MIME)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

func appendCalls(dst []byte, calls []ToolCall) []byte {
	if len(calls) == 0 {
		return dst
	}
	dst = append(jsonenc.AppendKey(dst, "tool_calls"), '[')
	for i, c := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '{')
		dst = appendMember(dst, "id", c.ID)
		dst = appendMember(dst, "type", "function")
		dst = append(jsonenc.AppendKey(dst, "function"), '{')
		dst = appendMember(dst, "name", c.Name)
		dst = appendMember(dst, "arguments", c.Args)
		dst = append(dst, '}')
		dst = appendExtra(dst, c.Extra)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendExtra appends the members of the object raw that a call does not have
// already.
func appendExtra(dst []byte, raw string) []byte {
	o, err := parseRaw(raw).Object()
	if err != nil {
		return dst
	}
	o.Visit(func(k []byte, v *fastjson.Value) {
		if !isCallKey(string(k)) {
			dst = AppendValue(jsonenc.AppendKey(dst, string(k)), v)
		}
	})
	return dst
}

// isCallKey says whether a member of a call has a field in ToolCall, or, like
// the index of a streamed piece, no meaning later.
func isCallKey(k string) bool {
	return k == "id" || k == "type" || k == "function" || k == "index"
}

// parseRaw reads the text of a raw field. What is not JSON reads as null: it
// came from a server or a file and must not spoil the line it is put on.
func parseRaw(raw string) *fastjson.Value {
	if raw == "" {
		return fastjson.MustParse("null")
	}
	v, err := fastjson.Parse(raw)
	if err != nil {
		return fastjson.MustParse("null")
	}
	return v
}

// CountValues counts the values of JSON text, or a few more. A parser takes two
// hundred bytes for each, however short it is, so who reads the text of
// strangers looks here first.
func CountValues(text []byte) int {
	n, quoted := 1, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// AppendValue appends v as JSON text on one line, keys in their order. It
// exists because fastjson's own writer is not strict JSON.
func AppendValue(dst []byte, v *fastjson.Value) []byte {
	switch v.Type() {
	case fastjson.TypeObject:
		dst = append(dst, '{')
		v.GetObject().Visit(func(k []byte, v *fastjson.Value) {
			dst = AppendValue(jsonenc.AppendKey(dst, string(k)), v)
		})
		return append(dst, '}')
	case fastjson.TypeArray:
		dst = append(dst, '[')
		for i, e := range v.GetArray() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendValue(dst, e)
		}
		return append(dst, ']')
	case fastjson.TypeString:
		return jsonenc.AppendString(dst, string(v.GetStringBytes()))
	case fastjson.TypeNumber:
		return appendNumber(dst, v)
	}
	return v.MarshalTo(dst)
}

// appendNumber appends a number as it was written; fastjson also takes "nan",
// "+1" and "1.2.3" for numbers, which become null.
func appendNumber(dst []byte, v *fastjson.Value) []byte {
	start := len(dst)
	dst = v.MarshalTo(dst)
	if fastjson.ValidateBytes(dst[start:]) != nil {
		dst = append(dst[:start], "null"...)
	}
	return dst
}

// ParseMessage reads what AppendMessage writes, and the messages of other
// programs that keep the chat-completions form: content may be null or a list
// of text parts, arguments an object. An unknown role is an error. Nothing of
// the result points into v.
func ParseMessage(v *fastjson.Value) (Message, error) {
	if v.Type() != fastjson.TypeObject {
		return Message{}, errors.New("message is not an object")
	}
	m := Message{Role: Role(v.GetStringBytes("role")), Content: contentText(v.Get("content"))}
	switch m.Role {
	case System:
	case User:
		m.Notice = v.GetBool("notice")
		for _, im := range v.GetArray("images") {
			m.Images = append(m.Images, Image{
				Path: text(im.Get("path")), Size: im.GetInt64("size"), Hash: text(im.Get("hash")), MIME: text(im.Get("mime")),
			})
		}
	case Assistant:
		parseThinking(&m, v)
		for _, c := range v.GetArray("tool_calls") {
			m.ToolCalls = append(m.ToolCalls, parseCall(c))
		}
	case Tool:
		m.ToolCallID = text(v.Get("tool_call_id"))
	default:
		return Message{}, fmt.Errorf("unknown role \"%s\"", EscapeText(string(m.Role), 40))
	}
	return m, nil
}

func parseThinking(m *Message, v *fastjson.Value) {
	for _, key := range []string{reasoningContent, reasoningShort} {
		if r := v.Get(key); r != nil && r.Type() == fastjson.TypeString {
			m.Reasoning, m.ReasoningKey = text(r), key
			break
		}
	}
	if r := v.Get(reasoningNone); m.ReasoningKey == "" && r != nil && r.Type() == fastjson.TypeString {
		m.Reasoning = text(r)
	}
	if d := v.Get("reasoning_details"); d != nil && d.Type() == fastjson.TypeArray {
		m.Details = string(AppendValue(nil, d))
	}
	m.Host = string(v.GetStringBytes("host"))
}

func parseCall(v *fastjson.Value) ToolCall {
	c := ToolCall{
		ID:   text(v.Get("id")),
		Name: text(v.Get("function", "name")),
		Args: text(v.Get("function", "arguments")),
	}
	extra := []byte{'{'}
	v.GetObject().Visit(func(k []byte, v *fastjson.Value) {
		if !isCallKey(string(k)) {
			extra = AppendValue(jsonenc.AppendKey(extra, string(k)), v)
		}
	})
	if len(extra) > 1 {
		c.Extra = string(append(extra, '}'))
	}
	return c
}

// text is a string's text, the JSON text of any other value, and nothing for
// null or a missing one.
func text(v *fastjson.Value) string {
	if v == nil || v.Type() == fastjson.TypeNull {
		return ""
	}
	if v.Type() == fastjson.TypeString {
		return string(v.GetStringBytes())
	}
	return string(AppendValue(nil, v))
}

// contentText is the text of a message's content: a string, or the text parts
// of a list put together.
func contentText(v *fastjson.Value) string {
	if v == nil || v.Type() != fastjson.TypeArray {
		return text(v)
	}
	var b strings.Builder
	for _, part := range v.GetArray() {
		if part.Type() == fastjson.TypeString {
			b.Write(part.GetStringBytes())
			continue
		}
		b.Write(part.GetStringBytes("text"))
	}
	return b.String()
}
