package skills

import (
	"path/filepath"
	"testing"
)

func TestJudge(t *testing.T) {
	tests := []struct {
		name   string
		tools  string // a line of the metadata
		files  string // one name each
		target Target
		want   string // label, words and reason
	}{
		{"text alone", "", "references/x.md", Target{}, "[OK* ] portable|"},
		{"shell scripts", "", "scripts/run.sh scripts/Makefile", Target{}, "[OK* ] portable|"},
		{"names that only look so", "", "a.pyc b.json c.tsx d.py.txt e.jsx f.PY", Target{}, "[OK* ] portable|"},
		{"python", "", "scripts/a.py", Target{}, "[LTD ] limited|bundles scripts/a.py"},
		{"each ending", "", "a.py b.js c.mjs d.cjs e.ts", Target{}, "[LTD ] limited|bundles a.py, b.js, c.mjs and 2 more"},
		{"a declaration file", "", "x/y/z.d.ts", Target{}, "[LTD ] limited|bundles x/y/z.d.ts"},
		{"hidden", "", ".x/.a.py", Target{}, "[LTD ] limited|bundles .x/.a.py"},
		{"of git", "", ".git/hooks/x.py", Target{}, "[OK* ] portable|"},
		{"a plugin", "", ".claude-plugin/plugin.json", Target{Python3: true, Node: true}, "[LTD ] limited|bundles .claude-plugin"},
		{"a plugin further down", "", "x/.claude-plugin/y.py", Target{}, "[LTD ] limited|bundles x/.claude-plugin, x/.claude-plugin/y.py"},
		{"limits outweigh tools", "allowed-tools: Read", "a.py", Target{}, "[LTD ] limited|bundles a.py"},

		{"python is here", "", "a.py b.py", Target{Python3: true}, "[OK* ] uses python3 (installed)|"},
		{"node is here", "", "a.ts", Target{Node: true}, "[OK* ] uses node (installed)|"},
		{"both", "", "a.py b.js", Target{Python3: true, Node: true}, "[OK* ] uses python3, node (installed)|"},
		{"one of two", "", "a.py b.js", Target{Python3: true}, "[LTD ] limited|bundles b.js"},
		{"here, but not for the tools", "allowed-tools: Read, Task", "a.py", Target{Python3: true}, "[OK* ] uses python3 (installed), lacks Task|"},

		{"all of Claude's", "allowed-tools: Read, Write, Edit, MultiEdit, Bash, Glob, Grep, WebSearch, WebFetch, Skill", "", Target{}, "[OK  ] full|"},
		{"all of ours", "allow: [read, write, edit, bash, glob, grep, web_search, web_fetch, skill, compact, job, subagent, remote_bash]", "", Target{}, "[OK  ] full|"},
		{"with specifiers", "allowed-tools: Bash(git:*) Read(/etc/**)", "x.sh", Target{}, "[OK  ] full|"},
		{"lacking", "allowed-tools: Read Task mcp__x__y Task", "", Target{}, "[PART] partial: lacks Task, mcp__x__y|"},
		{"lacking with specifier", "allowed-tools: Agent(x), Bash", "", Target{}, "[PART] partial: lacks Agent|"},
		{"case", "allowed-tools: READ", "", Target{}, "[PART] partial: lacks READ|"},
		{"none declared", "allowed-tools: []", "", Target{}, "[OK* ] portable|"},
	}
	for _, tt := range tests {
		files := map[string]string{"SKILL.md": "---\nname: x\ndescription: d\n" + tt.tools + "\n---\n"}
		for _, f := range splitTools(tt.files) {
			files[f] = ""
		}
		list, err := FindTree(tree(t, files), "x")
		if err != nil || len(list) != 1 || list[0].Fault != "" {
			t.Fatalf("%s: FindTree = %+v, %v", tt.name, list, err)
		}
		j := list[0].Judge(tt.target)
		if got := j.Verdict.Label() + " " + j.String() + "|" + j.Reason(); got != tt.want {
			t.Errorf("%s: Judge = %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestJudgeFollowsNoLink: a link counts by its own name, and leads nowhere.
func TestJudgeFollowsNoLink(t *testing.T) {
	top := tree(t, map[string]string{"x/SKILL.md": skill("x", "d"), "x/out": "-> ../other", "other/a.py": "", "x/loop": "-> ."})
	list, err := FindTree(filepath.Join(top, "x"), "x")
	if err != nil || len(list) != 1 {
		t.Fatalf("FindTree = %+v, %v", list, err)
	}
	if j := list[0].Judge(Target{}); j.Verdict != Portable {
		t.Errorf("Judge = %v, want portable", j)
	}
}
