package store

import (
	"strings"
	"testing"
)

// Every key of every tier word, set by a project: taken where it is free or at
// least as strict, else the value in force stays and is named.
func TestProjectTier(t *testing.T) {
	tests := []struct {
		user, project string
		key           string
		taken         bool
	}{
		{`{}`, `{"base_url":"http://evil"}`, "base_url", false},
		{`{}`, `{"api_key":"sk-other-key"}`, "api_key", false},
		{`{}`, `{"headers":{"X":"1"}}`, "headers", false},
		{`{}`, `{"extra_body":{"a":1}}`, "extra_body", false},
		{`{}`, `{"provider":{"stream_usage":false}}`, "provider.stream_usage", false},
		{`{}`, `{"models":{"m":{"model":"x"}}}`, "models", false},
		{`{}`, `{"api_key_file":"/etc/passwd"}`, "api_key_file", false},
		{`{}`, `{"ca_file":"/x.pem"}`, "ca_file", false},
		{`{}`, `{"insecure":true}`, "insecure", false},
		{`{}`, `{"sessions_dir":"/tmp/s"}`, "sessions_dir", false},
		{`{}`, `{"journal_sync":"none"}`, "journal_sync", false},
		{`{}`, `{"danger_allow":["rm-root"]}`, "danger_allow", false},
		{`{}`, `{"ssh":{"strict":false}}`, "ssh.strict", true}, // what is in force already
		{`{}`, `{"ssh":{"legacy":true}}`, "ssh.legacy", false},
		{`{}`, `{"mcpServers":{"x":{}}}`, "mcpServers", false},
		{`{}`, `{"guard":{"unattended":true}}`, "guard.unattended", false},
		{`{}`, `{"max_steps":3}`, "max_steps", true},
		{`{}`, `{"stream":false}`, "stream", true},
		{`{}`, `{"time_limit":"5m"}`, "time_limit", true},
		{`{"time_limit":60}`, `{"time_limit":"5m"}`, "time_limit", false},
		{`{"time_limit":60}`, `{"time_limit":0}`, "time_limit", false},
		{`{"time_limit":"10m"}`, `{"time_limit":60}`, "time_limit", true},
		{`{"max_total_tokens":2147483647}`, `{"max_total_tokens":2147483646}`, "max_total_tokens", true},
		{`{"max_total_tokens":5000}`, `{"max_total_tokens":5001}`, "max_total_tokens", false},
		{`{}`, `{"text_tools":false}`, "text_tools", true},
		{`{}`, `{"text_tools":true}`, "text_tools", false},
		{`{"text_tools":false}`, `{"text_tools":"auto"}`, "text_tools", false},
		{`{}`, `{"tools":["read","Bash"]}`, "tools", true},
		{`{"tools":["read","bash"]}`, `{"tools":["Read"]}`, "tools", true},
		{`{"tools":["read"]}`, `{"tools":["read","write"]}`, "tools", false},
		{`{}`, `{"permission_mode":"plan"}`, "permission_mode", true},
		{`{}`, `{"permission_mode":"accept-edits"}`, "permission_mode", false},
		{`{"permission_mode":"plan"}`, `{"permission_mode":"ask"}`, "permission_mode", false},
		{`{}`, `{"sandbox":"confined"}`, "sandbox", true},
		{`{}`, `{"sandbox":"off"}`, "sandbox", false},
		{`{}`, `{"sandbox_required":true}`, "sandbox_required", true},
		{`{"sandbox_required":true}`, `{"sandbox_required":false}`, "sandbox_required", false},
		{`{}`, `{"limits":{"procs":10}}`, "limits.procs", true},
		{`{}`, `{"limits":{"procs":0}}`, "limits.procs", false},
		{`{}`, `{"limits":{"cpu_s":100}}`, "limits.cpu_s", true},
		{`{}`, `{"veil":{"enabled":false}}`, "veil.enabled", false},
		{`{"veil":{"enabled":false}}`, `{"veil":{"enabled":true}}`, "veil.enabled", true},
		{`{}`, `{"rewind_bytes":0}`, "rewind_bytes", true},
		{`{}`, `{"rewind_bytes":67108864}`, "rewind_bytes", false},
		{`{}`, `{"write_scope":"project"}`, "write_scope", true},
		{`{}`, `{"bundled_skills":false}`, "bundled_skills", true},
		{`{"bundled_skills":false}`, `{"bundled_skills":true}`, "bundled_skills", false},
		{`{}`, `{"permissions":{"bash":"deny"}}`, "permissions.bash", true},
		{`{}`, `{"permissions":{"bash":"ask"}}`, "permissions.bash", true},
		{`{}`, `{"permissions":{"bash":"allow"}}`, "permissions.bash", true}, // the default
		{`{}`, `{"permissions":{"remote_bash":"allow"}}`, "permissions.remote_bash", false},
		{`{}`, `{"permissions":{"mcp__a__b":"allow"}}`, "permissions.mcp__a__b", false},
		{`{"permissions":{"bash":"ask"}}`, `{"permissions":{"Bash":"allow"}}`, "permissions.bash", false},
		{`{"permissions":{"bash":"deny"}}`, `{"permissions":{"bash":"ask"}}`, "permissions.bash", false},
		{`{}`, `{"permissions":{"allow":["bash"]}}`, "permissions.allow", false},
		{`{}`, `{"permission_mode":"plan"}`, "permission_mode", true},
		{`{}`, `{"permission_mode":"acceptEdits"}`, "permission_mode", false},
		{`{"permission_mode":"ask"}`, `{"permission_mode":"default"}`, "permission_mode", false},
		{`{}`, `{"danger_allow":["power"]}`, "danger_allow", false},
		{`{"danger_remote":false}`, `{"danger_remote":true}`, "danger_remote", true},
		{`{}`, `{"danger_remote":false}`, "danger_remote", false},
	}
	for _, tt := range tests {
		b := newBox(t)
		b.user(tt.user)
		before, _ := b.load()
		b.project(tt.project)
		c, notices := b.load()
		named := strings.Contains(notices, "ignored") && strings.Contains(notices, tt.key)
		if named == tt.taken {
			t.Errorf("user %s, project %s: notices %q, want %s named: %v", tt.user, tt.project, notices, tt.key, !tt.taken)
		}
		if !tt.taken && c.values[tt.key] != before.values[tt.key] {
			t.Errorf("user %s, project %s: %s is %+v, want %+v", tt.user, tt.project, tt.key, c.values[tt.key], before.values[tt.key])
		}
		if tt.taken && c.values[tt.key] == before.values[tt.key] && !strings.Contains(tt.project, "strict") {
			t.Errorf("user %s, project %s: %s is %+v as before", tt.user, tt.project, tt.key, c.values[tt.key])
		}
	}
}

// No key of the tier "user" or "trusted" can be set by a project, whatever is
// added to the list.
func TestProjectSetsNothingOfTheUsers(t *testing.T) {
	c := defaults("")
	for _, k := range keys(new(Config)) {
		if k.name == anyTool || k.def == "" {
			continue
		}
		v := mustValue(k.def)
		if k.tier != "user" && k.tier != "trusted" {
			if k.strict == nil && k.tier != "free" {
				t.Errorf("%s: tier %q has no comparison", k.name, k.tier)
			}
			if !c.admits(&k, TierProject, v) && k.name != "text_tools" && k.name != "sandbox_required" && k.name != "bundled_skills" {
				t.Errorf("%s: a project may not set what is in force", k.name)
			}
			continue
		}
		if k.strict != nil {
			t.Errorf("%s: tier %q has a comparison", k.name, k.tier)
		}
		if c.admits(&k, TierProject, v) || c.store(&k, v, setting{tier: TierProject}) {
			t.Errorf("%s: a project may set it", k.name)
		}
		for _, tier := range []Tier{TierUser, TierEnv, TierFlag} {
			if !c.admits(&k, tier, v) {
				t.Errorf("%s: tier %d may not set it", k.name, tier)
			}
		}
	}
}

// What was meant to restrict a run and cannot yet is not passed over silently.
func TestIdleRestrictionsAreTold(t *testing.T) {
	b := newBox(t)
	for text, want := range map[string]string{
		`{"permission_mode":"plan"}`:                  "",
		`{"sandbox":"confined","limits":{"cpu_s":5}}`: "",
		`{"veil":{"patterns":["x"]}}`:                 "veil.patterns",
		`{"write_scope":"project","history_size":7}`:  "",
		`{"veil":{"enabled":false}}`:                  "",
	} {
		b.user(text)
		_, notices := b.load()
		if told := strings.Contains(notices, "does not enforce it yet: "+want); told != (want != "") || want == "" && notices != "" {
			t.Errorf("%s: notices = %q, want %q named", text, notices, want)
		}
	}
}
