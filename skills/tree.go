package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

const (
	maxTree  = 200000 // names of a tree that are looked at
	maxFound = 2000   // skills of a tree
)

// Path is where a skill of FindTree is, from the top of its tree.
func (s Skill) Path() string { return below(s.root.real, s.Dir) }

// below is path as seen from dir, in which it lies; both are clean.
func below(dir, path string) string {
	if path == dir {
		return "."
	}
	return strings.TrimPrefix(strings.TrimPrefix(path, dir), "/")
}

// FindTree returns every skill of a tree of files, at any depth. name is that
// of the tree itself, for a skill at its top that has none. Links are not followed, but SKILL.md may be one that stays in
// the tree. A tree that is too large is an error.
func FindTree(dir, name string) (list []Skill, err error) {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, err
	}
	r := &root{Root{Dir: dir}, real, real}
	n := 0
	err = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		switch n++; {
		case err != nil && path == real:
			return err
		case err != nil:
			return nil
		case n > maxTree:
			return fmt.Errorf("it holds more than %d files", maxTree)
		case d.IsDir() && d.Name() == ".git":
			return fs.SkipDir
		case d.IsDir() || d.Name() != fileName:
			return nil
		case len(list) == maxFound:
			return fmt.Errorf("it holds more than %d skills", maxFound)
		}
		s := Skill{Name: name, Dir: filepath.Dir(path), root: r}
		if s.Dir != real {
			s.Name = filepath.Base(s.Dir)
		}
		s.load()
		list = append(list, s)
		return nil
	})
	if err == nil && len(list) == 0 {
		err = errors.New("it holds no " + fileName)
	}
	return list, err
}
