package store

import (
	"strings"
	"time"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// assign stores a value that was approved by the key's kind. k is of the list
// that was made for c.
func (k *key) assign(c *Config, v *fastjson.Value) {
	if k.put != nil {
		k.put(c, v)
		return
	}
	switch to := k.to.(type) {
	case *string:
		switch {
		case !k.kind.text:
			*to = string(chat.AppendValue(nil, v))
			if *to == "{}" {
				*to = ""
			}
		case k.kind.path:
			*to = expandHome(string(v.GetStringBytes()), c.home)
		default:
			*to = strings.TrimSpace(string(v.GetStringBytes()))
		}
	case *int:
		*to = v.GetInt()
	case *bool:
		*to = v.GetBool()
	case *float64:
		*to = v.GetFloat64()
	case *time.Duration:
		*to, _ = durationOf(v)
	case *[]string:
		*to = stringsOf(v)
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
