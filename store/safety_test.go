package store

import (
	"slices"
	"strings"
	"testing"
)

// The refusals of all files count together, with their sources; what a project
// would allow does not.
func TestRulesAddUp(t *testing.T) {
	b := newBox(t)
	b.user(`{"permissions":{"deny":["bash(rm *)"],"ask":["bash(opkg *)"],"allow":["bash(ls *)"]}}`)
	b.project(`{"permissions":{"deny":["bash(rm *)","read(.env)"],"ask":["edit"],"allow":["bash"]}}`)
	c, notices := b.load()
	tests := []struct {
		name      string
		got, want []Rule
	}{
		{"deny", c.Safety.Deny, []Rule{{"bash(rm *)", "config.json"}, {"read(.env)", ".cluade/config.json"}}},
		{"ask", c.Safety.Ask, []Rule{{"bash(opkg *)", "config.json"}, {"edit", ".cluade/config.json"}}},
		{"allow", c.Safety.Allow, []Rule{{"bash(ls *)", "config.json"}}},
	}
	for _, tt := range tests {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s = %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if !strings.Contains(notices, "not trusted") || !strings.Contains(notices, "permissions.allow") {
		t.Errorf("notices = %q, want permissions.allow named", notices)
	}
}

func TestModeSpellings(t *testing.T) {
	for text, want := range map[string]string{"acceptEdits": "accept-edits", "accept-edits": "accept-edits", "plan": "plan"} {
		b := newBox(t)
		b.user(`{"permission_mode":"` + text + `"}`)
		if c, _ := b.load(); c.Safety.Mode != want {
			t.Errorf("permission_mode %s = %q, want %q", text, c.Safety.Mode, want)
		}
	}
}
