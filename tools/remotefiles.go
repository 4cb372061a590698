package tools

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"cluade/internal/policy"
)

// remoteFiles names the files of a call on another host. They are judged by
// their spelling there: nothing is looked at before the call is allowed.
func (e *Env) remoteFiles(a *Args, names ...string) (policy.Subject, error) {
	way, _, err := e.remoteRoute(a)
	if err != nil {
		return policy.Subject{}, err
	}
	sub := way.subject()
	g := newGuard(e, &policy.Subject{})
	for _, name := range names {
		abs, err := hostPath(way.target(), name)
		if err != nil {
			return policy.Subject{}, err
		}
		sub.Paths = append(sub.Paths, policy.Path{Abs: abs, Real: abs, Guard: g.onHost(abs)})
	}
	return sub, nil
}

// elsewhere gives a call on another host the effect of running something
// there. What may be looked at here may be looked at there.
func elsewhere(s *policy.Subject) {
	if s.Effect == policy.Read {
		for i := range s.Paths {
			s.Paths[i].Guard = forReading(s.Paths[i].Guard)
		}
	}
	s.Effect = policy.Execute
}

func forReading(g policy.Guard) policy.Guard {
	if g == policy.NoWrite {
		return policy.Open
	}
	return g
}

// hostPath is the absolute form of a path on another host. Where the login
// begins is not known before it, so ~ and the working directory are /root, or
// the user's directory in /home.
func hostPath(t target, name string) (string, error) {
	home := "/home/" + t.user
	if t.user == "root" {
		home = "/root"
	}
	switch {
	case name == "":
		return "", errors.New("the path is empty")
	case strings.IndexByte(name, 0) >= 0:
		return "", fmt.Errorf("the path %s holds a NUL byte", shown(name))
	case name == "~" || strings.HasPrefix(name, "~/"):
		return path.Join(home, name[1:]), nil
	case path.IsAbs(name):
		return path.Clean(name), nil
	}
	return path.Join(home, name), nil
}

// onHost judges a path on another host by its name alone. What is protected
// here is protected there under the same name, for the host may be this machine.
func (g *guard) onHost(abs string) policy.Guard {
	worst := g.byName(abs)
	if kernelName(abs) {
		worst = max(worst, policy.NoWrite)
	}
	return worst
}

// kernelName says whether a path is one of procfs or sysfs, where they are
// always mounted.
func kernelName(abs string) bool { return contains("/proc", abs) || contains("/sys", abs) }

// host is an open connection and what is to be said of it.
type host struct {
	env   *Env
	conn  *connection
	guard *guard
	notes []string
}

// hides says whether glob and grep leave out a file of the host, by the name
// that the call gives it and by the one without links.
func (h *host) hides(named, real string) bool {
	return h.guard.onHost(real) == policy.NoRead || h.guard.forbids(named, real)
}

// onHost connects to the host of a call. The error names it.
func (e *Env) onHost(ctx context.Context, a *Args) (*host, error) {
	way, notes, err := e.remoteRoute(a)
	if err != nil {
		return nil, err
	}
	c, news, err := e.connect(ctx, way)
	notes = append(notes, news...)
	if err != nil {
		return nil, errors.New(withNotes(fmt.Sprintf("ssh %s: %s", way.target(), err), notes))
	}
	return &host{e, c, newGuard(e, &a.subject), notes}, nil
}

// fails puts the host before an error.
func (h *host) fails(err error) error { return fmt.Errorf("%s: %w", h.conn.target, err) }

// resolveScript makes $f the path without links of the file $f.
const resolveScript = `n=0
while [ -L "$f" ] && [ $n -lt 40 ]; do
	n=$((n+1))
	t=$(readlink "$f" && echo x) || break
	t=${t%??}
	case $t in /*) f=$t ;; *) f=${f%/*}/$t ;; esac
done
d=$(cd -P "${f%/*}/" 2>/dev/null && pwd -P && echo x) && d=${d%??} && f=${d%/}/${f##*/}
`

// lookScript prints what a path is, on a line of its own: kind, 1 if it may be
// written, mode, links, owner, group and size; then, ended by a NUL byte, the
// path without links; and then, of a regular file and with $2 set, the content.
const lookScript = `f=$1 c=$2
` + resolveScript + `case $f in */|*/.|*/..) f=$(cd -P "$f" 2>/dev/null && pwd -P && echo x) && f=${f%??} ;; esac
k=none w=0
if [ -d "$f" ]; then k=directory; elif [ -f "$f" ]; then k=file; elif [ -e "$f" ]; then k=other; elif [ -L "$f" ]; then k=link; fi
[ -w "$f" ] && w=1
set -f
set -- $(ls -lnd "$f" 2>/dev/null)
printf "%s %s %s %s %s %s %s\n%s\0" $k $w "${1:-?}" "${2:-?}" "${3:-?}" "${4:-?}" "${5:-?}" "$f"
[ $k != file ] || [ -z "$c" ] || exec cat "$f"`

// purpose is what a file on a host is looked at for.
type purpose int

const (
	toRead  purpose = iota // the content follows
	toWrite                // the same
	toFind                 // only what and where it is
)

// hostFile is a file on a host as it was found.
type hostFile struct {
	kind     string // file, directory, other, link (in a ring), none
	real     string // without links
	linked   bool   // the path is another
	writable bool
	mode     string // as ls shows it
	owner    string // uid:gid
	size     int64
	shell    *shell
	content  *bufio.Reader // what the shell prints behind that
}

// look finds out what a path of a call is and begins to read it. The caller
// finishes the shell, unless there is an error.
func (h *host) look(ctx context.Context, a *Args, named string, p purpose) (*hostFile, error) {
	content := "content"
	if p == toFind {
		content = ""
	}
	s, out, err := h.conn.shell(ctx, nil, lookScript, []string{named, content})
	if err != nil {
		return nil, err
	}
	f, err := readLook(out)
	if err == nil && f.real != named {
		f.linked = true
		err = h.allow(a, policy.Path{Abs: named, Real: f.real, Guard: h.guard.onHost(f.real)}, p == toWrite)
	}
	if err != nil {
		if why := s.finish(); why != nil {
			err = fmt.Errorf("%w: %w", err, why)
		}
		return nil, err
	}
	f.shell, f.content = s, out
	return f, nil
}

// find says what a path of a call is and where it leads, for glob and grep.
func (h *host) find(ctx context.Context, a *Args, named string) (*hostFile, error) {
	ctx, cancel := context.WithTimeout(ctx, h.env.sshTimeout())
	defer cancel()
	f, err := h.look(ctx, a, named, toFind)
	if err != nil {
		return nil, err
	}
	io.Copy(io.Discard, f.content)
	return f, f.shell.finish()
}

func readLook(r *bufio.Reader) (*hostFile, error) {
	line, _, err := readLine(r, 1<<10)
	w := strings.Fields(string(line))
	if err != nil || len(w) != 7 {
		return nil, errors.New("the host does not say what the path is")
	}
	f := &hostFile{kind: w[0], writable: w[1] == "1", mode: w[2], owner: w[4] + ":" + w[5]}
	if f.kind == "file" {
		if f.size, err = strconv.ParseInt(w[6], 10, 64); err != nil {
			return nil, fmt.Errorf("the host gives %q for the size", cutText(w[6], 40))
		}
	}
	if f.real, err = readName(r); err != nil {
		return nil, errors.New("the host does not say where the path leads")
	}
	f.real = path.Clean(f.real)
	return f, nil
}

// allow judges where a path leads, now that this is known.
func (h *host) allow(a *Args, p policy.Path, writes bool) error {
	if !writes {
		p.Guard = forReading(p.Guard)
	}
	if h.env.SSH.Met != nil {
		sub := a.subject
		sub.Paths = []policy.Path{p}
		if d := h.env.SSH.Met(a.subject, sub); d.Verdict != policy.Allow {
			return errors.New(d.Reason)
		}
	}
	if p.Guard != policy.Open {
		return fmt.Errorf("denied: %s leads to %s, which is guarded", shown(p.Abs), shown(p.Real))
	}
	return nil
}

// unfit is the error for what is no regular file, nil for one.
func (f *hostFile) unfit(name string) error {
	switch f.kind {
	case "file":
		return nil
	case "directory":
		return fmt.Errorf("%s is a directory; glob lists what is in it", shown(name))
	case "other":
		return fmt.Errorf("%s is not a regular file", shown(name))
	case "link":
		return fmt.Errorf("%s: too many levels of symbolic links", shown(name))
	}
	if f.linked {
		return fmt.Errorf("no such file: %s leads to %s, which does not exist", shown(name), shown(f.real))
	}
	return fmt.Errorf("no such file: %s", shown(name))
}

// runRemote is read on another host.
func (pg *page) runRemote(ctx context.Context, e *Env, a *Args) (Result, error) {
	h, err := e.onHost(ctx, a)
	if err != nil {
		return Result{}, err
	}
	wait, named := e.sshTimeout(), a.subject.Paths[0].Abs
	if pg.kernel = kernelName(named); pg.kernel {
		wait = kernelTime
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	h.forget(a)
	pg.keep = max(pg.keep-len(withNotes("", h.notes)), pg.keep/2)
	text, err := pg.readOn(limited, h, a)
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("%s: not read to the end within %s", shown(pg.name), wait)
	}
	if err != nil {
		return Result{}, h.fails(err)
	}
	return Result{Text: withNotes(text, h.notes)}, nil
}

func (pg *page) readOn(ctx context.Context, h *host, a *Args) (string, error) {
	f, err := h.look(ctx, a, a.subject.Paths[0].Abs, toRead)
	if err != nil {
		return "", err
	}
	pg.kernel = kernelName(f.real)
	sum := sha256.New()
	var text string
	if err = f.unfit(pg.name); err == nil {
		text, err = pg.read(&source{ctx: ctx, r: io.TeeReader(f.content, sum)}, f.size)
	}
	if end := f.shell.finish(); err == nil && end != nil {
		err = fmt.Errorf("read %s: %w", shown(pg.name), end)
	}
	if err == nil && f.shell.eof {
		h.remember(a, sum.Sum(nil))
	}
	return text, err
}

// remember notes the hash of a file that the model has read to its end or
// written, as Env.Seen does for files here. Times on other hosts are shown by
// the minute only.
func (h *host) remember(a *Args, sum []byte) {
	if h.env.remote.seen == nil {
		h.env.remote.seen = make(map[string]string)
	}
	h.env.remote.seen[a.subject.Host+a.subject.Paths[0].Abs] = string(sum)
}

func (h *host) forget(a *Args) { delete(h.env.remote.seen, a.subject.Host+a.subject.Paths[0].Abs) }
