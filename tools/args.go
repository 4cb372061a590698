package tools

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"cluade/internal/policy"
)

// Args are the checked arguments of one call.
type Args struct {
	vals    map[string]any // string, int64, float64 or bool; objects and arrays are only checked
	raw     string         // the JSON text as the model wrote it
	subject policy.Subject // as it was judged, so that this and nothing else is opened
	planned *change        // what Preview worked out for Run to carry out; not nil after Parse
}

// Text is a string argument, "" when it was not given.
func (a *Args) Text(name string) string {
	s, _ := a.vals[name].(string)
	return s
}

// Int is an integer argument, 0 when it was not given.
func (a *Args) Int(name string) int64 {
	n, _ := a.vals[name].(int64)
	return n
}

// Bool is a boolean argument, false when it was not given.
func (a *Args) Bool(name string) bool {
	b, _ := a.vals[name].(bool)
	return b
}

// Has says whether an argument was given. A null counts as not given.
func (a *Args) Has(name string) bool {
	_, ok := a.vals[name]
	return ok
}

// parseArgs reads the arguments of a call and checks them against the tool's
// schema. Blank text is an object without members: that is how several servers
// send a call that has no arguments.
func parseArgs(params, text string) (*Args, error) {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	if values(text) > maxValues {
		return nil, fmt.Errorf("arguments hold more than %d values", maxValues)
	}
	// The parser limits the depth but overlooks control characters and odd
	// numbers; Validate is strict but recurses without limit. Hence both, in
	// this order.
	v, err := fastjson.Parse(text)
	if err == nil {
		err = fastjson.Validate(text)
	}
	if err != nil {
		reason := strings.TrimPrefix(err.Error(), "cannot parse JSON: ")
		return nil, fmt.Errorf("arguments are not valid JSON: %s", cutText(reason, 300))
	}
	obj, err := v.Object()
	if err != nil {
		return nil, fmt.Errorf("arguments must be a JSON object, not %s", typeName(v))
	}
	if key, twice := repeatedKey(v); twice {
		return nil, fmt.Errorf("arguments name %q twice; say it once", key)
	}
	if half := halfCharacter(text); half != "" {
		return nil, fmt.Errorf("arguments hold %s, which is half of a character (a surrogate without its other half); write the whole", half)
	}
	vals, err := checkArgs(params, obj)
	if err != nil {
		return nil, err
	}
	return &Args{vals: vals, raw: text, planned: new(change)}, nil
}

// halfCharacter finds the escape of a surrogate that has no partner in valid
// JSON text. It means no character (RFC 8259, section 8.2), so that every parser
// makes something else of it; this one would leave the escape as text.
func halfCharacter(text string) string {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		switch half := surrogate(text[i:]); {
		case half == 0:
			i++ // what is escaped begins nothing
		case half == 'c' && surrogate(text[i+6:]) == 'd':
			i += 11
		default:
			return text[i : i+6]
		}
	}
	return ""
}

// surrogate says whether a text begins with the escape of the first half of a
// pair ('c'), of the second ('d') or of none (0).
func surrogate(text string) byte {
	if len(text) < 6 || text[1] != 'u' || text[0] != '\\' || text[2]|' ' != 'd' || text[3] < '8' {
		return 0
	}
	if text[3] <= '9' || text[3]|' ' < 'c' {
		return 'c'
	}
	return 'd'
}

// maxValues bounds the arguments of a call: the parser takes two hundred bytes
// for a value, and one reply has room for millions.
const maxValues = 20000

// values counts the values of JSON text, or a few more.
func values(text string) int {
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

// repeatedKey finds a key that stands twice in one object, at any depth: two
// readers of such a text would see two different calls.
func repeatedKey(v *fastjson.Value) (string, bool) {
	var found string
	var twice bool
	look := func(v *fastjson.Value) {
		if !twice {
			found, twice = repeatedKey(v)
		}
	}
	switch v.Type() {
	case fastjson.TypeArray:
		for _, e := range v.GetArray() {
			look(e)
		}
	case fastjson.TypeObject:
		seen := make(map[string]bool)
		v.GetObject().Visit(func(key []byte, e *fastjson.Value) {
			if seen[string(key)] && !twice {
				found, twice = string(key), true
			}
			seen[string(key)] = true
			look(e)
		})
	}
	return found, twice
}

// checkArgs compares the arguments with the top level of a schema: required
// names, types and enumerations. Members that the schema does not name are
// dropped.
func checkArgs(params string, obj *fastjson.Object) (map[string]any, error) {
	schema, err := fastjson.Parse(params)
	if err != nil {
		return nil, errors.New("the schema of this tool is not valid JSON")
	}
	vals := make(map[string]any)
	var extra []string
	obj.Visit(func(k []byte, v *fastjson.Value) {
		key := string(k)
		want := schema.Get("properties", key)
		switch {
		case want == nil:
			extra = append(extra, key)
		case v.Type() != fastjson.TypeNull && err == nil:
			vals[key], err = checkValue(key, want, v)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, r := range schema.GetArray("required") {
		key := string(r.GetStringBytes())
		if _, ok := vals[key]; ok {
			continue
		}
		if len(extra) > 0 {
			return nil, fmt.Errorf("missing required parameter %q (got %q)", key, cutText(strings.Join(extra, ", "), 100))
		}
		return nil, fmt.Errorf("missing required parameter %q", key)
	}
	return vals, nil
}

// checkValue returns the Go value of an argument of the wanted type.
func checkValue(key string, want, v *fastjson.Value) (any, error) {
	typ := string(want.GetStringBytes("type"))
	val, ok := goValue(typ, v)
	if !ok {
		return nil, fmt.Errorf("parameter %q must be %s, not %s", key, withArticle(typ), typeName(v))
	}
	text, isText := val.(string)
	if enum := want.GetArray("enum"); isText && len(enum) > 0 {
		var words []string
		for _, e := range enum {
			words = append(words, string(e.GetStringBytes()))
		}
		if !slices.Contains(words, text) {
			return nil, fmt.Errorf("parameter %q must be one of %s", key, strings.Join(words, ", "))
		}
	}
	return val, nil
}

// goValue converts v to the type that a schema names. A schema without a
// single type name (a list, nothing) accepts everything. 5.0 is an integer:
// JSON has one kind of number and some models write it so.
func goValue(typ string, v *fastjson.Value) (val any, ok bool) {
	switch typ {
	case "string":
		if v.Type() != fastjson.TypeString {
			return nil, false
		}
		return string(v.GetStringBytes()), true
	case "boolean":
		return v.GetBool(), v.Type() == fastjson.TypeTrue || v.Type() == fastjson.TypeFalse
	case "integer":
		const exact = 1 << 53 // beyond it a double no longer holds every integer
		f, err := v.Float64()
		return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= exact
	case "number":
		f, err := v.Float64()
		return f, err == nil
	case "array":
		return nil, v.Type() == fastjson.TypeArray
	case "object":
		return nil, v.Type() == fastjson.TypeObject
	}
	return nil, true
}

func typeName(v *fastjson.Value) string {
	switch t := v.Type(); t {
	case fastjson.TypeTrue, fastjson.TypeFalse:
		return "a boolean"
	case fastjson.TypeNull:
		return "null"
	case fastjson.TypeNumber:
		return "the number " + cutText(v.String(), 40)
	default:
		return withArticle(t.String())
	}
}

func withArticle(noun string) string {
	if noun != "" && strings.Contains("aeiou", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}

// indentJSON lays out valid JSON text for reading, two blanks a level. Strings
// stay as they were written.
func indentJSON(text string) string {
	var b strings.Builder
	depth, quoted := 0, false
	newline := func() { b.WriteString("\n" + strings.Repeat("  ", min(depth, 16))) }
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quoted:
			b.WriteByte(c)
			if c == '\\' && i+1 < len(text) {
				i++
				b.WriteByte(text[i])
			}
			quoted = c != '"'
		case c == '"':
			quoted = true
			b.WriteByte(c)
		case c == '{' || c == '[':
			b.WriteByte(c)
			if rest := strings.TrimLeft(text[i+1:], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				i = len(text) - len(rest)
				b.WriteByte(rest[0])
				continue
			}
			depth++
			newline()
		case c == '}' || c == ']':
			depth = max(depth-1, 0)
			newline()
			b.WriteByte(c)
		case c == ',':
			b.WriteByte(c)
			newline()
		case c == ':':
			b.WriteString(": ")
		case strings.IndexByte(" \t\r\n", c) < 0:
			b.WriteByte(c)
		}
	}
	return b.String()
}
