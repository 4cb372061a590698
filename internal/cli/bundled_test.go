package cli

import (
	"slices"
	"testing"

	"cluade/skills"
	"cluade/store"
)

// TestBundledSkills: the system's skills can be left out, and only those.
func TestBundledSkills(t *testing.T) {
	a := &app{place: store.Place{Dir: "/work", Home: "/home/u", State: "/home/u/.cluade"}, cfg: &store.Config{BundledSkills: true}}
	all := a.skillPlaces()
	if want := skills.Roots("/work", "/home/u", "/home/u/.cluade"); !slices.Equal(all, want) {
		t.Errorf("skillPlaces() = %q, want %q", all, want)
	}
	a.cfg.BundledSkills = false
	if own := a.skillPlaces(); !slices.Equal(own, all[:len(all)-1]) || all[len(all)-1].Dir != skills.System {
		t.Errorf("without the bundled ones: %q, with them: %q", own, all)
	}
}

// TestBundledSkillsOption: a subagent leaves them out as the run above it does.
func TestBundledSkillsOption(t *testing.T) {
	for _, out := range []bool{false, true} {
		var args []string
		if out {
			args = []string{"--no-bundled-skills"}
		}
		a := runFor(t, "{}", nil, args...)
		passed := slices.Contains(a.subagentArgs("plan"), "--no-bundled-skills")
		if a.cfg.BundledSkills == out || passed != out {
			t.Errorf("%q: bundled skills %v, passed on %v", args, a.cfg.BundledSkills, passed)
		}
	}
}

func TestSkillEntry(t *testing.T) {
	tests := []struct {
		skill skills.Skill
		want  string
	}{
		{skills.Skill{Name: "uci", Description: "settings", Dir: "/usr/share/cluade/skills/uci"}, "uci  /usr/share/cluade/skills/uci (bundled)\n  settings\n"},
		{skills.Skill{Name: "uci", Description: "settings", Dir: "/usr/share/cluade/skills-old/uci"}, "uci  /usr/share/cluade/skills-old/uci\n  settings\n"},
		{skills.Skill{Name: "x\n", Dir: "/home/u/.cluade/skills/x\n", Fault: "it has no description"}, "x\\n  /home/u/.cluade/skills/x\\n\n  not offered: it has no description\n"},
	}
	for _, tt := range tests {
		if got := skillEntry(tt.skill); got != tt.want {
			t.Errorf("skillEntry(%+v) = %q, want %q", tt.skill, got, tt.want)
		}
	}
}
