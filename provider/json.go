package provider

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

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

// maxParsed bounds the values of one document: the parser takes two hundred
// bytes for each, so a few megabytes of a hostile server would fill a router.
const maxParsed = 50_000

var errTooMany = errors.New("too many values")

// parseJSON reads one document with p, or with a parser of its own if p is nil.
func parseJSON(p *fastjson.Parser, b []byte) (*fastjson.Value, error) {
	if chat.CountValues(b) > maxParsed {
		return nil, errTooMany
	}
	if p == nil {
		p = new(fastjson.Parser)
	}
	return p.ParseBytes(b)
}

// isJSON says whether s is JSON by the letter of RFC 8259. The parser limits
// the depth, which Validate does not; Validate is strict, which the parser is
// not.
func isJSON(s string) bool {
	_, err := parseJSON(nil, []byte(s))
	return err == nil && fastjson.Validate(s) == nil
}

// isObject says whether s is the text of one JSON object, by the letter of RFC
// 8259: servers refuse a history that holds anything else.
func isObject(s string) bool {
	return strings.HasPrefix(strings.TrimLeft(s, " \t\r\n"), "{") && isJSON(s)
}

// escapeLen is the length of \uXXXX. The parser leaves one that is half a
// character, a UTF-16 surrogate without the other, as it stands; servers that
// count in UTF-16 send the halves in two events.
const escapeLen = 6

// endsInHalf says whether a string in a document ends in such an escape.
func endsInHalf(doc []byte) bool {
	for {
		i := bytes.IndexByte(doc, '\\')
		if i < 0 || len(doc) < i+escapeLen+1 {
			return false
		}
		if doc[i+escapeLen] == '"' && utf16.IsSurrogate(escaped(string(doc[i:i+escapeLen]))) {
			return true
		}
		doc = doc[i+2:] // what is escaped is no begin of another
	}
}

// escaped is what \uXXXX stands for, 0 if s is something else.
func escaped(s string) rune {
	if len(s) < escapeLen || s[:2] != "\\u" || !isHex(s[2:escapeLen]) {
		return 0
	}
	return rune(hexByte(s[2:])<<8 | hexByte(s[4:]))
}

// joinHalves puts s after half and makes one character of two halves.
func joinHalves(half, s string) string {
	if c := utf16.DecodeRune(escaped(half), escaped(s)); c != utf8.RuneError {
		return string(c) + s[escapeLen:]
	}
	return half + s
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
