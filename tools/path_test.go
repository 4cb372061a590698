package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"cluade/internal/policy"
)

func TestResolve(t *testing.T) {
	e := testEnv(t)
	put(t, e, "real/f", "x")
	put(t, e, "../out/f", "x")
	link(t, e, "real", "dir")
	link(t, e, "real/f", "file")
	link(t, e, "gone/away", "dangling")
	link(t, e, "../out", "leaves")
	link(t, e, e.Dir+"/dir/../dir", "twice")
	link(t, e, "loop2", "loop1")
	link(t, e, "loop1", "loop2")
	base := filepath.Dir(e.Dir)
	tests := []struct {
		name, abs, real string
		in              bool
	}{
		{"f", "W/f", "W/f", true},
		{"./a//b/../f", "W/a/f", "W/a/f", true},
		{"", "", "the path is empty", false},
		{"a\x00b", "", "NUL byte", false},
		{".", "W", "W", true},
		{"real/", "W/real", "W/real", true},
		{"dir/f", "W/dir/f", "W/real/f", true},
		{"dir/new/x", "W/dir/new/x", "W/real/new/x", true},
		{"file", "W/file", "W/real/f", true},
		{"dangling", "W/dangling", "W/gone/away", true},
		{"leaves/f", "W/leaves/f", "B/out/f", false},
		{"leaves/../f", "W/f", "W/f", true},
		{"twice/f", "W/twice/f", "W/real/f", true},
		{"loop1/f", "", "too many levels of symbolic links", false},
		{"../work-2/f", "B/work-2/f", "B/work-2/f", false},
		{"../../../../../../../../../../etc/x", "/etc/x", "/etc/x", false},
		{"/etc/../usr/x", "/usr/x", "/usr/x", false},
		{"~", "B/home", "B/home", false},
		{"~/x", "B/home/x", "B/home/x", false},
		{"~x", "W/~x", "W/~x", true},
		{"a/~/x", "W/a/~/x", "W/a/~/x", true},
	}
	place := strings.NewReplacer("W", e.Dir, "B", base)
	for _, tt := range tests {
		p, err := e.resolve(tt.name)
		if tt.abs == "" {
			if err == nil || !strings.Contains(err.Error(), tt.real) {
				t.Errorf("resolve(%q) = %v, %v, want an error with %q", tt.name, p, err, tt.real)
			}
			continue
		}
		if err != nil || p.Abs != place.Replace(tt.abs) || p.Real != place.Replace(tt.real) || p.InProject != tt.in {
			t.Errorf("resolve(%q) = %+v, %v, want %s, %s, %v", tt.name, p, err, tt.abs, tt.real, tt.in)
		}
	}
	e.Home = ""
	if _, err := e.resolve("~/x"); err == nil {
		t.Error("resolve(~/x) without a home gives a path")
	}
}

func TestContains(t *testing.T) {
	tests := []struct {
		dir, path string
		want      bool
	}{
		{"/a", "/a", true},
		{"/a", "/a/b", true},
		{"/a", "/ab", false},
		{"/a/b", "/a", false},
		{"/", "/a", true},
		{"/", "/", true},
		{"/a", "/", false},
	}
	for _, tt := range tests {
		if got := contains(tt.dir, tt.path); got != tt.want {
			t.Errorf("contains(%q, %q) = %v, want %v", tt.dir, tt.path, got, tt.want)
		}
	}
}

// TestGuardByName: the names in cluade's own directories, whoever's they are.
func TestGuardByName(t *testing.T) {
	e := testEnv(t)
	e.Session = e.State + "/sessions/now.jsonl"
	e.Private = []string{filepath.Dir(e.Dir) + "/ram/sessions", e.Home + "/.hist"}
	link(t, e, "../none/.cluade", "later")
	tests := []struct {
		names string
		want  policy.Guard
	}{
		{"~/.cluade/config.json ~/.cluade/config.json.bak ~/.cluade/trust.json ~/.cluade/approvals/x.json ~/.cluade/approvals", policy.NoRead},
		{"~/.cluade/history ~/.cluade/guard/a/b ~/.cluade/sessions/old.jsonl ~/.cluade/sessions .cluade/config.json", policy.NoRead},
		{"/etc/cluade/config.json sub/.cluade/approvals/x /srv/p/.cluade/trust.json ~/.cluade/CONFIG.JSON .Cluade/Config.json .cluade./config.json ~/.cluade/config.json.", policy.NoRead},
		{"../ram/sessions/x ../ram/sessions ~/.hist /overlay/upper/etc/cluade/config.json", policy.NoRead},
		{".cluade/skills/x/.cluade/config.json later/config.json", policy.NoRead},
		{"~/.cluade ~/.cluade/hooks.json ~/.cluade/AGENTS.md ~/.cluade/known_hosts ~/.cluade/new ~/.cluade/sessions/now.jsonl", policy.NoWrite},
		{".cluade .cluade/hooks.json .cluade/skills .cluade/commands /etc/cluade/x x/.cluade/y /proc/version /sys/power/state /proc/none/x", policy.NoWrite},
		{"~/.cluade/skills/x/SKILL.md .cluade/commands/c.md x/.cluade/skills/a /etc/cluade/skills/y", policy.Open},
		{".cluade-notes.md x.cluade/config.json config.json ~/approvals/x /etc/config/network /etc/cluade.conf ../ram/sessions2 ~/.history", policy.Open},
	}
	for _, tt := range tests {
		for _, name := range strings.Fields(tt.names) {
			if p, err := e.resolve(name); err != nil || p.Guard != tt.want {
				t.Errorf("resolve(%q).Guard = %v, %v, want %v", name, p.Guard, err, tt.want)
			}
		}
	}
}

// TestGuardByIdentity: no other name of a file helps, whether it is a link, a
// link to a directory on the way, a hard link or a place reached by ...
func TestGuardByIdentity(t *testing.T) {
	e := testEnv(t)
	e.Session = put(t, e, e.State+"/sessions/now.jsonl", "now")
	for _, f := range []string{"config.json", "hooks.json", "approvals/a.json", "sessions/old.jsonl", "skills/s/SKILL.md"} {
		put(t, e, e.State+"/"+f, "{}")
	}
	put(t, e, "../ram/history", "ls")
	put(t, e, "../elsewhere/sess/x.jsonl", "x")
	put(t, e, ".cluade/hooks.json", "{}")
	e.Private = []string{filepath.Dir(e.Dir) + "/ram"}
	link(t, e, e.State+"/config.json", "soft")
	link(t, e, e.State, "state")
	link(t, e, "state/approvals", "deep")
	link(t, e, e.Home, "house")
	for from, to := range map[string]string{
		e.State + "/config.json": "hard", e.State + "/hooks.json": "hooks", e.State + "/approvals/a.json": "grant",
		e.State + "/sessions/now.jsonl": "current", e.State + "/sessions/old.jsonl": "old", e.State + "/skills/s/SKILL.md": "skill",
		filepath.Dir(e.Dir) + "/ram/history": "hist", e.Dir + "/.cluade/hooks.json": "project-hooks",
	} {
		if err := os.Link(from, e.Dir+"/"+to); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(e.State+"/sessions", e.State+"/kept"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Dir(e.Dir)+"/elsewhere/sess", e.State+"/sessions"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Dir(e.Dir)+"/elsewhere/sess/x.jsonl", e.Dir+"/moved"); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		want policy.Guard
	}{
		{"soft", policy.NoRead},
		{"state/config.json", policy.NoRead},
		{"deep/a.json", policy.NoRead},
		{"deep/new.json", policy.NoRead},
		{"house/.cluade/trust.json", policy.NoRead},
		{"hard", policy.NoRead},
		{"grant", policy.NoRead},
		{"hist", policy.NoRead},
		{"moved", policy.NoRead},
		{"../elsewhere/sess/x.jsonl", policy.NoRead},
		{"hooks", policy.NoWrite},
		{"project-hooks", policy.NoWrite},
		{"state/new", policy.NoWrite},
		{"skill", policy.Open},
		{"state/skills/s/SKILL.md", policy.Open},
	}
	for _, tt := range tests {
		if p, err := e.resolve(tt.name); err != nil || p.Guard != tt.want {
			t.Errorf("resolve(%q) = %+v, %v, want guard %v", tt.name, p, err, tt.want)
		}
	}
	e.Session = e.State + "/kept/now.jsonl"
	if p, err := e.resolve("current"); err != nil || p.Guard != policy.NoWrite && p.Guard != policy.Open {
		t.Errorf("the current session by another name has guard %v, %v", p.Guard, err)
	}
}

// TestGuardOfSessionsElsewhere: where sessions are kept in a directory that
// others use too, they are hidden and nothing else is.
func TestGuardOfSessionsElsewhere(t *testing.T) {
	e := testEnv(t)
	const id = "20260529-201630-0001"
	old := put(t, e, "../tmp/"+id+".jsonl", "secret")
	e.Session = put(t, e, "../tmp/20260529-201630-0002.jsonl", "secret")
	put(t, e, "../tmp/notes.json", "secret")
	e.Saved = filepath.Dir(old)
	link(t, e, old, "soft")
	link(t, e, e.Saved, "dir")
	if err := os.Link(old, e.Dir+"/hard"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]policy.Guard{
		old: policy.NoRead, "soft": policy.NoRead, "hard": policy.NoRead, "dir/" + id + ".jsonl": policy.NoRead,
		"../tmp/20200101-000000-0009.json": policy.NoRead, e.Session: policy.NoWrite,
		"../tmp": policy.Open, "../tmp/notes.json": policy.Open, "../tmp/x/" + id + ".jsonl": policy.Open, id + ".jsonl": policy.Open,
	} {
		if p, err := e.resolve(name); err != nil || p.Guard != want {
			t.Errorf("resolve(%q) = %+v, %v, want guard %v", name, p, err, want)
		}
	}
	want(t, e, "glob", args{"pattern": "../tmp/*"}, "../tmp/20260529-201630-0002.jsonl\n../tmp/notes.json")
	want(t, e, "grep", args{"pattern": "secret", "path": "../tmp"}, "../tmp/20260529-201630-0002.jsonl:1:secret\n../tmp/notes.json:1:secret")
	if err := os.Mkdir(e.Dir+"/mount", 0o755); err != nil {
		t.Fatal(err)
	}
	bind(t, e.Saved, e.Dir+"/mount")
	want(t, e, "grep", args{"pattern": "secret", "path": "mount"}, "mount/20260529-201630-0002.jsonl:1:secret\nmount/notes.json:1:secret")
}

// TestGuardOfTheSessionInUse: a script keeps it in the project. To replace it
// would lose what is said from then on.
func TestGuardOfTheSessionInUse(t *testing.T) {
	e := testEnv(t)
	e.Session = put(t, e, "talk.jsonl", "said")
	put(t, e, "other.jsonl", "said")
	link(t, e, "talk.jsonl", "soft")
	if err := os.Link(e.Session, e.Dir+"/hard"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]policy.Guard{
		"talk.jsonl": policy.NoWrite, "soft": policy.NoWrite, "hard": policy.NoWrite, "other.jsonl": policy.Open,
	} {
		if p, err := e.resolve(name); err != nil || p.Guard != want {
			t.Errorf("resolve(%q).Guard = %v, %v, want %v", name, p.Guard, err, want)
		}
	}
	want(t, e, "read", args{"filePath": "talk.jsonl"}, "1: said")
}

// TestGuardBindMount: a directory of cluade's own, or a kernel file system,
// mounted in another place.
func TestGuardBindMount(t *testing.T) {
	e := testEnv(t)
	put(t, e, e.State+"/config.json", "{}")
	put(t, e, e.State+"/approvals/a.json", "{}")
	for from, to := range map[string]string{e.State: "m1", e.State + "/approvals": "m2", "/proc": "m3"} {
		if err := os.Mkdir(e.Dir+"/"+to, 0o755); err != nil {
			t.Fatal(err)
		}
		bind(t, from, e.Dir+"/"+to)
	}
	for name, want := range map[string]policy.Guard{
		"m1/config.json": policy.NoRead, "m1/approvals/a.json": policy.NoRead, "m1/new": policy.NoWrite, "m1/skills/x": policy.Open,
		"m2/a.json": policy.NoRead, "m2/b.json": policy.NoRead, "m3/version": policy.NoWrite, "m3/new/x": policy.NoWrite,
	} {
		if p, err := e.resolve(name); err != nil || p.Guard != want {
			t.Errorf("resolve(%q) = %+v, %v, want guard %v", name, p, err, want)
		}
	}
	want(t, e, "grep", args{"pattern": ".", "path": "m1"}, "(no matches)")
	want(t, e, "grep", args{"pattern": ".", "path": "m2"}, "(no matches)")
	put(t, e, "links/f", "{}")
	link(t, e, "../m2/a.json", "links/into")
	want(t, e, "grep", args{"pattern": "{}", "path": "links"}, "links/f:1:{}")
}

func TestShown(t *testing.T) {
	tests := []struct{ path, want string }{
		{"a b/ü", "a b/ü"},
		{"a\nb", `"a\nb"`},
		{"a\x1b[31m", `"a\x1b[31m"`},
		{"caf\xe9", `"caf\xe9"`},
	}
	for _, tt := range tests {
		if got := shown(tt.path); got != tt.want {
			t.Errorf("shown(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestCutText(t *testing.T) {
	tests := []struct {
		text string
		n    int
		want string
	}{
		{"abc", 5, "abc"},
		{"abc", 3, "abc"},
		{"abc", 2, "ab"},
		{"aé", 2, "a"},
		{"日本", 5, "日"},
		{"\U0001f600", 3, ""},
		{"a\x80\x80\x80\x80\x80b", 5, "a"},
		{"\x80\x80\x80\x80\x80\x80", 5, "\x80"},
		{"é", 0, ""},
	}
	for _, tt := range tests {
		if got := cutText(tt.text, tt.n); got != tt.want {
			t.Errorf("cutText(%q, %d) = %q, want %q", tt.text, tt.n, got, tt.want)
		}
	}
}

// deadMount mounts a file system whose server never answers over a directory,
// if this process may.
func deadMount(t *testing.T, dir string) {
	t.Helper()
	server, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		missing(t, fmt.Sprintf("cannot serve a file system: %v", err))
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", server.Fd())
	if err := syscall.Mount("dead", dir, "fuse", 0, options); err != nil {
		server.Close()
		missing(t, fmt.Sprintf("cannot mount: %v", err))
	}
	t.Cleanup(func() {
		server.Close() // lets go whoever waits
		syscall.Unmount(dir, syscall.MNT_DETACH)
	})
}

// TestNoAnswer: the server of a network mount went away.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	e := testEnv(t)
	if err := os.Mkdir(e.Dir+"/nas", 0o755); err != nil {
		t.Fatal(err)
	}
	deadMount(t, e.Dir+"/nas")
	link(t, e, "nas/dir", "short")
	var wg sync.WaitGroup
	for _, tt := range []struct {
		tool string
		a    args
	}{
		{"read", args{"filePath": "nas/f"}},
		{"write", args{"filePath": "short/f", "content": "x"}},
		{"edit", args{"filePath": "nas", "oldString": "x", "newString": "y"}},
		{"glob", args{"pattern": "nas/*"}},
		{"glob", args{"pattern": "*", "path": "short"}},
		{"grep", args{"pattern": "x", "path": "nas"}},
		{"bash", args{"command": "true", "workdir": "nas"}},
	} {
		wg.Go(func() {
			own := *e
			if _, err := use(t, &own, tt.tool, tt.a); err == nil || !strings.Contains(err.Error(), "does not answer") {
				t.Errorf("%s %v: %v, want that the file system does not answer", tt.tool, tt.a, err)
			}
		})
	}
	wg.Wait()
}
