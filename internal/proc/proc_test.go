package proc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const helperVar = "PROC_TEST_COMMAND"

// TestMain lets the test binary stand in for a program that runs a command
// and then ends, or is killed meanwhile.
func TestMain(m *testing.M) {
	if os.Args[0] == ConfineArg0 {
		fmt.Println(Confine(os.Args[1:]))
		os.Exit(126)
	}
	command := os.Getenv(helperVar)
	if command == "" {
		os.Exit(m.Run())
	}
	r, err := Run(context.Background(), Spec{Argv: []string{"sh", "-c", command}, Keep: 1000})
	fmt.Printf("%s exit=%d held=%v err=%v\n", strings.TrimSpace(r.Head), r.Exit, r.Held, err)
}

// shells are the ones to test with: whatever sh is, and BusyBox ash.
func shells(t *testing.T) map[string][]string {
	m := map[string][]string{"sh": {"/bin/sh", "-c"}}
	if path, err := exec.LookPath("busybox"); err == nil {
		m["ash"] = []string{path, "sh", "-c"}
	} else {
		t.Log("no busybox: not tested with ash")
	}
	return m
}

func run(t *testing.T, s Spec) Result {
	t.Helper()
	if s.Env == nil {
		s.Env = os.Environ()
	}
	r, err := Run(context.Background(), s)
	if err != nil {
		t.Error(err)
	}
	return r
}

// nap returns an argument for sleep that no other process has, and ends what
// still sleeps that long after the test.
func nap(t *testing.T) string {
	n := strconv.FormatInt(1_000_000_000+time.Now().UnixNano()%1_000_000_000, 10)
	t.Cleanup(func() {
		for _, pid := range sleepers(n) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return n
}

// sleepers lists the processes "sleep n".
func sleepers(n string) []int {
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if string(b) == "sleep\x00"+n+"\x00" {
			pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
			pids = append(pids, pid)
		}
	}
	return pids
}

func TestRun(t *testing.T) {
	tests := []struct {
		name, command string
		head          string
		exit          int
		signal        syscall.Signal
	}{
		{"both streams", "echo out; echo err >&2; echo out", "out\nerr\nout\n", 0, 0},
		{"no line end", "printf abc", "abc", 0, 0},
		{"nothing", ":", "", 0, 0},
		{"bytes as they are", `printf 'a\377\0b\033[0m'`, "a\xff\x00b\x1b[0m", 0, 0},
		{"status", "exit 3", "", 3, 0},
		{"not executable", "/dev/null 2>/dev/null", "", 126, 0},
		{"no such command", "no-such-command-here 2>/dev/null", "", 127, 0},
		{"killed", "printf part; kill -9 $$", "part", 137, syscall.SIGKILL},
		{"terminated", "kill -15 $$", "", 143, syscall.SIGTERM},
		{"input is empty", "cat; echo rc=$?", "rc=0\n", 0, 0},
		{"no terminal", "(head -c1 </dev/tty) 2>/dev/null || echo none", "none\n", 0, 0},
		{"own session", `set -- $(sed 's/.*)//' /proc/$$/stat); [ $3 = $$ ] && [ $4 = $$ ] && echo leader`, "leader\n", 0, 0},
	}
	for shell, argv := range shells(t) {
		for _, tt := range tests {
			t.Run(shell+"/"+tt.name, func(t *testing.T) {
				r := run(t, Spec{Argv: append(argv[:len(argv):len(argv)], tt.command), Timeout: 20 * time.Second})
				if r.Head != tt.head || r.Exit != tt.exit || r.Signal != tt.signal {
					t.Errorf("Run(%q) = %q, %d, %v, want %q, %d, %v", tt.command, r.Head, r.Exit, r.Signal, tt.head, tt.exit, tt.signal)
				}
				if r.Held || r.stopped() || r.Total != int64(len(tt.head)) {
					t.Errorf("Run(%q) = %+v, want it ended by itself, %d bytes", tt.command, r, len(tt.head))
				}
			})
		}
	}
}

func TestRunDirAndEnv(t *testing.T) {
	dir := t.TempDir()
	r := run(t, Spec{Argv: []string{"sh", "-c", "pwd; echo $A; env | grep -c ^HOME="}, Dir: dir, Env: []string{"A=b"}})
	if want := dir + "\nb\n0\n"; r.Head != want {
		t.Errorf("Run in %s = %q, want %q", dir, r.Head, want)
	}
	t.Setenv("PROC_TEST_OWN", "1")
	r, err := Run(context.Background(), Spec{Argv: []string{"sh", "-c", "echo ${PROC_TEST_OWN-unset}"}})
	if err != nil || r.Head != "unset\n" {
		t.Errorf("Run without Env = %q, %v, want nothing inherited", r.Head, err)
	}
}

func TestRunErrors(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "prog")
	if err := os.WriteFile(file, []byte("#!/bin/sh\necho from here\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		spec Spec
		want string
	}{
		{"no program", nil, Spec{}, "no program"},
		{"unknown program", nil, Spec{Argv: []string{"no-such-program"}}, "run no-such-program: not found in PATH"},
		{"never from here", nil, Spec{Argv: []string{"prog"}, Env: []string{"PATH=.::" + "relative"}}, "not found in PATH"},
		{"never from here, PATH empty", nil, Spec{Argv: []string{"prog"}, Env: []string{"PATH="}}, "not found in PATH"},
		{"never from Dir", nil, Spec{Argv: []string{"prog"}, Dir: dir, Env: []string{"PATH=."}}, "not found in PATH"},
		{"no such directory", nil, Spec{Argv: []string{"sh"}, Dir: dir + "/none"}, "working directory " + dir + "/none: no such file or directory"},
		{"a file as directory", nil, Spec{Argv: []string{"sh"}, Dir: file}, "working directory " + file + ": not a directory"},
		{"cancelled before", gone, Spec{Argv: []string{"sh"}}, "context canceled"},
		{"NUL in an argument", nil, Spec{Argv: []string{"sh", "-c", "echo a\x00b"}}, "invalid argument"},
		{"argument too long", nil, Spec{Argv: []string{"sh", "-c", strings.Repeat("#", 3<<20)}}, "argument list too long"},
	}
	for _, tt := range tests {
		if tt.ctx == nil {
			tt.ctx = context.Background()
		}
		if _, err := Run(tt.ctx, tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: Run = %v, want an error with %q", tt.name, err, tt.want)
		}
	}
}

// TestRunBackground: what a command leaves behind neither delays it nor dies.
func TestRunBackground(t *testing.T) {
	tests := []struct {
		name, command string
		held          bool
	}{
		{"job", "sleep %s & echo started", true},
		{"error stream inherited", "sleep %s </dev/null >/dev/null & echo started", true},
		{"nothing inherited", "sleep %s >/dev/null 2>&1 & echo started", false},
		{"double fork", "(sleep %s &); echo started", true},
		{"nohup", "(trap '' HUP; exec sleep %s) & echo started", true},
		{"session of its own", "setsid sleep %s & echo started", true},
		{"the shell fails", "sleep %s & echo started; exit 3", true},
	}
	var wg sync.WaitGroup
	for shell, argv := range shells(t) {
		for _, tt := range tests {
			wg.Go(func() {
				n := nap(t)
				command := fmt.Sprintf(tt.command, n)
				r := run(t, Spec{Argv: append(argv[:len(argv):len(argv)], command), Timeout: 20 * time.Second})
				if r.Head != "started\n" || r.Held != tt.held || r.stopped() || r.Elapsed > 5*time.Second {
					t.Errorf("%s: Run(%q) = %+v, want started, held %v, soon", shell, command, r, tt.held)
				}
				if len(sleepers(n)) != 1 {
					t.Errorf("%s: Run(%q) left %d processes, want 1 alive", shell, command, len(sleepers(n)))
				}
			})
		}
	}
	wg.Wait()
}

// TestServiceOutlivesUs starts a service from a program that then ends. It
// waits for that, writes more than a pipe holds to its output, and reports.
func TestServiceOutlivesUs(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	service := fmt.Sprintf(`(trap '' HUP; while kill -0 %%d 2>/dev/null; do sleep 0.05; done;
		i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done;
		echo alive >%s) & echo started`, fifo)
	cmd := exec.Command(os.Args[0])
	// The service cannot know the program's process id beforehand: it is the
	// parent of the shell that starts it.
	cmd.Env = append(os.Environ(), helperVar+"="+strings.Replace(service, "%d", "$PPID", 1))
	out, err := cmd.CombinedOutput()
	if want := "started exit=0 held=true err=<nil>\n"; err != nil || string(out) != want {
		t.Fatalf("helper = %q, %v, want %q", out, err, want)
	}
	if got := readFifo(t, fifo); got != "alive\n" {
		t.Errorf("service says %q, want %q", got, "alive\n")
	}
}

// readFifo waits for a writer, but not for ever.
func readFifo(t *testing.T, path string) string {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// A writer of our own keeps the first read from seeing the end of file.
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	f.SetReadDeadline(time.Now().Add(20 * time.Second))
	line, err := bufio.NewReader(f).ReadString('\n')
	if err != nil {
		t.Errorf("read fifo: %v", err)
	}
	return line
}

// TestOwnInputClosed: a program that was started without a standard input
// gives its children an empty one all the same.
func TestOwnInputClosed(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", `exec "$0" <&-`, os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=cat; echo rc=$?")
	out, err := cmd.CombinedOutput()
	if want := "rc=0 exit=0 held=false err=<nil>\n"; err != nil || string(out) != want {
		t.Errorf("helper without input = %q, %v, want %q", out, err, want)
	}
}

// TestDiesWithUs: a killed program takes its child with it.
func TestDiesWithUs(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	n := nap(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helperVar+"=echo up >"+fifo+"; exec sleep "+n)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	readFifo(t, fifo)
	waitFor(t, "the child", func() bool { return len(sleepers(n)) == 1 })
	cmd.Process.Kill()
	cmd.Wait()
	waitFor(t, "the child's end", func() bool { return len(sleepers(n)) == 0 })
}

// waitFor looks again and again, for ten seconds at most.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for stop := time.Now().Add(10 * time.Second); !ok(); runtime.Gosched() {
		if time.Now().After(stop) {
			t.Fatalf("%s: waited too long", what)
		}
	}
}

// stubborn are commands whose processes have to be looked for; %[1]s is the
// argument of sleep.
var stubborn = []struct{ what, command string }{
	{"grandchildren", "sh -c 'sleep %[1]s & sleep %[1]s'; echo never"},
	{"ignoring SIGTERM", "trap '' TERM; sh -c 'sleep %[1]s & sleep %[1]s'; echo never"},
	{"shell dies, child does not", "(trap '' TERM; sleep %[1]s) & wait; echo never"},
	{"output given up", "(trap '' TERM; exec sleep %[1]s >/dev/null 2>&1) & wait; echo never"},
	{"group of its own", "timeout 2000000000 sleep %[1]s; echo never"},
	{"stopped", "sleep %[1]s & kill -STOP $!; wait; echo never"},
}

func TestRunTimeout(t *testing.T) {
	var wg sync.WaitGroup
	for shell, argv := range shells(t) {
		for _, tt := range stubborn {
			wg.Go(func() {
				n := nap(t)
				command := fmt.Sprintf("echo part; "+tt.command, n)
				r := run(t, Spec{Argv: append(argv[:len(argv):len(argv)], command), Timeout: time.Second})
				if !r.TimedOut || r.Cancelled || r.Exit == 0 || r.Head != "part\n" {
					t.Errorf("%s: Run(%q) = %+v, want part, timed out", shell, command, r)
				}
				if r.Elapsed > 5*time.Second {
					t.Errorf("%s: Run(%q) took %v, want at most 5 s", shell, command, r.Elapsed)
				}
				if left := sleepers(n); len(left) > 0 {
					t.Errorf("%s: Run(%q) left %v", shell, command, left)
				}
			})
		}
	}
	wg.Wait()
}

func TestRunCancel(t *testing.T) {
	n := nap(t)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for len(sleepers(n)) == 0 {
			runtime.Gosched()
		}
		cancel()
	}()
	r, err := Run(ctx, Spec{Argv: []string{"sh", "-c", "sleep " + n + "; echo never"}, Env: os.Environ(), Timeout: time.Minute})
	if err != nil || !r.Cancelled || r.TimedOut || r.Exit != 143 || r.Head != "" || r.Elapsed > 10*time.Second {
		t.Errorf("cancelled Run = %+v, %v, want cancelled, exit 143", r, err)
	}
	if left := sleepers(n); len(left) > 0 {
		t.Errorf("cancelled Run left %v", left)
	}
}

// TestRunTimeoutLeavesDaemons: who left the session on purpose is not killed,
// and what it holds does not make the call longer.
func TestRunTimeoutLeavesDaemons(t *testing.T) {
	n := nap(t)
	r := run(t, Spec{Argv: []string{"sh", "-c", "setsid sleep " + n + " & sleep 60"}, Timeout: time.Second})
	if !r.TimedOut || !r.Held || r.Elapsed > 5*time.Second {
		t.Errorf("Run = %+v, want timed out, held", r)
	}
	if len(sleepers(n)) != 1 {
		t.Errorf("the daemon is gone")
	}
}

func TestRunFlood(t *testing.T) {
	for _, command := range []string{
		"yes",
		"yes & wait",
		"yes & exit 0",
		"trap '' PIPE; yes; yes; sleep 60",
	} {
		r := run(t, Spec{Argv: []string{"sh", "-c", command}, Keep: 1000, Kill: 1 << 20, Timeout: time.Minute})
		if !r.Flooded || r.Total <= 1<<20 || len(r.Head) != 600 || len(r.Tail) != 400 {
			t.Errorf("Run(%q) = %+v, want flooded, 600 and 400 bytes kept", command, r)
		}
		if r.Dropped != r.Total-1000 || r.Elapsed > 10*time.Second || r.Held {
			t.Errorf("Run(%q) dropped %d of %d in %v, held %v", command, r.Dropped, r.Total, r.Elapsed, r.Held)
		}
	}
}

func TestRunInput(t *testing.T) {
	text := strings.Repeat("0123456789abcde\n", 1<<16)
	tests := []struct {
		name, command string
		timeout       time.Duration
		head          string
	}{
		{"all of it", "wc -c | tr -d ' '", time.Minute, "1048576\n"},
		{"not read", "echo done", time.Minute, "done\n"},
		{"a part", "head -n 1", time.Minute, "0123456789abcde\n"},
		{"never", "exec sleep 60", time.Second, ""},
	}
	for _, tt := range tests {
		r := run(t, Spec{Argv: []string{"sh", "-c", tt.command}, Stdin: strings.NewReader(text), Timeout: tt.timeout})
		if r.Head != tt.head || r.Elapsed > 10*time.Second || r.Held {
			t.Errorf("%s: Run(%q) = %+v, want %q", tt.name, tt.command, r, tt.head)
		}
	}
}

// TestRunKeepsFilesToItself has a file open as an inherited one would be,
// without the close-on-exec mark.
func TestRunKeepsFilesToItself(t *testing.T) {
	fd, _, errno := syscall.Syscall(syscall.SYS_FCNTL, 1, syscall.F_DUPFD, 50)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer syscall.Close(int(fd))
	command := fmt.Sprintf("for n in 0 1 2 %d; do [ -e /proc/$$/fd/$n ] && echo $n; done", fd)
	if r := run(t, Spec{Argv: []string{"sh", "-c", command}}); r.Head != "0\n1\n2\n" {
		t.Errorf("open files of the child = %q, want 0, 1 and 2", r.Head)
	}
}

func TestRunLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	n := nap(t)
	for _, command := range []string{"true", "sleep " + n + " &", "sleep " + n, "yes"} {
		run(t, Spec{Argv: []string{"sh", "-c", command}, Kill: 1 << 20, Timeout: time.Second,
			Stdin: io.LimitReader(zeros{}, 1<<20)})
	}
	waitFor(t, "goroutines", func() bool { return runtime.NumGoroutine() <= before })
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestRunCallersDeadline(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(time.Second))
	defer cancel()
	r, err := Run(ctx, Spec{Argv: []string{"sleep", "60"}, Timeout: time.Minute})
	if err != nil || !r.Cancelled || r.TimedOut {
		t.Errorf("Run under a caller's deadline = %+v, %v, want cancelled", r, err)
	}
}

// TestRunSides: standard error and descriptor 3 go where they are wanted, whole
// and apart from the output, however much there is.
func TestRunSides(t *testing.T) {
	const command = `i=0; while [ $i -lt 2000 ]; do echo out; echo err >&2; echo rep >&3; i=$((i+1)); done; exit 4`
	var errs, report strings.Builder
	r := run(t, Spec{Argv: []string{"sh", "-c", command}, Stderr: &errs, Report: &report, Stdin: strings.NewReader("x"), Timeout: time.Minute})
	if r.Exit != 4 || r.Held || r.Head != strings.Repeat("out\n", 2000) || errs.String() != strings.Repeat("err\n", 2000) || report.String() != strings.Repeat("rep\n", 2000) {
		t.Errorf("Run = %+v with %d bytes of errors and %d of report", r, errs.Len(), report.Len())
	}
	report.Reset()
	r = run(t, Spec{Argv: []string{"sh", "-c", "echo err >&2; echo rep >&3"}, Report: &report})
	if r.Head != "err\n" || report.String() != "rep\n" {
		t.Errorf("Run with a report alone = %q, %q", r.Head, report.String())
	}
	// A writer that fails, and a holder that stays, stop nothing.
	n := nap(t)
	r = run(t, Spec{Argv: []string{"sh", "-c", "head -c 300000 /dev/zero >&2; sleep " + n + " >/dev/null & echo out"}, Stderr: refuses{}, Timeout: time.Minute})
	if r.Head != "out\n" || r.Exit != 0 || r.Elapsed > 5*time.Second {
		t.Errorf("Run with a writer that fails = %+v", r)
	}
}

type refuses struct{}

func (refuses) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestRunPath(t *testing.T) {
	r := run(t, Spec{Path: "/proc/self/exe", Argv: []string{"anything"}, Env: []string{helperVar + "=echo $0; echo inner"}})
	if want := "sh\ninner exit=0 held=false err=<nil>\n"; r.Head != want {
		t.Errorf("Run of this program = %q, want %q", r.Head, want)
	}
}

// TestRunGrace: a child that ends others of its own gets the time for it.
func TestRunGrace(t *testing.T) {
	const command = `exec 2>/dev/null; trap 'sleep 2.4; echo ended; exit' TERM; while :; do sleep 0.1; done`
	for grace, want := range map[time.Duration]string{0: "", 10 * time.Second: "ended\n"} {
		r := run(t, Spec{Argv: []string{"sh", "-c", command}, Timeout: 500 * time.Millisecond, Grace: grace})
		if !r.TimedOut || r.Head != want {
			t.Errorf("Run with grace %v = %q, want %q", grace, r.Head, want)
		}
	}
}
