package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"cluade/internal/policy"
)

const (
	maxLinks = 40 // symbolic links that one path may pass, as in Linux
	lookTime = 5 * time.Second
)

var errNoAnswer = errors.New("the file system does not answer")

// resolve says which file a path argument means. A relative path joins the
// working directory and a leading ~/ is the home. The path is cleaned before
// links are followed, so x/../y is y even where x is a link. Nothing is opened,
// and nothing need exist. Even to look may wait for ever, for the server of a
// network mount; whoever uses the path after this finds one that answers.
func (e *Env) resolve(name string) (policy.Path, error) {
	abs, err := e.absolute(name)
	if err != nil {
		return policy.Path{}, err
	}
	env := *e // the look may outlast the call
	p, err := await(context.Background(), lookTime, func(context.Context) (policy.Path, error) { return env.follow(abs) })
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s: %w", shown(name), errNoAnswer)
	}
	return p, err
}

func (e *Env) follow(abs string) (policy.Path, error) {
	real, err := realPath(abs)
	if err != nil {
		return policy.Path{}, err
	}
	project, err := realPath(e.Project)
	return policy.Path{
		Abs:       abs,
		Real:      real,
		Root:      gitRoot(real),
		InProject: err == nil && contains(project, real),
		Guard:     newGuard(e, &policy.Subject{}).check(abs, real),
	}, nil
}

func (e *Env) absolute(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("the path is empty")
	case strings.IndexByte(name, 0) >= 0:
		return "", fmt.Errorf("the path %s holds a NUL byte", shown(name))
	case name == "~" || strings.HasPrefix(name, "~/"):
		if e.Home == "" {
			return "", fmt.Errorf("%s: there is no home directory here; give an absolute path", shown(name))
		}
		return filepath.Join(e.Home, name[1:]), nil
	case filepath.IsAbs(name):
		return filepath.Clean(name), nil
	}
	return filepath.Join(e.Dir, name), nil
}

// gitRoot is the directory with .git that holds a file, "" if there is none.
func gitRoot(file string) string {
	for d := filepath.Dir(file); d != "/"; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
	}
	return ""
}

// contains says whether path is dir or lies below it. Both are clean and
// absolute.
func contains(dir, path string) bool {
	if dir == "/" || dir == path {
		return true
	}
	return len(path) > len(dir) && path[len(dir)] == '/' && path[:len(dir)] == dir
}

// realPath follows the symbolic links of a clean absolute path as far as it
// exists; what does not exist is kept as it is. The last element is followed
// too. Names that cannot be looked at count as no link: opening them fails.
func realPath(abs string) (string, error) {
	real, rest, links := "/", strings.Split(abs, "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		target, err := os.Readlink(next)
		if err != nil {
			real = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: too many levels of symbolic links", shown(abs))
		}
		if filepath.IsAbs(target) {
			real = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return real, nil
}

// fileSubject is the subject of a tool whose one path is filePath.
func fileSubject(e *Env, a *Args) (policy.Subject, error) {
	if a.Text("host") != "" {
		return e.remoteFiles(a, a.Text("filePath"))
	}
	p, err := e.resolve(a.Text("filePath"))
	return policy.Subject{Paths: []policy.Path{p}}, err
}

// openRegular opens a regular file for reading. Nothing else is ever opened:
// the opening alone would start a watchdog or wait for a pipe's writer. name is
// the path as the model wrote it, for errors.
func openRegular(p policy.Path, name string) (*os.File, fs.FileInfo, error) {
	fi, err := os.Lstat(p.Real)
	if err != nil {
		return nil, nil, fileError(p.Abs, name, err)
	}
	if err := notRegular(fi, name); err != nil {
		return nil, nil, err
	}
	f, err := os.OpenFile(p.Real, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, nil, fileError(p.Abs, name, err)
	}
	if fi, err = f.Stat(); err == nil {
		err = notRegular(fi, name)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, fi, nil
}

// notRegular is the error for what is not a regular file, nil for one.
func notRegular(fi fs.FileInfo, name string) error {
	kind := "device"
	switch m := fi.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return fmt.Errorf("%s is a directory; glob lists what is in it", shown(name))
	case m&fs.ModeNamedPipe != 0:
		kind = "named pipe"
	case m&fs.ModeSocket != 0:
		kind = "socket"
	}
	return fmt.Errorf("%s is a %s, not a regular file", shown(name), kind)
}

// fileError words an error of the operating system for the model.
func fileError(abs, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		if target, linkErr := os.Readlink(abs); linkErr == nil {
			return fmt.Errorf("no such file: %s is a link to %s, which does not exist: %w", shown(name), shown(target), fs.ErrNotExist)
		}
		return &pathError{"no such file: " + shown(name), err}
	}
	return &pathError{shown(name) + ": " + errnoText(err), err}
}

// pathError is an operating system's error in our words.
type pathError struct {
	text string
	err  error
}

func (e *pathError) Error() string { return e.text }

// Unwrap returns the operating system's error.
func (e *pathError) Unwrap() error { return e.err }

// errnoText is the bare reason of an error, without operation and path.
func errnoText(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

// shown is a path as it stands in a result, where a line is one path: names
// with control characters or bytes that are not UTF-8 are quoted as in Go.
func shown(path string) string {
	odd := func(r rune) bool { return r < ' ' || r == 0x7f }
	if utf8.ValidString(path) && strings.IndexFunc(path, odd) < 0 {
		return path
	}
	return strconv.Quote(path)
}

// cutText shortens s to at most n bytes and never cuts a character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for back := 0; back < utf8.UTFMax && n > 0 && !utf8.RuneStart(s[n]); back++ {
		n--
	}
	return s[:n]
}
