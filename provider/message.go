package provider

import (
	"strings"

	"cluade/internal/chat"

	"github.com/valyala/fastjson"
)

// maxMessage bounds what is shown of a server's words.
const maxMessage = 300

// complaint is what a server said in place of a reply.
type complaint struct {
	message string // for a person; not yet cleaned
	code    string // error.code or its like, lower case: a word or a number
	kind    string // error.type or status, lower case
	param   string // the field the server names itself
	words   string // everything said, lower case, to look for wordings
	json    bool
	html    bool
	wait    string  // Google's retryDelay
	window  int     // n_ctx beside the message
	daily   bool    // the quota that ran out is one of a day
	reset   string  // a rate limit header that a relay put into the body
	extra   []field // the user's own members of the request
}

// parseComplaint reads the body of an error reply in any of the known shapes.
func parseComplaint(body []byte) *complaint {
	text := strings.TrimSpace(string(body))
	if strings.HasPrefix(text, "<") {
		return &complaint{message: htmlTitle(text), words: strings.ToLower(text), html: true}
	}
	if v, err := parseJSON(nil, body); err == nil && (v.Type() == fastjson.TypeObject || v.Type() == fastjson.TypeArray) {
		c := &complaint{json: true}
		c.read(v)
		if c.message == "" {
			c.message = text
		}
		c.gather()
		return c
	}
	return &complaint{message: text, words: strings.ToLower(text)}
}

// complaintOf reads an error that stands in an otherwise good reply.
func complaintOf(v *fastjson.Value) *complaint {
	c := &complaint{json: true}
	c.read(v)
	if c.message == "" {
		c.message = string(chat.AppendValue(nil, v))
	}
	c.gather()
	return c
}

// gather puts everything said where wordings are looked for.
func (c *complaint) gather() {
	c.words = strings.ToLower(strings.Join([]string{c.words, c.message, c.code, c.kind}, "\n"))
}

// read takes the message and the code from v. Places are tried in an order in
// which the most telling comes first.
func (c *complaint) read(v *fastjson.Value) {
	if v == nil {
		return
	}
	if list, err := v.Array(); err == nil { // Google wraps the object in a list
		if len(list) > 0 {
			c.read(list[0])
		}
		return
	}
	if v.Type() == fastjson.TypeString {
		c.say(text(v))
		return
	}
	inner := v.Get("error")
	switch kind(inner) {
	case fastjson.TypeObject:
		c.readObject(inner)
	case fastjson.TypeString:
		c.say(text(inner))
	case fastjson.TypeArray:
		c.read(inner)
	}
	if list := v.GetArray("errors"); len(list) > 0 {
		c.read(list[0])
	}
	c.readDetail(v.Get("detail"))
	c.readObject(v)
	if base := v.Get("base_resp"); base != nil {
		c.say(text(base.Get("status_msg")))
		c.setCode(base.Get("status_code"))
	}
}

// readObject reads the members of an error object itself.
func (c *complaint) readObject(v *fastjson.Value) {
	for _, k := range []string{"message", "msg", "error_msg", "errorMessage", "error_description", "Message", "description"} {
		c.say(text(v.Get(k)))
	}
	if m := v.Get("message"); kind(m) == fastjson.TypeObject || kind(m) == fastjson.TypeArray {
		c.read(m)
	}
	if v.Exists("error") && kind(v.Get("error")) == fastjson.TypeString {
		c.say(text(v.Get("error")))
	}
	for _, k := range []string{"code", "error_code"} {
		c.setCode(v.Get(k))
	}
	for _, k := range []string{"type", "status"} {
		if s := strings.ToLower(scalar(v.Get(k))); s != "" && c.kind == "" && s != "error" {
			c.kind = s
		}
	}
	if c.param == "" {
		c.param = text(v.Get("param"))
	}
	if n := v.GetInt("n_ctx"); n > 0 {
		c.window = n
	}
	c.words += "\n" + text(v.Get("innererror", "code")) // Azure
	c.readMetadata(v.Get("metadata"))
	for _, d := range v.GetArray("details") {
		c.readGoogle(d)
	}
}

// readMetadata reads OpenRouter's account of the provider behind it.
func (c *complaint) readMetadata(v *fastjson.Value) {
	if v == nil {
		return
	}
	if raw := v.Get("raw"); kind(raw) == fastjson.TypeString {
		in := parseComplaint([]byte(text(raw)))
		if in.message != "" && !strings.Contains(c.message, in.message) && !in.html {
			c.message += ": " + in.message
		}
		c.words += "\n" + in.words
	}
	if h := v.Get("headers"); h != nil {
		h.GetObject().Visit(func(k []byte, v *fastjson.Value) {
			if strings.EqualFold(string(k), "x-ratelimit-reset") {
				c.reset = scalar(v)
			}
		})
	}
}

// readGoogle reads one of the details of a google.rpc.Status.
func (c *complaint) readGoogle(v *fastjson.Value) {
	if s := text(v.Get("retryDelay")); s != "" {
		c.wait = s
	}
	c.words += "\n" + text(v.Get("reason"))
	for _, q := range v.GetArray("violations") {
		for _, k := range []string{"quotaId", "quotaMetric"} {
			id := strings.ToLower(text(q.Get(k)))
			c.daily = c.daily || strings.Contains(id, "perday") || strings.Contains(id, "per_day")
		}
	}
}

// readDetail reads FastAPI's account of what did not validate: where it stands
// and what is wrong with it.
func (c *complaint) readDetail(v *fastjson.Value) {
	switch kind(v) {
	case fastjson.TypeString:
		c.say(text(v))
	case fastjson.TypeObject:
		c.read(v)
	case fastjson.TypeArray:
		var parts []string
		for _, d := range v.GetArray() {
			var loc []string
			for _, l := range d.GetArray("loc") {
				loc = append(loc, scalar(l))
			}
			parts = append(parts, strings.Join(loc, ".")+": "+text(d.Get("msg")))
			c.words += "\n" + text(d.Get("type"))
		}
		c.say(strings.Join(parts, "; "))
	}
}

// say takes s as the message if there is none yet. Servers in front of others
// hand on the other's error as JSON text inside the message: what counts is in
// there.
func (c *complaint) say(s string) {
	if s = strings.TrimSpace(s); s == "" {
		return
	}
	if i := strings.IndexByte(s, '{'); i >= 0 && strings.HasSuffix(s, "}") && strings.Contains(s[i:], `"error"`) {
		if v, err := parseJSON(nil, []byte(s[i:])); err == nil {
			in := complaintOf(v)
			c.words += "\n" + in.words
			if in.window > 0 {
				c.window = in.window
			}
			s = strings.TrimSpace(s[:i] + in.message)
		}
	}
	c.words += "\n" + s
	if c.message == "" {
		c.message = s
	}
}

// setCode takes the first code found. A sentence is no code: one provider puts
// its message there.
func (c *complaint) setCode(v *fastjson.Value) {
	s := strings.ToLower(scalar(v))
	if c.code == "" && s != "" && s != "0" && !strings.ContainsAny(s, " \t") {
		c.code = s
	}
}

// status is the HTTP status that the code or the type stands for, 0 if none.
func (c *complaint) status() int {
	for _, s := range []string{c.code, c.kind} {
		if n := number(s); n >= 400 && n <= 599 {
			return n
		}
	}
	return 0
}

// htmlTitle is what a web page calls itself.
func htmlTitle(page string) string {
	low := asciiLower(page)
	for _, tag := range []string{"title", "h1", "h2"} {
		i := strings.Index(low, "<"+tag)
		if i < 0 {
			continue
		}
		open := strings.IndexByte(low[i:], '>')
		end := strings.Index(low[i:], "</"+tag)
		if open < 0 || end <= open {
			continue
		}
		if s := strings.Join(strings.Fields(page[i+open+1:i+end]), " "); s != "" {
			return s
		}
	}
	return "a web page"
}

// asciiLower keeps every byte's place, which strings.ToLower does not.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
