package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// Resumed is a loaded session with what had to be said about it.
type Resumed struct {
	Session *chat.Session
	Journal *Journal
	Notices []string
	Pending string // an unanswered last user message that was dropped
}

// Resume loads a session by id or unique prefix and locks it. A session that
// another process holds is copied under a new id.
func (s *Sessions) Resume(id, version string) (*Resumed, error) {
	e, err := s.find(id)
	if err != nil {
		return nil, err
	}
	f, copied, err := openSession(e.path)
	if err != nil {
		return nil, fmt.Errorf("resume session %s: %s", e.id, why(err))
	}
	r := &replay{hold: true}
	if e.old {
		err = r.readOld(f)
	} else {
		err = r.read(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("resume session %s: %s", e.id, why(err))
	}
	if r.sess.Created.IsZero() {
		r.sess.Created = timeOf(e.id)
	}
	out := s.resumed(r, version)
	j := out.Journal
	switch {
	case copied != "":
		f.Close()
		out.Pending = "" // the other process may be answering it
		out.Session.Name = ""
		out.say("session %s %s: this run goes on in a copy under a new id", e.id, copied)
	case e.old:
		out.Session.ID, j.held = e.id, f
		j.want = filepath.Join(s.dir, e.id+".jsonl")
	default:
		out.Session.ID = e.id
		j.at(f, e.path)
	}
	return out, nil
}

// openSession opens a session's file and locks it. Where that cannot be, copied
// says why a copy is needed and the file is open for reading.
func openSession(path string) (f *os.File, copied string, err error) {
	f, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0)
	if err != nil {
		copied = "cannot be written to"
		f, err = os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	}
	if err != nil {
		return nil, "", err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, "", errors.Join(err, errors.New("it is not a regular file"))
	}
	if copied == "" && lock(f) != nil {
		copied = "is in use by another process"
	}
	return f, copied, nil
}

// resumed makes a session of what was read.
func (s *Sessions) resumed(r *replay, version string) *Resumed {
	sess := r.sess
	sess.ID = ""
	raw := sess.Messages
	for i := range raw { // the key may be a new one
		raw[i] = s.mask(raw[i])
	}
	fix := repairTranscript(raw, r.fixed)
	sess.Messages = fix.msgs
	j := s.New(&sess, version)
	j.base = fix.msgs
	j.mend, j.wrote, j.mode, j.name = mending(r, fix, len(raw)), sess.Dir, sess.Mode, sess.Name
	out := &Resumed{Session: &sess, Journal: j, Pending: fix.pending}
	if r.torn {
		out.say("the last line of the session was cut off and is left out")
	}
	if r.skipped > 0 {
		out.say("damaged lines of the session are left out: %d", r.skipped)
	}
	if fix.calls > 0 {
		out.say("calls of the session that were interrupted: %d", fix.calls)
	}
	if fix.dropped > 0 {
		out.say("messages of the session that belong to nothing are left out: %d", fix.dropped)
	}
	return out
}

// mending is what the file lacks to read like the repaired transcript.
func mending(r *replay, fix repair, raw int) mend {
	m := mend{newline: r.open, cut: -1}
	switch {
	case fix.same == raw && fix.same == len(fix.msgs):
	case fix.same < r.fixed || len(fix.msgs)-fix.same > 20:
		m.msgs, m.replace = fix.msgs, true
	default:
		if fix.same < raw {
			m.cut = fix.same
		}
		m.msgs = fix.msgs[fix.same:]
	}
	return m
}

func (r *Resumed) say(format string, args ...any) {
	r.Notices = append(r.Notices, fmt.Sprintf(format, args...))
}

// maxOld bounds a session of the old form, which is parsed as a whole.
const maxOld = 32 << 20

// readOld reads a session that is one JSON object: id, cwd, created, messages,
// steps, total_tokens, context_tokens.
func (r *replay) readOld(in io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(in, maxOld+1))
	if err != nil {
		return err
	}
	if r.size = int64(len(data)); r.size > maxOld {
		return fmt.Errorf("it is larger than %d MiB", maxOld>>20)
	}
	v, err := parsePart(new(fastjson.Parser), data)
	if err != nil {
		r.torn = r.size > 0
		return errNoRecord
	}
	if v.Type() != fastjson.TypeObject || !isList(v.Get("messages")) {
		return errNoRecord
	}
	if err := r.head(v); err != nil {
		return err
	}
	r.state(v)
	for _, m := range v.GetArray("messages") {
		if err := r.add(m); err != nil {
			return err
		}
	}
	return nil
}

// isList says whether v is a list. Lua writes an empty one as an object.
func isList(v *fastjson.Value) bool {
	return v != nil && (v.Type() == fastjson.TypeArray || v.Type() == fastjson.TypeObject && v.GetObject().Len() == 0)
}

// OpenFile opens a session file at a path of the user's choice, which must lie
// below the working directory or the directory of sessions: loaded if present,
// else a fresh start with sess. An empty file counts as not present.
func (s *Sessions) OpenFile(path string, sess *chat.Session, version string) (*Resumed, error) {
	path, err := s.allowed(path)
	if err != nil {
		return nil, err
	}
	f, copied, err := openSession(path)
	if _, there := os.Lstat(path); errors.Is(err, fs.ErrNotExist) && there == nil {
		err = errors.New("it is a link to nothing")
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.freshFile(nil, path, sess, version), nil
	case err != nil:
		return nil, fmt.Errorf("open session file %s: %s", shown(path), why(err))
	case copied != "":
		f.Close()
		return nil, fmt.Errorf("open session file %s: it %s", shown(path), copied)
	}
	r := &replay{hold: true}
	err = r.read(f)
	switch {
	case errors.Is(err, errNoRecord) && r.size == 0 && f.Chmod(0o600) == nil:
		return s.freshFile(f, path, sess, version), nil
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("open session file %s: %s", shown(path), why(err))
	}
	out := s.resumed(r, version)
	if out.Session.ID = r.sess.ID; !isID(r.sess.ID) {
		out.Session.ID = newID(time.Now(), os.Getpid())
	}
	out.Journal.at(f, path)
	return out, nil
}

// freshFile begins sess in the file f, or in one that the first message makes.
func (s *Sessions) freshFile(f *os.File, path string, sess *chat.Session, version string) *Resumed {
	sess.ID = newID(time.Now(), os.Getpid())
	j := s.New(sess, version)
	j.want = path
	if f != nil {
		j.at(f, path)
		j.empty = true
	}
	j.point, j.dead = false, false
	return &Resumed{Session: sess, Journal: j}
}

// at makes the journal go on in a file that has records. Only a file among the
// sessions is one that the pointer may name.
func (j *Journal) at(f *os.File, path string) {
	j.f, j.path, j.base, j.empty, j.dead = f, path, nil, false, false
	j.point = filepath.Dir(path) == j.dir.dir
}

func shown(path string) string { return chat.EscapeText(path, maxQuoted) }

// allowed resolves the path of a session file and says whether it may be one.
func (s *Sessions) allowed(path string) (string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.work, path)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		var dir string
		dir, err = filepath.EvalSymlinks(filepath.Dir(path))
		real = filepath.Join(dir, filepath.Base(path))
	}
	if err != nil {
		return "", fmt.Errorf("open session file %s: %s", shown(path), why(err))
	}
	for _, root := range []string{s.work, s.dir} {
		if root, err := filepath.EvalSymlinks(root); err == nil && root != "" && strings.HasPrefix(real, strings.TrimSuffix(root, "/")+"/") {
			return real, nil
		}
	}
	return "", fmt.Errorf("open session file %s: it must lie below %s or the directory of sessions", shown(path), shown(s.work))
}
