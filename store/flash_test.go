package store

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOnFlash: an overlay, the root of a router, is flash, and there nothing is
// kept to undo unless that was asked for.
func TestOnFlash(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting takes root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	for _, name := range []string{"lower", "upper", "work", "root"} {
		os.Mkdir(filepath.Join(dir, name), 0o755)
	}
	root := filepath.Join(dir, "root")
	if err := syscall.Mount("overlay", root, "overlay", 0, "lowerdir="+dir+"/lower,upperdir="+dir+"/upper,workdir="+dir+"/work"); err != nil {
		t.Skipf("mount an overlay: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(root, 0) })
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
