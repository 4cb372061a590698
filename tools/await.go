package tools

import (
	"context"
	"time"
)

// await runs f and gives up on it when ctx ends or the time is over: reading a
// kernel file or a dead network mount may block in a way that nothing ends. f
// gets a context that ends with the wait; it is then abandoned, so it must not
// touch what others own. A panic of f continues in the caller.
func await[T any](ctx context.Context, limit time.Duration, f func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		val      T
		err      error
		panicked any
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.panicked = recover()
			done <- o
		}()
		o.val, o.err = f(ctx)
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.val, o.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
