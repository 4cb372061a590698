package proc

import (
	"math/rand"
	"strings"
	"testing"
	"unicode/utf8"
)

func captured(keep int, pieces ...string) (head, tail string, dropped int64) {
	c := NewCapture(keep)
	for _, p := range pieces {
		c.Add([]byte(p))
	}
	return c.Text()
}

func TestCapture(t *testing.T) {
	tests := []struct {
		keep       int
		pieces     []string
		head, tail string
		dropped    int64
	}{
		{10, nil, "", "", 0},
		{10, []string{"0123456789"}, "0123456789", "", 0},
		{10, []string{"01234", "56789"}, "0123456789", "", 0},
		{10, []string{"0123456789a"}, "012345", "789a", 1},
		{10, []string{"0", "12345678", "9abcdef"}, "012345", "cdef", 6},
		{10, []string{"012345", "678", "9a", "b"}, "012345", "89ab", 2},
		{0, []string{"no ", "limit"}, "no limit", "", 0},
		{1, []string{"abc"}, "a", "", 2},
		{2, []string{"abc"}, "ab", "", 1},
		{10, []string{"01234üabcdüxyz"}, "01234", "xyz", 8}, // both ü would be halved
		{3, []string{"üü"}, "ü", "", 2},
		{10, []string{"0123漢漢漢漢漢"}, "0123", "漢", 12},
		{10, []string{"012👍👍👍👍👍"}, "012", "👍", 16},
		{10, []string{"01234\xff\xff\xff\x80\x80\x80\x80"}, "01234\xff", "\x80\x80\x80\x80", 2},
	}
	for _, tt := range tests {
		head, tail, dropped := captured(tt.keep, tt.pieces...)
		if head != tt.head || tail != tt.tail || dropped != tt.dropped {
			t.Errorf("capture of %d bytes from %q = %q, %q, %d, want %q, %q, %d",
				tt.keep, tt.pieces, head, tail, dropped, tt.head, tt.tail, tt.dropped)
		}
	}
}

// TestCaptureAnyPieces compares with the plain definition, for texts of every
// length around the limit in pieces of every size.
func TestCaptureAnyPieces(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	text := "abcdefghijklmnopqrstuvwxyz0123456789"
	for keep := 1; keep < 20; keep++ {
		for size := range len(text) + 1 {
			s := text[:size]
			var pieces []string
			for rest := s; rest != ""; {
				n := 1 + rnd.Intn(len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			wantHead, wantTail := s, ""
			if size > keep {
				last := keep * 2 / 5
				wantHead, wantTail = s[:keep-last], s[size-last:]
			}
			head, tail, dropped := captured(keep, pieces...)
			if head != wantHead || tail != wantTail || dropped != int64(max(0, size-keep)) {
				t.Fatalf("capture of %d bytes from %q = %q, %q, %d, want %q, %q", keep, pieces, head, tail, dropped, wantHead, wantTail)
			}
		}
	}
}

func TestCaptureMemory(t *testing.T) {
	c := NewCapture(1000)
	piece := []byte(strings.Repeat("x", 3333))
	for range 1000 {
		c.Add(piece)
	}
	if n := cap(c.head) + cap(c.ring); n > 2000 {
		t.Errorf("a capture of 1000 bytes holds %d, want at most 2000", n)
	}
	if c.Total != 3333000 {
		t.Errorf("total = %d, want 3333000", c.Total)
	}
}

func FuzzCapture(f *testing.F) {
	f.Add("01234üabcdüxyz", 10, 3)
	f.Add("\xff\x80\xc3", 1, 1)
	f.Fuzz(func(t *testing.T, s string, keep, size int) {
		keep, size = max(1, min(keep, 1<<16)), max(1, size)
		c := NewCapture(keep)
		for rest := []byte(s); len(rest) > 0; {
			n := min(size, len(rest))
			c.Add(rest[:n])
			rest = rest[n:]
		}
		head, tail, dropped := c.Text()
		if len(head)+len(tail) > keep || int64(len(head)+len(tail))+dropped != int64(len(s)) {
			t.Errorf("capture of %d bytes from %q = %q, %q, %d", keep, s, head, tail, dropped)
		}
		if !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Errorf("capture of %q = %q, %q, not its ends", s, head, tail)
		}
		if utf8.ValidString(s) && (!utf8.ValidString(head) || !utf8.ValidString(tail)) {
			t.Errorf("capture of %q = %q, %q, a character is cut", s, head, tail)
		}
	})
}
