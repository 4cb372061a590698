// Package skills finds and reads skills: directories with a file SKILL.md that
// holds instructions for one kind of task behind a few lines of metadata, the
// form that Claude Code and others share (agentskills.io/specification). A skill
// is text that grants nothing: what it declares to need changes no permission.
// Files come from anybody: sizes are bounded, nothing but a regular file is
// opened, and links lead nowhere but where a Root says.
package skills

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"
)

const (
	fileName   = "SKILL.md"
	maxFile    = 128 << 10 // bytes of a SKILL.md
	maxName    = 64        // bytes of a skill's name
	maxEntries = 1000      // names looked at in one root
)

// System is where packages install skills.
const System = "/usr/share/cluade/skills"

// Root is a directory that holds skills, each in a directory of its own. Links
// are followed where they stay in Dir, or lead into Within; "" is nowhere else.
// Dir itself may be a link that leads into Top; "" is anywhere.
type Root struct{ Dir, Within, Top string }

// Reaches says whether a link in the root to dir, whose own links are resolved,
// is followed.
func (r Root) Reaches(dir string) bool {
	for _, top := range []string{r.Dir, r.Within} {
		if real, err := filepath.EvalSymlinks(top); err == nil && top != "" && inside(real, dir) {
			return true
		}
	}
	return false
}

// Skill is one skill as it was found. A skill with a Fault is there but cannot
// be used; its Name is then that of its directory, as it is.
type Skill struct {
	Name        string
	Description string   // one line
	Tools       []string // what it declares to need; no permission comes of it
	Dir         string   // absolute, links resolved
	Fault       string   // why it is not offered; "" if it is
	Warning     string   // what was read leniently; "" if nothing was

	root *root // where it was found
}

// Roots are the places for skills, the nearest first: those of the working
// directory, then the user's, then the system's. Links in the user's own may
// lead anywhere in the home directory. home and state may be "".
func Roots(dir, home, state string) []Root {
	return append(places("skills .cluade .agents .claude", dir, home, state), Root{Dir: System})
}

// places are the directories of a kind, the first word, in the directories that
// programs keep, the others, the first of which is ours.
func places(words string, dir, home, state string) (roots []Root) {
	names := strings.Fields(words)
	kind, names := names[0], names[1:]
	for _, n := range names {
		roots = append(roots, Root{Dir: filepath.Join(dir, n, kind), Top: project(dir)})
	}
	if state != "" {
		roots = append(roots, Root{Dir: filepath.Join(state, kind), Within: home})
	}
	if home != "" {
		for _, n := range names[1:] {
			roots = append(roots, Root{Dir: filepath.Join(home, n, kind), Within: home})
		}
	}
	return roots
}

// project is the nearest directory from dir upwards that holds .git, else dir.
func project(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// Find returns the skills below the roots, in the order of these and then by
// directory. Of several with one name the nearest counts; the notices say which
// ones it hides, one sentence each, not escaped.
func Find(roots []Root) (list []Skill, notices []string) {
	var f finder
	f.roots, notices = resolve(roots)
	for i := range f.roots {
		found, more := f.search(&f.roots[i])
		if more {
			notices = append(notices, fmt.Sprintf("only %d names in %s are looked at", maxEntries, f.roots[i].Dir))
		}
		for _, s := range found {
			if s.Warning != "" {
				notices = append(notices, s.Dir+": "+s.Warning)
			}
			same := func(o Skill) bool { return o.Fault == "" && o.Name == s.Name }
			if i := slices.IndexFunc(list, same); i < 0 || s.Fault != "" {
				list = append(list, s)
			} else if list[i].Dir != s.Dir {
				notices = append(notices, fmt.Sprintf("%s in %s hides the one in %s", s.Name, list[i].Dir, s.Dir))
			}
		}
	}
	return list, notices
}

// finder is one search.
type finder struct{ roots []root }

// root is a Root that is there.
type root struct {
	Root
	real   string // Dir with its links resolved
	within string // Within with its links resolved, or real
}

// resolve leaves out what is not there, and with a notice what leads out of its
// top. A directory that is two roots, as those of the working directory are in
// the home, is the later of them.
func resolve(roots []Root) (list []root, notices []string) {
	var infos []os.FileInfo
	for n, r := range roots {
		if slices.ContainsFunc(roots[n+1:], func(o Root) bool { return o.Dir == r.Dir }) {
			continue
		}
		real, err := filepath.EvalSymlinks(r.Dir)
		if err != nil {
			continue
		}
		fi, err := os.Stat(real)
		if err != nil || !fi.IsDir() {
			continue
		}
		if top, err := filepath.EvalSymlinks(r.Top); r.Top != "" && (err != nil || !inside(top, real)) {
			notices = append(notices, fmt.Sprintf("%s is a link out of %s; what is there does not count", r.Dir, r.Top))
			continue
		}
		if i := slices.IndexFunc(infos, func(o os.FileInfo) bool { return os.SameFile(o, fi) }); i >= 0 {
			list, infos = append(list[:i], list[i+1:]...), append(infos[:i], infos[i+1:]...)
		}
		within := real
		if w, err := filepath.EvalSymlinks(r.Within); err == nil && r.Within != "" {
			within = w
		}
		list, infos = append(list, root{r, real, within}), append(infos, fi)
	}
	return list, notices
}

// search looks at the directories of one root. more says that it has too many
// names.
func (f *finder) search(r *root) (found []Skill, more bool) {
	d, err := os.Open(r.real)
	if err != nil {
		return nil, false
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxEntries + 1)
	if len(names) > maxEntries {
		names, more = names[:maxEntries], true
	}
	slices.Sort(names)
	for _, name := range names {
		if name[0] == '.' {
			continue // hidden: an import that did not come to its end
		}
		if s, ok := f.look(r, name); ok {
			found = append(found, s)
		}
	}
	return found, more
}

// look reads the skill in one directory of a root; false says that it holds
// none.
func (f *finder) look(r *root, name string) (Skill, bool) {
	dir, err := filepath.EvalSymlinks(filepath.Join(r.real, name))
	if err != nil {
		return Skill{}, false
	}
	_, err = os.Lstat(filepath.Join(dir, fileName))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Skill{}, false
	}
	s := Skill{Name: name, Dir: dir, root: r}
	if !inside(r.real, dir) && !inside(r.within, dir) {
		elsewhere := func(o root) bool { return filepath.Dir(dir) == o.real }
		s.Fault = "it is a link that leads out of " + r.within
		return s, !slices.ContainsFunc(f.roots, elsewhere)
	}
	s.load()
	return s, true
}

// load reads the metadata. A name that cannot be one gives way to that of the
// directory, which s has: published skills have titles there.
func (s *Skill) load() {
	text, err := s.read()
	var h header
	if err == nil {
		h, _, err = parse(text)
	}
	s.Description, s.Tools = h.description, h.tools
	switch {
	case err != nil:
		s.Fault = err.Error()
	case h.description == "":
		s.Fault = "it has no description"
	case validName(h.name):
		s.Name = h.name
	case !validName(s.Name):
		s.Fault = fmt.Sprintf("it needs a name of 1 to %d letters, digits, dots, underscores and hyphens", maxName)
	case h.name != "":
		s.Warning = fmt.Sprintf("the name %.80q is not of 1 to %d letters, digits, dots, underscores and hyphens; its directory's counts", h.name, maxName)
	}
}

// read returns the text of the skill's file.
func (s Skill) read() (string, error) {
	return readText(filepath.Join(s.Dir, fileName), maxFile, s.Dir, s.root.real)
}

// readText returns the text of a file of at most max bytes, without a byte order
// mark and with plain line ends. The file may be a link that stays in one of
// the directories.
func readText(path string, max int64, within ...string) (string, error) {
	name := filepath.Base(path)
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", reason(name, err)
	}
	if !slices.ContainsFunc(within, func(dir string) bool { return inside(dir, path) }) {
		return "", errors.New(name + " is a link that leads out of its directory")
	}
	fi, err := os.Lstat(path)
	if err != nil {
		return "", reason(name, err)
	}
	if !fi.Mode().IsRegular() {
		return "", errors.New(name + " is not a regular file")
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0) // it may have become a pipe
	if err != nil {
		return "", reason(name, err)
	}
	defer file.Close()
	if fi, err = file.Stat(); err != nil || !fi.Mode().IsRegular() {
		return "", errors.New(name + " is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, max+1))
	switch {
	case err != nil:
		return "", reason(name, err)
	case int64(len(data)) > max:
		return "", fmt.Errorf("%s is larger than %d bytes", name, max)
	case !utf8.Valid(data):
		return "", errors.New(name + " is not UTF-8 text")
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n"), nil
}

// reason is an error without the path.
func reason(name string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s cannot be read: %w", name, p.Err)
	}
	return err
}

// inside says whether path is dir or lies below it; both are clean.
func inside(dir, path string) bool {
	return dir == "/" || path == dir || strings.HasPrefix(path, dir+"/")
}

// validName says whether s can be a skill's name, and so the name of a
// directory: dots alone are none.
func validName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return strings.Trim(s, ".") != "" && len(s) <= maxName
}
