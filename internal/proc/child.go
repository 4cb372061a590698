package proc

import (
	"context"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"
)

// child is a process that was started, and the two goroutines that wait for
// its end and for the end of its output.
type child struct {
	pid    int  // also its session and its process group
	shared bool // no: it is in those of this process
	grace  time.Duration
	exited chan struct{}
	status syscall.WaitStatus // once exited is closed
	out    *os.File
	eof    chan struct{}
	flood  chan struct{}
	seen   Capture // once eof is closed
	stdout io.Writer
	sides  []*side // its other outputs
	input  *os.File
	box    confinement
}

// locate finds the program and checks the directory of a child.
func locate(s *Spec) (path string, err error) {
	if path = s.Path; path == "" {
		path, err = lookPath(s.Argv[0], s.Env)
	}
	if err == nil {
		err = checkDir(s.Dir)
	}
	return path, err
}

func start(s *Spec) (*child, error) {
	path, err := locate(s)
	if err != nil {
		return nil, err
	}
	closeOnExec()
	c := &child{
		grace:  s.Grace,
		exited: make(chan struct{}),
		eof:    make(chan struct{}),
		flood:  make(chan struct{}),
		seen:   NewCapture(s.Keep),
	}
	if c.grace <= 0 {
		c.grace = termTime
	}
	if s.Stdout != nil {
		c.seen, c.stdout = Capture{}, s.Stdout // the capture then only counts
	}
	if c.box, err = s.Sandbox.confine(path, s); err != nil {
		return nil, err
	}
	theirs, err := c.connect(s)
	if err == nil {
		err = c.launch(s.Dir, theirs)
	}
	for _, f := range theirs {
		closeFile(f)
	}
	if err != nil {
		c.disconnect()
		c.box.undo(false)
		return nil, err
	}
	if c.input != nil {
		go feed(c.input, s.Stdin)
	}
	for _, side := range c.sides {
		go side.copy()
	}
	go c.read(s.Kill)
	return c, nil
}

// launch starts the process on a thread that lives until the process is gone:
// the kernel sends the parent-death signal when the thread that forked ends
// (prctl(2), PR_SET_PDEATHSIG). The signal reaches the process itself only;
// what it forks does not inherit it.
func (c *child) launch(dir string, files []*os.File) error {
	attr := &os.ProcAttr{
		Dir:   dir,
		Env:   append([]string{}, c.box.env...), // nil would mean this process's own
		Files: files,
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
	}
	if c.box.group != nil {
		attr.Sys.UseCgroupFD, attr.Sys.CgroupFD = true, c.box.group.fd
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		p, err := os.StartProcess(c.box.path, c.box.argv, attr)
		if err != nil && attr.Sys.UseCgroupFD { // clone3 came with Linux 5.7
			attr.Sys.UseCgroupFD = false
			p, err = os.StartProcess(c.box.path, c.box.argv, attr)
		}
		if err != nil {
			started <- err
			return
		}
		c.pid = p.Pid
		started <- nil
		c.status = waitStatus(p)
		close(c.exited)
	}()
	return <-started
}

func waitStatus(p *os.Process) syscall.WaitStatus {
	if ps, err := p.Wait(); err == nil {
		if ws, ok := ps.Sys().(syscall.WaitStatus); ok {
			return ws
		}
	}
	return 255 << 8 // not known: not success
}

// read keeps what the child writes until the last writer closes the pipe, or
// until out gets a deadline.
func (c *child) read(kill int64) {
	defer close(c.eof)
	buf := make([]byte, 32<<10)
	flooded := false
	for {
		n, err := c.out.Read(buf)
		c.seen.Add(buf[:n])
		if c.stdout != nil {
			c.stdout.Write(buf[:n])
		}
		if kill > 0 && c.seen.Total > kill && !flooded {
			flooded = true
			close(c.flood)
		}
		if err != nil {
			return
		}
	}
}

// wait returns when the child is gone and its output at its end, or when
// waiting longer for either is not allowed.
func (c *child) wait(ctx context.Context, r *Result) {
	select {
	case <-c.exited:
	case <-c.flood:
		r.Flooded = true
		c.end()
	case <-ctx.Done():
		r.TimedOut = context.Cause(ctx) == ErrTimeout
		r.Cancelled = !r.TimedOut
		c.end()
	}
	flood := c.flood
	if r.stopped() {
		flood = nil
	}
	hold := time.NewTimer(holdTime)
	defer hold.Stop()
	select {
	case <-c.eof:
	case <-flood:
		r.Flooded = true
		c.end()
	case <-hold.C:
		r.Held = true
	}
}

// finish stops reading and fills in the result.
func (c *child) finish(s *Spec, r *Result) {
	closeFile(c.input)
	c.out.SetReadDeadline(time.Now())
	<-c.eof
	for _, side := range c.sides {
		side.end()
	}
	if r.Held && !r.stopped() {
		handOver(c.out, s.Env)
	}
	c.out.Close()
	c.box.undo(r.Held)
	r.Head, r.Tail, r.Dropped = c.seen.Text()
	r.Total = c.seen.Total
	select {
	case <-c.exited:
	default: // it hangs in the kernel, killed
		r.Signal, r.Exit = syscall.SIGKILL, 128+int(syscall.SIGKILL)
		return
	}
	r.Exit = c.status.ExitStatus()
	if c.status.Signaled() {
		r.Signal = c.status.Signal()
		r.Exit = 128 + int(r.Signal)
	}
}

// handOver gives the output of background processes to a reader that is no
// child of ours and ends with them: without one, they would be killed by
// SIGPIPE at their next line once this process is gone. Where there is no
// shell the pipe just closes.
func handOver(out *os.File, env []string) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer null.Close()
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "cat <&3 3<&- >/dev/null 2>&1 &"}, &os.ProcAttr{
		Dir:   "/",
		Env:   append([]string{}, env...),
		Files: []*os.File{null, null, null, out},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err == nil {
		p.Wait()
	}
}
