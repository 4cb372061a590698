package proc

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// in runs a command in a sandbox and returns its output and exit status.
func in(t *testing.T, s Sandbox, shell []string, command string) (string, int) {
	t.Helper()
	r, err := Run(context.Background(), Spec{
		Argv: append(shell, command), Dir: t.TempDir(), Env: []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()},
		Timeout: 20 * time.Second, Keep: 4096, Sandbox: s,
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(r.Head), r.Exit
}

func TestLevels(t *testing.T) {
	for _, l := range []Level{Off, Limits, Confined} {
		if got, ok := ParseLevel(l.String()); got != l || !ok {
			t.Errorf("ParseLevel(%q) = %v, %v", l, got, ok)
		}
	}
	if _, ok := ParseLevel("none"); ok {
		t.Error(`ParseLevel("none") knows it`)
	}
}

// TestLimits: what the shells that devices have enforce, and that the command
// is the one that was given, with its quoting and exit status.
func TestLimits(t *testing.T) {
	for name, shell := range shells(t) {
		box := Sandbox{Level: Limits, FileMB: 1, CPU: 7, MemMB: 512}
		out, exit := in(t, box, shell, `ulimit -c; ulimit -f; ulimit -t; ulimit -v; echo "a  'b'"; exit 3`)
		if want := "0\n2048\n7\n524288\na  'b'"; out != want || exit != 3 {
			t.Errorf("%s: output %q, exit %d, want %q, 3", name, out, exit, want)
		}
		if out, exit := in(t, box, shell, `dd if=/dev/zero of=big bs=1024 count=1500 2>/dev/null; ls -l big | grep -c 1048576`); out != "1" {
			t.Errorf("%s: a file of 1500 KiB: output %q, exit %d", name, out, exit)
		}
		// A lower limit that is there stays, and does not stop the command.
		if out, exit := in(t, Sandbox{Level: Limits, FileMB: 1}, append(shell, `ulimit -f 4; exec "$0" "$@"`, "/bin/sh", "-c"), "ulimit -f"); out != "4" || exit != 0 {
			t.Errorf("%s: a lower limit: output %q, exit %d", name, out, exit)
		}
		if out, _ := in(t, Sandbox{FileMB: 1}, shell, "ulimit -f"); out == "2048" {
			t.Errorf("%s: off limits something", name)
		}
	}
}

func TestConfined(t *testing.T) {
	root, elsewhere := t.TempDir(), t.TempDir()
	box := Sandbox{Level: Confined, Root: root}
	if box.Effective() != Confined {
		if out, exit := in(t, box, []string{"/bin/sh", "-c"}, "echo ran"); out != "ran" || exit != 0 {
			t.Errorf("without Landlock: output %q, exit %d", out, exit)
		}
		t.Skip("this kernel has no Landlock")
	}
	for name, shell := range shells(t) {
		command := "echo a > " + root + "/in && echo in; echo a > " + elsewhere + "/out && echo OUT; mkdir " + elsewhere + "/dir && echo OUT; " +
			`echo a > "$TMPDIR/t" && echo tmp; echo a > /dev/null && echo null; ls / > /dev/null && echo read; echo a > /tmp/cluade-out && echo OUT; exit 5`
		out, exit := in(t, box, shell, command)
		var got []string
		for line := range strings.SplitSeq(out, "\n") {
			if !strings.Contains(line, " ") {
				got = append(got, line)
			}
		}
		if want := "in tmp null read"; strings.Join(got, " ") != want || exit != 5 {
			t.Errorf("%s: %q, exit %d, want %q, 5", name, out, exit, want)
		}
		if files, _ := os.ReadDir(elsewhere); len(files) > 0 {
			t.Errorf("%s: written elsewhere: %v", name, files)
		}
		// What the child starts is confined too, and so is what it moves away to.
		if out, _ := in(t, box, shell, "(setsid sh -c 'echo a > "+elsewhere+"/out; mv "+root+"/in "+elsewhere+"') 2>/dev/null; ls "+elsewhere); out != "" {
			t.Errorf("%s: a child of the child wrote %q", name, out)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "cluade-*", "t")); len(left) > 0 {
		t.Errorf("a private TMPDIR is left: %v", left)
	}
}

func TestProcs(t *testing.T) {
	g, err := newGroup(4)
	if err != nil {
		t.Skipf("no limit on processes here: %v", err)
	}
	g.remove()
	out, _ := in(t, Sandbox{Level: Limits, Procs: 4}, []string{"/bin/sh", "-c"}, "for i in 1 2 3 4 5 6 7 8; do sleep 1 & done; wait; echo end")
	if !strings.Contains(strings.ToLower(out), "fork") {
		t.Errorf("eight processes ran: %q", out)
	}
	if left, _ := filepath.Glob(g.path[:strings.LastIndexByte(g.path, '/')] + "/cluade-*"); len(left) > 0 {
		t.Errorf("control groups are left: %v", left)
	}
}

func TestFacts(t *testing.T) {
	if f := (Sandbox{}).Facts(); f != nil {
		t.Errorf("Facts of off = %v", f)
	}
	facts := Sandbox{Level: Confined, Procs: 64, FileMB: 256, Root: "/r"}.Facts()
	if len(facts) != 4 {
		t.Errorf("Facts = %+v", facts)
	}
	for _, f := range facts {
		if f.Name == "" || f.Enforced != (f.Why == "") {
			t.Errorf("Fact %+v", f)
		}
	}
}
