package proc

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestHideEnv runs itself with variables of which one is to be hidden.
func TestHideEnv(t *testing.T) {
	const inside = "PROC_TEST_HIDE"
	if os.Getenv(inside) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestHideEnv$")
		cmd.Env = []string{"BEFORE=one", "SECRET=s3cr3t = x", "SECRET_NOT=two", inside + "=1"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	HideEnv([]string{"SECRET", "NONE"})
	for _, file := range []string{"/proc/self/environ", "/proc/thread-self/environ"} {
		env, err := os.ReadFile(file)
		if err != nil || strings.Contains(string(env), "s3cr3t") || !strings.Contains(string(env), "BEFORE=one\x00") || !strings.Contains(string(env), "\x00SECRET_NOT=two\x00") {
			t.Errorf("%s = %q, %v", file, env, err)
		}
	}
	if got := os.Getenv("SECRET"); got != "s3cr3t = x" {
		t.Errorf("os.Getenv = %q", got)
	}
	out, err := exec.Command("/bin/sh", "-c", "tr '\\0' '\\n' </proc/$PPID/environ").Output()
	if err != nil || strings.Contains(string(out), "s3cr3t") || !strings.Contains(string(out), "BEFORE=one\n") {
		t.Errorf("a child reads %q, %v", out, err)
	}
}
