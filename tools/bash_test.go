package tools

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"cluade/internal/policy"
	"cluade/internal/proc"
)

// bashEnv is a testEnv whose commands find their programs.
func bashEnv(t *testing.T) *Env {
	e := testEnv(t)
	e.Vars = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + e.Home}
	return e
}

func TestBash(t *testing.T) {
	e := bashEnv(t)
	if err := os.Mkdir(filepath.Join(e.Dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args args
		want string
	}{
		{args{"command": "echo out; echo err >&2"}, "out\nerr\n"},
		{args{"command": "printf abc"}, "abc"},
		{args{"command": "true"}, "(no output)"},
		{args{"command": "exit 3"}, "(no output)\n[exit code: 3]"},
		{args{"command": "printf abc; false"}, "abc\n[exit code: 1]"},
		{args{"command": "echo abc; false"}, "abc\n[exit code: 1]"},
		{args{"command": `printf 'part\n'; kill -9 $$`}, "part\n[exit code: 137]"},
		{args{"command": "cat; echo rc=$?"}, "rc=0\n"},
		{args{"command": "read x || echo none"}, "none\n"},
		{args{"command": "{ head -c1 </dev/tty; } 2>/dev/null; [ $? != 0 ] && echo none"}, "none\n"},
		{args{"command": "-x 2>/dev/null"}, "(no output)\n[exit code: 127]"},
		{args{"command": "# nothing but a comment"}, "(no output)"},
		{args{"command": "pwd"}, e.Dir + "\n"},
		{args{"command": "pwd", "workdir": ""}, e.Dir + "\n"},
		{args{"command": "pwd", "workdir": "sub"}, e.Dir + "/sub\n"},
		{args{"command": "pwd", "workdir": "/"}, "/\n"},
		{args{"command": "pwd", "workdir": "~/"}, e.Home + "\n"},
		{args{"command": "echo $HOME${CLUADE_TEST-unset}"}, e.Home + "unset\n"},
		{args{"command": "echo quick", "timeout": 600}, "quick\n"},
		{args{"command": `printf 'sleep\00060\0'`}, "sleep\n60\n"},
		{args{"command": `printf 'caf\351 and more text\n'`}, "caf\xe9 and more text\n"},
		{args{"command": `printf '\033[31mred\033[0m\n'`}, "\x1b[31mred\x1b[0m\n"},
		{args{"command": `printf '\037\213\010\000\000\000\000\000abc'`},
			"(binary output, not shown: 11 bytes, gzip; strings or hexdump can show it)"},
		{args{"command": `printf 'a\000b\000c\000'; exit 2`},
			"(binary output, not shown: 6 bytes, unknown type; strings or hexdump can show it)\n[exit code: 2]"},
		{args{"command": "echo here <<E\ndocument\nE"}, "here\n"},
	}
	t.Setenv("CLUADE_TEST", "inherited") // Env.Vars alone counts
	for _, tt := range tests {
		want(t, e, "bash", tt.args, tt.want)
	}
}

func TestBashErrors(t *testing.T) {
	e := bashEnv(t)
	if err := os.WriteFile(filepath.Join(e.Dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		args args
		want string
	}{
		{args{"command": ""}, "the command is empty"},
		{args{"command": " \n\t"}, "the command is empty"},
		{args{"command": "echo a\x00b"}, "NUL byte"},
		{args{"command": "pwd", "workdir": "none"}, "working directory " + e.Dir + "/none: no such file or directory"},
		{args{"command": "pwd", "workdir": "file"}, "working directory " + e.Dir + "/file: it is not a directory"},
		{args{"command": "pwd", "workdir": "file/x"}, "working directory " + e.Dir + "/file/x: not a directory"},
		{args{"command": "pwd", "timeout": 0}, "timeout is 0, must be 1 to 600 seconds"},
		{args{"command": "pwd", "timeout": -5}, "timeout is -5, must be"},
		{args{"command": "pwd", "timeout": 601}, "timeout is 601, must be"},
		{args{"command": "pwd", "timeout": int64(1) << 52}, "must be 1 to 600 seconds"},
		{args{"command": "pwd", "timeout": 1.5}, `parameter "timeout" must be an integer`},
		{args{}, `missing required parameter "command"`},
		{args{"command": ": " + strings.Repeat("x", 200_000)}, "write it to a file"},
	}
	for _, tt := range tests {
		if got, err := use(t, e, "bash", tt.args); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("bash(%.80q) = %q, %v, want an error with %q", fmt.Sprint(tt.args), got, err, tt.want)
		}
	}
}

func TestBashDirGone(t *testing.T) {
	e := bashEnv(t)
	if err := os.Remove(e.Dir); err != nil {
		t.Fatal(err)
	}
	if got, err := use(t, e, "bash", args{"command": "pwd"}); err == nil || !strings.Contains(err.Error(), e.Dir+": no such file") {
		t.Errorf("bash in a directory that is gone = %q, %v, want an error naming it", got, err)
	}
}

func TestBashSubjectAndPreview(t *testing.T) {
	e := bashEnv(t)
	const command = "rm -rf build\n\x1b[2J\techo done"
	c, err := Builtin.Parse(e, "bash", `{"command":"rm -rf build\n\u001b[2J\techo done","workdir":"../work/.","timeout":90}`)
	if err != nil {
		t.Fatal(err)
	}
	if c.Subject.Command != command || c.Subject.Dir != e.Dir {
		t.Errorf("subject = %q in %q, want %q in %q", c.Subject.Command, c.Subject.Dir, command, e.Dir)
	}
	text, err := c.Preview()
	if wanted := command + "\ndirectory: " + e.Dir + "\ntimeout: 90 s"; err != nil || text != wanted {
		t.Errorf("preview = %q, %v, want %q", text, err, wanted)
	}
}

// TestBashSoon: what may not hold up a call does not.
func TestBashSoon(t *testing.T) {
	e := bashEnv(t)
	tests := []struct {
		args args
		want string
	}{
		{args{"command": "sleep 60 & echo started"}, "started\n[background processes still hold the output]"},
		{args{"command": "sleep 60 </dev/null >/dev/null & echo started"}, "started\n[background processes still hold the output]"},
		{args{"command": "sleep 60 & exit 4"}, "(no output)\n[exit code: 4]\n[background processes still hold the output]"},
		{args{"command": "sleep 60 >/dev/null 2>&1 & echo started"}, "started\n"},
		{args{"command": "sh -c 'sleep 60 & sleep 60'; echo never", "timeout": 1}, "(no output)\n[timed out after 1s; process group killed]"},
		{args{"command": "printf part; sleep 60", "timeout": 1}, "part\n[timed out after 1s; process group killed]"},
		{args{"command": "while :; do :; done", "timeout": 1}, "(no output)\n[timed out after 1s; process group killed]"},
	}
	for _, tt := range tests {
		began := time.Now()
		want(t, e, "bash", tt.args, tt.want)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("bash(%v) took %v, want at most 5 s", tt.args, took)
		}
	}
}

func TestBashFailed(t *testing.T) {
	e := bashEnv(t)
	for command, want := range map[string]bool{
		"true": false, "false": false, "exit 2": false, "exit 125": false, "exit 128": false, "exit 255": false, "grep x /dev/null": false,
		"/dev/null": true, "no-such-command": true, "kill -9 $$": true, "kill $$": true, "sh -c 'kill -9 $$'; exit $?": true,
	} {
		a := &Args{vals: map[string]any{"command": command}, subject: policy.Subject{RealDir: e.Dir}}
		if r, err := runBash(context.Background(), e, a); err != nil || r.Failed != want {
			t.Errorf("bash(%q) = %q, failed %v, %v, want failed %v", command, r.Text, r.Failed, err, want)
		}
	}
	a := &Args{vals: map[string]any{"command": "sleep 60", "timeout": int64(1)}, subject: policy.Subject{RealDir: e.Dir}}
	if r, err := runBash(context.Background(), e, a); err != nil || !r.Failed {
		t.Errorf("timeout = %q, failed %v, %v, want failed", r.Text, r.Failed, err)
	}
}

func TestBashCancel(t *testing.T) {
	e := bashEnv(t)
	fifo := filepath.Join(e.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		os.ReadFile(fifo) // until the command has come that far
		cancel()
	}()
	a := &Args{vals: map[string]any{"command": "echo part; echo >fifo; sleep 60"}, subject: policy.Subject{RealDir: e.Dir}}
	r, err := runBash(ctx, e, a)
	if wanted := "part\n[interrupted; process group killed]"; err != nil || r.Text != wanted || !r.Failed {
		t.Errorf("cancelled = %q, failed %v, %v, want %q, failed", r.Text, r.Failed, err, wanted)
	}
}

func TestBashLongOutput(t *testing.T) {
	e := bashEnv(t)
	for _, keep := range []int{0, 50, 1000, 30720} {
		e.Keep = keep
		got, err := use(t, e, "bash", args{"command": "echo first; seq 1 100000; echo last; exit 9"})
		head, rest, ok := strings.Cut(got, "\n[... ")
		tail := rest[strings.Index(rest, "\n")+1:]
		var cut int
		if _, scanErr := fmt.Sscanf(rest, "%d bytes cut ...]", &cut); err != nil || !ok || scanErr != nil {
			t.Errorf("keep %d: bash = %.200q, %v, want a line that says what was cut", keep, got, err)
			continue
		}
		output := strings.TrimSuffix(tail, "[exit code: 9]")
		if total := len("first\nlast\n") + 588895; len(head)+len(output)+cut != total {
			t.Errorf("keep %d: %d + %d bytes and %d cut, want %d together", keep, len(head), len(output), cut, total)
		}
		if keep >= 1000 && (len(got) > keep || len(got) < keep-300 || !strings.HasPrefix(head, "first\n1\n") || !strings.HasSuffix(output, "\nlast\n")) {
			t.Errorf("keep %d: bash = %d bytes, from %.20q to %q", keep, len(got), head, output[max(0, len(output)-20):])
		}
		if ratio := len(head) * 100 / (len(head) + len(output)); ratio < 55 || ratio > 62 {
			t.Errorf("keep %d: %d %% at the head, want 60", keep, ratio)
		}
	}
}

func TestBashFlood(t *testing.T) {
	e := bashEnv(t)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := use(t, e, "bash", args{"command": "yes", "timeout": 60})
	runtime.ReadMemStats(&after)
	if err != nil || !strings.HasPrefix(got, "y\ny\n") || !strings.HasSuffix(got, "y\n[more than 64 MiB of output; process group killed]") {
		t.Errorf("bash(yes) = %d bytes, %v, want head, tail and the reason", len(got), err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("bash(yes) allocated %d bytes, want it bounded", n)
	}
}

// TestBashWithoutTemporaryFiles: TMPDIR names no directory, so nothing can be
// put there.
func TestBashWithoutTemporaryFiles(t *testing.T) {
	e := bashEnv(t)
	t.Setenv("TMPDIR", "/dev/null/none")
	e.Vars = append(e.Vars, "TMPDIR=/dev/null/none")
	want(t, e, "bash", args{"command": "seq 1 3"}, "1\n2\n3\n")
}

// TestBashIsNotNeeded: no program at all is on PATH.
func TestBashIsNotNeeded(t *testing.T) {
	e := testEnv(t)
	e.Vars = []string{"PATH=" + e.Dir}
	want(t, e, "bash", args{"command": "echo ok"}, "ok\n")
	e.Vars = nil
	want(t, e, "bash", args{"command": "echo ok"}, "ok\n")
}

func TestDescribeBash(t *testing.T) {
	e := &Env{}
	got := describeBash(e)
	if !strings.HasPrefix(got, "Run a command with /bin/sh") || !strings.Contains(got, "Stops after 30 s, or timeout") {
		t.Errorf("describeBash = %q", got)
	}
	e.Timeout = 2 * time.Minute
	if got := describeBash(e); !strings.Contains(got, "Stops after 120 s, or timeout") {
		t.Errorf("describeBash with two minutes = %q", got)
	}
}

func TestDescribeShell(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"busybox", "dash", "bash", "busybox.nosuid", "odd"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(f), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const limits = " (no bash-only syntax)"
	tests := []struct {
		name string
		make func(old, new string) error
		old  string
		want string
	}{
		{"link", os.Symlink, "busybox", ", which is BusyBox ash here" + limits},
		{"hard link", os.Link, "busybox", ", which is BusyBox ash here" + limits},
		{"nosuid", os.Symlink, "busybox.nosuid", ", which is BusyBox ash here" + limits},
		{"two links", os.Symlink, "link", ", which is BusyBox ash here" + limits},
		{"dash link", os.Symlink, "dash", ", which is dash here" + limits},
		{"dash hard link", os.Link, "dash", ", which is dash here" + limits},
		{"bash link", os.Symlink, "bash", ", which is bash here"},
		{"unknown", os.Symlink, "odd", limits},
		{"broken", os.Symlink, "none", limits},
		{"mksh", os.Link, "busybox", ", which is BusyBox ash here" + limits}, // as when mounted over another's name
	}
	for _, tt := range tests {
		path := filepath.Join(dir, tt.name)
		if err := tt.make(filepath.Join(dir, tt.old), path); err != nil {
			t.Fatal(err)
		}
		if got, want := describeShell(path), path+tt.want; got != want {
			t.Errorf("describeShell(%s) = %q, want %q", tt.name, got, want)
		}
	}
}

func TestNotText(t *testing.T) {
	busy, err := exec.LookPath("busybox")
	if err != nil {
		busy = "/proc/self/exe"
	}
	elf, err := os.ReadFile(busy)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, in string
		want     bool
	}{
		{"nothing", "", false},
		{"text", "plain ü 漢字\n\ttext\r\n", false},
		{"colours", strings.Repeat("\x1b[1;32mok\x1b[0m\b\b", 9), false},
		{"Latin-1", "caf\xe9 na\xefve stra\xdfe", false},
		{"arguments of a process", "sleep\x0060\x00", false},
		{"UTF-16", "h\x00e\x00l\x00l\x00o\x00", true},
		{"a program", string(elf[:18000]), true},
		{"a program's beginning", string(elf[:64]), true},
		{"a Cyrillic 8-bit text", "\xef\xf0\xe8\xe2\xe5\xf2 \xec\xe8\xf0", true},
	}
	for _, tt := range tests {
		if got := notText(tt.in); got != tt.want {
			t.Errorf("notText(%s) = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzBashText(f *testing.F) {
	f.Add("head", "tail", 1, true)
	f.Add("\x00\xff", "", 137, false)
	f.Fuzz(func(t *testing.T, head, tail string, exit int, timedOut bool) {
		r := proc.Result{Head: head, Tail: tail, Exit: exit, TimedOut: timedOut, Total: int64(len(head) + len(tail))}
		if tail != "" {
			r.Dropped, r.Total = 5, r.Total+5
		}
		got := bashText(r, proc.Spec{Timeout: 30 * time.Second})
		last := got[strings.LastIndexByte(got, '\n')+1:]
		switch {
		case strings.IndexByte(got, 0) >= 0 || got == "":
			t.Errorf("bashText(%+v) = %q", r, got)
		case timedOut && last != "[timed out after 30s; process group killed]":
			t.Errorf("bashText(%+v) ends %q, want the time limit", r, last)
		case !timedOut && exit != 0 && last != fmt.Sprintf("[exit code: %d]", exit):
			t.Errorf("bashText(%+v) ends %q, want the exit code", r, last)
		}
	})
}

// Where a workdir leads is what is judged, and there the command runs, wherever
// the link leads by then.
func TestBashWorkdirLink(t *testing.T) {
	e := testEnv(t)
	put(t, e, "real/sub/f", "")
	put(t, e, "other/f", "")
	os.Symlink("real/sub", e.Dir+"/link")
	c, err := Builtin.Parse(e, "bash", `{"command":"pwd","workdir":"link"}`)
	if err != nil || c.Subject.Dir != e.Dir+"/link" || c.Subject.RealDir != e.Dir+"/real/sub" {
		t.Fatalf("subject %+v, %v", c.Subject, err)
	}
	if text, err := c.Preview(); err != nil || !strings.Contains(text, "directory: "+e.Dir+"/link, which is "+e.Dir+"/real/sub\n") {
		t.Errorf("preview %q, %v", text, err)
	}
	os.Remove(e.Dir + "/link")
	os.Symlink("other", e.Dir+"/link")
	if r, err := c.Run(context.Background()); err != nil || r.Text != e.Dir+"/real/sub\n" {
		t.Errorf("ran in %q, %v", r.Text, err)
	}
	e.Dir += "/link"
	if c, err = Builtin.Parse(e, "bash", `{"command":"pwd"}`); err != nil || c.Subject.Dir != e.Dir || c.Subject.RealDir != e.Project+"/other" {
		t.Errorf("subject %+v, %v", c.Subject, err)
	}
	if c, err = Builtin.Parse(e, "bash", `{"command":"pwd","workdir":"/proc/self/root/etc"}`); err != nil || c.Subject.RealDir != "/etc" {
		t.Errorf("subject %+v, %v", c.Subject, err)
	}
}
