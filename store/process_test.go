package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cluade/internal/chat"
)

// TestMain lets the test binary be a second process on the same sessions.
func TestMain(m *testing.M) {
	home := os.Getenv("STORE_TEST_HOME")
	if home == "" {
		os.Exit(m.Run())
	}
	if err := helper(home, os.Getenv("STORE_TEST_DO")); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

// helper prints the id of the session it works in, waits for its input to end,
// and works on.
func helper(home, do string) error {
	s := &Sessions{dir: filepath.Join(home, "sessions"), work: home, pointer: filepath.Join(home, "last_session"), sync: "none"}
	sess := &chat.Session{Dir: home}
	j := s.New(sess, "1")
	if do != "new" {
		res, err := s.Resume(do, "1")
		if err != nil {
			return err
		}
		j, sess = res.Journal, res.Session
	}
	if err := j.Append(user("of " + fmt.Sprint(os.Getpid()))); err != nil {
		return err
	}
	fmt.Println(sess.ID)
	io.Copy(io.Discard, os.Stdin)
	if err := j.Append(assistant("to " + fmt.Sprint(os.Getpid()))); err != nil {
		return err
	}
	return j.Close()
}

// process is a helper that runs.
type process struct {
	cmd  *exec.Cmd
	in   io.Closer
	id   string
	line *bufio.Reader
}

func start(t *testing.T, home, do string) *process {
	t.Helper()
	cmd := exec.Command(must(os.Executable()))
	cmd.Env = append(os.Environ(), "STORE_TEST_HOME="+home, "STORE_TEST_DO="+do)
	in, out := must(cmd.StdinPipe()), must(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return &process{cmd: cmd, in: in, line: bufio.NewReader(out)}
}

func (p *process) read() string {
	s, _ := p.line.ReadString('\n')
	p.id = strings.TrimSpace(s)
	return p.id
}

func (p *process) end(t *testing.T) {
	t.Helper()
	p.in.Close()
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("process %s: %v", p.id, err)
	}
}

func sessionsIn(home string) *Sessions {
	return &Sessions{dir: filepath.Join(home, "sessions"), work: home, pointer: filepath.Join(home, "last_session"), sync: "none"}
}

// Two processes on one session: one goes on, the other takes a copy, nothing
// of either is lost.
func TestTwoProcesses(t *testing.T) {
	home := t.TempDir()
	s := sessionsIn(home)
	sess := &chat.Session{Dir: home}
	j := s.New(sess, "1")
	appendAll(t, j, user("start"), assistant("ok"))
	j.Close()
	a := start(t, home, sess.ID)
	if a.read() != sess.ID {
		t.Fatalf("the first process works in %q, want %s", a.id, sess.ID)
	}
	b := start(t, home, sess.ID)
	if b.read() == sess.ID || !isID(b.id) {
		t.Fatalf("the second process works in %q, want another session", b.id)
	}
	res, err := s.Resume(sess.ID, "1")
	if err != nil || res.Session.ID != "" || !strings.Contains(strings.Join(res.Notices, " "), "in use by another process") || !strings.Contains(res.Notices[len(res.Notices)-1], sess.ID) {
		t.Errorf("Resume of a session in use: %v, %+v", err, res)
	}
	if res.Pending != "" {
		t.Errorf("Pending = %q, want none: the other process answers it", res.Pending)
	}
	a.end(t)
	b.end(t)
	for _, p := range []*process{a, b} {
		res, err := s.Resume(p.id, "1")
		if err != nil {
			t.Fatal(err)
		}
		pid := p.cmd.Process.Pid
		want := fmt.Sprintf("u:start|a:ok|u:of %d|a:to %d", pid, pid)
		if got := brief(res.Session.Messages); got != want || len(res.Notices) > 0 {
			t.Errorf("session %s: %s, %q, want %s", p.id, got, res.Notices, want)
		}
		res.Journal.Close()
	}
}

// The same with a session of the old form, which has no journal yet.
func TestTwoProcessesOnAnOldSession(t *testing.T) {
	home := t.TempDir()
	const id = "20260529-201630-1000"
	if err := os.Mkdir(filepath.Join(home, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "sessions", id+".json"), []byte(oldSession), 0o600); err != nil {
		t.Fatal(err)
	}
	s := sessionsIn(home)
	first, err := s.Resume(id, "1")
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.Resume(id, "1")
	if err != nil {
		t.Fatal(err)
	}
	if first.Session.ID != id || second.Session.ID != "" || len(second.Notices) != 1 {
		t.Errorf("ids %q and %q, notices %q", first.Session.ID, second.Session.ID, second.Notices)
	}
	appendAll(t, second.Journal, user("two"))
	appendAll(t, first.Journal, user("one"))
	if first.Session.ID != id || second.Session.ID == id {
		t.Errorf("ids %q and %q", first.Session.ID, second.Session.ID)
	}
	first.Journal.Close()
	second.Journal.Close()
}

// Processes that begin in one second get an id each, and the pointer names one
// of them.
func TestTwentyStarts(t *testing.T) {
	home := t.TempDir()
	var ps []*process
	for range 20 {
		ps = append(ps, start(t, home, "new"))
	}
	seen := map[string]bool{}
	for _, p := range ps {
		if seen[p.read()] || !isID(p.id) {
			t.Errorf("id %q, twice or none", p.id)
		}
		seen[p.id] = true
	}
	for _, p := range ps {
		p.end(t)
	}
	if id := strings.TrimSpace(string(must(os.ReadFile(filepath.Join(home, "last_session"))))); !seen[id] {
		t.Errorf("last_session names %q", id)
	}
	list := must(sessionsIn(home).List())
	for _, sum := range list {
		if sum.Damage != "" || sum.Messages != 2 {
			t.Errorf("%+v, want 2 messages, whole", sum)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(home, ".last_session*")); len(list) != 20 || len(left) > 0 {
		t.Errorf("%d sessions, left over %v", len(list), left)
	}
}

// In one process ids are counted up too.
func TestManySessionsInOneSecond(t *testing.T) {
	r := newRoom(t)
	var wg sync.WaitGroup
	ids := make([]string, 50)
	for i := range ids {
		wg.Go(func() {
			sess, j := r.begin()
			if err := j.Append(user("x")); err == nil {
				ids[i] = sess.ID
			}
			j.Close()
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		if id == "" || seen[id] {
			t.Errorf("id %q, twice or none", id)
		}
		seen[id] = true
	}
}

// A full disk is told once; what was saved stays whole and can be resumed.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	mount(t, "tmpfs", dir, "size=64k")
	s := sessionsIn(dir)
	sess := &chat.Session{Dir: dir}
	j := s.New(sess, "1")
	appendAll(t, j, user("a"), assistant("b"))
	saved := 0
	var failure error
	for range 20 {
		if failure = j.Append(user(strings.Repeat("x", 9000))); failure != nil {
			break
		}
		saved++
	}
	if !errors.Is(failure, syscall.ENOSPC) {
		t.Fatalf("Append on a full disk = %v, want ENOSPC", failure)
	}
	if err := errors.Join(j.Append(assistant("c")), j.State(sess), j.Reset("clear", nil), j.Close()); err != nil {
		t.Errorf("after the failure: %v, want nil", err)
	}
	list := must(s.List())
	if len(list) != 1 || list[0].Damage != "" || list[0].Messages != 2+saved {
		t.Errorf("List = %+v, want %d messages, whole", list, 2+saved)
	}
	if err := os.WriteFile(filepath.Join(dir, "filler"), make([]byte, 1<<20), 0o600); err == nil {
		t.Fatal("the disk is not full")
	}
	res, err := s.Resume(sess.ID, "1")
	if err != nil {
		t.Fatalf("Resume on a full disk: %v", err)
	}
	defer res.Journal.Close()
	if err := res.Journal.Reset("compact", []chat.Message{user(strings.Repeat("y", 20000))}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Reset on a full disk = %v, want ENOSPC", err)
	}
	if list := must(s.List()); list[0].Damage != "" {
		t.Errorf("after Reset on a full disk: %+v, want it whole", list)
	}
	fresh := s.New(&chat.Session{Dir: dir}, "1")
	if err := fresh.Append(user("a")); !errors.Is(err, syscall.ENOSPC) || fresh.Path() != "" {
		t.Errorf("a new session on a full disk = %v, path %q, want ENOSPC and none", err, fresh.Path())
	}
	fresh.Close()
	if list := must(s.List()); len(list) != 1 {
		t.Errorf("a session that could not be begun is listed: %+v", list)
	}
}
