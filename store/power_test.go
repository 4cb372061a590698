package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cluade/internal/chat"
)

// illegal says what a server would refuse in a transcript, "" if nothing.
func illegal(msgs []chat.Message) string {
	open := map[string]bool{}
	for i, m := range msgs {
		switch {
		case i == 0 && m.Role != chat.User:
			return "it begins with a message of the " + string(m.Role)
		case m.Role == chat.Tool && !open[m.ToolCallID]:
			return "a result without a call: " + m.ToolCallID
		case m.Role == chat.Tool:
			delete(open, m.ToolCallID)
		case len(open) > 0:
			return fmt.Sprintf("calls without a result: %v", open)
		}
		for _, c := range m.ToolCalls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("calls without a result: %v", open)
	}
	return ""
}

// life is all that happens to a journal, step by step.
func life(sess *chat.Session, j *Journal, pad string) []func() error {
	add := func(m chat.Message) func() error {
		return func() error { sess.Messages = append(sess.Messages, m); return j.Append(m) }
	}
	state := func() error { return j.State(sess) }
	return []func() error{
		add(user("a" + pad)), add(calling("1", "2")), add(result("1", "x"+pad)), add(result("2", "y")), add(assistant("b")), state,
		func() error { sess.Mode, sess.Name = "plan", "wifi"; return j.Update() },
		add(user("c")), add(calling("1")), add(result("1", "z"+pad)),
		func() error {
			sess.Messages = append([]chat.Message{user("summary")}, sess.Messages[len(sess.Messages)-2:]...)
			return j.Reset("compact", sess.Messages)
		},
		add(assistant("d")), state, add(user("e")), add(calling("3")), add(result("3", pad)), add(assistant("f")), state,
		func() error { sess.Messages = sess.Messages[:4]; return j.Truncate(4, "rewind") }, state,
		add(user("g")), func() error { sess.Messages = sess.Messages[:4]; return j.Truncate(4, "cancel") },
		func() error { sess.Dir = "/elsewhere"; return nil },
		add(user("h")), add(calling("4", "5")), add(result("4", "one of two")),
	}
}

// TestCutAnywhereInALife: wherever the power fails, what is resumed is something
// that a server takes, it is no other than the transcript was at some time, and
// it can go on.
func TestCutAnywhereInALife(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	once := map[string]bool{"": true}
	note := func(msgs []chat.Message) { once[brief(repairTranscript(msgs, 1).msgs)] = true }
	for _, step := range life(sess, j, "") {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		note(sess.Messages)
	}
	note(append(sess.Messages[:4:4], user("g")))
	j.Close()
	whole := read(r.path(sess.ID))
	for n := strings.Index(whole, "\n") + 1; n <= len(whole); n++ {
		r.raw(sess.ID+".jsonl", whole[:n])
		res, err := r.s.Resume(sess.ID, "1")
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if fault := illegal(res.Session.Messages); fault != "" {
			t.Fatalf("cut at %d: %s in %s", n, fault, brief(res.Session.Messages))
		}
		if got := brief(res.Session.Messages); !once[got] {
			t.Fatalf("cut at %d: the transcript was never %s", n, got)
		}
		want := len(res.Session.Messages) + 2
		appendAll(t, res.Journal, user("new"), assistant("yes"))
		res.Journal.Close()
		again := r.resume(sess.ID)
		if got := again.Session.Messages; len(got) != want || illegal(got) != "" {
			t.Fatalf("cut at %d, resumed again: %s, want %d messages", n, brief(got), want)
		}
		again.Journal.Close()
	}
}

// TestFullDiskAtAnyStep: what was acknowledged before the disk was full is there
// afterwards, and a server takes it.
func TestFullDiskAtAnyStep(t *testing.T) {
	dir := t.TempDir()
	mount(t, "tmpfs", dir, "size=256k")
	s := sessionsIn(dir)
	filler := filepath.Join(dir, "filler")
	for full := range life(&chat.Session{}, nil, "") {
		sess := &chat.Session{Dir: dir, Created: time.Now()}
		j := s.New(sess, "1")
		var kept []chat.Message
		failed := 0
		for i, step := range life(sess, j, strings.Repeat("x", 5000)) {
			if i == full {
				os.WriteFile(filler, make([]byte, 1<<20), 0o600)
			}
			if err := step(); err != nil {
				failed++
			}
			if failed == 0 {
				kept = append([]chat.Message{}, sess.Messages...)
			}
		}
		if failed > 1 {
			t.Errorf("full at step %d: told %d times", full, failed)
		}
		j.Close()
		os.Remove(filler)
		if len(kept) == 0 {
			if list := must(s.List()); len(list) != 0 {
				t.Errorf("full at step %d: %+v is left of what never was saved", full, list)
			}
			continue
		}
		if list := must(s.List()); list[0].Damage != "" {
			t.Errorf("full at step %d: the file is damaged: %s", full, list[0].Damage)
		}
		res, err := s.Resume(sess.ID, "1")
		if err != nil {
			t.Fatalf("full at step %d: %v", full, err)
		}
		if got, want := brief(res.Session.Messages), brief(repairTranscript(kept, 1).msgs); got != want || illegal(res.Session.Messages) != "" {
			t.Errorf("full at step %d: %.200s\nwant %.200s", full, got, want)
		}
		res.Journal.Close()
		s.Delete(sess.ID)
	}
}

// TestClockBackwards: the last session is the one that was used last, whatever
// the clock said meanwhile.
func TestClockBackwards(t *testing.T) {
	r := newRoom(t)
	first := r.save(user("a"), assistant("b"))
	later := time.Now().Add(24 * 365 * time.Hour)
	os.Chtimes(r.path(first), later, later)
	r.raw("20990101-000000-0001.jsonl", head+line(user("x")))
	os.Chtimes(r.path("20990101-000000-0001"), later, later)
	last := r.save(user("c"), assistant("d"))
	if id, err := r.s.Latest(); id != last || err != nil {
		t.Errorf("Latest = %s, %v, want %s", id, err, last)
	}
	os.Remove(filepath.Join(r.home, ".cluade", "last_session"))
	if id, err := r.s.Latest(); id == "" || err != nil {
		t.Errorf("Latest without a pointer = %q, %v", id, err)
	}
}

// TestLongLines: a record is one line, however long.
func TestLongLines(t *testing.T) {
	r := newRoom(t)
	var msgs []chat.Message
	for _, n := range []int{4095, 4096, 32<<10 - 60, 32 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20} {
		msgs = append(msgs, user(strings.Repeat("é\n", n/3)), assistant(strings.Repeat("z", n)))
	}
	id := r.save(msgs...)
	if got := r.resume(id).Session.Messages; brief(got) != brief(msgs) {
		t.Error("a long message is not what it was")
	}
	if text := read(r.path(id)); strings.Count(text, "\n") != len(msgs)+2 {
		t.Errorf("%d lines", strings.Count(text, "\n"))
	}
}

// TestSessionsGone: a directory that was removed while the program ran is told,
// and the next session makes it anew.
func TestSessionsGone(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	appendAll(t, j, user("a"), assistant("b"))
	os.RemoveAll(filepath.Dir(j.Path()))
	if err := j.State(sess); err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Errorf("State = %v", err)
	}
	if err := j.Append(user("c")); err != nil {
		t.Errorf("it is told twice: %v", err)
	}
	j.Close()
	if id := r.save(user("d"), assistant("e")); r.resume(id).Session.Messages[0].Content != "d" {
		t.Error("the next session is not saved")
	}
}
