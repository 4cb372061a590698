package tools

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake makes a shell command stand for the program: it is run with the prompt
// on its standard input and the mode as $1.
func fake(t *testing.T, e *Env, command string) (lines *[]string) {
	t.Helper()
	lines = new([]string)
	e.Subagent = Subagent{
		Path:     "/bin/sh",
		Args:     func(mode string) []string { return []string{"-c", command, "sh", mode} },
		Vars:     func() []string { return []string{"PATH=" + os.Getenv("PATH"), "A=b"} },
		Timeout:  time.Minute,
		Progress: func(line string) { *lines = append(*lines, line) },
	}
	return lines
}

const sayRun = "echo run 7 4 100 20 30 10 >&3; "

func TestSubagent(t *testing.T) {
	tests := []struct{ name, command, want, err string }{
		{"answer", sayRun + "echo; echo \"$1 $A\"; cat; echo; echo; echo 'changed \"/x\"' >&3; echo 'changed \"/y\"' >&3", "\nplan b\ndo it\n[subagent: 7 steps, 4 tool calls, changed 2 files]", ""},
		{"no report", "echo hi", "hi\n[subagent: 0 steps, 0 tool calls, changed 0 files]", ""},
		{"one of each", "echo run 1 1 0 0 0 0 >&3; echo 'changed \"/x\"' >&3; echo hi", "hi\n[subagent: 1 step, 1 tool call, changed 1 file]", ""},
		{"no answer", sayRun + "echo '  '", "", "the subagent gave no answer\n[subagent: 7 steps, 4 tool calls, changed 0 files]"},
		{"failed", sayRun + "echo half; for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; echo >&2; exit 4", "",
			"the subagent failed (exit code 4); its last words:\nline 3\nline 4\nline 5\nline 6\nline 7\n[subagent: 7 steps, 4 tool calls, changed 0 files]"},
		{"killed", "kill -9 $$", "", "the subagent failed (exit code 137)\n[subagent: 0 steps, 0 tool calls, changed 0 files]"},
		{"long", sayRun + "i=0; while [ $i -lt 3000 ]; do echo 0123456789; i=$((i+1)); done", "", ""},
	}
	for _, tt := range tests {
		e := testEnv(t)
		e.Keep = 4096
		fake(t, e, tt.command)
		got, err := use(t, e, "subagent", args{"prompt": "do it", "mode": "plan"})
		if tt.name == "long" {
			if len(got) > e.Keep || !strings.Contains(got, " bytes cut ...]\n") || !strings.HasSuffix(got, "\n0123456789\n[subagent: 7 steps, 4 tool calls, changed 0 files]") {
				t.Errorf("long: %d bytes, %q", len(got), got)
			}
			continue
		}
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tt.want || text != tt.err {
			t.Errorf("%s: subagent = %q, %q, want %q, %q", tt.name, got, text, tt.want, tt.err)
		}
	}
}

// TestSubagentCounts: what a subagent spent and changed counts, whatever became
// of it.
func TestSubagentCounts(t *testing.T) {
	for _, end := range []string{"echo hi", "exit 1", "echo ' '", "exec sleep 60"} {
		e := testEnv(t)
		e.Changed = []string{"/x"}
		fake(t, e, sayRun+"echo 'changed \"/x\"' >&3; echo 'changed \"/y\"' >&3; "+end)
		e.Subagent.Timeout = 2 * time.Second
		c, err := Builtin.Parse(e, "subagent", `{"prompt":"p"}`)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.Run(context.Background())
		if want := (Usage{100, 20, 30, 10}); res.Usage != want || !slices.Equal(e.Changed, []string{"/x", "/y"}) {
			t.Errorf("%s: usage %v, changed %q, %v", end, res.Usage, e.Changed, err)
		}
		if res.Failed != (err != nil) || res.Failed != (end != "echo hi") {
			t.Errorf("%s: failed %v, %v", end, res.Failed, err)
		}
		if end == "exec sleep 60" && !strings.HasPrefix(err.Error(), "the subagent was stopped after 2s, its time limit\n[subagent: 7") {
			t.Errorf("%s: %v", end, err)
		}
	}
}

func TestSubagentProgress(t *testing.T) {
	e := testEnv(t)
	lines := fake(t, e, `printf 'one\r\n\ntwo' >&2; sleep 0.1; printf ' and\nlong ' >&2; head -c 10000 /dev/zero | tr '\0' x >&2; echo >&2; printf end >&2; echo hi`)
	if _, err := use(t, e, "subagent", args{"prompt": "p"}); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "two and", "long " + strings.Repeat("x", progressLine-5), "end"}
	if !reflect.DeepEqual(*lines, want) {
		t.Errorf("progress is %.200q, want %.200q", *lines, want)
	}
	e.Subagent.Progress = nil
	if _, err := use(t, e, "subagent", args{"prompt": "p"}); err != nil {
		t.Errorf("without anybody to tell: %v", err)
	}
}

func TestSubagentCancelled(t *testing.T) {
	e := testEnv(t)
	up := filepath.Join(e.Dir, "up")
	fake(t, e, sayRun+"echo up >"+up+"; exec sleep 60")
	c, err := Builtin.Parse(e, "subagent", `{"prompt":"p"}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan Result)
	go func() {
		res, _ := c.Run(ctx)
		done <- res
	}()
	for end := time.Now().Add(10 * time.Second); ; {
		if fi, err := os.Stat(up); err == nil && fi.Size() > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the subagent does not start")
		}
	}
	cancel()
	if res := <-done; !res.Failed || res.Usage.Prompt != 100 || res.Text != "[subagent: 7 steps, 4 tool calls, changed 0 files]" {
		t.Errorf("cancelled = %+v", res)
	}
}

func TestSubagentErrors(t *testing.T) {
	e := testEnv(t)
	wantError(t, e, "subagent", args{"prompt": "p"}, "this run starts no subagents")
	fake(t, e, "echo hi")
	wantError(t, e, "subagent", args{"prompt": " \n"}, "the prompt is empty")
	wantError(t, e, "subagent", args{"prompt": "p", "mode": "fast"}, `"mode" must be one of build, plan`)
	e.Subagent.Path = "/none"
	wantError(t, e, "subagent", args{"prompt": "p"}, "start a subagent: ", "no such file")
}

// TestChanged: the files that were written are known, each once.
func TestChanged(t *testing.T) {
	e := testEnv(t)
	a := put(t, e, "a", "one\n")
	want(t, e, "edit", args{"filePath": "a", "oldString": "one", "newString": "two"}, "edited a (1 replacement)")
	want(t, e, "edit", args{"filePath": "a", "oldString": "two", "newString": "one"}, "edited a (1 replacement)")
	want(t, e, "write", args{"filePath": "b/c", "content": "x"}, "wrote b/c")
	wantError(t, e, "edit", args{"filePath": "b/c", "oldString": "none", "newString": "two"}, "not found")
	if got, want := e.Changed, []string{a, filepath.Join(e.Dir, "b/c")}; !slices.Equal(got, want) {
		t.Errorf("Changed = %q, want %q", got, want)
	}
}
