package agent

import "cluade/internal/chat"

// bytesPerToken holds for prose and code in most vocabularies, until the
// server's own figures show better. Ratios outside the bounds are not believed:
// some servers count only the part of the prompt that was not cached.
const (
	bytesPerToken = 3.5
	minRatio      = 1.0
	maxRatio      = 8.0

	// imageBytes is what an image counts for: about a thousand tokens at most
	// servers, whatever the size of its file.
	imageBytes = 3500
)

// meter estimates how many tokens the next request will have: the server's last
// count, and bytes for what came after it.
type meter struct {
	model  string  // whose figures these are
	window int     // tokens, as told by the server; 0 if not
	ratio  float64 // bytes per token, learnt; 0 if not
	fixed  int     // bytes of the last system message and tool schemas
	base   int     // tokens of the last exchange that was counted; 0 if none
	upto   int     // messages in base
}

// learn takes the figures of one exchange, after its reply was recorded.
func (m *meter) learn(s *chat.Session, req chat.Request, reply chat.Reply) {
	if s.Model != m.model {
		*m = meter{model: s.Model}
	}
	if reply.Window > 0 {
		m.window = reply.Window
	}
	m.fixed = len(req.System)
	for _, t := range req.Tools {
		m.fixed += len(t.Name) + len(t.Desc) + len(t.Params)
	}
	if reply.Usage.Prompt <= 0 {
		return
	}
	m.base, m.upto = reply.Usage.Total(), len(s.Messages)
	ratio := float64(m.fixed+size(req.Messages)) / float64(reply.Usage.Prompt)
	if ratio >= minRatio && ratio <= maxRatio {
		m.ratio = ratio
	}
}

// forget drops the count of messages that are no longer there.
func (m *meter) forget() { m.base, m.upto = 0, 0 }

// context is the estimate for the session as it stands.
func (m *meter) context(s *chat.Session) int {
	if m.base > 0 && m.upto <= len(s.Messages) {
		return m.base + m.tokens(size(s.Messages[m.upto:]))
	}
	return m.tokens(m.fixed + size(s.Messages))
}

func (m *meter) tokens(bytes int) int {
	if m.ratio > 0 {
		return int(float64(bytes) / m.ratio)
	}
	return int(float64(bytes) / bytesPerToken)
}

// size is the bytes of messages that are sent.
func size(msgs []chat.Message) int {
	n := 0
	for _, m := range msgs {
		n += len(m.Content) + len(m.Details) + len(m.ToolCallID) + len(m.Images)*imageBytes
		if m.ReasoningKey != "" {
			n += len(m.Reasoning)
		}
		for _, c := range m.ToolCalls {
			n += len(c.ID) + len(c.Name) + len(c.Args) + len(c.Extra)
		}
	}
	return n
}
