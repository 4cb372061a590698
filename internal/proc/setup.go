package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// defaultPath is searched when the environment has no PATH.
const defaultPath = "/usr/sbin:/usr/bin:/sbin:/bin"

// lookPath returns the file to execute. Entries of PATH that are not absolute
// are passed over: they would mean the current directory, and a repository
// would choose the program.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	path := defaultPath
	for _, v := range env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			path = p
		}
	}
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		file := filepath.Join(dir, name)
		if fi, err := os.Stat(file); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("not found in PATH (%s)", path)
}

// checkDir says in time what the kernel would report as an error of the
// program.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	fi, err := os.Stat(dir)
	switch {
	case err != nil:
		return workdirError(dir, errors.Unwrap(err))
	case !fi.IsDir():
		return workdirError(dir, syscall.ENOTDIR)
	}
	const search = 1 // X_OK
	if err := syscall.Access(dir, search); err != nil {
		return workdirError(dir, err)
	}
	return nil
}

func workdirError(dir string, err error) error {
	return fmt.Errorf("working directory %s: %w", dir, err)
}

// closeOnExec keeps from children what this process was itself given open
// beyond the three standard files: a lock, a listening socket. Its own files
// have the mark from the start. Without /proc nothing can be done.
func closeOnExec() {
	names, _ := os.ReadDir("/proc/self/fd")
	for _, e := range names {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
