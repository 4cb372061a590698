package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"cluade/internal/policy"
)

var edit = Tool{
	Name:    "edit",
	Desc:    "Replace exact text in a file. oldString (no line-number prefixes) must match once unless replaceAll is true.",
	Params:  `{"type":"object","properties":{"filePath":{"type":"string"},"oldString":{"type":"string"},"newString":{"type":"string"},"replaceAll":{"type":"boolean"}},"required":["filePath","oldString","newString"]}`,
	Effect:  policy.Write,
	Subject: fileSubject,
	Preview: previewEdit,
	Run:     runEdit,
}

func planEdit(e *Env, a Args) (*change, error) {
	p, name := a.paths[0], a.Text("filePath")
	from, to := a.Text("oldString"), a.Text("newString")
	switch {
	case from == "":
		return nil, errors.New("oldString is empty; give the text to replace, or use write for the whole file")
	case from == to:
		return nil, errors.New("oldString and newString are identical; nothing to do")
	}
	old, err := e.takeState(p, name)
	switch {
	case err != nil:
		return nil, err
	case old.info == nil:
		return nil, fileError(p, name, fs.ErrNotExist)
	case old.data == nil:
		return nil, fmt.Errorf("%s is %d bytes; edit takes files up to 1 MiB, use sed through bash", shown(name), old.info.Size())
	}
	c := &change{path: p, name: name, verb: "editing", old: old}
	return c, c.substitute(from, to, a.Bool("replaceAll"))
}

func previewEdit(e *Env, a Args) (string, error) {
	c, err := planEdit(e, a)
	if err != nil {
		return "", err
	}
	*a.planned = *c
	return c.diff(), nil
}

func runEdit(ctx context.Context, e *Env, a Args) (Result, error) {
	c := a.planned
	if c.name == "" {
		var err error
		if c, err = planEdit(e, a); err != nil {
			return Result{}, err
		}
	}
	if err := c.apply(ctx); err != nil {
		return Result{}, err
	}
	e.seeAgain(c.path)
	return Result{Text: fmt.Sprintf("edited %s (%s)", shown(c.name), plural(int64(c.hits), "replacement"))}, nil
}
