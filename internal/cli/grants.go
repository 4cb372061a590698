package cli

import (
	"cluade/internal/policy"
)

// loadGrants takes what the person allowed for good in this directory. Where
// nobody can be asked it is not read, and where nothing is asked it is not
// needed.
func (a *app) loadGrants() {
	if !a.policy.Attended || a.policy.Mode == policy.ModeBypass {
		return
	}
	texts, err := a.place.Approvals().Load()
	if err != nil {
		a.notices = append(a.notices, "what was allowed for good does not count: "+err.Error())
		return
	}
	for _, text := range texts {
		rule, err := policy.ParseRule(text, "approvals")
		if err != nil {
			a.notices = append(a.notices, "an approval in "+a.place.Approvals().Path()+" does not count: "+err.Error())
			continue
		}
		a.policy.Grants = append(a.policy.Grants, rule)
	}
}

// revoke takes back what was allowed for good.
func (a *app) revoke(text string) error {
	if err := a.place.Approvals().Remove(text); err != nil {
		return err
	}
	var left []policy.Rule
	for _, r := range a.policy.Grants {
		if r.Text != text {
			left = append(left, r)
		}
	}
	a.policy.Grants = left
	a.out.Print(a.rulesText())
	return nil
}

// grant makes a rule count from now on, in this directory, because the person
// said so to a question that showed it.
func (a *app) grant(text string) {
	rule, err := policy.ParseRule(text, "approvals")
	if err != nil {
		a.out.Warn("allowed once: " + err.Error())
		return
	}
	a.policy.Grants = append(a.policy.Grants, rule)
	if err := a.place.Approvals().Add(text); err != nil {
		a.out.Warn("allowed for this session only: " + err.Error())
	}
}
