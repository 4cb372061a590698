package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"cluade/tests/model/server"
)

// growthTurns are the turns after which BenchmarkGrowth measures; times are the
// mean of the growthStretch turns up to there.
var growthTurns = []int{10, 100, 300}

const growthStretch = 10

// BenchmarkGrowth talks for hundreds of turns with the real binary, each with a
// call whose result has 15 KB, in a window that holds them all. It prints what
// grows: memory, the session's file, the request, and the time of a turn. Only
// the request may grow, and the time by what its bytes cost: build/bench.sh
// holds the last line against its budget.
func BenchmarkGrowth(b *testing.B) {
	for b.Loop() {
		growth(b)
	}
}

func growth(b *testing.B) {
	if binErr != nil {
		b.Fatal(binErr)
	}
	last := growthTurns[len(growthTurns)-1]
	replies, err := server.Parse(strings.Repeat("call bash {\"command\":\"seq 1 3200\"}\n\nfill 200\n\n", last), "")
	if err != nil {
		b.Fatal(err)
	}
	var bytes atomic.Int64 // of the last request
	s, err := server.Start(replies, server.Options{Forget: true, OnAsk: func(_ int, r server.Request) { bytes.Store(int64(len(r.Body))) }})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	home := b.TempDir()
	state := filepath.Join(home, ".cluade")
	if err := os.Mkdir(state, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.json"), []byte(`{"context_limit": 100000000}`), 0o600); err != nil {
		b.Fatal(err)
	}
	r, err := start{
		argv: []string{filepath.Join(binDir, "cluade")}, dir: home, tty: true,
		env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=dumb", "CLUADE_BASE_URL=" + s.Base()},
	}.start()
	if err != nil {
		b.Fatal(err)
	}
	defer r.kill()
	began, used := time.Now(), 0.0
	times, sizes := make([]float64, len(growthTurns)), make([]float64, len(growthTurns))
	for turn, next := 1, 0; turn <= last; turn++ {
		fmt.Fprintf(r.tty, "go on %d\r", turn)
		if err := r.awaitCount("% context", turn); err != nil {
			b.Fatalf("turn %d: %v\n%s", turn, err, r.out.String())
		}
		switch turn {
		case growthTurns[next] - growthStretch:
			began, used = time.Now(), cpu(b, r)
		case growthTurns[next]:
			times[next], sizes[next] = (cpu(b, r)-used)/growthStretch, float64(bytes.Load())
			b.Logf("after %3d turns: memory %d KiB at most, session file %d bytes, request %d bytes, a turn %d ms, %.1f ms of them our own",
				turn, peak(b, r), journalBytes(b, state), bytes.Load(), time.Since(began).Milliseconds()/growthStretch, times[next])
			next++
		}
	}
	b.Logf("growth from %d to %d turns: the time of a turn %.2f times, its request %.2f times, time for bytes %.0f %%", growthTurns[1], growthTurns[2],
		times[2]/times[1], sizes[2]/sizes[1], 100*times[2]/times[1]*sizes[1]/sizes[2])
}

// awaitCount waits until the output holds text so many times.
func (r *run) awaitCount(text string, n int) error {
	deadline := time.After(patience)
	for {
		grew := r.out.grew()
		if strings.Count(r.out.String(), text) >= n {
			return nil
		}
		select {
		case <-grew:
		case <-r.ended:
			return fmt.Errorf("it ended with code %d", r.code)
		case <-deadline:
			return fmt.Errorf("%q not seen after %v", text, patience)
		}
	}
}

// peak is the most memory that the run had resident, in KiB.
func peak(b *testing.B, r *run) int {
	_, rest, _ := strings.Cut(procFile(b, r, "status"), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// cpu is the processor time that the run has used itself, in milliseconds.
func cpu(b *testing.B, r *run) float64 {
	_, rest, _ := strings.Cut(procFile(b, r, "stat"), ") ")
	f := strings.Fields(rest)
	user, err := strconv.Atoi(f[11])
	if err != nil {
		b.Fatal(err)
	}
	system, _ := strconv.Atoi(f[12])
	return float64(user+system) * 1000 / 100 // the kernel tells hundredths of a second
}

func procFile(b *testing.B, r *run, name string) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", r.cmd.Process.Pid, name))
	if err != nil {
		b.Fatal(err)
	}
	return string(text)
}

func journalBytes(b *testing.B, state string) int64 {
	files, _ := filepath.Glob(filepath.Join(state, "sessions", "*.jsonl"))
	if len(files) != 1 {
		b.Fatalf("%d session files", len(files))
	}
	var st syscall.Stat_t
	if err := syscall.Stat(files[0], &st); err != nil {
		b.Fatal(err)
	}
	return st.Size
}
