package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// shown is a key with all that is shown of it.
func shownKey(c *Config, key string) string {
	for _, s := range c.Show() {
		if s.Key == key {
			return strings.Join(append([]string{s.Value, s.From}, s.Overruled...), "|")
		}
	}
	return "none"
}

func TestShow(t *testing.T) {
	b := newBox(t)
	b.user(`{"api_key": "sk-of-the-user", "model": "local", "max_steps": 7, "headers": {"X-Key": "secret"}, "extra_body": {"token": "secret"},
		"mcpServers": {"a": {"env": {"TOKEN": "secret"}}}, "permissions": {"bash": "ask"}, "scrub_env": ["A"], "reasoning_effort": "\u202eb",
		"models": {"local": {"model": "q", "base_url": "http://127.0.0.1/v1"}}}`)
	b.project(`{"max_steps": 9, "permissions": {"bash": "deny", "write": "deny"}, "scrub_env": ["B"]}`)
	b.env["CLUADE_MODEL"] = "local"
	c, _ := b.load()
	if err := c.Set(TierFlag, "max_steps", "11"); err != nil {
		t.Fatal(err)
	}
	user, project := b.userFile(), b.projectFile()
	for _, tt := range []struct{ key, want string }{
		{"max_steps", "11|this run|9 (" + project + ")|7 (" + user + ")"},
		{"retries", "3|default"},
		{"ca_file", "|default"},
		{"api_key", "***|" + user},
		{"headers", `{"X-Key": ***}|` + user},
		{"extra_body", `{"token": ***}|` + user},
		{"mcpServers", `{"a": ***}|` + user},
		{"model", `"local"|environment|"local" (` + user + ")"},
		{"base_url", `"http://127.0.0.1/v1"|models.local`},
		{"permissions.bash", `"deny"|` + project + `|"ask" (` + user + ")"},
		{"permissions.write", `"deny"|` + project},
		{"permissions.edit", "none"},
		{"scrub_env", `["A","B"]|` + project},
		{"reasoning_effort", `"\u202eb"|` + user},
	} {
		if got := shownKey(c, tt.key); got != tt.want {
			t.Errorf("%s is shown as %q, want %q", tt.key, got, tt.want)
		}
	}
	for _, s := range c.Show() {
		if text := s.Value + strings.Join(s.Overruled, ""); strings.Contains(text, "secret") || strings.Contains(text, "sk-") || strings.Contains(text, "\u202e") {
			t.Errorf("%s shows %q", s.Key, text)
		}
	}
	if len(c.Show()) < len(Keys()) {
		t.Errorf("%d keys are shown of %d", len(c.Show()), len(Keys()))
	}
}

func TestInherit(t *testing.T) {
	b := newBox(t)
	old, _ := b.load()
	for _, set := range [][2]string{{"model", "by hand"}, {"sandbox", "confined"}, {"max_steps", "5"}} {
		if err := old.Set(TierFlag, set[0], set[1]); err != nil {
			t.Fatal(err)
		}
	}
	b.user(`{"max_steps": 50, "retries": 1}`)
	c, _ := b.load()
	if err := c.Inherit(old); err != nil {
		t.Fatal(err)
	}
	if c.Model != "by hand" || c.Safety.Sandbox != "confined" || c.MaxSteps != 5 || c.Retries != 1 {
		t.Errorf("model %s, sandbox %s, max_steps %d, retries %d", c.Model, c.Safety.Sandbox, c.MaxSteps, c.Retries)
	}
}

func TestSetKey(t *testing.T) {
	b := newBox(t)
	const before = `{"z": {"unknown": [1.50, 1e3, "é"]}, "max_steps": 7, "ssh": {"timeout": 5, "odd": true}, "a": null}`
	for _, tt := range []struct{ key, value, want string }{
		{"max_steps", "9", `"max_steps": 9`},
		{"model", "qwen3:4b", `"model": "qwen3:4b"`},
		{"model", "9", `"model": "9"`},
		{"stream", "false", `"stream": false`},
		{"time_limit", "10m", `"time_limit": "10m"`},
		{"time_limit", "90", `"time_limit": 90`},
		{"ssh.timeout", "9", `"timeout": 9`},
		{"web.search", "brave", `"web": {` + "\n    " + `"search": "brave"`},
		{"permissions.bash", "deny", `"bash": "deny"`},
		{"permissions.deny", `["bash(rm *)"]`, `"deny": ["bash(rm *)"]`},
		{"tools", `["read","bash"]`, `"tools": ["read","bash"]`},
		{"api_key", "sk-new", `"api_key": "sk-new"`},
	} {
		b.user(before)
		os.Chmod(b.userFile(), 0o644)
		if err := b.place().SetKey(tt.key, tt.value); err != nil {
			t.Errorf("SetKey(%q, %q) = %v", tt.key, tt.value, err)
			continue
		}
		got := read(b.userFile())
		if !strings.Contains(got, tt.want) {
			t.Errorf("SetKey(%q, %q) wrote %s", tt.key, tt.value, got)
		}
		at := -1
		for _, kept := range []string{`"unknown": [1.50,1e3,"é"]`, `"max_steps"`, `"ssh"`, `"odd": true`, `"a": null`} {
			i := strings.Index(got, kept)
			if i < at || i < 0 {
				t.Errorf("SetKey(%q, %q): %s is lost or out of order in %s", tt.key, tt.value, kept, got)
			}
			at = i
		}
		if info := must(os.Stat(b.userFile())); info.Mode() != 0o600 {
			t.Errorf("mode %v", info.Mode())
		}
	}
}

func TestSetKeyRefuses(t *testing.T) {
	b := newBox(t)
	const sound = `{"max_steps": 7, "ssh": {}, "compact_threshold": 0.5}`
	for _, tt := range []struct{ file, key, value, want string }{
		{sound, "max_steps", "many", `max_steps must be a whole number from 1 to 1000, not "many"`},
		{sound, "max_steps", "0", "max_steps must be"},
		{sound, "max_stepz", "1", "there is no key max_stepz; is max_steps meant?"},
		{sound, "ssh", "{}", "ssh is an object: set its members, such as ssh.identity_files"},
		{sound, "permissions.bsh", "deny", "which is no tool; is bash meant?"},
		{sound, "permissions.TOOL", "deny", "which is no tool"},
		{sound, "permission_mode", "bypass", "may not be bypass"},
		{sound, "hard_compact_threshold", "0.4", "must be above compact_threshold"},
		{sound, "stream", "yes", "must be true or false"},
		{sound, "", "1", "there is no key"},
		{`{"max_steps": 7,}`, "max_steps", "9", "line 1, column"},
		{`{"max_steps": "x"}`, "model", "m", "max_steps must be"},
		{`{"ssh": 7}`, "ssh.timeout", "9", "ssh must be an object"},
		{`[]`, "max_steps", "9", "is not a JSON object"},
		{"", "max_steps", "9", "is empty"},
	} {
		b.user(tt.file)
		err := b.place().SetKey(tt.key, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("SetKey(%q, %q) = %v, want %q", tt.key, tt.value, err, tt.want)
		}
		if got := read(b.userFile()); got != tt.file {
			t.Errorf("SetKey(%q, %q) changed the file to %s", tt.key, tt.value, got)
		}
	}
	os.Remove(b.userFile())
	if err := b.place().SetKey("max_steps", "9"); err != nil {
		t.Errorf("SetKey without a file = %v", err)
	}
	if c, _ := b.load(); c.MaxSteps != 9 {
		t.Errorf("max_steps = %d", c.MaxSteps)
	}
	if left, _ := filepath.Glob(filepath.Join(b.home, ".cluade", ".*")); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// TestOtherState: with another state directory the home is a project like any
// other, so the configuration there sets nothing that is guarded.
func TestOtherState(t *testing.T) {
	b := newBox(t)
	b.env["CLUADE_HOME"] = filepath.Join(b.dir, "state")
	b.dir = b.home
	b.user(`{"base_url": "http://elsewhere/v1", "max_steps": 7, "permissions": {"remote_bash": "allow", "bash": "deny"}}`)
	c, notices := b.load()
	if c.BaseURL != "https://api.deepseek.com/v1" || c.MaxSteps != 7 || c.Levels["bash"] != "deny" || c.Levels["remote_bash"] != "" {
		t.Errorf("base_url %s, max_steps %d, levels %v", c.BaseURL, c.MaxSteps, c.Levels)
	}
	if !strings.Contains(notices, "not trusted") {
		t.Errorf("notices %q", notices)
	}
}
