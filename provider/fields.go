package provider

import (
	"strconv"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"

	"github.com/valyala/fastjson"
)

// field is one member of a request, its value as JSON text.
type field struct{ key, value string }

// learnt is what a host and a model have taught by refusing requests. It holds
// as long as the process lives.
type learnt struct {
	drop       []string // fields that are refused
	effort     string   // the effort that is taken, "" if none was refused
	maxField   string   // the right name of max_tokens, "" for the row's
	maxTokens  int      // the most it may be, 0 for what was set
	stripped   bool     // no thinking in the history
	added      int      // thinking is missed in the history: 1 empty, 2 a blank
	emptyText  bool     // "" in place of null beside calls
	noImages   bool
	plain      bool // no streams
	window     int  // in tokens, 0 if unknown
	windowFrom string
	progress   bool // llama.cpp, which tells how far it is with the prompt
	overWarned bool // Ollama's silent cut was told
	looseTag   bool // the last reply had thinking that no tag opened
}

func (l *learnt) dropped(key string) bool {
	for _, k := range l.drop {
		if k == key {
			return true
		}
	}
	return false
}

// fieldsAfterTools are the members behind the tools, in their order.
func (c *Client) fieldsAfterTools(tools bool) []field {
	l := c.learnt()
	effort := c.effort(tools)
	out := c.thinkingSwitch(effort)
	if effort != "" && c.quirks.Switch != switchObject {
		out = append(out, field{"reasoning_effort", quote(effort)})
	}
	if name, n := c.maxTokens(); name != "" && n > 0 {
		out = append(out, field{name, strconv.Itoa(n)})
	}
	if c.streams() {
		out = append(out, field{"stream", "true"})
		if c.quirks.Usage {
			out = append(out, field{"stream_options", `{"include_usage":true}`})
		}
		if l.progress {
			out = append(out, field{"return_progress", "true"})
		}
	}
	return c.merge(out)
}

// merge lets the user's own members take the place of ours and leaves out, or
// changes, what is refused, the user's own too.
func (c *Client) merge(fields []field) []field {
	l := c.learnt()
	var out []field
	for _, f := range fields {
		if valueOf(c.extra, f.key) == "" && !l.dropped(f.key) {
			out = append(out, f)
		}
	}
	for _, f := range c.extra {
		if f = l.adapt(f); !l.dropped(f.key) {
			out = append(out, f)
		}
	}
	return out
}

// adapt applies to a member of the user's what ours are made by.
func (l *learnt) adapt(f field) field {
	switch {
	case f.key == "reasoning_effort" && l.effort != "":
		f.value = quote(l.effort)
	case isMax(f.key):
		if l.maxField != "" {
			f.key = l.maxField
		}
		if n := number(f.value); l.maxTokens > 0 && n > l.maxTokens {
			f.value = strconv.Itoa(l.maxTokens)
		}
	}
	return f
}

// streams says whether a stream is asked for.
func (c *Client) streams() bool { return c.o.Stream && !c.learnt().plain }

// effort is the value of reasoning_effort, "" to send none.
func (c *Client) effort(tools bool) string {
	l, q, model := c.learnt(), &c.quirks, c.o.Model
	switch {
	case l.effort == "none", l.effort != "" && c.thinks():
		return l.effort
	case tools && matchAny(q.EffortTool, bareModel(model)):
		return "none"
	case !c.thinks():
		if c.o.ThinkingSet && q.EffortOff != "" && c.takesOff() {
			return q.EffortOff
		}
		return ""
	case c.o.EffortSet && c.o.Effort != "":
		return q.effortFor(model, c.o.Effort)
	case q.EffortDef != "":
		if c.o.Effort != "" {
			return c.o.Effort
		}
		return q.EffortDef
	}
	return ""
}

// takesOff says whether the model takes the effort that turns thinking off.
func (c *Client) takesOff() bool {
	model := bareModel(c.o.Model)
	for _, e := range c.quirks.Effort {
		if matchAny(e.models, model) {
			return e.values == "" && e.models == anyModel && c.quirks.Local || strings.Contains(" "+e.values+" ", " "+c.quirks.EffortOff+" ")
		}
	}
	return false
}

func (c *Client) thinks() bool { return c.o.Thinking || !c.o.ThinkingSet }

// thinkingSwitch is the member that turns thinking on or off.
func (c *Client) thinkingSwitch(effort string) []field {
	q, on := &c.quirks, c.thinks()
	if q.SwitchIfSet && !c.o.ThinkingSet || q.SwitchModels != "" && !matchAny(q.SwitchModels, bareModel(c.o.Model)) {
		return nil
	}
	word := "enabled"
	if !on {
		word = "disabled"
	}
	switch q.Switch {
	case switchType:
		return []field{{"thinking", `{"type":"` + word + `"}`}}
	case switchOn:
		if on {
			return []field{{"thinking", `{"type":"enabled"}`}}
		}
	case switchKeep:
		return []field{{"thinking", `{"type":"` + word + `","clear_thinking":false}`}}
	case switchObject:
		v := `{"enabled":` + strconv.FormatBool(on)
		if on && effort != "" {
			v += `,"effort":` + quote(effort)
		}
		return []field{{"reasoning", v + "}"}}
	case switchBool:
		return []field{{"enable_thinking", strconv.FormatBool(on)}}
	case switchSplit:
		return []field{{"reasoning_split", "true"}}
	case switchBudget:
		if on {
			return []field{{"thinking", `{"type":"enabled","budget_tokens":` + strconv.Itoa(c.budget()) + "}"}}
		}
	}
	return nil
}

// budget is what thinking may cost in tokens, by the effort. It has to stay
// below max_tokens.
func (c *Client) budget() int {
	n := 16000
	switch c.o.Effort {
	case "low", "minimal":
		n = 4000
	case "medium":
		n = 8000
	}
	if _, most := c.maxTokens(); most > 0 && n >= most {
		n = max(most/2, 1024)
	}
	return n
}

// maxTokens is the name and the value of the limit on the output; no name
// sends none.
func (c *Client) maxTokens() (name string, n int) {
	l, q := c.learnt(), &c.quirks
	name = q.MaxField
	if l.maxField != "" {
		name = l.maxField
	}
	switch {
	case c.o.MaxTokensSet, q.MaxDef == -1:
		n = c.o.MaxTokens
		if n <= 0 && q.MaxDef == -1 {
			n = 131072
		}
	default:
		n = q.MaxDef
	}
	if l.maxTokens > 0 && n > l.maxTokens {
		n = l.maxTokens
	}
	return name, n
}

func quote(s string) string { return string(jsonenc.AppendString(nil, s)) }

// parseExtra reads the object that is merged into the request. What says who
// is asked what cannot be replaced by it.
func parseExtra(s string) ([]field, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	v, err := fastjson.Parse(s)
	if err != nil || v.Type() != fastjson.TypeObject {
		return nil, errNotObject("extra_body")
	}
	var out []field
	v.GetObject().Visit(func(k []byte, v *fastjson.Value) {
		switch string(k) {
		case "model", "messages", "tools", "stream":
			return
		}
		out = append(out, field{string(k), string(chat.AppendValue(nil, v))})
	})
	return out, nil
}
