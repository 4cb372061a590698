package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"cluade/internal/policy"
)

// tree makes empty files (names with a slash at the end: directories).
func tree(t *testing.T, e *Env, names ...string) {
	t.Helper()
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(e.Dir+"/"+name, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		put(t, e, name, "needle\n")
	}
}

func TestGlob(t *testing.T) {
	e := testEnv(t)
	tree(t, e, "a.go", "a-b", "b.go", "c.txt", ".dot", "src/x.go", "src/.env", "src/deep/y.go", "src/deep/er/z.go", "src/y.txt",
		".github/workflows/ci.yml", ".config/x.json", "empty/", "weird[1].c", "star*.c", "new\nline.c",
		".git/config", "sub/.git/HEAD", "node_modules/p/index.js", "src/node_modules/q/a.go", ".cluade/sessions/s.jsonl", ".cluade/skills/k/SKILL.md",
		"dev/null.txt", "proc/x.txt")
	put(t, e, e.Home+"/notes.txt", "x")
	home, all := e.Home, ""
	for _, s := range []string{".cluade", ".config", ".dot", ".git", ".github", "a-b", "a.go", "b.go", "c.txt", "dev", "empty", `"new\nline.c"`, "node_modules", "proc", "src", "star*.c", "sub", "weird[1].c"} {
		all += s + "\n"
	}
	lines := func(s ...string) string { return strings.Join(s, "\n") }
	tests := []struct{ pattern, path, want string }{
		{"*.go", "", lines("a.go", "b.go")},
		{"./*.go", "", lines("./a.go", "./b.go")},
		{"*.go", ".", lines("a.go", "b.go")},
		{"*.go", "src", "src/x.go"},
		{"*.go", "src/", "src/x.go"},
		{"*.go", e.Dir + "/src", e.Dir + "/src/x.go"},
		{e.Dir + "/*.go", "", lines(e.Dir+"/a.go", e.Dir+"/b.go")},
		{e.Dir + "/*.go", "src", lines(e.Dir+"/a.go", e.Dir+"/b.go")},
		{"~/*.txt", "", "~/notes.txt"},
		{"*.txt", "~", "~/notes.txt"},
		{"../home/*.txt", "", "../home/notes.txt"},
		{"*", "", strings.TrimSuffix(all, "\n")},
		{"*/", "", lines(".cluade/", ".config/", ".git/", ".github/", "dev/", "empty/", "node_modules/", "proc/", "src/", "sub/")},
		{"?.go", "", lines("a.go", "b.go")},
		{"[b-z].go", "", "b.go"},
		{"{a,c}.{go,txt}", "", lines("a.go", "c.txt")},
		{"{src/deep,.config}/*", "", lines(".config/x.json", "src/deep/er", "src/deep/y.go")},
		{"{*.go,a.*}", "", lines("a.go", "b.go")},
		{"a.go", "", "a.go"},
		{"none.go", "", "(no matches)"},
		{"none/*", "", "(no matches)"},
		{"a.go/*", "", "(no matches)"},
		{"empty/*", "", "(no matches)"},
		{"weird\\[1].c", "", "weird[1].c"},
		{"weird[[]1].c", "", "weird[1].c"},
		{"star\\*.c", "", "star*.c"},

		// ** is any number of directories, none included, and all parts count.
		{"**/*.go", "", lines("a.go", "b.go", "src/deep/er/z.go", "src/deep/y.go", "src/x.go")},
		{"src/**/*.go", "", lines("src/deep/er/z.go", "src/deep/y.go", "src/x.go")},
		{"src/**/er/*.go", "", "src/deep/er/z.go"},
		{"src/**/deep/*.go", "", "src/deep/y.go"},
		{"**/deep/**", "", lines("src/deep/er", "src/deep/er/z.go", "src/deep/y.go")},
		{"**/**/**/z.go", "", "src/deep/er/z.go"},
		{"**/deep/**/z.go", "", "src/deep/er/z.go"},
		{"**/nothing/*.go", "", "(no matches)"},
		{"src/*/*.go", "", "src/deep/y.go"},
		{"src/**", "", lines("src/.env", "src/deep", "src/deep/er", "src/deep/er/z.go", "src/deep/y.go", "src/node_modules", "src/x.go", "src/y.txt")},

		// Dot names are names.
		{".github/**/*.yml", "", ".github/workflows/ci.yml"},
		{"**/*.yml", "", ".github/workflows/ci.yml"},
		{".config/*.json", "", ".config/x.json"},
		{"src/*", "", lines("src/.env", "src/deep", "src/node_modules", "src/x.go", "src/y.txt")},

		// What is passed by is found when it is named.
		{"**/config", "", "(no matches)"},
		{".git/*", "", ".git/config"},
		{"**/.git/*", "", lines(".git/config", "sub/.git/HEAD")},
		{"*/.git/*", "", "sub/.git/HEAD"},
		{"**/*.js", "", "(no matches)"},
		{"node_modules/**/*.js", "", "node_modules/p/index.js"},
		{"**/q/a.go", "", "(no matches)"},
		{"{.git,src}/c*", "", ".git/config"},
		{"**/null.txt", "", "dev/null.txt"}, // only the device directory at the root is special
		{".cluade/**", "", lines(".cluade/skills", ".cluade/skills/k", ".cluade/skills/k/SKILL.md")},
		{"**/*.jsonl", "", "(no matches)"},
	}
	for _, tt := range tests {
		a := args{"pattern": tt.pattern}
		if tt.path != "" {
			a["path"] = tt.path
		}
		want(t, e, "glob", a, strings.ReplaceAll(tt.want, "HOME", home))
	}
	wantError(t, e, "glob", args{"pattern": ""}, "the pattern is empty")
	wantError(t, e, "glob", args{"pattern": "*", "path": "none"}, "no such file: none")
	wantError(t, e, "glob", args{"pattern": "*", "path": "a.go"}, "path a.go is not a directory")
	wantError(t, e, "glob", args{"pattern": strings.Repeat("{a,b}", 20)}, "more than 200 patterns")
}

func TestGlobLinks(t *testing.T) {
	e := testEnv(t)
	tree(t, e, "real/f.txt", "real/sub/g.txt", "plain.txt")
	link(t, e, "real", "l")
	link(t, e, "..", "real/up")
	link(t, e, "gone", "dead.txt")
	link(t, e, "plain.txt", "file-link.txt")
	link(t, e, "/proc", "kernel")
	if err := syscall.Mkfifo(e.Dir+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	lines := func(s ...string) string { return strings.Join(s, "\n") }
	for _, tt := range []struct{ pattern, want string }{
		{"l/*.txt", "l/f.txt"},
		{"l/**/*.txt", lines("l/f.txt", "l/sub/g.txt")},
		{"**/*.txt", lines("dead.txt", "file-link.txt", "plain.txt", "real/f.txt", "real/sub/g.txt")},
		{"*/*.txt", "real/f.txt"},
		{"**/up/plain.txt", "real/up/plain.txt"},
		{"**/up/**/g.txt", "real/up/real/sub/g.txt"},
		{"*/", lines("kernel/", "l/", "real/")},
		{"l/up/l/up/*.txt", lines("l/up/l/up/dead.txt", "l/up/l/up/file-link.txt", "l/up/l/up/plain.txt")},
		{"kernel/version", "kernel/version"},
		{"pipe/*", "(no matches)"}, // and nobody waits for a writer
	} {
		want(t, e, "glob", args{"pattern": tt.pattern}, tt.want)
	}
}

func TestGlobLimit(t *testing.T) {
	e := testEnv(t)
	var names []string
	for i := range 101 {
		names = append(names, fmt.Sprintf("f%03d", i))
	}
	tree(t, e, names[:100]...)
	want(t, e, "glob", args{"pattern": "f*"}, strings.Join(names[:100], "\n"))
	tree(t, e, names[100])
	want(t, e, "glob", args{"pattern": "f*"}, strings.Join(names[:100], "\n")+"\n[100-result limit reached]")
	want(t, e, "glob", args{"pattern": "{f1*,f0*}"}, strings.Join(names[:100], "\n")+"\n[100-result limit reached]")
	e.Keep = 4096
	long := strings.Repeat("x", 200)
	for i := range 50 {
		tree(t, e, fmt.Sprintf("%s/%02d", long, i))
	}
	text, err := use(t, e, "glob", args{"pattern": long + "/*"})
	if err != nil || len(text) > e.Keep || !strings.HasSuffix(text, "\n[the result is full; narrow the pattern or path]") {
		t.Errorf("glob = %d bytes %.300q, %v", len(text), text, err)
	}
}

// TestWalkBudgets: a walk that ends early says so, and does not say that
// nothing matches.
func TestWalkBudgets(t *testing.T) {
	e := testEnv(t)
	tree(t, e, "a/b/c", "d")
	text := func(spoil func(*walker)) string {
		out := newListing(4096, 10)
		w := newWalker(context.Background(), e, &policy.Subject{}, func(f found) bool { return out.add(f.show) })
		spoil(w)
		w.walk(place{"", e.Dir, e.Dir}, everything())
		return out.text("", w.stopped == "", w.notes())
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, tt := range []struct {
		name  string
		spoil func(*walker)
		want  string
	}{
		{"none", func(*walker) {}, "a\na/b\na/b/c\nd"},
		{"entries", func(w *walker) { w.entries = maxEntries - 1 }, "[stopped after 200000 entries; there may be more, narrow the pattern or path]"},
		{"cancel", func(w *walker) { w.ctx = cancelled }, "[cancelled; there may be more, narrow the pattern or path]"},
		{"time", func(w *walker) { w.until = time.Now() }, "[stopped after 10s and 0 entries; there may be more, narrow the pattern or path]"},
	} {
		if got := text(tt.spoil); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	for tool, a := range map[string]string{"glob": `{"pattern":"**"}`, "grep": `{"pattern":"x"}`} {
		c, err := Builtin.Parse(e, tool, a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Run(cancelled); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled %s = %v", tool, err)
		}
	}
}

func TestWalkNotAllowed(t *testing.T) {
	if !asNobody(t) {
		return
	}
	e := testEnv(t)
	tree(t, e, "ok.txt", "locked/x", "some/way/in/f", "secret.txt")
	os.Chmod(e.Dir+"/locked", 0)
	os.Chmod(e.Dir+"/some", 0o111)
	os.Chmod(e.Dir+"/secret.txt", 0)
	t.Cleanup(func() { os.Chmod(e.Dir+"/locked", 0o755); os.Chmod(e.Dir+"/some", 0o755) })
	want(t, e, "grep", args{"pattern": "needle"}, "ok.txt:1:needle\n[3 paths could not be read: locked, secret.txt, some]")
	want(t, e, "grep", args{"pattern": "absent"}, "(no matches)\n[3 paths could not be read: locked, secret.txt, some]")
	want(t, e, "glob", args{"pattern": "**/*.txt"}, "ok.txt\nsecret.txt\n[2 paths could not be read: locked, some]")
	want(t, e, "glob", args{"pattern": "some/way/in/*"}, "some/way/in/f")
	want(t, e, "glob", args{"pattern": "locked/*"}, "(no matches)\n[1 path could not be read: locked]")
}

// TestGlobSubject: what is judged is the directory that the pattern begins in,
// for each alternative, or the one file it means.
func TestGlobSubject(t *testing.T) {
	e := testEnv(t)
	for pattern, want := range map[string]string{
		"*.go":                    e.Dir,
		"/etc/*":                  "/etc",
		"/etc/*/x":                "/etc",
		"/etc/passwd":             "/etc/passwd",
		"{/etc,~}/x*":             "/etc " + e.Home,
		"~/.cluade/approvals/*":   e.State + "/approvals",
		"~/.cluade/config.json":   e.State + "/config.json",
		"../home/.cluade/config*": e.State,
	} {
		c, err := Builtin.Parse(e, "glob", fmt.Sprintf(`{"pattern":%q}`, pattern))
		if err != nil {
			t.Errorf("Parse(%q) = %v", pattern, err)
			continue
		}
		var got []string
		for _, p := range c.Subject.Paths {
			got = append(got, p.Real)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("subject of %q = %q, want %q", pattern, got, want)
		}
	}
}

// TestOwnStateHidden: glob and grep pass cluade's secrets by, whatever leads to
// them.
func TestOwnStateHidden(t *testing.T) {
	e := testEnv(t)
	for _, f := range []string{"config.json", "trust.json", "history", "approvals/a", "guard/g", "sessions/old.jsonl", "sessions/now.jsonl", "hooks.json", "skills/s/SKILL.md"} {
		put(t, e, e.State+"/"+f, "needle")
	}
	e.Session = e.State + "/sessions/now.jsonl"
	os.Link(e.State+"/config.json", e.Home+"/hard")
	os.Link(e.State+"/approvals/a", e.Home+"/hard2")
	os.Symlink(e.State+"/trust.json", e.Home+"/soft")
	os.Symlink(e.State, e.Home+"/dir")
	want(t, e, "glob", args{"pattern": "~/.cluade/**"}, "~/.cluade/hooks.json\n~/.cluade/skills\n~/.cluade/skills/s\n~/.cluade/skills/s/SKILL.md")
	want(t, e, "glob", args{"pattern": "~/dir/*"}, "~/dir/hooks.json\n~/dir/skills")
	want(t, e, "glob", args{"pattern": "~/*/config.json"}, "(no matches)")
	hits := "~/.cluade/hooks.json:1:needle\n~/.cluade/skills/s/SKILL.md:1:needle"
	want(t, e, "grep", args{"pattern": "needle", "path": "~"}, hits)
	want(t, e, "grep", args{"pattern": "needle", "path": "~/dir"}, strings.ReplaceAll(hits, ".cluade", "dir"))
	want(t, e, "grep", args{"pattern": "needle", "path": "~/.cluade/sessions/now.jsonl"}, "~/.cluade/sessions/now.jsonl:1:needle")
	want(t, e, "read", args{"filePath": "~/.cluade/sessions/now.jsonl"}, "1: needle")
}

// TestGlobLinkToHidden: a link to what a rule hides is not listed either.
func TestGlobLinkToHidden(t *testing.T) {
	e := testEnv(t)
	tree(t, e, "secret", "open", "dir/x")
	link(t, e, "secret", "l")
	link(t, e, "open", "o")
	link(t, e, "dir", "d")
	link(t, e, "none", "n")
	e.Hidden = func(_ policy.Subject, p policy.Path) bool {
		return p.Real == e.Dir+"/secret" || strings.HasPrefix(p.Real+"/", e.Dir+"/dir/")
	}
	want(t, e, "glob", args{"pattern": "*"}, "n\no\nopen")
}
