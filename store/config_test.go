package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// box is a home and a project directory with an environment.
type box struct {
	t         *testing.T
	home, dir string
	env       map[string]string
}

func newBox(t *testing.T) *box {
	root := t.TempDir()
	b := &box{t: t, home: filepath.Join(root, "home"), dir: filepath.Join(root, "work"), env: map[string]string{}}
	for _, d := range []string{b.home, b.dir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	b.env["HOME"] = b.home
	return b
}

func (b *box) place() Place { return FindPlace(b.dir, func(k string) string { return b.env[k] }) }

func (b *box) put(path, text string) {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) userFile() string    { return filepath.Join(b.home, ".cluade", "config.json") }
func (b *box) projectFile() string { return filepath.Join(b.dir, ".cluade", "config.json") }

func (b *box) user(text string)    { b.t.Helper(); b.put(b.userFile(), text) }
func (b *box) project(text string) { b.t.Helper(); b.put(b.projectFile(), text) }

func (b *box) load() (*Config, string) {
	b.t.Helper()
	c, notices, err := Load(b.place())
	if err != nil {
		b.t.Fatalf("Load: %v", err)
	}
	return c, strings.Join(notices, "\n")
}

func (b *box) fault() *ConfigError {
	b.t.Helper()
	_, _, err := Load(b.place())
	var fault *ConfigError
	if !errors.As(err, &fault) {
		b.t.Fatalf("Load = %v, want a ConfigError", err)
	}
	return fault
}

func TestLoadDefaults(t *testing.T) {
	c, notices := newBox(t).load()
	if notices != "" {
		t.Errorf("notices = %q, want none", notices)
	}
	want := Config{
		BaseURL: "https://api.deepseek.com/v1", Model: "deepseek-v4-pro", MaxSteps: 100, MaxTokens: 131072,
		RequestTimeout: 600 * time.Second, IdleTimeout: 120 * time.Second, Thinking: true, Effort: "max",
		ContextLimit: 200000, CompactAt: 0.85, Stream: true, Retries: 3, BashTimeout: 30 * time.Second,
		ResultBytes: 30720, RepeatLimit: 3, ErrorLimit: 4, PollLimit: 25, TextTools: "auto", Color: "auto", JournalSync: "turn",
	}
	got, exp := reflect.ValueOf(*c), reflect.ValueOf(want)
	for i := range got.NumField() {
		f := got.Type().Field(i)
		if !f.IsExported() || f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Slice {
			continue
		}
		if !reflect.DeepEqual(got.Field(i).Interface(), exp.Field(i).Interface()) {
			t.Errorf("%s = %v, want %v", f.Name, got.Field(i), exp.Field(i))
		}
	}
	if c.Tools != nil || len(c.Levels) != 0 || len(c.Headers) != 0 || len(c.ScrubEnv) != 0 {
		t.Errorf("Tools, Levels, Headers, ScrubEnv = %v %v %v %v, want none", c.Tools, c.Levels, c.Headers, c.ScrubEnv)
	}
}

func TestMergeOrder(t *testing.T) {
	b := newBox(t)
	b.user(`{"model":"u","max_steps":7,"retries":1,"permissions":{"bash":"deny","write":"ask"},"scrub_env":["A"],"color":"never"}`)
	b.project(`{"model":"p","max_steps":8,"permissions":{"edit":"ask"},"scrub_env":["B","A"]}`)
	c, _ := b.load()
	if c.Model != "p" || c.MaxSteps != 8 || c.Retries != 1 {
		t.Errorf("Model, MaxSteps, Retries = %s, %d, %d, want p, 8, 1", c.Model, c.MaxSteps, c.Retries)
	}
	levels := map[string]string{"bash": "deny", "write": "ask", "edit": "ask"}
	if !reflect.DeepEqual(c.Levels, levels) {
		t.Errorf("Levels = %v, want %v", c.Levels, levels)
	}
	if c.LevelFiles["bash"] != "config.json" || c.LevelFiles["edit"] != ".cluade/config.json" {
		t.Errorf("LevelFiles = %v", c.LevelFiles)
	}
	if want := []string{"A", "B"}; !slices.Equal(c.ScrubEnv, want) {
		t.Errorf("ScrubEnv = %v, want %v", c.ScrubEnv, want)
	}
	b.env["CLUADE_MODEL"], b.env["CLICOLOR_FORCE"] = "e", "1"
	c, _ = b.load()
	if c.Model != "e" || c.Source("model") != TierEnv || c.Color != "always" {
		t.Errorf("Model = %s from %d, Color = %s, want e from the environment, always", c.Model, c.Source("model"), c.Color)
	}
	if err := c.Set(TierFlag, "model", "f"); err != nil || c.Model != "f" || c.Source("model") != TierFlag {
		t.Errorf("Set: %v, Model = %s from %d", err, c.Model, c.Source("model"))
	}
	for key, want := range map[string]Tier{"retries": TierUser, "max_steps": TierProject, "stream": TierDefault} {
		if got := c.Source(key); got != want {
			t.Errorf("Source(%s) = %d, want %d", key, got, want)
		}
	}
}

// A project's list never takes away what the user put in.
func TestEmptyProjectListDropsNothing(t *testing.T) {
	b := newBox(t)
	b.user(`{"scrub_env":["TOKEN"],"veil":{"paths":["/etc/shadow"]}}`)
	b.project(`{"scrub_env":[],"veil":{"paths":[]}}`)
	c, _ := b.load()
	if !slices.Equal(c.ScrubEnv, []string{"TOKEN"}) || c.values["veil.paths"].json != `["/etc/shadow"]` {
		t.Errorf("ScrubEnv = %v, veil.paths = %s, want the user's", c.ScrubEnv, c.values["veil.paths"].json)
	}
}

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
	}
	for _, tt := range tests {
		b := newBox(t)
		b.user(tt.user)
		before, _ := b.load()
		b.project(tt.project)
		c, notices := b.load()
		named := strings.Contains(notices, tt.key)
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
	for _, k := range keys() {
		if k.name == "permissions.TOOL" || k.def == "" {
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

func TestEveryKeyHasARange(t *testing.T) {
	wrong := []string{`null`, `[1]`, `-1`, `1e9999`, `"\u0000"`, `{"\u0000":1}`, `[["x"]]`}
	for _, k := range keys() {
		if k.def != "" {
			if err := k.kind.verify(mustValue(k.def)); err != nil {
				t.Errorf("%s: the default %s %v", k.name, k.def, err)
			}
		}
		refused := 0
		for _, w := range wrong {
			if k.kind.verify(mustValue(w)) != nil {
				refused++
			}
		}
		if refused < len(wrong)-1 {
			t.Errorf("%s takes all but %d of %v", k.name, refused, wrong)
		}
		if k.doc == "" || k.kind.desc == "" {
			t.Errorf("%s has no documentation", k.name)
		}
	}
}

func TestFaultyUserFile(t *testing.T) {
	tests := []struct {
		text      string
		line, col int
		key, msg  string // parts
	}{
		{`{"a":1,}`, 1, 8, "", "comma"},
		{"{\n  \"model\": \"x\",\n  \"a\": 1,\n}", 4, 1, "", "comma"},
		{"{\"é\":1,}", 1, 8, "", "comma"},
		{"\xef\xbb\xbf{\"a\":1,}", 1, 8, "", "comma"},
		{"{\"a\":1 \"b\":2}", 1, 8, "", "comma or '}'"},
		{"{\n// comment\n}", 2, 1, "", "comment"},
		{"{'a':1}", 1, 2, "", "double quotes"},
		{`{"model":x}`, 1, 10, "", "double quotes"},
		{`{"max_steps":01}`, 1, 14, "", "number"},
		{`{"a":nan}`, 1, 6, "", "double quotes"},
		{`{"a":"x` + "\n" + `"}`, 1, 6, "", "not closed"},
		{`{"permissions":{"bash":"deny"},"permissions":{}}`, 1, 32, "", "second time"},
		{`{"permissions":{"bash":"deny","b\u0061sh":"allow"}}`, 1, 31, "", "second time"},
		{`{"a":{}`, 1, 8, "", "end of the file"},
		{`{} {}`, 1, 4, "", "nothing may follow"},
		{"{\"a\":\"\x01\"}", 1, 7, "", "control character"},
		{``, 0, 0, "", "empty"},
		{" \n", 0, 0, "", "empty"},
		{"\xff\xfe{\x00}\x00", 0, 0, "", "UTF-16"},
		{`[]`, 0, 0, "", "not a JSON object"},
		{`{"max_steps":0}`, 0, 0, "max_steps", "from 1 to 1000, not 0"},
		{`{"max_steps":1.5}`, 0, 0, "max_steps", "whole number"},
		{`{"max_steps":"5"}`, 0, 0, "max_steps", `not "5"`},
		{`{"max_tokens":2147483648}`, 0, 0, "max_tokens", "whole number"},
		{`{"model":null}`, 0, 0, "model", "must be"},
		{`{"model":"  "}`, 0, 0, "model", "must be"},
		{`{"base_url":"api.x.com/v1"}`, 0, 0, "base_url", "http"},
		{`{"base_url":"ftp://x"}`, 0, 0, "base_url", "http"},
		{`{"base_url":"https://user:pw@x/v1"}`, 0, 0, "base_url", "without user"},
		{`{"compact_threshold":0.96}`, 0, 0, "compact_threshold", "0.1 to 0.95"},
		{`{"compact_threshold":0.9,"hard_compact_threshold":0.8}`, 0, 0, "hard_compact_threshold", "above compact_threshold"},
		{`{"stream":1}`, 0, 0, "stream", "true or false"},
		{`{"ssh":{"timeout":0}}`, 0, 0, "ssh.timeout", "must be"},
		{`{"ssh":[]}`, 0, 0, "ssh", "must be an object"},
		{`{"permissions":"allow"}`, 0, 0, "permissions", "must be an object"},
		{`{"permissions":{"bash":"never"}}`, 0, 0, "permissions.bash", "allow, ask or deny"},
		{`{"permissions":{"basch":"deny"}}`, 0, 0, "permissions", "is bash meant?"},
		{`{"permissions":{"xyz":"ask"}}`, 0, 0, "permissions", "no tool"},
		{`{"permissions":{"bash":"allow","Bash":"deny"}}`, 0, 0, "permissions", "twice"},
		{`{"permissions":{"defaultMode":"plan"}}`, 0, 0, "permissions", "permission_mode"},
		{`{"permissions":{"deny":["bash(rm *)"]}}`, 0, 0, "permissions.deny", "not supported yet"},
		{`{"permissions":{"ask":["bash"]}}`, 0, 0, "permissions.ask", "not supported yet"},
		{`{"permissions":{"deny":"bash"}}`, 0, 0, "permissions.deny", "list"},
		{`{"tools":["read","teleport"]}`, 0, 0, "tools", "teleport"},
		{`{"extra_body":{"messages":[]}}`, 0, 0, "extra_body", "messages"},
		{`{"headers":{"A B":"x"}}`, 0, 0, "headers", "name of a header"},
		{`{"headers":{"Host":"x"}}`, 0, 0, "headers", "Host"},
		{`{"headers":{"X":"a\nb"}}`, 0, 0, "headers", "one line"},
		{`{"models":{"m":{}}}`, 0, 0, "models", "no model"},
		{`{"models":{"m":{"model":"x","base_url":"x"}}}`, 0, 0, "models", "base_url must be"},
		{`{"models":{"m":{"model":"x","url":"x"}}}`, 0, 0, "models", "no member"},
		{`{"fallback":[{"model":"x"}]}`, 0, 0, "fallback", "base_url"},
		{`{"ca_file":"ca.pem"}`, 0, 0, "ca_file", "absolute path"},
		{`{"time_limit":"5 min"}`, 0, 0, "time_limit", "seconds"},
		{`{"scrub_env":["A B"]}`, 0, 0, "scrub_env", "environment variables"},
	}
	for _, tt := range tests {
		b := newBox(t)
		b.user(tt.text)
		e := b.fault()
		if e.File != b.userFile() || e.Line != tt.line || e.Col != tt.col || e.Key != tt.key || !strings.Contains(e.Msg, tt.msg) {
			t.Errorf("Load(%q) = %+v, want line %d, column %d, key %q, %q", tt.text, *e, tt.line, tt.col, tt.key, tt.msg)
		}
		if tt.line > 0 && !strings.Contains(e.Error(), "config.json: line ") {
			t.Errorf("Error() = %q, want file and line", e.Error())
		}
	}
}

// What a file says is not printed as it is.
func TestFaultTextsAreEscapedAndCut(t *testing.T) {
	b := newBox(t)
	b.user(`{"model":"\u001b[2J` + strings.Repeat("x", 5000) + `"}`)
	if e := b.fault(); strings.ContainsRune(e.Error(), 0x1b) || len(e.Msg) > maxQuoted+3 {
		t.Errorf("Error() = %q", e.Error())
	}
	b.user(`{"api_key":"sk-secret\u0007"}`)
	if e := b.fault(); strings.Contains(e.Error(), "sk-secret") {
		t.Errorf("Error() = %q shows the key", e.Error())
	}
	b.user(`{"headers":{"X-Key":["sk-secret"]}}`)
	if e := b.fault(); strings.Contains(e.Error(), "sk-secret") {
		t.Errorf("Error() = %q shows a header", e.Error())
	}
	b.user(`{}`)
	b.project(`{"permissions":{"\u001b]0;x\u0007":"allow"},"allow_\u202e":1}`)
	if _, notices := b.load(); strings.ContainsAny(notices, "\x1b\x07\u202e") || notices == "" {
		t.Errorf("notices = %q", notices)
	}
}

func TestFileThatIsNoFile(t *testing.T) {
	b := newBox(t)
	if err := os.MkdirAll(b.userFile(), 0o700); err != nil {
		t.Fatal(err)
	}
	if e := b.fault(); !strings.Contains(e.Msg, "regular file") {
		t.Errorf("a directory: %v", e)
	}
	os.Remove(b.userFile())
	if err := os.Symlink("/nonexistent/config.json", b.userFile()); err != nil {
		t.Fatal(err)
	}
	if e := b.fault(); !strings.Contains(e.Msg, "no such file") {
		t.Errorf("a dangling link: %v", e)
	}
	os.Remove(b.userFile())
	if err := syscall.Mkfifo(b.userFile(), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := b.fault(); !strings.Contains(e.Msg, "regular file") {
		t.Errorf("a FIFO: %v", e)
	}
	os.Remove(b.userFile())
	b.user("{}" + strings.Repeat(" ", maxConfig))
	if e := b.fault(); !strings.Contains(e.Msg, "larger") {
		t.Errorf("a large file: %v", e)
	}
	os.Remove(b.userFile())
	os.Remove(filepath.Dir(b.userFile()))
	b.put(filepath.Dir(b.userFile()), "a file where the directory should be")
	b.load()
}

func TestFaultyProjectFileContributesNothing(t *testing.T) {
	b := newBox(t)
	b.user(`{"model":"u"}`)
	for _, text := range []string{
		`{"model":"p","permissions":{"bash":"ask"},"max_steps":0}`,
		`{"model":"p","permissions":{"bash":"ask"},}`,
		`{"model":"p","permissions":{"bash":"ask","bsh":"deny"}}`,
		`{"model":"p","permissions":{"bash":"ask"},"headers":1}`,
	} {
		b.project(text)
		c, notices := b.load()
		if c.Model != "u" || len(c.Levels) != 0 || c.MaxSteps != 100 {
			t.Errorf("project %s: Model %s, Levels %v, MaxSteps %d", text, c.Model, c.Levels, c.MaxSteps)
		}
		if !strings.Contains(notices, b.projectFile()) || strings.Contains(notices, "\n") {
			t.Errorf("project %s: notices = %q, want one that names the file", text, notices)
		}
	}
	b.project(`{"permissions":{"deny":["bash"]}}`)
	if e := b.fault(); e.File != b.projectFile() {
		t.Errorf("a project's deny rule: %v", e)
	}
}

func TestHomeIsTheProject(t *testing.T) {
	b := newBox(t)
	b.dir = b.home
	b.user(`{"base_url":"http://127.0.0.1:1/v1/","headers":{"X":"1"}}`)
	c, notices := b.load()
	if c.BaseURL != "http://127.0.0.1:1/v1" || len(c.Headers) != 1 || notices != "" {
		t.Errorf("BaseURL = %s, Headers = %v, notices = %q", c.BaseURL, c.Headers, notices)
	}
	if c.Source("base_url") != TierUser {
		t.Errorf("Source = %d, want the user's", c.Source("base_url"))
	}
	// The same through a link from another directory.
	b.dir = filepath.Join(filepath.Dir(b.home), "work")
	if err := os.Symlink(filepath.Join(b.home, ".cluade"), filepath.Join(b.dir, ".cluade")); err != nil {
		t.Fatal(err)
	}
	if _, notices := b.load(); notices != "" {
		t.Errorf("through a link: notices = %q", notices)
	}
}

func TestUnknownAndForeignKeys(t *testing.T) {
	b := newBox(t)
	b.user(`{"modle":"x","ssh":{"timout":1},"quite_other_thing":1,"hooks":{},"env":{},"apiKeyHelper":"x","statusLine":{},
		"append_system_prompt":"x","allow_bash":true,"permissions":{"teleport":"allow"}}`)
	c, notices := b.load()
	var got []string
	for _, u := range c.Unknown {
		got = append(got, u.Key+">"+u.Nearest)
	}
	want := []string{"modle>model", "ssh.timout>ssh.timeout", "quite_other_thing>", "hooks>"}
	if !slices.Equal(got[:4], want) {
		t.Errorf("Unknown = %q, want %q first", got, want)
	}
	for _, part := range []string{"hooks.json", "env means", "api_key_file", "statusLine", "--append-system-prompt", "permissions.allow", "teleport"} {
		if !strings.Contains(notices, part) {
			t.Errorf("notices = %q, want %q", notices, part)
		}
	}
	if strings.Contains(notices, "modle") {
		t.Errorf("notices = %q name an unknown key on every run", notices)
	}
	many := `{"model":"x"`
	for range 300 {
		many += `,"allow_` + strings.Repeat("x", len(many)%97+1) + string(rune('a'+len(many)%26)) + `":1`
	}
	many = `{` + strings.Join(slices.Compact(slices.Sorted(slices.Values(strings.Split(many[1:], ",")))), ",") + `}`
	b.user(many)
	if c, notices := b.load(); len(c.Unknown) > maxUnknown || strings.Count(notices, "\n") > maxNotices+3 {
		t.Errorf("%d unknown keys, %d notices", len(c.Unknown), strings.Count(notices, "\n")+1)
	}
}

func TestModelNames(t *testing.T) {
	b := newBox(t)
	b.user(`{"base_url":"https://api.example.com/v1","api_key":"sk-configured","models":{
		"local":{"model":"qwen3:4b","base_url":"http://127.0.0.1:11434/v1","context_limit":8192,"thinking":false},
		"big":{"model":"huge","api_key_env":"BIG_KEY"}}}`)
	c, _ := b.load()
	set := func(name string) {
		t.Helper()
		if err := c.Set(TierFlag, "model", name); err != nil {
			t.Fatal(err)
		}
	}
	p := b.place()
	set("local")
	if c.Model != "qwen3:4b" || c.BaseURL != "http://127.0.0.1:11434/v1" || c.ContextLimit != 8192 || c.Thinking {
		t.Errorf("local: %s %s %d %v", c.Model, c.BaseURL, c.ContextLimit, c.Thinking)
	}
	if c.Source("context_limit") != TierUser || c.Source("thinking") != TierUser {
		t.Errorf("local: sources %d, %d, want the user's", c.Source("context_limit"), c.Source("thinking"))
	}
	if key, from, _ := c.Credential(p, ""); key != "" {
		t.Errorf("local: key from %s, want none: it was meant for another host", from)
	}
	if key, _, _ := c.Credential(p, "sk-flag"); key != "sk-flag" {
		t.Errorf("local: key %q, want that of the command line", key)
	}
	set("big")
	b.env["BIG_KEY"], b.env["OPENAI_API_KEY"] = "sk-big", "sk-openai"
	if c.Model != "huge" || c.BaseURL != "https://api.example.com/v1" || c.ContextLimit != 200000 || !c.Thinking {
		t.Errorf("big: %s %s %d %v", c.Model, c.BaseURL, c.ContextLimit, c.Thinking)
	}
	if key, from, _ := c.Credential(p, ""); key != "sk-big" || from != "BIG_KEY" {
		t.Errorf("big: key %s from %s", key, from)
	}
	set("literal-id")
	if key, _, _ := c.Credential(p, ""); c.Model != "literal-id" || key != "sk-openai" {
		t.Errorf("literal: %s, key %s", c.Model, key)
	}
	if err := c.Set(TierFlag, "base_url", "http://127.0.0.1:9/v1/chat/completions/"); err != nil {
		t.Fatal(err)
	}
	set("local")
	if c.BaseURL != "http://127.0.0.1:9/v1" {
		t.Errorf("BaseURL = %s, want that of the command line", c.BaseURL)
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct {
		key, value, fault string
	}{
		{"max_steps", "12", ""}, {"max_steps", "0", "from 1 to 1000"}, {"max_steps", "x", "whole number"}, {"max_steps", "", "whole number"},
		{"time_limit", "90", ""}, {"time_limit", "5m", ""}, {"time_limit", "-5m", "seconds"},
		{"model", "123", ""}, {"model", `a"b`, ""}, {"model", "", "must be"},
		{"text_tools", "false", ""}, {"text_tools", "auto", ""}, {"text_tools", "maybe", "must be"},
		{"stream", "false", ""}, {"color", "purple", "auto, always or never"}, {"no_such", "1", "unknown key"},
	} {
		c := defaults("")
		err := c.Set(TierFlag, tt.key, tt.value)
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("Set(%s, %q) = %v, want %q", tt.key, tt.value, err, tt.fault)
		}
		if want := defaults(""); err != nil && !reflect.DeepEqual(c, want) {
			t.Errorf("Set(%s, %q) failed and changed something", tt.key, tt.value)
		}
	}
	c := defaults("")
	if err := c.Set(TierFlag, "time_limit", "1h30m"); err != nil || c.TimeLimit != 90*time.Minute {
		t.Errorf("TimeLimit = %v, %v", c.TimeLimit, err)
	}
	if err := c.Set(TierProject, "headers", `{"X":"1"}`); err == nil || len(c.Headers) > 0 {
		t.Errorf("a project set headers: %v", c.Headers)
	}
}

func TestEnvironment(t *testing.T) {
	b := newBox(t)
	b.env["OPENAI_BASE_URL"] = "http://127.0.0.1:2/v1"
	if c, _ := b.load(); c.BaseURL != "http://127.0.0.1:2/v1" {
		t.Errorf("BaseURL = %s, want OPENAI_BASE_URL", c.BaseURL)
	}
	b.project(`{"base_url":"http://evil"}`)
	if c, _ := b.load(); c.BaseURL != "http://127.0.0.1:2/v1" {
		t.Errorf("BaseURL = %s, want OPENAI_BASE_URL beside a project that is not trusted", c.BaseURL)
	}
	b.user(`{"base_url":"http://127.0.0.1:1/v1"}`)
	if c, _ := b.load(); c.BaseURL != "http://127.0.0.1:1/v1" {
		t.Errorf("BaseURL = %s, want the file's", c.BaseURL)
	}
	b.env["CLUADE_BASE_URL"] = "http://127.0.0.1:3/v1"
	if c, _ := b.load(); c.BaseURL != "http://127.0.0.1:3/v1" {
		t.Errorf("BaseURL = %s, want CLUADE_BASE_URL", c.BaseURL)
	}
	b.env["NO_COLOR"], b.env["CLICOLOR_FORCE"] = "1", "1"
	if c, _ := b.load(); c.Color != "never" {
		t.Errorf("Color = %s, want never", c.Color)
	}
	b.env["CLUADE_BASE_URL"] = "nonsense"
	if e := b.fault(); e.File != "environment" || e.Key != "CLUADE_BASE_URL" {
		t.Errorf("fault = %+v", *e)
	}
}

// What Init writes is nobody's wish: only what a person set is sent to every
// server.
func TestInitIsNoWish(t *testing.T) {
	b := newBox(t)
	path, err := Init(b.place(), false)
	if err != nil || path != b.userFile() {
		t.Fatalf("Init = %s, %v", path, err)
	}
	c, notices := b.load()
	for _, key := range []string{"max_tokens", "thinking", "reasoning_effort", "context_limit"} {
		if c.Source(key) != TierDefault {
			t.Errorf("Source(%s) = %d, want default", key, c.Source(key))
		}
	}
	if notices != "" {
		t.Errorf("notices = %q", notices)
	}
	b.project(string(must(os.ReadFile(path))))
	if _, notices := b.load(); notices != "" {
		t.Errorf("a copy in the project: notices = %q", notices)
	}
}

func TestInit(t *testing.T) {
	b := newBox(t)
	path, err := Init(b.place(), false)
	if err != nil {
		t.Fatal(err)
	}
	want := `{
  "base_url": "https://api.deepseek.com/v1",
  "model": "deepseek-v4-pro",
  "api_key": "",
  "max_steps": 100,
  "max_tokens": 131072,
  "request_timeout": 600,
  "thinking": true,
  "reasoning_effort": "max",
  "context_limit": 200000,
  "compact_threshold": 0.85,
  "permissions": {
    "bash": "allow",
    "remote_bash": "ask",
    "write": "allow"
  }
}
`
	if got := string(must(os.ReadFile(path))); got != want || !json.Valid([]byte(got)) {
		t.Errorf("Init wrote %s, want %s", got, want)
	}
	for path, mode := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir} {
		if info := must(os.Stat(path)); info.Mode() != mode {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), mode)
		}
	}
	b.user("mine")
	if _, err := Init(b.place(), false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Init over a file = %v, want ErrExist", err)
	}
	if got := string(must(os.ReadFile(path))); got != "mine" {
		t.Errorf("the file was changed to %q", got)
	}
	target := filepath.Join(b.dir, "real.json")
	os.Remove(path)
	b.put(target, "old")
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
	if _, err := Init(b.place(), true); err != nil {
		t.Fatal(err)
	}
	if got := string(must(os.ReadFile(target))); got != want {
		t.Errorf("Init through a link wrote %q to its target", got)
	}
	if info := must(os.Lstat(path)); info.Mode()&os.ModeSymlink == 0 {
		t.Error("Init replaced the link")
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, ".real.json*")); len(left) > 0 {
		t.Errorf("Init left %v", left)
	}
	if _, err := Init(Place{}, false); err == nil {
		t.Error("Init without a home = nil, want an error")
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
