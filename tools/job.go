package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"cluade/internal/policy"
	"cluade/internal/proc"
)

var jobTool = Tool{
	Name:    "job",
	Desc:    "Read the new output of a background job (the default), stop it, or list all.",
	Params:  `{"type":"object","properties":{"id":{"type":"integer"},"action":{"type":"string","enum":["read","stop","list"]}},"required":[]}`,
	Effect:  policy.Execute,
	Offered: func(e *Env) bool { return e.HadJobs },
	Run:     runJob,
}

const (
	maxJobs = 8
	jobKeep = 256 << 10 // bytes of a job's output that wait for a read
)

// jobs are the commands that run in the background.
type jobs struct {
	list []*job
	last int // number of the newest one
}

type job struct {
	id      int
	command string
	*proc.Job
}

// startJob starts a command in the background. Its number is what the model
// knows it by.
func (e *Env) startJob(s proc.Spec, command string) (Result, error) {
	if e.jobs == nil {
		e.jobs, e.HadJobs = &jobs{}, true
	}
	forgotten, err := e.jobs.makeRoom()
	if err != nil {
		return Result{}, err
	}
	p, err := proc.Start(s)
	if err != nil {
		return Result{}, startError(err)
	}
	e.jobs.last++
	j := &job{e.jobs.last, command, p}
	e.jobs.list = append(e.jobs.list, j)
	return Result{Text: fmt.Sprintf("[job %d started; job {\"id\":%d} reads its output%s]", j.id, j.id, forgotten)}, nil
}

// makeRoom forgets the oldest job that has ended where there are too many, and
// says so.
func (js *jobs) makeRoom() (forgotten string, err error) {
	if len(js.list) < maxJobs {
		return "", nil
	}
	i := slices.IndexFunc(js.list, func(j *job) bool { running, _ := j.State(); return !running })
	if i < 0 {
		return "", fmt.Errorf("%d jobs run already; stop one first", maxJobs)
	}
	forgotten = fmt.Sprintf("; job %d, which had ended, is forgotten", js.list[i].id)
	js.list = append(js.list[:i], js.list[i+1:]...)
	return forgotten, nil
}

// EndJobs ends the jobs of a session that is over, and returns the commands of
// those that still ran, one line each.
func (e *Env) EndJobs() (ended []string) {
	if e.jobs == nil {
		return nil
	}
	for _, j := range e.jobs.list {
		if running, _ := j.State(); running {
			ended = append(ended, fmt.Sprintf("%d (%s)", j.id, cutText(oneLineOf(j.command), 60)))
			j.End() // all at once: each may take seconds
		}
	}
	for _, j := range e.jobs.list {
		<-j.Done()
	}
	e.jobs.list = nil
	return ended
}

// Jobs shows the jobs, one a line.
func (e *Env) Jobs() (lines []string) {
	if e.jobs == nil {
		return nil
	}
	for _, j := range e.jobs.list {
		lines = append(lines, fmt.Sprintf("%d  %s  %s", j.id, j.status(), cutText(oneLineOf(j.command), 200)))
	}
	return lines
}

func oneLineOf(s string) string { return strings.Join(strings.Fields(s), " ") }

// status says in a few words how a job is.
func (j *job) status() string {
	running, r := j.State()
	switch {
	case running:
		return fmt.Sprintf("runs, %d s", int(r.Elapsed/time.Second))
	case r.TimedOut:
		return "timed out; process group killed"
	case r.Cancelled:
		return "stopped"
	}
	return fmt.Sprintf("ended, exit code: %d", r.Exit)
}

func runJob(_ context.Context, e *Env, a *Args) (Result, error) {
	action := a.Text("action")
	if action == "" {
		action = "read"
		if !a.Has("id") {
			action = "list"
		}
	}
	if action == "list" {
		if list := e.Jobs(); len(list) > 0 {
			return Result{Text: strings.Join(list, "\n")}, nil
		}
		return Result{Text: "(no jobs)"}, nil
	}
	j, err := e.findJob(a)
	if err != nil {
		return Result{}, err
	}
	if action == "stop" {
		j.End()
		<-j.Done()
	}
	return Result{Text: j.read(e)}, nil
}

// findJob is the job that a call means: the only one, if it names none.
func (e *Env) findJob(a *Args) (*job, error) {
	if e.jobs == nil || len(e.jobs.list) == 0 {
		return nil, errors.New(`there are no jobs; bash starts one with "background"`)
	}
	var ids []string
	for _, j := range e.jobs.list {
		if int64(j.id) == a.Int("id") || !a.Has("id") && len(e.jobs.list) == 1 {
			return j, nil
		}
		ids = append(ids, fmt.Sprint(j.id))
	}
	if !a.Has("id") {
		return nil, errors.New("id is missing; there are jobs " + strings.Join(ids, ", "))
	}
	return nil, fmt.Errorf("there is no job %d, but %s", a.Int("id"), strings.Join(ids, ", "))
}

// read is what the model reads of a job: its new output, what is to be known of
// that, and how the job is. It looks at the job before the output: what ended
// in between is told by the next read.
func (j *job) read(e *Env) string {
	status := fmt.Sprintf("job %d %s", j.id, j.status())
	out := j.Read(e.outputRoom([]string{status}))
	var notes []string
	text := "(no new output)"
	if out.Text != "" {
		text = bashOutput(proc.Result{Head: out.Text, Total: int64(len(out.Text))})
	}
	if out.Dropped > 0 {
		text = fmt.Sprintf("[%d bytes of older output were dropped]\n", out.Dropped) + text
	}
	if out.Open > 0 {
		notes = append(notes, "the last line has no end yet: "+plural(int64(out.Open), "byte"))
	}
	if out.Waiting > 0 {
		notes = append(notes, plural(int64(out.Waiting), "more byte")+" wait; read again")
	}
	return withNotes(text, append(notes, status))
}
