package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fastjson"
)

func mustValue(text string) *fastjson.Value { return fastjson.MustParse(text) }

func TestCredentialOrder(t *testing.T) {
	b := newBox(t)
	keyFile := filepath.Join(b.dir, "key")
	b.put(keyFile, "sk-from-file\r\nsecond line\n")
	flag := "sk-flag"
	steps := []struct {
		name   string
		remove func()
	}{
		{"the command line", func() { flag = "" }},
		{"CLUADE_API_KEY", func() { delete(b.env, "CLUADE_API_KEY") }},
		{"OPENAI_API_KEY", func() { b.env["OPENAI_API_KEY"] = "  " }},
		{"DEEPSEEK_API_KEY", func() { delete(b.env, "DEEPSEEK_API_KEY") }},
		{"api_key in " + b.userFile(), func() { b.user(`{"api_key":"","api_key_file":"` + keyFile + `"}`) }},
		{"api_key_file " + keyFile, func() { b.user(`{}`) }},
		{"", nil},
	}
	b.user(`{"api_key":" sk-config ","api_key_file":"` + keyFile + `"}`)
	b.env["CLUADE_API_KEY"], b.env["OPENAI_API_KEY"], b.env["DEEPSEEK_API_KEY"] = "sk-cluade", "sk-openai", "sk-deepseek"
	want := []string{"sk-flag", "sk-cluade", "sk-openai", "sk-deepseek", "sk-config", "sk-from-file", ""}
	for i, step := range steps {
		c, _ := b.load()
		key, from, err := c.Credential(b.place(), flag)
		if key != want[i] || from != step.name || err != nil {
			t.Errorf("Credential = %q from %q, %v, want %q from %q", key, from, err, want[i], step.name)
		}
		if step.remove != nil {
			step.remove()
		}
	}
}

func TestCredentialOfHost(t *testing.T) {
	for address, want := range map[string]string{
		"https://api.deepseek.com/v1":                             "DEEPSEEK_API_KEY",
		"https://openrouter.ai/api/v1":                            "OPENROUTER_API_KEY",
		"https://API.GROQ.com/openai/v1":                          "GROQ_API_KEY",
		"https://api.mistral.ai/v1":                               "MISTRAL_API_KEY",
		"https://generativelanguage.googleapis.com/v1beta/openai": "GEMINI_API_KEY",
		"https://api.x.ai/v1":                                     "XAI_API_KEY",
		"https://notx.ai/v1":                                      "",
		"https://deepseek.com.evil.example/v1":                    "",
		"https://evil.example/deepseek.com":                       "",
		"http://127.0.0.1:8080/v1":                                "",
	} {
		if got := hostKey(address); got != want {
			t.Errorf("hostKey(%q) = %q, want %q", address, got, want)
		}
	}
}

func TestCredentialScreening(t *testing.T) {
	b := newBox(t)
	c, _ := b.load()
	for _, bad := range []string{"sk-\x1b[0m", "sk-é", "two\nlines", strings.Repeat("k", 513), "tab\tkey"} {
		b.env["OPENAI_API_KEY"] = bad
		key, _, err := c.Credential(b.place(), "")
		if key != "" || err == nil || !strings.Contains(err.Error(), "OPENAI_API_KEY") || strings.Contains(err.Error(), bad) {
			t.Errorf("Credential(%q) = %q, %v, want an error that names the source only", bad, key, err)
		}
	}
	b.env["OPENAI_API_KEY"] = " \t" + strings.Repeat("k", 512) + "\r\n"
	if key, _, err := c.Credential(b.place(), ""); len(key) != 512 || err != nil {
		t.Errorf("Credential = %d bytes, %v, want 512", len(key), err)
	}
	delete(b.env, "OPENAI_API_KEY")
	for path, text := range map[string]string{"missing": "", "empty": "\nsecond\n"} {
		name := filepath.Join(b.dir, path)
		if text != "" {
			b.put(name, text)
		}
		b.user(`{"api_key_file":"` + name + `"}`)
		c, _ := b.load()
		if key, _, err := c.Credential(b.place(), ""); key != "" || err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("Credential(%s file) = %q, %v, want an error that names it", path, key, err)
		}
	}
}

func TestPrivate(t *testing.T) {
	b := newBox(t)
	b.user(`{"api_key_file":"/keys/k","history_file":"~/.hist"}`)
	if c, _ := b.load(); !slices.Equal(c.Private(), []string{"/keys/k", b.home + "/.hist"}) {
		t.Errorf("Private = %q", c.Private())
	}
	b.user(`{"history_file":""}`)
	if c, _ := b.load(); len(c.Private()) != 0 {
		t.Errorf("Private = %q, want none", c.Private())
	}
}

func TestReadableKeyIsTold(t *testing.T) {
	b := newBox(t)
	for _, tt := range []struct {
		text string
		mode os.FileMode
		told bool
	}{
		{`{"api_key":"sk-TESTKEY"}`, 0o644, true},
		{`{"api_key":"sk-TESTKEY"}`, 0o640, true},
		{`{"api_key":"sk-TESTKEY"}`, 0o600, false},
		{`{"api_key":""}`, 0o644, false},
		{`{"headers":{"X-Api-Key":"x"}}`, 0o644, true},
		{`{"model":"x"}`, 0o644, false},
	} {
		b.user(tt.text)
		if err := os.Chmod(b.userFile(), tt.mode); err != nil {
			t.Fatal(err)
		}
		_, notices := b.load()
		if told := strings.Contains(notices, "config.json") && strings.Contains(notices, "chmod 600"); told != tt.told {
			t.Errorf("%s with mode %o: notices = %q, want a warning: %v", tt.text, tt.mode, notices, tt.told)
		}
		if strings.Contains(notices, "sk-TESTKEY") {
			t.Errorf("notices = %q show the key", notices)
		}
	}
}

func TestHistoryFile(t *testing.T) {
	b := newBox(t)
	state := ""
	if !OnFlash(b.place().State) {
		state = filepath.Join(b.place().State, "history")
	}
	for _, tt := range []struct {
		config, file string
		lines        int
	}{
		{`{}`, state, 500},
		{`{"history_file":"","history_size":7}`, "", 7},
		{`{"history_file":"~/.lines"}`, filepath.Join(b.place().Home, ".lines"), 500},
		{`{"history_file":"/mnt/lines","history_size":0}`, "/mnt/lines", 0},
	} {
		b.user(tt.config)
		c, _ := b.load()
		if file, lines := c.History(b.place()); file != tt.file || lines != tt.lines {
			t.Errorf("%s: History = %q, %d, want %q, %d", tt.config, file, lines, tt.file, tt.lines)
		}
	}
}

// TestProjectKey: a project's key goes to no server that the project did not
// name, and the project must be trusted.
func TestProjectKey(t *testing.T) {
	for _, tt := range []struct {
		project, want string
		trusted       bool
	}{
		{`{"api_key": "sk-project"}`, "sk-user", true},
		{`{"api_key": "sk-project", "base_url": "http://127.0.0.1/v1"}`, "sk-project", true},
		{`{"api_key": "sk-project", "base_url": "http://127.0.0.1/v1"}`, "sk-user", false},
		{`{"api_key": ""}`, "sk-user", true},
	} {
		b := newBox(t)
		b.user(`{"api_key": "sk-user"}`)
		b.project(tt.project)
		c, notices, err := Load(b.place(), Trust{})
		if g := c.Guarded(b.place()); err == nil && g != nil && tt.trusted {
			c, notices, err = Load(b.place(), g.Accept())
		}
		if err != nil {
			t.Fatal(err)
		}
		if key, _, _ := c.Credential(b.place(), ""); key != tt.want {
			t.Errorf("project %s, trusted %v: key %s, want %s", tt.project, tt.trusted, key, tt.want)
		}
		if told := strings.Contains(strings.Join(notices, "\n"), "ignored"); told != (tt.want == "sk-user" && tt.project != `{"api_key": ""}`) {
			t.Errorf("project %s, trusted %v: notices %q", tt.project, tt.trusted, notices)
		}
	}
}
