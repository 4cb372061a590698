package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"cluade/internal/proc"
	"cluade/provider"
	"cluade/store"
)

// told runs one check and returns its lines.
func told(look func(findings)) (text string) {
	f := findings{told: make(chan string)}
	go func() {
		look(f)
		close(f.told)
	}()
	for t := range f.told {
		text += t
	}
	return text
}

func wantLine(t *testing.T, text, line string) {
	t.Helper()
	if !regexp.MustCompile("(?m)" + line).MatchString(text) {
		t.Errorf("no line %q in\n%s", line, text)
	}
}

func TestDoctorSound(t *testing.T) {
	w := newWorld(t)
	w.vars["OPENAI_API_KEY"] = "sk-0123456789abcdef"
	r := w.run("doctor", "--model", "m")
	if r.code != 0 || r.errout != "" {
		t.Errorf("exit %d, stderr %q", r.code, r.errout)
	}
	for _, check := range []string{
		"config", "key", "clock", "certificates", "resolver", "memory", "shell", "git", "terminal", "sandbox", "ssh", "disk", "sessions",
	} {
		wantLine(t, r.out, "^(ok  |warn)  "+check+" +[^ ].*$")
	}
	wantLine(t, r.out, "^ok    key           from OPENAI_API_KEY$")
	if strings.Contains(r.out, "0123456789abcdef") {
		t.Errorf("the key is shown:\n%s", r.out)
	}
	if len(w.requests) > 0 || len(w.sessions()) > 0 {
		t.Errorf("%d requests, sessions %q", len(w.requests), w.sessions())
	}
	if _, err := os.Stat(filepath.Join(w.home, ".cluade")); err == nil {
		t.Error("a state directory was made")
	}
}

// TestDoctorFaultyConfig: what is wrong with the files is told, and the other
// checks are made all the same.
func TestDoctorFaultyConfig(t *testing.T) {
	for _, tt := range []struct{ config, line string }{
		{`{"max_steps": "many"}`, `^FAIL  config        .*config\.json: max_steps must be .*--init --force$`},
		{"{\n  \"model\": \"x\",\n}", `^FAIL  config        .*config\.json: line 3, column 1`},
		{`{"modle": "x"}`, `^warn  config        .*: modle is no key .*is model meant\?$`},
		{`{"zzzzqqqq": 1}`, `^warn  config        .*: zzzzqqqq is no key and has no effect; take it out$`},
		{`{"hooks": {}}`, `^warn  config        .*hooks\.json`},
		{`{"permissions": {"deny": ["bash("]}}`, `^FAIL  config`},
		{`{"api_key_file": "/none/key"}`, `^FAIL  key           .*/none/key`},
		{`{"ca_file": "/none/ca.pem"}`, `^warn  certificates  read ca_file`},
		{`{"base_url": "https://example.com/v1", "ca_file": "/none/ca.pem"}`, `^FAIL  certificates  read ca_file`},
		{`{"base_url": "https://example.com/v1"}`, `^FAIL  key           none; set OPENAI_API_KEY`},
		{`{"ssh": {"identity_files": ["/none/id"]}}`, `^warn  ssh           /none/id`},
	} {
		w := newWorld(t)
		if strings.Contains(tt.config, "base_url") {
			delete(w.vars, "CLUADE_BASE_URL")
		}
		w.config(tt.config)
		r := w.run("--doctor")
		wantLine(t, r.out, tt.line)
		wantLine(t, r.out, "^ok    sessions ")
		if want := strings.Count("\n"+r.out, "\nFAIL"); (r.code == 1) != (want > 0) {
			t.Errorf("%s: exit %d with %d faults", tt.config, r.code, want)
		}
	}
}

func TestDoctorOthersReadTheKey(t *testing.T) {
	w := newWorld(t)
	os.Chmod(w.config(`{"api_key": "sk-0123456789"}`), 0o644)
	wantLine(t, w.run("doctor").out, `^warn  config .*others can read it \(mode 0644\): chmod 600`)
}

// TestDoctorRemediesHelp: a new file of the person's own mends no fault that is
// elsewhere, and a mode is no fault of what is no file.
func TestDoctorRemediesHelp(t *testing.T) {
	w := newWorld(t)
	r := w.run("doctor", "--base-url", "ftp://x")
	wantLine(t, r.out, `^FAIL  config .*; correct it$`)

	w = newWorld(t)
	w.config(`{"api_key_file": "` + w.home + `"}`)
	os.Chmod(w.home, 0o755)
	if r := w.run("doctor"); strings.Contains(r.out, "chmod") {
		t.Errorf("doctor would change the mode of a directory:\n%s", r.out)
	}
}

func TestDoctorPathsAreEscaped(t *testing.T) {
	w := newWorld(t)
	w.vars["CLUADE_HOME"] = filepath.Join(w.home, "a\x1b[2J\nFAIL  b|c%")
	r := w.run("doctor")
	wantLine(t, r.out, `^ok    disk          .*a\\x1b\[2J\\nFAIL  b\|c%: `)
	if r.code != 0 || strings.Contains(r.out, "\x1b") {
		t.Errorf("exit %d, %q", r.code, r.out)
	}
}

func TestDoctorJSON(t *testing.T) {
	w := newWorld(t)
	w.vars["OPENAI_API_KEY"] = "sk-0123456789abcdef"
	w.config(`{"max_steps": "a\"b"}`)
	r := w.run("doctor", "--json")
	var got struct {
		Checks []struct{ Check, State, Text, Remedy *string }
	}
	if err := json.Unmarshal([]byte(r.out), &got); err != nil || len(got.Checks) < 13 || r.code != 1 {
		t.Fatalf("exit %d, %v in %s", r.code, err, r.out)
	}
	for i, c := range got.Checks {
		if c.Check == nil || c.State == nil || c.Text == nil || c.Remedy == nil {
			t.Fatalf("element %d lacks a member: %s", i, r.out)
		}
		if (*c.State == "FAIL") != (i == 0) {
			t.Errorf("%s is %s", *c.Check, *c.State)
		}
	}
}

func TestDoctorOnline(t *testing.T) {
	w := newWorld(t)
	wantLine(t, w.run("doctor", "--online").out, `^warn  server        .*404`)
	w.models = `{"data":[{"id":"a"}]}`
	wantLine(t, w.run("doctor", "--online").out, `^ok    server        answered in \d+ ms$`)
	w.vars["CLUADE_BASE_URL"] = "http://127.0.0.1:1/v1"
	r := w.run("doctor", "--online")
	wantLine(t, r.out, `^FAIL  server        .*connection refused`)
	if r.code != 1 {
		t.Errorf("exit %d", r.code)
	}
}

func TestDoctorClock(t *testing.T) {
	for now, state := range map[time.Time]string{
		time.Unix(0, 0):                       "FAIL",
		provider.Earliest().Add(-time.Minute): "FAIL",
		provider.Earliest().Add(time.Minute):  "ok  ",
	} {
		text := told(func(f findings) { checkClock(f, now) })
		wantLine(t, text, "^"+state+"  clock         "+now.UTC().Format(time.DateTime))
		if strings.Contains(text, "date") != (state == "FAIL") {
			t.Errorf("the remedy: %s", text)
		}
	}
}

func TestDoctorSessions(t *testing.T) {
	dir := t.TempDir()
	a := &app{cfg: &store.Config{SessionsDir: dir}}
	for _, tt := range []struct {
		size, free int64
		state      string
	}{{0, 0, "ok  "}, {2 << 20, 3 << 20, "ok  "}, {2 << 20, 1 << 20, "warn"}, {17 << 20, 1 << 40, "warn"}} {
		file := filepath.Join(dir, "s.jsonl")
		os.WriteFile(file, nil, 0o600)
		os.Truncate(file, tt.size)
		wantLine(t, told(func(f findings) { a.checkSessions(f, tt.free) }), "^"+tt.state+"  sessions      "+regexp.QuoteMeta(dir))
	}
	a.cfg.SessionsDir = filepath.Join(dir, "s.jsonl")
	wantLine(t, told(func(f findings) { a.checkSessions(f, 1<<40) }), "^FAIL  sessions ")
}

// TestDoctorDisk: where no state can be kept is a fault, for root too.
func TestDoctorDisk(t *testing.T) {
	w := newWorld(t)
	w.vars["CLUADE_HOME"] = w.file("state", "") + "/deeper"
	r := w.run("doctor")
	wantLine(t, r.out, "^FAIL  disk          .*state/deeper: .* but it cannot be written; see its owner")
	if r.code != 1 {
		t.Errorf("exit %d", r.code)
	}
	delete(w.vars, "CLUADE_HOME")
	w.vars["HOME"] = "/none"
	wantLine(t, w.run("doctor").out, "^warn  disk          there is no home directory")
}

// TestDoctorSandbox: what is asked for and not in force is told, and is a fault
// where it is required.
func TestDoctorSandbox(t *testing.T) {
	w := newWorld(t)
	w.config(`{"sandbox": "confined", "sandbox_required": true}`)
	r := w.run("doctor")
	s := proc.Sandbox{Level: proc.Confined, Procs: 64, Root: w.dir}
	state := "ok  "
	if s.Effective() != s.Level {
		state = "FAIL"
	}
	wantLine(t, r.out, fmt.Sprintf("^%s  sandbox       confined asked, %s in force", state, s.Effective()))
	for _, f := range s.Facts() {
		state := "ok  "
		if !f.Enforced {
			state = "warn"
		}
		wantLine(t, r.out, "^"+state+"  sandbox       "+strings.Split(f.Name, ":")[0])
	}
}

// TestDoctorLeavesWhatHangs: a check that does not end is told, and what was
// found before it too.
func TestDoctorLeavesWhatHangs(t *testing.T) {
	w := newWorld(t)
	late, end := context.WithTimeout(context.Background(), 0)
	defer end()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := &app{flags: &flags{}, env: Env{Getenv: func(k string) string { return w.vars[k] }}}
	a.place = store.FindPlace(w.dir, a.env.Getenv)
	wantLine(t, a.examine(late, false, false), "^FAIL  doctor        a check did not end; see with mount")
	if text := a.examine(ctx, false, false); strings.Contains(text, "did not end") {
		t.Errorf("stopped by the person: %s", text)
	}
}

func TestStatusOption(t *testing.T) {
	w := newWorld(t)
	w.config(`{"model": "m"}`)
	r := w.run("status")
	wantLine(t, r.out, "^model      m, from your configuration$")
	wantLine(t, r.out, "^sandbox    limits asked, limits in force$")
	if r.code != 0 || r.errout != "" || len(w.sessions()) > 0 || len(w.requests) > 0 {
		t.Errorf("exit %d, stderr %q", r.code, r.errout)
	}
	w.config(`{"model": 7}`)
	r = w.run("--status")
	wantLine(t, r.out, "^model      deepseek-v4-pro, from the default$")
	if r.code != 0 || !strings.Contains(r.errout, "model must be") {
		t.Errorf("exit %d, stderr %q", r.code, r.errout)
	}
}
