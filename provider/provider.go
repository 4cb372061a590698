// Package provider is the client of one OpenAI-compatible endpoint: it encodes
// requests, reads streamed or plain replies, retries and repairs. It knows
// neither tools nor permissions. One goroutine uses a Client at a time.
package provider

import (
	"context"
	"errors"
	"io"
	"time"

	"cluade/internal/chat"
)

// ErrIncomplete says that a reply ended without its end.
var ErrIncomplete = errors.New("reply broke off")

// StatusError is an answer that is no reply: an HTTP status of 400 or more, or
// an error inside a 200. Message is the server's own text, cleaned and bounded,
// without the key.
type StatusError struct {
	Code       int // HTTP status, or the one named inside a 200; 0 if none
	Message    string
	RetryAfter time.Duration
}

func (e *StatusError) Error() string { return e.Message }

// Options configure a Client. Zero durations and counts take the defaults
// named.
type Options struct {
	BaseURL string
	Model   string
	Key     string // "" sends no Authorization header

	Stream           bool
	RequestTimeout   time.Duration // 600 s; a plain reply as a whole
	FirstByteTimeout time.Duration // RequestTimeout
	IdleTimeout      time.Duration // 120 s
	Retries          int           // taken as it is; 0 never retries

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

// Client is one endpoint with its connection and what was learnt of it.
type Client struct{ o Options }

// New checks the options; it opens no connection.
func New(o Options) (*Client, error) { return &Client{o}, nil }

// Chat sends one request and reads its reply. Retries, waits and repairs happen
// inside and are told through onDelta.
func (c *Client) Chat(ctx context.Context, req chat.Request, onDelta func(chat.Delta)) (chat.Reply, error) {
	return chat.Reply{}, errors.New("not built")
}

// SetModel changes the model for the next request.
func (c *Client) SetModel(name string) { c.o.Model = name }
