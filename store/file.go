package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxConfig bounds a file that is read whole: a configuration or a key.
const maxConfig = 1 << 20

// readFile reads a regular file of at most max bytes. Anything else, a FIFO
// say, is an error at once and never waited for.
func readFile(path string, max int64) ([]byte, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, nil, err
	}
	if int64(len(data)) > max {
		return nil, nil, fmt.Errorf("is larger than %d KiB", max>>10)
	}
	return data, info, nil
}

// readOwn is readFile for what stands for a person's word: a file to which others
// can write is none.
func readOwn(path string, max int64) ([]byte, error) {
	data, info, err := readFile(path, max)
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		return nil, fmt.Errorf("others can write to it (mode %04o), so nothing of it counts: chmod 600 %s", info.Mode().Perm(), path)
	}
	return data, err
}

// writeConfig replaces a file that a person may keep elsewhere: one to which a
// link leads is written there.
func writeConfig(path string, data []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return writeFile(path, data, true)
}

// writeFile replaces the file, or the link, at path by a file of mode 0600. A
// reader sees the old or the new one; with sync that holds over a power cut too.
func writeFile(path string, data []byte, sync bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil && sync {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// why is the reason of a file error without the operation and the path, which
// the caller has said already.
func why(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// expandHome puts home in the place of a leading "~/".
func expandHome(path, home string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}
