package cli

import (
	"fmt"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/skills"
)

const (
	maxSkills  = 8 << 10 // bytes of the list of skills
	bundledKey = "bundled_skills"
	skillText  = "\n# Skills\n\nInstructions for certain tasks. When one fits, load it with the skill tool before you begin:\n\n"
)

// skillRoots are the places for skills of this run, none where their tool is
// not at hand.
func (a *app) skillRoots() []skills.Root {
	if !a.policy.InToolset("skill") || a.policy.Levels["skill"].Verdict == policy.Deny {
		return nil
	}
	return a.skillPlaces()
}

// skillPlaces are the directories that this run may take skills from. The
// system's, the last, holds those that come with the program.
func (a *app) skillPlaces() []skills.Root {
	roots := skills.Roots(a.place.Dir, a.place.Home, a.place.State)
	if !a.cfg.BundledSkills {
		roots = roots[:len(roots)-1]
	}
	return roots
}

// readSkills returns the list of skills as it enters the system message, and
// what is to be said of those that are not in it.
func readSkills(o promptOptions) (text string, notices []string) {
	list, notices := skills.Find(o.Skills)
	for i, n := range notices {
		notices[i] = "skills: " + chat.EscapeText(n, 400)
	}
	notices = fewNotices(notices, "skills: %d more notices; /skills shows them")
	var faults []string
	for _, s := range list {
		if s.Fault != "" {
			faults = append(faults, s.Name+" ("+s.Fault+")")
		}
	}
	if n := len(faults); n > 0 {
		more := ""
		if n > 3 {
			faults, more = faults[:3], fmt.Sprintf(", and %d more", n-3)
		}
		notices = append(notices, "skills: not usable: "+chat.EscapeText(strings.Join(faults, ", "), 600)+more)
	}
	if text = skills.List(list, skillBudget(o)-len(skillText)); text != "" {
		text = skillText + text
	}
	return text, notices
}

// skillBudget is the size of the list: 2 % of the window at 3.5 bytes a token,
// within a limit.
func skillBudget(o promptOptions) int {
	if o.Window == nil {
		return maxSkills
	}
	return min(maxSkills, o.Window()/100*7)
}

func (a *app) cmdSkills(string) (bool, error) {
	list, notices := skills.Find(a.skillPlaces())
	if len(list) == 0 {
		a.out.Print("no skills")
		return false, nil
	}
	var b strings.Builder
	for _, s := range list {
		b.WriteString(skillEntry(s))
	}
	for _, n := range notices {
		b.WriteString(chat.EscapeText(n, 400) + "\n")
	}
	a.out.Print(b.String())
	return false, nil
}

// skillEntry shows a skill in two lines.
func skillEntry(s skills.Skill) string {
	about, from := s.Description, ""
	if s.Fault != "" {
		about = "not offered: " + s.Fault
	}
	if within(s.Dir, skills.System) {
		from = " (bundled)"
	}
	return chat.EscapeText(s.Name, 64) + "  " + chat.EscapeText(s.Dir, 0) + from + "\n  " + chat.EscapeText(about, 320) + "\n"
}
