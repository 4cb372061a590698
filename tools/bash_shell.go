package tools

import (
	"os"
	"path/filepath"
	"strings"
)

// shellPath is the one shell that commands run with. Small systems have no
// other.
const shellPath = "/bin/sh"

// describeShell says for the model which shell a path is, so that it writes
// what that shell understands. Nothing is run for it: the program's own name
// tells, behind links of both kinds.
func describeShell(path string) string {
	switch kind := shellKind(path); kind {
	case "":
		return path + " (no bash-only syntax)"
	case "bash":
		return path + ", which is bash here"
	case "busybox", "ash":
		return path + ", which is BusyBox ash here (no bash-only syntax)"
	default:
		return path + ", which is " + kind + " here (no bash-only syntax)"
	}
}

// shellKind is the name of the program behind a shell's path, "" if it cannot
// be known. A file that is the same as a known program comes before the name
// it bears, since a shell can be mounted over another's path.
func shellKind(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	fi, err := os.Stat(real)
	if err != nil {
		return ""
	}
	base := filepath.Base(real)
	known := []string{"busybox", "toybox", "dash", "bash", "ash", "ksh", "mksh", "zsh"}
	for _, name := range known {
		for _, dir := range []string{filepath.Dir(real), "/bin", "/usr/bin"} {
			other, err := os.Stat(filepath.Join(dir, name))
			if err == nil && os.SameFile(fi, other) && (name != base || dir != filepath.Dir(real)) {
				return name
			}
		}
	}
	for _, name := range known {
		if base == name || name == "busybox" && strings.HasPrefix(base, "busybox") {
			return name
		}
	}
	return ""
}
