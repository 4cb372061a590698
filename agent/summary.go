package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cluade/internal/chat"
)

// Why a conversation is replaced by a summary, as the summary says it.
const (
	userAsked  = "The user asked for a summary. "
	windowFull = "The window was full. "
)

// summaryAsk is the message that asks for a summary. The tags part what the
// model only thinks from what is kept.
const summaryAsk = `[notice from cluade: this conversation is about to be replaced by a summary of it, and everything else in it is lost to you. Write that summary now. Call no tool: none would run.
First go through the conversation between a line <analysis> and a line </analysis>. Then write the summary between a line <summary> and a line </summary>: the task and what the user wants, what was done, exact paths, names and commands, decisions and their reasons, errors and how they were mended, and what remains, with the next thing to do.]`

// Compact asks the model for a summary and puts it in the place of the whole
// conversation, between two turns, and returns what that cost. wish is what the
// person wants of the summary, "" for nothing. Any error, a cancelled ctx too,
// leaves the conversation as it was.
func (a *Agent) Compact(ctx context.Context, wish string) (chat.Usage, error) {
	a.turn = turn{}
	s := a.o.Session
	if len(s.Messages) == 0 || len(s.Messages) == 1 && isOpening(s.Messages[0]) {
		return chat.Usage{}, errNothing
	}
	a.o.Emit(Notice{Text: "asking the model for a summary"})
	err := a.compactNow(ctx, len(s.Messages), userAsked, wish)
	s.Context = a.meter.context(s)
	a.save(a.o.Journal.State(s)) // a summary that was of no use was paid for too
	return a.turn.usage, err
}

// errNothing says that a summary would replace nothing.
var errNothing = errors.New("there is nothing to compact")

// compactNow replaces the first n messages by a summary that the model is asked
// for.
func (a *Agent) compactNow(ctx context.Context, n int, why, wish string) error {
	old := a.o.Session.Messages[:n]
	summary, err := a.askSummary(ctx, old, wish)
	if err == nil {
		err = worthIt(summary, old)
	}
	if err != nil {
		return err
	}
	m := opening(why+summaryMark+summary+a.whereAll(), old)
	if a.fits(len(m.Content)+size(a.o.Session.Messages[n:])) != nil {
		return fmt.Errorf("the summary has %d bytes and would leave no room in the window", len(summary))
	}
	before := a.meter.context(a.o.Session)
	a.replace(n, m)
	a.journalReset("compact")
	a.o.Emit(Compacted{Before: before, After: a.meter.context(a.o.Session)})
	return nil
}

// whereAll tells the model where what was left out can be looked up.
func (a *Agent) whereAll() string {
	if a.o.Env.Session == "" || a.saveErr != nil {
		return ""
	}
	return "\n\nAll that was said is in " + a.o.Env.Session + ", a JSON record a line: look things up there with grep, never read it whole."
}

// worthIt says why a summary may not take the place of old.
func worthIt(summary string, old []chat.Message) error {
	if n := size(old); len(summary) > max(n, smallTalk) {
		return fmt.Errorf("the summary has %d bytes, more than the %d that it would replace", len(summary), n)
	}
	return nil
}

// askSummary sends the old messages as they went out, with one more: what a
// server has read before costs least. The system message and the tools are those
// of the last request, and a transcript only grows. Whatever tools the reply
// calls, none runs.
func (a *Agent) askSummary(ctx context.Context, old []chat.Message, wish string) (string, error) {
	req := a.sent
	if req.System == "" && req.Tools == nil {
		req = a.request()
	}
	a.meter.measure(a.o.Session, req)
	ask := summaryAsk
	if wish = strings.TrimSpace(wish); wish != "" {
		ask += "\n\nOf the summary the user says: " + wish
	}
	req.Messages = append(old[:len(old):len(old)], chat.Message{Role: chat.User, Notice: true, Content: ask})
	tokens := a.meter.tokens(a.meter.fixed + size(req.Messages))
	if limit := a.ContextLimit(); tokens/2 > limit {
		return "", fmt.Errorf("to ask for a summary takes about %d tokens, context_limit is %d", tokens, limit)
	}
	req.Once = true
	a.o.Emit(Summarizing{})
	reply, err := a.o.Model.Chat(ctx, req, a.aside)
	a.bill(reply, err, tokens)
	switch {
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case err != nil:
		return "", err
	case reply.Finish == chat.FinishLength:
		return "", errors.New("the summary was cut at the output limit")
	case reply.Finish == chat.FinishFilter:
		return "", errors.New("the server's content filter ended the summary")
	}
	return parseSummary(chat.CleanText(reply.Message.Content))
}

// aside tells what happens to a request whose reply is not for the person.
func (a *Agent) aside(d chat.Delta) {
	if d.Notice != "" || d.Progress > 0 {
		a.delta(d)
	}
	if n := len(d.Text) + len(d.Reasoning); n > 0 {
		a.o.Emit(Summarizing{n})
	}
}

// parseSummary takes the summary out of a reply. Tags count where a line begins
// with them, for a summary may speak of tags; what ends it may also end a line
// where no line begins with it. Without tags all but the analysis is the summary.
// One that was begun and not ended is not whole.
func parseSummary(text string) (string, error) {
	text = withoutAnalysis("\n" + strings.TrimSpace(text))
	if _, rest, ok := strings.Cut(text, "\n<summary>"); ok {
		end := strings.LastIndex(rest, "\n</summary>")
		if end < 0 {
			end = strings.LastIndex(rest+"\n", "</summary>\n")
		}
		if end < 0 {
			return "", errors.New("the summary was not finished")
		}
		text = rest[:end]
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errors.New("the summary is empty")
	}
	return text, nil
}

// withoutAnalysis takes the analysis out of a text, or all of the text that an
// analysis without end leaves nothing of.
func withoutAnalysis(text string) string {
	before, rest, ok := strings.Cut(text, "\n<analysis>")
	if !ok || strings.Contains(before, "\n<summary>") {
		return text
	}
	line, _, _ := strings.Cut(rest, "\n")
	if i := strings.Index(line, "</analysis>"); i >= 0 {
		return before + "\n" + rest[i+len("</analysis>"):]
	}
	if _, after, ok := strings.Cut(rest, "\n</analysis>"); ok {
		return before + "\n" + after
	}
	if i := strings.Index(rest, "\n<summary>"); i >= 0 {
		return before + rest[i:]
	}
	if i := strings.LastIndex(rest, "</analysis>"); i >= 0 {
		return before + "\n" + rest[i+len("</analysis>"):]
	}
	return ""
}
