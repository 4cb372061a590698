package provider

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"cluade/internal/chat"

	"github.com/valyala/fastjson"
)

// read takes the body of a 200 in. What it is, is told by its first byte that
// is not blank, whatever was asked for and whatever the headers say. end is
// how the body ended: nil for a whole reply, else io.EOF or what broke it.
func (r *reply) read(body io.Reader) (f *failure, end error) {
	l := newLines(r.watch.reader(body))
	first, err := l.sniff()
	switch {
	case err != nil:
		return nil, err
	case first == '{', first == '[':
		return r.document(l)
	case first == '<':
		page, _ := io.ReadAll(io.LimitReader(l.r, maxErrorBody))
		return r.c.page(page), nil
	}
	return r.stream(l)
}

// page is the failure for a web page in the place of a reply: a captive portal,
// or an address that is no API.
func (c *Client) page(page []byte) *failure {
	text := "response is not JSON: a web page (HTML), " + c.notAPI(0, htmlTitle(string(page)))
	return &failure{class: NotAPI, advice: adviseNo, message: chat.EscapeText(c.secrets.mask(text), maxMessage)}
}

func (r *reply) stream(l *lines) (*failure, error) {
	var p fastjson.Parser
	var v *fastjson.Value
	e := events{l: l}
	whole := func(data []byte) bool {
		if isDone(data) {
			v = nil
			return true
		}
		var err error
		v, err = parseJSON(&p, data)
		return err == nil && v.Type() == fastjson.TypeObject
	}
	for {
		ev, err := e.next(whole)
		if err != nil {
			return r.endOfStream(err, e.junk)
		}
		switch {
		case isDone(ev.data):
			r.done = true
			return nil, nil
		case !ev.whole && !whole(ev.data):
			if ev.name == "error" || strings.HasPrefix(strings.ToLower(string(ev.data)), "error") {
				return r.c.classify(0, parseComplaint(ev.data), nil), nil
			}
			continue
		}
		r.watch.gotData()
		r.splits = endsInHalf(ev.data)
		if f := r.take(v, ev.name); f != nil {
			return f, nil
		}
	}
}

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }

// endOfStream tells a stream from some text that is no API's answer.
func (r *reply) endOfStream(err error, junk []byte) (*failure, error) {
	if !r.data && len(bytes.TrimSpace(junk)) > 0 && err == io.EOF {
		return r.c.notJSON(junk), nil
	}
	return nil, err
}

func (c *Client) notJSON(body []byte) *failure {
	text := "response is not JSON: " + c.secrets.clip(strings.TrimSpace(string(body[:min(len(body), maxErrorBody)])), maxJunk)
	return &failure{class: NotAPI, advice: adviseNo, message: chat.EscapeText(text, maxMessage)}
}

// document reads a plain reply. A few servers answer with bare objects one a
// line, or with a list of them; those are read as the pieces of a stream.
func (r *reply) document(l *lines) (*failure, error) {
	body, err := l.all()
	v, bad := parseJSON(nil, body)
	switch {
	case errors.Is(err, errTooLarge):
		return nil, err
	case bad == nil:
		return r.wholeReply(v, body), nil
	case err == nil && jsonEnd(string(bytes.TrimSpace(body))) == 0:
		return nil, io.EOF // ends in the middle of the document
	case err != nil:
		return nil, err
	}
	for line, rest := []byte(nil), body; len(rest) > 0; {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if isDone(line) {
			r.done = true
			return nil, nil
		}
		v, bad := parseJSON(nil, line)
		if bad != nil || v.Type() != fastjson.TypeObject {
			if r.data {
				break // what follows is judged by how far the reply came
			}
			return r.c.notJSON(body), nil
		}
		if f := r.take(v, ""); f != nil {
			return f, nil
		}
	}
	return nil, io.EOF
}

func (r *reply) wholeReply(v *fastjson.Value, body []byte) *failure {
	if list, err := v.Array(); err == nil {
		for _, e := range list {
			if f := r.take(e, ""); f != nil {
				return f
			}
		}
		r.done = r.data
		return nil
	}
	if f := r.take(v, ""); f != nil {
		return f
	}
	if !v.Exists("choices") {
		if said := complaintOf(v); v.Exists("message") || v.Exists("detail") {
			return r.c.classify(0, said, nil)
		}
		f := r.c.notJSON(body)
		f.message = "response is no chat completion:" + strings.TrimPrefix(f.message, "response is not JSON:")
		return f
	}
	r.done = true
	return nil
}

// close ends the reply. end is how the body ended, f what was wrong with it,
// if anything. Calls count only if the reply came to its end; the text that had
// arrived is kept in any case.
func (r *reply) close(f *failure, end error, used func(id string) bool) (chat.Reply, *failure) {
	complete := f == nil && (r.done || r.finish != "")
	r.splits = false
	if r.half != "" {
		r.place(r.tags.feed(r.half))
	}
	r.place(r.tags.flush())
	if complete && r.text.all.Len() > 0 {
		r.c.learnt().looseTag = r.loose
	}
	if complete && r.finish != string(chat.FinishLength) && len(r.calls.list) == 0 {
		for _, p := range r.text.recover(r.known) {
			r.calls.addWhole(p)
		}
	}
	r.text.flush()
	r.reasoning.flush()
	out := chat.Reply{Message: r.draft(), Usage: r.usage}
	if out.Usage == (chat.Usage{}) {
		out.Usage = r.timings
	}
	switch {
	case f != nil:
		return out, f
	case !complete:
		return out, r.cut(end)
	}
	out.Message.ToolCalls = r.calls.finish(used)
	for i := range out.Message.ToolCalls {
		t := &out.Message.ToolCalls[i]
		for _, s := range []*string{&t.ID, &t.Name, &t.Args, &t.Extra} {
			*s = r.c.secrets.maskText(*s)
		}
	}
	out.Finish = r.reason(len(out.Message.ToolCalls) > 0)
	if strings.TrimSpace(out.Message.Content) == "" && len(out.Message.ToolCalls) == 0 && out.Finish == chat.FinishStop {
		return out, &failure{class: EmptyResponse, advice: adviseResend, message: "the reply is empty"}
	}
	return out, nil
}

// draft is the message without its calls.
func (r *reply) draft() chat.Message {
	m := chat.Message{
		Role: chat.Assistant, Content: r.text.text(), Host: r.c.host,
		Reasoning: r.reasoning.text(), ReasoningKey: r.key, Details: r.c.secrets.maskText(r.details.json()),
	}
	if r.detailed {
		m.ReasoningKey = ""
	}
	return m
}

// reason is the reason to stop, guessed where none came.
func (r *reply) reason(calls bool) chat.Finish {
	switch {
	case calls && r.finish == "":
		return chat.FinishCalls
	case !calls && r.finish == string(chat.FinishCalls), r.finish == "":
		return chat.FinishStop
	}
	return chat.Finish(r.finish)
}

// cut is the failure of a body that ended before the reply did.
func (r *reply) cut(end error) *failure {
	if f := r.watch.stall(); f != nil {
		return f
	}
	if errors.Is(end, errTooLarge) {
		return fail(StreamError, adviseNo, end, end.Error())
	}
	f := fail(StreamCut, adviseResend, ErrIncomplete, ErrIncomplete.Error())
	if end != nil && end != io.EOF {
		f = fail(StreamCut, adviseResend, ErrIncomplete, ErrIncomplete.Error()+": "+cause(end))
	}
	f.clean, f.noData = end == io.EOF, !r.data
	return f
}
