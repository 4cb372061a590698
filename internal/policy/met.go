package policy

import "cluade/dangercheck"

// Met decides what a call comes upon while it runs and nobody was asked about:
// the page of a redirect, the file behind a link on another host. by is the call
// itself. What would be asked about is denied; but what a person allowed for the
// call, of its level or of a rule that covers both, is not asked twice.
func (p *Policy) Met(by, s Subject) Decision {
	d := p.Refuse(s)
	if d.Verdict == Deny {
		return d
	}
	why := ""
	_, known := p.danger(&by)
	if ask, found := p.danger(&s); found && !known {
		why = ask.Reason
	} else if r := p.unasked(&by, &s); r != nil {
		why = "rule " + r.Text + " asks (" + r.Source + ")"
	} else if d.Verdict == Ask && p.answered(&by) && !p.answered(&s) {
		why = d.Reason
	}
	if why == "" {
		return Decision{Verdict: Allow}
	}
	return Decision{Reason: "denied: " + why + ", and only the call was allowed, not what it leads to: name that itself"}
}

// unasked is an ask rule on s that the call itself did not raise; nil if there is
// none.
func (p *Policy) unasked(by, s *Subject) *Rule {
	for i := range p.Rules.Ask {
		if r := &p.Rules.Ask[i]; r.spec != "" && p.touches(r, s, dangercheck.Shape{}) && !p.touches(r, by, dangercheck.Shape{}) {
			return r
		}
	}
	return nil
}

// Hides says whether a rule keeps a file that a call found from being listed or
// searched: one that refuses it, or asks about it and was not raised by the call.
func (p *Policy) Hides(by Subject, f Path) bool {
	for _, by.Tool = range [...]string{"glob", "grep"} {
		s := by
		s.Paths = []Path{f}
		if some(p.Rules.Deny, func(r *Rule) bool { return r.spec != "" && p.touches(r, &s, dangercheck.Shape{}) }) {
			return true
		}
		if p.unasked(&by, &s) != nil {
			return true
		}
	}
	return false
}
