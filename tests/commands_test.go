package tests

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cluade/tests/model/server"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience bounds every wait of a script; an emulated binary needs the most.
const patience = 60 * time.Second

// commands are the words that scripts have beyond testscript's own.
//
//	model FILE            start the stand-in server with this script; its address
//	                      goes to BASE and CLUADE_BASE_URL
//	model -tls DUR FILE   the same with TLS, and a certificate that is valid for a
//	                      day from DUR ahead; SSL_CERT_FILE names it
//	input FILE            the next cluade reads FILE from a pipe
//	input -open [FILE]    the same, and the pipe stays open
//	input -closed         the next cluade has no standard input at all
//	                      (without one of these it is the null device)
//	tty FILE              the next cluade runs on a terminal, typed to as FILE says
//	cluade [ARG]...       run it; fails unless the exit code is 0
//	! cluade [ARG]...     run it; fails unless the exit code is another
//	cluade [ARG]... &     run it while the script goes on
//	await REGEXP          wait for this in the output of the one in the background
//	signal NAME           send it INT, TERM, HUP, QUIT or KILL
//	finish                wait for its end; stdout and stderr are then its output
//	exit N                check the exit code of the last cluade
//	request N             check that there was a request N
//	request N REGEXP      check its body
//	request N -header RE  check its header lines
//	request N -max BYTES  check the size of its body
//	requests N            check how many requests there were
//	prefix N              check that request N begins with all of the one before
//	                      it, up to the end of its messages: servers keep a cache
//	session REGEXP        check the text of the newest saved session
//	appears FILE          wait until a file is there and not empty
//	site DIR [FILE]...    serve web pages from DIR, each file the whole answer to its
//	                      name; the address goes to SITE, and into the FILEs in
//	                      the place of that word
//	gone FILE             wait until the process whose id is in FILE has ended
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"model":    cmdModel,
	"input":    cmdInput,
	"tty":      cmdTTY,
	"cluade":   cmdCluade,
	"await":    cmdAwait,
	"signal":   cmdSignal,
	"finish":   cmdFinish,
	"exit":     cmdExit,
	"request":  cmdRequest,
	"requests": cmdRequests,
	"prefix":   cmdPrefix,
	"session":  cmdSession,
	"appears":  cmdAppears,
	"gone":     cmdGone,
	"site":     cmdSite,
}

// world is what one script has going on.
type world struct {
	dir    string
	server *server.Server
	next   start // for the next cluade
	run    *run  // in the background
	code   int   // exit code of the last one
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

func (w *world) close() {
	if w.run != nil {
		w.run.kill()
	}
	if w.server != nil {
		w.server.Close()
	}
}

func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

func cmdModel(ts *testscript.TestScript, neg bool, args []string) {
	var o server.Options
	if len(args) == 3 && args[0] == "-tls" {
		ahead, err := time.ParseDuration(args[1])
		ts.Check(err)
		var file string
		file, o.TLS, err = server.SelfSigned(time.Now().Add(ahead))
		ts.Check(err)
		ts.Defer(func() { os.Remove(file) })
		ts.Setenv("SSL_CERT_FILE", file)
		args = args[2:]
	}
	usage(ts, !neg && len(args) == 1, "model [-tls DUR] FILE")
	w := worldOf(ts)
	if w.server != nil {
		w.server.Close()
	}
	replies, err := server.Load(ts.MkAbs(args[0]))
	ts.Check(err)
	w.server, err = server.Start(replies, o)
	ts.Check(err)
	ts.Setenv("BASE", w.server.Base())
	ts.Setenv("CLUADE_BASE_URL", w.server.Base())
}

func cmdInput(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) > 0, "input FILE | -open [FILE] | -closed")
	next := &worldOf(ts).next
	switch {
	case args[0] == "-closed":
		next.closed = true
		return
	case args[0] == "-open":
		next.open = true
		args = args[1:]
	}
	next.pipe = true
	if len(args) > 0 {
		next.input = ts.ReadFile(args[0])
	}
}

func cmdTTY(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "tty FILE")
	worldOf(ts).next.typed = ts.ReadFile(args[0])
	worldOf(ts).next.tty = true
}

func cmdCluade(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	background := len(args) > 0 && args[len(args)-1] == "&"
	if background {
		args = args[:len(args)-1]
	}
	if w.run != nil {
		ts.Fatalf("another cluade is still in the background")
	}
	s := w.next
	w.next = start{}
	s.argv = append([]string{filepath.Join(binDir, "cluade")}, args...)
	s.dir = ts.MkAbs(".")
	s.env = environment(ts)
	r, err := s.start()
	ts.Check(err)
	w.run = r
	if background {
		return
	}
	finish(ts, w)
	if neg && w.code == 0 {
		ts.Fatalf("exit code 0, want another")
	}
	if !neg && w.code != 0 {
		ts.Fatalf("exit code %d, want 0", w.code)
	}
}

// environment is the script's, of which testscript shows only single values.
func environment(ts *testscript.TestScript) []string {
	env := []string{"PWD=" + ts.MkAbs(".")}
	for _, name := range []string{
		"HOME", "PATH", "TERM", "TMPDIR", "GOCOVERDIR", "CLUADE_BASE_URL", "CLUADE_HOME", "CLUADE_MODEL", "CLUADE_DEPTH",
		"CLUADE_TRACE", "CLUADE_API_KEY", "OPENAI_API_KEY", "NO_COLOR", "CLICOLOR_FORCE", "COLOR_TEST", "SECRET_TEST", "EDITOR", "SSL_CERT_FILE",
	} {
		if v := ts.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// finish waits for the run and shows its output to stdout and stderr.
func finish(ts *testscript.TestScript, w *world) {
	r := w.run
	w.run = nil
	err := r.wait(patience)
	stdout, stderr := r.output()
	fmt.Fprint(ts.Stdout(), stdout)
	fmt.Fprint(ts.Stderr(), stderr)
	if r.tty != nil {
		ts.Check(os.WriteFile(filepath.Join(w.dir, "screen"), []byte(r.out.String()), 0o644))
	}
	w.code = r.code
	ts.Logf("[exit code %d]", r.code)
	ts.Check(err)
}

func background(ts *testscript.TestScript) *run {
	r := worldOf(ts).run
	if r == nil {
		ts.Fatalf("no cluade in the background")
	}
	return r
}

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "await REGEXP")
	re, err := regexp.Compile(`(?m)` + args[0])
	ts.Check(err)
	if err := background(ts).await(re, patience); err != nil {
		finish(ts, worldOf(ts))
		ts.Fatalf("await %s: %v", args[0], err)
	}
}

func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "signal INT|TERM|HUP|QUIT|KILL")
	sig, known := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "QUIT": syscall.SIGQUIT, "KILL": syscall.SIGKILL,
	}[args[0]]
	usage(ts, known, "signal INT|TERM|HUP|QUIT|KILL")
	ts.Check(background(ts).cmd.Process.Signal(sig))
}

func cmdFinish(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 0, "finish")
	background(ts)
	finish(ts, worldOf(ts))
}

func cmdExit(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "exit N")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := worldOf(ts).code; got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func requests(ts *testscript.TestScript) []server.Request {
	w := worldOf(ts)
	if w.server == nil {
		ts.Fatalf("no model is running")
	}
	return w.server.Requests()
}

func cmdRequests(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "requests N")
	if got := strconv.Itoa(len(requests(ts))); got != args[0] {
		ts.Fatalf("%s requests, want %s", got, args[0])
	}
}

// cmdPrefix holds request N against the one before, or against request M: its
// messages begin with those, and what stands behind them is the same.
func cmdPrefix(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && (len(args) == 1 || len(args) == 2), "prefix N [M]")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	m := n - 1
	if len(args) == 2 {
		m, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
	all := requests(ts)
	if m < 1 || n < 1 || max(n, m) > len(all) {
		ts.Fatalf("there were %d requests", len(all))
	}
	before, behind, found := bytes.Cut(all[m-1].Body, []byte(`],"tools":`))
	if !found || !bytes.HasPrefix(all[n-1].Body, before) || !bytes.HasSuffix(all[n-1].Body, behind) {
		ts.Fatalf("request %d does not begin like request %d:\n%s\n%s", n, m, before, all[n-1].Body)
	}
}

func cmdRequest(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) >= 1 && len(args) <= 3, "request N [REGEXP | -header REGEXP | -max BYTES]")
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	all := requests(ts)
	if there := n >= 1 && n <= len(all); len(args) == 1 && there == !neg {
		return
	} else if !there || len(args) == 1 {
		ts.Fatalf("there were %d requests", len(all))
	}
	text, pattern := string(all[n-1].Body), args[len(args)-1]
	switch {
	case len(args) == 2:
	case args[1] == "-header":
		var b bytes.Buffer
		ts.Check(all[n-1].Header.Write(&b))
		text = strings.ReplaceAll(b.String(), "\r\n", "\n")
	case args[1] == "-max" && !neg:
		most, err := strconv.Atoi(pattern)
		ts.Check(err)
		if len(text) > most {
			ts.Fatalf("request %d has %d bytes, want at most %d", n, len(text), most)
		}
		return
	default:
		usage(ts, false, "request N [REGEXP | -header REGEXP | -max BYTES]")
	}
	match(ts, neg, pattern, text)
}

func match(ts *testscript.TestScript, neg bool, pattern, text string) {
	re, err := regexp.Compile(`(?m)` + pattern)
	ts.Check(err)
	if re.MatchString(text) == neg {
		ts.Logf("%s", text)
		if neg {
			ts.Fatalf("%s matches", pattern)
		}
		ts.Fatalf("%s does not match", pattern)
	}
}

func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, len(args) == 1, "session REGEXP")
	file, err := newest(filepath.Join(ts.Getenv("HOME"), ".cluade", "sessions", "*.jsonl"))
	ts.Check(err)
	match(ts, neg, args[0], ts.ReadFile(file))
}

// newest is the file that was changed last, of those that fit a pattern.
func newest(pattern string) (string, error) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return "", err
	}
	best, at := "", time.Time{}
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && !info.ModTime().Before(at) {
			best, at = f, info.ModTime()
		}
	}
	if best == "" {
		return "", errors.New("no file fits " + pattern)
	}
	return best, nil
}

func cmdAppears(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "appears FILE")
	file, w := ts.MkAbs(args[0]), worldOf(ts)
	ended := func() bool { return w.run != nil && w.run.hasEnded() }
	if !becomes(func() bool { return filled(file) || ended() }) || !filled(file) {
		if ended() {
			finish(ts, w)
		}
		ts.Fatalf("%s does not appear", file)
	}
}

func filled(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Size() > 0
}

func cmdGone(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "gone FILE")
	pid := strings.TrimSpace(ts.ReadFile(args[0]))
	ended := becomes(func() bool {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		_, after, _ := bytes.Cut(stat, []byte(") "))
		return err != nil || len(after) == 0 || after[0] == 'Z' || after[0] == 'X'
	})
	if !ended {
		ts.Fatalf("process %s is still there", pid)
	}
}

// becomes waits for something outside of our own processes, which tells nobody.
func becomes(ready func() bool) bool {
	for end := time.Now().Add(patience / 4); !ready(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}
