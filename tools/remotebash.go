package tools

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cluade/internal/policy"
)

var remoteBash = Tool{
	Name:    "remote_bash",
	Desc:    "Run a command on another host over SSH (keys only). The file tools take host too.",
	Params:  `{"type":"object","properties":{"host":{"type":"string"},"command":{"type":"string"},"username":{"type":"string"},"port":{"type":"integer"},"timeout":{"type":"integer"}},"required":["host","command"]}`,
	Effect:  policy.Execute,
	Subject: remoteBashSubject,
	Preview: previewRemoteBash,
	Run:     runRemoteBash,
}

const remoteTimeout = 30 * time.Second // when neither call nor configuration has one

// remoteBashSubject names the host as it will be dialled. Of files only the
// person's SSH configuration is read for it.
func remoteBashSubject(e *Env, a *Args) (policy.Subject, error) {
	command := a.Text("command")
	switch {
	case strings.TrimSpace(command) == "":
		return policy.Subject{}, errors.New("the command is empty")
	case strings.IndexByte(command, 0) >= 0:
		return policy.Subject{}, errors.New("the command holds a NUL byte, which no program can be given")
	}
	if _, err := e.remoteTimeout(a); err != nil {
		return policy.Subject{}, err
	}
	sub, err := e.remoteSubject(a)
	sub.Command = command
	return sub, err
}

func (e *Env) remoteTimeout(a *Args) (time.Duration, error) {
	if a.Has("timeout") {
		return callTimeout(e, a)
	}
	return e.sshTimeout(), nil
}

func (e *Env) sshTimeout() time.Duration {
	if e.SSH.Timeout > 0 {
		return e.SSH.Timeout
	}
	return remoteTimeout
}

// previewRemoteBash connects to nothing.
func previewRemoteBash(e *Env, a *Args) (string, error) {
	way, notes, err := e.remoteRoute(a)
	if err != nil {
		return "", err
	}
	timeout, err := e.remoteTimeout(a)
	if err != nil {
		return "", err
	}
	text := a.Text("command")
	if len(way) > 1 {
		text += "\nthrough: " + way[:len(way)-1].String()
	}
	for _, n := range notes {
		text += "\nnote: " + n
	}
	return fmt.Sprintf("%s\ntimeout: %g s", text, timeout.Seconds()), nil
}

func runRemoteBash(ctx context.Context, e *Env, a *Args) (Result, error) {
	timeout, err := e.remoteTimeout(a)
	if err != nil {
		return Result{}, err
	}
	way, notes, err := e.remoteRoute(a)
	if err != nil {
		return Result{}, err
	}
	c, news, err := e.connect(ctx, way)
	notes = append(notes, news...)
	var r remoteResult
	if err == nil {
		r, err = c.run(ctx, remoteSpec{
			command: a.Text("command"),
			timeout: timeout,
			keep:    e.outputRoom(notes),
			kill:    maxOutput,
		})
	}
	if err != nil {
		return Result{}, errors.New(withNotes(fmt.Sprintf("ssh %s: %s", way.target(), err), notes))
	}
	return Result{Text: withNotes(bashOutput(r.Result), append(notes, remoteNotes(r, timeout)...)), Failed: !r.ended || bashFailed(r.Result)}, nil
}

// remoteNotes says what is to be known of a command's end. A host need not end
// a command because it is asked to.
func remoteNotes(r remoteResult, timeout time.Duration) []string {
	fate := "it may still run on the host"
	if r.ended {
		fate = "ended on the host"
	}
	var notes []string
	switch {
	case r.TimedOut:
		notes = append(notes, fmt.Sprintf("timed out after %gs; %s", timeout.Seconds(), fate))
	case r.Flooded:
		notes = append(notes, fmt.Sprintf("more than %d MiB of output; %s", maxOutput>>20, fate))
	case r.Cancelled:
		notes = append(notes, "interrupted, connection closed; "+fate)
	case !r.ended:
		notes = append(notes, "the connection ended before the command did; "+fate)
	case r.Exit != 0:
		notes = append(notes, fmt.Sprintf("exit code: %d", r.Exit))
	}
	if r.Held {
		notes = append(notes, heldNote)
	}
	return notes
}
