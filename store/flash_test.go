package store

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// mount mounts a file system until the test ends. Where that cannot be done the
// test is skipped; in CI that is a failure.
func mount(t *testing.T, kind, dir, options string) {
	t.Helper()
	if err := syscall.Mount(kind, dir, kind, 0, options); err != nil {
		missing(t, fmt.Sprintf("cannot mount a file system (%s): %v", kind, err))
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// TestOnFlash: an overlay, the root of a router, is flash, and there nothing is
// kept to undo unless that was asked for.
func TestOnFlash(t *testing.T) {
	dir := t.TempDir()
	mount(t, "tmpfs", dir, "size=1m")
	for _, name := range []string{"lower", "upper", "work", "root"} {
		os.Mkdir(filepath.Join(dir, name), 0o755)
	}
	root := filepath.Join(dir, "root")
	mount(t, "overlay", root, "lowerdir="+dir+"/lower,upperdir="+dir+"/upper,workdir="+dir+"/work")
	for path, want := range map[string]bool{dir: false, dir + "/not/there": false, root: true, root + "/root/.cluade": true} {
		if got := OnFlash(path); got != want {
			t.Errorf("OnFlash(%s) = %v, want %v", path, got, want)
		}
	}
	for _, tt := range []struct {
		state, config string
		want          bool
	}{
		{dir, "{}", true},
		{dir, `{"rewind_keep": false}`, false},
		{root, "{}", false},
		{root, `{"rewind_keep": true}`, true},
		{root, `{"sessions_dir": "` + dir + `"}`, true},
		{dir, `{"sessions_dir": "` + root + `/s"}`, false},
	} {
		b := newBox(t)
		b.env["CLUADE_HOME"] = tt.state
		b.put(filepath.Join(tt.state, "config.json"), tt.config)
		c, _ := b.load()
		if got := c.KeepsUndo(b.place()); got != tt.want {
			t.Errorf("state in %s, %s: KeepsUndo = %v, want %v", tt.state, tt.config, got, tt.want)
		}
	}
}
