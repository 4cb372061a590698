package loopdetect

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/valyala/fastjson"
)

// maxCanonical is the longest text that is brought into the canonical form: the
// parser takes a hundred times as much memory. A model that repeats itself at
// such length does so to the letter.
const maxCanonical = 64 << 10

// Signature is the identity of a call: the tool's name, a NUL, and the
// arguments in one canonical form, in which key order, white space and the
// spelling of strings make no difference while array order and the spelling of
// numbers do. Arguments that are not JSON, or very long, stand as they are.
func Signature(name, args string) string {
	return name + "\x00" + canonical(args)
}

func canonical(args string) string {
	if len(args) > maxCanonical {
		return args
	}
	var p fastjson.Parser
	// Parse refuses deep nesting but is lax about numbers and control
	// characters; Validate is strict but recurses without a limit. In this
	// order each covers the other.
	v, err := p.Parse(args)
	if err != nil || fastjson.Validate(args) != nil {
		return args
	}
	return string(appendValue(nil, v))
}

func appendValue(dst []byte, v *fastjson.Value) []byte {
	switch v.Type() {
	case fastjson.TypeObject:
		return appendObject(dst, v.GetObject())
	case fastjson.TypeArray:
		dst = append(dst, '[')
		for i, e := range v.GetArray() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, e)
		}
		return append(dst, ']')
	case fastjson.TypeString:
		return appendString(dst, v.GetStringBytes())
	}
	return v.MarshalTo(dst)
}

func appendObject(dst []byte, o *fastjson.Object) []byte {
	type member struct {
		key []byte
		at  int
		v   *fastjson.Value
	}
	var members []*member
	o.Visit(func(key []byte, v *fastjson.Value) { members = append(members, &member{key, len(members), v}) })
	slices.SortFunc(members, func(a, b *member) int {
		if c := bytes.Compare(a.key, b.key); c != 0 {
			return c
		}
		return a.at - b.at // a key that stands twice is told apart by its order
	})
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, m.key), ':')
		dst = appendValue(dst, m.v)
	}
	return append(dst, '}')
}

// appendString writes s so that different strings stay different. The form is
// Go's, which equals JSON's wherever a person would read it.
func appendString(dst, s []byte) []byte { return strconv.AppendQuote(dst, string(s)) }
