package tools

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// A file on another host is written as one here: into a new file beside it,
// which is checked to be whole and then takes its name. Before that the old one
// is looked at again.

// stageScript makes the new file $2 beside $1 from its input of $3 bytes, with
// mode $4 and owner $5 where there was one before. It prints "place" where the
// owner cannot be kept, so that the old file has to be written in place.
const stageScript = `mkdir -p "${1%/*}/" || exit
[ -z "$4" ] || umask 077
(set -C; cat >"$2") || { rm -f "$2"; exit 1; }
s=$(wc -c <"$2")
[ "$s" -eq "$3" ] || { rm -f "$2"; echo "only $s of $3 bytes arrived" >&2; exit 1; }
if [ -n "$4" ]; then
	chown "$5" "$2" 2>/dev/null || { set -f; set -- "$1" "$2" "$3" "$4" "$5" $(ls -lnd "$2"); [ "$8:$9" = "$5" ] || echo place; }
	chmod "$4" "$2" || { rm -f "$2"; exit 1; }
fi
sync "$2" 2>/dev/null || sync`

// commitScript puts the new file $2 in the place of $1; with $3 set, or where $1
// is a mount point, its content only.
const commitScript = `if [ -d "$1" ]; then rm -f "$2"; echo "it is a directory now" >&2; exit 1; fi
if [ -z "$3" ]; then
	e=$(mv -f "$2" "$1" 2>&1) && exit
	case $e in *[Bb]usy*) ;; *) rm -f "$2"; echo "$e" >&2; exit 1 ;; esac
fi
cat "$2" >"$1" || { echo "the new content is in $2" >&2; exit 1; }
rm -f "$2"`

// hostFile is also what a change knows of a file.

// Name is the last element of the path without links.
func (f *hostFile) Name() string { return path.Base(f.real) }

// Size is in bytes.
func (f *hostFile) Size() int64 { return f.size }

// Mode is what ls shows in letters.
func (f *hostFile) Mode() fs.FileMode { return fs.FileMode(octalMode(f.mode)).Perm() }

// ModTime is not known.
func (f *hostFile) ModTime() time.Time { return time.Time{} }

// IsDir says whether it is a directory.
func (f *hostFile) IsDir() bool { return f.kind == "directory" }

// Sys is nothing.
func (f *hostFile) Sys() any { return nil }

// octalMode reads the letters of a mode, with those of set-user-id, set-group-id
// and the sticky bit.
func octalMode(letters string) (mode uint32) {
	for i := 1; i < len(letters) && i < 10; i++ {
		c, bit := letters[i], uint32(1)<<(9-i)
		if strings.IndexByte("rwxst", c) >= 0 {
			mode |= bit
		}
		if i%3 == 0 && strings.IndexByte("sStT", c) >= 0 {
			mode |= 04000 >> (i/3 - 1)
		}
	}
	return mode
}

// take looks at the file that a call is to change, as takeState does here.
func (h *host) take(ctx context.Context, a *Args) (state, error) {
	s, err := h.state(ctx, a)
	if err != nil {
		return state{}, err
	}
	name := shown(a.Text("filePath"))
	if seen, ok := h.env.remote.seen[a.subject.Host+a.subject.Paths[0].Abs]; ok {
		if sum := sha256.Sum256(s.data); s.info == nil || s.data != nil && seen != string(sum[:]) {
			return state{}, fmt.Errorf("%s changed since it was read; read it again", name)
		}
	}
	if s.info != nil && !s.host.writable {
		return state{}, fmt.Errorf("%s: permission denied", name)
	}
	return s, nil
}

// state is what a file on the host is like now.
func (h *host) state(ctx context.Context, a *Args) (state, error) {
	f, err := h.look(ctx, a, a.subject.Paths[0].Abs, toWrite)
	if err != nil {
		return state{}, err
	}
	s := state{host: f}
	switch f.kind {
	case "none":
	case "file":
		s.info = f
		if f.size <= maxFile {
			s.data, err = io.ReadAll(io.LimitReader(f.content, maxFile+1))
		}
		if len(s.data) > maxFile {
			s.data = nil
		}
	default:
		err = f.unfit(a.Text("filePath"))
	}
	if end := f.shell.finish(); err == nil {
		err = end
	}
	return s, err
}

// equal says whether a file on a host is what it was.
func (s state) equal(now state) bool {
	if s.info == nil || now.info == nil {
		return s.info == nil && now.info == nil
	}
	return s.host.real == now.host.real && s.host.size == now.host.size && bytes.Equal(s.data, now.data)
}

// errUnseen says that a file was not looked at.
var errUnseen = errors.New("not looked at")

// previewOnHost is the preview of a change on another host. For it alone nobody
// is connected to: where there is no connection, it shows what the arguments
// say.
func (t changer) previewOnHost(e *Env, a *Args) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), readTime)
	defer cancel()
	look := func() (state, error) { return state{}, errUnseen }
	h, err := e.connected(ctx, a)
	if err != nil {
		return "", err
	}
	if h != nil {
		look = func() (state, error) { return h.take(ctx, a) }
	}
	c, err := t.plan(a, look)
	switch {
	case errors.Is(err, errUnseen):
		return "(the host is not connected yet: not compared with the file there)\n" + t.unseen(a), nil
	case err != nil && h != nil:
		return "", h.fails(err)
	case err != nil:
		return "", err
	}
	*a.planned = *c
	return t.show(c), nil
}

// connected is the host of a call if there is an open connection to it, else
// nil.
func (e *Env) connected(ctx context.Context, a *Args) (*host, error) {
	way, notes, err := e.remoteRoute(a)
	if err != nil || e.remote == nil {
		return nil, err
	}
	c := e.remote.kept(way.String())
	if c == nil {
		return nil, nil
	}
	if !c.alive(ctx) {
		c.close()
		return nil, nil
	}
	e.remote.keep(c)
	return &host{e, c, newGuard(e, &a.subject), notes}, nil
}

// runOnHost carries a change out on another host.
func (t changer) runOnHost(ctx context.Context, e *Env, a *Args) (Result, error) {
	h, err := e.onHost(ctx, a)
	if err != nil {
		return Result{}, err
	}
	c := a.planned
	if c.name == "" {
		c, err = t.plan(a, func() (state, error) { return h.take(ctx, a) })
	}
	if err == nil {
		err = h.apply(ctx, a, c)
	}
	if err != nil {
		return Result{}, h.fails(err)
	}
	sum := sha256.Sum256(c.data)
	h.remember(a, sum[:])
	return Result{Text: withNotes(t.done(c)+" on "+h.conn.target.String(), h.notes)}, nil
}

// apply writes a change. Nothing but the old content or the new is ever under
// the name.
func (h *host) apply(ctx context.Context, a *Args, c *change) error {
	h.forget(a)
	f := c.old.host
	var tag [6]byte
	rand.Read(tag[:])
	tmp := path.Join(path.Dir(f.real), ".cluade-"+hex.EncodeToString(tag[:])+".tmp")
	mode := ""
	if c.old.info != nil {
		mode = strconv.FormatUint(uint64(octalMode(f.mode)), 8)
	}
	place, err := h.sh(ctx, c.data, stageScript, f.real, tmp, strconv.Itoa(len(c.data)), mode, f.owner)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", shown(c.name), err)
	}
	now, err := h.state(ctx, a)
	if err == nil && !c.old.equal(now) {
		err = fmt.Errorf("%s changed while %s; read it again", shown(c.name), c.verb)
	}
	if err != nil {
		h.sh(ctx, nil, `rm -f "$1"`, tmp)
		return err
	}
	if _, err := h.sh(ctx, nil, commitScript, f.real, tmp, strings.TrimSpace(place)); err != nil {
		return fmt.Errorf("%s: %w", shown(c.name), err)
	}
	return nil
}
