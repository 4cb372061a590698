// Package provider is the client of one OpenAI-compatible endpoint: it encodes
// requests, reads streamed or plain replies, retries and repairs. It knows
// neither tools nor permissions. One goroutine uses a Client at a time.
//
// A reply is judged twice. What the server sent is classed by itself alone
// (classify.go, reply.go); what is done about it depends on what this request
// has already cost (retry.go). No text that leaves the package holds the key.
package provider

import (
	"io"
	"time"
)

// Options configure a Client. Zero durations take the defaults named.
type Options struct {
	BaseURL string
	Model   string
	Key     string // "" sends no Authorization header

	Stream           bool
	RequestTimeout   time.Duration // 600 s; a plain reply as a whole
	FirstByteTimeout time.Duration // RequestTimeout
	IdleTimeout      time.Duration // 120 s
	Retries          int           // taken as it is; 0 never sends again

	// The next four are sent where the host's row of quirks says so. A pointer
	// or Set flag tells what the user asked for from a mere default.
	Thinking     bool // only false turns it off
	ThinkingSet  bool
	Effort       string
	EffortSet    bool
	MaxTokens    int
	MaxTokensSet bool

	ExtraBody string      // raw JSON object merged into the request, or ""
	Headers   [][2]string // extra request headers
	Quirks    string      // raw JSON object: the config's overrides of the host's row, or ""
	TextTools string      // "auto", "true" or "false"
	CAFile    string      // extra PEM roots
	Insecure  bool        // any certificate, on private addresses only
	Trace     string      // file that gets one JSON line an attempt, or ""
	Debug     io.Writer   // --show-tools-json, or nil
	Version   string      // for the User-Agent
}

// withDefaults fills the limits that are not set.
func (o Options) withDefaults() Options {
	if o.RequestTimeout <= 0 {
		o.RequestTimeout = 600 * time.Second
	}
	if o.FirstByteTimeout <= 0 {
		o.FirstByteTimeout = o.RequestTimeout
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 120 * time.Second
	}
	return o
}
