// Package loopdetect notices a model that repeats itself: the same call with
// the same result, calls taking turns, errors in a row, or one call watched for
// ever. It counts consecutive calls only, so any change of behaviour clears it;
// it compares literally, so it never guesses. It is pure: no clock, no I/O.
package loopdetect

import (
	"crypto/sha256"
	"strings"
)

// Limits are the counts at which a pattern trips. Zero takes the default.
type Limits struct {
	Repeat int // same call with the same result, in a row; 3
	Errors int // results that are errors, in a row; 4
	Poll   int // same call whatever its results, in a row; 25
}

// Kind is the pattern that tripped.
type Kind int

// The patterns, in the order in which they are looked for.
const (
	None   Kind = iota
	Repeat      // the same call with the same result
	Cycle       // two or three calls taking turns, results unchanged
	Errors      // one error after the other
	Poll        // the same call, again and again, with changing results
)

// Verdict is what should happen.
type Verdict int

// Go on, tell the model, or end the turn.
const (
	Continue Verdict = iota
	Warn
	Stop
)

// Report is the state at the end of a step. Count is how often in a row: calls
// for Repeat and Poll, errors for Errors, rounds for Cycle. Tools names the
// tool, or those taking turns in the order of their calls.
type Report struct {
	Verdict Verdict
	Kind    Kind
	Count   int
	Tools   []string
}

// rounds is how many equal rounds make a cycle, maxPeriod its longest round.
const (
	rounds    = 3
	maxPeriod = 3
)

// event is one call as it is compared: digests of what was asked and of what
// came back. The texts themselves may be megabytes and are not kept.
type event struct {
	tool        string
	sig, result digest
}

// digest is the beginning of a SHA-256: two texts never share one.
type digest [16]byte

// Detector watches the calls of one turn. The zero value is not ready; see New.
type Detector struct {
	limits Limits
	last   []event // the newest at the end, as many as the longest cycle needs
	same   int     // calls in a row equal in signature and result
	asked  int     // calls in a row equal in signature
	errors int     // errors in a row
	warned bool
}

// New returns a detector with the limits filled in.
func New(l Limits) *Detector {
	for _, f := range []struct {
		v   *int
		def int
	}{{&l.Repeat, 3}, {&l.Errors, 4}, {&l.Poll, 25}} {
		if *f.v <= 0 {
			*f.v = f.def
		}
	}
	return &Detector{limits: l}
}

// Reset forgets everything. Call it for every message of the person.
func (d *Detector) Reset() { *d = Detector{limits: d.limits, last: d.last[:0]} }

// Observe takes one finished call: its signature, the result as the model reads
// it, and whether that is an error. A refused or invalid call is one.
func (d *Detector) Observe(sig, result string, failed bool) {
	tool, _, _ := strings.Cut(sig, "\x00")
	e := event{strings.Clone(tool), sum(sig), sum(result)}
	var prev event
	if len(d.last) > 0 {
		prev = d.last[len(d.last)-1]
	}
	d.same = count(d.same, e == prev)
	d.asked = count(d.asked, e.sig == prev.sig)
	d.errors++
	if !failed {
		d.errors = 0
	}
	if len(d.last) == rounds*maxPeriod {
		d.last = append(d.last[:0], d.last[1:]...)
	}
	d.last = append(d.last, e)
}

// count extends a streak, or begins a new one with the present call.
func count(n int, same bool) int {
	if same {
		return n + 1
	}
	return 1
}

// Check reports once a step, after all its calls. The first trip warns; still
// tripped at the next check stops; a check without a trip re-arms the warning.
func (d *Detector) Check() Report {
	r := d.tripped()
	switch {
	case r.Kind == None:
	case d.warned:
		r.Verdict = Stop
	default:
		r.Verdict = Warn
	}
	d.warned = r.Kind != None
	return r
}

func (d *Detector) tripped() Report {
	if len(d.last) == 0 {
		return Report{}
	}
	if d.same >= d.limits.Repeat {
		return Report{Kind: Repeat, Count: d.same, Tools: d.tools(1)}
	}
	for period := 2; period <= maxPeriod; period++ {
		if d.cycles(period) {
			return Report{Kind: Cycle, Count: rounds, Tools: d.tools(period)}
		}
	}
	if d.errors >= d.limits.Errors {
		return Report{Kind: Errors, Count: d.errors, Tools: d.tools(1)}
	}
	if d.asked >= d.limits.Poll {
		return Report{Kind: Poll, Count: d.asked, Tools: d.tools(1)}
	}
	return Report{}
}

// cycles reports whether the last rounds of this period are equal. One call
// alone is no cycle even if its results alternate: that is watching.
func (d *Detector) cycles(period int) bool {
	n := rounds * period
	if len(d.last) < n || d.asked >= n {
		return false
	}
	tail := d.last[len(d.last)-n:]
	for i := period; i < n; i++ {
		if tail[i] != tail[i-period] {
			return false
		}
	}
	return true
}

// tools names the tools of the last n calls.
func (d *Detector) tools(n int) []string {
	var names []string
	for _, e := range d.last[len(d.last)-n:] {
		names = append(names, e.tool)
	}
	return names
}

func sum(s string) digest {
	full := sha256.Sum256([]byte(s))
	return digest(full[:len(digest{})])
}
