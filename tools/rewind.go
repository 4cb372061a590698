package tools

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// maxSnapshot is the largest file of which a snapshot is taken.
const maxSnapshot = 400 << 10

// Rewind remembers what files were like before write and edit changed them,
// turn by turn, so that a person can go back. It does not see what commands
// change, nor files on other hosts. A nil Rewind remembers nothing.
type Rewind struct {
	Max int // bytes of old content that are kept together; beyond it the oldest goes
	// Log keeps a record for a later run; first says that it begins a turn and
	// that those of the turn before may go. nil keeps none.
	Log func(record []byte, first bool)

	turns   []rewindTurn
	size    int  // bytes kept
	logged  int  // bytes logged for the present turn
	running bool // a turn goes on
	told    bool // that snapshots were dropped
}

type rewindTurn struct {
	Turn
	files []*snapshot
}

// Turn is one to which a person can go back. Start is how many messages the
// transcript had before it, -1 where that part of it is no longer there; Files
// is how many files it changed.
type Turn struct {
	Start int
	Input string
	Files int
}

// snapshot is a file as a turn found it, with what is to tell later whether it
// still is as the turn left it.
type snapshot struct {
	real  string
	made  bool // the turn made it; dirs are the directories made with it, innermost first
	dirs  []string
	data  []byte
	owner owner
	lost  string   // why data is not there
	left  [32]byte // SHA-256 of what the turn wrote last
	found bool     // something else had changed it since an earlier turn did
	mixed bool     // something else changed it between two writes of the turn
}

// Begin opens a turn whose first message is number start. Turns that the
// transcript no longer has are forgotten.
func (r *Rewind) Begin(start int, input string) {
	if r == nil {
		return
	}
	for len(r.turns) > 0 && r.turns[len(r.turns)-1].Start >= start {
		r.Forget(len(r.turns) - 1)
	}
	r.turns = append(r.turns, rewindTurn{Turn: Turn{Start: start, Input: input}})
	r.running, r.logged = true, 0
}

// TakeBack forgets the turn that was begun last: nothing came of it.
func (r *Rewind) TakeBack() {
	if r != nil && len(r.turns) > 0 {
		r.Forget(len(r.turns) - 1)
	}
}

// End closes the turn.
func (r *Rewind) End() {
	if r != nil {
		r.running = false
	}
}

// Replaced says that the transcript was replaced: there is no way back to the
// turns in it. Of a turn that goes on the files can still be brought back.
func (r *Rewind) Replaced() {
	if r == nil {
		return
	}
	var last []rewindTurn
	if n := len(r.turns); r.running && n > 0 {
		last = []rewindTurn{r.turns[n-1]}
		last[0].Start = -1
	}
	r.turns = last
	r.count()
}

// Turns are those that can be gone back to, the oldest first.
func (r *Rewind) Turns() (list []Turn) {
	if r == nil {
		return nil
	}
	for _, t := range r.turns {
		t.Files = len(t.files)
		list = append(list, t.Turn)
	}
	return list
}

// Forget drops turn n of Turns and those after it.
func (r *Rewind) Forget(n int) {
	r.turns = r.turns[:n]
	r.count()
}

func (r *Rewind) count() {
	r.size = 0
	for _, t := range r.turns {
		for _, s := range t.files {
			r.size += len(s.data)
		}
	}
}

// find is the place of a file among those of the turn, -1 if it is not there.
func (t *rewindTurn) find(real string) int {
	return slices.IndexFunc(t.files, func(s *snapshot) bool { return s.real == real })
}

// note takes a snapshot of the file that a change is about to replace. What it
// returns goes to unnote if the change fails.
func (r *Rewind) note(e *Env, c *change) (was snapshot) {
	if r == nil || len(r.turns) == 0 {
		return was
	}
	n := len(r.turns) - 1
	t := &r.turns[n]
	if i := t.find(c.path.Real); i >= 0 {
		s, kind := t.files[i], recordAgain
		was = *s
		if !c.old.leftBy(s) {
			s.mixed, kind = true, recordMixed
		}
		s.left = sha256.Sum256(c.data)
		r.log(t, kind, s)
		return was
	}
	s := newSnapshot(c, r.Max)
	for n--; n >= 0; n-- {
		if i := r.turns[n].find(s.real); i >= 0 {
			s.found = !c.old.leftBy(r.turns[n].files[i])
			break
		}
	}
	t.files = append(t.files, s)
	r.size += len(s.data)
	r.log(t, s.kind(), s)
	for r.size > r.Max {
		r.drop(e)
	}
	return was
}

// unnote takes back what note noted of a change that did not come about.
func (r *Rewind) unnote(c *change, was snapshot) {
	if r == nil || len(r.turns) == 0 {
		return
	}
	t := &r.turns[len(r.turns)-1]
	i := t.find(c.path.Real)
	if s := t.files[i]; was.real == "" {
		r.size -= len(s.data)
		t.files = append(t.files[:i], t.files[i+1:]...)
		r.log(t, recordNot, s)
		return
	}
	*t.files[i] = was
	r.log(t, recordAgain, &was)
}

// newSnapshot looks at the file as the change found it.
func newSnapshot(c *change, max int) *snapshot {
	s := &snapshot{real: c.path.Real, left: sha256.Sum256(c.data)}
	if c.old.info != nil {
		s.owner = ownerOf(c.old.info)
	}
	switch old := c.old; {
	case old.info == nil:
		s.made, s.dirs = true, missingDirs(filepath.Dir(c.path.Real))
	case old.info.Size() > maxSnapshot:
		s.lost = fmt.Sprintf("it was larger than %d KiB", maxSnapshot>>10)
	case len(old.data) > max:
		s.lost = "it was larger than all that may be kept"
	default:
		s.data = old.data
	}
	return s
}

// drop lets go of the oldest content, and says so once.
func (r *Rewind) drop(e *Env) {
	for i := range r.turns {
		for _, s := range r.turns[i].files {
			if len(s.data) == 0 {
				continue
			}
			r.size -= len(s.data)
			s.data, s.lost = nil, "what it was is no longer kept"
			if !r.told && e.Tell != nil {
				r.told = true
				e.Tell(fmt.Sprintf("old contents of files are kept up to %d bytes: %s cannot be brought back to what it was before turn %d, and older changes will follow", r.Max, shown(s.real), i+1))
			}
			return
		}
	}
	r.size = 0
}

// owner is the mode and owner of a file.
type owner struct {
	mode     fs.FileMode
	uid, gid int // -1 is not known
}

func ownerOf(fi fs.FileInfo) owner {
	o := owner{fi.Mode(), -1, -1}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		o.uid, o.gid = int(st.Uid), int(st.Gid)
	}
	return o
}

// give makes f a file of that mode and owner. The owner comes first: changing
// it clears the set-user-id bit.
func (o owner) give(f *os.File) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if now := ownerOf(fi); o.uid >= 0 && (now.uid != o.uid || now.gid != o.gid) {
		if err := f.Chown(o.uid, o.gid); err != nil {
			return err
		}
	}
	return f.Chmod(o.mode)
}
