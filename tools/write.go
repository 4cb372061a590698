package tools

import (
	"fmt"
	"path/filepath"
	"strings"

	"cluade/internal/policy"
)

var write = Tool{
	Name:    "write",
	Desc:    "Create or overwrite a file, parents included. Prefer edit for small changes.",
	Params:  `{"type":"object","properties":{"filePath":{"type":"string"},"content":{"type":"string"},"host":{"type":"string"}},"required":["filePath","content"]}`,
	Effect:  policy.Write,
	Subject: fileSubject,
	Preview: writing.preview,
	Run:     writing.run,
}

var writing = changer{planWrite, showWrite, unseenWrite, doneWrite}

// maxFile is the largest file that write makes and edit changes.
const maxFile = 1 << 20

func planWrite(a *Args, look func() (state, error)) (*change, error) {
	p, name, content := a.subject.Paths[0], a.Text("filePath"), a.Text("content")
	if base := filepath.Base(name); strings.HasSuffix(name, "/") || base == "." || base == ".." {
		return nil, fmt.Errorf("%s names a directory; give the name of a file", shown(name))
	}
	if len(content) > maxFile {
		return nil, fmt.Errorf("content is %d bytes, more than 1 MiB; write it in parts or through bash", len(content))
	}
	old, err := look()
	if err != nil {
		return nil, err
	}
	return &change{path: p, name: name, verb: "writing", old: old, data: []byte(content)}, nil
}

func showWrite(c *change) string {
	size := plural(int64(len(c.data)), "byte")
	switch {
	case c.old.info == nil:
		return "new file, " + size + "\n" + added(string(c.data))
	case c.old.data == nil || isBinary(c.old.data):
		return fmt.Sprintf("replaces a file of %s by %s\n%s", plural(c.old.info.Size(), "byte"), size, added(string(c.data)))
	}
	return c.diff()
}

func unseenWrite(a *Args) string {
	return plural(int64(len(a.Text("content"))), "byte") + "\n" + added(a.Text("content"))
}

// added marks the lines of a text as a diff does, so that none of them passes
// for a line of the question.
func added(text string) string {
	if text == "" {
		return ""
	}
	lines := strings.TrimSuffix(text, "\n")
	return "+" + strings.ReplaceAll(lines, "\n", "\n+") + text[len(lines):]
}

func doneWrite(c *change) string { return "wrote " + shown(c.name) }
