package store

import (
	"fmt"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// Endpoint is a model and where it is reached. Main says that this is the host
// of the configured base URL, for which what was configured for that host holds
// too: headers, further members of the body, the key.
type Endpoint struct {
	Model, BaseURL, Key string
	Main                bool
}

// Fallback are the endpoints to try when the first has failed, in their order.
// Each gets the key that its own entry or the variable of its host names; none
// of those that are meant for another host.
func (c *Config) Fallback(p Place) ([]Endpoint, error) {
	list, err := fastjson.Parse(c.values["fallback"].json)
	if err != nil {
		return nil, nil
	}
	var all []Endpoint
	for i, v := range list.GetArray() {
		e := Endpoint{Model: string(v.GetStringBytes("model"))}
		var at Config
		putURL(&at, v.Get("base_url"))
		e.BaseURL = at.BaseURL
		e.Main = hostOf(e.BaseURL) == hostOf(c.BaseURL)
		for _, name := range []string{string(v.GetStringBytes("api_key_env")), hostKey(e.BaseURL)} {
			if name == "" || e.Key != "" {
				continue
			}
			if e.Key, err = screen(p.Getenv(name)); err != nil {
				return nil, fmt.Errorf("fallback, entry %d: key from %s: %w", i+1, chat.EscapeText(name, maxQuoted), err)
			}
		}
		all = append(all, e)
	}
	return all, nil
}

// ModelNames are the names of the models object, in its order.
func (c *Config) ModelNames() []string {
	names := make([]string, len(c.models))
	for i := range c.models {
		names[i] = c.models[i].name
	}
	return names
}
