package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"cluade/internal/policy"
	"cluade/internal/proc"
)

var bash = Tool{
	Name:     "bash",
	Desc:     "Run a command with " + shellPath + ". No input. timeout is in seconds, to 600.",
	Params:   `{"type":"object","properties":{"command":{"type":"string"},"workdir":{"type":"string"},"timeout":{"type":"integer"},"background":{"type":"boolean"}},"required":["command"]}`,
	Effect:   policy.Execute,
	Describe: describeBash,
	Subject:  bashSubject,
	Preview:  previewBash,
	Run:      runBash,
}

const (
	bashTimeout = 30 * time.Second // when Env has none
	maxTimeout  = 600              // seconds that a call may ask for
	maxOutput   = 64 << 20         // bytes of output that end a command
	endRoom     = 200              // of a result, for the lines that are ours
)

func describeBash(e *Env) string {
	return fmt.Sprintf("Run a command with %s. No input. Stops after %g s, or timeout (to %d); background returns at once.",
		describeShell(shellPath), e.bashTimeout().Seconds(), maxTimeout)
}

func (e *Env) bashTimeout() time.Duration {
	if e.Timeout > 0 {
		return e.Timeout
	}
	return bashTimeout
}

// bashSubject refuses what could never run. It opens no file.
func bashSubject(e *Env, a *Args) (policy.Subject, error) {
	command := a.Text("command")
	switch {
	case strings.TrimSpace(command) == "":
		return policy.Subject{}, errors.New("the command is empty")
	case strings.IndexByte(command, 0) >= 0:
		return policy.Subject{}, errors.New("the command holds a NUL byte, which no program can be given")
	}
	if _, err := callTimeout(e, a); err != nil {
		return policy.Subject{}, err
	}
	dir, err := e.workdir(a)
	return policy.Subject{Command: command, Dir: dir.Abs, RealDir: dir.Real}, err
}

// workdir is where the command runs; it need not exist. Where links lead is
// judged, so that is where the command is started.
func (e *Env) workdir(a *Args) (policy.Path, error) {
	dir := a.Text("workdir")
	if dir == "" {
		dir = "." // which may be named by a link too
	}
	return e.resolve(dir)
}

func callTimeout(e *Env, a *Args) (time.Duration, error) {
	if !a.Has("timeout") {
		return e.bashTimeout(), nil
	}
	n := a.Int("timeout")
	if n < 1 || n > maxTimeout {
		return 0, fmt.Errorf("timeout is %d, must be 1 to %d seconds", n, maxTimeout)
	}
	return time.Duration(n) * time.Second, nil
}

func previewBash(e *Env, a *Args) (string, error) {
	s, err := bashSpec(e, a)
	if err != nil {
		return "", err
	}
	limit := fmt.Sprintf("timeout: %g s", s.Timeout.Seconds())
	if s.Timeout == 0 {
		limit = "timeout: none"
	}
	if a.Bool("background") {
		limit += "\nin the background"
	}
	dir := shown(s.Dir)
	if named := a.subject.Dir; named != s.Dir {
		dir = shown(named) + ", which is " + dir
	}
	return fmt.Sprintf("%s\ndirectory: %s\n%s", a.Text("command"), dir, limit), nil
}

func bashSpec(e *Env, a *Args) (proc.Spec, error) {
	timeout, err := callTimeout(e, a)
	if err != nil {
		return proc.Spec{}, err
	}
	dir := a.subject.RealDir
	fi, err := await(context.Background(), lookTime, func(context.Context) (os.FileInfo, error) { return os.Stat(dir) })
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return proc.Spec{}, fmt.Errorf("working directory %s: %w", shown(dir), errNoAnswer)
	case err != nil:
		return proc.Spec{}, fmt.Errorf("working directory %s: %s", shown(dir), errnoText(err))
	case !fi.IsDir():
		return proc.Spec{}, fmt.Errorf("working directory %s: it is not a directory", shown(dir))
	}
	s := proc.Spec{
		Argv:    []string{shellPath, "-c", "--", a.Text("command")}, // "--": the command may begin with a dash
		Dir:     dir,
		Env:     e.Vars,
		Timeout: timeout,
		Keep:    e.outputRoom(nil),
		Kill:    maxOutput,
		Sandbox: e.Sandbox,
	}
	if a.Bool("background") {
		s.Keep, s.Kill = jobKeep, 0
		if !a.Has("timeout") {
			s.Timeout = 0
		}
	}
	return s, e.confined()
}

// confined fails where commands must be confined and are not.
func (e *Env) confined() error {
	if e.MustConfine && e.Sandbox.Effective() != e.Sandbox.Level {
		return fmt.Errorf("no command runs here: confinement %q is required and not in force on this device", e.Sandbox.Level)
	}
	return nil
}

// outputRoom is how much of a result is left for output beside these notes and
// those on the end.
func (e *Env) outputRoom(notes []string) int {
	return max(e.keep()-endRoom-len(withNotes("", notes)), e.keep()/2)
}

func runBash(ctx context.Context, e *Env, a *Args) (Result, error) {
	s, err := bashSpec(e, a)
	if err != nil {
		return Result{}, err
	}
	if a.Bool("background") {
		return e.startJob(s, a.Text("command"))
	}
	r, err := proc.Run(ctx, s)
	if err != nil {
		return Result{}, startError(err)
	}
	return Result{Text: bashText(r, s), Failed: bashFailed(r)}, nil
}

// startError words why nothing ran.
func startError(err error) error {
	if errors.Is(err, syscall.E2BIG) {
		return errors.New("the command (with the environment) is longer than the kernel takes, 128 KiB; write it to a file and run that")
	}
	return err
}

// bashFailed says which ends are no success for the loop detector: other
// statuses are how programs answer. The shell reports a signal's death of a
// program that it waited for as 128 + N, too.
func bashFailed(r proc.Result) bool {
	const lastSignal = 64
	return r.TimedOut || r.Flooded || r.Cancelled || r.Exit == 126 || r.Exit == 127 ||
		r.Exit > 128 && r.Exit <= 128+lastSignal
}

// bashText is what the model reads: the output, and what is to be known of the
// end.
func bashText(r proc.Result, s proc.Spec) string {
	var notes []string
	box := ""
	if s.Sandbox.Level == proc.Confined {
		box = "; sandbox: " + s.Sandbox.Effective().String()
	}
	switch {
	case r.TimedOut:
		notes = append(notes, fmt.Sprintf("timed out after %gs; process group killed", s.Timeout.Seconds()))
	case r.Flooded:
		notes = append(notes, fmt.Sprintf("more than %d MiB of output; process group killed", maxOutput>>20))
	case r.Cancelled:
		notes = append(notes, "interrupted; process group killed")
	case r.Exit != 0:
		notes = append(notes, fmt.Sprintf("exit code: %d%s", r.Exit, box))
	}
	if r.Held {
		notes = append(notes, heldNote)
	}
	return withNotes(bashOutput(r), notes)
}

const heldNote = "background processes still hold the output"

// withNotes is a text with notes behind it, each in brackets on a line of its
// own.
func withNotes(text string, notes []string) string {
	for _, n := range notes {
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "[" + n + "]"
	}
	return text
}

// bashOutput is the output as text. NUL bytes between texts (a process's
// arguments under /proc, find -print0) become line ends.
func bashOutput(r proc.Result) string {
	text := r.Head
	if r.Dropped > 0 {
		text = fmt.Sprintf("%s\n[... %d bytes cut ...]\n%s", r.Head, r.Dropped, r.Tail)
	}
	switch {
	case r.Total == 0:
		return "(no output)"
	case notText(text):
		return fmt.Sprintf("(binary output, not shown: %s, %s; strings or hexdump can show it)",
			plural(r.Total, "byte"), fileType([]byte(r.Head)))
	}
	return strings.ReplaceAll(text, "\x00", "\n")
}

// notText says whether more than a quarter of s is neither UTF-8 nor what
// texts have of control characters. It is more lenient than isBinary, for one
// command may print texts and other things.
func notText(s string) bool {
	odd := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r < '\a' || r > '\r' && r < ' ' && r != 0x1b || r == 0x7f {
			odd++
		}
		i += n
	}
	return odd > len(s)/4
}
