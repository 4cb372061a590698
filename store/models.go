package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// model is an entry of the models object: a name for a model, and for where and
// how it is reached. What is not set is as without the entry.
type model struct {
	name    string
	id      string
	baseURL string
	keyEnv  string
	window  int
	think   *bool
}

// endpointMembers are the members of an entry of models and fallback.
var endpointMembers = []string{"model", "base_url", "api_key_env", "context_limit", "thinking"}

// checkEndpoint approves of {model, base_url, api_key_env} and, in models,
// {context_limit, thinking}.
func checkEndpoint(where string, v *fastjson.Value, members []string) error {
	if v.Type() != fastjson.TypeObject {
		return fmt.Errorf("must give %s an object", where)
	}
	if v.Get("model") == nil {
		return fmt.Errorf("gives no model for %s", where)
	}
	var fault error
	v.GetObject().Visit(func(k []byte, v *fastjson.Value) {
		if fault == nil {
			fault = checkMember(where, string(k), v, members)
		}
	})
	return fault
}

func checkMember(where, name string, v *fastjson.Value, members []string) error {
	var k kind
	switch name {
	case "model":
		k = textKind("a name", notEmpty)
	case "base_url":
		k = apiKind()
	case "api_key_env":
		k = textKind("the name of an environment variable", isVariable)
	case "context_limit":
		k = intKind(1000, math.MaxInt32)
	case "thinking":
		k = boolKind()
	}
	if !slices.Contains(members, name) {
		return fmt.Errorf("has no member %q, but %s", chat.EscapeText(name, 60), strings.Join(members, ", "))
	}
	if err := k.verify(v); err != nil {
		return fmt.Errorf("is wrong for %s: %s %w", where, name, err)
	}
	return nil
}

func modelsKind() kind {
	return objectKind("an object of names and objects", func(name string, v *fastjson.Value) error {
		return checkEndpoint("\""+chat.EscapeText(name, 60)+"\"", v, endpointMembers)
	})
}

func fallbackKind() kind {
	return kind{desc: "a list of objects", check: func(v *fastjson.Value) error {
		if v.Type() != fastjson.TypeArray {
			return errKind
		}
		for i, e := range v.GetArray() {
			where := fmt.Sprintf("entry %d", i+1)
			if err := checkEndpoint(where, e, endpointMembers[:3]); err != nil {
				return err
			}
			if e.Get("base_url") == nil {
				return errors.New("gives no base_url for " + where)
			}
		}
		return nil
	}}
}

func putModels(c *Config, v *fastjson.Value) {
	c.models = nil
	v.GetObject().Visit(func(name []byte, v *fastjson.Value) {
		m := model{
			name:    string(name),
			id:      string(v.GetStringBytes("model")),
			baseURL: string(v.GetStringBytes("base_url")),
			keyEnv:  string(v.GetStringBytes("api_key_env")),
			window:  v.GetInt("context_limit"),
		}
		if t := v.Get("thinking"); t != nil {
			on := t.GetBool()
			m.think = &on
		}
		c.models = append(c.models, m)
	})
}

// applyModel puts the entry that the configured model names in force. A value
// given on the command line stays; an entry counts as the user's own setting,
// since only the user's file has any.
func (c *Config) applyModel() {
	c.entry = nil
	for i := range c.models {
		if c.models[i].name == c.Model {
			c.entry = &c.models[i]
		}
	}
	if c.entry == nil {
		return
	}
	e := c.entry
	c.Model = e.id
	if e.baseURL != "" && c.Source("base_url") < TierFlag {
		putURL(c, fastjson.MustParse(quote(e.baseURL)))
		c.overruled = append(c.overruled, "base_url")
	}
	if e.window != 0 && c.Source("context_limit") < TierFlag {
		c.ContextLimit = e.window
		c.overruled = append(c.overruled, "context_limit")
	}
	if e.think != nil && c.Source("thinking") < TierFlag {
		c.Thinking = *e.think
		c.overruled = append(c.overruled, "thinking")
	}
}

// ModelName is the model as another run of the program is told of it: the name
// of the models object that is in force, else the model itself.
func (c *Config) ModelName() string {
	if c.entry != nil && c.entry.id == c.Model {
		return c.entry.name
	}
	return c.Model
}

// OwnAddress says that the address is that of the model's entry, which another
// run finds for itself, with the key that belongs to it.
func (c *Config) OwnAddress() bool { return slices.Contains(c.overruled, "base_url") }
