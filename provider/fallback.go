package provider

import (
	"context"
	"errors"

	"cluade/internal/chat"
)

// Fallback asks one endpoint after the other: the next one when the one before
// has failed for good and nothing of an answer was shown. The one that
// answered stays for the rest of the session. Thinking goes to nobody but the
// host that it came from.
type Fallback struct {
	clients []*Client
	at      int
}

// NewFallback takes the endpoints in their order, at least one.
func NewFallback(clients ...*Client) *Fallback { return &Fallback{clients: clients} }

// Client is the endpoint that is asked now.
func (f *Fallback) Client() *Client { return f.clients[f.at] }

// Model is the model that is asked now.
func (f *Fallback) Model() string { return f.Client().o.Model }

// SetModel goes back to the first endpoint, with that model.
func (f *Fallback) SetModel(name string) {
	f.at = 0
	f.Client().SetModel(name)
}

// Close ends what each endpoint holds open; all can be used on after it.
func (f *Fallback) Close() error {
	var first error
	for _, c := range f.clients {
		if err := c.Close(); first == nil {
			first = err
		}
	}
	return first
}

// Chat is that of Client, as chat.Model has it.
func (f *Fallback) Chat(ctx context.Context, req chat.Request, onDelta func(chat.Delta)) (chat.Reply, error) {
	for {
		shown := false
		reply, err := f.Client().Chat(ctx, req, func(d chat.Delta) {
			shown = shown || d.Text != ""
			if onDelta != nil {
				onDelta(d)
			}
		})
		if err == nil || shown || f.at+1 >= len(f.clients) || ctx.Err() != nil || !helps(err) {
			return reply, err
		}
		f.at++
		if onDelta != nil {
			onDelta(chat.Delta{Notice: err.Error() + "; going on with " + f.Model() + " at " + shownURL(f.Client().base)})
		}
	}
}

// helps says whether another endpoint may do what this one did not. A
// conversation that is too long is shortened first, and what a filter stopped
// is not carried to the next.
func helps(err error) bool {
	var overflow *chat.OverflowError
	var status *StatusError
	if errors.As(err, &overflow) {
		return false
	}
	return !errors.As(err, &status) || status.Class != ContentFilter
}
