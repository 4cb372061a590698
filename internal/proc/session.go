package proc

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// pollTime is how often end looks whether the session is empty.
const pollTime = 25 * time.Millisecond

// end ends the session: SIGTERM, and SIGKILL for what is left after a while.
func (c *child) end() {
	if c.shared {
		c.endAlone()
		return
	}
	signal(c.pid, syscall.SIGTERM)
	if c.gone(c.grace) {
		return
	}
	signal(c.pid, syscall.SIGKILL)
	for stop := time.Now().Add(killTime); !c.gone(pollTime) && time.Now().Before(stop); {
		signal(c.pid, syscall.SIGKILL) // for what was forked meanwhile
	}
}

// gone waits until the child was reaped and nothing of its session runs, at
// most for d, and says whether it is so.
func (c *child) gone(d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-c.exited:
	case <-limit.C:
		return false
	}
	poll := time.NewTicker(pollTime)
	defer poll.Stop()
	for running(c.pid) {
		select {
		case <-poll.C:
		case <-limit.C:
			return false
		}
	}
	return true
}

// signal sends sig to the process group of a session's leader and to the
// session's other members: timeout(1) and shells with job control put what
// they run into groups of their own. Whoever left the session is not reached.
func signal(sid int, sig syscall.Signal) {
	syscall.Kill(-sid, sig)
	pids, _ := members(sid)
	for _, pid := range pids {
		if pgid, err := syscall.Getpgid(pid); err == nil && pgid != sid {
			syscall.Kill(pid, sig)
		}
	}
}

// running says whether a session has a member left. Without /proc only its
// first group is looked at, zombies included.
func running(sid int) bool {
	pids, err := members(sid)
	if err != nil {
		return syscall.Kill(-sid, 0) == nil
	}
	return len(pids) > 0
}

// members lists the processes of a session that are no zombies (proc(5),
// /proc/PID/stat: state is the third field, session the sixth; the second is a
// name in parentheses that may hold anything).
func members(sid int) ([]int, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var pids []int
	want := []byte(strconv.Itoa(sid))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
		if len(f) > 3 && f[0][0] != 'Z' && bytes.Equal(f[3], want) {
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
