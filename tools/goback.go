package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"slices"
	"strings"

	"cluade/internal/policy"
)

// Step is what going back means for one file.
type Step struct {
	Path    string // absolute, without links
	Delete  bool   // it was not there before
	Foreign bool   // something else changed it since, or between two changes
	Lost    string // why it stays as it is; "" if it need not
	Diff    string // of a Foreign one: what going back changes, as in a preview

	was *snapshot
	now state
	at  policy.Path
}

// Plan says what has to be done to the files that turn n of Turns, or one after
// it, changed, so that they are what they were before it. What is so already is
// left out. The last changed comes first: a directory that was made is empty when
// its turn comes. Nothing is changed.
func (e *Env) Plan(n int) (steps []Step) {
	for _, s := range e.Rewind.since(n) {
		if step, needed := e.step(s); needed {
			steps = append(steps, step)
		}
	}
	slices.Reverse(steps)
	return steps
}

// since merges the snapshots of turn n and later ones: what a file was before
// the first of them, what the last of them left, and whether something else
// changed it between them.
func (r *Rewind) since(n int) (all []*snapshot) {
	for _, t := range r.turns[n:] {
		for _, s := range t.files {
			i := slices.IndexFunc(all, func(a *snapshot) bool { return a.real == s.real })
			if i < 0 {
				first := *s
				all = append(all, &first)
				continue
			}
			all[i].left = s.left
			all[i].mixed = all[i].mixed || s.mixed || s.found
		}
	}
	return all
}

func (e *Env) step(s *snapshot) (st Step, needed bool) {
	st = Step{Path: s.real, Delete: s.made, Lost: s.lost, was: s}
	if s.lost != "" {
		return st, true
	}
	var err error
	switch st.at, err = e.resolve(s.real); {
	case err != nil:
		st.Lost = err.Error()
	case st.at.Real != s.real:
		st.Lost = "a link leads elsewhere now"
	case st.at.Guard != policy.Open:
		st.Lost = "it is not for tools to write"
	default:
		st.now, err = lookAt(st.at, s.real)
		if fi, statErr := os.Lstat(s.real); err != nil && statErr == nil && !fi.Mode().IsRegular() {
			st.Lost = "something that is no file has taken its place"
		} else if err != nil {
			st.Lost = errnoText(err)
		}
	}
	switch {
	case st.Lost != "":
		return st, true
	case st.now.is(s):
		return st, false
	}
	if st.Foreign = s.mixed || !st.now.leftBy(s); st.Foreign {
		st.Diff = foreignDiff(st.now, s)
	}
	return st, true
}

// foreignDiff shows what going back changes.
func foreignDiff(now state, was *snapshot) string {
	switch {
	case now.info != nil && now.data == nil:
		return "it is larger than 1 MiB now\n"
	case isBinary(now.data) || isBinary(was.data):
		return fmt.Sprintf("not text: %d bytes now, %d before\n", len(now.data), len(was.data))
	case now.info != nil && !was.made && bytes.Equal(now.data, was.data):
		return fmt.Sprintf("mode %v now, %v before\n", now.info.Mode(), was.owner.mode)
	}
	c := change{old: now, data: was.data}
	return c.diff()
}

// lookAt is what a file is like now; it does not wait for ever for a file system
// that does not answer.
func lookAt(p policy.Path, name string) (state, error) {
	return await(context.Background(), readTime, func(context.Context) (state, error) { return readState(p, name) })
}

// is says whether the file is what it was before the turn.
func (s state) is(was *snapshot) bool {
	if was.made || s.info == nil {
		return was.made && s.info == nil
	}
	return s.data != nil && bytes.Equal(s.data, was.data) && s.info.Mode() == was.owner.mode
}

// leftBy says whether the file is what the turn left: the same bytes and, where
// there was one before, the mode of that.
func (s state) leftBy(was *snapshot) bool {
	return s.info != nil && s.data != nil && sha256.Sum256(s.data) == was.left && (was.made || s.info.Mode() == was.owner.mode)
}

// GoBack carries out a step, unless the file is no longer what Plan found. The
// file is replaced as by write: as a whole or not at all.
func (e *Env) GoBack(ctx context.Context, st Step) error {
	if st.Lost != "" {
		return fmt.Errorf("%s: %s", shown(st.Path), st.Lost)
	}
	if p, err := e.resolve(st.Path); err != nil || p != st.at || !st.now.same(p, st.Path) {
		return fmt.Errorf("%s changed meanwhile; nothing was done to it", shown(st.Path))
	}
	if err := st.carryOut(ctx); err != nil {
		return err
	}
	_, seen := e.Seen[st.Path]
	delete(e.Seen, st.Path)
	if fi, err := os.Lstat(st.Path); err == nil && seen {
		e.see(st.Path, Seen{fi.Size(), fi.ModTime()})
	}
	return nil
}

func (st Step) carryOut(ctx context.Context) error {
	if st.Delete {
		if err := os.Remove(st.Path); err != nil {
			return fileError(st.at.Abs, st.Path, err)
		}
		for _, dir := range st.was.dirs {
			os.Remove(dir) // one that holds something else stays
		}
		return nil
	}
	c := change{path: st.at, name: st.Path, verb: "restoring", old: st.now, data: st.was.data, like: &st.was.owner}
	if err := c.apply(ctx); err != nil {
		return err
	}
	if fi, err := os.Lstat(st.Path); err == nil && fi.Mode() != st.was.owner.mode { // written in place
		return os.Chmod(st.Path, st.was.owner.mode)
	}
	return nil
}

// Unchanged takes files out of Changed that are again what they were before the
// first turn that is remembered.
func (e *Env) Unchanged(paths []string) {
	for _, s := range e.Rewind.since(0) {
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == s.real })
	}
	e.Changed = slices.DeleteFunc(e.Changed, func(p string) bool { return slices.Contains(paths, p) })
}

// FileDiff counts the lines in which a file differs from what it was before the
// first turn that is remembered. Note stands in their place where that is not
// known.
type FileDiff struct {
	Path           string
	Added, Removed int
	Note           string
}

// Diff compares the files that this session's tools changed.
func (e *Env) Diff() (list []FileDiff) {
	var known []*snapshot
	if e.Rewind != nil {
		known = e.Rewind.since(0)
	}
	for _, path := range e.Changed {
		d := FileDiff{Path: path, Note: "changed; what it was is not kept"}
		for _, s := range known {
			if s.real == path {
				d = e.compare(s)
			}
		}
		if d.Note != "" || d.Added+d.Removed > 0 {
			list = append(list, d)
		}
	}
	return list
}

func (e *Env) compare(s *snapshot) FileDiff {
	d := FileDiff{Path: s.real, Note: s.lost}
	p, err := e.resolve(s.real)
	if err == nil && p.Real != s.real {
		d.Note = "a link leads elsewhere now"
	}
	if err != nil || d.Note != "" {
		return d
	}
	switch now, err := lookAt(p, s.real); {
	case err != nil:
		d.Note = err.Error()
	case now.info != nil && now.data == nil:
		d.Note = "it is larger than 1 MiB now"
	case isBinary(now.data) || isBinary(s.data):
		d.Note = "not text"
	default:
		_, d.Added, d.Removed = unified(string(s.data), string(now.data))
		if now.info == nil && !s.made {
			d.Note = "deleted"
		}
	}
	return d
}

// Lasting says what a call did that going back does not take back, "" for one
// that changed at most files here. args are as the model wrote them.
func (s Set) Lasting(name, args string) string {
	t := s.find(name)
	if t == nil {
		return name
	}
	a, err := parseArgs(t.Params, args)
	if err != nil {
		return ""
	}
	host := a.Text("host")
	if t.Effect < policy.Execute && (t.Effect != policy.Write || host == "") {
		return ""
	}
	c := Call{Args: a, Subject: policy.Subject{Host: host}}
	return strings.TrimSpace(name + " " + c.Gist())
}
