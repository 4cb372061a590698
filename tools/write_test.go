package tools

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// prepare takes a call to the point where a person would be asked.
func prepare(t *testing.T, e *Env, tool string, a args) (c *Call, preview string) {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = Builtin.Parse(e, tool, string(text)); err != nil {
		t.Fatal(err)
	}
	if preview, err = c.Preview(); err != nil {
		t.Fatal(err)
	}
	return c, preview
}

func TestWrite(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027))
	e := testEnv(t)
	put(t, e, "old", "a long old content\n")
	put(t, e, "run.sh", "echo 1\n")
	put(t, e, "sub/target", "x")
	os.Chmod(e.Dir+"/run.sh", 0o755|os.ModeSetuid)
	os.Chmod(e.Dir+"/old", 0o604)
	link(t, e, "sub/target", "link")
	link(t, e, "made/by/link", "dangling")
	tests := []struct{ name, content, file string }{
		{"new", "x\n", "new"},
		{"a/b/c.txt", "x\n", "a/b/c.txt"},
		{"empty", "", "empty"},
		{"old", "b", "old"},
		{"run.sh", "echo 2\n", "run.sh"},
		{"link", "through the link", "sub/target"},
		{"dangling", "y", "made/by/link"},
		{"bytes", "\x00\u2028é\r\n\x1b", "bytes"},
		{"new\nline", "z", "new\nline"},
	}
	for _, tt := range tests {
		want(t, e, "write", args{"filePath": tt.name, "content": tt.content}, "wrote "+shown(tt.name))
		holds(t, e, tt.file, tt.content)
	}
	for name, mode := range map[string]os.FileMode{"new": 0o640, "a/b": 0o750 | os.ModeDir, "old": 0o604, "run.sh": 0o755 | os.ModeSetuid, "link": 0o777 | os.ModeSymlink} {
		if fi, err := os.Lstat(e.Dir + "/" + name); err != nil || fi.Mode() != mode {
			t.Errorf("%s has mode %v, %v, want %v", name, fi.Mode(), err, mode)
		}
	}
	onlyHolds(t, e.Dir, "a", "bytes", "dangling", "empty", "link", "made", "new", "new\nline", "old", "run.sh", "sub")
}

func TestWriteErrors(t *testing.T) {
	e := testEnv(t)
	put(t, e, "d/keep", "k")
	put(t, e, "file", "f")
	if err := syscall.Mkfifo(e.Dir+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, content, want string }{
		{"d", "x", "d is a directory"},
		{"d/", "x", "d/ names a directory; give the name of a file"},
		{"new/", "", "new/ names a directory"},
		{"new/.", "", "new/. names a directory"},
		{"new/..", "", "new/.. names a directory"},
		{".", "", ". names a directory"},
		{"/", "", "/ names a directory"},
		{"file/x", "x", "file/x: not a directory"},
		{"file/x/y", "x", "file/x/y: not a directory"},
		{"pipe", "x", "pipe is a named pipe, not a regular file"},
		{"/dev/null", "x", "/dev/null is a device, not a regular file"},
		{"/proc/sys/kernel/hostname", "x", "belongs to the kernel (/proc or /sys)"},
		{"/sys/none/such", "x", "belongs to the kernel"},
		{strings.Repeat("x", 300), "x", "file name too long"},
		{"big", strings.Repeat("x", 1<<20+1), "content is 1048577 bytes, more than 1 MiB"},
	}
	for _, tt := range tests {
		wantError(t, e, "write", args{"filePath": tt.name, "content": tt.content}, tt.want)
	}
	onlyHolds(t, e.Dir, "d", "file", "pipe")
	holds(t, e, "d/keep", "k")
	want(t, e, "write", args{"filePath": "big", "content": strings.Repeat("x", 1<<20)}, "wrote big")
}

func TestWritePreview(t *testing.T) {
	e := testEnv(t)
	put(t, e, "f", "a\nb\nc\n")
	put(t, e, "binary", "\x00\x01")
	put(t, e, "large", strings.Repeat("x", 1<<20+1))
	tests := []struct {
		name, content, want string
	}{
		{"new", "x\ny\n", "new file, 4 bytes\n+x\n+y\n"},
		{"new", "y", "new file, 1 byte\n+y"},
		{"f", "a\nB\nc\nd", "2 lines added, 1 removed\n@@ -1,3 +1,4 @@\n a\n-b\n+B\n c\n+d\n\\ No newline at end of file\n"},
		{"f", "a\nb\nc\n", "0 lines added, 0 removed\n(the content stays the same)"},
		{"binary", "x", "replaces a file of 2 bytes by 1 byte\n+x"},
		{"large", "x", "replaces a file of 1048577 bytes by 1 byte\n+x"},
	}
	for _, tt := range tests {
		if _, got := prepare(t, e, "write", args{"filePath": tt.name, "content": tt.content}); got != tt.want {
			t.Errorf("preview of write %s = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestChangedInBetween: what was shown to a person is what is replaced, or
// nothing is.
func TestChangedInBetween(t *testing.T) {
	tests := []struct {
		what string
		tool string
		a    args
		act  func(path string) error
	}{
		{"content", "write", args{"filePath": "f", "content": "new"}, func(p string) error { return os.WriteFile(p, []byte("else"), 0o644) }},
		{"content of the same size and time", "edit", args{"filePath": "f", "oldString": "a", "newString": "b"}, sameButContent},
		{"appeared", "write", args{"filePath": "none", "content": "new"}, func(p string) error { return os.WriteFile(p+"/none", nil, 0o644) }},
		{"gone", "edit", args{"filePath": "f", "oldString": "a", "newString": "b"}, os.Remove},
		{"became a directory", "write", args{"filePath": "f", "content": "new"}, func(p string) error { os.Remove(p); return os.Mkdir(p, 0o755) }},
		{"became a link", "write", args{"filePath": "f", "content": "new"}, func(p string) error { os.Remove(p); return os.Symlink("other", p) }},
	}
	for _, tt := range tests {
		e := testEnv(t)
		path := put(t, e, "f", "a first\n")
		put(t, e, "other", "other")
		c, _ := prepare(t, e, tt.tool, tt.a)
		target := path
		if tt.what == "appeared" {
			target = e.Dir
		}
		if err := tt.act(target); err != nil {
			t.Fatal(err)
		}
		_, err := c.Run(context.Background())
		verb := map[string]string{"write": "writing", "edit": "editing"}[tt.tool]
		if err == nil || err.Error() != tt.a["filePath"].(string)+" changed while "+verb+"; read it again" {
			t.Errorf("%s: Run = %v, want that it changed", tt.what, err)
		}
		holds(t, e, "other", "other")
		if left, _ := filepath.Glob(e.Dir + "/.cluade*"); len(left) > 0 {
			t.Errorf("%s: left over: %q", tt.what, left)
		}
	}
}

func sameButContent(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte("a later\n"), 0o644); err != nil {
		return err
	}
	return os.Chtimes(path, time.Time{}, fi.ModTime())
}

// TestChangedSinceRead: somebody else's work is not overwritten by a model
// that has not seen it.
func TestChangedSinceRead(t *testing.T) {
	e := testEnv(t)
	path := put(t, e, "f", "a\n")
	writeIt, editIt := args{"filePath": "f", "content": "mine\n"}, args{"filePath": "f", "oldString": "a", "newString": "b"}
	changed := "f changed since it was read; read it again"

	want(t, e, "read", args{"filePath": "./f"}, "1: a")
	put(t, e, "f", "a, more\n")
	wantError(t, e, "write", writeIt, changed)
	wantError(t, e, "edit", editIt, changed)
	want(t, e, "read", args{"filePath": "f"}, "1: a, more")
	want(t, e, "edit", editIt, "edited f (1 replacement)")
	want(t, e, "edit", args{"filePath": "f", "oldString": "b", "newString": "c"}, "edited f (1 replacement)")

	os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))
	wantError(t, e, "write", writeIt, changed)
	os.Remove(path)
	wantError(t, e, "write", writeIt, changed)
	wantError(t, e, "read", args{"filePath": "f"}, "no such file")
	want(t, e, "write", writeIt, "wrote f")

	put(t, e, "f", "\x00binary now")
	wantError(t, e, "write", writeIt, changed)
	wantError(t, e, "read", args{"filePath": "f"}, "is binary")
	want(t, e, "write", writeIt, "wrote f")
	holds(t, e, "f", "mine\n")

	put(t, e, "unread", "x")
	want(t, e, "write", args{"filePath": "unread", "content": "y"}, "wrote unread")
}

func TestWriteCancelled(t *testing.T) {
	e := testEnv(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c, _ := prepare(t, e, "write", args{"filePath": "a/b", "content": "x"})
	if _, err := c.Run(ctx); err == nil {
		t.Error("a cancelled write succeeds")
	}
	onlyHolds(t, e.Dir)
}

// TestDiskFull: the old content stays whole, and nothing is left behind.
func TestDiskFull(t *testing.T) {
	e := testEnv(t)
	tmpfs(t, e.Dir+"/m", "size=256k")
	old := strings.Repeat("A", 40960)
	put(t, e, "m/f", old)
	big := strings.Repeat("B", 1000000)
	wantError(t, e, "write", args{"filePath": "m/f", "content": big}, "m/f: no space left on device; nothing was changed")
	wantError(t, e, "write", args{"filePath": "m/x/y/new", "content": big}, "no space left on device")
	wantError(t, e, "edit", args{"filePath": "m/f", "oldString": "A", "newString": strings.Repeat("C", 20), "replaceAll": true}, "no space left on device")
	holds(t, e, "m/f", old)
	onlyHolds(t, e.Dir+"/m", "f")

	tmpfs(t, e.Dir+"/n", "nr_inodes=2") // the root and one file: no room for another name
	put(t, e, "n/f", old)
	wantError(t, e, "write", args{"filePath": "n/f", "content": "new"}, "no space left on device")
	holds(t, e, "n/f", old)
	onlyHolds(t, e.Dir+"/n", "f")
}

// TestWriteInPlace: a file that is a mount point cannot be renamed over. When
// its disk is full, the old content stays.
func TestWriteInPlace(t *testing.T) {
	e := testEnv(t)
	tmpfs(t, e.Dir+"/m", "size=64k")
	from := put(t, e, "m/from", "old content\n")
	to := put(t, e, "to", "covered")
	bind(t, from, to)
	want(t, e, "write", args{"filePath": "to", "content": "longer new content\n"}, "wrote to")
	holds(t, e, from, "longer new content\n")
	want(t, e, "edit", args{"filePath": "to", "oldString": "longer ", "newString": ""}, "edited to (1 replacement)")
	holds(t, e, from, "new content\n")
	wantError(t, e, "write", args{"filePath": "to", "content": strings.Repeat("x", 100000)}, "to: no space left on device; nothing was changed")
	holds(t, e, from, "new content\n")
	put(t, e, "m/fill", strings.Repeat("x", 4096*14))
	want(t, e, "write", args{"filePath": "to", "content": "short\n"}, "wrote to")
	holds(t, e, from, "short\n")
	onlyHolds(t, e.Dir, "m", "to")
	c, _ := prepare(t, e, "write", args{"filePath": "to", "content": "x"})
	put(t, e, from, "changed")
	if _, err := c.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "changed while writing") {
		t.Errorf("Run = %v, want that it changed", err)
	}
	holds(t, e, from, "changed")
}

func TestOwnerKept(t *testing.T) {
	if os.Getuid() != 0 {
		missing(t, "not root")
	}
	e := testEnv(t)
	path := put(t, e, "f", "a")
	if err := os.Chown(path, 1234, 4321); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o710|os.ModeSetgid); err != nil {
		t.Fatal(err)
	}
	want(t, e, "write", args{"filePath": "f", "content": "b"}, "wrote f")
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if st := fi.Sys().(*syscall.Stat_t); st.Uid != 1234 || st.Gid != 4321 || fi.Mode() != 0o710|os.ModeSetgid {
		t.Errorf("f belongs to %d:%d and has mode %v, want 1234:4321 and %v", st.Uid, st.Gid, fi.Mode(), 0o710|os.ModeSetgid)
	}
}

func TestWriteNotAllowed(t *testing.T) {
	if !asNobody(t) {
		return
	}
	e := testEnv(t)
	put(t, e, "readonly", "a")
	put(t, e, "locked/f", "a")
	put(t, e, "locked/readonly", "a")
	for name, mode := range map[string]os.FileMode{"readonly": 0o444, "locked/readonly": 0o444, "locked": 0o555} {
		if err := os.Chmod(e.Dir+"/"+name, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod(e.Dir+"/locked", 0o755) })
	wantError(t, e, "write", args{"filePath": "readonly", "content": "b"}, "readonly: permission denied")
	wantError(t, e, "edit", args{"filePath": "locked/readonly", "oldString": "a", "newString": "b"}, "locked/readonly: permission denied")
	wantError(t, e, "write", args{"filePath": "locked/new", "content": "b"}, "locked/new: permission denied; nothing was changed")
	wantError(t, e, "write", args{"filePath": "locked/x/y", "content": "b"}, "locked/x/y: permission denied; nothing was changed")
	// The directory takes no new file, but the file may be written.
	want(t, e, "write", args{"filePath": "locked/f", "content": "bb"}, "wrote locked/f")
	holds(t, e, "locked/f", "bb")
	onlyHolds(t, e.Dir+"/locked", "f", "readonly")
}
