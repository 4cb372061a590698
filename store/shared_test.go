package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestLinksAreNotFollowed: what the program keeps for itself takes the place of
// a link; it is not written to where that leads.
func TestLinksAreNotFollowed(t *testing.T) {
	r := newRoom(t)
	victim := filepath.Join(r.home, "victim")
	r.put(victim, "precious")
	pointer := filepath.Join(r.home, ".cluade", "last_session")
	if err := errors.Join(os.MkdirAll(filepath.Dir(pointer), 0o700), os.Symlink(victim, pointer)); err != nil {
		t.Fatal(err)
	}
	sess, j := r.begin()
	appendAll(t, j, user("a"), assistant("b"))
	if err := os.Symlink(victim, j.Path()+".undo"); err != nil {
		t.Fatal(err)
	}
	if err := j.Undo([]byte("x"), true); err != nil {
		t.Error(err)
	}
	if got := read(victim); got != "precious" {
		t.Errorf("the file behind the link holds %q", got)
	}
	if got := read(pointer) + read(j.Path()+".undo"); got != sess.ID+"\nx" {
		t.Errorf("the files hold %q", got)
	}
}

// TestSharedDirectory: in a directory where others can make files, theirs are no
// sessions and undo nothing.
func TestSharedDirectory(t *testing.T) {
	if os.Getuid() != 0 {
		missing(t, "not root")
	}
	r := newRoom(t)
	mine, theirs, linked := r.save(user("a"), assistant("b")), r.save(user("c"), assistant("d")), r.save(user("e"), assistant("f"))
	dir, other := filepath.Dir(r.path(mine)), filepath.Join(r.home, "other.jsonl")
	undo := r.path(mine) + ".undo"
	r.put(undo, "x")
	err := errors.Join(os.Rename(r.path(linked), other), os.Symlink(other, r.path(linked)),
		os.Chown(r.path(theirs), 65534, 65534), os.Chown(undo, 65534, 65534))
	if err != nil {
		t.Fatal(err)
	}
	if list := must(r.s.List()); r.s.Shared() || len(list) != 3 {
		t.Errorf("a directory of one's own: Shared %v, %d sessions, want 3", r.s.Shared(), len(list))
	}
	if u, err := r.s.Undone(mine); err != nil {
		t.Error(err)
	} else {
		u.Close(false)
	}
	for _, share := range []func(){
		func() { os.Chmod(dir, 0o1777) },
		func() { os.Chmod(dir, 0o700); os.Chown(dir, 65534, 65534) },
	} {
		share()
		list := must(r.s.List())
		if !r.s.Shared() || len(list) != 1 || list[0].ID != mine {
			t.Errorf("Shared %v, sessions %v, want %s alone", r.s.Shared(), list, mine)
		}
		if _, err := r.s.Resume(theirs, "1"); !errors.Is(err, ErrNoSession) {
			t.Errorf("Resume of another user's session = %v", err)
		}
		if _, err := r.s.Undone(mine); err == nil {
			t.Error("what another user put beside the session is read")
		}
	}
	os.Chown(filepath.Join(r.home, ".cluade"), 65534, 65534) // as under sudo
	if r.s.Shared() {
		t.Error("the directory of the one whose state directory it is counts as shared")
	}
}
