package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// args are the arguments of a call as a test writes them.
type args map[string]any

// testEnv is an Env in an empty directory with a home and a state directory
// beside it.
func testEnv(t *testing.T) *Env {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := &Env{Dir: base + "/work", Home: base + "/home", State: base + "/home/.cluade", Project: base + "/work"}
	for _, dir := range []string{e.Dir, e.State} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// use takes a call through all stages as the agent does.
func use(t *testing.T, e *Env, tool string, a args) (string, error) {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Builtin.Parse(e, tool, string(text))
	if err != nil {
		return "", err
	}
	if _, err := c.Preview(); err != nil {
		return "", err
	}
	res, err := c.Run(context.Background())
	return res.Text, err
}

// want fails unless the call gives exactly this result.
func want(t *testing.T, e *Env, tool string, a args, text string) {
	t.Helper()
	got, err := use(t, e, tool, a)
	if err != nil || got != text {
		t.Errorf("%s(%v) = %q, %v, want %q", tool, a, got, err, text)
	}
}

// wantError fails unless the call ends in an error that contains the parts.
func wantError(t *testing.T, e *Env, tool string, a args, parts ...string) {
	t.Helper()
	got, err := use(t, e, tool, a)
	if err == nil {
		t.Errorf("%s(%v) = %q, want an error with %q", tool, a, got, parts)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s(%v): error %q, want it to contain %q", tool, a, err, part)
		}
	}
}

// put writes a file below the working directory, parents included.
func put(t *testing.T, e *Env, name, content string) string {
	t.Helper()
	path := name
	if !filepath.IsAbs(name) {
		path = filepath.Join(e.Dir, name)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func link(t *testing.T, e *Env, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(e.Dir, name)); err != nil {
		t.Fatal(err)
	}
}

// holds fails unless a file has exactly this content.
func holds(t *testing.T, e *Env, name, content string) {
	t.Helper()
	if !filepath.IsAbs(name) {
		name = filepath.Join(e.Dir, name)
	}
	got, err := os.ReadFile(name)
	if err != nil || string(got) != content {
		t.Errorf("%s holds %q, %v, want %q", name, got, err, content)
	}
}

// onlyHolds fails unless a directory has exactly these entries.
func onlyHolds(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("%s holds %q, want %q", dir, got, names)
	}
}

// asNobody runs the calling test again without root's rights; true means that
// this is that run. Elsewhere the test runs as it is.
func asNobody(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{"TMPDIR=/tmp", "PATH=" + os.Getenv("PATH")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		missing(t, fmt.Sprintf("cannot run as another user: %v", err))
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
	return false
}

// tmpfs mounts a small file system in memory, if this process may.
func tmpfs(t *testing.T, dir, options string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		missing(t, fmt.Sprintf("cannot mount a tmpfs: %v", err))
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// bind mounts a file or directory over another, if this process may.
func bind(t *testing.T, from, to string) {
	t.Helper()
	if err := syscall.Mount(from, to, "", syscall.MS_BIND, ""); err != nil {
		missing(t, fmt.Sprintf("cannot bind-mount: %v", err))
	}
	t.Cleanup(func() { syscall.Unmount(to, syscall.MNT_DETACH) })
}
