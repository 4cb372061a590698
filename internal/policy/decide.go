package policy

// The steps of a decision, in the order in which they count. A step may be
// added inside Refuse or Gate; none may be moved.
//
//	Refuse  2  refusals: what a path is
//	        3  boundary: the tools of this mode and agent kind
//	        4  level of the tool
//	Gate    8  a hook's wish: raises to a firm ask, or answers a plain one
//	        9  nobody to ask: every ask that is left is refused
//
// Steps 1, 5, 6 and 10 belong to the caller: arguments, hooks, preview,
// question. What Refuse denies, Gate never sees as anything but denied.

import (
	"fmt"
	"slices"
	"strings"
)

// Policy is the permission state of one session: levels and who is there. Only
// a person's typed command or argv may widen it. The zero value denies every
// tool but those of other programs, and those need a person, who is not there.
type Policy struct {
	Levels   map[string]Level // by tool; see Defaults
	Attended bool             // somebody can be asked
	Toolset  []string         // the tools of this mode and agent kind; nil is every tool
	Boundary string           // why another tool is refused: "plan mode allows only looking"

	yes bool
}

// Refuse decides what needs neither hook nor person. A denial is final; an ask
// or an allow goes on to Gate.
func (p *Policy) Refuse(s Subject) Decision {
	for _, path := range s.Paths { // 2
		if guarded(path.Guard, s.Effect) {
			return deny("%s may not touch %s (%s)", s.Tool, path.Abs, owner(path))
		}
	}
	if !p.InToolset(s.Tool) { // 3
		if p.Boundary == "" {
			return deny("%s is not among the tools of this run", s.Tool)
		}
		return deny("%s", p.Boundary)
	}
	switch l := p.level(s); l.Verdict { // 4
	case Allow:
		return Decision{Verdict: Allow}
	case Ask:
		return Decision{Verdict: Ask, Reason: "permission for " + s.Tool + " is ask"}
	default:
		return deny("permission for %s is deny (%s)", s.Tool, l.Source)
	}
}

// Gate takes what Refuse let through to the last word: allow, an ask that
// somebody is there to answer, or a denial.
func (p *Policy) Gate(s Subject, d Decision, w Wish) Decision {
	switch { // 8
	case d.Verdict == Deny:
		return d
	case w == WishAsk:
		d = Decision{Verdict: Ask, Reason: "a hook asks", Firm: true}
	case w == WishAllow && d.Verdict == Ask && !d.Firm && !d.Danger && p.Attended:
		d = Decision{Verdict: Allow}
	}
	if d.Verdict == Ask && !p.Attended { // 9
		return Unanswered(s, d)
	}
	return d
}

// Unanswered is an ask that nobody answered.
func Unanswered(s Subject, ask Decision) Decision {
	ask.Verdict, ask.Alone = Deny, true
	ask.Reason = "denied: " + s.Tool + " needs approval and no one is here to give it"
	return ask
}

// Hint tells the person, in one sentence, what would have allowed a call that
// nobody could approve. It is not for the model, which must not be told how to
// widen its own permissions.
func (p *Policy) Hint(s Subject, d Decision) string {
	switch {
	case !d.Alone:
		return ""
	case d.Firm || d.Danger:
		return fmt.Sprintf("%s was refused: only a person at a terminal can approve this call", s.Tool)
	case yesCovers(s):
		return fmt.Sprintf(`%s was refused: -y would allow it, or "permissions": {%q: "allow"} in the configuration`, s.Tool, s.Tool)
	}
	return fmt.Sprintf(`%s was refused: "permissions": {%q: "allow"} in the configuration would allow it`, s.Tool, s.Tool)
}

// InToolset reports whether this mode and agent kind have the tool. What they
// lack is not offered to the model either, but only Refuse is the boundary.
func (p *Policy) InToolset(tool string) bool {
	return p.Toolset == nil || slices.Contains(p.Toolset, tool)
}

// guarded says whether a path may not be touched: NoRead by anybody, NoWrite by
// whatever does more than look.
func guarded(g Guard, e Effect) bool {
	return g != Open && (g != NoWrite || e != Read)
}

// owner says whose a guarded path is.
func owner(p Path) string {
	for _, tree := range []string{"/proc/", "/sys/"} {
		if strings.HasPrefix(p.Real+"/", tree) {
			return "the kernel's"
		}
	}
	return "cluade's own state"
}

func deny(format string, args ...any) Decision {
	return Decision{Reason: "denied: " + fmt.Sprintf(format, args...)}
}
