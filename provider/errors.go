package provider

import (
	"errors"
	"fmt"
	"time"

	"cluade/internal/chat"
)

// ErrIncomplete says that a reply ended without its end.
var ErrIncomplete = errors.New("reply broke off")

// ErrTimeout says that one of the client's own limits ended the wait.
var ErrTimeout = errors.New("timeout")

// Class sorts what a server answered in place of a reply.
type Class string

// The classes. The last six are faults of the way rather than of the request.
const (
	Auth             Class = "auth"
	Billing          Class = "billing"
	RateLimit        Class = "rate_limit"
	Overloaded       Class = "overloaded"
	ContextOverflow  Class = "context_overflow"
	ContentFilter    Class = "content_filter"
	UnsupportedParam Class = "unsupported_param"
	BadRequest       Class = "bad_request"
	NotFound         Class = "not_found"
	NotAPI           Class = "not_api" // a web page, a redirect, a wrong path
	Network          Class = "network" // no headers came
	StreamCut        Class = "stream_cut"
	StreamError      Class = "stream_error"
	Stall            Class = "stall"
	EmptyResponse    Class = "empty_response"
	Cancelled        Class = "cancelled"
)

// StatusError is an answer that is no reply: an HTTP status of 300 or more, an
// error inside a 200, or a 200 that holds nothing. Message is the server's own
// text, cleaned and bounded, without the key. An overflow comes wrapped in a
// *chat.OverflowError.
type StatusError struct {
	Class      Class
	Code       int // HTTP status, or the one named inside a 200; 0 if none
	Message    string
	RetryAfter time.Duration // the server's own wait, 0 if it named none
}

func (e *StatusError) Error() string {
	if e.Code == 0 {
		return "request failed (" + e.Message + ")"
	}
	return fmt.Sprintf("request failed (HTTP %d: %s)", e.Code, e.Message)
}

// advice is what a failed attempt asks for, looked at by itself. What is then
// done is decided in retry.go.
type advice string

const (
	adviseNo      advice = "no"
	adviseBackoff advice = "backoff"
	adviseAfter   advice = "after"   // wait as long as the server said
	adviseResend  advice = "resend"  // the same request at once
	adviseCompact advice = "compact" // the conversation is too long
	adviseDrop    advice = "drop"    // leave param out
	adviseRename  advice = "rename"  // send param under another name
	adviseClamp   advice = "clamp"   // lower param
	adviseNone    advice = "set_none"
	adviseAdd     advice = "add" // send param, which is missing
	adviseMove    advice = "redirect"
)

// failure is an attempt that gave no reply.
type failure struct {
	class   Class
	advice  advice
	code    int    // HTTP status or the one inside a 200, 0 if none
	message string // the server's words or ours, fit for a person
	err     error  // what Chat returns; nil makes a StatusError of the above

	after   time.Duration // the server's own wait
	param   string        // the field to repair
	limit   int           // a number learnt: the window, or the most max_tokens
	exact   int           // what to send of that: a limit may itself be excluded
	loading bool          // a local server reads its model: patience
	clean   bool          // the stream ended in order, only without its mark
	noData  bool          // not one data event had come
	target  string        // where a redirect leads
	words   string        // all that the server said, lower case, to look for wordings
}

// fail builds a failure of the way. what stands between the brackets.
func fail(class Class, a advice, cause error, what string) *failure {
	err := fmt.Errorf("request failed (%s)", what)
	if cause != nil {
		err = &wrapped{err.Error(), cause}
	}
	return &failure{class: class, advice: a, message: what, err: err}
}

// wrapped is a whole sentence of ours with the cause for errors.Is.
type wrapped struct {
	text  string
	cause error
}

func (w *wrapped) Error() string { return w.text }
func (w *wrapped) Unwrap() error { return w.cause }

// final is the error that Chat returns.
func (f *failure) final() error {
	if f.err != nil {
		return f.err
	}
	e := &StatusError{Class: f.class, Code: f.code, Message: f.message, RetryAfter: f.after}
	if f.class == ContextOverflow {
		return &chat.OverflowError{Limit: f.limit, Err: e}
	}
	return e
}
