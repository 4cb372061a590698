package provider

import (
	"strings"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"

	"github.com/valyala/fastjson"
)

// Small local models, and servers whose parser fails, write their calls into
// the text, each family in its own markup. This file reads those dialects. The
// gates that decide whether text may count as a call are in outlet.recover and
// reply.close.

// openers begin the markup of the dialects.
var openers = []string{
	"<tool_call>", "<function=", // Qwen, Hermes
	"[TOOL_CALLS]",                                 // Mistral
	"<|python_tag|>",                               // Llama
	"<｜DSML｜", "<｜｜DSML｜｜", "<|DSML|", "<||DSML||", // DeepSeek
	"<|tool_calls_section_begin|>", "<|tool_call_begin|>", // Kimi
}

// findMarkup returns where the first opener begins and whether it is whole; an
// opener may be cut by the end of s. Without one it returns len(s). At the
// start of a text a bare object of a call opens too.
func findMarkup(s string, start bool) (at int, whole bool) {
	if start {
		if cut, ok := bareCall(s); ok || cut {
			return 0, ok
		}
	}
	at = len(s)
	for _, o := range openers {
		i := strings.Index(s[:min(len(s), at+len(o))], o)
		if i >= 0 && i < at {
			at, whole = i, true
		}
	}
	if whole {
		return at, true
	}
	for _, o := range openers {
		at = min(at, len(s)-partial(s, o))
	}
	return at, false
}

// bareCall says whether s begins like the object of a call, or is too short to
// tell (cut).
func bareCall(s string) (cut, ok bool) {
	s = strings.TrimLeft(s, " \t\r\n")
	if s == "" {
		return true, false
	}
	if s[0] != '{' {
		return false, false
	}
	rest := strings.TrimLeft(s[1:], " \t\r\n")
	for _, key := range []string{`"name"`, `"type"`, `"function"`, `"parameters"`, `"arguments"`} {
		if strings.HasPrefix(rest, key) {
			return false, true
		}
		cut = cut || strings.HasPrefix(key, rest)
	}
	return cut, false
}

// parseTextCalls reads s, which must be markup to its end, white space aside.
// known maps the names of the tools to their schemas.
func parseTextCalls(s string, known map[string]string) ([]piece, bool) {
	p := textParser{rest: strings.TrimSpace(s), known: known}
	switch {
	case strings.HasPrefix(p.rest, "<tool_call>"), strings.HasPrefix(p.rest, "<function="):
		p.tagged()
	case p.take("[TOOL_CALLS]"):
		p.mistral()
	case p.take("<|python_tag|>"), strings.HasPrefix(p.rest, "{"):
		p.llama()
	case strings.HasPrefix(p.rest, "<|tool_call"):
		p.kimi()
	default:
		p.dsml()
	}
	return p.found, !p.bad && len(p.found) > 0 && p.rest == ""
}

// textParser eats markup from the front of rest. bad is set for good when
// something does not fit.
type textParser struct {
	rest  string
	known map[string]string
	found []piece
	bad   bool
}

// take eats lit and the white space around it.
func (p *textParser) take(lit string) bool {
	s, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " \t\r\n"), lit)
	if ok {
		p.rest = strings.TrimLeft(s, " \t\r\n")
	}
	return ok
}

// until eats everything up to and with lit.
func (p *textParser) until(lit string) string {
	s, rest, ok := strings.Cut(p.rest, lit)
	if !ok {
		p.bad = true
		return ""
	}
	p.rest = rest
	return s
}

// value eats one JSON object or list.
func (p *textParser) value() *fastjson.Value {
	p.rest = strings.TrimLeft(p.rest, " \t\r\n")
	n := jsonEnd(p.rest)
	if n == 0 || !isJSON(p.rest[:n]) {
		p.bad = true
		return nil
	}
	v, err := fastjson.Parse(p.rest[:n])
	if err != nil {
		p.bad = true
		return nil
	}
	p.rest = strings.TrimLeft(p.rest[n:], " \t\r\n")
	return v
}

// call notes a call, if its tool is known and its arguments are an object.
func (p *textParser) call(name, args string) {
	name = strings.TrimSpace(name)
	if _, ok := p.known[name]; !ok || !isObject(args) {
		p.bad = true
		return
	}
	p.found = append(p.found, piece{idx: -1, name: name, args: args})
}

// object notes the call that {"name":..,"arguments":..} stands for.
func (p *textParser) object(v *fastjson.Value) {
	if f := v.Get("function"); kind(f) == fastjson.TypeObject {
		v = f
	}
	args := v.Get("arguments")
	if args == nil {
		args = v.Get("parameters")
	}
	if kind(args) == fastjson.TypeNull && v != nil {
		p.call(text(v.Get("name")), "{}")
		return
	}
	if s := text(args); s != "" { // coded twice
		p.call(text(v.Get("name")), s)
		return
	}
	p.call(text(v.Get("name")), raw(args))
}

// tagged reads <tool_call>{..}</tool_call> and the form with <function=NAME>.
// The closing tag may be missing at the very end: it is the stop word of some
// servers.
func (p *textParser) tagged() {
	for p.rest != "" && !p.bad {
		wrapped := p.take("<tool_call>")
		switch {
		case p.take("<function="):
			p.function()
		case wrapped:
			p.object(p.value())
		default:
			p.bad = true
		}
		if !p.take("</tool_call>") && wrapped && p.rest != "" {
			p.bad = true
		}
	}
}

func (p *textParser) function() {
	name := strings.TrimSpace(p.until(">"))
	args := arguments{schema: p.known[name]}
	for p.take("<parameter=") && !p.bad {
		key := strings.TrimSpace(p.until(">"))
		args.add(key, trimLine(p.until("</parameter>")))
	}
	if !p.take("</function>") {
		p.bad = true
	}
	p.call(name, args.json())
}

// mistral reads [TOOL_CALLS][{..},..] and [TOOL_CALLS]name{..}, the second also
// with [ARGS] and repeated.
func (p *textParser) mistral() {
	if strings.HasPrefix(p.rest, "[") {
		for _, v := range p.value().GetArray() {
			p.object(v)
		}
		return
	}
	for p.rest != "" && !p.bad {
		i := strings.IndexByte(p.rest, '{')
		if i < 0 {
			p.bad = true
			return
		}
		name, _, _ := strings.Cut(p.rest[:i], "[")
		p.rest = p.rest[i:]
		p.call(name, raw(p.value()))
		if !p.take("[TOOL_CALLS]") && p.rest != "" {
			p.bad = true
		}
	}
}

// llama reads objects one after the other. A bare one has to look like a call
// and nothing else.
func (p *textParser) llama() {
	for p.rest != "" && !p.bad {
		v := p.value()
		v.GetObject().Visit(func(k []byte, _ *fastjson.Value) {
			switch string(k) {
			case "name", "parameters", "arguments", "type", "function", "id":
			default:
				p.bad = true
			}
		})
		p.bad = p.bad || !v.Exists("arguments") && !v.Exists("parameters") && !v.Exists("function")
		if !p.bad {
			p.object(v)
		}
		for p.take(";") || p.take("<|eom_id|>") || p.take("<|eot_id|>") {
		}
	}
}

// kimi reads <|tool_call_begin|>functions.NAME:N<|tool_call_argument_begin|>{..}
// with or without the marks of the section around.
func (p *textParser) kimi() {
	p.take("<|tool_calls_section_begin|>")
	for p.take("<|tool_call_begin|>") && !p.bad {
		name := strings.TrimPrefix(strings.TrimSpace(p.until("<|tool_call_argument_begin|>")), "functions.")
		name, _, _ = strings.Cut(name, ":")
		p.call(name, raw(p.value()))
		p.take("<|tool_call_end|>")
	}
	p.take("<|tool_calls_section_end|>")
}

// dsml reads DeepSeek's markup, with bars of either width, one or two.
func (p *textParser) dsml() {
	for _, bars := range []string{"｜｜", "｜", "||", "|"} {
		p.rest = strings.ReplaceAll(p.rest, "<"+bars+"DSML"+bars, "<DSML ")
		p.rest = strings.ReplaceAll(p.rest, "</"+bars+"DSML"+bars, "</DSML ")
	}
	group := ""
	for _, g := range []string{"tool_calls", "function_calls"} {
		if p.take("<DSML " + g + ">") {
			group = g
		}
	}
	for p.take(`<DSML invoke name="`) && !p.bad {
		name := p.until(`">`)
		args := arguments{schema: p.known[name]}
		for p.take(`<DSML parameter name="`) && !p.bad {
			key := p.until(`"`)
			attr := p.until(">")
			val := p.until("</DSML parameter>")
			if strings.Contains(attr, `string="false"`) {
				args.addRaw(key, val)
			} else if strings.Contains(attr, `string="true"`) {
				args.addText(key, val)
			} else {
				args.add(key, val)
			}
		}
		if !p.take("</DSML invoke>") {
			p.bad = true
		}
		p.call(name, args.json())
	}
	if group != "" {
		p.take("</DSML " + group + ">")
	}
}

// arguments collects parameters that came as text into an object. The schema
// tells which of them are no strings.
type arguments struct {
	schema string
	buf    []byte
}

func (a *arguments) add(key, val string) {
	if v, err := fastjson.Parse(a.schema); err == nil {
		if t := text(v.Get("properties", key, "type")); t != "" && t != "string" {
			a.addRaw(key, val)
			return
		}
	}
	a.addText(key, val)
}

func (a *arguments) addRaw(key, val string) {
	val = strings.TrimSpace(val)
	if !isJSON(val) {
		a.addText(key, val)
		return
	}
	a.buf = append(jsonenc.AppendKey(a.start(), key), val...)
}

func (a *arguments) addText(key, val string) {
	a.buf = jsonenc.AppendString(jsonenc.AppendKey(a.start(), key), val)
}

func (a *arguments) start() []byte {
	if a.buf == nil {
		a.buf = []byte{'{'}
	}
	return a.buf
}

func (a *arguments) json() string { return string(append(a.start(), '}')) }

// trimLine takes off the line ends that the markup puts around a value.
func trimLine(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, "\n"), "\n")
}

// jsonEnd is the length of the object or list at the start of s, 0 if it does
// not end.
func jsonEnd(s string) int {
	depth, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
			if depth == 0 {
				return 0
			}
		case quoted:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth <= 0 {
				return i + 1
			}
		case depth == 0:
			return 0
		}
	}
	return 0
}

// toolSchemas is the known tools of a request with their schemas.
func toolSchemas(specs []chat.ToolSpec) map[string]string {
	m := make(map[string]string, len(specs))
	for _, t := range specs {
		m[t.Name] = t.Params
	}
	return m
}
