package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cluade/internal/policy"
)

var glob = Tool{
	Name:    "glob",
	Desc:    "List files matching a pattern; ** crosses directories. At most 100.",
	Params:  `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"host":{"type":"string"}},"required":["pattern"]}`,
	Effect:  policy.Read,
	Subject: globSubject,
	Run:     runGlob,
}

const maxResults = 100

// globRoot is a pattern without braces: the directory that its literal
// beginning names, and the rest.
type globRoot struct {
	show    string // the beginning as written, with its slash
	segs    []segment
	dirOnly bool // the pattern ends with a slash
}

// globRoots takes a pattern apart, one root for each alternative of its
// braces. A relative pattern begins at path, as written.
func globRoots(pattern, path string) ([]globRoot, error) {
	if pattern == "" {
		return nil, errors.New("the pattern is empty")
	}
	patterns, err := expandBraces(pattern)
	if err != nil {
		return nil, err
	}
	var roots []globRoot
	for _, p := range patterns {
		r := globRoot{}
		if !standsAlone(p) {
			r.show = asPrefix(path)
		}
		r.dirOnly = strings.HasSuffix(p, "/")
		p = strings.TrimRight(p, "/")
		for {
			first, rest, more := strings.Cut(p, "/")
			seg := parseSegment(first)
			if !more || seg.kind != literal {
				break
			}
			r.show += seg.text + "/"
			p = rest
		}
		r.segs = parseSegments(p)
		roots = append(roots, r)
	}
	return roots, nil
}

// standsAlone says that a pattern does not begin at path.
func standsAlone(pattern string) bool {
	return filepath.IsAbs(pattern) || strings.HasPrefix(pattern, "~/")
}

// asPrefix is a directory as the beginning of a path below it.
func asPrefix(path string) string {
	if path == "" || path == "." || path == "./" {
		return ""
	}
	return strings.TrimRight(path, "/") + "/"
}

// dir is the path that the root's directory has for resolve.
func (r globRoot) dir() string {
	if r.show == "" {
		return "."
	}
	return r.show
}

// globSubject names the directories that the pattern begins in, or the one
// file that a pattern without wildcards means.
func globSubject(e *Env, a *Args) (policy.Subject, error) {
	roots, err := globRoots(a.Text("pattern"), a.Text("path"))
	if err != nil {
		return policy.Subject{}, err
	}
	var names []string
	for _, r := range roots {
		name := r.dir()
		if len(r.segs) == 1 && r.segs[0].kind == literal {
			name = r.show + r.segs[0].text
		}
		names = append(names, name)
	}
	if a.Text("host") != "" {
		return e.remoteFiles(a, names...)
	}
	var sub policy.Subject
	for _, name := range names {
		p, err := e.resolve(name)
		if err != nil {
			return policy.Subject{}, err
		}
		sub.Paths = append(sub.Paths, p)
	}
	return sub, nil
}

func runGlob(ctx context.Context, e *Env, a *Args) (Result, error) {
	pattern, path := a.Text("pattern"), a.Text("path")
	if a.subject.Host != "" {
		return globOnHost(ctx, e, a)
	}
	if !standsAlone(pattern) {
		if err := checkDir(e, path); err != nil {
			return Result{}, err
		}
	}
	roots, err := globRoots(pattern, path)
	if err != nil {
		return Result{}, err
	}
	text, err := await(ctx, walkTime+walkGrace, func(ctx context.Context) (string, error) { return listGlob(ctx, e, roots, &a.subject) })
	return Result{Text: text}, walkError(ctx, err)
}

// checkDir is for a path that was given: a directory that is not there is a
// mistake, not a place where nothing matches.
func checkDir(e *Env, path string) error {
	if path == "" {
		return nil
	}
	p, err := e.resolve(path)
	if err != nil {
		return err
	}
	fi, err := os.Stat(p.Real)
	if err != nil {
		return fileError(p.Abs, path, err)
	}
	if !fi.IsDir() {
		return fmt.Errorf("path %s is not a directory", shown(path))
	}
	return nil
}

// walkError words the end of a walk that did not come back.
func walkError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the file system did not answer within %s", walkTime+walkGrace)
	}
	return err
}

func listGlob(ctx context.Context, e *Env, roots []globRoot, by *policy.Subject) (string, error) {
	var names []string
	w := newWalker(ctx, e, by, nil)
	for _, r := range roots {
		dir, err := e.resolve(r.dir())
		if err != nil {
			return "", err
		}
		n := 0 // each root stops just past the limit; its walk is sorted
		w.visit = func(f found) bool {
			if r.dirOnly {
				if !leadsToDir(f) {
					return true
				}
				f.show += "/"
			}
			names = append(names, f.show)
			n++
			return n <= maxResults
		}
		if w.walk(place{r.show, dir.Real, dir.Abs}, r.segs); w.stopped != "" {
			break
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	out := newListing(e.keep(), maxResults)
	for _, name := range names {
		if !out.add(shown(name)) {
			break
		}
	}
	return out.text("[100-result limit reached]", w.stopped == "", w.notes()), nil
}
