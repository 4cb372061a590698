package tools

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"golang.org/x/crypto/ssh"

	"cluade/internal/proc"
)

const (
	remoteHold  = 500 * time.Millisecond // of silence after the command's end
	remoteDrain = 5 * time.Second        // at most, for output after the command's end
	remoteTerm  = 2 * time.Second        // between the signals TERM and KILL
	remoteGrace = 10 * time.Second       // after its time limit a command that hangs costs the connection
)

// remoteSpec says what to run on another host. The command goes to the login
// shell there as it is.
type remoteSpec struct {
	command string
	timeout time.Duration
	keep    int   // bytes of output to keep
	kill    int64 // bytes of output that end it; 0 is no limit
}

// remoteCommand is a command that was started, on a channel of its own.
type remoteCommand struct {
	ch  ssh.Channel
	end chan int // its exit status; closed without one when the channel ends
}

func (c *connection) start(command string) (*remoteCommand, error) {
	ch, requests, err := c.client.OpenChannel("session", nil)
	if err != nil {
		return nil, errors.New("open a session: " + cutText(err.Error(), 300))
	}
	rc := &remoteCommand{ch, make(chan int, 1)}
	go rc.listen(requests)
	ok, err := ch.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{command}))
	if err == nil && !ok {
		err = errors.New("the host refuses to run commands")
	}
	if err != nil {
		ch.Close()
		return nil, err
	}
	return rc, nil
}

// listen waits for the report on the command's end (RFC 4254, section 6.10).
func (rc *remoteCommand) listen(requests <-chan *ssh.Request) {
	defer close(rc.end)
	reported := false
	for r := range requests {
		code, ok := exitCode(r)
		if ok && !reported {
			reported = true
			rc.end <- code
		}
		if r.WantReply {
			r.Reply(false, nil)
		}
	}
}

// exitCode is the exit status that a request reports; 128+N for signal N, as
// shells count.
func exitCode(r *ssh.Request) (code int, ok bool) {
	switch r.Type {
	case "exit-status":
		var m struct{ Status uint32 }
		err := ssh.Unmarshal(r.Payload, &m)
		return int(min(m.Status, math.MaxInt32)), err == nil
	case "exit-signal":
		var m struct {
			Signal        string
			Core          bool
			Message, Lang string
		}
		err := ssh.Unmarshal(r.Payload, &m)
		return 128 + signalNumber(m.Signal), err == nil
	}
	return 0, false
}

// signalNumber is the number that a signal has on most systems. The protocol
// has names only, since the numbers differ.
func signalNumber(name string) int {
	for i, n := range []string{
		"", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE", "ALRM", "TERM",
	} {
		if n == name {
			return i
		}
	}
	return 0
}

func (rc *remoteCommand) signal(name string) {
	rc.ch.SendRequest("signal", false, ssh.Marshal(struct{ Name string }{name}))
}

// remoteResult is what came of a command on another host.
type remoteResult struct {
	proc.Result
	ended bool // the host reported its end
}

// run starts a command without input and waits for its end. An error means that
// nothing ran. The time limit ends the command as far as the host lets it: sshd
// passes no signals on to what root runs. Where the end is not reported, and on
// cancel, the connection is closed.
func (c *connection) run(ctx context.Context, s remoteSpec) (remoteResult, error) {
	limited, cancel := context.WithTimeout(ctx, s.timeout+remoteGrace)
	defer cancel()
	defer context.AfterFunc(limited, c.close)()
	rc, err := c.start(s.command)
	switch {
	case ctx.Err() != nil:
		return remoteResult{}, ctx.Err()
	case limited.Err() != nil:
		return remoteResult{}, errors.New("the host does not answer any more")
	case err != nil:
		return remoteResult{}, err
	}
	defer rc.ch.Close()
	rc.ch.CloseWrite()
	w := remoteWait{rc: rc, spec: s, seen: proc.NewCapture(s.keep), out: make(chan []byte), streams: 2}
	done := make(chan struct{})
	defer close(done)
	go pump(rc.ch, w.out, done)
	go pump(rc.ch.Stderr(), w.out, done)
	w.wait(ctx)
	if !w.ended {
		c.close() // a report that comes late, on a channel that is closed, would end it under another command
	}
	w.Head, w.Tail, w.Dropped = w.seen.Text()
	w.Total = w.seen.Total
	return w.remoteResult, nil
}

// pump sends on what r has, each time in a new slice, and nil at its end.
func pump(r io.Reader, out chan<- []byte, done <-chan struct{}) {
	for {
		buf := make([]byte, 16<<10)
		n, err := r.Read(buf)
		if n > 0 {
			select {
			case out <- buf[:n]:
			case <-done:
				return
			}
		}
		if err != nil {
			select {
			case out <- nil:
			case <-done:
			}
			return
		}
	}
}

// remoteWait is the wait for a command and its output.
type remoteWait struct {
	remoteResult
	rc      *remoteCommand
	spec    remoteSpec
	seen    proc.Capture
	out     chan []byte
	streams int // that have not ended
}

func (w *remoteWait) wait(ctx context.Context) {
	limit := time.NewTimer(w.spec.timeout)
	defer limit.Stop()
	end := w.rc.end
	var term, drain <-chan time.Time
	killed := false
	var quiet *time.Timer // runs once the command has ended
	var silence <-chan time.Time
	for w.streams > 0 || end != nil {
		select {
		case p := <-w.out:
			if p == nil {
				w.streams--
			}
			w.seen.Add(p)
			if w.spec.kill > 0 && w.seen.Total > w.spec.kill && term == nil {
				w.Flooded, term = true, w.stop()
			}
			if quiet != nil {
				quiet.Reset(remoteHold)
			}
		case code, ok := <-end:
			end, w.Exit, w.ended = nil, code, ok
			quiet, drain = time.NewTimer(remoteHold), time.After(remoteDrain)
			silence = quiet.C
			defer quiet.Stop()
		case <-limit.C:
			if term == nil && end != nil {
				w.TimedOut, term = true, w.stop()
			}
		case <-term:
			if killed {
				return
			}
			w.rc.signal("KILL")
			killed, term = true, time.After(remoteHold)
		case <-silence:
			w.Held = true
			return
		case <-drain:
			w.Held = true
			return
		case <-ctx.Done():
			w.Cancelled = true
			return
		}
	}
}

// stop asks the command to end. Not every server passes signals on.
func (w *remoteWait) stop() <-chan time.Time {
	w.rc.signal("TERM")
	return time.After(remoteTerm)
}
