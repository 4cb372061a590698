package proc

import "unicode/utf8"

// Capture keeps the first 60 % and the last 40 % of what is added, and counts
// all of it. Its memory grows with what it holds, never over the limit. The
// zero value keeps nothing; it is for one goroutine at a time.
type Capture struct {
	Total int64 // bytes that were added

	first, last int // most bytes of head and of ring; last < 0 is no limit on head
	head, ring  []byte
	next        int // where the ring, once full, is overwritten: its oldest byte
}

// NewCapture returns a capture that keeps at most keep bytes; 0 is no limit.
func NewCapture(keep int) Capture {
	if keep <= 0 {
		return Capture{last: -1}
	}
	first := keep - keep*2/5
	return Capture{first: first, last: keep - first}
}

// Add takes the next bytes; p stays the caller's.
func (c *Capture) Add(p []byte) {
	c.Total += int64(len(p))
	if c.last < 0 {
		c.head = append(c.head, p...)
		return
	}
	n := min(len(p), c.first-len(c.head))
	c.head = append(c.head, p[:n]...)
	p = p[n:]
	if len(p) > c.last {
		p = p[len(p)-c.last:]
	}
	n = min(len(p), c.last-len(c.ring))
	c.ring = append(c.ring, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(c.ring[c.next:], p)
		c.next = (c.next + n) % len(c.ring)
	}
}

// Text returns what is left of head and tail without the characters that were
// cut, and how many bytes are missing between them. With nothing missing all
// is head.
func (c *Capture) Text() (head, tail string, dropped int64) {
	dropped = c.Total - int64(len(c.head)) - int64(len(c.ring))
	if dropped == 0 {
		return string(c.head) + string(c.ring[c.next:]) + string(c.ring[:c.next]), "", 0
	}
	h := wholeEnd(c.head)
	t := wholeStart(string(c.ring[c.next:]) + string(c.ring[:c.next]))
	dropped += int64(len(c.head)-len(h)) + int64(len(c.ring)-len(t))
	return string(h), t, dropped
}

// wholeEnd returns p without a last character that is not complete.
func wholeEnd(p []byte) []byte {
	for i := 1; i <= min(len(p), utf8.UTFMax-1); i++ {
		if last := p[len(p)-i:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				break
			}
			return p[:len(p)-i]
		}
	}
	return p
}

// wholeStart returns s without the rest of a character at its beginning. More
// such bytes than a character can have are no rest of one.
func wholeStart(s string) string {
	for i := range utf8.UTFMax {
		if i == len(s) || utf8.RuneStart(s[i]) {
			return s[i:]
		}
	}
	return s
}
