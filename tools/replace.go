package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"cluade/internal/policy"
)

// change is one file's new content, worked out but not yet written. What a
// person was shown is what is written: apply refuses when the file is no
// longer what it was.
type change struct {
	path policy.Path
	name string // as the model wrote it
	verb string // for errors: writing, editing
	old  state
	data []byte
	hits int    // places that an edit changes
	like *owner // mode and owner of the new file; nil: those of the old one

	touched bool // the old file itself was written to
}

// state is what a file was like. info is nil where there was none, data where
// it was larger than 1 MiB.
type state struct {
	info fs.FileInfo
	data []byte
	host *hostFile // of a file on another host
}

// takeState looks at the file that is to be changed. Only a regular file or
// none will do, and none that changed since the model read it.
func (e *Env) takeState(p policy.Path, name string) (state, error) {
	if kernelFS(p.Real) {
		return state{}, fmt.Errorf("%s belongs to the kernel (/proc or /sys); a change there goes through bash", shown(name))
	}
	s, err := await(context.Background(), readTime, func(context.Context) (state, error) { return readState(p, name) })
	if err != nil {
		return state{}, err
	}
	if seen, ok := e.Seen[p.Real]; ok && (s.info == nil || s.info.Size() != seen.Size || !s.info.ModTime().Equal(seen.ModTime)) {
		return state{}, fmt.Errorf("%s changed since it was read; read it again", shown(name))
	}
	if err := syscall.Access(p.Real, 2); s.info != nil && err != nil { // W_OK: a read-only file stays as it is
		return state{}, fileError(p.Abs, name, err)
	}
	return s, nil
}

func readState(p policy.Path, name string) (state, error) {
	f, fi, err := openRegular(p, name)
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	defer f.Close()
	s := state{info: fi}
	if fi.Size() > maxFile {
		return s, nil
	}
	s.data, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return state{}, fileError(p.Abs, name, err)
	}
	if len(s.data) > maxFile {
		s.data = nil
	}
	return s, nil
}

// same says whether the file is still what it was.
func (s state) same(p policy.Path, name string) bool {
	fi, err := os.Lstat(p.Real)
	if s.info == nil || err != nil {
		return s.info == nil && errors.Is(err, fs.ErrNotExist)
	}
	if !fi.Mode().IsRegular() || fi.Size() != s.info.Size() || !fi.ModTime().Equal(s.info.ModTime()) {
		return false
	}
	if s.data == nil {
		return true
	}
	now, err := readState(p, name)
	return err == nil && now.data != nil && bytes.Equal(now.data, s.data)
}

// apply writes the change: into a new file beside the target, which then takes
// its name, so that a full disk or a power cut leaves the old content or the
// new. Mode and owner of an existing file are kept. Where the directory takes
// no new file, or the name is a mount point, it writes in place.
func (c *change) apply(ctx context.Context) error {
	made, err := makeParents(filepath.Dir(c.path.Real))
	if err == nil {
		err = c.replace(ctx)
	}
	if err == nil {
		return nil
	}
	for _, dir := range made {
		os.Remove(dir)
	}
	var ours *pathError
	if errors.As(err, &ours) || ctx.Err() != nil {
		return err
	}
	return &pathError{fmt.Sprintf("%s: %s; nothing was changed", shown(c.name), errnoText(err)), err}
}

// makeParents makes the missing directories of a path and returns them, the
// innermost first.
func makeParents(dir string) (made []string, err error) {
	missing := missingDirs(dir)
	for i := len(missing) - 1; i >= 0; i-- {
		if err := os.Mkdir(missing[i], 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return made, err
		}
		made = append([]string{missing[i]}, made...)
	}
	return made, nil
}

// missingDirs are the directories of a path that are not there, the innermost
// first.
func missingDirs(dir string) (missing []string) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return missing
		}
		missing = append(missing, dir)
	}
}

func (c *change) replace(ctx context.Context) error {
	tmp, err := c.writeBeside()
	if c.old.info != nil && inPlaceHelps(err) {
		return c.writeInPlace()
	}
	if err != nil {
		return err
	}
	if err := c.ready(ctx); err != nil {
		os.Remove(tmp)
		return err
	}
	if err = os.Rename(tmp, c.path.Real); err == nil {
		return nil
	}
	os.Remove(tmp)
	if c.old.info != nil && (errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EBUSY)) {
		return c.writeInPlace()
	}
	return err
}

// inPlaceHelps says whether err means that the directory cannot take a new
// file like the old one. A full disk is no such reason: writing in place would
// lose the old content.
func inPlaceHelps(err error) bool {
	return errors.Is(err, syscall.EACCES) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EROFS)
}

// ready is the last look before the old file goes.
func (c *change) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.old.same(c.path, c.name) {
		text := fmt.Sprintf("%s changed while %s; read it again", shown(c.name), c.verb)
		return &pathError{text, errors.New(text)}
	}
	return nil
}

// writeBeside puts the new content into a new file in the target's directory,
// safely on the disk, and returns its name. Nothing is left after an error.
func (c *change) writeBeside() (string, error) {
	like, mode := c.like, fs.FileMode(0o666) // a new file: as the umask says
	if like == nil && c.old.info != nil {
		old := ownerOf(c.old.info)
		like = &old
	}
	if like != nil {
		mode = 0o600 // until it is known whose it is
	}
	f, err := createBeside(filepath.Dir(c.path.Real), mode)
	if err != nil {
		return "", err
	}
	_, err = f.Write(c.data)
	if err == nil && like != nil {
		err = like.give(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return f.Name(), err
}

// createBeside makes a file under a name that is free. The leading dot keeps
// programs that read whole directories (cron.d, conf.d) from taking it.
func createBeside(dir string, mode fs.FileMode) (*os.File, error) {
	for n := 0; ; n++ {
		name := ".cluade-" + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(n) + ".tmp"
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err == nil || n == 100 || !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// writeInPlace overwrites the old file, or restores it. What goes beyond the
// old length is written first: where the disk is full, that fails while the
// old content is still whole.
func (c *change) writeInPlace() error {
	old := c.old.data
	if old == nil {
		return &pathError{shown(c.name) + ": its directory takes no new file and it is too large to be written in place", syscall.EFBIG}
	}
	f, err := os.OpenFile(c.path.Real, os.O_WRONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err := c.ready(context.Background()); err != nil {
		f.Close()
		return err
	}
	c.touched = true
	if err = overwrite(f, c.data, len(old)); err != nil {
		if overwrite(f, old, 0) != nil {
			err = &pathError{shown(c.name) + ": " + errnoText(err) + "; the old content could not be put back", err}
		}
		os.Chtimes(c.path.Real, time.Time{}, c.old.info.ModTime()) // else it would seem changed by somebody
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// overwrite makes data the content of a file that holds size bytes.
func overwrite(f *os.File, data []byte, size int) error {
	if len(data) > size {
		if _, err := f.WriteAt(data[size:], int64(size)); err != nil {
			return err
		}
	}
	if _, err := f.WriteAt(data[:min(size, len(data))], 0); err != nil {
		return err
	}
	if err := f.Truncate(int64(len(data))); err != nil {
		return err
	}
	return f.Sync()
}

// seeAgain notes a file that was just written.
func (e *Env) seeAgain(p policy.Path) {
	e.change(p.Real)
	delete(e.Seen, p.Real)
	if fi, err := os.Lstat(p.Real); err == nil {
		e.see(p.Real, Seen{fi.Size(), fi.ModTime()})
	}
}
