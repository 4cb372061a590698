package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"cluade/internal/chat"
)

// room is a box with its sessions.
type room struct {
	*box
	s *Sessions
}

func newRoom(t *testing.T) room {
	b := newBox(t)
	c, _ := b.load()
	return room{b, OpenSessions(b.place(), c)}
}

func (r room) begin() (*chat.Session, *Journal) {
	sess := &chat.Session{Dir: r.dir, Model: "m", Created: time.Now()}
	return sess, r.s.New(sess, "1")
}

// save makes a session of msgs and returns its id.
func (r room) save(msgs ...chat.Message) string {
	r.t.Helper()
	sess, j := r.begin()
	appendAll(r.t, j, msgs...)
	sess.Messages = msgs
	if err := j.State(sess); err != nil {
		r.t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		r.t.Fatal(err)
	}
	return sess.ID
}

func (r room) path(id string) string {
	return filepath.Join(r.home, ".cluade", "sessions", id+".jsonl")
}

// raw writes a session file.
func (r room) raw(name, text string) {
	r.t.Helper()
	r.put(filepath.Join(r.home, ".cluade", "sessions", name), text)
}

func (r room) resume(id string) *Resumed {
	r.t.Helper()
	res, err := r.s.Resume(id, "2")
	if err != nil {
		r.t.Fatalf("Resume(%s): %v", id, err)
	}
	r.t.Cleanup(func() { res.Journal.Close() })
	return res
}

func appendAll(t *testing.T, j *Journal, msgs ...chat.Message) {
	t.Helper()
	for _, m := range msgs {
		if err := j.Append(m); err != nil {
			t.Fatalf("Append(%+v): %v", m, err)
		}
	}
}

func user(s string) chat.Message      { return chat.Message{Role: chat.User, Content: s} }
func assistant(s string) chat.Message { return chat.Message{Role: chat.Assistant, Content: s} }
func result(id, s string) chat.Message {
	return chat.Message{Role: chat.Tool, ToolCallID: id, Content: s}
}
func calling(ids ...string) chat.Message {
	m := chat.Message{Role: chat.Assistant}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, chat.ToolCall{ID: id, Name: "bash", Args: "{}"})
	}
	return m
}

// brief writes a transcript in a few letters.
func brief(msgs []chat.Message) string {
	var out []string
	for _, m := range msgs {
		s := string(m.Role[:1]) + ":" + m.Content
		if m.Notice {
			s = "n:" + m.Content
		}
		if m.Role == chat.Tool {
			s = "t" + m.ToolCallID + ":" + m.Content
		}
		for _, c := range m.ToolCalls {
			s += " " + c.ID
		}
		out = append(out, s)
	}
	return strings.ReplaceAll(strings.Join(out, "|"), interrupted, "CUT")
}

func TestNothingBeforeTheFirstMessage(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	if err := j.State(sess); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(r.home, ".cluade")); !os.IsNotExist(err) || sess.ID != "" || j.Path() != "" {
		t.Errorf("without a message: id %q, path %q, state directory: %v", sess.ID, j.Path(), err)
	}
}

func TestNewSessionFile(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	defer j.Close()
	appendAll(t, j, user("a\nb"))
	if !regexp.MustCompile(`^\d{8}-\d{6}-\d{4}$`).MatchString(sess.ID) || j.Path() != r.path(sess.ID) {
		t.Fatalf("id %q, path %q", sess.ID, j.Path())
	}
	for path, mode := range map[string]os.FileMode{
		j.Path(): 0o600, filepath.Dir(j.Path()): 0o700 | os.ModeDir, filepath.Join(r.home, ".cluade", "last_session"): 0o600,
		filepath.Join(r.home, ".cluade"): 0o700 | os.ModeDir,
	} {
		if info := must(os.Stat(path)); info.Mode() != mode {
			t.Errorf("%s has mode %v, want %v", path, info.Mode(), mode)
		}
	}
	if got := string(must(os.ReadFile(filepath.Join(r.home, ".cluade", "last_session")))); strings.TrimSpace(got) != sess.ID {
		t.Errorf("last_session = %q, want %s", got, sess.ID)
	}
	sess.Steps, sess.Context, sess.Total = 5, 8200, chat.Usage{Prompt: 12000, Completion: 345, Cached: 9, Reasoning: 8}
	if err := j.State(sess); err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(must(os.ReadFile(j.Path()))), []byte("\n"))
	want := []map[string]any{
		{"t": "session", "v": 1.0, "id": sess.ID, "cwd": r.dir, "created": sess.Created.Format("2006-01-02 15:04:05"), "model": "m", "version": "1"},
		{"t": "msg", "m": map[string]any{"role": "user", "content": "a\nb"}},
		{"t": "state", "steps": 5.0, "total_tokens": 12345.0, "context_tokens": 8200.0, "completion_tokens": 345.0, "cached_tokens": 9.0, "reasoning_tokens": 8.0, "model": "m"},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d: %s", len(lines), len(want), lines)
	}
	for i := range want {
		var got map[string]any
		if err := json.Unmarshal(lines[i], &got); err != nil || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("line %d = %s (%v), want %v", i+1, lines[i], err, want[i])
		}
	}
}

// One message is one write, so that a cut leaves whole lines and at most one
// torn one.
func TestAppendWritesOnce(t *testing.T) {
	r := newRoom(t)
	_, j := r.begin()
	defer j.Close()
	appendAll(t, j, user("first"))
	least := 1000
	for range 5 { // the runtime may write something of its own meanwhile
		before := writes(t)
		appendAll(t, j, assistant(strings.Repeat("x", 1<<18)))
		least = min(least, writes(t)-before)
	}
	if least != 1 {
		t.Errorf("one message took %d writes, want 1", least)
	}
}

// writes is the number of write calls of this process so far (proc(5)).
func writes(t *testing.T) int {
	data, err := os.ReadFile("/proc/self/io")
	if err != nil {
		missing(t, "no /proc/self/io")
	}
	var n int
	for _, line := range strings.Split(string(data), "\n") {
		fmt.Sscanf(line, "syscw: %d", &n)
	}
	return n
}

func TestRoundTrip(t *testing.T) {
	r := newRoom(t)
	msgs := []chat.Message{
		user("fix it"),
		{Role: chat.Assistant, Content: "ok", Reasoning: "think", ReasoningKey: "reasoning", Host: "h:1", Details: `[{"a":1}]`,
			ToolCalls: []chat.ToolCall{{ID: "c1", Name: "bash", Args: `{"command":"ls`, Extra: `{"sig":"x"}`}}},
		result("c1", "\x1b[31mred\x00\u2028"),
		{Role: chat.User, Content: "you repeat yourself", Notice: true},
		assistant("done"),
	}
	sess, j := r.begin()
	appendAll(t, j, msgs...)
	sess.Steps, sess.Context, sess.Total = 2, 77, chat.Usage{Prompt: 10, Completion: 5, Cached: 3, Reasoning: 2}
	sess.Model = "other"
	if err := j.State(sess); err != nil {
		t.Fatal(err)
	}
	j.Close()
	res := r.resume(sess.ID)
	if !reflect.DeepEqual(res.Session.Messages, msgs) {
		t.Errorf("Messages = %+v, want %+v", res.Session.Messages, msgs)
	}
	got, want := *res.Session, *sess
	got.Messages, want.Messages, want.Created = nil, nil, want.Created.Truncate(time.Second)
	if !got.Created.Equal(want.Created) {
		t.Errorf("Created = %v, want %v", got.Created, want.Created)
	}
	got.Created = want.Created
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Session = %+v, want %+v", got, want)
	}
	if len(res.Notices) != 0 || res.Pending != "" {
		t.Errorf("Notices %q, Pending %q, want none", res.Notices, res.Pending)
	}
}

func TestResetAndTruncate(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	appendAll(t, j, user("a"), assistant("b"), user("c"), assistant("d"))
	if err := j.Truncate(2, "failed"); err != nil {
		t.Fatal(err)
	}
	appendAll(t, j, user("e"), assistant("f"))
	j.Close()
	res := r.resume(sess.ID)
	if got := brief(res.Session.Messages); got != "u:a|a:b|u:e|a:f" {
		t.Errorf("after Truncate: %s", got)
	}
	if err := res.Journal.Reset("compact", []chat.Message{user("summary")}); err != nil {
		t.Fatal(err)
	}
	res.Journal.Close()
	res = r.resume(sess.ID)
	if got := brief(res.Session.Messages); got != "u:summary" || res.Pending != "" {
		t.Errorf("after Reset: %s, pending %q; a summary is no unanswered prompt", got, res.Pending)
	}
	appendAll(t, res.Journal, user("g"))
	res.Journal.Close()
	res = r.resume(sess.ID)
	if got := brief(res.Session.Messages); got != "u:summary" || res.Pending != "g" {
		t.Errorf("after a prompt: %s, pending %q, want the prompt dropped", got, res.Pending)
	}
	if err := res.Journal.Reset("clear", nil); err != nil {
		t.Fatal(err)
	}
	res.Journal.Close()
	if res = r.resume(sess.ID); len(res.Session.Messages) != 0 || len(res.Notices) != 0 {
		t.Errorf("after clear: %s, %q", brief(res.Session.Messages), res.Notices)
	}
}

// TestOnlyAQuestionIsNoSession: of a run that failed at once nothing is left,
// and the conversation before it is the last one again.
func TestOnlyAQuestionIsNoSession(t *testing.T) {
	r := newRoom(t)
	before := r.save(user("a"), assistant("b"))
	sess, j := r.begin()
	appendAll(t, j, user("c"))
	made := j.Path()
	if err := j.Truncate(0, "failed"); err != nil {
		t.Fatal(err)
	}
	if err := j.State(sess); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(made); !os.IsNotExist(err) || j.Path() != "" || sess.ID != "" || must(r.s.Latest()) != before {
		t.Errorf("the file is there: %v, path %q, id %q, latest %s, want no file and %s", err == nil, j.Path(), sess.ID, must(r.s.Latest()), before)
	}
	appendAll(t, j, user("d"), assistant("e"))
	j.Close()
	if got := brief(r.resume(sess.ID).Session.Messages); got != "u:d|a:e" || must(r.s.Latest()) != sess.ID {
		t.Errorf("the next question: %s in %s, latest %s", got, sess.ID, must(r.s.Latest()))
	}
}

// TestJournalTakenAway: a session whose file is gone is not saved, and that is
// said.
func TestJournalTakenAway(t *testing.T) {
	r := newRoom(t)
	for name, take := range map[string]func(path string) error{
		"removed":  os.Remove,
		"renamed":  func(p string) error { return os.Rename(p, p+".bak") },
		"replaced": func(p string) error { return errors.Join(os.WriteFile(p+".new", nil, 0o600), os.Rename(p+".new", p)) },
	} {
		sess, j := r.begin()
		appendAll(t, j, user("a"), assistant("b"))
		if err := take(j.Path()); err != nil {
			t.Fatal(err)
		}
		appendAll(t, j, user("c"))
		if err := j.State(sess); err == nil || !strings.Contains(err.Error(), "removed or replaced") {
			t.Errorf("%s: State = %v, want that the file was removed or replaced", name, err)
		}
		if err := j.Append(assistant("d")); err != nil {
			t.Errorf("%s: the second error is told too: %v", name, err)
		}
		j.Close()
	}
}

// TestWhatWasAnsweredStays: a file with more in it than one question is never
// taken away.
func TestWhatWasAnsweredStays(t *testing.T) {
	r := newRoom(t)
	for name, do := range map[string]func(*Journal){
		"answered": func(j *Journal) { appendAll(t, j, user("a"), assistant("b")) },
		"cleared": func(j *Journal) {
			appendAll(t, j, user("a"))
			j.Reset("clear", nil)
		},
		"resumed": func(j *Journal) {
			appendAll(t, j, user("a"), assistant("b"))
			j.Close()
			*j = *r.resume(j.sess.ID).Journal
			appendAll(t, j, user("c"))
		},
	} {
		_, j := r.begin()
		do(j)
		if err := j.Truncate(0, "failed"); err != nil {
			t.Fatal(err)
		}
		if data := must(os.ReadFile(j.Path())); !strings.Contains(string(data), `"t":"truncate","n":0`) {
			t.Errorf("%s: the file is %s", name, data)
		}
		j.Close()
	}
}

func TestPointerFollowsTheFirstNewMessage(t *testing.T) {
	r := newRoom(t)
	a := r.save(user("a"), assistant("b"))
	b := r.save(user("c"), assistant("d"))
	latest := func() string { return must(r.s.Latest()) }
	if latest() != b {
		t.Fatalf("Latest = %s, want %s", latest(), b)
	}
	res := r.resume(a)
	if latest() != b {
		t.Errorf("Latest = %s before a new message, want %s", latest(), b)
	}
	appendAll(t, res.Journal, user("e"))
	if latest() != a {
		t.Errorf("Latest = %s after a new message, want %s", latest(), a)
	}
}

func TestLatest(t *testing.T) {
	r := newRoom(t)
	if id, err := r.s.Latest(); err != ErrNoSession {
		t.Errorf("Latest = %q, %v, want ErrNoSession", id, err)
	}
	old := r.save(user("a"), assistant("b"))
	day := time.Now().Add(-24 * time.Hour)
	if err := os.Chtimes(r.path(old), day, day); err != nil {
		t.Fatal(err)
	}
	r.raw("20200101-000000-0001.jsonl", "")
	r.raw("20990101-000000-0002.jsonl", `{"t":"session","v":2,"id":"x"}`+"\n")
	r.raw("20990101-000000-0003.json", `{"id":`)
	pointer := filepath.Join(r.home, ".cluade", "last_session")
	for _, text := range []string{"20990101-000000-0002\n", "20990101-000000-0003", "../../etc/passwd", "", "20110101-000000-0001", old} {
		r.put(pointer, text)
		if id, err := r.s.Latest(); id != old || err != nil {
			t.Errorf("pointer %q: Latest = %q, %v, want %s", text, id, err, old)
		}
	}
}

func TestSecretIsMasked(t *testing.T) {
	const key = `sk-TEST"KEY\1`
	r := newRoom(t)
	r.s.SetSecret(key)
	quoted := must(json.Marshal(map[string]string{"command": "echo " + key}))
	sess, j := r.begin()
	appendAll(t, j, user("my key is "+key), chat.Message{Role: chat.Assistant, Content: key, Reasoning: key, ReasoningKey: "reasoning",
		Details:   `[{"text":` + string(must(json.Marshal(key))) + `}]`,
		ToolCalls: []chat.ToolCall{{ID: "c", Name: "bash", Args: string(quoted), Extra: `{"s":` + string(must(json.Marshal(key))) + `}`}}}, result("c", "out "+key))
	if err := j.Reset("compact", []chat.Message{user(key)}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	data := string(must(os.ReadFile(r.path(sess.ID))))
	if strings.Contains(data, "KEY") || strings.Count(data, "***") != 8 {
		t.Errorf("the journal holds the key, or not 8 marks: %s", data)
	}
	for _, line := range strings.Split(strings.TrimSpace(data), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("line is no JSON: %s", line)
		}
	}
	r.s.SetSecret("sk-TESTKEY")
	if got := r.s.mask(calling("c")).ToolCalls[0].Args; got != "{}" {
		t.Errorf("arguments without the key: %s, want {}", got)
	}
	if got := r.s.hideJSON(`{"a": "\u0073k-TEST\u004bEY"}`); got != `{"a":"***"}` {
		t.Errorf("a key in escapes: %s", got)
	}
	r.s.SetSecret("k")
	if got := r.s.mask(user("ask")); got.Content != "ask" {
		t.Errorf("a key of one letter: %q, want ask", got.Content)
	}
}

// A Sessions without a directory saves nothing and says nothing.
func TestNoStateDirectory(t *testing.T) {
	s := OpenSessions(Place{Dir: t.TempDir()}, defaults(""))
	sess := &chat.Session{}
	j := s.New(sess, "1")
	appendAll(t, j, user("a"))
	if err := j.State(sess); err != nil || sess.ID != "" || j.Path() != "" {
		t.Errorf("State: %v, id %q, path %q", err, sess.ID, j.Path())
	}
	if list, err := s.List(); len(list) != 0 || err != nil {
		t.Errorf("List = %v, %v", list, err)
	}
	if _, err := s.Latest(); err != ErrNoSession {
		t.Errorf("Latest: %v", err)
	}
}

// The first error is returned, the rest is silence; the file ends with a whole
// record.
func TestFailureIsToldOnce(t *testing.T) {
	r := newRoom(t)
	r.put(filepath.Join(r.home, ".cluade", "sessions"), "a file where the directory should be")
	sess, j := r.begin()
	if err := j.Append(user("a")); err == nil || !strings.Contains(err.Error(), "sessions") {
		t.Errorf("Append = %v, want an error that names the place", err)
	}
	if err := j.Append(assistant("b")); err != nil {
		t.Errorf("second Append = %v, want nil", err)
	}
	for _, err := range []error{j.State(sess), j.Reset("clear", nil), j.Truncate(0, "failed"), j.Close()} {
		if err != nil {
			t.Errorf("after the failure: %v, want nil", err)
		}
	}
}

func TestDirectoryChangeIsRecorded(t *testing.T) {
	r := newRoom(t)
	id := r.save(user("a"), assistant("b"))
	res := r.resume(id)
	res.Session.Dir = "/somewhere/else"
	appendAll(t, res.Journal, user("c"), assistant("d"))
	res.Journal.Close()
	if got := r.resume(id).Session.Dir; got != "/somewhere/else" {
		t.Errorf("Dir = %q, want the new one", got)
	}
}
