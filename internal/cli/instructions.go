package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"cluade/internal/chat"
	"cluade/internal/policy"
)

const (
	maxInstructions = 32 << 10 // bytes of all files together
	maxImportDepth  = 4
	maxRawFile      = 64 << 10 // bytes that are read of one file, comments included
	maxImports      = 100      // lines that name files to import
	maxNotices      = 5        // that are told one by one
)

// instructionNames are the files looked for in a directory; the first that is
// there counts.
var instructionNames = []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md"}

// readInstructions returns the instruction files as they enter the system
// message: the device's, the person's, the project's, each under a header.
// The notices are sentences about what was left out.
func readInstructions(o promptOptions) (text string, notices []string) {
	l := loadInstructions(o)
	return l.text.String(), fewNotices(l.notices, "instructions: %d more notices like these")
}

// instructionFiles are the files that readInstructions puts into the text, those
// that others import included.
func instructionFiles(o promptOptions) []string { return loadInstructions(o).files }

// fewNotices are the first of many, and a count of the others.
func fewNotices(all []string, others string) []string {
	if len(all) <= maxNotices+1 {
		return all
	}
	return append(all[:maxNotices:maxNotices], fmt.Sprintf(others, len(all)-maxNotices))
}

func loadInstructions(o promptOptions) *loader {
	l := &loader{home: o.Home, left: maxInstructions, hidden: o.Hidden}
	if device := filepath.Join(o.Etc, "cluade"); o.Etc != "" {
		l.load(source{path: filepath.Join(device, instructionNames[0]), root: resolved(device)})
	}
	if o.State != "" {
		root := o.Home
		if root == "" {
			root = o.State
		}
		l.first(o.State, source{root: resolved(root)})
	}
	if !o.NoProject && o.Dir != "" {
		l.project(o)
	}
	return l
}

// source is one instruction file and what it may import.
type source struct {
	path string
	root string // imports must lie in it; links resolved

	foreign bool   // it may come from anybody
	state   string // cluade's directory, of which a foreign source brings in nothing
}

// loader puts the files together.
type loader struct {
	home    string
	hidden  func(policy.Path) bool // what a rule refuses to read; may be nil
	private []os.FileInfo          // files that a foreign source does not bring in
	imports int                    // lines that named a file
	left    int                    // bytes that still fit
	seen    []os.FileInfo          // files that are in the text; none comes twice
	files   []string               // their paths
	text    strings.Builder
	notices []string
}

func (l *loader) notice(path, why string) {
	l.notices = append(l.notices, "instructions: "+chat.EscapeText(path, 200)+": "+why)
}

// project loads the nearest file from the working directory upwards. A file
// there may come from anybody, so it brings in nothing of cluade's own state.
func (l *loader) project(o promptOptions) {
	dir := resolved(o.Dir)
	root := projectRoot(dir)
	inGit := exists(filepath.Join(root, ".git"))
	home := resolved(o.Home)
	atHome := o.Home != "" && home != "/" && within(dir, home) // HOME=/ is none
	src := source{root: root, foreign: true}
	private := o.Private
	if o.State != "" {
		src.state = resolved(o.State)
		private = append(private[:len(private):len(private)], filepath.Join(o.State, "config.json"))
	}
	for _, path := range private {
		if info, err := os.Stat(path); err == nil {
			l.private = append(l.private, info)
		}
	}
	for d := dir; ; d = filepath.Dir(d) {
		if !inGit {
			src.root = d
		}
		end := inGit && d == root || !inGit && (!atHome || d == home)
		if l.first(d, src) || end {
			return
		}
	}
}

// first loads the first of the names that is in dir and can be read. It
// reports whether there was one.
func (l *loader) first(dir string, src source) bool {
	for _, name := range instructionNames {
		src.path = filepath.Join(dir, name)
		if l.load(src) {
			return true
		}
	}
	return false
}

// load adds one file under a header. It reports whether the file can be read,
// be it that it stands there already.
func (l *loader) load(src source) bool {
	text, err := l.read(src)
	switch {
	case errors.Is(err, errSeen):
		return true
	case errors.Is(err, fs.ErrNotExist) && !exists(src.path):
		return false
	case err != nil:
		l.notice(src.path, "skipped: "+reasonOf(err))
		return false
	}
	if l.left <= 0 {
		l.files = l.files[:len(l.files)-1]
		l.notice(src.path, fmt.Sprintf("left out: the instruction files together exceed %d bytes", maxInstructions))
		return true
	}
	var b strings.Builder
	l.expand(&b, src, text, 0)
	body := strings.Trim(b.String(), "\n")
	if strings.TrimSpace(body) == "" {
		return true
	}
	if len(body) > l.left {
		body = cutAtLine(body, l.left)
		note := fmt.Sprintf("cut here: the instruction files together exceed %d bytes", maxInstructions)
		l.notice(src.path, note)
		body += "\n[" + note + "]"
		l.left = 0
	}
	l.left -= len(body)
	fmt.Fprintf(&l.text, "\n# Instructions from %s\n\n%s\n", chat.EscapeText(src.path, 0), body)
	return true
}

var (
	errSeen    = errors.New("it is there already")
	errNotUTF8 = errors.New("not UTF-8 text")
	errState   = errors.New("it is part of cluade's own state")
	errKernel  = errors.New("it is a link out of the project to what is no file on a disk")
	errRule    = errors.New("a rule keeps it from being read")
	errPrivate = errors.New("it is a link out of the project to a file that only its owner may read, and whose name does not end in .md")
)

// refuse says why a file that somebody's project names must not be read. What a
// link brings in goes to the server of the model, so it may lead out of the
// project to instructions, which people keep in one place, and not to keys, the
// environment of this process, or cluade's own files.
func (l *loader) refuse(src source, real string, mode fs.FileMode) error {
	for _, dir := range [...]string{"/proc", "/sys", "/dev"} {
		if within(real, dir) && !within(src.root, dir) {
			return errKernel
		}
	}
	switch {
	case src.state != "" && within(real, src.state):
		return errState
	case l.hidden != nil && l.hidden(policy.Path{Abs: src.path, Real: real}):
		return errRule
	case within(real, src.root):
		return nil
	case mode&0o004 == 0 && filepath.Ext(real) != ".md":
		return errPrivate
	}
	return nil
}

// read returns the text of a file without byte order mark and comments, and
// remembers the file.
func (l *loader) read(src source) (string, error) {
	data, info, err := readRegular(src.path, maxRawFile)
	if err != nil {
		return "", err
	}
	isInfo := func(s os.FileInfo) bool { return os.SameFile(s, info) }
	if slices.ContainsFunc(l.seen, isInfo) {
		return "", errSeen
	}
	real := resolved(src.path)
	if src.foreign {
		err = l.refuse(src, real, info.Mode())
		if slices.ContainsFunc(l.private, isInfo) {
			err = errState
		}
	}
	if err != nil {
		return "", err
	}
	if len(data) == maxRawFile {
		l.notice(src.path, fmt.Sprintf("only its first %d bytes are read", maxRawFile))
		data = trimPartial(data)
	}
	if !utf8.Valid(data) {
		return "", errNotUTF8
	}
	if src.foreign && !within(real, src.root) {
		l.notice(src.path, "it is a link out of the project, to "+chat.EscapeText(real, 200))
	}
	l.seen, l.files = append(l.seen, info), append(l.files, src.path)
	return stripComments(chat.CleanText(strings.TrimPrefix(string(data), "\ufeff"))), nil
}

// expand writes text with its import lines replaced by the files they name. A
// line that cannot be replaced stays as it is.
func (l *loader) expand(b *strings.Builder, src source, text string, depth int) {
	var code fence
	for _, line := range strings.SplitAfter(text, "\n") {
		if b.Len() > l.left {
			b.WriteString(line) // load cuts here
			return
		}
		name := importName(line)
		inCode := code.line(line)
		if !inCode && name != "" {
			if l.imports++; l.imports == maxImports+1 {
				l.notice(src.path, fmt.Sprintf("only the first %d lines that name a file are replaced", maxImports))
			}
		}
		if inCode || name == "" || l.imports > maxImports {
			b.WriteString(line)
			continue
		}
		from, imported, err := l.importFile(src, name, depth+1)
		switch {
		case errors.Is(err, errSeen):
		case err != nil:
			l.notice(src.path, "the line @"+chat.EscapeText(name, 200)+" stays: "+reasonOf(err))
			b.WriteString(line)
		default:
			l.expand(b, from, imported, depth+1)
			if !strings.HasSuffix(b.String(), "\n") {
				b.WriteByte('\n')
			}
		}
	}
}

// importFile reads the file that a line of src names.
func (l *loader) importFile(src source, name string, depth int) (source, string, error) {
	target := name
	if rest, ok := strings.CutPrefix(name, "~/"); ok && l.home != "" {
		target = filepath.Join(l.home, rest)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(resolved(src.path)), target)
	}
	target, err := filepath.EvalSymlinks(target)
	switch {
	case err != nil:
		return src, "", err
	case !within(target, src.root):
		return src, "", fmt.Errorf("it lies outside %s", chat.EscapeText(src.root, 200))
	case depth > maxImportDepth:
		return src, "", fmt.Errorf("imports go no deeper than %d files", maxImportDepth)
	}
	src.path = target
	text, err := l.read(src)
	return src, text, err
}

// cutAtLine returns the whole lines at the start of s that fit into max bytes;
// of a first line that is longer, what fits.
func cutAtLine(s string, max int) string {
	if i := strings.LastIndexByte(s[:max+1], '\n'); i >= 0 {
		return s[:i]
	}
	return string(trimPartial([]byte(s[:max])))
}

// reasonOf is an error without the path, which the sentence has already.
func reasonOf(err error) string {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	return chat.EscapeText(err.Error(), 200)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// resolved is path with its links resolved, or as it is where that fails.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// within says whether path is dir or lies in it; both are clean.
func within(path, dir string) bool {
	if dir == "/" || path == dir {
		return true
	}
	return strings.HasPrefix(path, dir+"/")
}
