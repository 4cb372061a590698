package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"cluade/internal/policy"
)

const (
	maxEntries = 200000
	walkTime   = 10 * time.Second
	walkGrace  = 2 * time.Second // after walkTime a file system that does not answer is given up
)

// walker goes through directories for glob and grep, in the order of the full
// names. It stays within its budgets, never enters a directory link that the
// pattern does not name, and passes by what nobody asked for. Directories that
// cannot be read are noted and cost nothing else.
type walker struct {
	ctx     context.Context
	guard   *guard
	segs    []segment
	sets    [][]int          // positions in segs
	visit   func(found) bool // false ends the walk
	until   time.Time
	entries int
	stopped string   // why the walk ended before its end
	locked  int      // how much could not be read
	sample  []string // the first of that, as shown
}

// found is one entry that fits the pattern.
type found struct {
	show string // in the form of the pattern
	path string // to open it by; links in its directories are resolved
	abs  string // with the links of the path that the walk began at
	mode fs.FileMode
}

// place is a directory on the walk: the beginning of the names to show, its
// path without links, and the one by which it was named.
type place struct{ show, path, named string }

func newWalker(ctx context.Context, e *Env, by *policy.Subject, visit func(found) bool) *walker {
	return &walker{ctx: ctx, guard: newGuard(e, by), visit: visit, until: time.Now().Add(walkTime)}
}

// walk visits what fits segs below dir.
func (w *walker) walk(dir place, segs []segment) bool {
	w.segs = segs
	return w.directory(dir, w.closure([]int{0}))
}

// closure adds to positions in the pattern those that ** reaches by standing
// for nothing.
func (w *walker) closure(at []int) []int {
	for i := 0; i < len(at); i++ {
		if at[i] < len(w.segs) && w.segs[at[i]].kind == anyDepth && !slices.Contains(at, at[i]+1) {
			at = append(at, at[i]+1)
		}
	}
	return at
}

// step is something to do with an entry of a directory. The directory d and
// the file d.x stand in the order of "d", "d.x", "d/...".
type step struct {
	key  string // the name, with a slash when the step goes into it
	mode fs.FileMode
	into int32 // number of the positions to go into the directory with, from 1; 0: visit
}

// steps are in the order of their keys.
type steps []step

func (s steps) Len() int           { return len(s) }
func (s steps) Less(i, j int) bool { return s[i].key < s[j].key }
func (s steps) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }

// directory matches the entries of dir against the positions at, all at once,
// so that each directory is read once.
func (w *walker) directory(dir place, at []int) bool {
	var steps steps
	w.entriesOf(dir, at, func(e entry) { steps = w.appendSteps(steps, dir, e, at) })
	sort.Sort(steps)
	for _, s := range steps {
		if !w.within() {
			return false
		}
		f := dir.entry(entry{strings.TrimSuffix(s.key, "/"), s.mode})
		if s.into == 0 {
			if !w.visit(f) {
				return false
			}
			continue
		}
		next := place{f.show + "/", f.path, f.abs}
		if f.mode.Type() == fs.ModeSymlink {
			var err error
			if next.path, err = realPath(f.path); err != nil {
				continue
			}
		}
		if !w.directory(next, w.sets[s.into-1]) {
			return false
		}
	}
	return w.stopped == ""
}

// entry is one name in a directory. Of mode only the type counts.
type entry struct {
	name string
	mode fs.FileMode
}

func (p place) entry(e entry) found {
	return found{p.show + e.name, filepath.Join(p.path, e.name), filepath.Join(p.named, e.name), e.mode}
}

func (w *walker) appendSteps(steps []step, dir place, e entry, at []int) []step {
	path := filepath.Join(dir.path, e.name)
	real := path
	if e.mode.Type() == fs.ModeSymlink && w.guard.rules != nil {
		if target, err := realPath(path); err == nil {
			real = target
		}
	}
	if w.guard.byName(path) == policy.NoRead && path != w.guard.session || w.guard.forbids(filepath.Join(dir.named, e.name), real) {
		return steps
	}
	var next, named []int // positions behind the entry; those reached by its literal name
	for _, pos := range at {
		if pos == len(w.segs) {
			continue
		}
		switch seg := w.segs[pos]; {
		case seg.kind == anyDepth:
			next = append(next, pos)
		case seg.kind == literal && seg.text == e.name:
			named = append(named, pos+1)
		case seg.kind == wild && matchName(seg.text, e.name):
			next = append(next, pos+1)
		}
	}
	into := w.closure(append(next, named...))
	if slices.Contains(into, len(w.segs)) {
		steps = append(steps, step{key: e.name, mode: e.mode})
	}
	if e.mode.Type() == fs.ModeSymlink || skipped(dir.path, e.name) {
		into = w.closure(named)
	}
	goesOn := slices.ContainsFunc(into, func(pos int) bool { return pos < len(w.segs) })
	if goesOn && leadsToDir(dir.entry(e)) {
		steps = append(steps, step{e.name + "/", e.mode, w.set(into)})
	}
	return steps
}

// set is the number of a set of positions. There are few, and a directory may
// have very many entries.
func (w *walker) set(at []int) int32 {
	for i, s := range w.sets {
		if slices.Equal(s, at) {
			return int32(i + 1)
		}
	}
	w.sets = append(w.sets, at)
	return int32(len(w.sets))
}

// skipped names the directories that are entered only when the pattern names
// them.
func skipped(dir, name string) bool {
	switch name {
	case ".git", "node_modules":
		return true
	case "proc", "sys", "dev":
		return dir == "/"
	}
	return false
}

func leadsToDir(f found) bool {
	if f.mode.Type() != fs.ModeSymlink {
		return f.mode.IsDir()
	}
	fi, err := os.Stat(f.path)
	return err == nil && fi.IsDir()
}

// entriesOf hands on the entries of dir that may fit, one by one: a directory
// may have more than memory should hold. Literal names are looked up where they
// were not listed: a directory may allow the one and not the other.
func (w *walker) entriesOf(dir place, at []int, add func(entry)) {
	var names []string // literal ones that were not listed
	list := false
	for _, pos := range at {
		switch {
		case pos == len(w.segs):
		case w.segs[pos].kind != literal:
			list = true
		case !slices.Contains(names, w.segs[pos].text):
			names = append(names, w.segs[pos].text)
		}
	}
	if list {
		err := w.list(dir, func(e entry) {
			names = slices.DeleteFunc(names, func(name string) bool { return name == e.name })
			add(e)
		})
		if err != nil {
			w.lock(dir.show, err)
		}
	}
	for _, name := range names {
		w.entries++
		if fi, err := os.Lstat(filepath.Join(dir.path, name)); err == nil {
			add(entry{name, fi.Mode().Type()})
		}
	}
}

// list reads a directory, unless it is cluade's own by another name.
func (w *walker) list(dir place, add func(entry)) error {
	// The flags keep it from opening, and waiting for, anything else.
	d, err := os.OpenFile(dir.path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	if fi, err := d.Stat(); err != nil || w.guard.hides(dir.path, fi) {
		return err
	}
	for w.within() {
		some, err := d.ReadDir(256)
		for _, e := range some {
			add(entry{e.Name(), e.Type()})
		}
		w.entries += len(some)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// within says whether the budgets still hold.
func (w *walker) within() bool {
	switch {
	case w.stopped != "":
	case w.ctx.Err() != nil:
		w.stopped = "cancelled"
	case w.entries > maxEntries:
		w.stopped = fmt.Sprintf("stopped after %d entries", maxEntries)
	case time.Now().After(w.until):
		w.stopped = fmt.Sprintf("stopped after %s and %d entries", walkTime, w.entries)
	}
	return w.stopped == ""
}

// lock notes what could not be read. What is not there, or is no directory, is
// no news: nothing in it matches.
func (w *walker) lock(show string, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	w.locked++
	if show = strings.TrimSuffix(show, "/"); show == "" {
		show = "."
	}
	if len(w.sample) < 3 {
		w.sample = append(w.sample, cutText(shown(show), 200))
	}
}

// notes says what the listing does not show, a line each.
func (w *walker) notes() []string {
	var notes []string
	if w.locked > 0 {
		names := strings.Join(w.sample, ", ")
		if w.locked > len(w.sample) {
			names += ", ..."
		}
		notes = append(notes, fmt.Sprintf("[%s could not be read: %s]", plural(int64(w.locked), "path"), names))
	}
	if w.stopped != "" {
		notes = append(notes, "["+w.stopped+"; there may be more, narrow the pattern or path]")
	}
	return notes
}
