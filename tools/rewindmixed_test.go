package tools

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRewindForeignBetween: what somebody else did between two changes of the
// tools is as little undone without a yes of its own as what was done since.
func TestRewindForeignBetween(t *testing.T) {
	const stranger = "person"
	write := func(t *testing.T, e *Env, text string) {
		want(t, e, "read", args{"filePath": "f"}, "1: "+strings.TrimSuffix(string(mustRead(t, e)), "\n"))
		wrote(t, e, "f", text)
	}
	next := func(e *Env, n int) { e.Rewind.Begin(2*n, "next") }
	tests := []struct {
		what string
		old  bool // the file was there before
		act  func(t *testing.T, e *Env)
		turn int
		want string // what is left without the second yes
	}{
		{"between turns", true, func(t *testing.T, e *Env) {
			wrote(t, e, "f", "a1\n")
			put(t, e, "f", stranger)
			next(e, 1)
			write(t, e, "a2\n")
		}, 0, "f foreign"},
		{"with a turn between", true, func(t *testing.T, e *Env) {
			wrote(t, e, "f", "a1\n")
			put(t, e, "f", stranger)
			next(e, 1)
			next(e, 2)
			write(t, e, "a2\n")
			next(e, 3)
			write(t, e, "a3\n")
		}, 0, "f foreign"},
		{"back to after it", true, func(t *testing.T, e *Env) {
			wrote(t, e, "f", "a1\n")
			put(t, e, "f", stranger)
			next(e, 1)
			write(t, e, "a2\n")
		}, 1, ""},
		{"mode", true, func(t *testing.T, e *Env) {
			wrote(t, e, "f", "a1\n")
			os.Chmod(filepath.Join(e.Dir, "f"), 0o600)
			next(e, 1)
			write(t, e, "a2\n")
		}, 0, "f foreign"},
		{"within a turn", true, func(t *testing.T, e *Env) {
			wrote(t, e, "f", "a1\n")
			put(t, e, "f", stranger)
			write(t, e, "a2\n")
			write(t, e, "a3\n")
		}, 0, "f foreign"},
		{"of a file that was made", false, func(t *testing.T, e *Env) {
			wrote(t, e, "f", "a1\n")
			put(t, e, "f", stranger)
			next(e, 1)
			write(t, e, "a2\n")
		}, 0, "f foreign"},
		{"nobody", false, func(t *testing.T, e *Env) {
			wrote(t, e, "f", "a1\n")
			write(t, e, "a2\n")
			next(e, 1)
			write(t, e, "a3\n")
			next(e, 2)
			write(t, e, "a4\n")
		}, 0, ""},
		{"nobody, and too large to be kept", true, func(t *testing.T, e *Env) {
			wrote(t, e, "f", strings.Repeat("x", 500<<10))
			next(e, 1)
			wrote(t, e, "f", "a1\n")
			next(e, 2)
			write(t, e, "a2\n")
		}, 0, ""},
	}
	for _, tt := range tests {
		e := rewindEnv(t)
		if tt.old {
			put(t, e, "f", "old\n")
		}
		e.Rewind.Begin(0, "go")
		tt.act(t, e)
		last := mustRead(t, e)
		if got := back(t, e, tt.turn, false); got != tt.want {
			t.Errorf("%s: left %q, want %q", tt.what, got, tt.want)
		}
		if tt.want == "" {
			continue
		}
		holds(t, e, "f", string(last))
		if got := back(t, e, tt.turn, true); got != "" {
			t.Errorf("%s: left %q after the yes", tt.what, got)
		}
		if tt.old {
			holds(t, e, "f", "old\n")
		}
	}
}

func mustRead(t *testing.T, e *Env) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(e.Dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// logged makes e keep the log of the present turn and returns how to open it in
// a later run.
func logged(t *testing.T, e *Env) func() *Env {
	var log []byte
	e.Rewind.Log = func(record []byte, first bool) {
		if first {
			log = nil
		}
		log = append(log, record...)
	}
	return func() *Env {
		later := testEnv(t)
		later.Dir, later.Rewind = e.Dir, ReadRewind(bytes.NewReader(log))
		return later
	}
}

func TestRewindLogForeignBetween(t *testing.T) {
	e := rewindEnv(t)
	later := logged(t, e)
	put(t, e, "f", "old\n")
	e.Rewind.Begin(0, "go")
	wrote(t, e, "f", "a1\n")
	put(t, e, "f", "mine\n")
	want(t, e, "read", args{"filePath": "f"}, "1: mine")
	wrote(t, e, "f", "a2\n")
	wrote(t, e, "f", "a3\n")
	if got := back(t, later(), 0, false); got != "f foreign" {
		t.Errorf("left %q, want f foreign", got)
	}
	holds(t, e, "f", "a3\n")
}

// TestRewindFailedChange: a change that failed is none, neither of the tools nor
// of somebody else.
func TestRewindFailedChange(t *testing.T) {
	e := rewindEnv(t)
	later := logged(t, e)
	tmpfs(t, e.Dir+"/m", "size=64k")
	put(t, e, "m/f", "old\n")
	put(t, e, "m/g", "old\n")
	e.Rewind.Begin(0, "go")
	wrote(t, e, "m/f", "new\n")
	for _, name := range []string{"m/f", "m/g", "m/made"} {
		wantError(t, e, "write", args{"filePath": name, "content": strings.Repeat("x", 100<<10)}, "no space left")
	}
	if got := fmt.Sprint(e.Rewind.Turns()); got != "[{0 go 1}]" || e.Rewind.size != 4 {
		t.Errorf("Turns = %s of %d bytes", got, e.Rewind.size)
	}
	put(t, e, "m/g", "mine\n")
	put(t, e, "m/made", "mine\n")
	if got := back(t, later(), 0, false); got != "" {
		t.Errorf("a later run leaves %q", got)
	}
	holds(t, e, "m/f", "old\n")
	put(t, e, "m/f", "new\n")
	if got := back(t, e, 0, false); got != "" {
		t.Errorf("left %q", got)
	}
	holds(t, e, "m/f", "old\n")
	holds(t, e, "m/g", "mine\n")
	holds(t, e, "m/made", "mine\n")
}
