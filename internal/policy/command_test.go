package policy

import "testing"

// TestDenyCommandSpellings holds that a refusal covers a program, and a file, by
// what the command may name with it.
func TestDenyCommandSpellings(t *testing.T) {
	tests := []struct {
		rule, cmd string
		want      bool
	}{
		{"bash(cat *shadow*)", "cat /etc/sha?ow", true},
		{"bash(cat *shadow*)", "sudo cat /etc/sh*", true},
		{"bash(cat *shadow*)", "cat '/etc/sha?ow'; cat /etc/sha?ow", true},
		{"bash(cat *shadow*)", "cat '/etc/sha?ow'", false},
		{"bash(cat *shadow*)", "cat /etc/pass?d", false},
		{"bash(cat *shadow*)", "cat *.txt", false},
		{"bash(cat *shadow*)", "cat *", false},
		{"bash(cat /etc/shadow *)", "cat /etc/s[h]adow", true},
		{"bash(cat /etc/shadow:*)", "cat /etc/*", true},
		{"bash(cat /etc/shadow)", "cat /*/shadow", true},
		{"bash(cat /etc/shadow)", "cat /*", false},
		{"bash(cat ~/.ssh/*)", "cat ~/.s?h/id", true},
		{"bash(* /etc/shadow)", "ls *", false},
		{"bash(git add --all*)", "git add *", false},
		{"bash(cat .env)", "cat *", false},
		{"bash(/usr/bin/opkg *)", "opkg update", true},
		{"bash(/usr/bin/opkg:*)", "sudo opkg", true},
		{"bash(/usr/bin/opkg list)", "opkg update", false},
		{"bash(/usr/bin/*)", "opkg update", false},
		{"bash(/ x)", "opkg update", false},
	}
	for _, tt := range tests {
		p := &Policy{Levels: Defaults(), Rules: Rules{Deny: rules(t, tt.rule)}}
		d := p.Refuse(Subject{Tool: "bash", Effect: Execute, Command: tt.cmd})
		if got := d.Verdict == Deny; got != tt.want {
			t.Errorf("rule %s, %q: %+v, want denied %v", tt.rule, tt.cmd, d, tt.want)
		}
	}
}
