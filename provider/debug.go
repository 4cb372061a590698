package provider

import (
	"bytes"
	"fmt"
	"io"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// debugBody is the body of resp, shown on the way if that is wanted.
func (c *Client) debugBody(resp *httpc.Response) io.Reader {
	if c.o.Debug == nil {
		return resp.Body
	}
	fmt.Fprintf(c.o.Debug, "--- response: HTTP %d\n", resp.Status)
	return &shownBody{r: resp.Body, w: c.o.Debug, secrets: c.secrets}
}

// shownBody copies what is read through it to w, whole lines at a time, so
// that no secret is cut in two; control characters are shown as escapes.
type shownBody struct {
	r       io.Reader
	w       io.Writer
	secrets secrets
	line    []byte
}

func (s *shownBody) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.line = append(s.line, p[:n]...)
	for {
		i := bytes.IndexByte(s.line, '\n')
		if i < 0 {
			break
		}
		s.show(s.line[:i])
		s.line = s.line[i+1:]
	}
	if err != nil && len(s.line) > 0 {
		s.show(s.line)
		s.line = nil
	}
	return n, err
}

func (s *shownBody) show(line []byte) {
	fmt.Fprintln(s.w, chat.EscapeText(s.secrets.mask(string(bytes.TrimSuffix(line, []byte("\r")))), 0))
}

// debugReply shows what the client made of the answer: the calls, and the
// whole in one line.
func (c *Client) debugReply(got *chat.Reply, f *failure) {
	if c.o.Debug == nil {
		return
	}
	say := func(format string, args ...any) {
		fmt.Fprintln(c.o.Debug, chat.EscapeText(c.secrets.mask(fmt.Sprintf(format, args...)), 0))
	}
	for _, t := range got.Message.ToolCalls {
		say("--- call: %s %s %s", t.ID, t.Name, t.Args)
	}
	if f != nil {
		say("--- no reply: %s, %s: %s", f.class, f.advice, f.message)
		return
	}
	say("--- reply: %d bytes of text, %d of thinking, %d calls, finish %s, %d+%d tokens", len(got.Message.Content),
		len(got.Message.Reasoning), len(got.Message.ToolCalls), got.Finish, got.Usage.Prompt, got.Usage.Completion)
}
