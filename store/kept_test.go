package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"cluade/internal/chat"
)

// TestTruncateAfterDamage: where a line was lost, what a person took back stays
// taken back, and nothing else goes, whether or not the line was a message.
func TestTruncateAfterDamage(t *testing.T) {
	const lost, state = "\x00\x00\x00\n", `{"t":"state"}` + "\n"
	back := func(n, why string) string { return `{"t":"truncate","n":` + n + `,"why":"` + why + `"}` + "\n" }
	talk, undone := line(user("a"))+line(assistant("b"))+state+line(user("c"))+line(assistant("d")), line(user("U"))+line(assistant("V"))
	for _, tt := range []struct{ name, text, want string }{
		{"whole", talk + undone + back("4", "rewind"), "u:a|a:b|u:c|a:d"},
		{"a message", strings.Replace(talk, line(assistant("b")), lost, 1) + undone + back("4", "rewind"), "u:a|u:c|a:d"},
		{"a message, not answered", strings.Replace(talk, line(assistant("b")), lost, 1) + line(user("U")) + back("4", "cancel"), "u:a|u:c|a:d"},
		{"a message, failed", strings.Replace(talk, line(assistant("b")), lost, 1) + line(user("U")) + back("4", "failed"), "u:a|u:c|a:d"},
		{"two messages", strings.Replace(talk, line(user("c"))+line(assistant("d")), lost+lost, 1) + undone + back("4", "rewind"), "u:a|a:b"},
		{"counters", strings.Replace(talk, state, lost, 1) + undone + back("4", "rewind"), "u:a|a:b|u:c|a:d"},
		{"mended before", line(user("a")) + lost + line(assistant("b")) + line(assistant("c")) + back("2", "failed"), "u:a|a:b"},
	} {
		r := &replay{hold: true}
		if err := r.read(strings.NewReader(head + tt.text)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		var got []string
		for _, m := range r.sess.Messages {
			got = append(got, string(m.Role[:1])+":"+m.Content)
		}
		if s := strings.Join(got, "|"); s != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, s, tt.want)
		}
	}
}

func TestOldSessionOfAnotherVersion(t *testing.T) {
	r := newRoom(t)
	const id = "20200102-030405-0001"
	r.raw(id+".json", `{"id":"`+id+`","v":2,"messages":[]}`)
	if _, err := r.s.Resume(id, "1"); err == nil || !strings.Contains(err.Error(), "newer version") {
		t.Errorf("Resume = %v", err)
	}
	r.raw(id+".json", `{"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}]}`)
	if got := r.resume(id).Session.Created.Format(timeLayout); got != "2020-01-02 03:04:05" {
		t.Errorf("without a time it was created at %s", got)
	}
}

// TestLearntIsKept: what changes the request is known again when a session goes
// on: the window that counts, and the tool that was there.
func TestLearntIsKept(t *testing.T) {
	r := newRoom(t)
	sess, j := r.begin()
	appendAll(t, j, user("a"), assistant("b"))
	sess.Window, sess.Jobs = 3000, true
	if err := j.State(sess); err != nil {
		t.Fatal(err)
	}
	j.Close()
	if got := r.resume(sess.ID).Session; got.Window != 3000 || !got.Jobs {
		t.Errorf("resumed: window %d, jobs %v", got.Window, got.Jobs)
	}
}

// TestNewKeyIsMasked: a key that was no secret yet when it was said goes to
// nobody once it is one.
func TestNewKeyIsMasked(t *testing.T) {
	r := newRoom(t)
	call := calling("x-new-key-y")
	call.ToolCalls[0].Args = `{"command":"echo new-k\u0065y"}`
	id := r.save(user("it is new-key"), call, chat.Message{Role: chat.Tool, ToolCallID: "x-new-key-y", Content: "new-key"}, assistant("ok"))
	r.s.SetSecret("new-key1")
	if got := r.resume(id); !strings.Contains(got.Session.Messages[0].Content, "new-key") {
		t.Errorf("another text is masked: %v", got.Session.Messages)
	} else {
		got.Journal.Close()
	}
	r.put(r.path(id), strings.ReplaceAll(read(r.path(id)), "new-k", "1new-k"))
	r.s.SetSecret("1new-key")
	for _, m := range r.resume(id).Session.Messages {
		text := m.Content
		for _, c := range m.ToolCalls {
			text += c.Args
		}
		if strings.Contains(text, "new-k") {
			t.Errorf("not masked: %+v", m)
		}
	}
}

func TestSessionFileIsPrivate(t *testing.T) {
	r := newRoom(t)
	path := filepath.Join(r.dir, "talk.jsonl")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	res := must(r.open(path))
	appendAll(t, res.Journal, user("a"))
	if mode := must(os.Stat(path)).Mode().Perm(); mode != 0o600 {
		t.Errorf("an empty file that became a session has mode %o", mode)
	}
	if err := os.Symlink("nothing", filepath.Join(r.dir, "dangling")); err != nil {
		t.Fatal(err)
	}
	if _, err := r.open("dangling"); err == nil || !strings.Contains(err.Error(), "link to nothing") {
		t.Errorf("OpenFile of a link to nothing = %v", err)
	}
}

// TestKeyFileOthersRead: a file that holds the key is named as a configuration
// that does.
func TestKeyFileOthersRead(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	b := newBox(t)
	path := filepath.Join(b.home, "key")
	b.user(`{"api_key_file":"~/key"}`)
	for mode, told := range map[os.FileMode]bool{0o600: false, 0o400: false, 0o640: true, 0o644: true} {
		os.Remove(path)
		if err := os.WriteFile(path, []byte("sk-1\n"), mode); err != nil {
			t.Fatal(err)
		}
		if _, notices := b.load(); strings.Contains(notices, "chmod 600 "+path) != told {
			t.Errorf("mode %o: notices %q", mode, notices)
		}
	}
}

// TestSetKeyLosesNothing: a file with bytes that would change on the way is not
// written.
func TestSetKeyLosesNothing(t *testing.T) {
	b := newBox(t)
	for _, text := range []string{"{\"other\":\"caf\xe9\"}", `{"other":"\uD800"}`, `{"\udc00":1}`, `{"other":"\\ud800 \ud800"}`} {
		b.user(text)
		if err := b.place().SetKey("max_steps", "5"); err == nil || !strings.Contains(err.Error(), "by hand") {
			t.Errorf("SetKey in %q = %v", text, err)
		}
		if got := read(b.userFile()); got != text {
			t.Errorf("the file holds %q", got)
		}
	}
	for _, text := range []string{`{"other":"\ud83d\ude00"}`, `{"other":"\\ud800"}`} {
		b.user(text)
		if err := b.place().SetKey("max_steps", "5"); err != nil {
			t.Errorf("SetKey in %q = %v", text, err)
		}
	}
}
