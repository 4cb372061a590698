package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Level is how a child is confined.
type Level int

// The levels, from none to most. Off leaves only the session of its own.
const (
	Off Level = iota
	Limits
	Confined
)

var levelNames = [...]string{"off", "limits", "confined"}

// String is the word of a level.
func (l Level) String() string { return levelNames[l] }

// ParseLevel reads the word of a level.
func ParseLevel(word string) (Level, bool) {
	for i, n := range levelNames {
		if n == word {
			return Level(i), true
		}
	}
	return Off, false
}

// Sandbox is what holds for a child besides its session. The zero value holds
// nothing. No level stops reading or the network, and none of the limits but
// Procs binds root more than it lets itself be bound.
type Sandbox struct {
	Level  Level
	Procs  int    // processes at once, by a control group; 0 is no limit
	FileMB int    // size of a file that is written
	CPU    int    // seconds of processor time of each process
	MemMB  int    // address space of each process
	Root   string // Confined: the directory below which the child may write, absolute
}

// Fact is one part of a sandbox and whether it is in force here.
type Fact struct {
	Name     string // "processes at once: 64"
	Enforced bool
	Why      string // why not, "" otherwise
}

// Facts reports what of a sandbox this kernel and user enforce.
func (s Sandbox) Facts() []Fact {
	if s.Level == Off {
		return nil
	}
	out := []Fact{{Name: "core dumps: none", Enforced: true}}
	for _, l := range s.ulimits() {
		if l.name != "" {
			out = append(out, Fact{Name: l.name, Enforced: true})
		}
	}
	if s.Procs > 0 {
		f := Fact{Name: fmt.Sprintf("processes at once: %d", s.Procs), Enforced: true}
		if g, err := newGroup(s.Procs); err != nil {
			f.Enforced, f.Why = false, err.Error()
		} else {
			g.remove()
		}
		out = append(out, f)
	}
	if s.Level == Confined {
		f := Fact{Name: "writes: only below " + s.Root + " and a private TMPDIR", Enforced: true}
		if v := landlockVersion(); v < 1 {
			f.Enforced, f.Why = false, "this kernel has no Landlock"
		}
		out = append(out, f)
	}
	return out
}

// Effective is the level that is in force when s is asked for: where Landlock
// is missing, confined is limits, and never off.
func (s Sandbox) Effective() Level {
	if s.Level == Confined && landlockVersion() < 1 {
		return Limits
	}
	return s.Level
}

type ulimit struct{ name, option, value string }

// ulimits are the resource limits in the words of sh's ulimit.
func (s Sandbox) ulimits() []ulimit {
	out := []ulimit{{"", "-c", "0"}}
	if s.FileMB > 0 { // in blocks of 512 bytes (POSIX, ulimit)
		out = append(out, ulimit{fmt.Sprintf("file size: %d MB", s.FileMB), "-f", strconv.Itoa(s.FileMB * 2048)})
	}
	if s.CPU > 0 {
		out = append(out, ulimit{fmt.Sprintf("processor time: %d s a process", s.CPU), "-t", strconv.Itoa(s.CPU)})
	}
	if s.MemMB > 0 {
		out = append(out, ulimit{fmt.Sprintf("memory: %d MB a process", s.MemMB), "-v", strconv.Itoa(s.MemMB * 1024)})
	}
	return out
}

// ConfineArg0 is the name under which the program is started again to confine
// itself and become the child. main must hand such a start to Confine before
// anything else.
const ConfineArg0 = "cluade-confine"

// confinement is what was made of a sandbox for one child.
type confinement struct {
	path  string
	argv  []string
	env   []string
	group *group // nil where there is none
	tmp   string // the private TMPDIR, "" if there is none
}

// confine puts the limits around a program: a shell that sets them and becomes
// the program, and for Confined this program before it. A limit lower than ours
// that is there already stays. What cannot be enforced is left out; Facts tells.
func (s *Sandbox) confine(path string, spec *Spec) (c confinement, err error) {
	c = confinement{path: path, argv: spec.Argv, env: spec.Env}
	if s.Level == Off {
		return c, nil
	}
	var sh strings.Builder
	for _, l := range s.ulimits() {
		fmt.Fprintf(&sh, "ulimit %s %s 2>/dev/null; ", l.option, l.value)
	}
	sh.WriteString(`exec "$@"`)
	c.path = "/bin/sh"
	c.argv = append([]string{c.path, "-c", sh.String(), "sh", path}, spec.Argv[1:]...)
	if s.Procs > 0 {
		c.group, _ = newGroup(s.Procs)
	}
	if s.Effective() != Confined {
		return c, nil
	}
	if c.tmp, err = os.MkdirTemp("", "cluade-"); err != nil {
		c.group.remove()
		return c, fmt.Errorf("make a private TMPDIR: %w", errnoOf(err))
	}
	c.env = slices.DeleteFunc(slices.Clone(c.env), func(v string) bool { return strings.HasPrefix(v, "TMPDIR=") })
	c.env = append(c.env, "TMPDIR="+c.tmp)
	c.path, c.argv = "/proc/self/exe", append([]string{ConfineArg0, s.Root, c.tmp}, c.argv...)
	return c, nil
}

// undo takes away what is not needed any more. held keeps the directory of
// background processes.
func (c *confinement) undo(held bool) {
	c.group.remove()
	if c.tmp != "" && !held {
		os.RemoveAll(c.tmp)
	}
}

// group is a control group for one child.
type group struct {
	path string
	fd   int
}

// newGroup makes a control group below this process's own with a limit on
// processes. It needs the unified hierarchy with the pids controller, writable
// for us.
func newGroup(procs int) (*group, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("read control group: %w", err)
	}
	var path string
	for _, line := range strings.Split(string(own), "\n") {
		if p, ok := strings.CutPrefix(line, "0::"); ok {
			path = "/sys/fs/cgroup" + strings.TrimSuffix(p, "/")
		}
	}
	if path == "" {
		return nil, errors.New("there is no unified control group tree")
	}
	if c, err := os.ReadFile(path + "/cgroup.controllers"); err != nil || !strings.Contains(" "+strings.TrimSpace(string(c))+" ", " pids ") {
		return nil, errors.New("the control group tree has no pids controller")
	}
	if err := os.WriteFile(path+"/cgroup.subtree_control", []byte("+pids"), 0); err != nil {
		return nil, fmt.Errorf("the pids controller cannot be handed down: %w", errnoOf(err))
	}
	dir, err := os.MkdirTemp(path, "cluade-")
	if err != nil {
		return nil, fmt.Errorf("no control group can be made: %w", errnoOf(err))
	}
	g := &group{path: dir, fd: -1}
	if kind, err := os.ReadFile(dir + "/cgroup.type"); err != nil || strings.TrimSpace(string(kind)) != "domain" {
		g.remove()
		return nil, errors.New("no process can be put into a control group below this one")
	}
	if err := os.WriteFile(dir+"/pids.max", []byte(strconv.Itoa(procs)), 0); err != nil {
		g.remove()
		return nil, fmt.Errorf("no limit on processes can be set: %w", errnoOf(err))
	}
	if g.fd, err = syscall.Open(dir, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0); err != nil {
		g.remove()
		return nil, err
	}
	return g, nil
}

func errnoOf(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// remove takes the group away; one in which background processes live on stays
// until the box restarts.
func (g *group) remove() {
	if g == nil {
		return
	}
	if g.fd >= 0 {
		syscall.Close(g.fd)
	}
	os.Remove(g.path)
}
