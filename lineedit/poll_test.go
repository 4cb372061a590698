package lineedit

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

func TestAwait(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if ready, err := Await(t.Context(), r, 0); ready || err != nil {
		t.Errorf("an empty pipe: %v, %v", ready, err)
	}
	if ready, err := Await(t.Context(), r, time.Millisecond); ready || err != nil {
		t.Errorf("an empty pipe after a while: %v, %v", ready, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if ready, err := Await(ctx, r, -1); ready || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", ready, err)
	}
	if _, err := Await(ctx, r, -1); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: %v", err)
	}
	w.WriteString("x")
	if ready, err := Await(t.Context(), r, -1); !ready || err != nil {
		t.Errorf("a byte: %v, %v", ready, err)
	}
	w.Close()
	r.Read(make([]byte, 1))
	if ready, err := Await(t.Context(), r, -1); !ready || err != nil {
		t.Errorf("the end: %v, %v", ready, err)
	}
}

// TestAwaitLeaksNothing waits often: each wait opens a pipe of its own.
func TestAwaitLeaksNothing(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	before := openFiles(t)
	for range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		cancelled := make(chan struct{})
		go func() { cancel(); close(cancelled) }()
		Await(ctx, r, -1)
		<-cancelled
	}
	if after := openFiles(t); after > before+2 {
		t.Errorf("%d files were open, then %d", before, after)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(list)
}
