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
		taking, told        bool
	}{
		{config: "default", attended: true, want: policy.ModeDefault},
		{config: "default", saved: "plan", attended: true, want: policy.ModePlan},
		{config: "default", saved: "ask", want: policy.ModeAsk},
		{config: "default", saved: "accept-edits", attended: true, want: policy.ModeAcceptEdits},
		{config: "default", saved: "accept-edits", want: policy.ModeAcceptEdits, taking: true},
		{config: "accept-edits", saved: "accept-edits", want: policy.ModeAcceptEdits},
		{config: "ask", saved: "accept-edits", want: policy.ModeAsk},
		{config: "default", saved: "acceptEdits", bypass: true, want: policy.ModeAcceptEdits, taking: true},
		{config: "default", flag: "accept-edits", saved: "accept-edits", want: policy.ModeAcceptEdits},
		{config: "default", saved: "bypass", attended: true, want: policy.ModeDefault},
		{config: "default", saved: "bypassPermissions", attended: true, want: policy.ModeDefault},
		{config: "default", saved: "plann", attended: true, want: policy.ModePlan, told: true},
		{config: "ask", saved: "plann", bypass: true, want: policy.ModePlan, told: true},
		{config: "default", flag: "default", saved: "plann", want: policy.ModeDefault},
		{config: "plan", saved: "default", attended: true, want: policy.ModePlan},
		{config: "plan", saved: "accept-edits", attended: true, want: policy.ModePlan},
		{config: "ask", saved: "accept-edits", attended: true, want: policy.ModeAsk},
		{config: "default", flag: "default", saved: "plan", attended: true, want: policy.ModeDefault},
		{config: "default", flag: "plan", saved: "default", attended: true, want: policy.ModePlan},
		{config: "default", flag: "default", saved: "plan", depth: 1, want: policy.ModePlan},
		{config: "default", bypass: true, attended: true, want: policy.ModeBypass},
		{config: "default", saved: "plan", bypass: true, attended: true, want: policy.ModePlan},
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
		got, taking := a.startMode(&chat.Session{Mode: tt.saved}, tt.attended)
		if got != tt.want || taking != tt.taking || len(a.notices) > 0 != tt.told {
			t.Errorf("%+v: mode %v, taking %v, notices %q", tt, got, taking, a.notices)
		}
	}
}
