package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
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
	c, notices, err := Load(b.place(), Trust{})
	if err != nil {
		b.t.Fatalf("Load: %v", err)
	}
	return c, strings.Join(notices, "\n")
}

func (b *box) fault() *ConfigError {
	b.t.Helper()
	_, _, err := Load(b.place(), Trust{})
	var fault *ConfigError
	if !errors.As(err, &fault) {
		b.t.Fatalf("Load = %v, want a ConfigError", err)
	}
	return fault
}

func TestLoadDefaults(t *testing.T) {
	b := newBox(t)
	c, notices := b.load()
	if notices != "" {
		t.Errorf("notices = %q, want none", notices)
	}
	want := Config{
		BaseURL: "https://api.deepseek.com/v1", Model: "deepseek-v4-pro", MaxSteps: 100, MaxTokens: 131072,
		RequestTimeout: 600 * time.Second, IdleTimeout: 120 * time.Second, Thinking: true, Effort: "max",
		ContextLimit: 200000, CompactAt: 0.85, HardCompactAt: 0.95, Compaction: true, Stream: true, Retries: 3, BashTimeout: 30 * time.Second,
		ResultBytes: 30720, RepeatLimit: 3, ErrorLimit: 4, PollLimit: 25, TextTools: "auto", Color: "auto", JournalSync: "turn", BundledSkills: true, RewindBytes: 4 << 20,
		Web:           Web{Search: "duckduckgo", FetchTimeout: 15 * time.Second, FetchBytes: 32768},
		Safety:        Safety{Mode: "default", WriteScope: "any", DangerAllow: []string{}, DangerRemote: true, Sandbox: "limits", Limits: Limits{Procs: 64, FileMB: 256}},
		SSH:           SSH{IdentityFiles: []string{}, Config: filepath.Join(b.home, ".ssh/config"), ConnectTimeout: 10 * time.Second, Timeout: 30 * time.Second},
		SubagentSteps: 100, SubagentTimeout: 30 * time.Minute,
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

func TestEveryKeyHasARange(t *testing.T) {
	wrong := []string{`null`, `[1]`, `-1`, `1e9999`, `"\u0000"`, `{"\u0000":1}`, `[["x"]]`}
	for _, k := range keys(new(Config)) {
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

func TestHomeIsTheProject(t *testing.T) {
	b := newBox(t)
	b.dir = b.home
	b.user(`{"base_url":"http://127.0.0.1:1/v1/","headers":{"X":"1"},"model":"m","permissions":{"bash":"ask"}}`)
	c, notices := b.load()
	if c.BaseURL != "http://127.0.0.1:1/v1" || len(c.Headers) != 1 || notices != "" {
		t.Errorf("BaseURL = %s, Headers = %v, notices = %q", c.BaseURL, c.Headers, notices)
	}
	if c.Source("base_url") != TierUser || c.Source("model") != TierUser || c.LevelFiles["bash"] != "config.json" {
		t.Errorf("Source = %d, %d, bash from %s, want the user's", c.Source("base_url"), c.Source("model"), c.LevelFiles["bash"])
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
	if !strings.Contains(notices, "is model meant?") || strings.Contains(notices, "quite_other_thing") {
		t.Errorf("notices = %q, want the misspelt key and not the foreign one", notices)
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

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
