package store

import (
	"os"
	"strings"
	"testing"

	"cluade/internal/chat"
)

// The mode follows the first message, changes with one line, and is read back;
// a session that never had one has no line.
func TestModeRecord(t *testing.T) {
	b := newBox(t)
	c, _ := b.load()
	list := OpenSessions(b.place(), c)
	s := &chat.Session{Dir: b.place().Dir, Mode: "plan"}
	j := list.New(s, "v")
	if err := j.Update(); err != nil || j.Path() != "" {
		t.Errorf("Mode before the first message = %v, path %q", err, j.Path())
	}
	steps := []func() error{
		func() error { return j.Append(chat.Message{Role: chat.User, Content: "a"}) },
		func() error { s.Mode = "ask"; return j.Update() },
		j.Update,
		func() error { return j.Append(chat.Message{Role: chat.Assistant, Content: "b"}) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	text := string(must(os.ReadFile(j.Path())))
	if n := strings.Count(text, `{"t":"mode"`); n != 2 || !strings.HasPrefix(strings.SplitN(text, "\n", 3)[1], `{"t":"mode","mode":"plan"}`) {
		t.Errorf("%d mode records in\n%s", n, text)
	}
	id := s.ID
	j.Close()
	r, err := list.Resume(id, "v")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Journal.Close()
	if r.Session.Mode != "ask" || len(r.Session.Messages) != 2 {
		t.Errorf("resumed in mode %q with %d messages, want ask, 2", r.Session.Mode, len(r.Session.Messages))
	}
}
