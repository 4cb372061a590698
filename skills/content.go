package skills

import (
	"errors"
	"io/fs"
	"path/filepath"
)

const (
	maxFiles = 100  // names of a skill's other files that are told
	maxWalk  = 2000 // of them that are counted
)

// Content is what a skill gives when it is used. The texts are as they stand in
// the files.
type Content struct {
	Body  string
	Files []string // the other files, relative to the skill's directory
	More  int      // files beyond those; counted up to a bound
}

// Load reads a skill of Find again. It is an error if it can no longer be read.
func (s Skill) Load() (Content, error) {
	if s.root == nil || s.Fault != "" {
		return Content{}, errors.New("the skill cannot be used: " + s.Fault)
	}
	text, err := s.read()
	if err != nil {
		return Content{}, err
	}
	_, body, err := parse(text)
	if err != nil {
		return Content{}, err
	}
	c := Content{Body: body}
	c.list(s.Dir)
	return c, nil
}

// list names the files of a directory in their order. It follows no link.
func (c *Content) list(dir string) {
	n := 0
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; n > maxWalk {
			return fs.SkipAll
		}
		rel := below(dir, path)
		switch {
		case err != nil || rel == fileName || rel == ".":
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir():
		case len(c.Files) < maxFiles:
			c.Files = append(c.Files, rel)
		default:
			c.More++
		}
		return nil
	})
}
