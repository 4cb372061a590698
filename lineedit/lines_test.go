package lineedit

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// feed is a pipe that the test writes into.
func feed(t *testing.T) (*Lines, *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return &Lines{In: r}, w
}

func TestLines(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"one\n", "one|"},
		{"one\r\ntwo\n\nlast", "one|two||last|"},
		{"a\rb\n", "a\rb|"},
		{"\n", "|"},
	}
	for _, tt := range tests {
		for piece := 1; piece <= len(tt.in)+1; piece++ {
			r, w := feed(t)
			go func() {
				for s := tt.in; s != ""; {
					n := min(piece, len(s))
					w.WriteString(s[:n])
					s = s[n:]
				}
				w.Close()
			}()
			var got strings.Builder
			for {
				line, err := r.Next(t.Context())
				if err != nil {
					if !errors.Is(err, io.EOF) {
						t.Errorf("Next: %v", err)
					}
					break
				}
				got.WriteString(line + "|")
			}
			if got.String() != tt.want {
				t.Errorf("%q in pieces of %d: %q, want %q", tt.in, piece, got.String(), tt.want)
			}
		}
	}
}

func TestLinesTooLong(t *testing.T) {
	r, w := feed(t)
	go func() {
		w.WriteString(strings.Repeat("x", maxMessage+5000))
		w.WriteString("\nnext\n")
		w.Close()
	}()
	if line, err := r.Next(t.Context()); !errors.Is(err, ErrLongLine) {
		t.Errorf("Next = %d bytes, %v", len(line), err)
	}
}

func TestLinesCancelled(t *testing.T) {
	r, w := feed(t)
	w.WriteString("begun")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if line, err := r.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Next = %q, %v", line, err)
	}
	w.WriteString(" ended\n")
	if line, err := r.Next(t.Context()); line != "begun ended" || err != nil {
		t.Errorf("Next = %q, %v", line, err)
	}
}
