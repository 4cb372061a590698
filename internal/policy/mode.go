package policy

import "slices"

// Mode is the stance of a whole session. It changes what the levels say, never
// what a rule or the danger check says.
type Mode int

// The modes. The zero value is the original's behaviour.
const (
	ModeDefault Mode = iota
	ModeAsk
	ModeAcceptEdits
	ModePlan
	ModeBypass
)

// modes is the one table of them. asks and allows list the effects whose allow
// becomes ask, and whose ask becomes allow. tools, if not nil, is everything
// that the mode has: a boundary, which no level, rule or answer lifts.
var modes = [...]struct {
	name, alias  string
	asks, allows []Effect
	tools        []string
}{
	ModeDefault:     {name: "default"},
	ModeAsk:         {name: "ask", asks: []Effect{Network, Write, Execute, External}},
	ModeAcceptEdits: {name: "accept-edits", alias: "acceptEdits", asks: []Effect{Network, Execute, External}, allows: []Effect{Write}},
	ModePlan:        {name: "plan", tools: []string{"read", "glob", "grep", "skill", "compact", "subagent", "bash"}},
	ModeBypass:      {name: "bypass", alias: "bypassPermissions", allows: []Effect{Read, Session, Network, Write, Execute, External}},
}

// ParseMode reads the word of a mode, ours or Claude Code's.
func ParseMode(word string) (Mode, bool) {
	for m, row := range modes {
		if word == row.name || word == row.alias && word != "" {
			return Mode(m), true
		}
	}
	return ModeDefault, false
}

// String is the word of a mode.
func (m Mode) String() string { return modes[m].name }

// Narrower reports whether a mode is at least as strict as another, so that it
// may be taken from a project or a saved session.
func (m Mode) Narrower(than Mode) bool {
	rank := [...]int{ModeBypass: 0, ModeDefault: 1, ModeAcceptEdits: 2, ModeAsk: 3, ModePlan: 4}
	return rank[m] >= rank[than]
}

// overlay applies the mode of the session to a level's verdict.
func (p *Policy) overlay(v Verdict, e Effect) Verdict {
	if p.Taking {
		return min(v, p.Mode.overlay(v, e))
	}
	return p.Mode.overlay(v, e)
}

// overlay applies a mode to a level's verdict.
func (m Mode) overlay(v Verdict, e Effect) Verdict {
	switch row := modes[m]; {
	case v == Allow && slices.Contains(row.asks, e):
		return Ask
	case v == Ask && slices.Contains(row.allows, e):
		return Allow
	}
	return v
}
