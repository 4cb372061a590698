package tools

import (
	"errors"
	"fmt"

	"cluade/internal/policy"
)

var edit = Tool{
	Name:    "edit",
	Desc:    "Replace exact text in a file. oldString (no line-number prefixes) must match once unless replaceAll is true.",
	Params:  `{"type":"object","properties":{"filePath":{"type":"string"},"oldString":{"type":"string"},"newString":{"type":"string"},"replaceAll":{"type":"boolean"},"host":{"type":"string"}},"required":["filePath","oldString","newString"]}`,
	Effect:  policy.Write,
	Subject: fileSubject,
	Preview: editing.preview,
	Run:     editing.run,
}

var editing = changer{planEdit, (*change).diff, unseenEdit, doneEdit}

func planEdit(a *Args, look func() (state, error)) (*change, error) {
	from, to := a.Text("oldString"), a.Text("newString")
	switch {
	case from == "":
		return nil, errors.New("oldString is empty; give the text to replace, or use write for the whole file")
	case from == to:
		return nil, errors.New("oldString and newString are identical; nothing to do")
	}
	old, err := look()
	if err != nil {
		return nil, err
	}
	c := &change{path: a.subject.Paths[0], name: a.Text("filePath"), verb: "editing", old: old}
	switch {
	case old.info == nil:
		return nil, old.missing(c)
	case old.data == nil:
		return nil, fmt.Errorf("%s is %d bytes; edit takes files up to 1 MiB, use sed through bash", shown(c.name), old.info.Size())
	}
	return c, c.substitute(from, to, a.Bool("replaceAll"))
}

// unseenEdit is the diff from the one text to the other. Its line numbers are
// not those of the file.
func unseenEdit(a *Args) string {
	c := change{old: state{data: []byte(a.Text("oldString"))}, data: []byte(a.Text("newString"))}
	return c.diff()
}

func doneEdit(c *change) string {
	return fmt.Sprintf("edited %s (%s)", shown(c.name), plural(int64(c.hits), "replacement"))
}
