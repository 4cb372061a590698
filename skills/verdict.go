package skills

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// Verdict says how far a skill can be used on a device.
type Verdict int

const (
	Full     Verdict = iota // declares tools, and each is there
	Portable                // declares none, and bundles nothing that needs a language
	Partial                 // declares tools of which some are lacking
	Limited                 // bundles what cannot run
)

func (v Verdict) String() string {
	return [...]string{"full", "portable", "partial", "limited"}[v]
}

// Label is the mark of the verdict, six characters wide.
func (v Verdict) Label() string {
	return [...]string{"[OK  ]", "[OK* ]", "[PART]", "[LTD ]"}[v]
}

// Target is the device that verdicts are about: which interpreters it has. The
// zero value is a router, which has none.
type Target struct{ Python3, Node bool }

// Judgement is a verdict with its grounds.
type Judgement struct {
	Verdict Verdict
	Lacks   []string // declared tools that are not there
	Files   []string // of those that cannot run, the first three, relative to the skill
	More    int      // how many more such files there are
	Uses    []string // interpreters of the device that bundled files run by
}

// String is the verdict in words, with what a person must know to believe it;
// the files have a place of their own.
func (j Judgement) String() string {
	switch {
	case j.Verdict == Partial:
		return "partial: lacks " + strings.Join(j.Lacks, ", ")
	case len(j.Uses) == 0 || j.Verdict == Limited:
		return j.Verdict.String()
	}
	text := "uses " + strings.Join(j.Uses, ", ") + " (installed)"
	if len(j.Lacks) > 0 {
		text += ", lacks " + strings.Join(j.Lacks, ", ")
	}
	return text
}

// Reason names the files that a limited skill is limited by, "" without any.
func (j Judgement) Reason() string {
	if len(j.Files) == 0 {
		return ""
	}
	text := "bundles " + strings.Join(j.Files, ", ")
	if j.More > 0 {
		text += fmt.Sprintf(" and %d more", j.More)
	}
	return text
}

const (
	namedFiles = 3
	maxJudged  = 50000 // names of a skill that are looked at
	maxNames   = 100   // tools that are named as lacking

	// knownTools are the tools of Claude Code that have a counterpart here, and
	// our own.
	knownTools = " Read Write Edit MultiEdit Bash Glob Grep WebSearch WebFetch Skill" +
		" read write edit bash glob grep web_search web_fetch skill compact job subagent remote_bash "
)

// Judge looks at the files and the declared tools of a skill. What it bundles
// for an interpreter outweighs the tools: without the interpreter the
// instructions lead nowhere.
func (s Skill) Judge(t Target) (j Judgement) {
	for _, tool := range s.Tools {
		name, _, _ := strings.Cut(tool, "(")
		if !strings.Contains(knownTools, " "+name+" ") {
			j.Lacks = addNew(j.Lacks, name)
		}
	}
	j.bundled(s.Dir, t)
	switch {
	case len(j.Files) > 0:
		j.Verdict = Limited
	case len(j.Uses) > 0, len(s.Tools) == 0:
		j.Verdict = Portable
	case len(j.Lacks) > 0:
		j.Verdict = Partial
	}
	return j
}

// bundled looks for files that need an interpreter, and for plugins, whose
// hooks and servers do not run here. It follows no link.
func (j *Judgement) bundled(dir string, t Target) {
	n := 0
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; n > maxJudged {
			return fs.SkipAll
		}
		needs, here := "", false
		switch ext := filepath.Ext(path); {
		case err != nil, path == dir:
		case d.IsDir():
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			if d.Name() == ".claude-plugin" {
				needs = "a plugin"
			}
		case ext == ".py":
			needs, here = "python3", t.Python3
		case ext == ".js", ext == ".mjs", ext == ".cjs", ext == ".ts":
			needs, here = "node", t.Node
		}
		switch {
		case needs == "":
		case here:
			j.Uses = addNew(j.Uses, needs)
		case len(j.Files) < namedFiles:
			j.Files = append(j.Files, below(dir, path))
		default:
			j.More++
		}
		return nil
	})
}

// addNew adds s to a list of names that does not have it, and is not as long as
// nobody reads.
func addNew(list []string, s string) []string {
	if len(list) == maxNames || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
