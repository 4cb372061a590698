package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"cluade/internal/chat"
	"cluade/internal/proc"
)

// maxDiffList is how many files /diff shows.
const maxDiffList = 100

// cmdDiff shows what the program's own tools changed in this session, then what
// git makes of the working tree.
func (a *app) cmdDiff(string) (bool, error) {
	var b strings.Builder
	list := a.tools.Diff()
	more := max(0, len(list)-maxDiffList)
	for _, d := range list[:len(list)-more] {
		path := chat.EscapeText(d.Path, 0)
		if d.Note != "" {
			fmt.Fprintf(&b, "%12s  %s (%s)\n", "", path, chat.EscapeText(d.Note, 200))
			continue
		}
		fmt.Fprintf(&b, "%6s %5s  %s\n", fmt.Sprintf("+%d", d.Added), fmt.Sprintf("-%d", d.Removed), path)
	}
	if more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	if b.Len() == 0 {
		b.WriteString("the tools of this session changed no file\n")
	}
	if text := a.gitStat(); text != "" {
		b.WriteString("\n" + text)
	}
	a.out.Print(b.String())
	return false, nil
}

// gitStat is what git diff --stat says, "" without git or a repository. Nothing
// that the repository names is run: neither its hooks nor the programs of its
// configuration. A filter cannot be switched off, so where there is one git is
// not asked.
func (a *app) gitStat() string {
	if _, err := os.Lstat(filepath.Join(projectRoot(a.place.Dir), ".git")); err != nil {
		return ""
	}
	filters, ok := a.git("config", "--includes", "--name-only", "--get-regexp", `^filter\..*\.(clean|process)$`)
	switch {
	case !ok:
		return ""
	case filters != "":
		return "(git is not asked: the configuration of this repository has filters, which it would run)\n"
	}
	text, _ := a.git("diff", "--stat", "--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
	return text
}

// git runs git in the directory of the session and returns its output. ok is
// false where it cannot be run.
func (a *app) git(args ...string) (text string, ok bool) {
	ctx, done := a.untilSignal()
	defer done()
	argv := []string{"git", "--no-pager", "-c", "core.fsmonitor=", "-c", "core.hooksPath=/dev/null"}
	r, err := proc.Run(ctx, proc.Spec{
		Argv: append(argv, args...), Dir: a.place.Dir, Timeout: 10 * time.Second, Keep: 8 << 10, Kill: 1 << 20,
		Env: []string{
			"PATH=" + a.env.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
			"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0",
			"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		},
	})
	text = r.Head
	if r.Dropped > 0 {
		text += fmt.Sprintf("\n[... %d bytes left out ...]\n", r.Dropped)
	}
	return text + r.Tail, err == nil
}
