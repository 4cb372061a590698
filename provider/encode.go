package provider

import (
	"encoding/base32"
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
)

// request is one question as it goes to this server now. It is written twice,
// once to count and once to send, and never held as a whole.
type request struct {
	c      *Client
	req    chat.Request
	note   string // a user message of ours at the end, or ""
	echo   string // the name of thinking that call messages must carry from here on, or ""
	fields []field

	counting bool
	skipped  int64 // bytes of images that were counted and not coded
	err      error // of an image that could not be read while it was sent
}

func (c *Client) newRequest(req chat.Request, note string) *request {
	return &request{c: c, req: req, note: note, fields: c.fieldsAfterTools(len(req.Tools) > 0)}
}

// size is the length of the body.
func (r *request) size() int64 {
	w := jsonenc.NewWriter(nil)
	r.counting, r.skipped = true, 0
	r.encode(w)
	r.counting = false
	return w.Len() + r.skipped
}

// writeTo writes the body.
func (r *request) writeTo(out io.Writer) error {
	w := jsonenc.NewWriter(out)
	r.encode(w)
	return errors.Join(r.err, w.Flush())
}

func (r *request) encode(w *jsonenc.Writer) {
	w.Raw(`{"model":`)
	w.String(r.c.o.Model)
	w.Raw(`,"messages":[`)
	r.messages(w)
	w.Raw("]")
	r.tools(w)
	for _, f := range r.fields {
		w.Raw(",")
		w.String(f.key)
		w.Raw(":")
		w.Raw(f.value)
	}
	w.Raw("}")
}

func (r *request) tools(w *jsonenc.Writer) {
	if len(r.req.Tools) == 0 {
		return
	}
	w.Raw(`,"tools":[`)
	for i, t := range r.req.Tools {
		if i > 0 {
			w.Raw(",")
		}
		w.Raw(`{"type":"function","function":{"name":`)
		w.String(t.Name)
		w.Raw(`,"description":`)
		w.String(t.Desc)
		w.Raw(`,"parameters":`)
		w.Raw(t.Params)
		w.Raw("}}")
	}
	w.Raw("]")
	if !r.c.learnt().dropped("tool_choice") && valueOf(r.fields, "tool_choice") == "" {
		w.Raw(`,"tool_choice":"auto"`)
	}
}

// messages writes the system message and the transcript. Messages that say
// nothing are left out, and user messages that then follow each other are one:
// templates of local models insist that the roles alternate.
func (r *request) messages(w *jsonenc.Writer) {
	list := listWriter{w: w}
	if r.req.System != "" {
		list.next()
		w.Raw(`{"role":"system","content":`)
		r.marked(w, r.req.System, true)
		w.Raw("}")
	}
	noted := r.note == ""
	r.echo = ""
	all := r.req.Messages
	for i := 0; i < len(all); i++ {
		m := &all[i]
		switch {
		case m.Role == chat.User:
			end := i + 1
			for end < len(all) && (all[end].Role == chat.User || silent(&all[end])) {
				end++
			}
			list.next()
			r.user(w, all[i:end], end == len(all))
			noted = noted || end == len(all)
			i = end - 1
		case m.Role == chat.Assistant && !silent(m):
			list.next()
			r.assistant(w, m)
		case m.Role == chat.Tool:
			list.next()
			w.Raw(`{"role":"tool","tool_call_id":`)
			w.String(r.id(m.ToolCallID))
			w.Raw(`,"content":`)
			r.marked(w, m.Content, i == len(all)-1 && noted)
			w.Raw("}")
		}
	}
	if !noted {
		list.next()
		r.user(w, nil, true)
	}
}

// listWriter puts the commas between the elements of a list.
type listWriter struct {
	w    *jsonenc.Writer
	some bool
}

func (l *listWriter) next() {
	if l.some {
		l.w.Raw(",")
	}
	l.some = true
}

// silent says whether m is an assistant message with nothing in it, which
// servers refuse.
func silent(m *chat.Message) bool {
	return m.Role == chat.Assistant && m.Content == "" && len(m.ToolCalls) == 0
}

// user writes consecutive user messages as one. last says that nothing follows
// them.
func (r *request) user(w *jsonenc.Writer, ms []chat.Message, last bool) {
	var texts []string
	var images []*chat.Image
	for i := range ms {
		for j := range ms[i].Images {
			if im := &ms[i].Images[j]; r.shown(im) {
				images = append(images, im)
			} else {
				texts = append(texts, r.imageNote(im))
			}
		}
		if ms[i].Role == chat.User && ms[i].Content != "" {
			texts = append(texts, ms[i].Content)
		}
	}
	if last && r.note != "" {
		texts = append(texts, r.note)
	}
	w.Raw(`{"role":"user","content":`)
	text := strings.Join(texts, "\n\n")
	if len(images) == 0 {
		r.marked(w, text, last)
	} else {
		r.parts(w, text, images)
	}
	w.Raw("}")
}

// parts writes a content of text and images.
func (r *request) parts(w *jsonenc.Writer, text string, images []*chat.Image) {
	list := listWriter{w: w}
	w.Raw("[")
	if text != "" {
		list.next()
		w.Raw(`{"type":"text","text":`)
		w.String(text)
		w.Raw("}")
	}
	for _, im := range images {
		list.next()
		r.image(w, im)
	}
	w.Raw("]")
}

// marked writes a content. Anthropic's models keep a prefix only up to a mark,
// which a list of parts can carry.
func (r *request) marked(w *jsonenc.Writer, text string, mark bool) {
	if !mark || !r.c.quirks.Cache || !strings.HasPrefix(r.c.o.Model, "anthropic/") {
		w.String(text)
		return
	}
	w.Raw(`[{"type":"text","text":`)
	w.String(text)
	w.Raw(`,"cache_control":{"type":"ephemeral"}}]`)
}

func (r *request) assistant(w *jsonenc.Writer, m *chat.Message) {
	w.Raw(`{"role":"assistant","content":`)
	own := m.Host == r.c.host
	r.follow(m, own)
	switch {
	case m.Content == "" && r.c.learnt().emptyText:
		w.Raw(`""`)
	case m.Content == "":
		w.Raw("null")
	case own && r.c.quirks.Replay == replayParts && m.Reasoning != "" && !r.c.learnt().stripped:
		w.Raw(`[{"type":"thinking","thinking":[{"type":"text","text":`)
		w.String(m.Reasoning)
		w.Raw(`}]},{"type":"text","text":`)
		w.String(m.Content)
		w.Raw("}]")
	default:
		w.String(m.Content)
	}
	r.thinking(w, m, own)
	if len(m.ToolCalls) > 0 {
		w.Raw(`,"tool_calls":[`)
		for i := range m.ToolCalls {
			if i > 0 {
				w.Raw(",")
			}
			r.call(w, &m.ToolCalls[i], own)
		}
		w.Raw("]")
	}
	w.Raw("}")
}

func (r *request) call(w *jsonenc.Writer, t *chat.ToolCall, own bool) {
	w.Raw(`{"id":`)
	w.String(r.id(t.ID))
	w.Raw(`,"type":"function","function":{"name":`)
	w.String(t.Name)
	w.Raw(`,"arguments":`)
	if isObject(t.Args) {
		w.String(t.Args)
	} else { // anything else makes every later request a 400
		w.Raw(`"{}"`)
	}
	w.Raw("}")
	if own && len(t.Extra) > 2 && isObject(t.Extra) {
		w.Raw(",")
		w.Raw(strings.TrimSuffix(strings.TrimPrefix(t.Extra, "{"), "}"))
	}
	w.Raw("}")
}

// thinking writes the thinking of a message in the form that the server wants
// back. That of another host goes to nobody.
func (r *request) thinking(w *jsonenc.Writer, m *chat.Message, own bool) {
	q, l := r.c.quirks, r.c.learnt()
	key, text := m.ReasoningKey, m.Reasoning
	if !own {
		key, text = "", ""
	}
	switch {
	case l.added > 0:
		key = thinkingKeys[0]
		if text == "" && l.added > 1 {
			text = " "
		}
	case l.stripped, q.Replay == replayNever, q.Replay == replayParts:
		return
	case own && m.Details != "":
		w.Raw(`,"reasoning_details":`)
		w.Raw(m.Details)
		if q.Replay == replayDetails {
			return
		}
	case key == "" && len(m.ToolCalls) > 0:
		key, text = r.echo, ""
	case key != "" && q.Replay == replayAlways:
		key = thinkingKeys[0]
	}
	if key != "" {
		w.Raw(",")
		w.String(key)
		w.Raw(":")
		w.String(text)
	}
}

// follow takes from m the name of the thinking that call messages without one
// must carry: once a reply of this host had it the server misses it. Hosts known
// for that are also given it for the calls of another host's model. What came
// before m stays as it was sent, so that the server finds it in its cache.
func (r *request) follow(m *chat.Message, own bool) {
	q := r.c.quirks
	switch {
	case r.echo != "" || q.Replay == replayDetails:
	case own:
		r.echo = m.ReasoningKey
	case len(m.ToolCalls) > 0 && q.Replay == replayAlways && r.c.thinks():
		r.echo = thinkingKeys[0]
	}
}

// maxID is the longest call id that OpenAI takes.
const maxID = 40

// id is a call's id as this server takes it. The same id always gives the
// same, so that a call and its result stay together.
func (r *request) id(id string) string {
	if !r.c.quirks.NineIDs && len(id) <= maxID {
		return id
	}
	if r.c.quirks.NineIDs && isNine(id) {
		return id
	}
	sum := uint64(14695981039346656037) // FNV-1a
	for i := 0; i < len(id); i++ {
		sum = (sum ^ uint64(id[i])) * 1099511628211
	}
	return base32.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, sum))[:9]
}

func isNine(id string) bool {
	for i := 0; i < len(id); i++ {
		if !isWord(id[i]) || id[i] == '_' {
			return false
		}
	}
	return len(id) == 9
}
