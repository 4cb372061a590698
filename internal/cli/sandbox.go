package cli

import (
	"fmt"
	"os"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/proc"
	"cluade/store"
)

// sandboxKey is the configuration key of the confinement of commands.
const sandboxKey = "sandbox"

// Confine is the start of this program in the place of a command that is to be
// confined: with ok the process was such a start, and failed with that code.
// argv is the whole command line. A start as the program itself is none.
func Confine(argv []string) (code int, ok bool) {
	if len(argv) == 0 || argv[0] != proc.ConfineArg0 {
		return 0, false
	}
	fmt.Fprintln(os.Stderr, "cluade:", proc.Confine(argv[1:]))
	return 126, true // as a shell says of a program that cannot be run
}

// sandbox is what holds for commands: no less than for those of the run above.
func (a *app) sandbox() proc.Sandbox {
	level, _ := proc.ParseLevel(a.cfg.Safety.Sandbox) // the words were checked
	if a.above != nil {
		level = max(level, a.above.sandbox)
	}
	l := a.cfg.Safety.Limits
	return proc.Sandbox{Level: level, Procs: l.Procs, FileMB: l.FileMB, CPU: l.CPU, MemMB: l.MemMB, Root: a.place.Dir}
}

// mustConfine says that no command runs where the sandbox is not in force.
func (a *app) mustConfine() bool {
	return a.cfg.Safety.SandboxRequired || a.above != nil && a.above.must
}

// sandboxWarnings tell what differs from the default, and what was asked for
// and is not in force.
func (a *app) sandboxWarnings() (lines []string) {
	s := a.sandbox()
	if s.Level != proc.Limits && !(a.flags.quietRun() && s.Level > proc.Limits) {
		lines = append(lines, "sandbox "+s.Level.String())
	}
	if s.Effective() != s.Level {
		lines = append(lines, fmt.Sprintf("this kernel cannot confine commands (it has no Landlock): sandbox %s is in force", s.Effective()))
	}
	return lines
}

func (a *app) cmdSandbox(word string) (bool, error) {
	if word != "" {
		level, ok := proc.ParseLevel(word)
		if !ok {
			return false, fmt.Errorf("there is no level %s; the levels are off, limits and confined", chat.EscapeText(word, 60))
		}
		if err := a.cfg.Set(store.TierFlag, sandboxKey, level.String()); err != nil {
			return false, err
		}
		a.tools.Sandbox, a.tools.Vars = a.sandbox(), a.childVars()
	}
	a.out.Print(sandboxText(a.tools.Sandbox))
	return false, nil
}

// sandboxText tells what holds for commands, and what of it this device
// enforces.
func sandboxText(s proc.Sandbox) string {
	var b strings.Builder
	fmt.Fprintf(&b, "sandbox %s\n", s.Level)
	for _, f := range s.Facts() {
		b.WriteString("  " + factText(f) + "\n")
	}
	if s.Level == proc.Confined {
		b.WriteString("  sudo and other programs that change the user do not work\n")
	}
	b.WriteString("No level stops reading or the network.\n")
	return b.String()
}

// factText tells one limit, and why it is not enforced if it is not.
func factText(f proc.Fact) string {
	if f.Enforced {
		return f.Name
	}
	return f.Name + ": not enforced: " + f.Why
}

// sandboxLevels tells what was asked for and what of it this kernel has.
func sandboxLevels(s proc.Sandbox) string {
	return s.Level.String() + " asked, " + s.Effective().String() + " in force"
}
