package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// undoSuffix follows the name of a session's file in the name of the file that
// keeps what is needed to undo its last turn.
const undoSuffix = ".undo"

// Undo keeps a record of the files that a turn changes, beside the session;
// first takes the place of what was kept for another turn. Nothing is kept
// outside of the directory of sessions. After an error nothing more of the turn
// is kept, for a gap would hide what follows it.
func (j *Journal) Undo(record []byte, first bool) error {
	if j.path == "" || filepath.Dir(j.path) != j.dir.dir || j.gap && !first {
		return nil
	}
	path := j.path + undoSuffix
	var err error
	if first {
		err = writeFile(path, record, j.dir.sync != "none")
	} else {
		err = appendFile(path, record, j.dir.sync != "none")
	}
	if j.gap = err != nil; err != nil {
		return fmt.Errorf("keep what is needed to undo: %s", why(err))
	}
	return nil
}

// ForgetUndo removes what Undo kept.
func (j *Journal) ForgetUndo() {
	if j.path != "" {
		os.Remove(j.path + undoSuffix)
	}
}

// KeepsUndo says whether sessions keep what is needed to undo their last turn.
func (c *Config) KeepsUndo(p Place) bool {
	if c.undo != "" {
		return c.undo == "true"
	}
	dir := c.SessionsDir
	if dir == "" {
		dir = p.State
	}
	return dir != "" && !OnFlash(dir)
}

func appendFile(path string, data []byte, sync bool) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// Undone is what a finished session kept of its last turn, to be read. The
// session is locked until Close.
type Undone struct {
	ID string
	io.Reader
	held, file *os.File
}

// Undone opens what a session kept; "" means the last one.
func (s *Sessions) Undone(id string) (*Undone, error) {
	if id == "" {
		var err error
		if id, err = s.Latest(); err != nil {
			return nil, err
		}
	}
	e, err := s.find(id)
	if err != nil {
		return nil, err
	}
	held, err := hold(e.path)
	if err != nil {
		return nil, fmt.Errorf("session %s: %s", e.id, why(err))
	}
	f, err := os.OpenFile(e.path+undoSuffix, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		held.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("session %s: nothing is kept that could be undone: it is undone already, its last turn changed no file, or rewind_keep is false in the configuration", e.id)
		}
		return nil, fmt.Errorf("session %s: %s", e.id, why(err))
	}
	if info, err := f.Stat(); err != nil || s.Shared() && !s.ours(info) {
		f.Close()
		held.Close()
		return nil, errors.Join(err, fmt.Errorf("session %s: what is kept to undo belongs to another user", e.id))
	}
	return &Undone{ID: e.id, Reader: f, held: held, file: f}, nil
}

// Close ends the reading. With done what was kept is removed.
func (u *Undone) Close(done bool) error {
	if done {
		os.Remove(u.file.Name())
	}
	return errors.Join(u.file.Close(), u.held.Close())
}

// hold opens and locks a session's file, so that no other process uses it.
func hold(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
