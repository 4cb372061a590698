package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cluade/internal/policy"
)

// TestForeignLinks: what a project's instruction file links to enters the system
// message only where it may be instructions.
func TestForeignLinks(t *testing.T) {
	tests := []struct {
		name, link string
		mode       os.FileMode // of what the link leads to
		want       string      // in the notice; "" if the text is read
	}{
		{"shared rules", "../rules", 0o644, ""},
		{"rules of the owner's", "../rules.md", 0o600, ""},
		{"a key", "../.ssh/id", 0o600, "only its owner may read"},
		{"a key of a group's", "../shadow", 0o640, "only its owner may read"},
		{"a rule", "../notes.pem", 0o644, "a rule keeps it from being read"},
		{"a rule in the project", "own.pem", 0o644, "a rule keeps it from being read"},
		{"the key file", "../key", 0o644, "cluade's own state"},
		{"the state", "../.cluade/x.md", 0o644, "cluade's own state"},
		{"in the project", "own", 0o600, ""},
	}
	for _, tt := range tests {
		root := tree(t, map[string]string{"home/ada/p/.git/HEAD": "", "home/ada/p/AGENTS.md": "-> " + tt.link})
		path := filepath.Join(root, "home/ada/p", tt.link)
		os.MkdirAll(filepath.Dir(path), 0o755)
		if err := os.WriteFile(path, []byte("TEXT"), tt.mode); err != nil {
			t.Fatal(err)
		}
		o := instructionOptions(root, "home/ada/p")
		o.Private = []string{filepath.Join(root, "home/ada/key")}
		o.Hidden = func(p policy.Path) bool { return filepath.Ext(p.Real) == ".pem" }
		text, notices := readInstructions(o)
		if strings.Contains(text, "TEXT") != (tt.want == "") || !strings.Contains(strings.Join(notices, ""), tt.want) {
			t.Errorf("%s: notices %q, text\n%s", tt.name, notices, text)
		}
	}
}

// TestImportAndRules: a project's file brings in nothing that a rule refuses or
// asks about, and is not read itself where one does.
func TestImportAndRules(t *testing.T) {
	for hidden, want := range map[string]string{"secret": "notes", "AGENTS.md": ""} {
		root := tree(t, map[string]string{"p/.git/HEAD": "", "p/AGENTS.md": "notes\n@secret\n", "p/secret": "TOP"})
		o := instructionOptions(root, "p")
		o.Hidden = func(p policy.Path) bool { return filepath.Base(p.Abs) == hidden }
		text, notices := readInstructions(o)
		if strings.Contains(text, "TOP") || !strings.Contains(text, want) || !strings.Contains(strings.Join(notices, ""), "a rule keeps it from being read") {
			t.Errorf("%s: notices %q, text\n%s", hidden, notices, text)
		}
	}
}

// TestHardLinkToState: a second name of the file with the key is that file.
func TestHardLinkToState(t *testing.T) {
	root := tree(t, map[string]string{"home/ada/.cluade/config.json": "KEY", "home/ada/p/.git/HEAD": ""})
	if err := os.Link(filepath.Join(root, "home/ada/.cluade/config.json"), filepath.Join(root, "home/ada/p/AGENTS.md")); err != nil {
		t.Skip(err)
	}
	text, notices := readInstructions(instructionOptions(root, "home/ada/p"))
	if strings.Contains(text, "KEY") || len(notices) != 1 || !strings.Contains(notices[0], "own state") {
		t.Errorf("notices %q, text\n%s", notices, text)
	}
}

// TestKeyInSystemMessage: a key that stands in an instruction file or in the
// options does not leave in the system message.
func TestKeyInSystemMessage(t *testing.T) {
	w := newWorld(t)
	w.vars["OPENAI_API_KEY"] = "sk-very-secret-1"
	w.file("AGENTS.md", "RULE-7: the key is sk-very-secret-1\n")
	w.run("--append-system-prompt", "and sk-very-secret-1 too", "hi")
	if len(w.requests) != 1 || !strings.Contains(w.requests[0].raw, "RULE-7: the key is ***") || strings.Contains(w.requests[0].raw, "very-secret") {
		t.Errorf("requests %+v", w.requests)
	}
}

// TestManyNotices: a file from anybody does not fill the screen, nor is every
// line of it looked up on the disk.
func TestManyNotices(t *testing.T) {
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "@nobody%d\n", i)
	}
	root := tree(t, map[string]string{"home/ada/AGENTS.md": lines.String(), "etc/x": ""})
	l := loadInstructions(instructionOptions(root, ""))
	last := l.notices[len(l.notices)-2]
	if len(l.notices) > maxImports+2 || !strings.Contains(last, "only the first 100 lines") {
		t.Errorf("%d notices, %q", len(l.notices), last)
	}
	_, notices := readInstructions(instructionOptions(root, ""))
	if n := len(notices); n != maxNotices+1 || notices[n-1] != fmt.Sprintf("instructions: %d more notices like these", len(l.notices)-maxNotices) {
		t.Errorf("notices %q", notices)
	}

	w := newWorld(t)
	w.file(".cluade/skills/a/SKILL.md", "no metadata")
	for i := range 60 {
		w.file(fmt.Sprintf(".agents/skills/s%d/SKILL.md", i), "---\nname: A Title\ndescription: d\n---\n")
		w.file(fmt.Sprintf(".claude/skills/s%d/SKILL.md", i), "---\nname: A Title\ndescription: d\n---\n")
	}
	got := w.run("hi")
	if n := strings.Count(got.errout, "skills:"); n != maxNotices+2 || !strings.Contains(got.errout, "skills: 175 more notices; /skills shows them") ||
		!strings.Contains(got.errout, "not usable: a (") {
		t.Errorf("%d lines\n%s", n, got.errout)
	}
}
