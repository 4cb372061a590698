package provider

import (
	"cluade/internal/chat"
	"cluade/internal/jsonenc"

	"github.com/valyala/fastjson"
)

// details merges the pieces of OpenRouter's reasoning_details: those with the
// same index and type are one block, of which text, summary and data arrive
// bit by bit and all else, the signature too, as a whole. A block changed in
// any other way is refused when it is sent back.
type details struct {
	blocks []*block
}

type block struct {
	index, kind string
	keys        []string // members in the order of their arrival
	values      map[string][]byte
	text        map[string]bool // those kept as text and not as JSON
}

// add takes the list of one delta in and returns what it adds to the readable
// thinking.
func (d *details) add(v *fastjson.Value) string {
	var readable []byte
	for _, p := range v.GetArray() {
		if kind(p) != fastjson.TypeObject {
			continue
		}
		b := d.blockFor(p)
		p.GetObject().Visit(func(k []byte, v *fastjson.Value) { b.set(string(k), v) })
		readable = append(readable, text(p.Get("text"))...)
		readable = append(readable, text(p.Get("summary"))...)
	}
	return string(readable)
}

// blockFor finds the block that a piece goes on with. A piece without an index
// goes on with the last one of its type, but sealed data is always its own.
func (d *details) blockFor(p *fastjson.Value) *block {
	index, typ := scalar(p.Get("index")), text(p.Get("type"))
	if n := len(d.blocks); index == "" && n > 0 && d.blocks[n-1].kind == typ && !p.Exists("data") {
		return d.blocks[n-1]
	}
	for _, b := range d.blocks {
		if index != "" && b.index == index && b.kind == typ {
			return b
		}
	}
	b := &block{index: index, kind: typ, values: map[string][]byte{}, text: map[string]bool{}}
	d.blocks = append(d.blocks, b)
	return b
}

func (b *block) set(key string, v *fastjson.Value) {
	old, known := b.values[key]
	grows := key == "text" || key == "summary" || key == "data"
	switch {
	case kind(v) == fastjson.TypeNull && known:
		return
	case grows && kind(v) == fastjson.TypeString:
		if !b.text[key] { // null until now
			old = nil
		}
		b.values[key], b.text[key] = append(old, v.GetStringBytes()...), true
	default:
		b.values[key], b.text[key] = chat.AppendValue(nil, v), false
	}
	if !known {
		b.keys = append(b.keys, key)
	}
}

// json is the merged list, "" if there is none.
func (d *details) json() string {
	if len(d.blocks) == 0 {
		return ""
	}
	out := []byte{'['}
	for i, b := range d.blocks {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, '{')
		for _, k := range b.keys {
			out = jsonenc.AppendKey(out, k)
			if b.text[k] {
				out = jsonenc.AppendString(out, string(b.values[k]))
			} else {
				out = append(out, b.values[k]...)
			}
		}
		out = append(out, '}')
	}
	return string(append(out, ']'))
}
