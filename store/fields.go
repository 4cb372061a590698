package store

import (
	"strings"
	"time"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

func putString(field func(*Config) *string) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) { *field(c) = strings.TrimSpace(string(v.GetStringBytes())) }
}

func putPath(field func(*Config) *string) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) { *field(c) = expandHome(string(v.GetStringBytes()), c.home) }
}

func putInt(field func(*Config) *int) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) { *field(c) = v.GetInt() }
}

func putSeconds(field func(*Config) *time.Duration) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) { *field(c) = time.Duration(v.GetInt()) * time.Second }
}

func putDuration(field func(*Config) *time.Duration) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) { *field(c), _ = durationOf(v) }
}

func putBool(field func(*Config) *bool) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) { *field(c) = v.GetBool() }
}

func putNumber(field func(*Config) *float64) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) { *field(c) = v.GetFloat64() }
}

// putRaw keeps the JSON text; an empty object is none.
func putRaw(field func(*Config) *string) func(*Config, *fastjson.Value) {
	return func(c *Config, v *fastjson.Value) {
		*field(c) = string(chat.AppendValue(nil, v))
		if *field(c) == "{}" {
			*field(c) = ""
		}
	}
}

// putURL takes what people paste too: blanks around it, a slash at the end,
// the whole address of the chat endpoint.
func putURL(c *Config, v *fastjson.Value) {
	u := strings.TrimRight(strings.TrimSpace(string(v.GetStringBytes())), "/")
	c.BaseURL = strings.TrimRight(strings.TrimSuffix(u, "/chat/completions"), "/")
}

func putAuto(c *Config, v *fastjson.Value) {
	c.TextTools = strings.Trim(jsonText(v), `"`)
}

func putHeaders(c *Config, v *fastjson.Value) {
	c.Headers = nil
	v.GetObject().Visit(func(name []byte, v *fastjson.Value) {
		c.Headers = append(c.Headers, [2]string{string(name), string(v.GetStringBytes())})
	})
}

// putTools keeps our names, so that others need not know the foreign ones.
func putTools(c *Config, v *fastjson.Value) {
	c.Tools = []string{}
	for _, s := range stringsOf(v) {
		name, _ := toolName(s)
		c.Tools = append(c.Tools, name)
	}
}
