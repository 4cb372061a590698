package provider

import (
	"crypto/rand"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"

	"github.com/valyala/fastjson"
)

// maxCalls bounds the calls of one reply.
const maxCalls = 256

// calls puts the calls of a streamed reply together from their pieces. Servers
// disagree about every field of a piece: the index is missing, or 0 for all
// calls; ids and names are missing, empty, repeated or changed on the way. The
// rules in slotFor sort out all shapes that were seen.
type calls struct {
	list []*call
	slot map[int]*call // by the server's index: the call last opened there
	last *call         // the call last opened
}

type call struct {
	id, name string
	args     strings.Builder
	extra    []byte // further members of the call, an object without its brace
}

// piece is what one delta says of a call. idx is -1 if it names none.
type piece struct {
	idx            int
	id, name, args string
	extra          []byte
}

func parsePiece(v *fastjson.Value) piece {
	p := piece{idx: -1, id: text(v.Get("id")), name: strings.TrimSpace(text(v.Get("function", "name")))}
	if i := v.Get("index"); kind(i) == fastjson.TypeNumber {
		if n, err := i.Int(); err == nil && n >= 0 {
			p.idx = n
		}
	}
	p.args = argsText(v.Get("function", "arguments"))
	if o, err := v.Object(); err == nil {
		o.Visit(func(k []byte, v *fastjson.Value) {
			switch string(k) {
			case "id", "type", "index", "function":
				return
			}
			if kind(v) != fastjson.TypeNull {
				p.extra = chat.AppendValue(jsonenc.AppendKey(p.extra, string(k)), v)
			}
		})
	}
	return p
}

// argsText is arguments as text, in whatever form they came. An empty object
// says as little as an empty string; as an opening piece it must not be glued
// to those that follow.
func argsText(v *fastjson.Value) string {
	if kind(v) == fastjson.TypeString {
		return text(v)
	}
	if s := raw(v); s != "{}" {
		return s
	}
	return ""
}

// add takes one piece in.
func (cs *calls) add(p piece) {
	c := cs.slotFor(p)
	if c == nil {
		return
	}
	if c.id == "" {
		c.id = p.id
	}
	if c.name == "" {
		c.name = p.name
	}
	c.args.WriteString(p.args)
	if len(p.extra) > 0 && len(c.extra) == 0 {
		c.extra = p.extra
	}
}

// addWhole takes a call of a plain reply, where each stands alone.
func (cs *calls) addWhole(p piece) {
	if c := cs.open(p.idx); c != nil {
		c.id, c.name, c.extra = p.id, p.name, p.extra
		c.args.WriteString(p.args)
	}
}

// slotFor finds the call that a piece belongs to, or opens a new one.
func (cs *calls) slotFor(p piece) *call {
	if p.id == "" && p.name == "" && strings.TrimSpace(p.args) == "" && len(p.extra) == 0 {
		// It opens nothing. In an open call blanks may stand in a string.
		if c := cs.slot[p.idx]; c != nil && p.idx >= 0 {
			return c
		}
		return cs.last
	}
	if p.idx < 0 {
		return cs.withoutIndex(p)
	}
	c := cs.slot[p.idx]
	if c == nil {
		return cs.newIndex(p)
	}
	switch {
	case p.name == "" || p.id != "" && p.id == c.id:
		return c
	case p.id != "" && c.id != "", c.full() && isObject(p.args):
		return cs.open(p.idx)
	}
	return c
}

func (cs *calls) newIndex(p piece) *call {
	switch c := cs.byID(p.id); {
	case c != nil && p.name == "":
		return c
	case p.id != "" || p.name != "" || cs.last == nil:
		return cs.open(p.idx)
	}
	return cs.last
}

func (cs *calls) withoutIndex(p piece) *call {
	switch c := cs.byID(p.id); {
	case c != nil && !(p.name != "" && c.full() && isObject(p.args)):
		return c
	case p.id != "":
		return cs.open(-1)
	case p.name != "" && cs.last != nil && cs.last.name == p.name && !cs.last.full():
		return cs.last
	case p.name != "" || cs.last == nil:
		return cs.open(-1)
	}
	return cs.last
}

// byID is the newest call with that id, nil if there is none.
func (cs *calls) byID(id string) *call {
	for i := len(cs.list) - 1; id != "" && i >= 0; i-- {
		if cs.list[i].id == id {
			return cs.list[i]
		}
	}
	return nil
}

func (cs *calls) open(idx int) *call {
	if len(cs.list) >= maxCalls {
		return nil
	}
	c := &call{}
	cs.list = append(cs.list, c)
	cs.last = c
	if idx >= 0 {
		if cs.slot == nil {
			cs.slot = map[int]*call{}
		}
		cs.slot[idx] = c
	}
	return c
}

// full says whether the arguments are already one whole object.
func (c *call) full() bool { return isObject(c.args.String()) }

// finish returns the calls. used says which ids stand for other calls of the
// conversation; an empty or repeated id is replaced. Empty arguments are none.
// A call that never got a name cannot be answered by any tool and is dropped.
func (cs *calls) finish(used func(id string) bool) []chat.ToolCall {
	var out []chat.ToolCall
	seen := map[string]bool{}
	for _, c := range cs.list {
		t := chat.ToolCall{ID: c.id, Name: c.name, Args: c.args.String()}
		if t.Name == "" {
			continue
		}
		if strings.TrimSpace(t.Args) == "" {
			t.Args = "{}"
		}
		for t.ID == "" || seen[t.ID] || used(t.ID) {
			t.ID = newID()
		}
		seen[t.ID] = true
		if len(c.extra) > 0 {
			t.Extra = "{" + string(c.extra) + "}"
		}
		out = append(out, t)
	}
	return out
}

// newID makes an id that every server takes: nine letters and digits, the only
// form that Mistral accepts.
func newID() string { return rand.Text()[:9] }
