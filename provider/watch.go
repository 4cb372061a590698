package provider

import (
	"context"
	"fmt"
	"io"
	"time"
)

// timeoutError says which limit ended an exchange.
type timeoutError struct {
	limit time.Duration
	after string // " in the middle of the reply", or ""
}

func (e *timeoutError) Error() string {
	return fmt.Sprintf("timeout after %gs%s", e.limit.Seconds(), e.after)
}

func (e *timeoutError) Is(target error) bool { return target == ErrTimeout }

// grace is the limit on silence once a reply is complete: only usage and the
// end mark can follow, and some servers leave the connection open instead.
const grace = 3 * time.Second

// watch ends an exchange that has stopped to move. There is no limit on a live
// stream as a whole: a good reply may take an hour on a slow device.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	o      *Options
	plain  bool // one limit on the whole
	begun  bool // the first byte of the body has come
	idle   time.Duration
	bytes  *time.Timer // until the next byte
	data   *time.Timer // from the first byte on until the next event with data; comments do not count
}

// newWatch starts the clock for the first byte of a stream, or for the whole
// of a plain exchange.
func newWatch(ctx context.Context, o *Options, stream bool) *watch {
	w := &watch{o: o, plain: !stream, idle: o.IdleTimeout}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	first := o.FirstByteTimeout
	if w.plain {
		first = o.RequestTimeout
	}
	w.bytes = w.limit(first, "")
	return w
}

func (w *watch) limit(d time.Duration, after string) *time.Timer {
	return time.AfterFunc(d, func() { w.cancel(&timeoutError{d, after}) })
}

// stop ends the watch and whatever still hangs on its context.
func (w *watch) stop() {
	w.bytes.Stop()
	if w.data != nil {
		w.data.Stop()
	}
	w.cancel(nil)
}

// timeout is the limit that ended the exchange, nil if none did.
func (w *watch) timeout() *timeoutError {
	t, _ := context.Cause(w.ctx).(*timeoutError)
	return t
}

// stall is the failure of an exchange that stood still, nil if it did not. After
// the time for the whole of it there is no other try.
func (w *watch) stall() *failure {
	t := w.timeout()
	switch {
	case t == nil:
		return nil
	case w.plain:
		return fail(Stall, adviseNo, t, t.Error())
	}
	return fail(Stall, adviseResend, t, t.Error())
}

// gotData notes an event with data.
func (w *watch) gotData() {
	if w.data != nil {
		w.data.Reset(w.o.RequestTimeout)
	}
}

func (w *watch) gotByte() {
	switch {
	case w.plain:
	case w.begun:
		w.bytes.Reset(w.idle)
	default:
		w.begun = true
		w.setIdle(w.idle)
		w.data = w.limit(max(w.o.FirstByteTimeout, w.o.RequestTimeout), " without data")
	}
}

// finished shortens the limit when the reply is complete, and undoes that when
// more of it comes all the same.
func (w *watch) finished(yes bool) {
	if !w.plain && yes {
		w.setIdle(min(grace, w.o.IdleTimeout))
	} else if !w.plain {
		w.setIdle(w.o.IdleTimeout)
	}
}

func (w *watch) setIdle(d time.Duration) {
	w.bytes.Stop()
	w.idle = d
	w.bytes = w.limit(d, " in the middle of the reply")
}

// drain reads what little may follow a whole reply, so that the connection can
// serve the next request. A server that leaves it open is not waited for.
func (w *watch) drain(r io.Reader) {
	w.setIdle(drainTime)
	io.CopyN(io.Discard, r, 4096)
}

const drainTime = 200 * time.Millisecond

// reader passes r through and counts its bytes as signs of life.
func (w *watch) reader(r io.Reader) io.Reader { return watchedReader{w, r} }

type watchedReader struct {
	w *watch
	r io.Reader
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.w.gotByte()
	}
	return n, err
}
