package store

import (
	"cluade/internal/chat"
)

// interrupted is the result of a call that a crash or a closed terminal cut off.
const interrupted = "error: interrupted before this call finished"

// repair is what was done to a transcript so that a server takes it.
type repair struct {
	msgs    []chat.Message
	same    int    // the first messages that are those of the file
	pending string // the prompt of the person that had no answer
	calls   int    // calls that got a result
	dropped int    // results without a call, and what stood before the first user message
}

// repairTranscript makes a legal transcript of msgs: it begins with a user
// message, every call has one result, directly after the message that asked and
// in the order of its calls, and no unanswered user message is at the end. The
// first fixed messages are never taken for unanswered: they are a summary.
func repairTranscript(msgs []chat.Message, fixed int) repair {
	var r repair
	start := 0
	for start < len(msgs) && msgs[start].Role != chat.User {
		start++
	}
	r.dropped = start
	end := len(msgs)
	for end > max(start, fixed) && msgs[end-1].Role == chat.User {
		end--
		if m := msgs[end]; !m.Notice {
			r.pending = joinPending(m.Content, r.pending)
		}
	}
	for i := start; i < end; {
		next := i + 1
		if msgs[i].Role == chat.Assistant {
			for next < end && msgs[next].Role != chat.Assistant {
				next++
			}
		}
		r.exchange(msgs[i:next])
		i = next
	}
	for r.same < len(r.msgs) && r.same < len(msgs) && equal(r.msgs[r.same], msgs[r.same]) {
		r.same++
	}
	return r
}

func joinPending(a, b string) string {
	if b == "" {
		return a
	}
	return a + "\n" + b
}

// exchange takes an assistant message with what follows it up to the next one,
// or a single other message. Ids need to be unique in an exchange only: some
// servers count their calls anew in every reply.
func (r *repair) exchange(msgs []chat.Message) {
	calls := msgs[0].ToolCalls
	results := make([]*chat.Message, len(calls))
	var others []chat.Message
	for k := range msgs {
		m := &msgs[k]
		if m.Role != chat.Tool {
			others = append(others, *m)
			continue
		}
		if i := openCall(calls, results, m.ToolCallID); i >= 0 {
			results[i] = m
			continue
		}
		r.dropped++
	}
	if len(others) == 0 {
		return
	}
	r.msgs = append(r.msgs, others[0])
	for i, c := range calls {
		if results[i] == nil {
			r.calls++
			r.msgs = append(r.msgs, chat.Message{Role: chat.Tool, ToolCallID: c.ID, Content: interrupted})
			continue
		}
		r.msgs = append(r.msgs, *results[i])
	}
	r.msgs = append(r.msgs, others[1:]...)
}

// openCall is the index of the first call with that id and no result yet, -1 if
// there is none.
func openCall(calls []chat.ToolCall, results []*chat.Message, id string) int {
	for i, c := range calls {
		if c.ID == id && results[i] == nil {
			return i
		}
	}
	return -1
}

// equal compares what repair can exchange: the kind, the text and the call of a
// message.
func equal(a, b chat.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.ToolCallID == b.ToolCallID && len(a.ToolCalls) == len(b.ToolCalls)
}
