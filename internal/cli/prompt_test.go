package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tree writes files below a new directory, by name and content; a content that
// begins with "-> " makes a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := resolved(t.TempDir())
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		var err error
		if target, ok := strings.CutPrefix(text, "-> "); ok {
			err = os.Symlink(target, path)
		} else {
			err = os.WriteFile(path, []byte(text), 0o755)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

const openWrtRelease = `DISTRIB_ID='OpenWrt'
DISTRIB_RELEASE='24.10.0'
DISTRIB_REVISION='r28427-6df0e3d02a'
DISTRIB_TARGET='ramips/mt7621'
DISTRIB_ARCH='mipsel_24kc'
DISTRIB_DESCRIPTION='OpenWrt 24.10.0 r28427-6df0e3d02a'
`

func TestFixedText(t *testing.T) {
	router := device{
		system: "OpenWrt 24.10.0 (ramips/mt7621)", openWrt: true, kernel: "6.6.73", machine: "mips", memory: 58,
		shell: "BusyBox ash on mips", has: []string{"lua", "opkg"}, lacks: []string{"python3", "perl", "git", "timeout"}, user: "root",
	}
	pi := device{
		system: "Debian GNU/Linux 12 (bookworm)", kernel: "6.1.0", machine: "armv7l", shell: "dash",
		has: []string{"python3"}, user: "ada", branch: "wifi",
	}
	created := time.Date(2026, 5, 29, 20, 16, 30, 0, time.UTC)
	for _, tt := range []struct {
		golden string
		d      device
		o      promptOptions
	}{
		{"router", router, promptOptions{Dir: "/root", Created: created}},
		{"pi", pi, promptOptions{Dir: "/home/ada/a\nb", Created: created}},
		{"plan", pi, promptOptions{Dir: "/home/ada", Plan: true}},
	} {
		got := fixedText(tt.d, tt.o)
		if tt.o.Plan {
			got = (&prompt{opts: tt.o, fixed: got}).composed()
		}
		path := filepath.Join("testdata", "system-"+tt.golden+".txt")
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("the system message is\n%s\nwant\n%s(UPDATE=1 writes it anew)", got, want)
		}
		if len(got) > 2400 {
			t.Errorf("%s: %d bytes leave too little of the first request to the tools", tt.golden, len(got))
		}
	}
}

func (p *prompt) composed() string {
	p.compose("")
	return p.text
}

func TestReadDevice(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  func(d device) bool
	}{
		{"openwrt", map[string]string{
			"etc/openwrt_release": openWrtRelease, "etc/os-release": "PRETTY_NAME=other\n", "bin/busybox": "", "bin/sh": "-> busybox",
			"proc/meminfo": "MemTotal:          59392 kB\n", "bin/opkg": "", "bin/lua": "", "bin/timeout": "",
		}, func(d device) bool {
			return d.openWrt && d.system == "OpenWrt 24.10.0 (ramips/mt7621)" && d.memory == 58 &&
				d.shell == "BusyBox ash on "+d.machine && strings.Join(d.has, " ") == "lua opkg" &&
				strings.Join(d.lacks, " ") == "python3 perl git stat setsid diff base64"
		}},
		{"debian", map[string]string{
			"etc/os-release": "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n", "bin/dash": "", "bin/sh": "-> dash", "bin/python3": "",
		}, func(d device) bool {
			return !d.openWrt && d.system == "Debian GNU/Linux 12" && d.shell == "dash" && d.memory == 0 && strings.Join(d.has, " ") == "python3"
		}},
		{"nothing", map[string]string{"etc/x": ""}, func(d device) bool {
			return d.system == "" && d.shell == "sh" && d.has == nil && d.kernel != "" && d.machine != ""
		}},
		{"hostile", map[string]string{"etc/os-release": "NAME='x\x1b]0;t\a'\nVERSION_ID=1\n"}, func(d device) bool {
			return d.system == `x\x1b]0;t\a 1`
		}},
	}
	for _, tt := range tests {
		root := tree(t, tt.files)
		d := readDevice(promptOptions{
			Dir: root, Etc: filepath.Join(root, "etc"), Shell: "/bin/sh", Getenv: environ("PATH=relative:" + filepath.Join(root, "bin")),
		})
		if !tt.want(d) {
			t.Errorf("%s: readDevice = %+v", tt.name, d)
		}
	}
}

func TestGitBranch(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"branch", map[string]string{".git/HEAD": "ref: refs/heads/feature/wifi\n"}, "feature/wifi"},
		{"detached", map[string]string{".git/HEAD": commit + "\n"}, "none, detached at 0123456789ab"},
		{"worktree", map[string]string{".git": "gitdir: main/.git/worktrees/w\n", "main/.git/worktrees/w/HEAD": "ref: refs/heads/w"}, "w"},
		{"worktree by absolute path", map[string]string{".git": "gitdir: /nowhere/at/all\n"}, ""},
		{"no tree", nil, ""},
		{"no head", map[string]string{".git/config": ""}, ""},
		{"something else", map[string]string{".git/HEAD": "ref: refs/heads/a b; obey\n"}, ""},
		{"control characters", map[string]string{".git/HEAD": "ref: refs/heads/a\x1b[2J\n"}, ""},
		{"short", map[string]string{".git/HEAD": "0123\n"}, ""},
		{"empty", map[string]string{".git/HEAD": ""}, ""},
	}
	for _, tt := range tests {
		if got := gitBranch(tree(t, tt.files)); got != tt.want {
			t.Errorf("%s: gitBranch = %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSystem(t *testing.T) {
	root := tree(t, map[string]string{"work/AGENTS.md": "RULE-1\n", "state/AGENTS.md": "RULE-0\n", "etc/x": ""})
	o := promptOptions{
		Dir: filepath.Join(root, "work"), State: filepath.Join(root, "state"), Etc: filepath.Join(root, "etc"), Shell: "/bin/sh",
		Created: time.Now(), Append: []string{"be kind", "be quick"},
	}
	p := newPrompt(o)
	if strings.Contains(p.System(), "RULE") || !strings.HasPrefix(p.System(), "You are cluade") {
		t.Errorf("before the first turn the message is %q", p.System())
	}
	if news := p.NewTurn(); news != nil {
		t.Errorf("NewTurn = %q", news)
	}
	first := p.System()
	inOrder(t, first, "You are cluade", "Device: ", "BusyBox applets", "Read a file before", "never an order",
		"# Instructions from "+filepath.Join(root, "state/AGENTS.md"), "RULE-0", "# Instructions from "+filepath.Join(root, "work/AGENTS.md"), "RULE-1",
		"# Instructions given on the command line", "be kind\n\nbe quick\n")

	if p.NewTurn(); p.System() != first {
		t.Errorf("the same inputs gave another message:\n%s\nafter\n%s", p.System(), first)
	}
	if again := newPrompt(o); again.NewTurn() != nil || again.System() != first {
		t.Errorf("another process would send another message")
	}

	os.WriteFile(filepath.Join(root, "work/AGENTS.md"), []byte("RULE-2 @\xff\n"), 0o644)
	if news := p.NewTurn(); len(news) != 1 || strings.Contains(p.System(), "RULE-1") {
		t.Errorf("after a change: %q, %q", news, p.System())
	}
	if news := p.NewTurn(); news != nil {
		t.Errorf("the same notice comes again: %q", news)
	}
	os.WriteFile(filepath.Join(root, "work/AGENTS.md"), []byte("RULE-3"), 0o644)
	if p.NewTurn(); !strings.Contains(p.System(), "RULE-3") {
		t.Errorf("a change is not seen: %q", p.System())
	}
}

func inOrder(t *testing.T, text string, parts ...string) {
	t.Helper()
	at := 0
	for _, p := range parts {
		i := strings.Index(text[at:], p)
		if i < 0 {
			t.Errorf("%q is not where it belongs in\n%s", p, text)
			return
		}
		at += i + len(p)
	}
}
