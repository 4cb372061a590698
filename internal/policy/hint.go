package policy

import (
	"fmt"
	"strings"
)

// Hint tells the person, in one sentence, what would have allowed a call that
// nobody could approve: all that it takes, and nothing that has no effect in
// this run. It is not for the model, which must not be told how to widen its own
// permissions.
func (p *Policy) Hint(s Subject, d Decision) string {
	if !d.Alone {
		return ""
	}
	person := "a person at a terminal"
	if p.Below {
		person = "a person whom the run above asks"
	}
	refused := named(&s) + " was refused: "
	if rule, _, found := p.first(p.Rules.Ask, &s); found {
		return fmt.Sprintf("%srule %s asks (%s), and only %s can approve that", refused, rule.Text, rule.Source, person)
	}
	var needs []string
	if d.Danger {
		refused += "only " + person + " can approve it, or "
		needs = append(needs, fmt.Sprintf(`"danger_allow": [%q] in your own configuration`, d.Class))
	}
	if d.Danger && !p.covered(p.Rules.Allow, &s) || !d.Danger && !d.Firm {
		needs = append(needs, p.needsLevel(&s)...)
		if p.overlay(Allow, s.Effect) == Ask {
			needs = append(needs, p.needsMode())
		}
	}
	what := strings.Join(needs, ", together with ")
	switch {
	case what == "":
		return refused + "only " + person + " can approve this call"
	case d.Danger:
		return refused + what
	case len(needs) > 1:
		what += ","
	}
	return refused + what + " would allow it"
}

// projectFile is the source of a level that a project set.
const projectFile = ".cluade/config.json"

// needsLevel says what would lift the levels that ask, if any does.
func (p *Policy) needsLevel(s *Subject) []string {
	var levels []string
	yes, project := !p.Below, false
	both := []*Subject{s, {Tool: remoteTool, Effect: Execute}}
	if !elsewhere(s) {
		both = both[:1]
	}
	for _, s := range both {
		l := p.levelOf(s)
		if l.Verdict != Ask || p.overlay(Ask, s.Effect) != Ask {
			continue
		}
		levels = append(levels, fmt.Sprintf(`%q: "allow"`, s.Tool))
		yes = yes && yesCovers(s)
		project = project || l.Source == projectFile
	}
	set := `"permissions": {` + strings.Join(levels, ", ") + "} in the configuration"
	switch {
	case levels == nil:
		return nil
	case project && yes:
		return []string{"-y (" + projectFile + " asks, which your own configuration cannot lift)"}
	case project:
		return []string{"another level in " + projectFile + " (your own configuration cannot lift it)"}
	case yes:
		return []string{"-y or " + set}
	}
	return []string{set}
}

// needsMode says how to leave the mode that asks.
func (p *Policy) needsMode() string {
	if p.Below {
		return "the mode default in the configuration and in the run above"
	}
	return "--permission-mode default (the mode " + p.Mode.String() + " asks)"
}
