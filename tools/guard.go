package tools

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"cluade/internal/policy"
)

// guard knows which files are cluade's own state and which are the kernel's.
// A path is judged by its names and, because links, bind mounts and spelling
// on case-blind file systems give one file many names, by device and inode. It
// does not see a file that is exchanged after it was judged. A guard is good
// for one call.
type guard struct {
	rules   func(by policy.Subject, f policy.Path) bool // of Env.Hidden; nil hides nothing
	by      *policy.Subject                             // the call
	roots   []string                                    // the state directories that are known, as named and resolved
	private []string                                    // further places that nobody may read, as named and resolved
	saved   []string                                    // the directory of sessions outside of those, as named and resolved
	savedIn fileID                                      // the same
	session string                                      // the journal that may be read, resolved; "" if none
	self    fileID                                      // of session

	places map[fileID][]string     // a state directory or what lies directly in it, by its path inside
	hidden map[fileID]bool         // the private places
	linked map[fileID]policy.Guard // all files of the above; nil until a file with several names is met
}

// fileID is what makes a file the same file.
type fileID struct{ dev, ino uint64 }

func idOf(fi fs.FileInfo) fileID {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return fileID{}
	}
	return fileID{uint64(st.Dev), uint64(st.Ino)}
}

// forbids says whether a rule hides a file that was found.
func (g *guard) forbids(abs, real string) bool {
	return g.rules != nil && g.rules(*g.by, policy.Path{Abs: abs, Real: real})
}

func newGuard(e *Env, by *policy.Subject) *guard {
	g := &guard{rules: e.Hidden, by: by, places: make(map[fileID][]string), hidden: make(map[fileID]bool)}
	for _, dir := range []string{e.State, "/etc/cluade", below(e.Home), below(e.Project), below(e.Dir)} {
		if dir != "" {
			g.addRoot(dir)
		}
	}
	for _, p := range e.Private {
		g.private = append(g.private, bothNames(p)...)
		if fi, err := os.Stat(p); err == nil {
			g.hidden[idOf(fi)] = true
		}
	}
	if e.Saved != "" {
		g.saved = bothNames(e.Saved)
		if fi, err := os.Stat(e.Saved); err == nil {
			g.savedIn = idOf(fi)
		}
	}
	if e.Session != "" {
		g.session, _ = realPath(e.Session)
		if fi, err := os.Stat(e.Session); err == nil {
			g.self = idOf(fi)
		}
	}
	return g
}

func below(dir string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, ".cluade")
}

func bothNames(p string) []string {
	p = filepath.Clean(p)
	if real, err := realPath(p); err == nil && real != p {
		return []string{p, real}
	}
	return []string{p}
}

// addRoot notes a state directory and what lies directly in it. OpenWrt's root
// is an overlay, whose upper layer shows the same files under a second name
// and another device.
func (g *guard) addRoot(dir string) {
	for _, p := range bothNames(dir) {
		g.roots = append(g.roots, p, "/overlay/upper"+p)
	}
	fi, err := os.Stat(dir)
	if err != nil {
		return
	}
	g.places[idOf(fi)] = nil
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		path, inside := filepath.Join(dir, e.Name()), []string{e.Name()}
		if fi, err := os.Stat(path); err == nil {
			g.places[idOf(fi)] = inside
		}
		if e.Type() == fs.ModeSymlink && classify(inside) == policy.NoRead {
			g.private = append(g.private, bothNames(path)...)
		}
	}
}

// check judges a path as named and as resolved; the stricter result counts.
func (g *guard) check(abs, real string) policy.Guard {
	worst := max(g.byName(abs), g.byName(real), g.byIdentity(real))
	if fi, err := os.Lstat(real); real == g.session || err == nil && g.isSession(real, fi) {
		return policy.NoWrite
	}
	if kernelFS(real) {
		worst = max(worst, policy.NoWrite)
	}
	return worst
}

// hides says whether a file met on a walk must not be read. path is resolved.
func (g *guard) hides(path string, fi fs.FileInfo) bool {
	worst := max(g.byName(path), g.inPlace(fi, nil), g.hardLink(fi))
	return worst == policy.NoRead && !g.isSession(path, fi)
}

func (g *guard) isSession(real string, fi fs.FileInfo) bool {
	return g.session != "" && (real == g.session || g.self != fileID{} && idOf(fi) == g.self)
}

// byName judges the spelling of a path: any directory called .cluade is state,
// whoever's it is.
func (g *guard) byName(path string) policy.Guard {
	worst := policy.Open
	for _, root := range g.roots {
		if contains(root, path) {
			worst = max(worst, classify(strings.Split(path[len(root):], "/")))
		}
	}
	for _, p := range g.private {
		if contains(p, path) {
			worst = policy.NoRead
		}
	}
	if dir, name := filepath.Split(path); slices.Contains(g.saved, filepath.Clean(dir)) && matchName(sessionFile, name) {
		worst = policy.NoRead
	}
	for name, rest, more := strings.Cut(path, "/"); ; name, rest, more = strings.Cut(rest, "/") {
		if strings.EqualFold(strings.TrimRight(name, ". "), ".cluade") { // FAT drops these
			worst = max(worst, classify(strings.Split(rest, "/")))
		}
		if !more {
			break
		}
	}
	return worst
}

// sessionFile fits the names of sessions: date, time and a number.
const sessionFile = "????????-??????-????.json*"

// classify judges a path inside a state directory, given as its names. Content
// (skills and commands) is open, secrets and authority are hidden, the rest
// may be read.
func classify(inside []string) policy.Guard {
	for len(inside) > 0 && inside[0] == "" {
		inside = inside[1:]
	}
	if len(inside) == 0 {
		return policy.NoWrite
	}
	first := strings.TrimRight(strings.ToLower(inside[0]), ". ")
	if (first == "skills" || first == "commands") && len(inside) > 1 {
		return policy.Open
	}
	for _, name := range []string{"config.json", "trust.json", "approvals", "guard", "history", "sessions"} {
		if first == name || strings.HasPrefix(first, name+".") || first == name+"~" {
			return policy.NoRead
		}
	}
	return policy.NoWrite
}

// byIdentity judges the file that a resolved path leads to, and the
// directories on the way, by device and inode.
func (g *guard) byIdentity(real string) policy.Guard {
	worst := policy.Open
	var rest []string
	for p := real; p != "/"; p = filepath.Dir(p) {
		fi, err := os.Lstat(p)
		if err == nil {
			worst = max(worst, g.inPlace(fi, rest))
		}
		if err == nil && p == real {
			worst = max(worst, g.hardLink(fi))
		}
		rest = append([]string{filepath.Base(p)}, rest...)
	}
	return worst
}

// inPlace judges rest below the directory (or the file itself) that fi names.
func (g *guard) inPlace(fi fs.FileInfo, rest []string) policy.Guard {
	id := idOf(fi)
	if g.hidden[id] || g.saved != nil && id == g.savedIn && len(rest) == 1 && matchName(sessionFile, rest[0]) {
		return policy.NoRead
	}
	inside, ok := g.places[id]
	if !ok {
		return policy.Open
	}
	return classify(append(inside[:len(inside):len(inside)], rest...))
}

// maxState is how many of cluade's own files are looked at for hard links.
const maxState = 20000

// hardLink judges a file with several names by looking for its others among
// cluade's own files.
func (g *guard) hardLink(fi fs.FileInfo) policy.Guard {
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok || !fi.Mode().IsRegular() || st.Nlink < 2 {
		return policy.Open
	}
	if g.linked == nil {
		g.linked = make(map[fileID]policy.Guard)
		for _, dir := range slices.Concat(g.roots, g.private, g.saved) {
			g.addLinks(dir)
		}
	}
	return g.linked[idOf(fi)]
}

func (g *guard) addLinks(dir string) {
	n := 0
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; n > maxState {
			return fs.SkipAll
		}
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if fi, err := d.Info(); err == nil {
			g.linked[idOf(fi)] = max(g.linked[idOf(fi)], g.byName(path))
		}
		return nil
	})
}

// kernelFS says whether a path belongs to procfs or sysfs, by name or, where
// one is mounted elsewhere, by the file system that holds it. One byte written
// to the wrong file there reboots the box, and reading may wait for ever.
func kernelFS(real string) bool {
	if contains("/proc", real) || contains("/sys", real) {
		return true
	}
	const procMagic, sysMagic = 0x9fa0, 0x62656572 // linux/magic.h
	var st syscall.Statfs_t
	for p := real; ; p = filepath.Dir(p) {
		if syscall.Statfs(p, &st) == nil {
			return uint32(st.Type) == procMagic || uint32(st.Type) == sysMagic
		}
		if p == "/" {
			return false
		}
	}
}
