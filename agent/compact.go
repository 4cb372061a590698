package agent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"cluade/internal/chat"
	"cluade/internal/policy"
)

// compactLater is the result of a call to compact until its step is over.
const compactLater = "the summary is taken; it replaces the conversation when this step's calls are done"

const (
	maxRequest = 4 << 10 // bytes of a request that a compaction keeps word for word
	smallTalk  = 1 << 10 // bytes below which any summary may replace a conversation
)

// The preamble of a summary. Lengths stand before the requests so that the first
// one can be found again, whatever it and the summary say.
const (
	preamble    = "[This continues an earlier conversation, whose messages were replaced by this one.]"
	firstBegin  = "\n\nThe user's first request, word for word ("
	lastBegin   = "\n\nThe user's last request, word for word ("
	requestUnit = " bytes):\n"
	summaryMark = "Summary of what was said and done:\n"
)

// takeSummary takes the model's own summary for the end of the step.
func (a *Agent) takeSummary(summary string) error {
	if a.turn.summary != "" {
		return errors.New("this step has compacted already")
	}
	if err := worthIt(summary, a.o.Session.Messages[:a.stepStart()]); err != nil {
		return fmt.Errorf("%w; nothing was compacted", err)
	}
	a.turn.summary = summary
	return nil
}

// stepStart is the index of the message whose calls are running.
func (a *Agent) stepStart() int {
	msgs := a.o.Session.Messages
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role == chat.Assistant {
			return i
		}
	}
	return len(msgs)
}

// compact puts the summary of this step, if it has one, in the place of all that
// was before the step. The step's own message and the results of its calls stay:
// no call is parted from its result.
func (a *Agent) compact() {
	if a.turn.summary == "" {
		return
	}
	s, step := a.o.Session, a.stepStart()
	before := a.meter.context(s)
	a.replace(step, opening(summaryMark+strings.TrimSpace(a.turn.summary), s.Messages[:step]))
	a.turn.summary = ""
	after := a.meter.context(s)
	told := fmt.Sprintf("context compacted: %d -> %d tokens (estimate)", before, after)
	for i, m := range s.Messages {
		if m.Role == chat.Tool && strings.HasPrefix(m.Content, compactLater) && callsCompact(s.Messages[1], m.ToolCallID) {
			s.Messages[i].Content = told + strings.TrimPrefix(m.Content, compactLater)
		}
	}
	a.journalReset("compact")
	a.o.Emit(Compacted{Before: before, After: after})
}

func callsCompact(m chat.Message, id string) bool {
	return slices.ContainsFunc(m.ToolCalls, func(c chat.ToolCall) bool { return c.ID == id && c.Name == compactName })
}

// replace puts m in the place of the first n messages. The journal is the
// caller's to tell.
func (a *Agent) replace(n int, m chat.Message) {
	s := a.o.Session
	s.Messages = append([]chat.Message{m}, s.Messages[n:]...)
	a.turn.start = max(0, a.turn.start+1-n)
	a.meter.forget()
}

// opening is the message that takes the place of msgs: what is said of them,
// after the person's first and last request as they were, so that the task
// survives a poor summary.
func opening(said string, msgs []chat.Message) chat.Message {
	var b strings.Builder
	b.WriteString(preamble)
	first, last := requests(msgs)
	if first != "" {
		writeRequest(&b, firstBegin, first)
	}
	if last != "" && last != first {
		writeRequest(&b, lastBegin, last)
	}
	b.WriteString("\n\n" + said)
	return chat.Message{Role: chat.User, Notice: true, Content: b.String()}
}

func isOpening(m chat.Message) bool { return m.Notice && strings.HasPrefix(m.Content, preamble) }

func writeRequest(b *strings.Builder, begin, text string) {
	text = shortRequest(text)
	b.WriteString(begin + strconv.Itoa(len(text)) + requestUnit + text)
}

// shortRequest cuts a request and says how much is missing.
func shortRequest(text string) string {
	if len(text) <= maxRequest {
		return text
	}
	n := maxRequest - len("\n[... 9223372036854775807 bytes cut ...]")
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + fmt.Sprintf("\n[... %d bytes cut ...]", len(text)-n)
}

// requests are the first and the last request of the person. What an earlier
// compaction replaced is looked for in its message.
func requests(msgs []chat.Message) (first, last string) {
	for i, m := range msgs {
		text := m.Content
		for _, im := range m.Images {
			text += "\n[image " + im.Path + "]"
		}
		switch {
		case m.Role != chat.User:
			continue
		case i == 0 && isOpening(m):
			first = keptRequest(text, preamble+firstBegin)
			if last = keptRequest(text, preamble+firstBegin+strconv.Itoa(len(first))+requestUnit+first+lastBegin); last == "" {
				last = first
			}
			continue
		case m.Notice:
			continue
		}
		if first == "" {
			first = text
		}
		last = text
	}
	return first, last
}

// keptRequest reads the request that follows begin in a preamble, "" if there is
// none.
func keptRequest(text, begin string) string {
	rest, ok := strings.CutPrefix(text, begin)
	if !ok {
		return ""
	}
	number, rest, _ := strings.Cut(rest, requestUnit)
	if n, err := strconv.Atoi(number); err == nil && n >= 0 && n <= len(rest) {
		return rest[:n]
	}
	return ""
}

// nudge asks the model to compact when the window has filled up to the
// threshold, once for each time that it does.
func (a *Agent) nudge() {
	used, limit := a.meter.context(a.o.Session), a.ContextLimit()
	if float64(used) < a.o.CompactAt*float64(limit) {
		a.nudged = false
		return
	}
	if a.overfull(used) && !a.o.NoCompaction && a.turn.compactions < maxCompactions {
		return // it will not be waited for
	}
	may := a.o.Policy.Refuse(policy.Subject{Tool: compactName, Effect: policy.Session})
	if a.nudged || may.Verdict != policy.Allow {
		return
	}
	a.nudged = true
	percent := int64(used) * 100 / int64(limit)
	a.record(chat.Message{
		Role: chat.User, Notice: true,
		Content: fmt.Sprintf("[notice from cluade: the context is %d %% full. Call compact now, with a summary that holds the task, "+
			"what was done, exact paths, decisions and their reasons, and what remains.]", percent),
	})
	a.o.Emit(Notice{Text: fmt.Sprintf("the context is %d %% full; the model was asked to compact it", percent)})
}
