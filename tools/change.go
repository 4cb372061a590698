package tools

import (
	"context"
	"io/fs"
)

// changer is a tool that changes one file, here or on another host: how it
// works the change out from the file as it is, what it shows of it before and
// says of it afterwards.
type changer struct {
	plan   func(a *Args, look func() (state, error)) (*change, error)
	show   func(*change) string
	unseen func(*Args) string // shown instead where the file cannot be looked at yet
	done   func(*change) string
}

func (t changer) preview(e *Env, a *Args) (string, error) {
	if a.subject.Host != "" {
		return t.previewOnHost(e, a)
	}
	c, err := t.planHere(e, a)
	if err != nil {
		return "", err
	}
	*a.planned = *c
	return t.show(c), nil
}

func (t changer) run(ctx context.Context, e *Env, a *Args) (Result, error) {
	if a.subject.Host != "" {
		return t.runOnHost(ctx, e, a)
	}
	c := a.planned
	if c.name == "" {
		var err error
		if c, err = t.planHere(e, a); err != nil {
			return Result{}, err
		}
	}
	was := e.Rewind.note(e, c)
	if err := c.apply(ctx); err != nil {
		if !c.touched || c.old.same(c.path, c.name) {
			e.Rewind.unnote(c, was)
		}
		return Result{}, err
	}
	e.seeAgain(c.path)
	return Result{Text: t.done(c)}, nil
}

func (t changer) planHere(e *Env, a *Args) (*change, error) {
	return t.plan(a, func() (state, error) { return e.takeState(a.subject.Paths[0], a.Text("filePath")) })
}

// missing is the error for a file that is not there.
func (s state) missing(c *change) error {
	if s.host != nil {
		return s.host.unfit(c.name)
	}
	return fileError(c.path.Abs, c.name, fs.ErrNotExist)
}
