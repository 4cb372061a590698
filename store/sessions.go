package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// Sessions is the directory of saved sessions. Without a state directory it is
// empty and what is begun there is not saved.
type Sessions struct {
	dir     string // "" if there is none
	work    string // the working directory, for session files of a person's choice
	pointer string // the file that names the last session, "" if there is none
	sync    string // journal_sync
	secret  string
}

// OpenSessions names the directory; nothing is made before the first message.
func OpenSessions(p Place, c *Config) *Sessions {
	s := &Sessions{work: p.Dir, sync: c.JournalSync}
	if c.SessionsDir != "" {
		s.dir = filepath.Clean(c.SessionsDir)
	}
	if p.State != "" {
		s.pointer = filepath.Join(p.State, "last_session")
		if s.dir == "" {
			s.dir = filepath.Join(p.State, "sessions")
		}
	}
	return s
}

// minSecret is the length of the shortest key that is masked. A shorter one,
// such as the "none" or "ollama" that a local server is given, is no secret,
// and to replace it would spoil ordinary words.
const minSecret = 8

// SetSecret makes key be replaced by *** wherever it would enter a journal.
func (s *Sessions) SetSecret(key string) {
	s.secret = ""
	if len(key) >= minSecret {
		s.secret = key
	}
}

// mask returns m as it may be written.
func (s *Sessions) mask(m chat.Message) chat.Message {
	if s.secret == "" {
		return m
	}
	m.Content, m.Reasoning, m.Details = s.hide(m.Content), s.hide(m.Reasoning), s.hideJSON(m.Details)
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i, c := range m.ToolCalls {
		m.ToolCalls[i].Args, m.ToolCalls[i].Extra = s.hideJSON(c.Args), s.hideJSON(c.Extra)
	}
	return m
}

func (s *Sessions) hide(text string) string {
	escaped := quote(s.secret)
	return strings.NewReplacer(s.secret, "***", escaped[1:len(escaped)-1], "***").Replace(text)
}

// hideJSON masks JSON text, which may spell the key with any escapes.
func (s *Sessions) hideJSON(text string) string {
	text = s.hide(text)
	if !strings.Contains(text, `\`) {
		return text
	}
	if v, err := fastjson.Parse(text); err == nil {
		plain := jsonText(v)
		if masked := s.hide(plain); masked != plain {
			return masked
		}
	}
	return text
}

// isID says whether s has the form YYYYMMDD-HHMMSS-NNNN. It is the one rule
// for what is a session; Resume and List look at no other file.
func isID(s string) bool {
	const form = "00000000-000000-0000"
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		if form[i] == '-' != (s[i] == '-') || form[i] == '0' && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return true
}

// timeOf is the time that an id begins with, the zero time if that is none.
func timeOf(id string) time.Time {
	t, _ := time.ParseInLocation("20060102-150405", id[:15], time.Local)
	return t
}

// saved is one session on the disk.
type saved struct {
	id, path string
	old      bool // the form that is one JSON object
	changed  time.Time
	size     int64
}

// entries are the sessions, the one changed last first. Where both forms of
// one session are there, the journal is it.
func (s *Sessions) entries() ([]*saved, error) {
	if s.dir == "" {
		return nil, nil
	}
	files, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	byID, shared := map[string]*saved{}, s.Shared()
	for _, f := range files {
		ext := filepath.Ext(f.Name())
		id := strings.TrimSuffix(f.Name(), ext)
		if !isID(id) || ext != ".jsonl" && ext != ".json" || ext == ".json" && byID[id] != nil {
			continue
		}
		path, look := filepath.Join(s.dir, f.Name()), os.Stat
		if shared {
			look = os.Lstat
		}
		info, err := look(path)
		if err != nil || !info.Mode().IsRegular() || shared && !s.ours(info) {
			continue
		}
		byID[id] = &saved{id, path, ext == ".json", info.ModTime(), info.Size()}
	}
	var list []*saved
	for _, e := range byID {
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b *saved) int {
		if c := b.changed.Compare(a.changed); c != 0 {
			return c
		}
		return strings.Compare(b.id, a.id)
	})
	return list, nil
}

// scan reads a session without keeping its messages.
func (e *saved) scan() (*replay, error) {
	r := &replay{}
	f, err := os.Open(e.path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	if e.old {
		return r, r.readOld(f)
	}
	return r, r.read(f)
}

// Latest is the session that the pointer names, else the newest; one that
// cannot be used is passed over.
func (s *Sessions) Latest() (string, error) {
	list, err := s.entries()
	if err != nil {
		return "", err
	}
	id := s.pointed()
	if i := slices.IndexFunc(list, func(e *saved) bool { return e.id == id }); i > 0 {
		list = append([]*saved{list[i]}, list...)
	}
	for _, e := range list {
		if _, err := e.scan(); err == nil {
			return e.id, nil
		}
	}
	return "", ErrNoSession
}

// pointed is the id in the pointer, "" if it names none.
func (s *Sessions) pointed() string {
	if s.pointer == "" {
		return ""
	}
	data, _, err := readFile(s.pointer, 256)
	if id := strings.TrimSpace(string(data)); err == nil && isID(id) {
		return id
	}
	return ""
}

// point makes the pointer name id. That it fails loses nothing: the newest
// session is found without it.
func (s *Sessions) point(id string) {
	if s.pointer == "" || os.MkdirAll(filepath.Dir(s.pointer), 0o700) != nil {
		return
	}
	writeFile(s.pointer, []byte(id+"\n"), false)
}

// Find is the full id of the session that Resume would take.
func (s *Sessions) Find(id string) (string, error) {
	e, err := s.find(id)
	if err != nil {
		return "", err
	}
	return e.id, nil
}

// find is the session with that id, the only one whose id begins so, or the only
// one of that name.
func (s *Sessions) find(id string) (*saved, error) {
	list, err := s.entries()
	if err != nil {
		return nil, err
	}
	var found []*saved
	for _, e := range list {
		if e.id == id {
			return e, nil
		}
		if id != "" && strings.HasPrefix(e.id, id) {
			found = append(found, e)
		}
	}
	what := "begin so"
	if strings.Trim(id, "0123456789-") != "" {
		found, what = s.named(id), "have that name"
	}
	shown := chat.EscapeText(id, 60)
	switch len(found) {
	case 0:
		return nil, fmt.Errorf("session \"%s\": %w", shown, ErrNoSession)
	case 1:
		return found[0], nil
	}
	return nil, fmt.Errorf("session \"%s\": %d sessions %s, %s and %s among them", shown, len(found), what, found[0].id, found[1].id)
}

// Summary is one line of a listing. Texts are escaped.
type Summary struct {
	ID       string
	Name     string
	Dir      string
	Created  time.Time
	Messages int
	Bytes    int64
	First    string // the first prompt, at most 50 columns
	Damage   string // "empty", "torn", "3 lines skipped"; "" if whole
}

// List returns the sessions, newest first.
func (s *Sessions) List() ([]Summary, error) {
	list, _, err := s.Newest(0)
	return list, err
}

// Newest returns the newest max sessions, newest first, and how many more there
// are; 0 returns all. Only what is returned is read.
func (s *Sessions) Newest(max int) (list []Summary, more int, err error) {
	files, err := s.entries()
	if err != nil {
		return nil, 0, err
	}
	if max > 0 && len(files) > max {
		more, files = len(files)-max, files[:max]
	}
	for _, e := range files {
		r, err := e.scan()
		sum := Summary{
			ID: e.id, Name: chat.EscapeText(r.sess.Name, 60), Dir: chat.EscapeText(r.sess.Dir, maxQuoted),
			Created: r.sess.Created, Messages: r.count, Bytes: e.size,
			First: firstColumns(chat.EscapeText(r.first, 400), 50), Damage: r.damage(err),
		}
		if sum.Created.IsZero() {
			sum.Created = timeOf(e.id)
		}
		list = append(list, sum)
	}
	return list, more, nil
}

// firstColumns cuts s to fit that many columns of a terminal. Characters of two
// columns are told by their blocks, which errs on the wide side only.
func firstColumns(s string, columns int) string {
	width := 0
	for i, r := range s {
		width++
		if r >= 0x1100 && r <= 0x115f || r >= 0x2e80 && r <= 0xa4cf || r >= 0xac00 && r <= 0xd7a3 ||
			r >= 0xf900 && r <= 0xfaff || r >= 0xfe30 && r <= 0xfe6f || r >= 0xff00 && r <= 0xffe6 || r >= 0x1f300 {
			width++
		}
		if width > columns {
			return s[:i]
		}
	}
	return s
}
