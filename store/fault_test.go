package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

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
		{`{"x":[` + strings.Repeat("0,", 6000) + `0]}`, 1, 10003, "", "more than 5000 values"},
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
		{`{"base_url":"https://x/v1?key=Secret1"}`, 0, 0, "base_url", `not "https://x/v1?***"`},
		{`{"base_url":"https://x/v1?api-version=1&key=Secret1"}`, 0, 0, "base_url", `not "https://x/v1?***"`},
		{`{"base_url":"https://user:pw@x/v1"}`, 0, 0, "base_url", "without user"},
		{`{"base_url":"https://user:p/w@d@x/v1"}`, 0, 0, "base_url", `not "https://***@x/v1"`},
		{`{"models":{"m":{"model":"x","base_url":"http://u:pw@x"}}}`, 0, 0, "models", `not "http://***@x"`},
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
		{`{"permissions":{"deny":["bash(rm *)",""]}}`, 0, 0, "permissions.deny", "list of rules"},
		{`{"permission_mode":"bypass"}`, 0, 0, "permission_mode", "--dangerously-skip-permissions"},
		{`{"permission_mode":"plans"}`, 0, 0, "permission_mode", "default, ask, accept-edits or plan"},
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
}

// FuzzConfig checks that no text panics, that what is taken is JSON, and that a
// project's text never sets what is the user's.
func FuzzConfig(f *testing.F) {
	f.Add([]byte(`{"a":1,}`))
	f.Add([]byte(`{"model":"x","permissions":{"bash":"deny","mcp__a":"allow"},"ssh":{"strict":true},"tools":["Read"]}`))
	f.Add([]byte(`{"base_url":"http://x","headers":{"A":"b"},"limits":{"procs":1},"time_limit":"5m","scrub_env":["A"]}`))
	f.Add([]byte("\xef\xbb\xbf{\"models\":{\"a\":{\"model\":\"b\",\"thinking\":false}},\"\\ud83d\":[1e5,-0.1]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, msg := checkSyntax(data)
		ours := strings.Contains(msg, "second time") || strings.Contains(msg, "too deep")
		if valid := json.Valid(data); valid != (msg == "") && !ours {
			t.Fatalf("checkSyntax(%q) = %q, encoding/json says %v", data, msg, valid)
		}
		user := defaults("/home/u")
		user.apply("/u/config.json", TierUser, data, 0o600)
		c := defaults("/home/u")
		before := c.clone()
		notices, fault := c.apply("/p/.cluade/config.json", TierProject, data, 0o644)
		texts := strings.Join(notices, "")
		if fault != nil {
			texts = fault.Error()
		}
		if strings.ContainsAny(texts, "\x00\x07\x1b\n\u202e") {
			t.Fatalf("printed as it is: %q", texts)
		}
		for _, k := range keys(new(Config)) {
			if (k.tier == "user" || k.tier == "trusted") && c.values[k.name] != before.values[k.name] {
				t.Fatalf("a project set %s", k.name)
			}
		}
		for tool, level := range c.Levels {
			if level == "allow" && defaultLevel(tool) != "allow" {
				t.Fatalf("a project allowed %s", tool)
			}
		}
	})
}

func TestMisspeltKeys(t *testing.T) {
	for text, part := range map[string]string{
		`{"permisions":{"bash":"deny"}}`: "is permissions meant?",
		`{"Permission":{}}`:              "is permissions meant?",
		`{"write_scop":"project"}`:       "is write_scope meant?",
	} {
		b := newBox(t)
		b.user(text)
		if _, _, err := Load(b.place(), Trust{}); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Load of %s: %v, want %q", text, err, part)
		}
	}
	b := newBox(t)
	b.user(`{"baseUrl":"http://x/","theme":"dark"}`)
	_, notices, err := Load(b.place(), Trust{})
	if err != nil || len(notices) != 1 || !strings.Contains(notices[0], "is base_url meant?") {
		t.Errorf("Load of odd keys: %q, %v", notices, err)
	}
}
