package skills

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"testing"
)

// contents lists what is below a directory, "name: text" or "name -> link" a
// line.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var lines []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.Type()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			lines = append(lines, name+" -> "+to)
		case !d.IsDir():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			lines = append(lines, name+": "+string(text))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func TestFindTree(t *testing.T) {
	top := tree(t, map[string]string{
		"SKILL.md": "---\ndescription: d\n---\n", "a/SKILL.md": skill("a", "d"), "a/deep/er/SKILL.md": skill("deep", "d"),
		".system/b/SKILL.md": skill("b", "d"), ".git/c/SKILL.md": skill("c", "d"), "node_modules/d/SKILL.md": skill("d", "d"),
		"e/SKILL.md/x": "", "f": "-> a", "g/SKILL.md": "-> ../a/SKILL.md", "h/SKILL.md": "-> /etc/passwd",
		"i/skill.md": skill("i", "d"), "j/SKILL.md": "no metadata",
	})
	list, err := FindTree(filepath.Join(top, "."), "repo")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, strings.TrimPrefix(s.Dir, top)+" "+s.Name+" "+s.Fault)
	}
	want := `/.system/b b 
 repo 
/a a 
/a/deep/er deep 
/g a 
/h h SKILL.md is a link that leads out of its directory
/j j line 1: it does not begin with a line ---
/node_modules/d d `
	if g := strings.Join(got, "\n"); g != want {
		// The order is that of the names in the tree.
		t.Errorf("FindTree gives\n%s\nwant\n%s", g, want)
	}
	if _, err := FindTree(tree(t, map[string]string{"README": ""}), "x"); err == nil {
		t.Error("FindTree of a tree without skills gives no error")
	}
	if _, err := FindTree(filepath.Join(top, "none"), "x"); err == nil {
		t.Error("FindTree of nothing gives no error")
	}
}

// put imports the one skill of a tree and returns what was said.
func put(t *testing.T, im *Importer, from string) string {
	t.Helper()
	list, err := FindTree(from, filepath.Base(from))
	if err != nil {
		t.Fatal(err)
	}
	done, err := im.Put(context.Background(), list[0])
	if err != nil {
		return "error: " + err.Error()
	}
	return done
}

func TestPut(t *testing.T) {
	src := tree(t, map[string]string{
		"SKILL.md": "---\nname: demo\ndescription: new\n---\n", "scripts/run.sh": "#!/bin/sh", "docs/l": "-> ../scripts/run.sh", "docs/m": "-> ../docs/../scripts",
		".git/x": "", "l": "-> .", "empty/.keep": "",
	})
	if err := os.Chmod(filepath.Join(src, "scripts/run.sh"), 0o4755); err != nil {
		t.Fatal(err)
	}
	dest := t.TempDir()
	if got := put(t, &Importer{Dest: dest, DryRun: true}, src); got != "installed" || contents(t, dest) != "" {
		t.Errorf("dry run: %q, and there is %q", got, contents(t, dest))
	}
	if got := put(t, &Importer{Dest: dest}, src); got != "installed" {
		t.Fatalf("Put = %q", got)
	}
	want := "demo/SKILL.md: ---\nname: demo\ndescription: new\n---\n\ndemo/docs/l -> ../scripts/run.sh\ndemo/docs/m -> ../scripts\n" +
		"demo/empty/.keep: \ndemo/l -> .\ndemo/scripts/run.sh: #!/bin/sh"
	if got := contents(t, dest); got != want {
		t.Errorf("Put makes\n%s\nwant\n%s", got, want)
	}
	if fi, err := os.Stat(filepath.Join(dest, "demo/scripts/run.sh")); err != nil || fi.Mode() != 0o755 {
		t.Errorf("the script has mode %v, %v; want 0755", fi.Mode(), err)
	}

	changed := tree(t, map[string]string{"SKILL.md": skill("demo", "other")})
	if got := put(t, &Importer{Dest: dest}, changed); got != "skipped, it is there already" || contents(t, dest) != want {
		t.Errorf("Put again = %q", got)
	}
	if got := put(t, &Importer{Dest: dest, Force: true, DryRun: true}, changed); got != "replaced" || contents(t, dest) != want {
		t.Errorf("dry run of a replacement = %q", got)
	}
	if got := put(t, &Importer{Dest: dest, Force: true}, changed); got != "replaced" || contents(t, dest) != "demo/SKILL.md: "+skill("demo", "other") {
		t.Errorf("Put with force = %q, and there is %q", got, contents(t, dest))
	}
}

func TestPutLinks(t *testing.T) {
	top := tree(t, map[string]string{"src/SKILL.md": skill("demo", "d"), "src/x/SKILL.md": skill("x", "d"), "dest/x/SKILL.md": "old", "src/out": "-> ../../etc"})
	src, dest := filepath.Join(top, "src"), filepath.Join(top, "dest")
	if got := put(t, &Importer{Dest: dest, Link: true}, src); got != "linked" {
		t.Errorf("Put = %q", got)
	}
	if got := put(t, &Importer{Dest: dest, Link: true, Force: true}, src); got != "skipped, it is the same one" {
		t.Errorf("Put of the same = %q", got)
	}
	if got := put(t, &Importer{Dest: dest, Link: true, Force: true}, filepath.Join(src, "x")); got != "replaced" {
		t.Errorf("Put over a directory = %q", got)
	}
	want := "demo -> " + src + "\nx -> " + src + "/x"
	if got := contents(t, dest); got != want {
		t.Errorf("there is\n%s\nwant\n%s", got, want)
	}
	// With force a link becomes a copy of what it led to; without, it stays.
	for _, tt := range []struct {
		force bool
		want  string
	}{{false, "skipped, it is there already"}, {true, "replaced"}, {true, "replaced"}} {
		if got := put(t, &Importer{Dest: dest, Force: tt.force}, filepath.Join(src, "x")); got != tt.want {
			t.Errorf("Put over a link to the same, force %v: %q, want %q", tt.force, got, tt.want)
		}
	}
	if got := contents(t, dest); !strings.HasSuffix(got, "\nx/SKILL.md: "+skill("x", "d")) {
		t.Errorf("there is\n%s", got)
	}
	// What a link led to stays when the link is replaced.
	other := tree(t, map[string]string{"SKILL.md": skill("demo", "copy")})
	if got := put(t, &Importer{Dest: dest, Force: true}, other); got != "replaced" {
		t.Errorf("Put over a link = %q", got)
	}
	if got := contents(t, src); !strings.Contains(got, "name: demo\ndescription: d") {
		t.Errorf("the source is now %q", got)
	}
}

func TestPutRefuses(t *testing.T) {
	demo := skill("demo", "d")
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"a link out", map[string]string{"s/SKILL.md": demo, "s/x/l": "-> ../../secret", "secret": "k"}, "x/l: the link leads out of the skill"},
		{"a link out by another", map[string]string{"s/SKILL.md": demo, "s/a": "-> ..", "s/b": "-> a/secret", "secret": "k"}, "a: the link leads out of the skill"},
		{"a link to nothing", map[string]string{"s/SKILL.md": demo, "s/l": "-> none"}, "l: the link leads nowhere"},
		{"a loop", map[string]string{"s/SKILL.md": demo, "s/l": "-> l"}, "l: the link leads nowhere"},
		{"an absolute link", map[string]string{"s/SKILL.md": demo, "s/l": "-> /etc/passwd"}, "l: the link leads out of the skill"},
		{"SKILL.md from elsewhere", map[string]string{"s/SKILL.md": "-> ../text", "text": demo}, "SKILL.md: the link leads out of the skill"},
		{"no name", map[string]string{"s/a b/SKILL.md": "---\ndescription: d\n---\n"}, "it needs a name of 1 to 64 letters, digits, dots, underscores and hyphens"},
	}
	for _, tt := range tests {
		dest := tree(t, map[string]string{"demo/SKILL.md": "old"})
		if got := put(t, &Importer{Dest: dest, Force: true}, filepath.Join(tree(t, tt.files), "s")); got != "error: "+tt.want {
			t.Errorf("%s: Put = %q, want the error %q", tt.name, got, tt.want)
		}
		if got := contents(t, dest); got != "demo/SKILL.md: old" {
			t.Errorf("%s: there is %q", tt.name, got)
		}
	}
}

// TestPutRefusesAbsoluteLinks: a copy would still lead to where the source was.
func TestPutRefusesAbsoluteLinks(t *testing.T) {
	src := tree(t, map[string]string{"SKILL.md": skill("demo", "d"), "a": "A"})
	if err := os.Symlink(filepath.Join(src, "a"), filepath.Join(src, "l")); err != nil {
		t.Fatal(err)
	}
	if got := put(t, &Importer{Dest: t.TempDir()}, src); got != "error: l: the link leads out of the skill" {
		t.Errorf("Put = %q", got)
	}
}

func TestPutRefusesDevices(t *testing.T) {
	src, dest := tree(t, map[string]string{"SKILL.md": skill("demo", "d")}), t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(src, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := put(t, &Importer{Dest: dest}, src); got != "error: pipe: it is neither file nor directory" {
		t.Errorf("Put = %q", got)
	}
}

// TestPutUp: dots are no name, which with force would be the place of all
// skills.
func TestPutUp(t *testing.T) {
	top := tree(t, map[string]string{"a/SKILL.md": skill("..", "d"), "dest/skills/keep": "k", "dest/config": "c"})
	if got := put(t, &Importer{Dest: filepath.Join(top, "dest/skills"), Force: true}, filepath.Join(top, "a")); got != "installed" {
		t.Errorf("Put = %q", got)
	}
	want := "config: c\nskills/a/SKILL.md: " + skill("..", "d") + "\nskills/keep: k"
	if got := contents(t, filepath.Join(top, "dest")); got != want {
		t.Errorf("there is\n%s\nwant\n%s", got, want)
	}
}

// TestPutOverItself: a skill that stands where it would go, or in what it would
// replace, stays.
func TestPutOverItself(t *testing.T) {
	top := tree(t, map[string]string{"dest/a/SKILL.md": skill("a", "d"), "dest/b/sub/SKILL.md": skill("b", "d")})
	before := contents(t, top)
	for _, link := range []bool{false, true} {
		im := &Importer{Dest: filepath.Join(top, "dest"), Force: true, Link: link}
		if got := put(t, im, filepath.Join(top, "dest/a")); got != "skipped, it is the same one" {
			t.Errorf("Put = %q", got)
		}
		if got := put(t, im, filepath.Join(top, "dest/b")); got != "error: it lies in the one that it would replace" {
			t.Errorf("Put = %q", got)
		}
	}
	if got := contents(t, top); got != before {
		t.Errorf("there is\n%s\nwant\n%s", got, before)
	}
}

// TestPutHidden: a name that begins with a dot is not hidden in its place.
func TestPutHidden(t *testing.T) {
	dest := t.TempDir()
	im := &Importer{Dest: dest}
	for _, src := range []string{
		tree(t, map[string]string{"SKILL.md": skill(".hidden", "d")}), filepath.Join(tree(t, map[string]string{"..x/SKILL.md": "---\ndescription: d\n---\n"}), "..x"),
	} {
		if got := put(t, im, src); got != "installed" {
			t.Errorf("Put = %q", got)
		}
	}
	list, _ := Find([]Root{{Dir: dest}})
	if len(list) != 2 || list[0].Name != ".hidden" || list[1].Name != "x" {
		t.Errorf("Find gives %+v", list)
	}
}

// TestPutSweeps: what a killed import left goes, but for what another one is
// busy with, and what may be the last copy.
func TestPutSweeps(t *testing.T) {
	dest := tree(t, map[string]string{
		".import-1/new/a": "", ".import-2/old/a": "", ".import-3/new/a": "", ".import-3/old/a": "", ".import-4/new/a": "", ".import-5/x": "", "other/.import-6/new": "",
		".import-7": "-> other", "other/new": "",
	})
	busy := lockDir(filepath.Join(dest, ".import-4"))
	defer busy.Close()
	if got := put(t, &Importer{Dest: dest}, tree(t, map[string]string{"SKILL.md": skill("demo", "d")})); got != "installed" {
		t.Fatalf("Put = %q", got)
	}
	want := ".import-3/new/a: \n.import-3/old/a: \n.import-4/new/a: \n.import-7 -> other\ndemo/SKILL.md: " + skill("demo", "d") + "\nother/.import-6/new: \nother/new: "
	if got := contents(t, dest); got != want {
		t.Errorf("there is\n%s\nwant\n%s", got, want)
	}
}

// TestPutTwice: of two with one name the second is not put over the first, even
// with force.
func TestPutTwice(t *testing.T) {
	im := &Importer{Dest: t.TempDir(), Force: true}
	for _, want := range []string{"installed", "skipped, another one of this name came before"} {
		if got := put(t, im, tree(t, map[string]string{"SKILL.md": skill("demo", want)})); got != want {
			t.Errorf("Put = %q, want %q", got, want)
		}
	}
}

// TestPutCancelled: nothing half done is left.
func TestPutCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dest := tree(t, map[string]string{"demo/SKILL.md": "old"})
	list, _ := FindTree(tree(t, map[string]string{"SKILL.md": skill("demo", "d")}), "x")
	if _, err := (&Importer{Dest: dest, Force: true}).Put(ctx, list[0]); err == nil {
		t.Error("Put gives no error")
	}
	if got := contents(t, dest); got != "demo/SKILL.md: old" {
		t.Errorf("there is %q", got)
	}
}
