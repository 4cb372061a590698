package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
)

// Journal is the append-only file of one session, made with the first message
// and locked while it is open. It fits agent.Journal. The first error of a
// write is returned; from then on nothing is written and no error comes, while
// the file stays whole up to the last record that was saved.
type Journal struct {
	dir     *Sessions
	sess    *chat.Session
	version string

	f     *os.File // nil before the first message
	path  string   // "" before the first message
	empty bool     // the file has no record yet
	made  bool     // this journal made the file
	lone  bool     // and nothing is in it but its head and one message
	dead  bool

	want  string         // the file that the first message makes; "" takes a new id
	base  []chat.Message // what a file without a record begins with
	held  *os.File       // a lock on the session that was read, if that is another file
	point bool           // the pointer is to name this session with its next message
	wrote string         // the session's directory as the file has it
	mode  string         // the session's mode as the file has it
	name  string         // the session's name as the file has it
	gap   bool           // a record for undoing the present turn is missing
	mend  mend
}

// mend is what makes the file of a resumed session agree with the transcript
// that repair made of it. It is written before the first new record.
type mend struct {
	newline bool           // the last line is not ended
	cut     int            // keep so many messages, -1 all
	msgs    []chat.Message // then add these
	replace bool           // or put msgs in the place of all
}

// Made says that the file is a new one, of this journal.
func (j *Journal) Made() bool { return j.made && !j.empty }

// New starts a session. Its file is made with the first message; until then the
// id in sess is empty.
func (s *Sessions) New(sess *chat.Session, version string) *Journal {
	return &Journal{dir: s, sess: sess, version: version, empty: true, point: true, dead: s.dir == "", mend: mend{cut: -1}}
}

// Path is the file, "" before the first message.
func (j *Journal) Path() string { return j.path }

// Append writes one message as one line with one call.
func (j *Journal) Append(m chat.Message) error {
	if j.dead {
		return nil
	}
	lone := j.f == nil && len(j.base) == 0
	if err := j.record(messageRecord(j.dir.mask(m)), j.dir.sync == "always"); err != nil {
		return err
	}
	j.lone = lone && j.made
	if j.point {
		j.point = false
		j.dir.point(j.sess.ID)
	}
	return nil
}

// Reset replaces everything before by msgs. Cut off in the middle it changes
// nothing.
func (j *Journal) Reset(why string, msgs []chat.Message) error {
	switch {
	case j.dead:
		return nil
	case j.empty:
		j.base = msgs
		return nil
	}
	j.lone = false
	first, err := j.begin()
	if err == nil {
		err = j.reset(first, why, msgs)
	}
	return j.failed(err)
}

// Truncate keeps the first n messages. A file that never held more than the
// message that goes is no session and goes too: where every run fails, as
// without a network, cron would fill the flash with them, and the last session
// would be an empty one.
func (j *Journal) Truncate(n int, why string) error {
	switch {
	case j.dead:
		return nil
	case j.empty:
		j.base = j.base[:min(max(n, 0), len(j.base))]
		return nil
	case j.lone && n <= 0 && os.Remove(j.path) == nil:
		j.unmade()
		return nil
	}
	return j.record(truncateRecord(n, why), false)
}

// State writes the counters and, as configured, syncs. It notices a file that
// somebody took away meanwhile: what is written to it is lost.
func (j *Journal) State(s *chat.Session) error {
	if j.dead || j.empty {
		return nil
	}
	if j.f != nil && !j.there() {
		return j.failed(fmt.Errorf("%s was removed or replaced", j.path))
	}
	return j.record(stateRecord(s), j.dir.sync != "none")
}

// Update writes the session's mode, name and directory where they have changed.
// Before the first message there is nothing to write to; they follow then.
func (j *Journal) Update() error {
	if j.dead || j.empty {
		return nil
	}
	return j.record(nil, false)
}

// there says whether the path still leads to the file that is written.
func (j *Journal) there() bool {
	named, err := os.Stat(j.path)
	if err != nil {
		return false
	}
	open, err := j.f.Stat()
	return err == nil && os.SameFile(named, open)
}

// Close releases the lock. The journal takes nothing more.
func (j *Journal) Close() error {
	j.dead = true
	var err error
	for _, f := range []*os.File{j.f, j.held} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	j.f, j.held = nil, nil
	return err
}

// record writes lines, after what has to stand before them.
func (j *Journal) record(lines []byte, sync bool) error {
	first, err := j.begin()
	if err == nil {
		err = j.write(append(first, lines...))
	}
	if err == nil && sync {
		err = j.flush()
	}
	return j.failed(err)
}

// failed ends the writing with the first error. A file that was made and got no
// record is no session.
func (j *Journal) failed(err error) error {
	if err == nil {
		return nil
	}
	j.dead = true
	if j.made && j.empty {
		os.Remove(j.path)
		j.path, j.sess.ID = "", ""
	}
	return fmt.Errorf("save session: %w", err)
}

// begin returns the lines to be written before the next record: a file begins
// with its head, a resumed one may need mending, and a session may have gone to
// another directory.
func (j *Journal) begin() ([]byte, error) {
	if j.f == nil {
		if err := j.create(); err != nil {
			return nil, err
		}
	}
	var lines []byte
	m, why := j.mend, "trim"
	j.mend = mend{cut: -1}
	if j.empty {
		m, why = mend{cut: -1, msgs: j.base, replace: len(j.base) > 0}, "import"
		j.base = nil
		if j.sess.Created.IsZero() {
			j.sess.Created = time.Now()
		}
		lines, j.wrote, j.mode, j.name = headRecord(j.sess, j.version), j.sess.Dir, "", ""
	}
	if m.newline {
		lines = append(lines, '\n')
	}
	if j.sess.Dir != j.wrote {
		j.wrote = j.sess.Dir
		lines = append(lines, cwdRecord(j.wrote)...)
	}
	if j.sess.Mode != j.mode {
		j.mode = j.sess.Mode
		lines = append(lines, modeRecord(j.mode)...)
	}
	if j.sess.Name != j.name {
		j.name = j.sess.Name
		lines = append(lines, nameRecord(j.name)...)
	}
	if m.replace {
		return nil, j.reset(lines, why, m.msgs)
	}
	if m.cut >= 0 {
		lines = append(lines, truncateRecord(m.cut, "failed")...)
	}
	for _, add := range m.msgs {
		lines = append(lines, messageRecord(j.dir.mask(add))...)
	}
	return lines, nil
}

// write appends bytes with one call. What a full disk took of them is taken
// back, so that the file ends with a whole record.
func (j *Journal) write(b []byte) error {
	n, err := j.f.Write(b)
	if err == nil {
		j.empty = false
		return nil
	}
	if end, e := j.f.Seek(0, io.SeekEnd); e == nil && n > 0 {
		j.f.Truncate(end - int64(n))
	}
	return err
}

// reset writes the lines first and a record of all messages, piece by piece:
// it may be as long as the whole session.
func (j *Journal) reset(first []byte, why string, msgs []chat.Message) error {
	start, err := j.f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(j.f, 16<<10)
	out.Write(first)
	line := jsonenc.AppendString([]byte(`{"t":"reset","why":`), why)
	out.Write(append(line, `,"messages":[`...))
	for i, m := range msgs {
		line = line[:0]
		if i > 0 {
			line = append(line, ',')
		}
		line = chat.AppendMessage(line, j.dir.mask(m))
		out.Write(line)
	}
	out.WriteString("]}\n")
	if err = out.Flush(); err != nil {
		j.f.Truncate(start)
		return err
	}
	j.empty = false
	return nil
}

// flush forces the file to the disk; some file systems have nothing to force.
func (j *Journal) flush() error {
	err := j.f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil
	}
	return err
}

// create makes the session's file and locks it: the one that is wanted, else,
// and where another process was quicker, one under a new id.
func (j *Journal) create() error {
	id, path := j.sess.ID, j.want
	err := fs.ErrExist
	if j.want != "" {
		j.f, err = createLocked(j.want)
	}
	if errors.Is(err, fs.ErrExist) && (j.want == "" || filepath.Dir(j.want) == j.dir.dir) {
		id, path, err = j.createNew()
	}
	if err != nil {
		return err
	}
	j.sess.ID, j.path, j.made = id, path, true
	return nil
}

// unmade is the journal again as it was before create.
func (j *Journal) unmade() {
	j.f.Close()
	if j.want == "" {
		j.sess.ID = ""
	}
	j.f, j.path = nil, ""
	j.empty, j.made, j.lone, j.point = true, false, false, j.want == ""
}

// createNew makes a file under the first free id: the time, then the process
// number, counted up while another process has it.
func (j *Journal) createNew() (id, path string, err error) {
	if err := os.MkdirAll(j.dir.dir, 0o700); err != nil {
		return "", "", err
	}
	now := time.Now()
	for n := range 10000 {
		id = newID(now, os.Getpid()+n)
		path = filepath.Join(j.dir.dir, id+".jsonl")
		if _, err := os.Lstat(filepath.Join(j.dir.dir, id+".json")); err == nil {
			continue
		}
		j.f, err = createLocked(path)
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, errLocked) {
			return id, path, err
		}
	}
	return "", "", errors.New("no free session id")
}

func newID(now time.Time, n int) string {
	return fmt.Sprintf("%s-%04d", now.Format("20060102-150405"), n%10000)
}

func createLocked(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// errLocked says that another process has the session open.
var errLocked = errors.New("in use by another process")

// lock takes the file for this process until it is closed. A file system
// without locks is used without.
func lock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch err {
		case syscall.EINTR:
			continue
		case syscall.EWOULDBLOCK:
			return errLocked
		}
		return nil
	}
}
