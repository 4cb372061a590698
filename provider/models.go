package provider

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"

	"cluade/internal/httpc"

	"github.com/valyala/fastjson"
)

// probeLimit bounds each look at what a server has.
const probeLimit = 2 * time.Second

// ModelInfo is what a server says of one of its models. Window is what it takes
// at once and MaxOutput what it gives, in tokens, 0 if it does not say.
type ModelInfo struct {
	ID                string
	Window, MaxOutput int

	llamaCPP bool
}

// Models asks the server for its models, in its order. Windows that it tells
// count from then on.
func (c *Client) Models(ctx context.Context) ([]ModelInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	list, err := c.list(ctx, under(c.base, "/models"))
	if err != nil {
		return nil, fmt.Errorf("list models: %w", err)
	}
	if m := findModel(list, c.o.Model); m != nil && m.Window > 0 {
		c.learn(m.Window, "models")
	}
	return list, nil
}

// list reads a list of models, one at a time: that of a large relay has a
// megabyte.
func (c *Client) list(ctx context.Context, u *url.URL) ([]ModelInfo, error) {
	resp, err := c.get(ctx, u)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	llama := strings.HasPrefix(resp.Header.Get("Server"), "llama.cpp")
	var list, second []ModelInfo
	in := newLines(io.LimitReader(resp.Body, maxReply))
	if b, err := in.sniff(); err == nil && b != '{' && b != '[' {
		page, _ := io.ReadAll(io.LimitReader(in.r, maxErrorBody))
		if b == '<' {
			return nil, c.page(page).final()
		}
		return nil, c.notJSON(page).final()
	}
	err = eachObject(in.r, func(key string, v *fastjson.Value) {
		m := parseModel(v)
		m.llamaCPP = m.llamaCPP || llama
		switch {
		case m.ID == "":
		case key == "" || key == "data":
			list = append(list, m)
		default: // llama.cpp has a second list in the form of Ollama
			second = append(second, m)
		}
	})
	if len(list) == 0 {
		list = second
	}
	return list, err
}

func parseModel(v *fastjson.Value) ModelInfo {
	m := ModelInfo{ID: text(v.Get("id"))}
	if m.ID == "" {
		m.ID = text(v.Get("name"))
	}
	m.llamaCPP = text(v.Get("owned_by")) == "llamacpp" || v.Exists("meta", "n_ctx_train")
	m.Window = firstOf(count(v.Get("meta"), "n_ctx"), count(v, "loaded_context_length"), count(v, "max_model_len"))
	if m.Window == 0 && !v.Exists("loaded_context_length") && !v.Exists("max_context_length") {
		m.Window = leastOf(count(v, "context_length"), count(v.Get("top_provider"), "context_length"),
			count(v, "max_input_tokens"), count(v, "context_window"))
	}
	m.MaxOutput = leastOf(count(v, "max_output_tokens"), count(v.Get("top_provider"), "max_completion_tokens"))
	return m
}

// leastOf is the smallest of the numbers above zero, 0 if there is none.
func leastOf(ns ...int) int {
	least := 0
	for _, n := range ns {
		if n > 0 && (least == 0 || n < least) {
			least = n
		}
	}
	return least
}

// findModel is the entry of a model; Google's ids carry a prefix that requests
// need not.
func findModel(list []ModelInfo, model string) *ModelInfo {
	for i := range list {
		if strings.TrimPrefix(list[i].ID, "models/") == strings.TrimPrefix(model, "models/") {
			return &list[i]
		}
	}
	return nil
}

// get asks for something beside the chat.
func (c *Client) get(ctx context.Context, u *url.URL) (*httpc.Response, error) {
	h := c.headerFor(u)
	h.Del("Content-Type")
	resp, err := c.send(ctx, &httpc.Request{Method: "GET", URL: u, Header: h})
	if err != nil {
		reason, _ := c.reason(err)
		return nil, &wrapped{c.secrets.mask(reason), err}
	}
	if resp.Status != 200 {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
		resp.Body.Close()
		return nil, c.classify(resp.Status, parseComplaint(body), resp.Header).final()
	}
	return resp, nil
}

// getJSON is get for a small document.
func (c *Client) getJSON(ctx context.Context, u *url.URL) (*fastjson.Value, error) {
	resp, err := c.get(ctx, u)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, err
	}
	return parseJSON(nil, b)
}

// maxElement bounds one element of a list that is read by eachObject.
const maxElement = 1 << 20

// eachObject reads a JSON document that is a list of objects, or an object with
// such lists, and hands out the elements one by one with the key of their list,
// without holding the whole. What is not of that form is passed over.
func eachObject(r io.Reader, found func(key string, v *fastjson.Value)) error {
	s := elementScanner{found: found}
	in := bufio.NewReader(r)
	for {
		b, err := in.ReadByte()
		if err == io.EOF {
			return s.parsed
		}
		if err != nil {
			return err
		}
		if err := s.feed(b); err != nil {
			return err
		}
	}
}

// elementScanner follows the nesting of a document byte by byte.
type elementScanner struct {
	found   func(key string, v *fastjson.Value)
	parser  fastjson.Parser
	nest    []byte // open brackets
	quoted  bool
	escaped bool
	word    []byte // the string being read, at the top
	key     string // the last string at the top
	element []byte // the object being gathered, nil outside of one
	level   int    // depth at which it ends
	parsed  error
}

func (s *elementScanner) feed(b byte) error {
	if s.element != nil {
		if s.element = append(s.element, b); len(s.element) > maxElement {
			return errTooLarge
		}
	}
	switch {
	case s.escaped:
		s.escaped = false
	case s.quoted && b == '\\':
		s.escaped = true
	case b == '"':
		if s.quoted = !s.quoted; !s.quoted && len(s.nest) == 1 {
			s.key, s.word = string(s.word), s.word[:0]
		}
	case s.quoted:
		if len(s.nest) == 1 && len(s.word) < 64 {
			s.word = append(s.word, b)
		}
	case b == '{' || b == '[':
		s.open(b)
	case b == '}' || b == ']':
		s.close()
	}
	return nil
}

func (s *elementScanner) open(b byte) {
	s.nest = append(s.nest, b)
	inList := string(s.nest) == "[{" || string(s.nest) == "{[{"
	if s.element == nil && inList {
		s.element, s.level = append(make([]byte, 0, 512), b), len(s.nest)
	}
}

func (s *elementScanner) close() {
	if s.element != nil && len(s.nest) == s.level {
		v, err := parseJSON(&s.parser, s.element)
		s.element = nil
		if err != nil {
			s.parsed = err
		} else if s.nest[0] == '[' {
			s.found("", v)
		} else {
			s.found(s.key, v)
		}
	}
	if len(s.nest) > 0 {
		s.nest = s.nest[:len(s.nest)-1]
	}
}
