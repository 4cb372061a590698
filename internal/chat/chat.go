// Package chat is the vocabulary of a conversation: messages, calls, sessions
// and what is asked of a model. Plain data that every other package speaks;
// no behaviour beyond its own encoding and the cleaning of text.
package chat

import (
	"context"
	"time"
)

// Role says who wrote a message. The values are those of the wire.
type Role string

// The four roles of a chat-completions transcript.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of the transcript.
type Message struct {
	Role    Role
	Content string
	// Notice marks a user message that the program wrote (a loop warning, a
	// nudge), so that it is never taken for a request of the person.
	Notice bool

	// Reasoning is the thinking text of a reply, kept verbatim: some servers
	// refuse a conversation that lacks it. ReasoningKey is the name it came
	// under ("reasoning_content" or "reasoning"); not empty, it says that the
	// field was there, even with an empty text.
	Reasoning    string
	ReasoningKey string
	// Details is the merged reasoning_details list as raw JSON, or empty.
	Details string
	// Host is the host (host:port of the base URL) whose model wrote the
	// reply; thinking is never sent to another.
	Host string

	ToolCalls  []ToolCall // assistant only
	ToolCallID string     // tool only: the call that this answers
	Images     []Image    // user only
}

// Image is a picture that goes with a user message. The file stays where it
// is: Size in bytes and Hash (SHA-256, hexadecimal) tell whether it is still
// the same. MIME is image/png, image/jpeg, image/gif or image/webp.
type Image struct {
	Path string
	Size int64
	Hash string
	MIME string
}

// ToolCall is one request of the model to use a tool. Args is the text the
// model wrote, untouched: it may not be JSON. Extra is a raw JSON object of
// further keys that the server wants back (thought signatures), or empty.
type ToolCall struct{ ID, Name, Args, Extra string }

// Usage counts tokens as the server reported them; zero means not reported.
// Cached is the part of Prompt served from a cache, Reasoning the part of
// Completion spent on thinking.
type Usage struct{ Prompt, Completion, Cached, Reasoning int }

// Total is what the server bills for: prompt and completion.
func (u Usage) Total() int { return u.Prompt + u.Completion }

// Add sums two counts.
func (u Usage) Add(o Usage) Usage {
	return Usage{u.Prompt + o.Prompt, u.Completion + o.Completion, u.Cached + o.Cached, u.Reasoning + o.Reasoning}
}

// Session is a transcript with its identity and counters. The system message
// is rebuilt for every request and never stored here.
type Session struct {
	ID, Dir  string
	Model    string
	Mode     string // the word of the mode it was last in; "" is not known
	Name     string // by the person; "" has none
	Created  time.Time
	Messages []Message
	Steps    int
	Total    Usage // billed so far
	Context  int   // estimated tokens in the next request; not Total
	Window   int   // tokens of Model's window as its server told or taught, 0 if it did not
	Jobs     bool  // a command was started in the background
}

// ToolSpec is what the model is told of a tool. Params is a JSON Schema
// object, sent verbatim.
type ToolSpec struct{ Name, Desc, Params string }

// Request is one question to the model. The slices belong to the caller and
// are only read.
type Request struct {
	System   string
	Messages []Message
	Tools    []ToolSpec
	Once     bool // a reply that is empty is the answer: it is not asked for again
}

// Delta is one piece of a reply as it arrives, or word of what happens on the
// way. At most one field is set.
type Delta struct {
	Text      string
	Reasoning string
	Notice    string // for the person: a retry, a repaired request
	Restart   bool   // what was shown of this reply is void, it is asked for again
	Progress  int    // per cent of the prompt that the server has read, 1-100
}

// Finish says why the model stopped, in lower case.
type Finish string

// The reasons to stop; whatever else a server says counts as FinishStop.
const (
	FinishStop   Finish = "stop"
	FinishCalls  Finish = "tool_calls"
	FinishLength Finish = "length"
	FinishFilter Finish = "content_filter"
)

// Reply is a whole answer. Window is the context size in tokens that the
// server told or that was learnt from it, 0 if none.
type Reply struct {
	Message Message
	Finish  Finish
	Usage   Usage
	Window  int
}

// Model answers requests. With an error the reply may still hold the text that
// had arrived, never calls. onDelta is called on the caller's goroutine and
// may be nil.
type Model interface {
	Chat(ctx context.Context, req Request, onDelta func(Delta)) (Reply, error)
}

// OverflowError says that the conversation does not fit the model's window.
// Limit is the window in tokens when the server named it, else 0.
type OverflowError struct {
	Limit int
	Err   error
}

func (e *OverflowError) Error() string { return e.Err.Error() }

// Unwrap returns the server's own error.
func (e *OverflowError) Unwrap() error { return e.Err }
