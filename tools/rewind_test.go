package tools

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// back goes to the state before turn n and returns what stays, one a line.
func back(t *testing.T, e *Env, n int, foreign bool) string {
	t.Helper()
	var left []string
	for _, st := range e.Plan(n) {
		switch {
		case st.Lost != "":
			left = append(left, st.Path+": "+st.Lost)
		case st.Foreign && !foreign:
			left = append(left, st.Path+" foreign")
		default:
			if err := e.GoBack(t.Context(), st); err != nil {
				left = append(left, err.Error())
			}
		}
	}
	return strings.ReplaceAll(strings.Join(left, "\n"), e.Dir+"/", "")
}

func rewindEnv(t *testing.T) *Env {
	e := testEnv(t)
	e.Rewind = &Rewind{Max: 4 << 20}
	return e
}

func wrote(t *testing.T, e *Env, name, content string) {
	t.Helper()
	if _, err := use(t, e, "write", args{"filePath": name, "content": content}); err != nil {
		t.Fatal(err)
	}
}

func TestRewind(t *testing.T) {
	e := rewindEnv(t)
	put(t, e, "a", "a0\n")
	run := put(t, e, "run.sh", "r0\n")
	os.Chmod(run, 0o750)

	e.Rewind.Begin(0, "first")
	want(t, e, "edit", args{"filePath": "a", "oldString": "a0", "newString": "a1"}, "edited a (1 replacement)")
	wrote(t, e, "new/deep/n", "n1")
	e.Rewind.Begin(2, "second")
	wrote(t, e, "a", "a2\n")
	wrote(t, e, "a", "a3\n")
	wrote(t, e, "run.sh", "r2\n")
	e.Rewind.Begin(4, "third")

	if got := fmt.Sprint(e.Rewind.Turns()); got != "[{0 first 2} {2 second 2} {4 third 0}]" {
		t.Errorf("Turns = %s", got)
	}
	if got := back(t, e, 1, false); got != "" {
		t.Errorf("back to the second turn leaves %q", got)
	}
	holds(t, e, "a", "a1\n")
	holds(t, e, "run.sh", "r0\n")
	holds(t, e, "new/deep/n", "n1")
	if fi, err := os.Stat(run); err != nil || fi.Mode() != 0o750 {
		t.Errorf("run.sh has mode %v, %v", fi.Mode(), err)
	}
	e.Rewind.Forget(1)
	wrote(t, e, "a", "a4\n") // what the tools did is no stranger's change
	if got := back(t, e, 0, false); got != "" {
		t.Errorf("back to the start leaves %q", got)
	}
	holds(t, e, "a", "a0\n")
	onlyHolds(t, e.Dir, "a", "run.sh")
	if steps := e.Plan(0); len(steps) != 0 {
		t.Errorf("Plan again = %v, want nothing", steps)
	}
}

// TestRewindForeign: what somebody else did since is not undone without a yes
// of its own.
func TestRewindForeign(t *testing.T) {
	tests := []struct {
		what   string
		act    func(path string) error
		left   string // without the yes
		forced string // what the file holds with it, "" if it stays
	}{
		{"content", func(p string) error { return os.WriteFile(p, []byte("mine\n"), 0o644) }, "f foreign", "old\n"},
		{"mode", func(p string) error { return os.Chmod(p, 0o600) }, "f foreign", "old\n"},
		{"gone", os.Remove, "f foreign", "old\n"},
		{"large", func(p string) error { return os.Truncate(p, 2<<20) }, "f foreign", "old\n"},
		{"link", func(p string) error { os.Remove(p); return os.Symlink("other", p) }, "f: a link leads elsewhere now", ""},
		{"directory", func(p string) error { os.Remove(p); return os.Mkdir(p, 0o755) }, "f: something that is no file has taken its place", ""},
	}
	for _, tt := range tests {
		e := rewindEnv(t)
		path := put(t, e, "f", "old\n")
		put(t, e, "other", "other\n")
		e.Rewind.Begin(0, "go")
		wrote(t, e, "f", "new\n")
		if err := tt.act(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		if got := back(t, e, 0, false); !strings.Contains(got, tt.left) {
			t.Errorf("%s: left %q, want %q", tt.what, got, tt.left)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, before) {
			t.Errorf("%s: the file was changed without a yes", tt.what)
		}
		back(t, e, 0, true)
		if tt.forced != "" {
			holds(t, e, "f", tt.forced)
			if fi, _ := os.Stat(path); fi.Mode() != 0o644 {
				t.Errorf("%s: mode %v afterwards", tt.what, fi.Mode())
			}
		}
		holds(t, e, "other", "other\n")
	}
}

func TestRewindOfNewFiles(t *testing.T) {
	e := rewindEnv(t)
	e.Rewind.Begin(0, "go")
	for _, name := range []string{"d/kept", "d/changed", "d/gone"} {
		wrote(t, e, name, "x")
	}
	put(t, e, "d/changed", "mine")
	put(t, e, "d/mine", "mine")
	os.Remove(e.Dir + "/d/gone")
	if got := back(t, e, 0, false); got != "d/changed foreign" {
		t.Errorf("left %q", got)
	}
	onlyHolds(t, e.Dir+"/d", "changed", "mine")

	e = rewindEnv(t)
	e.Rewind.Begin(0, "go")
	for _, name := range []string{"d/one", "d/e/two", "d/three"} {
		wrote(t, e, name, "x")
	}
	if got := back(t, e, 0, false); got != "" {
		t.Errorf("left %q", got)
	}
	onlyHolds(t, e.Dir)
}

// TestRewindChangedBetween: what was shown is what is done, or nothing is.
func TestRewindChangedBetween(t *testing.T) {
	e := rewindEnv(t)
	put(t, e, "f", "old")
	e.Rewind.Begin(0, "go")
	wrote(t, e, "f", "new")
	wrote(t, e, "n", "new")
	steps := e.Plan(0)
	put(t, e, "f", "mine")
	put(t, e, "n", "mine")
	for _, st := range steps {
		if err := e.GoBack(t.Context(), st); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
			t.Errorf("GoBack %s = %v", st.Path, err)
		}
	}
	holds(t, e, "f", "mine")
	holds(t, e, "n", "mine")
}

func TestRewindLimits(t *testing.T) {
	e := rewindEnv(t)
	e.Rewind.Max = 1 << 20
	var told []string
	e.Tell = func(text string) { told = append(told, text) }
	content := strings.Repeat("x", 400<<10)
	for _, f := range []string{"a", "b", "c"} {
		put(t, e, f, content)
	}
	put(t, e, "big", content+"y")
	e.Rewind.Begin(0, "one")
	wrote(t, e, "big", "")
	wrote(t, e, "a", "")
	e.Rewind.Begin(2, "two")
	wrote(t, e, "b", "")
	if len(told) > 0 {
		t.Errorf("told too early: %q", told)
	}
	wrote(t, e, "c", "")
	if len(told) != 1 || !strings.Contains(told[0], "/a cannot be brought back to what it was before turn 1") {
		t.Errorf("told %q", told)
	}
	if got := back(t, e, 0, false); got != "a: what it was is no longer kept\nbig: it was larger than 400 KiB" {
		t.Errorf("left %q", got)
	}
	holds(t, e, "a", "")
	holds(t, e, "b", content)

	e.Rewind = &Rewind{}
	e.Rewind.Begin(0, "none is kept")
	wrote(t, e, "b", "")
	if got := back(t, e, 0, false); got != "b: it was larger than all that may be kept" {
		t.Errorf("left %q", got)
	}
}

// TestRewindGuards: no way back leads into the program's own state.
func TestRewindGuards(t *testing.T) {
	e := rewindEnv(t)
	e.State = e.Dir + "/state"
	config := put(t, e, "state/config.json", "{}")
	log := appendRecord(nil, recordTurn, &snapshot{}, "go")
	log = appendRecord(log, recordFile, &snapshot{real: config, owner: owner{0o600, -1, -1}}, "evil")
	e.Rewind = ReadRewind(bytes.NewReader(log))
	if got := back(t, e, 0, true); got != "state/config.json: it is not for tools to write" {
		t.Errorf("left %q", got)
	}
	holds(t, e, config, "{}")
}

func TestRewindReplaced(t *testing.T) {
	e := rewindEnv(t)
	put(t, e, "a", "a")
	e.Rewind.Begin(0, "one")
	e.Rewind.Begin(2, "two")
	wrote(t, e, "a", "b")
	e.Rewind.Replaced() // in the middle of the turn
	if got := fmt.Sprint(e.Rewind.Turns()); got != "[{-1 two 1}]" {
		t.Errorf("Turns = %s", got)
	}
	e.Rewind.End()
	e.Rewind.Replaced()
	if got := e.Rewind.Turns(); len(got) > 0 || e.Rewind.size > 0 {
		t.Errorf("Turns = %v", got)
	}
	e.Rewind.Begin(0, "three")
	e.Rewind.Begin(0, "three again, for it was not sent")
	if got := e.Rewind.Turns(); len(got) != 1 {
		t.Errorf("Turns = %v", got)
	}
}

// TestRewindLog: a later run goes back as this one would, from a log that was
// cut anywhere too.
func TestRewindLog(t *testing.T) {
	e := rewindEnv(t)
	var log []byte
	e.Rewind.Log = func(record []byte, first bool) {
		if first {
			log = nil
		}
		log = append(log, record...)
	}
	odd := "\x00\xff\r\n file 1 2 3 4 x \"y\"\n"
	put(t, e, "of the turn before", "x")
	e.Rewind.Begin(0, "before")
	wrote(t, e, "of the turn before", "y")
	e.Rewind.Begin(2, "the last\nturn")
	os.Chmod(put(t, e, "a", odd), 0o640)
	put(t, e, "big", strings.Repeat("x", 500<<10))
	wrote(t, e, "a", "1")
	wrote(t, e, "odd\nname/n\" ", "1")
	wrote(t, e, "a", "2")
	wrote(t, e, "big", "1")

	for cut := range log {
		r := ReadRewind(bytes.NewReader(log[:cut]))
		for n := range r.Turns() {
			r.since(n)
		}
	}
	later := testEnv(t)
	later.Dir = e.Dir
	later.Rewind = ReadRewind(bytes.NewReader(log))
	if got := later.Rewind.Turns(); len(got) != 1 || got[0].Input != "the last\nturn" {
		t.Fatalf("Turns = %v", got)
	}
	if got := back(t, later, 0, false); got != "big: it was larger than 400 KiB" {
		t.Errorf("left %q", got)
	}
	holds(t, e, "a", odd)
	holds(t, e, "of the turn before", "y")
	onlyHolds(t, e.Dir, "a", "big", "of the turn before")
	if fi, _ := os.Stat(e.Dir + "/a"); fi.Mode() != 0o640 {
		t.Errorf("mode %v", fi.Mode())
	}
}

func TestDiffOfTheSession(t *testing.T) {
	e := rewindEnv(t)
	put(t, e, "a", "1\n2\n3\n")
	put(t, e, "same", "x\n")
	put(t, e, "bin", "\x00")
	put(t, e, "big", strings.Repeat("x", 500<<10))
	e.Rewind.Begin(0, "one")
	wrote(t, e, "a", "1\n")
	wrote(t, e, "same", "y\n")
	e.Rewind.Begin(2, "two")
	wrote(t, e, "a", "1\nx\n")
	wrote(t, e, "same", "x\n")
	for _, f := range []string{"new", "bin", "big"} {
		wrote(t, e, f, "n\n")
	}
	e.change("/elsewhere/by-a-subagent")
	var got []string
	for _, d := range e.Diff() {
		got = append(got, fmt.Sprintf("%s +%d -%d %s", strings.TrimPrefix(d.Path, e.Dir+"/"), d.Added, d.Removed, d.Note))
	}
	want := "a +1 -2 |new +1 -0 |bin +0 -0 not text|big +0 -0 it was larger than 400 KiB|/elsewhere/by-a-subagent +0 -0 changed; what it was is not kept"
	if s := strings.Join(got, "|"); s != want {
		t.Errorf("Diff = %s\nwant %s", s, want)
	}
}

func TestLasting(t *testing.T) {
	for _, tt := range []struct{ name, args, want string }{
		{"read", `{"filePath":"a"}`, ""},
		{"write", `{"filePath":"a","content":""}`, ""},
		{"write", `{"filePath":"/a","content":"","host":"box"}`, "write box /a"},
		{"bash", `{"command":"opkg  install\nx"}`, "bash opkg install x"},
		{"remote_bash", `{"host":"box","command":"reboot"}`, "remote_bash box reboot"},
		{"web_fetch", `{"url":"http://a/"}`, ""},
		{"bash", `{`, ""},
		{"mcp__x__y", `{}`, "mcp__x__y"},
	} {
		if got := Builtin.Lasting(tt.name, tt.args); got != tt.want {
			t.Errorf("Lasting(%q, %q) = %q, want %q", tt.name, tt.args, got, tt.want)
		}
	}
}

func FuzzReadRewind(f *testing.F) {
	log := appendRecord(nil, recordTurn, &snapshot{}, "go")
	log = appendRecord(log, recordFile, &snapshot{real: "/a"}, "x")
	log = appendRecord(log, recordMade, &snapshot{real: "/b", dirs: []string{"/d"}}, "/d")
	f.Add(log)
	f.Fuzz(func(t *testing.T, log []byte) {
		r := ReadRewind(bytes.NewReader(log))
		for n := range r.Turns() {
			r.since(n)
		}
	})
}

// TestRewindOnAFullDisk: a file that cannot be brought back stays whole.
func TestRewindOnAFullDisk(t *testing.T) {
	e := rewindEnv(t)
	tmpfs(t, e.Dir+"/m", "size=256k")
	put(t, e, "m/f", strings.Repeat("A", 100<<10))
	e.Rewind.Begin(0, "go")
	wrote(t, e, "m/f", "new")
	put(t, e, "m/fill", strings.Repeat("x", 200<<10))
	st := e.Plan(0)[0]
	if err := e.GoBack(context.Background(), st); err == nil || !strings.Contains(err.Error(), "no space left on device; nothing was changed") {
		t.Errorf("GoBack = %v", err)
	}
	holds(t, e, "m/f", "new")
	onlyHolds(t, e.Dir+"/m", "f", "fill")
}

// TestRewindOwner: a file that is made anew belongs to whom it belonged to.
func TestRewindOwner(t *testing.T) {
	if os.Getuid() != 0 {
		missing(t, "not root")
	}
	e := rewindEnv(t)
	path := put(t, e, "f", "old")
	os.Chown(path, 1234, 4321)
	os.Chmod(path, 0o710|os.ModeSetgid)
	e.Rewind.Begin(0, "go")
	wrote(t, e, "f", "new")
	os.Remove(path)
	if got := back(t, e, 0, true); got != "" {
		t.Errorf("left %q", got)
	}
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if o := ownerOf(fi); o != (owner{0o710 | os.ModeSetgid, 1234, 4321}) {
		t.Errorf("f is %+v", o)
	}
}

// TestRewindLogLimit: what is kept for a later run is bounded like what is kept
// in memory.
func TestRewindLogLimit(t *testing.T) {
	e := rewindEnv(t)
	e.Rewind.Max = 5000
	var log []byte
	e.Rewind.Log = func(record []byte, _ bool) { log = append(log, record...) }
	e.Rewind.Begin(0, "go")
	for _, f := range []string{"a", "b"} {
		put(t, e, f, strings.Repeat("x", 3000))
		wrote(t, e, f, "new")
	}
	later := testEnv(t)
	later.Dir, later.Rewind = e.Dir, ReadRewind(bytes.NewReader(log))
	if got := back(t, later, 0, false); got != "b: there was no room to keep it" || len(log) > 5000 {
		t.Errorf("left %q of a log of %d bytes", got, len(log))
	}
}
