package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Job is a child that runs while its starter does something else. Several
// goroutines may use it.
type Job struct {
	began  time.Time
	cancel context.CancelFunc
	done   chan struct{}
	result Result // once done is closed

	mu      sync.Mutex
	keep    int
	ring    []byte // the last bytes of the output that were not read
	next    int    // where the ring, once full, is overwritten: its oldest byte
	dropped int64  // bytes that fell out of it unread
}

// longLine is how many bytes of a line without an end wait for the end.
const longLine = 4 << 10

// Start starts a child and returns. Of its output the last s.Keep bytes that
// were not read are kept. Somebody has to end it: it ends with this process, not
// with any call.
func Start(s Spec) (*Job, error) {
	if len(s.Argv) == 0 {
		return nil, errors.New("run: no program given")
	}
	j := &Job{began: time.Now(), done: make(chan struct{}), keep: s.Keep}
	s.Stdout = j
	ctx, cancel := context.WithCancel(context.Background())
	if s.Timeout > 0 {
		ctx, cancel = context.WithTimeoutCause(context.Background(), s.Timeout, ErrTimeout)
	}
	j.cancel = cancel
	c, err := start(&s)
	if err != nil {
		cancel()
		return nil, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	go func() {
		defer close(j.done)
		defer cancel()
		c.wait(ctx, &j.result)
		c.finish(&s, &j.result)
		j.result.Elapsed = time.Since(j.began)
	}()
	return j, nil
}

// End has the session ended, as Run's is when it is cancelled. Done tells when
// that is so.
func (j *Job) End() { j.cancel() }

// Done is closed when the child is gone and its output at its end.
func (j *Job) Done() <-chan struct{} { return j.done }

// State says whether the job still runs, and for how long; else how it ended.
func (j *Job) State() (running bool, r Result) {
	select {
	case <-j.done:
		return false, j.result
	default:
		return true, Result{Elapsed: time.Since(j.began)}
	}
}

// Write takes output of the child. It never fails.
func (j *Job) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	size := len(p)
	if len(p) > j.keep {
		j.dropped += int64(len(p) - j.keep)
		p = p[len(p)-j.keep:]
	}
	n := min(len(p), j.keep-len(j.ring))
	j.ring = append(j.ring, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(j.ring[j.next:], p)
		j.next = (j.next + n) % len(j.ring)
		j.dropped += int64(n)
	}
	return size, nil
}

// Output is what a read of a job gives.
type Output struct {
	Text    string // whole lines, and whole characters of a line that is long
	Dropped int64  // bytes before Text that are lost
	Waiting int    // bytes of whole lines that did not fit
	Open    int    // bytes of a last line that has no end yet
}

// Read returns what is new since the last read, at most max bytes of it. What a
// job that has ended wrote last is given without a line end too.
func (j *Job) Read(max int) Output {
	running, _ := j.State() // first: then all of its output is here
	j.mu.Lock()
	defer j.mu.Unlock()
	data := append(j.ring[j.next:len(j.ring):len(j.ring)], j.ring[:j.next]...)
	out := Output{Dropped: j.dropped}
	if j.dropped > 0 { // what is left of the line that was cut goes too
		cut := bytes.IndexByte(data, '\n') + 1
		if cut == 0 {
			cut = len(data) - len(wholeStart(string(data)))
		}
		out.Dropped, data = out.Dropped+int64(cut), data[cut:]
	}
	n := len(data)
	if line := bytes.LastIndexByte(data, '\n') + 1; running && n-line <= longLine {
		n = line
	} else if running {
		n = len(wholeEnd(data))
	}
	out.Open = len(data) - n
	if n > max {
		fit := bytes.LastIndexByte(data[:max], '\n') + 1
		if fit == 0 {
			fit = len(wholeEnd(data[:max]))
		}
		n, out.Waiting = fit, n-fit
	}
	out.Text = string(data[:n])
	j.ring, j.next, j.dropped = bytes.Clone(data[n:]), 0, 0
	return out
}
