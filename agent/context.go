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

	// What stands in a request around a message, a call and a tool.
	messageFrame = len(`{"role":"assistant","content":""},`)
	callFrame    = len(`{"id":"","type":"function","function":{"name":"","arguments":""}},`)
	toolFrame    = len(`{"type":"function","function":{"name":"","description":"","parameters":}},`)
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

// own drops the figures of another model than the session's.
func (m *meter) own(s *chat.Session) {
	if s.Model != m.model {
		*m = meter{model: s.Model}
	}
}

// measure notes what a request carries beside the messages.
func (m *meter) measure(s *chat.Session, req chat.Request) {
	m.own(s)
	m.fixed = len(req.System) + toolBytes(req.Tools)
}

func toolBytes(specs []chat.ToolSpec) int {
	n := 0
	for _, t := range specs {
		n += toolFrame + len(t.Name) + len(t.Desc) + len(t.Params)
	}
	return n
}

// learn takes the figures of one exchange, after its reply was recorded.
func (m *meter) learn(s *chat.Session, req chat.Request, reply chat.Reply) {
	m.measure(s, req)
	if reply.Window > 0 {
		m.window = reply.Window
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
		n += messageFrame + len(m.Content) + len(m.Details) + len(m.ToolCallID) + len(m.Images)*imageBytes
		if m.ReasoningKey != "" {
			n += len(m.Reasoning)
		}
		for _, c := range m.ToolCalls {
			n += callFrame + len(c.ID) + len(c.Name) + len(c.Args) + len(c.Extra)
		}
	}
	return n
}

// Context is what the next request is made of: bytes by kind, and tokens.
type Context struct {
	System    int // the system message
	Tools     int // what the model is told of the tools
	Inputs    int // user messages, the program's notices and summaries with them
	Replies   int
	Reasoning int
	Calls     int
	Results   int

	Tokens  int // of the next request, as TurnEnd has it
	Counted int // how many of them the server counted itself; 0 if it told nothing
	Limit   int // see Agent.ContextLimit
}

// Context measures the conversation as it stands.
func (a *Agent) Context() Context {
	s, req := a.o.Session, a.request()
	if a.meter.fixed == 0 {
		a.meter.measure(s, req)
	}
	c := Context{System: len(req.System), Tools: toolBytes(req.Tools), Tokens: a.meter.context(s), Limit: a.ContextLimit()}
	if a.meter.upto <= len(s.Messages) {
		c.Counted = a.meter.base
	}
	for i, m := range s.Messages {
		n := size(s.Messages[i : i+1])
		switch m.Role {
		case chat.User:
			c.Inputs += n
		case chat.Tool:
			c.Results += n
		case chat.Assistant:
			text := messageFrame + len(m.Content)
			m.ToolCalls = nil
			said := size([]chat.Message{m})
			c.Replies += text
			c.Reasoning += said - text
			c.Calls += n - said
		}
	}
	return c
}
