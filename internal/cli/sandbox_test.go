package cli

import (
	"strings"
	"testing"

	"cluade/internal/proc"
	"cluade/store"
)

// TestSandboxBelow: a run is confined no less than the one above it.
func TestSandboxBelow(t *testing.T) {
	for _, tt := range []struct{ own, above, want proc.Level }{
		{proc.Limits, proc.Confined, proc.Confined},
		{proc.Confined, proc.Off, proc.Confined},
		{proc.Off, proc.Limits, proc.Limits},
		{proc.Off, proc.Off, proc.Off},
	} {
		a := &app{cfg: &store.Config{Safety: store.Safety{Sandbox: tt.own.String()}}, above: &parent{sandbox: tt.above}}
		if got := a.sandbox().Level; got != tt.want {
			t.Errorf("%v below %v = %v, want %v", tt.own, tt.above, got, tt.want)
		}
		if a.mustConfine() {
			t.Error("confinement is required though nobody asked")
		}
		a.above.must = true
		if !a.mustConfine() {
			t.Error("what the run above requires is lost")
		}
	}
}

func TestConfineIsNotTheProgram(t *testing.T) {
	for _, argv := range [][]string{nil, {"cluade"}, {"/usr/bin/cluade", proc.ConfineArg0}, {"./" + proc.ConfineArg0}} {
		if code, ok := Confine(argv); ok {
			t.Errorf("Confine(%q) = %d, want no such start", argv, code)
		}
	}
	if code, ok := Confine([]string{proc.ConfineArg0}); code != 126 || !ok {
		t.Errorf("Confine without a command = %d, %v", code, ok)
	}
}

func TestSandboxText(t *testing.T) {
	text := sandboxText(proc.Sandbox{Level: proc.Confined, Procs: 8, FileMB: 1, Root: "/r"})
	for _, part := range []string{"sandbox confined", "file size: 1 MB", "processes at once: 8", "/r", "No level stops reading"} {
		if !strings.Contains(text, part) {
			t.Errorf("sandboxText = %q, want %q in it", text, part)
		}
	}
}
