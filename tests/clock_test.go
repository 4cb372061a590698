package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestClockBeforeTheBuild: a clock that shows less than the date of the build is
// wrong. The build says that date to the variable that is asked.
func TestClockBeforeTheBuild(t *testing.T) {
	const built = "-X cluade/provider.built="
	if !strings.Contains(page(t, "build/compile.sh"), built) {
		t.Errorf("build/compile.sh lacks %s", built)
	}
	bin := filepath.Join(t.TempDir(), "cluade")
	build := exec.Command("go", "build", "-buildvcs=false", "-tags", "netgo,osusergo", "-ldflags", built+"2100-01-01T00:00:00Z", "-o", bin, ".")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	cmd := exec.Command(bin, "doctor")
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "CLUADE_BASE_URL=http://127.0.0.1:1/v1"}
	out, _ := cmd.Output()
	if !strings.Contains(string(out), "\nFAIL  clock ") || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("exit %d\n%s", cmd.ProcessState.ExitCode(), out)
	}
}
