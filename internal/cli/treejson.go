package cli

import (
	"strings"

	"cluade/internal/jsonenc"
)

// object is a JSON object while it is written, on one line.
type object struct{ text []byte }

// texts adds members, each a key and its text.
func (o *object) texts(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		o.key(pairs[i])
		o.text = jsonenc.AppendString(o.text, pairs[i+1])
	}
}

// counts adds numbers under the keys, which are words.
func (o *object) counts(keys string, numbers ...int) {
	for i, key := range strings.Fields(keys) {
		o.key(key)
		o.text = jsonenc.AppendInt(o.text, int64(numbers[i]))
	}
}

func (o *object) flag(key string, is bool) {
	o.key(key)
	o.text = jsonenc.AppendBool(o.text, is)
}

// list adds an array of texts.
func (o *object) list(key string, texts []string) {
	o.key(key)
	o.text = append(o.text, '[')
	for i, s := range texts {
		if i > 0 {
			o.text = append(o.text, ',')
		}
		o.text = jsonenc.AppendString(o.text, s)
	}
	o.text = append(o.text, ']')
}

// raw adds a value that is JSON already.
func (o *object) raw(key, value string) {
	o.key(key)
	o.text = append(o.text, value...)
}

func (o *object) key(key string) {
	if o.text == nil {
		o.text = append(o.text, '{')
	}
	o.text = jsonenc.AppendKey(o.text, key)
}

// String is the whole object.
func (o *object) String() string { return string(o.text) + "}" }
