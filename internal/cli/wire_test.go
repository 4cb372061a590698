package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestAttended(t *testing.T) {
	tty := newPty(t, 80).tty
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer w.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	tests := []struct {
		name   string
		stdin  *os.File
		stderr io.Writer
		flags  flags
		depth  int
		want   bool
	}{
		{name: "a terminal", stdin: tty, stderr: tty, want: true},
		{name: "a terminal, progress to a file", stdin: tty, stderr: null, want: true},
		{name: "quiet", stdin: tty, stderr: tty, flags: flags{quiet: true}, want: true},
		{name: "print", stdin: tty, stderr: tty, flags: flags{print: true}},
		{name: "subagent", stdin: tty, stderr: tty, flags: flags{subagent: true}},
		{name: "system log", stdin: tty, stderr: tty, flags: flags{syslog: true}},
		{name: "a run's run", stdin: tty, stderr: tty, depth: 1},
		{name: "null device", stdin: null, stderr: tty},
		{name: "nothing", stderr: tty},
		{name: "a pipe, quiet", stdin: pipe, stderr: tty, flags: flags{quiet: true}},
		{name: "a pipe, no terminal", stdin: pipe, stderr: null},
	}
	for _, tt := range tests {
		a := &app{env: Env{Stdin: tt.stdin, Stderr: tt.stderr}, flags: &tt.flags, depth: tt.depth}
		if got := a.attended(); got != tt.want {
			t.Errorf("%s: attended() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestProjectRoot(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := projectRoot("/"); got != "/" {
		t.Errorf("projectRoot(/) = %q", got)
	}
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := projectRoot(deep); got != root {
		t.Errorf("projectRoot(%q) = %q, want %q", deep, got, root)
	}
}
