package agent

import (
	"time"

	"cluade/internal/chat"
)

// Event is something the loop tells the front end. The set is closed; each
// renderer is one type switch.
type Event interface{ event() }

// StepStart opens step N of a turn, counted from 1.
type StepStart struct{ N int }

// TextDelta is a piece of the answer, as the model wrote it: not cleaned.
type TextDelta struct{ Text string }

// ReasoningDelta is a piece of the model's thinking, not cleaned.
type ReasoningDelta struct{ Text string }

// ReplyRestart says that the text shown since StepStart is void: the reply
// broke off and is asked for again.
type ReplyRestart struct{}

// Waiting reports life while no text comes: Progress is the per cent of the
// prompt that the server has read.
type Waiting struct{ Progress int }

// ReplyEnd closes the text of one reply; Calls says how many calls follow.
type ReplyEnd struct{ Calls int }

// CallStart announces a call that is about to run.
type CallStart struct {
	Call chat.ToolCall
	Gist string // path, command or host; one line, not cleaned
}

// CallEnd tells how a call ended and what the model reads. Gist is that of a
// call which was refused, and so had no CallStart.
type CallEnd struct {
	Call    chat.ToolCall
	Outcome Outcome
	Gist    string
	Text    string
	Elapsed time.Duration
}

// Notice is a sentence for the person. Warn marks one about a fault.
type Notice struct {
	Text string
	Warn bool
}

// Summarizing says that the model writes a summary, which nobody reads yet:
// once with 0 when it is asked, then with the bytes that came.
type Summarizing struct{ Bytes int }

// Compacted says that one message has taken the place of the conversation, or of
// its older part. The figures are estimates of its tokens.
type Compacted struct{ Before, After int }

// TurnEnd closes a turn. Answer is the text of the last reply, "" if that had
// calls; Err is what Turn returns.
type TurnEnd struct {
	Answer  string
	Usage   chat.Usage // of this turn
	Context int        // estimated tokens of the next request
	Elapsed time.Duration
	Refused int // calls that were denied or blocked
	Err     error
}

func (StepStart) event()      {}
func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (ReplyRestart) event()   {}
func (Waiting) event()        {}
func (ReplyEnd) event()       {}
func (CallStart) event()      {}
func (CallEnd) event()        {}
func (Notice) event()         {}
func (Summarizing) event()    {}
func (Compacted) event()      {}
func (TurnEnd) event()        {}

// Outcome is how a call ended.
type Outcome int

// The ways a call ends. Only Done counts as a success.
const (
	Done    Outcome = iota
	Failed          // ran and failed
	Invalid         // arguments or preview were wrong; nothing ran
	Denied          // refused by a rule, a level, a person, or for want of one
	Blocked         // refused by a hook
	Skipped         // cancelled before it began
)
