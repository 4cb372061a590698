// Package policy answers one question: may this call run? Refuse and Gate are
// pure functions over a Subject and the state of one Policy value; they do no
// I/O and ask nobody. The order of their steps is the safety argument.
package policy

// Effect is what a tool may do. Every tool declares exactly one.
type Effect int

// The effects, from harmless to unknown.
const (
	Read     Effect = iota // looks at files
	Session                // touches only the transcript
	Network                // fetches from the network
	Write                  // changes files
	Execute                // runs programs
	External               // a tool of another program
)

// Verdict is the answer to "may this run?". The zero value refuses.
type Verdict int

// Deny is the zero value on purpose.
const (
	Deny Verdict = iota
	Ask
	Allow
)

// Decision is a verdict with its reason, for the model and for the person.
type Decision struct {
	Verdict Verdict
	Reason  string
	Firm    bool   // only a person may answer this ask; no stored "always"
	Danger  bool   // the same, raised by the danger gate
	Class   string // of the danger
	Segment string // the part of the command that is dangerous
	Alone   bool   // a denied ask: nobody was there to answer it
}

// Path is one file name that a call touches, resolved once before anything is
// decided. Abs is the cleaned absolute path as named, Real the same with the
// links of its existing part resolved. Root is the git root that holds it, ""
// if there is none. Guard says whether it is cluade's own
// state, by name after resolution or by device and inode.
type Path struct {
	Abs, Real string
	Root      string
	InProject bool
	Guard     Guard
}

// Guard classifies a path against cluade's own state and the kernel's files.
type Guard int

// What may not be done to a path.
const (
	Open    Guard = iota // no restriction
	NoWrite              // state, authority, /proc, /sys: write and edit refuse
	NoRead               // credentials, approvals, other sessions: read refuses too
)

// Subject is what one call touches. Only the fields that the tool has are set.
type Subject struct {
	Tool    string
	Effect  Effect
	Paths   []Path
	Command string   // shell text
	Dir     string   // where Command runs, absolute
	RealDir string   // the same with links resolved; "" if nothing is known of it
	Host    string   // user@host:port as dialled
	Via     []string // the jump hosts on the way there, in the same form
	Named   []string // those of Via and Host as they were called, which the SSH configuration may dial elsewhere
	URL     string
	Name    string // what a rule may name of a tool without command, path, host or URL: a skill
}

// Wish is what a hook would like to happen to a call.
type Wish int

// A hook has no opinion, wants a question, or would answer a plain one.
const (
	WishNone Wish = iota
	WishAsk
	WishAllow
)
