package tools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// jobEnv is an Env for commands, whose jobs end with the test.
func jobEnv(t *testing.T) *Env {
	t.Helper()
	e := testEnv(t)
	e.Vars = os.Environ()
	t.Cleanup(func() { e.EndJobs() })
	return e
}

// over waits until a job has ended.
func over(t *testing.T, e *Env, id int) {
	t.Helper()
	for _, j := range e.jobs.list {
		if j.id != id {
			continue
		}
		select {
		case <-j.Done():
			return
		case <-time.After(20 * time.Second):
			t.Fatalf("job %d does not end", id)
		}
	}
	t.Fatalf("there is no job %d", id)
}

// wantMatch fails unless the call gives a result of this form.
func wantMatch(t *testing.T, e *Env, tool string, a args, pattern string) {
	t.Helper()
	got, err := use(t, e, tool, a)
	if err != nil || !regexp.MustCompile(`^`+pattern+`$`).MatchString(got) {
		t.Errorf("%s(%v) = %q, %v, want %q", tool, a, got, err, pattern)
	}
}

func TestJobs(t *testing.T) {
	e := jobEnv(t)
	if jobTool.Offered(e) {
		t.Error("job is offered before there is one")
	}
	wantError(t, e, "job", args{"id": 1}, "there are no jobs")
	want(t, e, "job", args{}, "(no jobs)")
	want(t, e, "bash", args{"command": "echo one; printf two; until [ -e go ]; do sleep 0.02; done; echo; exit 3", "background": true},
		`[job 1 started; job {"id":1} reads its output]`)
	if !jobTool.Offered(e) {
		t.Error("job is not offered although there is one")
	}
	for end := time.Now().Add(20 * time.Second); ; {
		got, err := use(t, e, "job", args{"action": "read"})
		if err != nil || time.Now().After(end) {
			t.Fatalf("no output: %q, %v", got, err)
		}
		if strings.Contains(got, "3 bytes") {
			if !regexp.MustCompile(`^(one\n|\(no new output\)\n)\[the last line has no end yet: 3 bytes\]\n\[job 1 runs, \d s\]$`).MatchString(got) {
				t.Errorf("read = %q", got)
			}
			break
		}
	}
	put(t, e, "go", "")
	over(t, e, 1)
	want(t, e, "job", args{"id": 1}, "two\n[job 1 ended, exit code: 3]")
	want(t, e, "job", args{"id": 1, "action": "read"}, "(no new output)\n[job 1 ended, exit code: 3]")

	want(t, e, "bash", args{"command": "trap 'echo bye; exit' TERM; echo $$ >pid; while :; do sleep 0.1; done", "background": true},
		`[job 2 started; job {"id":2} reads its output]`)
	wantError(t, e, "job", args{"action": "stop"}, "id is missing; there are jobs 1, 2")
	wantError(t, e, "job", args{"id": 7}, "there is no job 7, but 1, 2")
	for end := time.Now().Add(20 * time.Second); ; {
		if fi, err := os.Stat(filepath.Join(e.Dir, "pid")); err == nil && fi.Size() > 0 || time.Now().After(end) {
			break
		}
	}
	wantMatch(t, e, "job", args{}, `1  ended, exit code: 3  echo one; printf two; .*\n2  runs, \d s  trap .*`)
	wantMatch(t, e, "job", args{"id": 2, "action": "stop"}, `(?s:.*bye\n)\[job 2 stopped\]`)
	wantMatch(t, e, "job", args{"action": "list"}, `1  .*\n2  stopped  trap .*`)
}

// TestJobLimits: a time limit counts if it is given, output is bounded and
// counted, a directory counts as in the foreground.
func TestJobLimits(t *testing.T) {
	e := jobEnv(t)
	e.Keep, e.Timeout = 4096, time.Second
	want(t, e, "bash", args{"command": "sleep 60", "background": true, "timeout": 1}, `[job 1 started; job {"id":1} reads its output]`)
	over(t, e, 1)
	want(t, e, "job", args{"id": 1}, "(no new output)\n[job 1 timed out; process group killed]")

	want(t, e, "bash", args{"command": "i=0; while [ $i -lt 40000 ]; do echo 0123456789; i=$((i+1)); done", "background": true},
		`[job 2 started; job {"id":2} reads its output]`)
	over(t, e, 2)
	got, err := use(t, e, "job", args{"id": 2})
	if err != nil || len(got) > e.Keep || !strings.HasPrefix(got, "[177859 bytes of older output were dropped]\n0123456789\n") ||
		!regexp.MustCompile(`\n0123456789\n\[\d+ more bytes wait; read again\]\n\[job 2 ended, exit code: 0\]$`).MatchString(got) {
		t.Errorf("read = %d bytes, %v: %.100q ... %q", len(got), err, got, got[max(0, len(got)-100):])
	}
	total := strings.Count(got, "0123456789\n")
	for strings.Contains(got, "read again") {
		if got, err = use(t, e, "job", args{"id": 2}); err != nil {
			t.Fatal(err)
		}
		total += strings.Count(got, "0123456789\n")
	}
	if want := (40000*11 - 177859) / 11; total != want {
		t.Errorf("%d lines arrive, want %d", total, want)
	}
	wantError(t, e, "bash", args{"command": "true", "background": true, "workdir": "none"}, "working directory", "no such file")
	wantError(t, e, "bash", args{"command": " ", "background": true}, "the command is empty")

	want(t, e, "bash", args{"command": "head -c 3000 /dev/urandom | tr -d '\\n'", "background": true}, `[job 3 started; job {"id":3} reads its output]`)
	over(t, e, 3)
	if got, err := use(t, e, "job", args{"id": 3}); err != nil || !strings.HasPrefix(got, "(binary output, not shown: ") {
		t.Errorf("binary output = %q, %v", got, err)
	}
}

// TestJobNumbers: at most eight; an ended one makes room.
func TestJobNumbers(t *testing.T) {
	e := jobEnv(t)
	for i := 1; i <= maxJobs; i++ {
		want(t, e, "bash", args{"command": "sleep 60", "background": true}, fmt.Sprintf(`[job %d started; job {"id":%d} reads its output]`, i, i))
	}
	wantError(t, e, "bash", args{"command": "sleep 60", "background": true}, "8 jobs run already; stop one first")
	want(t, e, "job", args{"id": 3, "action": "stop"}, "(no new output)\n[job 3 stopped]")
	want(t, e, "bash", args{"command": "sleep 60", "background": true},
		`[job 9 started; job {"id":9} reads its output; job 3, which had ended, is forgotten]`)
	wantError(t, e, "job", args{"id": 3}, "there is no job 3, but 1, 2, 4, 5, 6, 7, 8, 9")
	if lines := e.Jobs(); len(lines) != maxJobs {
		t.Errorf("%d jobs, want %d", len(lines), maxJobs)
	}
}

// TestJobOutlivesItsCall: what ends the call does not end the job; the end of the
// session does, and says so.
func TestJobOutlivesItsCall(t *testing.T) {
	before := runtime.NumGoroutine()
	e := jobEnv(t)
	c, err := Builtin.Parse(e, "bash", `{"command":"sleep 60; echo never","background":true}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	cancel()
	want(t, e, "bash", args{"command": "true", "background": true}, `[job 2 started; job {"id":2} reads its output]`)
	over(t, e, 2)
	wantMatch(t, e, "job", args{"id": 1}, `\(no new output\)\n\[job 1 runs, \d s\]`)
	if got := e.EndJobs(); len(got) != 1 || got[0] != "1 (sleep 60; echo never)" {
		t.Errorf("EndJobs = %q", got)
	}
	if got := e.EndJobs(); got != nil || e.Jobs() != nil {
		t.Errorf("EndJobs again = %q, jobs %q", got, e.Jobs())
	}
	if !jobTool.Offered(e) {
		t.Error("job is offered no more")
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left, there were %d", runtime.NumGoroutine(), before)
		}
	}
}

func TestJobPreview(t *testing.T) {
	e := jobEnv(t)
	for text, want := range map[string]string{
		`{"command":"x"}`:                                  "x\ndirectory: " + e.Dir + "\ntimeout: 30 s",
		`{"command":"x","background":true}`:                "x\ndirectory: " + e.Dir + "\ntimeout: none\nin the background",
		`{"command":"x","background":true,"timeout":5}`:    "x\ndirectory: " + e.Dir + "\ntimeout: 5 s\nin the background",
		`{"command":"x","background":false,"timeout":600}`: "x\ndirectory: " + e.Dir + "\ntimeout: 600 s",
	} {
		c, err := Builtin.Parse(e, "bash", text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.Preview(); got != want || err != nil {
			t.Errorf("Preview(%s) = %q, %v, want %q", text, got, err, want)
		}
	}
}
