package skills

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestList(t *testing.T) {
	long := strings.Repeat("é", 200)
	skills := []Skill{
		{Name: "a", Description: "does a"}, {Name: "broken", Description: "x", Fault: "it is broken"}, {Name: "b", Description: long},
	}
	tests := []struct {
		budget int
		want   string
	}{
		{8192, "- a: does a\n- b: " + long[:316] + "...\n"},
		{60, "- a: does a\n- b: " + long[:38] + "...\n"},
		{48, "- a: does a\n- b: " + long[:26] + "...\n"},
		{40, "- a\n- b\n"},
		{8, "- a\n- b\n"},
		{7, "(2 more skills not listed)\n"},
		{-100, "(2 more skills not listed)\n"},
	}
	for _, tt := range tests {
		if got := List(skills, tt.budget); got != tt.want {
			t.Errorf("List(%d) = %q, want %q", tt.budget, got, tt.want)
		}
	}
	if got := List(skills[1:2], 8192); got != "" {
		t.Errorf("List of a fault = %q, want none", got)
	}
}

// TestListFits: a long list keeps to its budget, names the first, and counts
// the rest right.
func TestListFits(t *testing.T) {
	var skills []Skill
	for i := range 300 {
		skills = append(skills, Skill{Name: fmt.Sprintf("skill-%03d", i), Description: strings.Repeat("wörter ", i%60)})
	}
	for budget := 40; budget < 60000; budget += budget/16 + 1 {
		got := List(skills, budget)
		if len(got) > budget || !utf8.ValidString(got) {
			t.Errorf("List(%d) has %d bytes, valid %v", budget, len(got), utf8.ValidString(got))
		}
		n := strings.Count(got, "- skill-")
		var more int
		if _, err := fmt.Sscanf(got[strings.LastIndex(strings.TrimSuffix(got, "\n"), "\n")+1:], "(%d more", &more); err == nil {
			n += more
		}
		if n != len(skills) {
			t.Errorf("List(%d) accounts for %d skills of %d", budget, n, len(skills))
		}
	}
}
