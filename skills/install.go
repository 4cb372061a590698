package skills

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	maxCopied  = 10000    // files and directories of one skill
	maxCopySum = 64 << 20 // bytes of one skill

	unfinished = ".import-" // begins the name of what is not yet a skill
)

// Importer puts skills into a directory, each in one of its name without the dots
// that begin it, which would hide it. What is there already stays unless Force is set, and then until the new one is complete.
type Importer struct {
	Dest                string
	Force, Link, DryRun bool

	names []string // of directories that were made there, or would have been
	swept bool
}

// Put copies or links a skill of FindTree, and says what was done, or in a dry
// run what would be: "installed", "linked", "replaced", or "skipped" with the
// reason. With an error nothing changed. A skill with a Fault is copied too.
func (im *Importer) Put(ctx context.Context, s Skill) (done string, err error) {
	if !validName(s.Name) {
		return "", fmt.Errorf("it needs a name of 1 to %d letters, digits, dots, underscores and hyphens", maxName)
	}
	name := strings.TrimLeft(s.Name, ".")
	if slices.Contains(im.names, name) {
		return "skipped, another one of this name came before", nil
	}
	im.names = append(im.names, name)
	c := copier{ctx: ctx, from: s.Dir}
	if !im.Link {
		if err := c.plan(); err != nil {
			return "", err
		}
	}
	target := filepath.Join(im.Dest, name)
	done = "installed"
	if im.Link {
		done = "linked"
	}
	if fi, err := os.Lstat(target); err == nil {
		real, _ := filepath.EvalSymlinks(target)
		isLink := fi.Mode()&fs.ModeSymlink != 0
		switch {
		case real == s.Dir && (im.Link || !isLink):
			return "skipped, it is the same one", nil
		case !im.Force:
			return "skipped, it is there already", nil
		case real != "" && inside(real, s.Dir) && !isLink:
			return "", errors.New("it lies in the one that it would replace")
		}
		done = "replaced"
	}
	if im.DryRun {
		return done, nil
	}
	if !im.swept {
		sweep(im.Dest)
		im.swept = true
	}
	return done, im.put(&c, target)
}

// sweep removes what imports left that were killed, unless it may be the last
// copy of a skill that was there.
func sweep(dest string) {
	for _, name := range listed(dest) {
		dir := filepath.Join(dest, name)
		if !strings.HasPrefix(name, unfinished) {
			continue
		}
		if lock := lockDir(dir); lock != nil {
			_, noNew := os.Lstat(filepath.Join(dir, "new"))
			if _, noOld := os.Lstat(filepath.Join(dir, "old")); noNew != nil || noOld != nil {
				os.RemoveAll(dir)
			}
			lock.Close()
		}
	}
}

// lockDir opens a directory and keeps others from it who ask, nil if another
// process does. Closing it, or the end of the process, frees it.
func lockDir(dir string) *os.File {
	d, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil
	}
	if syscall.Flock(int(d.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		d.Close()
		return nil
	}
	return d
}

// put makes the skill beside its place and then exchanges it for what is there.
func (im *Importer) put(c *copier, target string) error {
	tmp, err := os.MkdirTemp(im.Dest, unfinished)
	if err != nil {
		return err
	}
	if lock := lockDir(tmp); lock != nil {
		defer lock.Close()
	}
	fresh, old := filepath.Join(tmp, "new"), filepath.Join(tmp, "old")
	if im.Link {
		err = os.Symlink(c.from, fresh)
	} else {
		err = c.copy(fresh)
	}
	if err == nil {
		err = exchange(fresh, target, old)
	}
	if _, lost := os.Lstat(target); err != nil && lost != nil {
		if _, kept := os.Lstat(old); kept == nil {
			return fmt.Errorf("%w; what was there is in %s", err, old)
		}
	}
	os.RemoveAll(tmp)
	return err
}

// exchange moves fresh to target, and what is there to old.
func exchange(fresh, target, old string) error {
	moved := os.Rename(target, old)
	if moved != nil && !errors.Is(moved, fs.ErrNotExist) {
		return moved
	}
	err := os.Rename(fresh, target)
	if err != nil && moved == nil {
		os.Rename(old, target)
	}
	return err
}

// copier copies one directory. It knows beforehand what of it.
type copier struct {
	ctx     context.Context
	from    string
	entries []entry
}

// entry is a file, directory or link, named from the directory's top.
type entry struct {
	name string
	mode fs.FileMode
	link string // what it points to, from where it stands
}

// plan lists what is to be copied. A skill that would not be complete, or not
// safe, as a copy is refused: with links that lead out of it, devices and the
// like, or too much.
func (c *copier) plan() error {
	sum := int64(0)
	return filepath.WalkDir(c.from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == c.from {
			return nil
		}
		e := entry{name: below(c.from, path), mode: d.Type()}
		switch {
		case d.IsDir() && (d.Name() == ".git" || strings.HasPrefix(d.Name(), unfinished)):
			return fs.SkipDir
		case e.mode&fs.ModeSymlink != 0:
			e.link, err = c.linkOf(e.name)
		case e.mode.IsRegular():
			var fi fs.FileInfo
			if fi, err = d.Info(); err == nil {
				e.mode = fi.Mode()
				sum += fi.Size()
			}
		case !d.IsDir():
			err = errors.New("it is neither file nor directory")
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", e.name, err)
		case len(c.entries) == maxCopied || sum > maxCopySum:
			return fmt.Errorf("it is larger than %d files or %d bytes", maxCopied, maxCopySum)
		}
		c.entries = append(c.entries, e)
		return nil
	})
}

// linkOf is what a link of the copy says: the same place, seen from where the
// link stands.
func (c *copier) linkOf(name string) (string, error) {
	path := filepath.Join(c.from, name)
	text, err := os.Readlink(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", errors.New("the link leads nowhere")
	}
	if filepath.IsAbs(text) || !inside(c.from, real) {
		return "", errors.New("the link leads out of the skill")
	}
	return filepath.Join(strings.Repeat("../", strings.Count(name, "/")), below(c.from, real)), nil
}

// copy makes the directory to. Links come last, so that nothing is written
// through one where the file system takes two spellings for one name.
func (c *copier) copy(to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	for _, links := range []bool{false, true} {
		for _, e := range c.entries {
			var err error
			target := filepath.Join(to, e.name)
			switch {
			case c.ctx.Err() != nil:
				return context.Cause(c.ctx)
			case links != (e.mode&fs.ModeSymlink != 0):
			case links:
				err = os.Symlink(e.link, target)
			case e.mode.IsDir():
				err = os.Mkdir(target, 0o755)
			default:
				err = copyFile(filepath.Join(c.from, e.name), target, e.mode)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFile copies a regular file, of whose mode only the right to run it counts.
func copyFile(from, to string, mode fs.FileMode) error {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	if fi, err := in.Stat(); err != nil || !fi.Mode().IsRegular() {
		return errors.Join(err, fmt.Errorf("%s is no longer a regular file", from))
	}
	return writeFile(to, io.LimitReader(in, maxCopySum), mode)
}

// writeFile makes a file that is not there yet.
func writeFile(path string, text io.Reader, mode fs.FileMode) error {
	perm := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		perm = 0o755
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, text)
	return errors.Join(err, out.Close())
}
