// Package tools holds what the model can do to the world: one file a tool, one
// table. A tool never asks for permission and knows neither agent nor model;
// it is handed parsed arguments and an Env. Everything it reads is bounded
// while it is read. Results are raw text: the agent cleans and clips them.
package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cluade/internal/policy"
	"cluade/internal/proc"
	"cluade/skills"
)

// ErrNoMatch and ErrManyMatches are why an edit did not apply.
var (
	ErrNoMatch     = errors.New("no match")
	ErrManyMatches = errors.New("more than one match")
)

// Tool is one capability. Params is its JSON Schema, written by hand and sent
// verbatim; it is also what arguments are checked against. Describe, when not
// nil, replaces Desc with a text that fits this device. Subject may leave the
// tool's name and effect to Parse, and be nil when a call touches nothing that
// could be named.
type Tool struct {
	Name, Desc string
	Params     string
	Effect     policy.Effect
	Offered    func(*Env) bool // whether the model is told of it; nil always
	Describe   func(*Env) string
	Subject    func(*Env, *Args) (policy.Subject, error)
	Preview    func(*Env, *Args) (string, error) // what the approver reads; fails where Run could not succeed
	Run        func(context.Context, *Env, *Args) (Result, error)
}

// Result is what the model reads back. Failed marks a result that is no
// success for the loop detector although its text does not begin "error: ":
// a command not found, killed, or stopped by its time limit. Usage is what the
// call spent on models; it counts whatever became of the call.
type Result struct {
	Text   string
	Failed bool
	Usage  Usage
}

// Env is where tools work; one value a session, used by one call at a time.
type Env struct {
	Dir         string                                      // the working directory, absolute
	Home        string                                      // the person's home, for ~/; "" if there is none
	State       string                                      // cluade's state directory; "" if there is none
	Session     string                                      // the journal of the current session, which may be read
	Saved       string                                      // the directory outside State where sessions are saved; only what is named like one is hidden there, for it may be /tmp
	Hidden      func(by policy.Subject, f policy.Path) bool // what glob and grep leave out because a rule refuses it, or asks about it and not about the call; nil is nothing
	Private     []string                                    // files and directories outside State that no tool may read: history, keys
	Project     string                                      // the git root that holds Dir, else Dir
	Keep        int                                         // most bytes of a result; 0: 30720
	Timeout     time.Duration
	Sandbox     proc.Sandbox // of commands
	MustConfine bool         // no command runs where Sandbox is not in force
	Vars        []string     // the environment of children
	Seen        map[string]Seen
	Web         Web
	SSH         SSH
	Tell        func(string)  // says a sentence to the person; nil says nothing
	Changed     []string      // files that write, edit and subagents changed, absolute
	Skills      []skills.Root // where skills are looked for
	Rewind      *Rewind       // what files were before; nil remembers nothing

	Subagent Subagent
	HadJobs  bool // a command was started in the background, in an earlier run of the session too

	remote *remotes // made by the first connection to another host
	jobs   *jobs    // made by the first command of this run in the background
}

// Seen is what a file was like when the model last read or wrote it, so that a
// change by somebody else is noticed. Keyed by Path.Real.
type Seen struct {
	Size    int64
	ModTime time.Time
}

// defaultKeep is the size of a result when Env does not say.
const defaultKeep = 30720

// keep is the most bytes of a result.
func (e *Env) keep() int {
	if e.Keep > 0 {
		return e.Keep
	}
	return defaultKeep
}

// Set is a list of tools in the order in which the model is told of them.
type Set []*Tool

// Builtin are the tools of this program.
var Builtin = Set{&read, &write, &edit, &bash, &glob, &grep, &webSearch, &webFetch, &remoteBash, &skill, &subagent, &jobTool}

// Call is one request of the model whose arguments were checked and whose
// subject is known. Nothing was opened or run for it.
type Call struct {
	Tool    *Tool
	Args    *Args
	Subject policy.Subject
	env     *Env
}

// Parse finds the tool, checks the arguments (a JSON object, no key twice,
// required ones present, types right) and names the subject. No file is opened.
// The error is a sentence for the model.
func (s Set) Parse(env *Env, name, args string) (*Call, error) {
	t := s.find(name)
	if t == nil {
		return nil, fmt.Errorf("unknown tool %q; available: %s", name, strings.Join(s.names(), ", "))
	}
	a, err := parseArgs(t.Params, args)
	if err != nil {
		return nil, err
	}
	c := &Call{Tool: t, Args: a, env: env}
	if t.Subject != nil {
		if c.Subject, err = t.Subject(env, a); err != nil {
			return nil, err
		}
	}
	c.Subject.Tool, c.Subject.Effect = t.Name, t.Effect
	if c.Subject.Host != "" {
		elsewhere(&c.Subject)
	}
	c.Args.subject = c.Subject
	return c, nil
}

func (s Set) find(name string) *Tool {
	for _, t := range s {
		if t.Name == name {
			return t
		}
	}
	return nil
}

func (s Set) names() []string {
	var names []string
	for _, t := range s {
		names = append(names, t.Name)
	}
	return names
}

// Preview is what a person reads before the call runs; it fails where the call
// could not succeed, so that nobody is asked in vain. A tool without a preview
// of its own shows its arguments as indented JSON.
func (c *Call) Preview() (string, error) {
	if c.Tool.Preview == nil {
		return indentJSON(c.Args.raw), nil
	}
	return c.Tool.Preview(c.env, c.Args)
}

// Gist is the argument that says most (path, command, host), one line of at
// most 200 bytes, not cleaned.
func (c *Call) Gist() string {
	for _, name := range []string{"filePath", "command", "pattern", "url", "query", "name", "prompt"} {
		text := strings.Join(strings.Fields(c.Args.Text(name)), " ")
		if text != "" && c.Subject.Host != "" {
			text = c.Subject.Host + " " + text
		}
		if text != "" {
			return cutText(text, 200)
		}
	}
	return ""
}

// Run does it. A panic is the caller's to recover.
func (c *Call) Run(ctx context.Context) (Result, error) { return c.Tool.Run(ctx, c.env, c.Args) }
