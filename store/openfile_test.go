package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cluade/internal/chat"
)

func (r room) open(path string) (*Resumed, error) {
	return r.s.OpenFile(path, &chat.Session{Dir: r.dir, Model: "m"}, "1")
}

func TestOpenFile(t *testing.T) {
	r := newRoom(t)
	path := filepath.Join(r.dir, "talk.jsonl")
	res, err := r.open("talk.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) || !isID(res.Session.ID) {
		t.Errorf("before the first message: %v, id %q", err, res.Session.ID)
	}
	first := res.Session.ID
	appendAll(t, res.Journal, user("a"), assistant("b"))
	if info := must(os.Stat(path)); info.Mode() != 0o600 || res.Journal.Path() != path {
		t.Errorf("mode %v, path %q", info.Mode(), res.Journal.Path())
	}
	if again, err := r.open(path); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("a file in use: %+v, %v, want an error", again, err)
	}
	res.Journal.Close()
	res, err = r.open(path)
	if err != nil {
		t.Fatal(err)
	}
	if brief(res.Session.Messages) != "u:a|a:b" || res.Session.ID != first {
		t.Errorf("loaded %s with id %q, want u:a|a:b with %s", brief(res.Session.Messages), res.Session.ID, first)
	}
	appendAll(t, res.Journal, user("c"), assistant("d"))
	res.Journal.Close()
	if _, err := os.Lstat(filepath.Join(r.home, ".cluade")); !os.IsNotExist(err) {
		t.Errorf("the state directory was touched: %v", err)
	}
	// An empty file, as mktemp makes it, is a fresh start.
	r.put(path, "")
	res, err = r.open(path)
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, res.Journal, user("x"), assistant("y"))
	res.Journal.Close()
	res, err = r.open(path)
	if err != nil || brief(res.Session.Messages) != "u:x|a:y" {
		t.Fatalf("after an empty file: %v, %+v", err, res)
	}
	res.Journal.Close()
}

func TestOpenFileWithoutAHome(t *testing.T) {
	dir := t.TempDir()
	s := OpenSessions(Place{Dir: dir}, defaults(""))
	res, err := s.OpenFile("talk.jsonl", &chat.Session{Dir: dir}, "1")
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, res.Journal, user("a"))
	res.Journal.Close()
	if data := string(must(os.ReadFile(filepath.Join(dir, "talk.jsonl")))); strings.Count(data, "\n") != 2 {
		t.Errorf("the file holds %q", data)
	}
}

func TestOpenFileRefuses(t *testing.T) {
	r := newRoom(t)
	outside := filepath.Join(r.home, "outside.jsonl")
	r.put(outside, head+line(user("a"))+line(assistant("b")))
	for name, text := range map[string]string{"bad.jsonl": "x\n", "old.json": oldSession, "role.jsonl": head + `{"t":"msg","m":{"role":"x"}}` + "\n"} {
		r.put(filepath.Join(r.dir, name), text)
	}
	for link, target := range map[string]string{"link.jsonl": outside, "dangling.jsonl": filepath.Join(r.home, "new.jsonl"), "up": r.home} {
		if err := os.Symlink(target, filepath.Join(r.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(r.dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, "../home/outside.jsonl", "link.jsonl", "up/new.jsonl", "bad.jsonl", "old.json", "role.jsonl",
		"fifo", ".", r.dir, "missing/dir/talk.jsonl", "/dev/null", "/proc/self/mem"} {
		if res, err := r.open(path); err == nil {
			t.Errorf("OpenFile(%q) = %+v, want an error", path, res)
		}
	}
	// A link to nothing outside is refused when the file would be made.
	if res, err := r.open("dangling.jsonl"); err == nil {
		if err := res.Journal.Append(user("a")); err == nil {
			t.Error("a session was written through a dangling link")
		}
	}
	if _, err := os.Lstat(filepath.Join(r.home, "new.jsonl")); !os.IsNotExist(err) {
		t.Errorf("a file was made outside: %v", err)
	}
	// Below the directory of sessions any session may be named.
	r.raw("20260529-201630-0001.jsonl", head+line(user("a"))+line(assistant("b")))
	res, err := r.open(r.path("20260529-201630-0001"))
	if err != nil {
		t.Fatal(err)
	}
	res.Journal.Close()
}

// A session in a directory that cannot be written to is read, and goes on in a
// copy.
func TestReadOnlySession(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everything")
	}
	r := newRoom(t)
	id := r.save(user("a"), assistant("b"))
	if err := os.Chmod(r.path(id), 0o400); err != nil {
		t.Fatal(err)
	}
	res := r.resume(id)
	if res.Session.ID != "" || len(res.Notices) != 1 {
		t.Errorf("id %q, notices %q, want a copy", res.Session.ID, res.Notices)
	}
}
