// Package tests holds what is tested from outside: the behaviour of the binary
// as scripts (scripts/*.txtar), the shape of the source, the manual.
//
// The binary is built once, with -race where the tests are. CLUADE_BIN names
// another one, and CLUADE_EMU what runs it, such as qemu-mips-static.
package tests

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// binDir is a directory for PATH that holds the binary under test as "cluade";
// binErr says why it does not.
var (
	binDir string
	binErr error
)

var update = flag.Bool("u", false, "write what cmp finds different into the scripts")

func TestMain(m *testing.M) {
	// A run under nohup ignores SIGHUP, one in the background of a script Ctrl-C,
	// and so would all that it starts; a signal that is caught here is as usual in
	// children.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	dir, err := os.MkdirTemp("", "cluade-tests-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "tests:", err)
		os.Exit(1)
	}
	binDir = dir
	binErr = install(filepath.Join(dir, "cluade"))
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// binary is the program under test. It reads the program's source, for the go
// tool does not see that the binary is made of it, and would show the outcome
// of an earlier run when that has changed.
func binary(t *testing.T) string {
	t.Helper()
	if binErr != nil {
		t.Fatal(binErr)
	}
	if bin := os.Getenv("CLUADE_BIN"); bin == "" {
		sources(t)
	} else if _, err := os.ReadFile(bin); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(binDir, "cluade")
}

// install puts the binary under test at a path: built, linked, or wrapped by a
// script that runs it under an emulator.
func install(target string) error {
	bin, emu := os.Getenv("CLUADE_BIN"), os.Getenv("CLUADE_EMU")
	if bin == "" {
		args := []string{"build", "-buildvcs=false", "-tags", "netgo,osusergo", "-o", target}
		args = append(args, buildFlags...)
		cmd := exec.Command("go", append(args, ".")...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), buildEnv...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build: %w\n%s", err, out)
		}
		return nil
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	if _, err := os.Stat(bin); err != nil {
		return err
	}
	if emu == "" {
		return os.Symlink(bin, target)
	}
	if emu, err = exec.LookPath(emu); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec '%s' '%s' \"$@\"\n", emu, bin)
	return os.WriteFile(target, []byte(script), 0o755)
}

func TestScripts(t *testing.T) {
	binary(t)
	testscript.Run(t, testscript.Params{
		Dir:                "scripts",
		Setup:              prepare,
		Cmds:               commands,
		RequireUniqueNames: true,
		UpdateScripts:      *update,
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "mounts": // of one's own, which nobody else sees
				return exec.Command("unshare", "-m", "--propagation", "private", "true").Run() == nil, nil
			case "emulated":
				return os.Getenv("CLUADE_EMU") != "", nil
			case "landlock":
				const askVersion = 1
				_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, askVersion)
				return errno == 0 && os.Getenv("CLUADE_EMU") == "", nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// prepare gives a script a home of its own and no settings of the person who
// runs the tests.
func prepare(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	e.Setenv("HOME", home)
	e.Setenv("STATE", filepath.Join(home, ".cluade"))
	e.Setenv("PATH", binDir+string(os.PathListSeparator)+e.Getenv("PATH"))
	e.Setenv("TERM", "xterm")
	e.Setenv("CI", os.Getenv("CI"))
	e.Setenv("TMPDIR", filepath.Join(e.WorkDir, ".tmp"))
	if e.Getenv("GOCOVERDIR") == "" {
		cover := filepath.Join(e.WorkDir, ".cover")
		if err := os.MkdirAll(cover, 0o755); err != nil {
			return err
		}
		e.Setenv("GOCOVERDIR", cover)
	}
	w := &world{dir: e.WorkDir}
	e.Values[worldKey{}] = w
	e.Defer(w.close)
	return nil
}
