package store

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// loadRules is Load where a rule that holds "bad" is none.
func (b *box) loadRules() (*Config, string, error) {
	p := b.place()
	p.Rule = func(text string) error {
		if strings.Contains(text, "bad") {
			return errors.New("rule " + text + ": write good")
		}
		return nil
	}
	c, notices, err := Load(p, Trust{})
	return c, strings.Join(notices, "\n"), err
}

func TestFaultyRuleOfTheUser(t *testing.T) {
	for _, list := range []string{"deny", "ask", "allow"} {
		b := newBox(t)
		b.user(`{"permissions":{"` + list + `":["good","bad"]}}`)
		_, _, err := b.loadRules()
		var e *ConfigError
		if !errors.As(err, &e) || e.Key != "permissions."+list || !strings.HasSuffix(e.Msg, "rule bad: write good") || e.File != b.place().State+"/config.json" {
			t.Errorf("%s: %v", list, err)
		}
	}
}

// TestFaultyRuleOfAProject: such a file is named and sets nothing, but what of
// its lists refuses or asks and can be read still counts.
func TestFaultyRuleOfAProject(t *testing.T) {
	for _, tt := range []struct{ lists, deny, ask string }{
		{`"deny":["a","bad","b"],"ask":["c"]`, "user,a,b", "c"},
		{`"deny":["a"],"ask":["bad","c",7,"","x\ty"]`, "user,a", "c"},
		{`"deny":"a","ask":["c"]`, "user", "c"},
		{`"allow":["bad","x"],"deny":["a","user"],"ask":{}`, "user,a", ""},
	} {
		b := newBox(t)
		b.user(`{"permissions":{"deny":["user"]}}`)
		b.project(`{"model":"theirs","permissions":{` + tt.lists + `,"bash":"ask"}}`)
		c, notices, err := b.loadRules()
		if err != nil {
			t.Errorf("%s: %v", tt.lists, err)
			continue
		}
		var got [2][]string
		for i, list := range [2][]Rule{c.Safety.Deny, c.Safety.Ask} {
			for _, r := range list {
				got[i] = append(got[i], r.Text)
				if want := map[bool]string{true: "config.json", false: ".cluade/config.json"}[r.Text == "user"]; r.File != want {
					t.Errorf("%s: rule %s of %s, want %s", tt.lists, r.Text, r.File, want)
				}
			}
		}
		if strings.Join(got[0], ",") != tt.deny || strings.Join(got[1], ",") != tt.ask || len(c.Safety.Allow) > 0 {
			t.Errorf("%s: deny %q, ask %q, allow %v; want %s, %s, none", tt.lists, got[0], got[1], c.Safety.Allow, tt.deny, tt.ask)
		}
		if c.Model == "theirs" || c.Levels["bash"] != "" || c.Guarded(b.place()) != nil {
			t.Errorf("%s: model %s, levels %v", tt.lists, c.Model, c.Levels)
		}
		if strings.Count(notices, "\n") > 0 || !strings.HasPrefix(notices, b.place().projectFile()+": permissions.") || !strings.Contains(notices, "in force") {
			t.Errorf("%s: notices %q", tt.lists, notices)
		}
	}
}

// TestFaultyRuleIsNotWritten: a change by hand is checked as the file is.
func TestFaultyRuleIsNotWritten(t *testing.T) {
	b := newBox(t)
	b.user(`{}`)
	p := b.place()
	p.Rule = func(text string) error { return errors.New("no rule") }
	err := p.EditRules("deny", func(list []string) []string { return append(list, "x") })
	if data := must(os.ReadFile(p.userFile())); err == nil || string(data) != `{}` {
		t.Errorf("EditRules = %v, the file is %s", err, data)
	}
	p.Rule = nil
	if err := p.EditRules("deny", func(list []string) []string { return slices.Concat(list, []string{"x"}) }); err != nil {
		t.Error(err)
	}
}
