package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOneShot(t *testing.T) {
	w := newWorld(t, reply{text: "because"})
	w.run("why", "is", "it").want(t, 0, "because\n", `\[step 1\]`)
	if got := w.message(0, 1); got != "why is it" {
		t.Errorf("the prompt was %q", got)
	}
	if got := len(w.sessions()); got != 1 {
		t.Errorf("%d sessions were saved", got)
	}
}

func TestUsageErrorsSendNothing(t *testing.T) {
	for _, args := range []string{"--modle|x|hi", "-c|-r|x|hi", "--sandbox|of|hi", "--hooks|off|hi", "guard", "doctor|--modle", "--online", "status|hi", "--model", "--max-steps|0|hi",
		"--max-steps|x|hi", "--time-limit|soon|hi", "--color|blue|hi", "--base-url|ftp://x|hi", "--cwd|/none|hi",
		"-f|/none|hi", "--api-key|two\nlines|hi", "-r|19990101|hi", "-c|hi", "--syslog|--no-stdin"} {
		w := newWorld(t)
		r := w.run(split(args)...)
		w.wantNothingSent(r, `^cluade: .+\n`)
		if n := strings.Count(r.errout, "\n"); n > 2 {
			t.Errorf("cluade %s said %d lines: %q", args, n, r.errout)
		}
	}
}

func TestNoPromptAndNoTerminal(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{nil, {"-q"}, {"-p"}, {""}, {"--no-stdin"}, {"-"}, {"--subagent"}} {
		w.wantNothingSent(w.run(args...), `usage`)
	}
}

func TestFaultyConfiguration(t *testing.T) {
	w := newWorld(t)
	path := w.config("{\n\"permissions\":{\"bash\":\"deny\"},}")
	w.wantNothingSent(w.run("hi"), `(?s)config\.json.*2.*hint`)
	w.run("--help").want(t, 0, usage(), `^$`)
	w.run("help", "exit-codes").want(t, 0, exitCodes, `^$`)
	if r := w.run("-V"); r.code != 0 || !strings.HasPrefix(r.out, "cluade test linux/") {
		t.Errorf("-V = %d, %q", r.code, r.out)
	}
	w.wantNothingSent(w.run("--init"), `config\.json`)
	w.run("--init", "--force").want(t, 0, path+"\n", `^$`)
	w.run("hi").want(t, 0, "done\n", ``)
}

func TestInit(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.home, ".cluade", "config.json")
	w.run("--init", "--api-key", "sk-TESTKEY").want(t, 0, path+"\n", `^$`)
	data, err := os.ReadFile(path)
	if err != nil || strings.Contains(string(data), "sk-TESTKEY") {
		t.Errorf("the file is %q, %v", data, err)
	}
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v", info.Mode())
	}
	w.wantNothingSent(w.run("--init"), `(?s)exists.*hint: cluade --init --force`)
}

func TestDirectory(t *testing.T) {
	w := newWorld(t, reply{tool: "bash", args: `{"command":"pwd"}`})
	dir := filepath.Join(w.dir, "sub")
	w.file("sub/prompt.txt", "from file")
	w.run("--cwd", "sub", "-f", "prompt.txt", "more").want(t, 0, "done\n", ``)
	if got := w.message(0, 1); got != "from file\nmore" {
		t.Errorf("the prompt was %q", got)
	}
	if got := w.message(1, -1); strings.TrimSpace(got) != dir {
		t.Errorf("pwd gave %q, want %q", got, dir)
	}
}

func TestOptionsReachTheRequest(t *testing.T) {
	w := newWorld(t)
	w.run("-m", "small", "--api-key", "FLAGKEY1", "--no-stream", "--append-system-prompt", "EXTRA-1", "--append-system-prompt", "EXTRA-2", "hi")
	req := w.requests[0]
	if req.body["model"] != "small" || req.body["stream"] == true || req.auth != "Bearer FLAGKEY1" {
		t.Errorf("model %v, stream %v, authorization %q", req.body["model"], req.body["stream"], req.auth)
	}
	if got := w.message(0, 0); !strings.Contains(got, "EXTRA-1\n\nEXTRA-2") {
		t.Errorf("the system message lacks the appended texts: %q", got)
	}
}

func TestProjectContext(t *testing.T) {
	w := newWorld(t)
	w.file("AGENTS.md", "RULE-7")
	w.run("hi")
	w.run("--no-project-context", "hi")
	if !strings.Contains(w.message(0, 0), "RULE-7") || strings.Contains(w.message(1, 0), "RULE-7") {
		t.Error("AGENTS.md must be in the first request and not in the second")
	}
}

func TestDepth(t *testing.T) {
	tests := []struct {
		value  string
		depth  int
		refuse bool
	}{
		{"", 0, false}, {"0", 0, false}, {"1", 1, false}, {"2", 2, false}, {"3", 3, true}, {"99", 99, true},
		{"-1", 1, false}, {"one", 1, false}, {"1.5", 1, false}, {" ", 1, false}, {"99999999999999999999", 1, false},
	}
	for _, tt := range tests {
		if got := depthOf(tt.value); got != tt.depth {
			t.Errorf("depthOf(%q) = %d, want %d", tt.value, got, tt.depth)
		}
		w := newWorld(t)
		w.vars["CLUADE_DEPTH"] = tt.value
		r := w.run("hi")
		if tt.refuse {
			w.wantNothingSent(r, `CLUADE_DEPTH`)
		} else {
			r.want(t, 0, "done\n", ``)
		}
		if tt.depth > 0 {
			w.vars["CLUADE_DEPTH"] = tt.value
			w.run("--init").want(t, 2, "", `.`)
		}
	}
}

func TestChildrenKnowTheirDepth(t *testing.T) {
	w := newWorld(t, reply{tool: "bash", args: `{"command":"echo $CLUADE_DEPTH $SECRET_ONE- $KEPT"}`})
	w.config(`{"scrub_env":["SECRET_ONE"]}`)
	w.vars["SECRET_ONE"], w.vars["KEPT"], w.vars["CLUADE_DEPTH"] = "s", "kept", "1"
	w.run("hi")
	if got := strings.TrimSpace(w.message(1, -1)); got != "2 - kept" {
		t.Errorf("the child saw %q, want %q", got, "2 - kept")
	}
}

func TestBareEnvironment(t *testing.T) {
	w := newWorld(t)
	w.vars = map[string]string{"PATH": "/bin:/usr/bin", "OPENAI_API_KEY": "k"}
	r := w.run("--base-url", w.url, "--no-session", "hi")
	r.want(t, 0, "done\n", ``)
	if strings.Contains(r.out+r.errout, "\x1b") {
		t.Errorf("escape sequences in %q", r.out+r.errout)
	}
	if w.requests[0].auth != "Bearer k" {
		t.Errorf("authorization %q", w.requests[0].auth)
	}
}

func TestMemoryLimit(t *testing.T) {
	tests := []struct {
		total int
		want  int64
	}{{0, 48 << 20}, {58 << 10, 24 << 20}, {64 << 10, 24 << 20}, {64<<10 + 1, 48 << 20}, {1 << 22, 48 << 20}}
	for _, tt := range tests {
		if got := memoryLimit(tt.total); got != tt.want {
			t.Errorf("memoryLimit(%d) = %d, want %d", tt.total, got, tt.want)
		}
	}
	path := filepath.Join(t.TempDir(), "meminfo")
	os.WriteFile(path, []byte("MemFree:   7 kB\nMemTotal:       60000 kB\n"), 0o600)
	if got := memInfo(path, "MemTotal:"); got != 60000 {
		t.Errorf("memInfo = %d, want 60000", got)
	}
	if got := memInfo("/none", "MemTotal:"); got != 0 {
		t.Errorf("memInfo of nothing = %d", got)
	}
}

func TestMemorySettingsOfThePersonStand(t *testing.T) {
	old := debug.SetGCPercent(77)
	limit := debug.SetMemoryLimit(1 << 40)
	defer debug.SetMemoryLimit(limit)
	defer debug.SetGCPercent(old)
	tuneMemory(func(k string) string { return "set" })
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("GOGC is set, yet the percentage is %d", got)
	}
	if got := debug.SetMemoryLimit(-1); got != 1<<40 {
		t.Errorf("GOMEMLIMIT is set, yet the limit is %d", got)
	}
	tuneMemory(func(string) string { return "" })
	if got := debug.SetGCPercent(50); got != 50 {
		t.Errorf("the percentage is %d, want 50", got)
	}
	if got := debug.SetMemoryLimit(-1); got > 48<<20 {
		t.Errorf("the limit is %d", got)
	}
}

func TestSignalsEndAOneShot(t *testing.T) {
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		w := newWorld(t, reply{before: func() { syscall.Kill(os.Getpid(), sig) }, tool: "bash", args: `{"command":"sleep 30"}`})
		begin := time.Now()
		r := w.run("hi")
		r.want(t, code, "", ``)
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%v: took %v", sig, took)
		}
		if strings.Contains(r.errout, "hint") {
			t.Errorf("%v: said %q", sig, r.errout)
		}
	}
}
