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
	val := new(T) // belongs to f until that has ended
	ended, err := ends(ctx, limit, func(ctx context.Context) (err error) {
		*val, err = f(ctx)
		return err
	})
	if !ended {
		return *new(T), err
	}
	return *val, err
}

// ends is await for a function without a value, and says whether it came to its
// end.
func ends(ctx context.Context, limit time.Duration, f func(context.Context) error) (ended bool, err error) {
	type outcome struct {
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
		o.err = f(ctx)
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return true, o.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}
