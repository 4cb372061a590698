package provider

import (
	"fmt"
	"strings"

	"cluade/internal/chat"

	"github.com/valyala/fastjson"
)

// kind is the type of v; a missing value is null.
func kind(v *fastjson.Value) fastjson.Type {
	if v == nil {
		return fastjson.TypeNull
	}
	return v.Type()
}

// text is the string that v holds, "" for anything else. The copy outlives the
// parser's next document.
func text(v *fastjson.Value) string {
	if kind(v) != fastjson.TypeString {
		return ""
	}
	return string(v.GetStringBytes())
}

// scalar is a string or number as text, "" for anything else.
func scalar(v *fastjson.Value) string {
	if kind(v) == fastjson.TypeNumber {
		return string(v.MarshalTo(nil))
	}
	return text(v)
}

// raw is v as JSON text, "" for null and what is missing.
func raw(v *fastjson.Value) string {
	if kind(v) == fastjson.TypeNull {
		return ""
	}
	return string(chat.AppendValue(nil, v))
}

// isObject says whether s is the text of one JSON object, by the letter of RFC
// 8259: servers refuse a history that holds anything else.
func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") && fastjson.Validate(s) == nil
}

// number reads a whole number with thousands separators; -1 is none. What is
// beyond the range of any window counts as none.
func number(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == ',' && i > 0:
		case c < '0' || c > '9' || n > 100_000_000:
			return -1
		default:
			n = n*10 + int(c-'0')
		}
	}
	if s == "" {
		return -1
	}
	return n
}

func errNotObject(what string) error { return fmt.Errorf("%s is not a JSON object", what) }
