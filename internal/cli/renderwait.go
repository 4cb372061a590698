package cli

import (
	"fmt"
	"sync/atomic"
	"time"
)

// spinner is the line that shows life while nothing else comes: four times a
// second at most, on a terminal only. Between start and pause one goroutine
// writes it and nobody else may write to that terminal; pause waits for its
// end. The counters may be set at any time.
type spinner struct {
	w        *stream // nil shows nothing
	received atomic.Int64
	progress atomic.Int64 // per cent of the prompt that the server has read
	since    time.Time
	entered  int           // bytes of lines that wait to be read, when the line was drawn
	stop     chan struct{} // nil while it rests
	done     chan struct{}
}

const (
	spinInterval = 250 * time.Millisecond
	spinFrames   = `|/-\`
	eraseLine    = "\r\x1b[K"
	eraseAbove   = "\x1b[A" + eraseLine
)

// start begins a new wait.
func (s *spinner) start() {
	s.pause()
	s.since = time.Now()
	s.received.Store(0)
	s.progress.Store(0)
	s.resume()
}

func (s *spinner) resume() {
	if s.w == nil {
		return
	}
	s.stop = make(chan struct{})
	s.done = make(chan struct{})
	go s.run(s.stop, s.done)
}

// pause takes the line away, and reports whether there was a wait.
func (s *spinner) pause() bool {
	if s.stop == nil {
		return false
	}
	close(s.stop)
	<-s.done
	s.stop = nil
	return true
}

func (s *spinner) run(stop <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	tick := time.NewTicker(spinInterval)
	defer tick.Stop()
	drawn := false
	for n := 0; ; n++ {
		select {
		case <-stop:
			if drawn {
				s.w.write(s.erase(drawn))
			}
			return
		case <-tick.C:
			s.w.write(s.erase(drawn) + s.w.paint(dim, s.text(n)))
			drawn = true
		}
	}
}

// erase takes the line away. A message that somebody entered meanwhile was echoed
// into it and moved the cursor on: the row above goes too. It comes again when it
// is read.
func (s *spinner) erase(drawn bool) string {
	before := s.entered
	s.entered = linesBytes(s.w.tty)
	if drawn && s.entered > before {
		return eraseLine + eraseAbove
	}
	return eraseLine
}

// text is the line, short enough for forty columns.
func (s *spinner) text(n int) string {
	t := fmt.Sprintf("%c %ds", spinFrames[n%len(spinFrames)], int(time.Since(s.since)/time.Second))
	if p := s.progress.Load(); p > 0 && p < 100 {
		t += fmt.Sprintf("  reading the prompt %d %%", p)
	}
	if tokens := s.received.Load() * 2 / 7; tokens > 0 { // 3.5 bytes each
		t += fmt.Sprintf("  ~%d tokens", tokens)
	}
	return t
}
