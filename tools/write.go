package tools

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"cluade/internal/policy"
)

var write = Tool{
	Name:    "write",
	Desc:    "Create or overwrite a file, parents included. Prefer edit for small changes.",
	Params:  `{"type":"object","properties":{"filePath":{"type":"string"},"content":{"type":"string"}},"required":["filePath","content"]}`,
	Effect:  policy.Write,
	Subject: fileSubject,
	Preview: previewWrite,
	Run:     runWrite,
}

// maxFile is the largest file that write makes and edit changes.
const maxFile = 1 << 20

func planWrite(e *Env, a Args) (*change, error) {
	p, name, content := a.paths[0], a.Text("filePath"), a.Text("content")
	if base := filepath.Base(name); strings.HasSuffix(name, "/") || base == "." || base == ".." {
		return nil, fmt.Errorf("%s names a directory; give the name of a file", shown(name))
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("content is %d bytes, more than 1 MiB; write it in parts or through bash", len(content))
	}
	old, err := e.takeState(p, name)
	if err != nil {
		return nil, err
	}
	return &change{path: p, name: name, verb: "writing", old: old, data: []byte(content)}, nil
}

func previewWrite(e *Env, a Args) (string, error) {
	c, err := planWrite(e, a)
	if err != nil {
		return "", err
	}
	*a.planned = *c
	size := plural(int64(len(c.data)), "byte")
	switch {
	case c.old.info == nil:
		return "new file, " + size + "\n" + string(c.data), nil
	case c.old.data == nil || isBinary(c.old.data):
		return fmt.Sprintf("replaces a file of %s by %s\n%s", plural(c.old.info.Size(), "byte"), size, c.data), nil
	}
	return c.diff(), nil
}

func runWrite(ctx context.Context, e *Env, a Args) (Result, error) {
	c := a.planned
	if c.name == "" {
		var err error
		if c, err = planWrite(e, a); err != nil {
			return Result{}, err
		}
	}
	if err := c.apply(ctx); err != nil {
		return Result{}, err
	}
	e.seeAgain(c.path)
	return Result{Text: "wrote " + shown(c.name)}, nil
}
