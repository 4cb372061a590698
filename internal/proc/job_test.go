package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// startJob starts a shell command as a job, which ends with the test.
func startJob(t *testing.T, command string, keep int) *Job {
	t.Helper()
	j, err := Start(Spec{Argv: []string{"sh", "-c", command}, Env: os.Environ(), Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.End(); <-j.Done() })
	return j
}

func ended(t *testing.T, j *Job) Result {
	t.Helper()
	select {
	case <-j.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the job does not end")
	}
	running, r := j.State()
	if running {
		t.Error("a job that is done runs")
	}
	return r
}

func TestJob(t *testing.T) {
	dir := t.TempDir()
	j := startJob(t, "echo one; printf two; until [ -e "+dir+"/go ]; do sleep 0.02; done; echo ' end'; printf rest >&2; exit 3", 1000)
	waitFor(t, "the first output", func() bool { j.mu.Lock(); defer j.mu.Unlock(); return len(j.ring) == 7 })
	if running, r := j.State(); !running || r.Elapsed <= 0 {
		t.Errorf("State = %v, %+v", running, r)
	}
	if got, want := j.Read(100), (Output{Text: "one\n", Open: 3}); got != want {
		t.Errorf("Read = %+v, want %+v", got, want)
	}
	if got, want := j.Read(100), (Output{Open: 3}); got != want {
		t.Errorf("Read again = %+v, want %+v", got, want)
	}
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := ended(t, j); r.Exit != 3 || r.Cancelled || r.TimedOut || r.Elapsed <= 0 {
		t.Errorf("it ended %+v", r)
	}
	if got, want := j.Read(100), (Output{Text: "two end\nrest"}); got != want {
		t.Errorf("Read at the end = %+v, want %+v", got, want)
	}
	if got := j.Read(100); got != (Output{}) {
		t.Errorf("Read after the end = %+v", got)
	}
}

// TestJobRead has a job that ended, and one that runs, with output as written.
func TestJobRead(t *testing.T) {
	over := strings.Repeat("é", longLine/2+1)
	tests := []struct {
		name    string
		keep    int
		writes  []string
		ended   bool
		max     int
		want    []Output // read after read
		pending int      // bytes kept then
	}{
		{"lines", 100, []string{"a\nb", "\nc"}, false, 10, []Output{{Text: "a\nb\n", Open: 1}}, 1},
		{"at the end", 100, []string{"a\nb"}, true, 10, []Output{{Text: "a\nb"}, {}}, 0},
		{"in parts", 100, []string{"aa\nbb\ncc\nd"}, false, 5, []Output{{Text: "aa\n", Waiting: 6, Open: 1}, {Text: "bb\n", Waiting: 3, Open: 1}, {Text: "cc\n", Open: 1}, {Open: 1}}, 1},
		{"a line longer than a part", 100, []string{"éééé\n"}, true, 5, []Output{{Text: "éé", Waiting: 5}, {Text: "éé\n"}}, 0},
		{"a long line without an end", 10000, []string{over + "\xc3"}, false, 10000, []Output{{Text: over, Open: 1}, {Open: 1}}, 1},
		{"dropped", 10, []string{"one\ntwo\n", "three\nfour\n"}, true, 100, []Output{{Text: "four\n", Dropped: 14}, {}}, 0},
		{"dropped in one write", 6, []string{"one\ntwo\nthree\nfour\n"}, true, 100, []Output{{Text: "four\n", Dropped: 14}}, 0},
		{"dropped within a long line", 4, []string{"aéé"}, true, 100, []Output{{Text: "éé", Dropped: 1}}, 0},
		{"dropped to the middle of one", 3, []string{"aéé"}, true, 100, []Output{{Text: "é", Dropped: 3}}, 0},
	}
	for _, tt := range tests {
		j := &Job{keep: tt.keep, done: make(chan struct{})}
		for _, w := range tt.writes {
			if n, err := j.Write([]byte(w)); n != len(w) || err != nil {
				t.Errorf("Write = %d, %v", n, err)
			}
		}
		if tt.ended {
			close(j.done)
		}
		for i, want := range tt.want {
			if got := j.Read(tt.max); got != want {
				t.Errorf("%s: read %d = %+v, want %+v", tt.name, i+1, got, want)
			}
		}
		if len(j.ring) != tt.pending {
			t.Errorf("%s: %d bytes are kept, want %d", tt.name, len(j.ring), tt.pending)
		}
	}
}

// TestJobWrites: whatever the pieces, the last bytes stay, and all are counted.
func TestJobWrites(t *testing.T) {
	const text = "abcdefghijklmnopqrstuvwxyz"
	for keep := 1; keep <= 30; keep++ {
		for size := 1; size <= len(text); size++ {
			j := &Job{keep: keep, done: make(chan struct{})}
			close(j.done)
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				j.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			want := Output{Text: text[len(text)-min(keep, len(text)):], Dropped: int64(len(text) - min(keep, len(text)))}
			if got := j.Read(100); got != want || cap(j.ring) > keep+64 {
				t.Errorf("keep %d, pieces of %d: %+v, want %+v", keep, size, got, want)
			}
		}
	}
}

// TestJobFlood: a job that writes without end goes on, in bounded memory.
func TestJobFlood(t *testing.T) {
	j := startJob(t, "yes 0123456789", 256<<10)
	waitFor(t, "a flood", func() bool { j.mu.Lock(); defer j.mu.Unlock(); return j.dropped > 32<<20 })
	if got := j.Read(1000); len(got.Text) == 0 || len(got.Text) > 1000 || got.Text[:11] != "0123456789\n" || got.Dropped < 32<<20 || got.Waiting > 256<<10 {
		t.Errorf("Read = %d bytes, dropped %d, waiting %d", len(got.Text), got.Dropped, got.Waiting)
	}
	j.mu.Lock()
	if cap(j.ring) > 512<<10 {
		t.Errorf("%d bytes are held", cap(j.ring))
	}
	j.mu.Unlock()
	j.End()
	if r := ended(t, j); !r.Cancelled {
		t.Errorf("it ended %+v", r)
	}
}

// TestJobEnd: the whole group ends, what left the session does not; a service
// of its shell does not hold a job that is over, and lives.
func TestJobEnd(t *testing.T) {
	n, m := nap(t), nap(t)
	j := startJob(t, "trap '' TERM; sleep "+n+" & setsid sleep "+m+" & wait", 1000)
	waitFor(t, "two sleepers", func() bool { return len(sleepers(n)) == 1 && len(sleepers(m)) == 1 })
	began := time.Now()
	j.End()
	if r := ended(t, j); !r.Cancelled || time.Since(began) > 6*time.Second {
		t.Errorf("it ended %+v after %v", r, time.Since(began))
	}
	if len(sleepers(n)) != 0 || len(sleepers(m)) != 1 {
		t.Errorf("%d of the group and %d of another session are left, want 0 and 1", len(sleepers(n)), len(sleepers(m)))
	}
	k := nap(t)
	j = startJob(t, "sleep "+k+" & echo started", 1000)
	if r := ended(t, j); r.Exit != 0 || !r.Held || len(sleepers(k)) != 1 {
		t.Errorf("with a service it ended %+v, %d left", r, len(sleepers(k)))
	}
}

func TestJobTimeout(t *testing.T) {
	n := nap(t)
	j, err := Start(Spec{Argv: []string{"sleep", n}, Env: os.Environ(), Keep: 10, Timeout: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if r := ended(t, j); !r.TimedOut || r.Cancelled || len(sleepers(n)) != 0 {
		t.Errorf("it ended %+v", r)
	}
	if _, err := Start(Spec{Argv: []string{"no-such-program"}}); err == nil || !strings.Contains(err.Error(), "run no-such-program: not found") {
		t.Errorf("Start = %v", err)
	}
	if _, err := Start(Spec{}); err == nil {
		t.Error("Start of nothing gives no error")
	}
}

func TestJobLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for i := range 3 {
		j := startJob(t, fmt.Sprintf("echo %d; exec sleep 60", i), 100)
		j.End()
		ended(t, j)
	}
	waitFor(t, "goroutines", func() bool { return runtime.NumGoroutine() <= before })
}
