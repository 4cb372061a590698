package tools

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// findScript runs find on the directory $1 with the conditions behind it.
const findScript = `ulimit -t 20 2>/dev/null
exec find "$@"`

// globOnHost is glob on another host: find lists, the pattern is matched here.
// Where a directory leads is judged before anything in it is listed.
func globOnHost(ctx context.Context, e *Env, a *Args) (Result, error) {
	roots, err := globRoots(a.Text("pattern"), a.Text("path"))
	if err != nil {
		return Result{}, err
	}
	h, err := e.onHost(ctx, a)
	if err != nil {
		return Result{}, err
	}
	l := hostList{host: h, args: a, places: make(map[string]string)}
	if dir := a.Text("path"); dir != "" && !standsAlone(a.Text("pattern")) {
		if err := l.mustBeDir(ctx, dir); err != nil {
			return Result{}, h.fails(err)
		}
	}
	for i, r := range roots {
		if err := l.list(ctx, a.subject.Paths[i].Abs, r); err != nil {
			return Result{}, h.fails(err)
		}
		if l.stopped != "" {
			break
		}
	}
	slices.Sort(l.names)
	l.names = slices.Compact(l.names)
	out := newListing(max(e.keep()-len(withNotes("", h.notes)), e.keep()/2), maxResults)
	for _, name := range l.names {
		if !out.add(shown(name)) {
			break
		}
	}
	return Result{Text: withNotes(out.text("[100-result limit reached]", l.stopped == "", l.notes()), h.notes)}, nil
}

// hostList collects what find finds.
type hostList struct {
	host    *host
	args    *Args
	places  map[string]string // directories without links, by name; "" is none
	names   []string          // that match, as shown
	entries int
	stopped string // why it ended before its end
	locked  string // what could not be read: what find says of it
}

// mustBeDir is the error for a path that is no directory.
func (l *hostList) mustBeDir(ctx context.Context, name string) error {
	abs, err := hostPath(l.host.conn.target, name)
	if err != nil {
		return err
	}
	f, err := l.host.find(ctx, l.args, abs)
	switch {
	case err != nil:
		return err
	case f.kind == "none", f.kind == "link":
		return fmt.Errorf("%s: no such file or directory", shown(abs))
	case !f.IsDir():
		return fmt.Errorf("%s: is not a directory", shown(abs))
	}
	l.places[abs] = f.real
	return nil
}

// list lists what fits a pattern that begins at named.
func (l *hostList) list(ctx context.Context, named string, r globRoot) error {
	if len(r.segs) == 1 && r.segs[0].kind == literal {
		if _, err := l.host.find(ctx, l.args, named); err != nil {
			return err
		}
		named = path.Dir(named)
	}
	dir, known := l.places[named]
	if !known {
		f, err := l.host.find(ctx, l.args, named)
		if err != nil {
			return err
		}
		if f.IsDir() {
			dir = f.real
		}
		l.places[named] = dir
	}
	if dir == "" {
		return nil
	}
	return l.find(ctx, place{show: r.show, path: dir, named: named}, r)
}

func (l *hostList) find(ctx context.Context, dir place, r globRoot) error {
	limited, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	s, out, err := l.host.conn.shell(limited, nil, findScript, append([]string{dir.path}, findArgs(dir.path, r)...))
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(dir.path, "/") + "/"
	for l.entries <= maxEntries {
		var name string
		if name, err = readName(out); err != nil {
			break
		}
		l.entries++
		rel, below := strings.CutPrefix(name, base)
		if !below || rel == "" || !matchPath(r.segs, strings.Split(rel, "/")) || l.host.hides(path.Join(dir.named, rel), name) {
			continue
		}
		if r.dirOnly {
			rel += "/"
		}
		l.keep(r.show + rel)
	}
	end := s.finish()
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case limited.Err() != nil:
		l.stopped = fmt.Sprintf("stopped after %s and %d entries", walkTime, l.entries)
	case l.entries > maxEntries:
		l.stopped = fmt.Sprintf("stopped after %d entries", maxEntries)
	case err != nil && err != io.EOF:
		return err
	case end != nil && l.entries > 0:
		l.locked, _, _ = strings.Cut(end.Error(), "\n")
	default:
		return end
	}
	return nil
}

// keep takes a name. Of many, only the first by name will be shown.
func (l *hostList) keep(name string) {
	if l.names = append(l.names, name); len(l.names) >= 20*maxResults {
		slices.Sort(l.names)
		l.names = slices.Compact(l.names)
		l.names = l.names[:min(len(l.names), maxResults+1)]
	}
}

// notes says what the listing does not show.
func (l *hostList) notes() []string {
	var notes []string
	if l.locked != "" {
		notes = append(notes, "[some paths could not be read: "+cutText(l.locked, 200)+"]")
	}
	if l.stopped != "" {
		notes = append(notes, "["+l.stopped+"; there may be more, narrow the pattern or path]")
	}
	return notes
}

// findArgs makes find list what may match below dir: all of it for **, else
// what is as deep as the pattern.
func findArgs(dir string, r globRoot) []string {
	list := []string{"-print0"}
	if r.dirOnly {
		list = []string{"(", "-type", "d", "-o", "-type", "l", "-exec", "test", "-d", "{}", ";", ")", "-print0"}
	}
	skip := skipArgs(dir, r.segs)
	if slices.ContainsFunc(r.segs, func(s segment) bool { return s.kind == anyDepth }) {
		// What is skipped is listed all the same, but not entered.
		return slices.Concat(skip, []string{"-prune"}, list, []string{"-o"}, list)
	}
	deep := strings.TrimSuffix(escapeGlob(dir), "/") + strings.Repeat("/?*", len(r.segs))
	return slices.Concat([]string{"-path", deep, "-prune"}, list, []string{"-o"}, skip, []string{"-prune"})
}

// skipArgs is the condition for the directories that are entered only when the
// pattern names them; see skipped.
func skipArgs(dir string, segs []segment) []string {
	named := func(name string) bool {
		return slices.ContainsFunc(segs, func(s segment) bool { return s.kind == literal && s.text == name })
	}
	var args []string
	add := func(test, name string) {
		if len(args) > 0 {
			args = append(args, "-o")
		}
		args = append(args, test, name)
	}
	for _, name := range []string{".git", "node_modules"} {
		if !named(name) {
			add("-name", name)
		}
	}
	if dir == "/" {
		for _, name := range []string{"proc", "sys", "dev"} {
			if !named(name) {
				add("-path", "/"+name)
			}
		}
	}
	if len(args) == 0 {
		return []string{"!", "-name", "*"}
	}
	return slices.Concat([]string{"!", "-path", escapeGlob(dir), "("}, args, []string{")"})
}

// escapeGlob makes a text one that a pattern of find takes as it is.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(s)
}

// matchPath says whether the names of a path fit the segments of a pattern.
func matchPath(segs []segment, names []string) bool {
	w := walker{segs: segs}
	at := w.closure([]int{0})
	for _, name := range names {
		var next []int
		for _, pos := range at {
			if pos == len(segs) {
				continue
			}
			switch seg := segs[pos]; {
			case seg.kind == anyDepth:
				next = append(next, pos)
			case seg.kind == literal && seg.text == name, seg.kind == wild && matchName(seg.text, name):
				next = append(next, pos+1)
			}
		}
		at = w.closure(slices.Compact(next))
	}
	return slices.Contains(at, len(segs))
}
