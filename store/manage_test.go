package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func read(path string) string { return string(must(os.ReadFile(path))) }

func TestSessionName(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	sess.Name = "wifi"
	if err := j.Update(); err != nil || j.Path() != "" {
		t.Fatalf("Update before the first message = %v, path %q", err, j.Path())
	}
	appendAll(t, j, user("a"), assistant("b"))
	sess.Name = "Wi-Fi \x1b[2J"
	if err := j.Update(); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if text := read(r.path(sess.ID)); !strings.Contains(text, `{"t":"name","name":"wifi"}`+"\n"+`{"t":"msg"`) {
		t.Errorf("the name is not before the first message:\n%s", text)
	}
	if list := must(r.s.List()); list[0].Name != `Wi-Fi \x1b[2J` {
		t.Errorf("Name = %q", list[0].Name)
	}
	other := r.save(user("x"), assistant("y"))
	if got, err := r.s.Find(sess.Name); got != sess.ID || err != nil {
		t.Errorf("Find by name = %q, %v", got, err)
	}
	if got := r.resume(sess.Name); got.Session.Name != sess.Name || got.Session.ID != sess.ID {
		t.Errorf("resumed %q %q", got.Session.ID, got.Session.Name)
	}
	second := r.resume(sess.ID) // in use: a copy, which is another session
	if second.Session.Name != "" {
		t.Errorf("a copy is named %q", second.Session.Name)
	}
	if _, err := r.s.Find("wifi"); !errors.Is(err, ErrNoSession) {
		t.Errorf("Find by the name before = %v", err)
	}
	for _, tt := range []struct{ name, own, want string }{
		{"new name", other, ""},
		{sess.Name, other, "control characters"},
		{"2026", other, "taken for an id"},
		{"20260529-2016", other, "taken for an id"},
		{strings.Repeat("x", 61), other, "60 bytes"},
		{"a\xff", other, "60 bytes"},
	} {
		if err := r.s.CheckName(tt.name, tt.own); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("CheckName(%q) = %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestTwoOfOneName(t *testing.T) {
	r := newRoom(t)
	var ids []string
	for range 2 {
		sess, j := r.begin()
		sess.Name = "wifi"
		appendAll(t, j, user("a"), assistant("b"))
		j.Close()
		ids = append(ids, sess.ID)
	}
	if _, err := r.s.Find("wifi"); err == nil || !strings.Contains(err.Error(), "2 sessions have that name, ") || !strings.Contains(err.Error(), ids[0]) {
		t.Errorf("Find = %v", err)
	}
	if err := r.s.CheckName("wifi", ids[0]); err == nil || !strings.Contains(err.Error(), ids[1]+" has that name") {
		t.Errorf("CheckName = %v", err)
	}
}

func TestDelete(t *testing.T) {
	r := newRoom(t)
	gone, kept := r.save(user("a"), assistant("b")), r.save(user("c"), assistant("d"))
	r.raw(gone+".json", `{"messages":[]}`)
	r.raw(gone+".jsonl.undo", "x")
	if id, err := r.s.Delete(gone); id != gone || err != nil {
		t.Errorf("Delete = %q, %v", id, err)
	}
	left, _ := filepath.Glob(filepath.Join(r.home, ".cluade", "sessions", "*"))
	if len(left) != 1 || left[0] != r.path(kept) {
		t.Errorf("left: %q", left)
	}
	open := r.resume(kept)
	if _, err := r.s.Delete(kept); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("Delete of an open session = %v", err)
	}
	open.Journal.Close()
	for _, id := range []string{"", "19990101", "../config", "no such name"} {
		if _, err := r.s.Delete(id); !errors.Is(err, ErrNoSession) {
			t.Errorf("Delete(%q) = %v", id, err)
		}
	}
	if _, err := os.Stat(r.path(kept)); err != nil {
		t.Error(err)
	}
}

func TestPrune(t *testing.T) {
	r := newRoom(t)
	var ids []string
	for i := range 6 {
		id := r.save(user("a"), assistant("b"))
		at := time.Now().Add(time.Duration(i-10) * time.Hour)
		os.Chtimes(r.path(id), at, at)
		ids = append(ids, id)
	}
	if got := r.s.Prune(0, ids[5]); got != nil {
		t.Errorf("Prune(0) removed %q", got)
	}
	r.resume(ids[1])
	// 0 is this one, with a clock that went backwards; 1 is open
	if got := strings.Join(r.s.Prune(2, ids[0]), " "); got != ids[3]+" "+ids[2] {
		t.Errorf("Prune removed %s of %q", got, ids)
	}
	if list := must(r.s.List()); len(list) != 4 {
		t.Errorf("%d are left", len(list))
	}
	list, more, err := r.s.Newest(3)
	if len(list) != 3 || more != 1 || err != nil || list[0].ID != ids[5] || list[0].Dir != r.dir {
		t.Errorf("Newest(3) = %v, %d, %v", list, more, err)
	}
}

func TestUndoFile(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	if err := j.Undo([]byte("x"), true); err != nil {
		t.Errorf("Undo without a file = %v", err)
	}
	appendAll(t, j, user("a"), assistant("b"))
	for _, rec := range []struct {
		text  string
		first bool
	}{{"one ", true}, {"of one ", false}, {"two ", true}, {"of two", false}} {
		if err := j.Undo([]byte(rec.text), rec.first); err != nil {
			t.Fatal(err)
		}
	}
	if info := must(os.Stat(j.Path() + ".undo")); info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := r.s.Undone(sess.ID); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("Undone of an open session = %v", err)
	}
	j.Close()
	for _, done := range []bool{false, true} {
		u, err := r.s.Undone("")
		if err != nil {
			t.Fatal(err)
		}
		if text := string(must(io.ReadAll(u))); text != "two of two" || u.ID != sess.ID {
			t.Errorf("kept %q of %s", text, u.ID)
		}
		u.Close(done)
	}
	if _, err := r.s.Undone(sess.ID[:8]); err == nil || !strings.Contains(err.Error(), "nothing is kept") {
		t.Errorf("Undone afterwards = %v", err)
	}
	if list := must(r.s.List()); len(list) != 1 {
		t.Errorf("%d sessions are listed", len(list))
	}
}

// TestUndoGap: nothing follows what could not be written.
func TestUndoGap(t *testing.T) {
	r := newRoom(t)
	_, j := r.begin()
	appendAll(t, j, user("a"), assistant("b"))
	path := j.Path() + ".undo"
	os.Mkdir(path, 0o700)
	if j.Undo([]byte("x"), false) == nil {
		t.Fatal("a directory takes a record")
	}
	os.Remove(path)
	r.put(path, "one")
	if err := j.Undo([]byte("three"), false); err != nil || read(path) != "one" {
		t.Errorf("%v, the file holds %q", err, read(path))
	}
	if err := j.Undo([]byte("next"), true); err != nil || read(path) != "next" {
		t.Errorf("%v, the file holds %q", err, read(path))
	}
	j.ForgetUndo()
	if _, err := os.Stat(path); err == nil {
		t.Error("it was not forgotten")
	}
}
