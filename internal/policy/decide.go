package policy

// The steps of a decision, in the order in which they count. A step may be
// added inside Refuse or Gate; none may be moved.
//
//	Refuse  2  refusals: deny rules, what a path is, the write scope
//	        3  boundary: the tools of this mode and agent kind
//	        4  level of the tool, then --yes, then the mode
//	Gate    7  danger: a hit is an ask that only a person answers, and only once
//	        8  an ask rule makes the ask firm; a rule, a grant or a hook answers a plain one
//	        9  nobody to ask: every ask that is left is refused
//
// Steps 1, 5, 6 and 10 belong to the caller: arguments, hooks, preview,
// question. What Refuse denies, Gate never sees as anything but denied.

import (
	"fmt"
	"slices"
	"strings"

	"cluade/dangercheck"
)

// Policy is the permission state of one session: levels and who is there. Only
// a person's typed command or argv may widen it. The zero value denies every
// tool but those of other programs, and those need a person, who is not there.
type Policy struct {
	Levels   map[string]Level // by tool; see Defaults
	Attended bool             // somebody can be asked
	Toolset  []string         // the tools of this mode and agent kind; nil is every tool
	Boundary string           // why another tool is refused: "plan mode allows only looking"
	Mode     Mode
	Below    bool // another run started this one: no option widens it
	Taking   bool // of the mode, what it takes away counts, not what it gives
	Rules    Rules
	Grants   []Rule // standing answers of the person; unused where nobody can be asked
	Danger   Danger

	Dir          string // where the session works; a program named relative to it is allowed there alone
	Project      string // the git root of the session, else its directory; for relative path rules
	Home         string
	ProjectScope bool     // write and edit stay in Project
	Lacking      []string // tools that this run has not, whatever Toolset says

	yes    bool
	narrow bool     // Narrow was called
	above  []string // then: the tools that the run above allows
}

// Danger says how commands are judged before they run.
type Danger struct {
	State      string   // cluade's state directory
	Lockout    bool     // what cuts the administrator off counts
	Exempt     []string // classes that the person does not want to be asked about
	SkipRemote bool     // commands for other hosts are not judged
}

// Refuse decides what needs neither hook nor person. A denial is final; an ask
// or an allow goes on to Gate.
func (p *Policy) Refuse(s Subject) Decision {
	if r, why, ok := p.first(p.Rules.Deny, &s); ok { // 2
		return Decision{Reason: "denied by rule " + r.Text + " (" + r.Source + ")" + why}
	}
	for _, path := range s.Paths {
		if guarded(path.Guard, s.Effect) {
			return deny("%s may not touch %s (%s)", s.Tool, path.Abs, owner(path))
		}
		if p.ProjectScope && s.Effect == Write && !path.InProject {
			return deny("%s is outside the project, and writes are limited to it (write_scope)", path.Abs)
		}
	}
	if p.Mode == ModePlan && !p.looks(&s) { // 3
		return deny("plan mode allows only looking")
	}
	if !p.InToolset(s.Tool) || elsewhere(&s) && !p.InToolset(remoteTool) {
		if p.Boundary == "" {
			return deny("%s is not among the tools of this run", named(&s))
		}
		return deny("%s", p.Boundary)
	}
	tool, l := p.level(&s) // 4
	switch p.overlay(l.Verdict, s.Effect) {
	case Allow:
		return Decision{Verdict: Allow}
	case Ask:
		if l.Verdict == Allow {
			return Decision{Verdict: Ask, Reason: "mode " + p.Mode.String() + " asks"}
		}
		return Decision{Verdict: Ask, Reason: "permission for " + tool + " is ask"}
	default:
		if l.Source == runAbove {
			return deny("the run above this one does not use %s without asking", tool)
		}
		return deny("permission for %s is deny (%s)", tool, l.Source)
	}
}

// Gate takes what Refuse let through to the last word: allow, an ask that
// somebody is there to answer, or a denial.
func (p *Policy) Gate(s Subject, d Decision, w Wish) Decision {
	if d.Verdict == Deny {
		return d
	}
	if ask, found := p.danger(&s); found { // 7
		d = ask
	}
	d = p.settle(&s, d, w)               // 8
	if d.Verdict == Ask && !p.Attended { // 9
		return Unanswered(s, d)
	}
	return d
}

// settle raises an ask to a firm one, or answers a plain one, as rules, grants
// and a hook's wish say.
func (p *Policy) settle(s *Subject, d Decision, w Wish) Decision {
	if d.Danger {
		return d
	}
	if r, why, ok := p.first(p.Rules.Ask, s); ok {
		return Decision{Verdict: Ask, Reason: "rule " + r.Text + " asks (" + r.Source + ")" + why, Firm: true}
	}
	if w == WishAsk {
		return Decision{Verdict: Ask, Reason: "a hook asks", Firm: true}
	}
	if d.Verdict != Ask || d.Firm {
		return d
	}
	if p.answered(s) || p.Attended && w == WishAllow {
		return Decision{Verdict: Allow}
	}
	return d
}

// answered reports whether rules or grants of the person answer a plain ask.
func (p *Policy) answered(s *Subject) bool {
	return p.covered(p.Rules.Allow, s) || p.Attended && p.covered(p.Grants, s)
}

// danger is the ask for a call that cannot be undone. It
// reads text: a command behind a variable, a script or another language is not
// seen, and neither is a path that a link leads to after the question.
func (p *Policy) danger(s *Subject) (ask Decision, found bool) {
	ask = Decision{Verdict: Ask, Firm: true, Danger: true}
	o := dangercheck.Options{Dir: s.Dir, Home: p.Home, State: p.Danger.State, Lockout: p.Danger.Lockout, Exempt: p.Danger.Exempt}
	switch s.Tool {
	case "bash":
	case "remote_bash":
		if p.Danger.SkipRemote {
			return ask, false
		}
		o.Dir, o.Home, o.Login = "", "", true
	case "write", "edit":
		if !p.Danger.Lockout || slices.Contains(p.Danger.Exempt, dangercheck.Lockout) {
			return ask, false
		}
		for _, f := range s.Paths {
			if dangercheck.LockoutPath(f.Abs) || dangercheck.LockoutPath(f.Real) {
				ask.Class = dangercheck.Lockout
				ask.Reason = "dangerous write (" + ask.Class + ": " + f.Abs + " decides who may log in)"
				return ask, true
			}
		}
		return ask, false
	default:
		return ask, false
	}
	hits := dangercheck.Check(s.Command, o)
	if len(hits) == 0 && s.RealDir != "" && s.RealDir != s.Dir {
		o.Dir = s.RealDir
		hits = dangercheck.Check(s.Command, o)
	}
	if len(hits) == 0 {
		return ask, false
	}
	ask.Class, ask.Reason = hits[0].Class, "dangerous command ("+hits[0].Class+": "+hits[0].Reason+")"
	ask.Segment = s.Command[hits[0].Start:hits[0].End]
	return ask, true
}

// looks is the boundary of plan mode: tools that look, and commands proven to.
func (p *Policy) looks(s *Subject) bool {
	if !slices.Contains(modes[ModePlan].tools, s.Tool) || s.Host != "" {
		return false
	}
	return s.Tool != "bash" || dangercheck.ReadOnly(s.Command, s.Dir) && (s.RealDir == "" || dangercheck.ReadOnly(s.Command, s.RealDir))
}

// Unanswered is an ask that nobody answered.
func Unanswered(s Subject, ask Decision) Decision {
	ask.Verdict, ask.Alone = Deny, true
	if ask.Danger {
		ask.Reason = "denied: " + ask.Reason
		return ask
	}
	ask.Reason = "denied: " + named(&s) + " needs approval and no one is here to give it"
	return ask
}

// named is the tool of a call, with the host where that decides.
func named(s *Subject) string {
	if elsewhere(s) {
		return s.Tool + " on another host"
	}
	return s.Tool
}

// InToolset reports whether this mode and agent kind have the tool. What they
// lack is not offered to the model either, but only Refuse is the boundary.
func (p *Policy) InToolset(tool string) bool {
	if p.Mode == ModePlan && !slices.Contains(modes[ModePlan].tools, tool) {
		return false
	}
	return (p.Toolset == nil || slices.Contains(p.Toolset, tool)) && !slices.Contains(p.Lacking, tool)
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
