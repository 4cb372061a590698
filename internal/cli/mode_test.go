package cli

import (
	"testing"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/store"
)

// TestStartMode: a saved session narrows and never widens, unless the person
// names a mode.
func TestStartMode(t *testing.T) {
	tests := []struct {
		config, flag, saved string
		bypass              bool
		depth               int
		attended            bool
		want                policy.Mode
	}{
		{"default", "", "", false, 0, true, policy.ModeDefault},
		{"default", "", "plan", false, 0, true, policy.ModePlan},
		{"default", "", "ask", false, 0, false, policy.ModeAsk},
		{"default", "", "accept-edits", false, 0, true, policy.ModeAcceptEdits},
		{"default", "", "accept-edits", false, 0, false, policy.ModeDefault},
		{"default", "", "bypass", false, 0, true, policy.ModeDefault},
		{"default", "", "bypassPermissions", false, 0, true, policy.ModeDefault},
		{"default", "", "nonsense", false, 0, true, policy.ModeDefault},
		{"plan", "", "default", false, 0, true, policy.ModePlan},
		{"plan", "", "accept-edits", false, 0, true, policy.ModePlan},
		{"ask", "", "accept-edits", false, 0, true, policy.ModeAsk},
		{"default", "default", "plan", false, 0, true, policy.ModeDefault},
		{"default", "plan", "default", false, 0, true, policy.ModePlan},
		{"default", "default", "plan", false, 1, false, policy.ModePlan},
		{"default", "", "", true, 0, true, policy.ModeBypass},
		{"default", "", "plan", true, 0, true, policy.ModePlan},
	}
	for _, tt := range tests {
		w := newWorld(t)
		cfg, _, err := store.Load(store.FindPlace(w.dir, func(string) string { return "" }), store.Trust{})
		if err != nil {
			t.Fatal(err)
		}
		if err := cfg.Set(store.TierUser, modeKey, tt.config); err != nil {
			t.Fatal(err)
		}
		if tt.flag != "" {
			if err := cfg.Set(store.TierFlag, modeKey, tt.flag); err != nil {
				t.Fatal(err)
			}
		}
		a := &app{cfg: cfg, flags: &flags{skipPermissions: tt.bypass}, depth: tt.depth}
		if got := a.startMode(&chat.Session{Mode: tt.saved}, tt.attended); got != tt.want {
			t.Errorf("%+v: mode %v", tt, got)
		}
	}
}
