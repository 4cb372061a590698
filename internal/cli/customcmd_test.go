package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cluade/store"
)

// commandsApp is a run in a directory with these commands in the project.
func commandsApp(t *testing.T, files map[string]string) *app {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, ".cluade/commands", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &app{place: store.Place{Dir: dir}, cfg: &store.Config{}, flags: &flags{}}
}

func TestCustomPrompt(t *testing.T) {
	a := commandsApp(t, map[string]string{"fix.md": "Fix $ARGUMENTS.", "mode.md": "shadow", "bad.md": "\xff", "esc.md": "a\x1b[31mb\x07"})
	tests := []struct{ line, want string }{
		{"/fix it", "Fix it."}, {"/fix", "Fix ."}, {"/fix  a  b ", "Fix a  b."}, {"/fix\nover\nlines", "Fix over\nlines."}, {"/fix\tx", "Fix x."},
		{"/esc", "ab"}, {" /fix it", ""}, {"fix it", ""}, {"/mode", ""}, {"/none", ""}, {"/", ""}, {"", ""}, {"/../commands/fix", ""}, {"/fix.md", ""},
	}
	for _, tt := range tests {
		if got, err := a.customPrompt(tt.line); got != tt.want || err != nil {
			t.Errorf("customPrompt(%q) = %q, %v, want %q", tt.line, got, err, tt.want)
		}
	}
	if got, err := a.customPrompt("/bad"); got != "" || err == nil {
		t.Errorf("customPrompt(/bad) = %q, %v, want an error", got, err)
	}
	if _, names := a.complete("/f", 2); !slices.Equal(names, []string{"/fix"}) {
		t.Errorf("complete(/f) = %q", names)
	}
	if _, names := a.complete("/mod", 4); !slices.Equal(names, []string{"/model", "/mode"}) {
		t.Errorf("complete(/mod) = %q", names)
	}
}

// TestCustomHelp: no line is wider than forty columns, whatever the file says.
func TestCustomHelp(t *testing.T) {
	a := commandsApp(t, map[string]string{
		"a.md": "---\ndescription: " + strings.Repeat("wide ", 20) + "\nargument-hint: " + strings.Repeat("<x> ", 20) + "\n---\nx", "b.md": "\xff",
		"c.md": "---\ndescription: \"a\\e[31mb\"\nargument-hint: <file>\n---\nx",
	})
	want := "/a <x> <x> <x> <x> <x> <x> <x> <x> ...\n                wide wide wide wide ...\n" +
		"/b              cannot be used: b.md is not UTF-8 text\n/c <file>       a [31mb\n"
	if got := a.customHelp(); got != want {
		t.Errorf("customHelp() =\n%swant\n%s", got, want)
	}
}

func TestInstructionFiles(t *testing.T) {
	root := tree(t, map[string]string{
		"home/.cluade/AGENTS.md": "mine\n@more.md\n@none.md\n", "home/.cluade/more.md": "more", "work/CLAUDE.md": strings.Repeat("x\n", maxInstructions), "etc/cluade/AGENTS.md": "device",
	})
	o := promptOptions{Dir: filepath.Join(root, "work"), Home: filepath.Join(root, "home"), State: filepath.Join(root, "home/.cluade"), Etc: filepath.Join(root, "etc")}
	want := "etc/cluade/AGENTS.md home/.cluade/AGENTS.md home/.cluade/more.md work/CLAUDE.md"
	if got := strings.ReplaceAll(strings.Join(instructionFiles(o), " "), root+"/", ""); got != want {
		t.Errorf("instructionFiles = %q, want %q", got, want)
	}
	o.NoProject = true
	if got := instructionFiles(o); len(got) != 3 {
		t.Errorf("instructionFiles without the project's = %q", got)
	}
}
