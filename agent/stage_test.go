package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/tools"
)

// stage is a whole world for an agent: it is its model, journal, approver,
// hooks and tools, and writes down in one trace what happens. Every entry of
// the trace is a point at which act may interfere.
type stage struct {
	t      *testing.T
	script []reply // what the model answers, in order
	asked  []chat.Request
	trace  []string
	points int
	act    func(point int, what string) error // may cancel, fail or panic; nil does nothing

	cancel context.CancelFunc
	fail   map[string]error // by name of the stage of a call
	wish   policy.Wish
	answer Answer
	post   string // what the post hook adds
	posted string // what it read

	saved  []chat.Message // the transcript as the journal holds it
	states []chat.Session
	events []Event

	session chat.Session
	policy  policy.Policy
	agent   *Agent
	change  func(*Options)
}

// reply is one scripted answer of the model.
type reply struct {
	text   string
	calls  string // "tool args; tool args"
	finish chat.Finish
	usage  chat.Usage
	window int
	err    error
}

func (s *stage) at(what string) error {
	s.trace = append(s.trace, what)
	s.points++
	if s.act != nil {
		if err := s.act(s.points, what); err != nil {
			return err
		}
	}
	return s.fail[what]
}

func (s *stage) cancelAt(what, want string) {
	if what == want {
		s.cancel()
	}
}

func (s *stage) Chat(_ context.Context, req chat.Request, onDelta func(chat.Delta)) (chat.Reply, error) {
	req.Messages = append([]chat.Message(nil), req.Messages...)
	s.asked = append(s.asked, req)
	if why := illegal(req.Messages, true); why != "" {
		s.t.Errorf("request %d: %s\n%s", len(s.asked), why, show(req.Messages))
	}
	if err := s.at("chat"); err != nil {
		return chat.Reply{}, err
	}
	if len(s.script) == 0 {
		return chat.Reply{}, errors.New("the script is over")
	}
	r := s.script[0]
	s.script = s.script[1:]
	out := chat.Reply{Message: chat.Message{Content: r.text}, Finish: r.finish, Usage: r.usage, Window: r.window}
	if r.text != "" {
		onDelta(chat.Delta{Text: r.text})
	}
	if err := s.at("reply"); err != nil {
		return out, err
	}
	for i, c := range strings.Split(r.calls, ";") {
		if c = strings.TrimSpace(c); c == "" {
			continue
		}
		name, args, _ := strings.Cut(c, " ")
		id := fmt.Sprintf("c%d%c", len(s.asked), 'a'+i)
		out.Message.ToolCalls = append(out.Message.ToolCalls, chat.ToolCall{ID: id, Name: name, Args: args})
	}
	return out, r.err
}

func (s *stage) Append(m chat.Message) error {
	if err := s.at("journal " + string(m.Role)); err != nil {
		return err
	}
	s.saved = append(s.saved, m)
	return nil
}

func (s *stage) Reset(why string, msgs []chat.Message) error {
	if err := s.at("journal reset " + why); err != nil {
		return err
	}
	s.saved = slices.Clone(msgs)
	return nil
}

func (s *stage) Truncate(n int, why string) error {
	if err := s.at(fmt.Sprint("journal truncate ", n, " ", why)); err != nil {
		return err
	}
	s.saved = s.saved[:n]
	return nil
}

func (s *stage) State(sess *chat.Session) error {
	if err := s.at("journal state"); err != nil {
		return err
	}
	s.states = append(s.states, *sess)
	return nil
}

func (s *stage) Approve(context.Context, Approval) (Answer, error) { return s.answer, s.at("approve") }

func (s *stage) Pre(context.Context, chat.ToolCall) (policy.Wish, error) { return s.wish, s.at("pre") }

func (s *stage) Post(_ context.Context, _ chat.ToolCall, text string) string {
	_ = s.at("post")
	s.posted = text
	return text + s.post
}

func (s *stage) emit(e Event) {
	s.events = append(s.events, e)
	switch e.(type) {
	case CallStart, CallEnd:
		_ = s.at(strings.TrimPrefix(fmt.Sprintf("%T", e), "agent."))
	}
}

const anyObject = `{"type":"object","properties":{"n":{"type":"integer"}}}`

// tool makes a tool whose stages are in the trace. Its result names its
// argument; run, when given, replaces it.
func (s *stage) tool(name string, e policy.Effect, run func(context.Context) (tools.Result, error)) *tools.Tool {
	return &tools.Tool{
		Name: name, Desc: "does " + name, Params: anyObject, Effect: e,
		Subject: func(*tools.Env, *tools.Args) (policy.Subject, error) {
			return policy.Subject{Tool: name, Effect: e}, s.at("subject")
		},
		Preview: func(*tools.Env, *tools.Args) (string, error) { return "preview of " + name, s.at("preview") },
		Run: func(ctx context.Context, _ *tools.Env, a *tools.Args) (tools.Result, error) {
			if err := s.at("run"); err != nil {
				return tools.Result{}, err
			}
			if run != nil {
				return run(ctx)
			}
			return tools.Result{Text: fmt.Sprint(name, " did ", a.Int("n"))}, nil
		},
	}
}

// newStage has a tool that runs unasked ("look"), one that asks ("act") and one
// that is refused ("ban").
func newStage(t *testing.T, script ...reply) *stage {
	s := &stage{t: t, script: script, answer: Once, fail: map[string]error{}}
	s.policy = policy.Policy{Attended: true, Levels: map[string]policy.Level{
		"look": {Verdict: policy.Allow}, "act": {Verdict: policy.Ask}, "ban": {Source: "config.json"}, "compact": {Verdict: policy.Allow},
	}}
	return s
}

// start builds the agent; change may alter its options before.
func (s *stage) start() *stage {
	if s.agent != nil {
		return s
	}
	o := Options{
		Model: s, Journal: s, Approver: s, Hooks: s, Emit: s.emit, Session: &s.session, Policy: &s.policy,
		System: func() string { return "system" },
		Tools: tools.Set{
			s.tool("look", policy.Read, nil), s.tool("act", policy.Execute, nil), s.tool("ban", policy.Execute, nil),
		},
	}
	if s.change != nil {
		s.change(&o)
	}
	s.agent = New(o)
	return s
}

// turn carries one input and checks what must hold whatever happened.
func (s *stage) turn(ctx context.Context, input string) error {
	s.t.Helper()
	err := s.start().agent.Turn(ctx, chat.Message{Content: input})
	if why := illegal(s.session.Messages, false); why != "" {
		s.t.Errorf("after the turn: %s\n%s", why, show(s.session.Messages))
	}
	if s.agent.SaveError() == nil && fmt.Sprint(s.saved) != fmt.Sprint(s.session.Messages) {
		s.t.Errorf("the journal holds\n%sthe session\n%s", show(s.saved), show(s.session.Messages))
	}
	ends := 0
	for _, e := range s.events {
		if end, ok := e.(TurnEnd); ok {
			ends++
			if end.Err != err {
				s.t.Errorf("TurnEnd has %v, Turn returned %v", end.Err, err)
			}
		}
	}
	if _, ok := s.events[len(s.events)-1].(TurnEnd); !ok || ends != 1 {
		s.t.Errorf("%d TurnEnd events, the last event is %T", ends, s.events[len(s.events)-1])
	}
	s.events = nil
	return err
}

// illegal says why a server or a later run would refuse a transcript: calls and
// results that do not pair, an empty reply, an input that nothing follows. A
// request may end with an input.
func illegal(msgs []chat.Message, request bool) string {
	var open []chat.ToolCall
	for i, m := range msgs {
		switch {
		case m.Role == chat.Tool && (len(open) == 0 || open[0].ID != m.ToolCallID):
			return fmt.Sprintf("message %d answers no open call", i)
		case m.Role == chat.Tool && m.Content == "":
			return fmt.Sprintf("message %d is an empty result", i)
		case m.Role == chat.Tool:
			open = open[1:]
			continue
		case len(open) > 0:
			return fmt.Sprintf("message %d stands where the result of %s should", i, open[0].ID)
		case m.Role == chat.Assistant && len(m.ToolCalls) == 0 && m.Content == "":
			return fmt.Sprintf("message %d is an empty reply", i)
		case m.Role == chat.Assistant:
			open = m.ToolCalls
		case m.Role != chat.User:
			return fmt.Sprintf("message %d has role %q", i, m.Role)
		case i > 0 && msgs[i-1].Role == chat.User && !msgs[i-1].Notice && !m.Notice:
			return fmt.Sprintf("message %d is a second input", i)
		}
		if i == 0 && m.Role != chat.User {
			return "the first message is no input"
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("%s has no result", open[0].ID)
	}
	if n := len(msgs); !request && n > 0 && msgs[n-1].Role == chat.User && !msgs[n-1].Notice {
		return "the last input has nothing behind it"
	}
	return ""
}

func show(msgs []chat.Message) string {
	var b strings.Builder
	for _, m := range msgs {
		fmt.Fprintf(&b, "\t%s %s%q %v\n", m.Role, m.ToolCallID, m.Content, m.ToolCalls)
	}
	return b.String()
}

// results are the tool messages of a transcript.
func (s *stage) results() []string {
	var texts []string
	for _, m := range s.session.Messages {
		if m.Role == chat.Tool {
			texts = append(texts, m.Content)
		}
	}
	return texts
}
