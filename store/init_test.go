package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

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
