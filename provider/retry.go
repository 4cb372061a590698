package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"cluade/internal/chat"
)

// The most that one request is sent again, by cause. Retries and resends are
// counted apart: a stream that broke says nothing about a busy server.
const (
	maxResends   = 2
	maxRedirects = 3
	loadingLimit = 10 * time.Minute
)

// exchange is one request with what was spent on it.
type exchange struct {
	c       *Client
	ctx     context.Context
	req     chat.Request
	onDelta func(chat.Delta)

	url       *url.URL // where it goes, after a redirect where that led
	note      string   // for the model, after a call that its server could not read
	sent      []field
	size      int64 // of the last request, in bytes
	retries   int
	resends   int
	repairs   int
	redirects int
	cleanEnds int       // streams that ended in order without a mark
	noData    int       // streams in a row that ended before any data
	loading   time.Time // when the server was first found loading its model
	polls     int       // how often it was asked since
	madePlain bool      // a plain reply is asked for because streams broke off
	shown     bool      // the attempt has shown something
}

// step is what to do after an attempt that failed.
type step int

const (
	giveUp step = iota
	again
	accept // the text that came is the answer all the same
)

// next decides about a failure and, where the request is to be sent again,
// tells and waits.
func (x *exchange) next(f *failure, got *chat.Reply) step {
	if x.ctx.Err() != nil {
		return giveUp
	}
	var s step
	switch f.advice {
	case adviseMove:
		s = x.move(f)
	case adviseDrop, adviseRename, adviseClamp, adviseNone, adviseAdd:
		s = x.repair(f)
	case adviseBackoff, adviseAfter:
		s = x.backOff(f)
	case adviseResend:
		s = x.resend(f, got)
	case adviseCompact:
		s = x.lowerMax(f)
	}
	if s == again && x.shown {
		x.tell(chat.Delta{Restart: true})
	}
	return s
}

func (x *exchange) tell(d chat.Delta) {
	if x.onDelta != nil {
		x.onDelta(d)
	}
}

func (x *exchange) notice(format string, args ...any) {
	x.tell(chat.Delta{Notice: fmt.Sprintf(format, args...)})
}

// move follows a redirect. One that leads to another host was refused before.
func (x *exchange) move(f *failure) step {
	if f.target == "" || x.redirects >= maxRedirects {
		f.addHint("one redirect leads to another without an end")
		return giveUp
	}
	x.redirects++
	return again
}

func (x *exchange) repair(f *failure) step {
	if x.repairs >= maxRepairs || f.param == imageParam && !x.hasImages() || f.param == "messages.content" && !x.hasNull() {
		return giveUp
	}
	told, ok := x.c.mend(f, x.sent)
	if !ok {
		return giveUp
	}
	x.repairs++
	x.notice("%s", told)
	return again
}

func (x *exchange) hasImages() bool {
	for i := range x.req.Messages {
		if len(x.req.Messages[i].Images) > 0 {
			return true
		}
	}
	return false
}

// hasNull says whether a message goes out with null for its text.
func (x *exchange) hasNull() bool {
	for i := range x.req.Messages {
		if m := &x.req.Messages[i]; len(m.ToolCalls) > 0 && m.Content == "" {
			return true
		}
	}
	return false
}

// lowerMax answers an overflow that our own max_tokens is the cause of: prompt
// and output together are beyond the window. Only then the conversation need
// not be shortened.
func (x *exchange) lowerMax(f *failure) step {
	name, n := x.c.maxTokens()
	if x.repairs >= maxRepairs || valueOf(x.sent, name) == "" || f.limit == 0 || !hasAny(f.words, "max_tokens", "max_new_tokens", "max_completion_tokens", "in the completion", "context limit:") {
		return giveUp
	}
	room := f.limit - x.promptSize(f.words)
	if room < minRoom || room >= n {
		return giveUp
	}
	x.repairs++
	x.c.learnt().maxTokens = room
	x.notice("the window holds %d tokens; %s is lowered to %d", f.limit, name, room)
	return again
}

// minRoom is the least room for an answer that is worth asking for.
const minRoom = 1024

// promptWords lead to the size of the prompt in a complaint about prompt and
// output together; see overflowWords for the notation.
var promptWords = []string{"exceed context limit: # +", "given: # `inputs`", "(# in the messages", "has # input tokens", "# in the prompt", "prompt contains at least # input tokens"}

// promptSize is the size of the prompt in tokens: as the server said, else an
// estimate that is rather too high.
func (x *exchange) promptSize(words string) int {
	for _, p := range promptWords {
		if n, ok := match(words, p); ok && n > 0 {
			return n
		}
	}
	return int(x.size / 3)
}

// backOff waits for a server that is busy, or as long as it said. A local
// server that still reads its model is waited for with patience.
func (x *exchange) backOff(f *failure) step {
	if f.loading {
		return x.waitLoading(f.after)
	}
	if f.class == Network && errors.Is(f.err, ErrTimeout) || x.retries >= x.c.o.Retries {
		return giveUp
	}
	wait := x.c.pause(x.retries)
	if f.advice == adviseAfter || f.after > 0 {
		wait = f.after
	}
	x.retries++
	x.notice("retry %d/%d in %s: %s", x.retries, x.c.o.Retries, seconds(wait), f.short())
	return x.sleep(wait)
}

// waitLoading waits as long as the server asks for, or asks often.
func (x *exchange) waitLoading(asked time.Duration) step {
	if x.loading.IsZero() {
		x.loading = time.Now()
		x.notice("the server is loading its model; waiting up to %.0f minutes", loadingLimit.Minutes())
	}
	left := loadingLimit - time.Since(x.loading)
	if left <= 0 {
		return giveUp
	}
	wait := x.c.pause(min(x.polls, 2))
	if asked > 0 {
		wait = asked
	}
	x.polls++
	return x.sleep(min(wait, left))
}

// resend sends the same request at once. No call of the lost reply ran, so
// nothing happens twice.
func (x *exchange) resend(f *failure, got *chat.Reply) step {
	most := min(maxResends, x.c.o.Retries)
	switch {
	case f.class == BadRequest: // a call that the server's own parser refused
		return x.askAgain(f)
	case f.class == EmptyResponse, f.class == StreamError:
		most = min(1, most)
	case f.clean:
		if x.cleanEnds++; x.cleanEnds > 1 && got.Message.Content != "" {
			x.notice("the server does not mark the end of its replies; this one may be cut")
			return accept
		}
	}
	if x.noData++; !f.noData {
		x.noData = 0
	}
	if x.noData == 2 && x.c.streams() && most > 1 {
		x.resends++
		x.madePlain, x.c.learnt().plain = true, true
		x.notice("the stream broke off twice without data; asking for a plain reply")
		return again
	}
	if f.clean && x.cleanEnds > 1 && !f.noData {
		f.addHint("it ends there again; the limit on the output (max_tokens) may be too small for the call")
		return giveUp
	}
	if x.resends >= most {
		x.explain(f)
		return giveUp
	}
	x.resends++
	x.notice("%s; asking again (%d/%d)", f.short(), x.resends, most)
	return again
}

// askAgain repeats a request whose reply the server could not parse, and then
// tells the model what was wrong.
func (x *exchange) askAgain(f *failure) step {
	if x.resends >= min(maxResends, x.c.o.Retries) {
		return giveUp
	}
	if x.resends++; x.resends == 2 {
		x.note = "Your last tool call could not be read by the server: " + f.message + "\nCall a tool again with arguments that are one valid JSON object."
	}
	x.notice("the model's call could not be read; asking again")
	return again
}

// explain adds what probably lies behind a fault that came back.
func (x *exchange) explain(f *failure) {
	switch {
	case f.class == EmptyResponse:
		f.addHint("the context window may be full, or the model failed to write a call")
	case f.class == StreamError && strings.Contains(f.words, "tool call arguments"):
		f.addHint("the limit on the output (max_tokens) may be too small for the call")
	}
}

// addHint adds a clause to the sentence that the person reads.
func (f *failure) addHint(s string) {
	f.message += "; " + s
	if f.err != nil {
		f.err = &wrapped{fmt.Sprintf("request failed (%s)", f.message), errors.Unwrap(f.err)}
	}
}

// short names a failure within a notice, without what to do about it.
func (f *failure) short() string {
	if f.code > 0 {
		return fmt.Sprintf("HTTP %d", f.code)
	}
	what, _, _ := strings.Cut(f.message, "; ")
	return chat.EscapeText(what, 80)
}

// pause is the wait before retry n, counted from 0: 1, 3, 9 and so on seconds,
// a fifth more or less so that many clients do not come back as one.
func (c *Client) pause(n int) time.Duration {
	d := c.unit
	for ; n > 0 && d < longestWait; n-- {
		d *= 3
	}
	return time.Duration(float64(min(d, longestWait)) * (0.8 + 0.4*rand.Float64()))
}

// seconds shows a wait, without parts of a second that nobody counts.
func seconds(d time.Duration) string {
	if d >= time.Second/2 {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Second / 10).String()
}

// sleep waits, unless the person has had enough.
func (x *exchange) sleep(d time.Duration) step {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return again
	case <-x.ctx.Done():
		return giveUp
	}
}
