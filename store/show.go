package store

import (
	"slices"
	"strconv"
	"strings"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// Shown is a key as a person may see it. Value is JSON text, "" where there is
// none, with *** in the place of secrets; From says who set it; Overruled are the
// values that it took the place of, with theirs. All texts are escaped.
type Shown struct {
	Key, Value, From string
	Set              bool // by anybody
	Overruled        []string
}

// Files are the user's and the project's configuration file, "" for one that
// cannot be; there says whether it exists.
func (p Place) Files() (user, project string) {
	if p.State != "" {
		user = p.userFile()
	}
	if project = p.projectFile(); sameFile(user, project) {
		project = ""
	}
	return user, project
}

// Show lists the keys in the order of the manual.
func (c *Config) Show() (list []Shown) {
	for _, k := range keys(new(Config)) {
		if k.name != anyTool {
			list = append(list, c.show(&k))
			continue
		}
		for _, t := range toolNames {
			if k := levelKey(t.name, ""); c.values[k.name].json != "" {
				list = append(list, c.show(k))
			}
		}
	}
	return list
}

func (c *Config) show(k *key) Shown {
	s := c.values[k.name]
	out := Shown{Key: k.name, Value: visible(k, s.json), From: s.from(), Set: s.tier > TierDefault}
	for o := s.over; o != nil; o = o.over {
		out.Overruled = append(out.Overruled, visible(k, o.json)+" ("+o.from()+")")
	}
	if slices.Contains(c.overruled, k.name) {
		if s.json != "" && out.Set {
			out.Overruled = append(out.Overruled, out.Value+" ("+out.From+")")
		}
		out.Set, out.From = true, "models."+chat.EscapeText(c.entry.name, 60)
		switch k.name {
		case "base_url":
			out.Value = chat.EscapeText(quote(c.BaseURL), maxQuoted)
		case "context_limit":
			out.Value = strconv.Itoa(c.ContextLimit)
		case "thinking":
			out.Value = strconv.FormatBool(c.Thinking)
		}
	}
	return out
}

// visible is a value as it may be shown. Of an object that others look into only
// the names are: any of its values may be a secret.
func visible(k *key, text string) string {
	switch {
	case text == "" || text == `""` || text == "{}":
		return text
	case k.name == "extra_body" || k.name == "mcpServers" || k.name == "headers":
		var names []string
		fastjson.MustParse(text).GetObject().Visit(func(name []byte, _ *fastjson.Value) {
			names = append(names, quote(string(name))+": ***")
		})
		text = "{" + strings.Join(names, ", ") + "}"
	case k.kind.secret:
		return "***"
	}
	return chat.EscapeText(text, maxQuoted)
}

// from says who set a value.
func (s setting) from() string {
	switch s.tier {
	case TierUser, TierProject:
		return chat.EscapeText(s.file, maxQuoted)
	case TierEnv:
		return "environment"
	case TierFlag:
		return "this run"
	}
	return "default"
}
