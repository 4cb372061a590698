package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cluade/internal/policy"
	"cluade/internal/proc"
)

var subagent = Tool{
	Name:    "subagent",
	Desc:    "Give a fresh agent a self-contained task; returns its answer. plan only reads.",
	Params:  `{"type":"object","properties":{"prompt":{"type":"string"},"mode":{"type":"string","enum":["build","plan"]}},"required":["prompt"]}`,
	Effect:  policy.Execute,
	Subject: subagentSubject,
	Run:     runSubagent,
}

// Subagent is how a further run of this program is started. Its task is its
// standard input, its answer its output; it reports on descriptor 3.
type Subagent struct {
	Path     string                     // the program's file
	Args     func(mode string) []string // its arguments; nil starts none
	Vars     func() []string            // its environment
	Timeout  time.Duration              // 0 is no limit
	Progress func(line string)          // told what it writes to standard error, from another goroutine; nil is silent
}

// subagentGrace is how long a subagent that is to end has for ending its own
// children, which takes two seconds where they resist.
const subagentGrace = 2700 * time.Millisecond

const (
	progressLine = 4 << 10 // bytes of a line of progress that are kept
	progressKept = 5       // lines that tell why a subagent failed
)

func subagentSubject(_ *Env, a *Args) (policy.Subject, error) {
	if strings.TrimSpace(a.Text("prompt")) == "" {
		return policy.Subject{}, errors.New("the prompt is empty")
	}
	return policy.Subject{}, nil
}

func runSubagent(ctx context.Context, e *Env, a *Args) (Result, error) {
	s := e.Subagent
	if s.Args == nil {
		return Result{}, errors.New("this run starts no subagents")
	}
	mode := a.Text("mode")
	if mode == "" {
		mode = "build"
	}
	report, log := &reportReader{}, &progress{tell: s.Progress}
	r, err := proc.Run(ctx, proc.Spec{
		Path: s.Path, Argv: append([]string{"cluade"}, s.Args(mode)...), Dir: e.Dir, Env: s.Vars(),
		Stdin: strings.NewReader(a.Text("prompt")), Stderr: log, Report: report,
		Timeout: s.Timeout, Grace: subagentGrace, Keep: max(e.keep()-endRoom, e.keep()/2),
	})
	if err != nil {
		return Result{}, fmt.Errorf("start a subagent: %w", err)
	}
	log.flush()
	for _, path := range report.Changed {
		e.change(path)
	}
	res := Result{Usage: report.Usage}
	res.Text, err = subagentText(r, report.Report, log.last, s.Timeout)
	res.Failed = err != nil
	return res, err
}

// subagentText is what the model reads of a run. A run without an answer is an
// error, or silence would pass for agreement.
func subagentText(r proc.Result, rep Report, last []string, limit time.Duration) (string, error) {
	note := fmt.Sprintf("[subagent: %s, %s, changed %s]",
		plural(int64(rep.Steps), "step"), plural(int64(rep.Calls), "tool call"), plural(int64(len(rep.Changed)), "file"))
	why := ""
	switch {
	case r.Cancelled:
		return note, errors.New("the subagent was interrupted\n" + note)
	case r.TimedOut:
		why = fmt.Sprintf("the subagent was stopped after %gs, its time limit", limit.Seconds())
	case r.Exit != 0:
		why = fmt.Sprintf("the subagent failed (exit code %d)", r.Exit)
	case strings.TrimSpace(r.Head) == "":
		why = "the subagent gave no answer"
	default:
		return withNote(cutOutput(r), note), nil
	}
	if len(last) > 0 {
		why += "; its last words:\n" + strings.Join(last, "\n")
	}
	return "", errors.New(withNote(why, note))
}

func withNote(text, note string) string { return strings.TrimRight(text, "\n") + "\n" + note }

// cutOutput is a child's output, with a line in the place of what was not kept.
func cutOutput(r proc.Result) string {
	if r.Dropped > 0 {
		return fmt.Sprintf("%s\n[... %d bytes cut ...]\n%s", r.Head, r.Dropped, r.Tail)
	}
	return r.Head
}

// progress passes on the lines of a stream as they come, and keeps the last
// ones. Lines that are too long are cut.
type progress struct {
	tell func(string)
	line []byte
	last []string
}

// Write takes the next bytes. It never fails.
func (p *progress) Write(b []byte) (int, error) {
	n := len(b)
	for {
		text, rest, ended := bytes.Cut(b, []byte("\n"))
		if room := progressLine - len(p.line); room > 0 {
			p.line = append(p.line, text[:min(len(text), room)]...)
		}
		if !ended {
			return n, nil
		}
		p.flush()
		b = rest
	}
}

// flush ends a line.
func (p *progress) flush() {
	line := strings.TrimRight(cutText(string(p.line), progressLine), "\r")
	p.line = p.line[:0]
	if strings.TrimSpace(line) == "" {
		return
	}
	if p.last = append(p.last, cutText(line, 300)); len(p.last) > progressKept {
		p.last = p.last[1:]
	}
	if p.tell != nil {
		p.tell(line)
	}
}
