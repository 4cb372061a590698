package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// tree writes files below a new directory, by name and content; a content that
// begins with "-> " makes a link.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(top, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if target, ok := strings.CutPrefix(text, "-> "); ok && err == nil {
			err = os.Symlink(target, path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func skill(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nBody of " + name + "\n"
}

// find gives what Find returns for the usual roots below top, as lines without
// top in them.
func find(top string) string {
	list, notices := Find(Roots(filepath.Join(top, "work"), filepath.Join(top, "home"), filepath.Join(top, "home/.cluade")))
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "%s|%s|%s|%s\n", s.Name, s.Description, s.Dir, s.Fault)
	}
	for _, n := range notices {
		b.WriteString(n + "\n")
	}
	return strings.ReplaceAll(b.String(), top+"/", "")
}

func TestFind(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", map[string]string{"work/x": ""}, ""},
		{"order", map[string]string{
			"work/.claude/skills/c/SKILL.md": skill("c", "3"), "work/.agents/skills/b/SKILL.md": skill("b", "2"),
			"work/.cluade/skills/z/SKILL.md": skill("z", "1"), "work/.cluade/skills/a/SKILL.md": skill("a", "1"),
			"home/.claude/skills/f/SKILL.md": skill("f", "6"), "home/.agents/skills/e/SKILL.md": skill("e", "5"),
			"home/.cluade/skills/d/SKILL.md": skill("d", "4"),
		}, `a|1|work/.cluade/skills/a|
z|1|work/.cluade/skills/z|
b|2|work/.agents/skills/b|
c|3|work/.claude/skills/c|
d|4|home/.cluade/skills/d|
e|5|home/.agents/skills/e|
f|6|home/.claude/skills/f|
`},
		{"nearer hides farther", map[string]string{
			"work/.claude/skills/x/SKILL.md": skill("demo", "near"), "home/.cluade/skills/demo/SKILL.md": skill("demo", "far"),
		}, `demo|near|work/.claude/skills/x|
demo in work/.claude/skills/x hides the one in home/.cluade/skills/demo
`},
		{"a fault hides nothing", map[string]string{
			"work/.cluade/skills/demo/SKILL.md": "---\nname: demo\n---\n", "home/.cluade/skills/demo/SKILL.md": skill("demo", "far"),
		}, `demo||work/.cluade/skills/demo|it has no description
demo|far|home/.cluade/skills/demo|
`},
		{"windows", map[string]string{"work/.cluade/skills/d/SKILL.md": "\ufeff---\r\nname: demo\r\ndescription: d\r\n---\r\nBody\r\n"},
			"demo|d|work/.cluade/skills/d|\n"},
		{"the directory's name", map[string]string{"work/.cluade/skills/my-skill.v2_b/SKILL.md": "---\ndescription: d\n---\n"},
			"my-skill.v2_b|d|work/.cluade/skills/my-skill.v2_b|\n"},
		{"names", map[string]string{
			"work/.cluade/skills/a/SKILL.md": skill("Skill Development", "d"), "work/.cluade/skills/b c/SKILL.md": "---\ndescription: d\n---\n",
			"work/.cluade/skills/d/SKILL.md": skill("../../etc", "d"), "work/.cluade/skills/e/SKILL.md": skill(strings.Repeat("n", 65), "d"),
			"work/.cluade/skills/f/SKILL.md": skill("..", "d"), "work/.cluade/skills/.hidden/SKILL.md": skill("hidden", "d"),
		}, `a|d|work/.cluade/skills/a|
b c|d|work/.cluade/skills/b c|it needs a name of 1 to 64 letters, digits, dots, underscores and hyphens
d|d|work/.cluade/skills/d|
e|d|work/.cluade/skills/e|
f|d|work/.cluade/skills/f|
work/.cluade/skills/a: the name "Skill Development" is not of 1 to 64 letters, digits, dots, underscores and hyphens; its directory's counts
work/.cluade/skills/d: the name "../../etc" is not of 1 to 64 letters, digits, dots, underscores and hyphens; its directory's counts
work/.cluade/skills/e: the name "` + strings.Repeat("n", 65) + `" is not of 1 to 64 letters, digits, dots, underscores and hyphens; its directory's counts
work/.cluade/skills/f: the name ".." is not of 1 to 64 letters, digits, dots, underscores and hyphens; its directory's counts
`},
		{"faults", map[string]string{
			"work/.cluade/skills/a/SKILL.md": "Body", "work/.cluade/skills/b/SKILL.md": "---\nname: b\ndescription: caf\xe9\n---\n",
			"work/.cluade/skills/c/SKILL.md": skill("c", "d") + strings.Repeat("x", maxFile), "work/.cluade/skills/d/SKILL.md/x": "",
			"work/.cluade/skills/e/SKILL.md": "---\nname: e\nx\n---\n",
		}, `a||work/.cluade/skills/a|line 1: it does not begin with a line ---
b||work/.cluade/skills/b|SKILL.md is not UTF-8 text
c||work/.cluade/skills/c|SKILL.md is larger than 131072 bytes
d||work/.cluade/skills/d|SKILL.md is not a regular file
e||work/.cluade/skills/e|line 3: "x" is no key with a value
`},
		{"one level", map[string]string{
			"work/.cluade/skills/group/a/SKILL.md": skill("a", "d"), "work/.cluade/skills/SKILL.md": skill("b", "d"), "work/.cluade/skills/README": "",
		}, ""},
		{"links that stay inside", map[string]string{
			"work/.cluade/skills/a/SKILL.md": skill("a", "d"), "work/.cluade/skills/b": "-> a", "work/.cluade/skills/c/SKILL.md": "-> ../text",
			"work/.cluade/skills/text": skill("c", "d"), "work/.cluade/skills/none": "-> nothing", "work/.cluade/skills/loop": "-> loop",
		}, `a|d|work/.cluade/skills/a|
c|d|work/.cluade/skills/c|
`},
		{"links that lead out", map[string]string{
			"work/.cluade/skills/a": "-> ../../elsewhere", "elsewhere/SKILL.md": skill("a", "d"), "work/elsewhere": "-> ../elsewhere",
			"work/.cluade/skills/b/SKILL.md": "-> ../../../elsewhere/SKILL.md", "home/.cluade/skills/c/SKILL.md": "-> ../../config.json",
			"home/.cluade/config.json": `{"api_key":"k"}`,
		}, `a||elsewhere|it is a link that leads out of work/.cluade/skills
b||work/.cluade/skills/b|SKILL.md is a link that leads out of its directory
c||home/.cluade/skills/c|SKILL.md is a link that leads out of its directory
`},
		{"the user's may lead into the home", map[string]string{
			"home/.cluade/skills/a": "-> ../../src/a", "home/src/a/SKILL.md": skill("a", "d"), "home/.cluade/skills/b": "-> ../../../elsewhere",
			"elsewhere/SKILL.md": skill("b", "d"),
		}, `a|d|home/src/a|
b||elsewhere|it is a link that leads out of home
`},
		{"links between roots", map[string]string{
			"work/.agents/skills/a/SKILL.md": skill("a", "d"), "work/.claude/skills/a": "-> ../../.agents/skills/a", "home/.claude/skills": "-> ../../work/.agents/skills",
		}, "a|d|work/.agents/skills/a|\n"},
	}
	for _, tt := range tests {
		if got := find(tree(t, tt.files)); got != tt.want {
			t.Errorf("%s: Find gives\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

// TestFindInHome: the skills of the home directory are the user's there too.
func TestFindInHome(t *testing.T) {
	top := tree(t, map[string]string{
		".cluade/skills/a": "-> ../../src/a", "src/a/SKILL.md": skill("a", "d"), ".claude/skills/b/SKILL.md": skill("b", "d"),
	})
	list, notices := Find(Roots(top, top, filepath.Join(top, ".cluade")))
	if len(list) != 2 || list[0].Name != "a" || list[0].Fault != "" || list[1].Name != "b" || len(notices) != 0 {
		t.Errorf("Find = %+v, %q, want a and b", list, notices)
	}
}

// TestRootLinks: a project's place for skills, or for commands, may be a link to
// another place in the project, and not out of it. The user's own may lead
// anywhere.
func TestRootLinks(t *testing.T) {
	top := tree(t, map[string]string{
		"work/.claude/skills": "-> ../.agents/skills", "work/.agents/skills/a/SKILL.md": skill("a", "d"), "work/.cluade/skills": "-> ../../out",
		"out/b/SKILL.md": skill("b", "d"), "out/b.md": "text", "home/.claude/skills": "-> ../../else", "else/c/SKILL.md": skill("c", "d"),
		"work/.cluade/commands": "-> ../../out",
	})
	const want = "work/.cluade/skills is a link out of work; what is there does not count\n"
	if got := find(top); got != "a|d|work/.agents/skills/a|\nc|d|else/c|\n"+want {
		t.Errorf("Find gives\n%s", got)
	}
	if list := Commands(commandRoots(top)); len(list) > 0 {
		t.Errorf("Commands = %+v", list)
	}
	home := filepath.Join(top, "home")
	if list, notices := Find(Roots(home, home, "")); len(list) != 1 || len(notices) != 0 {
		t.Errorf("Find at home gives %+v, %q", list, notices)
	}
	if err := os.Mkdir(filepath.Join(top, ".git"), 0o755); err != nil { // then out is in the project
		t.Fatal(err)
	}
	if got := find(top); got != "b|d|out/b|\na|d|work/.agents/skills/a|\nc|d|else/c|\n" {
		t.Errorf("Find in a larger project gives\n%s", got)
	}
	if list := Commands(commandRoots(top)); len(list) != 1 {
		t.Errorf("Commands in a larger project = %+v", list)
	}
}

// TestFindOpensNoPipe: a pipe would wait for its writer.
func TestFindOpensNoPipe(t *testing.T) {
	top := tree(t, map[string]string{"work/.cluade/skills/a/x": ""})
	if err := syscall.Mkfifo(filepath.Join(top, "work/.cluade/skills/a/SKILL.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := find(top), "a||work/.cluade/skills/a|SKILL.md is not a regular file\n"; got != want {
		t.Errorf("Find = %q, want %q", got, want)
	}
}

func TestFindManyNames(t *testing.T) {
	top := tree(t, nil)
	for i := range maxEntries + 5 {
		if err := os.MkdirAll(filepath.Join(top, "work/.cluade/skills", fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := find(top), "only 1000 names in work/.cluade/skills are looked at\n"; got != want {
		t.Errorf("Find = %q, want %q", got, want)
	}
}

func TestRoots(t *testing.T) {
	dirs := func(roots []Root) (list []string) {
		for _, r := range roots {
			list = append(list, r.Dir+"<"+r.Within)
		}
		return list
	}
	want := []string{
		"/w/.cluade/skills<", "/w/.agents/skills<", "/w/.claude/skills<",
		"/s/skills</h", "/h/.agents/skills</h", "/h/.claude/skills</h", "/usr/share/cluade/skills<",
	}
	if got := dirs(Roots("/w", "/h", "/s")); !slices.Equal(got, want) {
		t.Errorf("Roots = %q, want %q", got, want)
	}
	want = []string{"/w/.cluade/skills<", "/w/.agents/skills<", "/w/.claude/skills<", "/usr/share/cluade/skills<"}
	if got := dirs(Roots("/w", "", "")); !slices.Equal(got, want) {
		t.Errorf("Roots without a home = %q, want %q", got, want)
	}
}

func TestLoad(t *testing.T) {
	top := tree(t, map[string]string{
		"work/.cluade/skills/a/SKILL.md": skill("a", "d"), "work/.cluade/skills/a/run.sh": "", "work/.cluade/skills/a/ref/b.md": "",
		"work/.cluade/skills/a/.git/config": "", "work/.cluade/skills/a/out": "-> /etc", "work/.cluade/skills/a/ref/SKILL.md": "",
	})
	list, _ := Find(Roots(filepath.Join(top, "work"), "", ""))
	c, err := list[0].Load()
	if want := []string{"out", "ref/SKILL.md", "ref/b.md", "run.sh"}; err != nil || c.Body != "Body of a\n" || !slices.Equal(c.Files, want) || c.More != 0 {
		t.Errorf("Load = %+v, %v, want the body and %q", c, err, want)
	}
	for i := range maxFiles + 7 {
		if err := os.WriteFile(filepath.Join(top, "work/.cluade/skills/a", fmt.Sprint("f", i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if c, err = list[0].Load(); err != nil || len(c.Files) != maxFiles || c.More != 11 {
		t.Errorf("Load = %d files and %d more, %v, want %d and 11", len(c.Files), c.More, err, maxFiles)
	}
	if err := os.Remove(filepath.Join(top, "work/.cluade/skills/a/SKILL.md")); err != nil {
		t.Fatal(err)
	}
	if _, err = list[0].Load(); err == nil || !strings.Contains(err.Error(), "SKILL.md cannot be read: no such file") {
		t.Errorf("Load of a skill that is gone = %v", err)
	}
	if _, err = (Skill{Fault: "it is broken"}).Load(); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("Load of a fault = %v", err)
	}
}
