package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// findScript runs find on the directory $2, if it is one, with the conditions
// behind it. The directory $1 has to be there. Both may be links.
const findScript = `ulimit -t 20 2>/dev/null
[ -d "$1" ] || { [ -e "$1" ] && exit 66; exit 67; }
shift
[ ! -d "$1" ] || exec find -H "$@"`

// placeError words the exit codes 66 and 67 of the scripts.
func placeError(err error) error {
	var end shellError
	switch {
	case !errors.As(err, &end):
	case end.code == 66:
		return errors.New("is not a directory")
	case end.code == 67:
		return errors.New("no such file or directory")
	}
	return err
}

// globOnHost is glob on another host: find lists, the pattern is matched here.
func globOnHost(ctx context.Context, e *Env, a Args) (Result, error) {
	roots, err := globRoots(a.Text("pattern"), a.Text("path"))
	if err != nil {
		return Result{}, err
	}
	h, err := e.onHost(ctx, a)
	if err != nil {
		return Result{}, err
	}
	must := "/"
	if p := a.Text("path"); p != "" && !standsAlone(a.Text("pattern")) {
		if must, err = hostPath(h.conn.target, p); err != nil {
			return Result{}, err
		}
	}
	l := hostList{host: h, must: must}
	for i, r := range roots {
		dir := a.subject.Paths[i].Abs
		if len(r.segs) == 1 && r.segs[0].kind == literal {
			dir = path.Dir(dir)
		}
		if err := l.find(ctx, dir, r); err != nil {
			return Result{}, h.fails(fmt.Errorf("%s: %w", shown(must), err))
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
	must    string   // a directory that has to be there
	names   []string // that match, as shown
	entries int
	stopped string // why it ended before its end
	locked  string // what could not be read: what find says of it
}

func (l *hostList) find(ctx context.Context, dir string, r globRoot) error {
	limited, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	s, out, err := l.host.conn.shell(limited, nil, findScript, append([]string{l.must, dir}, findArgs(dir, r)...))
	if err != nil {
		return err
	}
	base := strings.TrimSuffix(dir, "/") + "/"
	for l.entries <= maxEntries {
		var name string
		if name, err = readName(out); err != nil {
			break
		}
		l.entries++
		rel, below := strings.CutPrefix(name, base)
		if !below || rel == "" || !matchPath(r.segs, strings.Split(rel, "/")) || l.host.env.hostHides(name) {
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
		return placeError(end)
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
