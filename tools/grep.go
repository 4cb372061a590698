package tools

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"

	"cluade/internal/policy"
)

var grep = Tool{
	Name:    "grep",
	Desc:    "Search file contents with an RE2 regular expression (alternation is a|b). At most 100 lines.",
	Params:  `{"type":"object","properties":{"pattern":{"type":"string"},"path":{"type":"string"},"include":{"type":"string"},"ignoreCase":{"type":"boolean"},"host":{"type":"string"}},"required":["pattern"]}`,
	Effect:  policy.Read,
	Subject: grepSubject,
	Run:     runGrep,
}

const (
	maxGrepFile = 4 << 20
	maxGrepLine = 300
)

func grepSubject(e *Env, a *Args) (policy.Subject, error) {
	if a.Text("host") != "" {
		return e.remoteFiles(a, grepPath(a))
	}
	p, err := e.resolve(grepPath(a))
	return policy.Subject{Paths: []policy.Path{p}}, err
}

func grepPath(a *Args) string {
	if p := a.Text("path"); p != "" {
		return p
	}
	return "."
}

// search is one run of grep.
type search struct {
	w       *walker
	re      *regexp.Regexp
	include []string // patterns for base names; none takes every file
	out     *listing
	br      *bufio.Reader
	binary  int // files that were passed by
	large   int
}

func runGrep(ctx context.Context, e *Env, a *Args) (Result, error) {
	re, err := compile(a.Text("pattern"), a.Bool("ignoreCase"))
	if err != nil {
		return Result{}, err
	}
	include, err := parseInclude(a.Text("include"))
	if err != nil {
		return Result{}, err
	}
	if a.subject.Host != "" {
		return grepOnHost(ctx, e, a, &search{re: re, include: include, out: newListing(e.keep(), maxResults)})
	}
	text, err := await(ctx, walkTime+walkGrace, func(ctx context.Context) (string, error) {
		s := &search{re: re, include: include, out: newListing(e.keep(), maxResults), br: bufio.NewReaderSize(nil, 32<<10)}
		s.w = newWalker(ctx, e, &a.subject, s.visit)
		if err := s.run(a.subject.Paths[0], grepPath(a)); err != nil {
			return "", err
		}
		return s.text(a.Text("pattern"), s.w.stopped == "", s.w.notes()), nil
	})
	return Result{Text: text}, walkError(ctx, err)
}

// compile reads an RE2 pattern. The error says where it is wrong.
func compile(pattern string, ignoreCase bool) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, errors.New("the pattern is empty")
	case len(pattern) > maxPattern:
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPattern)
	}
	flags := ""
	if ignoreCase {
		flags = "(?i)"
	}
	re, err := regexp.Compile(flags + pattern)
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return nil, fmt.Errorf("the pattern is no RE2 expression: %s at position %d (%q); alternation is a|b, and there is no lookaround or backreference", bad.Code, errorPosition(pattern, bad), cutText(bad.Expr, 60))
	}
	return re, err
}

// errorPosition is where a pattern goes wrong, in bytes from 1. For
// parentheses without a partner the regexp package names the whole pattern.
func errorPosition(pattern string, bad *syntax.Error) int {
	switch bad.Code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen:
		return unpaired(pattern) + 1
	case syntax.ErrTrailingBackslash:
		return len(pattern)
	}
	return max(strings.Index(pattern, bad.Expr), 0) + 1
}

// unpaired finds the parenthesis that has no partner, by bytes from 0.
func unpaired(pattern string) int {
	var open []int
	set := false
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\':
			i++
		case set:
			set = c != ']'
		case c == '[':
			set = true
		case c == '(':
			open = append(open, i)
		case c == ')' && len(open) == 0:
			return i
		case c == ')':
			open = open[:len(open)-1]
		}
	}
	if len(open) == 0 {
		return 0
	}
	return open[len(open)-1]
}

// parseInclude reads the filter for base names. A leading **/ says nothing
// about them and is dropped.
func parseInclude(include string) ([]string, error) {
	if include == "" {
		return nil, nil
	}
	patterns, err := expandBraces(include)
	for i, p := range patterns {
		patterns[i] = strings.TrimPrefix(p, "**/")
		if strings.Contains(patterns[i], "/") {
			return nil, fmt.Errorf("include %q names directories; it filters file names only, use path for the directory", include)
		}
	}
	return patterns, err
}

func (s *search) run(root policy.Path, name string) error {
	fi, err := os.Stat(root.Real)
	switch {
	case err != nil:
		return fileError(root.Abs, name, err)
	case fi.IsDir():
		s.w.walk(place{asPrefix(name), root.Real, root.Abs}, everything())
		return nil
	}
	return s.named(root, name)
}

// named searches the one file that the call names. That it was passed by would
// read as "no matches", so it is an error.
func (s *search) named(p policy.Path, name string) error {
	f, fi, err := openRegular(p, name)
	if err != nil {
		return err
	}
	defer f.Close()
	s.opened(f, fi, p, name)
	switch {
	case s.large > 0:
		return fmt.Errorf("%s was skipped: it is %d bytes, over 4 MiB; search it with grep through bash", shown(name), fi.Size())
	case s.binary > 0:
		return fmt.Errorf("%s was skipped: it is binary (%s); search it with strings and grep through bash", shown(name), plural(fi.Size(), "byte"))
	}
	return nil
}

// visit searches what is a regular file, or a link to one: in /etc half the
// files are links.
func (s *search) visit(f found) bool {
	if s.include != nil && !s.included(path.Base(f.show)) {
		return true
	}
	p := policy.Path{Abs: f.abs, Real: f.path}
	if f.mode.Type() == fs.ModeSymlink {
		fi, err := os.Stat(f.path)
		if err != nil || !fi.Mode().IsRegular() {
			return true
		}
		p.Real, err = realPath(f.path)
		if err != nil || kernelFS(p.Real) || s.w.guard.check(p.Abs, p.Real) == policy.NoRead || s.w.guard.forbids(p.Abs, p.Real) {
			return true
		}
	} else if !f.mode.IsRegular() {
		return true
	}
	return s.file(p, f.show)
}

func (s *search) included(base string) bool {
	for _, p := range s.include {
		if matchName(p, base) {
			return true
		}
	}
	return false
}

// file searches one file; false ends the walk.
func (s *search) file(p policy.Path, show string) bool {
	f, fi, err := openRegular(p, show)
	if err != nil {
		s.w.lock(show, err)
		return true
	}
	defer f.Close()
	return s.opened(f, fi, p, show)
}

func (s *search) opened(f *os.File, fi fs.FileInfo, p policy.Path, show string) bool {
	if s.w.guard.hides(p.Real, fi) {
		return true
	}
	if fi.Size() > maxGrepFile {
		s.large++
		return true
	}
	f.SetReadDeadline(time.Now().Add(kernelTime)) // where a file of the kernel can be waited for
	s.br.Reset(io.LimitReader(&source{ctx: s.w.ctx, r: f}, maxGrepFile))
	head, err := s.br.Peek(sniffSize)
	if err != nil && err != io.EOF {
		s.w.lock(show, err)
		return true
	}
	if bytes.IndexByte(head, 0) >= 0 {
		s.binary++
		return true
	}
	return s.lines(show)
}

func (s *search) lines(show string) bool {
	for n := 1; ; n++ {
		line, size, err := readLine(s.br, maxGrepFile)
		if err != nil {
			if err != io.EOF {
				s.w.lock(show, err)
			}
			return true
		}
		if n%1000 == 0 && !s.w.within() {
			return false
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if s.re.Match(line) && !s.out.add(fmt.Sprintf("%s:%d:%s", shown(show), n, grepLine(line, size))) {
			return false
		}
	}
}

// grepLine is as much of a line of so many bytes as is shown.
func grepLine(line []byte, size int64) string {
	text := cutBytes(line, maxGrepLine)
	if len(text) == len(line) {
		return string(text)
	}
	return fmt.Sprintf("%s [+%d bytes]", text, size-int64(len(text)))
}

// text is the result; whole says that everything was searched.
func (s *search) text(pattern string, whole bool, more []string) string {
	var notes []string
	if s.binary+s.large > 0 {
		notes = append(notes, "[skipped "+skippedFiles(s.binary, s.large)+"]")
	}
	if s.out.lines == 0 && strings.Contains(pattern, `\|`) {
		notes = append(notes, `[\| is a literal bar here; alternation is a|b]`)
	}
	return s.out.text("[100-line limit reached; narrow the pattern or path]", whole, append(notes, more...))
}

func skippedFiles(binary, large int) string {
	var parts []string
	if binary > 0 {
		parts = append(parts, plural(int64(binary), "binary file"))
	}
	if large > 0 {
		parts = append(parts, plural(int64(large), "file")+" over 4 MiB")
	}
	return strings.Join(parts, " and ")
}
