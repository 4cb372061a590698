package dangercheck

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// row is a labelled command.
type row struct {
	flag  bool
	class string
	cmd   string
}

// readRows reads the labelled commands of testdata.
func readRows(t testing.TB) []row {
	t.Helper()
	data, err := os.ReadFile("testdata/rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	var rows []row
	var head []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if h, ok := strings.CutPrefix(line, "## "); ok {
			head = strings.Fields(h)
			continue
		}
		if head != nil && line != "" {
			rows = append(rows, row{head[0] == "flag", head[1], decodeLine(line)})
		}
	}
	if len(rows) < 3000 {
		t.Fatalf("only %d rows", len(rows))
	}
	return rows
}

func classes(cmd string, o Options) []string {
	var out []string
	for _, f := range Check(cmd, o) {
		out = append(out, f.Class)
	}
	return out
}

func TestCheckRows(t *testing.T) {
	for _, r := range readRows(t) {
		got := classes(r.cmd, Options{Lockout: true})
		if r.flag && !slices.Contains(got, r.class) || !r.flag && got != nil {
			t.Errorf("Check(%q) = %v, want %v %s", r.cmd, got, r.flag, r.class)
		}
	}
}

func TestCheckHarmless(t *testing.T) {
	data, err := os.ReadFile("testdata/harmless.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		cmd := decodeLine(strings.TrimSuffix(line, "\n"))
		if got := classes(cmd, Options{Lockout: true}); got != nil {
			t.Errorf("Check(%q) = %v, want none", cmd, got)
		}
	}
}

func TestCheckLabelled(t *testing.T) {
	const file = "../../shared/cases/danger.tsv"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("%s is not here", file)
	}
	flags, hits := 0, 0
	for line := range strings.Lines(string(data)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		got := classes(decodeLine(c[2]), Options{Lockout: true})
		switch {
		case c[0] == "pass" && got != nil:
			t.Errorf("Check(%q) = %v, want none", c[2], got)
		case c[0] == "flag":
			flags++
			if got != nil {
				hits++
			} else {
				t.Logf("missed %q", c[2])
			}
		}
	}
	if flags == 0 || hits*100 < flags*97 {
		t.Errorf("%d of %d found, want 97%%", hits, flags)
	}
}

func TestCheckBenign(t *testing.T) {
	const file = "../../shared/cases/benign.txt"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Skipf("%s is not here", file)
	}
	flagged, lines := 0, 0
	for line := range strings.Lines(string(data)) {
		lines++
		if got := classes(decodeLine(strings.TrimSuffix(line, "\n")), Options{Lockout: true}); got != nil {
			flagged++
			t.Logf("Check(%q) = %v", line, got)
		}
	}
	if lines == 0 || flagged > 1 {
		t.Errorf("%d of %d harmless lines flagged, want at most 1", flagged, lines)
	}
}

// TestCheckWrapped hides each plain flagged row behind every structure, where
// it stays flagged, and mentions it, where it passes.
func TestCheckWrapped(t *testing.T) {
	wraps := []string{
		"sudo X", "sudo -n -u root X", "env A=1 X", "nice -n 10 X", "nohup X", "timeout 60 X", "timeout -s KILL -k 5 1m X", "command X", "busybox X",
		"stdbuf -oL X", "setsid X", "chrt -b 0 X", "taskset -c 0 X", "flock /tmp/l X", "flock -n /tmp/l -c 'X'", "systemd-run --unit=u X", "watch -n 9 X",
		"sh -c 'X'", "bash -lc \"X\"", "sudo sh -c 'X'", "sh -c \"sh -c 'X'\"", "su -c 'X'", "eval 'X'", "eval X", "trap 'X' EXIT", "exec X", "builtin command X",
		"(X)", "{ X; }", "if true; then X; fi", "if ! X; then :; fi", "for i in 1 2; do X; done", "while true; do X; done", "until X; do :; done",
		"case a in a) X;; esac", "f() { X; }; f", "f() { \"$@\"; }; f X", "true; X", "true && X", "false || X", "X &", "X || true", "! X", "time X", "time { X; }", "X ; echo end",
		"a=$(X)", "echo \"$(X)\"", "echo `X`", "cat <(X)", "true\nX", "true # it's\nX", "echo 'a;b' \"c|d\"; X", "cat <<E\n$(X)\nE", "cat <<'E'\nit's\nE\nX",
		"ssh root@host 'X'", "ssh -p 22 root@host X", "sh <<'E'\nX\nE", "sh <<< 'X'", "cat <<E | sh\nX\nE", "echo 'X' | sh", "printf '%s\\n' 'X' | sudo bash",
		"C='X'; $C", "C='X'; eval \"$C\"", "C='X'; sh -c \"$C\"", "xargs -I{} sh -c 'X' < f", "find /tmp -exec sh -c 'X' \\;", "cluade guard -- X", "  X  ", "X # done", ">/dev/null X", "A=1 X",
	}
	mentions := []string{"echo X", "echo 'X'", "# X", "true # X", "grep -n 'X' f", "cat > f <<'E'\nX\nE", "git commit -m 'X'", "logger \"X\"", "printf '%s' 'X'", "x='X'",
		"echo 'X' > f", "echo 'X' | tee f", "ssh host 'echo X'", "for i in 'X'; do echo \"$i\"; done", "[ \"$a\" = 'X' ]", "case $a in 'X') ;; esac", "alias x='X'", "sh -c 'echo \"$1\"' _ 'X'"}
	n := 0
	for _, r := range readRows(t) {
		if !r.flag || strings.ContainsAny(r.cmd, "'\"\\\n;&|<>(){}=`$#!*~") || strings.HasPrefix(r.cmd, "time ") {
			continue
		}
		bare := strings.HasSuffix(r.cmd, " .") || strings.HasSuffix(r.cmd, " ..") // told apart by where they run
		for _, w := range wraps {
			n++
			cmd := strings.Replace(w, "X", r.cmd, 1)
			if got := classes(cmd, Options{Lockout: true}); !bare && !slices.Contains(got, r.class) {
				t.Errorf("Check(%q) = %v, want %v", cmd, got, r.class)
			}
		}
		for _, w := range mentions {
			n++
			cmd := strings.Replace(w, "X", r.cmd, 1)
			if got := classes(cmd, Options{Lockout: true}); got != nil {
				t.Errorf("Check(%q) = %v, want none", cmd, got)
			}
		}
	}
	if n < 30000 {
		t.Errorf("only %d combinations were tried", n)
	}
}

func TestCheckOptions(t *testing.T) {
	tests := []struct {
		cmd  string
		o    Options
		want string
	}{
		{"rm -rf config", Options{Dir: "/etc"}, RmRoot},
		{"rm -rf ../etc", Options{Dir: "/usr"}, RmRoot},
		{"rm -rf config", Options{Dir: "/root/project"}, ""},
		{"rm -rf .", Options{Dir: "/etc"}, RmRoot},
		{"rm -rf *", Options{Dir: "/etc"}, RmRoot},
		{"rm -rf *", Options{Dir: "/root/project"}, RmRoot},
		{"rm -rf *", Options{Dir: "/tmp/x"}, ""},
		{"cd build && rm -rf *", Options{Dir: "/root/project"}, ""},
		{"cd .. && rm -rf *", Options{Dir: "/usr/lib"}, RmRoot},
		{"cd /tmp/x && rm -rf config", Options{Dir: "/etc"}, ""},
		{"find . -delete", Options{Dir: "/etc"}, RmRoot},
		{"find . -delete", Options{Dir: "/root/project"}, ""},
		{"chmod -R 600 .", Options{Dir: "/etc", Lockout: true}, Lockout},
		{"cat x > sda", Options{Dir: "/dev"}, Redirect},
		{"cat x > sda", Options{Dir: "/tmp"}, ""},
		{"rm -rf /data/home", Options{Home: "/data/home"}, RmRoot},
		{"rm -rf /data/home/*", Options{Home: "/data/home"}, RmRoot},
		{"rm -rf /data/home/x", Options{Home: "/data/home"}, ""},
		{"rm -rf /data/homes", Options{Home: "/data/home"}, ""},
		{"rm /data/home/.ssh/authorized_keys", Options{Home: "/data/home", Lockout: true}, Lockout},
		{"wifi down", Options{}, ""},
		{"wifi down", Options{Lockout: true}, Lockout},
		{"reboot", Options{Exempt: []string{Power}}, ""},
		{"reboot; rm -rf /", Options{Exempt: []string{Power}}, RmRoot},
		{"cp x /data/c/config.json", Options{State: "/data/c"}, OwnState},
		{"cp x config.json", Options{State: "/data/c", Dir: "/data/c"}, OwnState},
		{"cp x /data/cc/config.json", Options{State: "/data/c"}, ""},
		{"cp x $CLUADE_HOME/config.json", Options{State: "/data/c"}, OwnState},
		{"rm -r $CLUADE_HOME", Options{State: "/data/c"}, OwnState},
		{"cat .cluade/config.json", Options{Dir: "/root/p", Home: "/root"}, ""},
		{"cat .cluade/config.json", Options{Dir: "/root", Home: "/root"}, OwnState},
		{"cat config.json", Options{Dir: "/srv/me/.cluade", Home: "/srv/me"}, OwnState},
		{"cp config.json /data/c", Options{State: "/data/c"}, OwnState},
		{"tar xf /tmp/a.tar", Options{State: "/data/c", Dir: "/data/c"}, OwnState},
		{"tar xf /tmp/a.tar", Options{State: "/data/c", Dir: "/data/c/skills"}, ""},
		{"echo {} > .cluade/config.json", Options{Login: true}, OwnState},
		{"cd; echo {} > .cluade/config.json", Options{Login: true}, OwnState},
		{"cd p && echo {} > .cluade/config.json", Options{Login: true}, ""},
		{"cd $x && echo {} > .cluade/config.json", Options{Login: true}, ""},
		{"echo {} > .cluade/config.json", Options{}, ""},
		{"rm .ssh/authorized_keys", Options{Login: true, Lockout: true}, Lockout},
		{"rm .ssh/known_hosts", Options{Login: true, Lockout: true}, ""},
		{"rm -rf ../x build", Options{Login: true}, ""},
		{"echo x > /proc/self/cwd/.cluade/config.json", Options{Dir: "/root", Home: "/root"}, OwnState},
		{"cp e /proc/$$/cwd/.cluade/config.json", Options{Dir: "/root", Home: "/root"}, OwnState},
		{"cp e /proc/self/cwd/../.cluade/config.json", Options{Dir: "/root/p", Home: "/root"}, OwnState},
		{"cp e /proc/self/cwd/.cluade/config.json", Options{Dir: "/root/p", Home: "/root"}, ""},
		{"cp e /proc/self/root/data/c/config.json", Options{State: "/data/c"}, OwnState},
		{"rm -rf /proc/self/cwd/config", Options{Dir: "/etc"}, RmRoot},
		{"find /data/c -name '*.json' | xargs rm", Options{State: "/data/c"}, OwnState},
		{"find . -type f -delete", Options{State: "/data/c", Dir: "/data/c"}, OwnState},
		{"find . -type f -delete", Options{State: "/data/c", Dir: "/data"}, ""},
		{"tar xf a -C /data c/config.json", Options{State: "/data/c"}, OwnState},
		{"tar xf a -C /data c/skills", Options{State: "/data/c"}, ""},
		{"for f in *; do echo > $f; done", Options{State: "/data/c", Dir: "/data/c"}, OwnState},
		{"grep -rl x . | xargs sed -i s/x/y/", Options{State: "/data/c", Dir: "/data/c"}, OwnState},
		{"grep -rl x . | xargs sed -i s/x/y/", Options{State: "/data/c", Dir: "/data"}, ""},
		{"sed -n 'w /data/c/config.json' e", Options{State: "/data/c"}, OwnState},
		{"d=$(dirname /data/c/x); cp e $d/hooks.json", Options{State: "/data/c"}, OwnState},
	}
	for _, tt := range tests {
		got := ""
		if f := Check(tt.cmd, tt.o); len(f) > 0 {
			got = f[0].Class
		}
		if got != tt.want {
			t.Errorf("Check(%q, %+v) = %q, want %q", tt.cmd, tt.o, got, tt.want)
		}
	}
}

func TestCheckPosition(t *testing.T) {
	tests := []struct{ cmd, want string }{
		{"echo ok && rm -rf / ; ls", "rm -rf /"},
		{"echo `rm -rf /` b", "echo `rm -rf /` b"},
		{"echo $(true; rm -rf /) b", "rm -rf /"},
		{"ls; sh -c 'a; rm -rf /' x >/dev/null", "sh -c 'a; rm -rf /' x >/dev/null"},
		{"f() { reboot; }\nf", "reboot"},
		{"true\ncat <<E\n$(reboot)\nE\ntrue", "cat <<E"},
		{"if a; then\n  reboot # now\nfi", "reboot"},
		{"a | b | sudo tee /dev/sda > x", "sudo tee /dev/sda > x"},
	}
	for _, tt := range tests {
		f := Check(tt.cmd, Options{})
		if len(f) != 1 || tt.cmd[f[0].Start:f[0].End] != tt.want {
			t.Errorf("Check(%q) = %+v, want the place of %q", tt.cmd, f, tt.want)
		}
	}
}

func TestCheckReason(t *testing.T) {
	tests := []struct{ cmd, want string }{
		{"rm -rf ~/*", "recursive forced delete of ~/*"},
		{"rm -rf \"$HOME\"", "recursive forced delete of ~"},
		{"rm -rf /{etc,usr}", "recursive forced delete of /etc"},
		{"find $X /etc -delete", "removes what lies in /etc"},
	}
	for _, tt := range tests {
		if f := Check(tt.cmd, Options{}); len(f) == 0 || f[0].Reason != tt.want {
			t.Errorf("Check(%q) = %+v, want %q", tt.cmd, f, tt.want)
		}
	}
}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	in := "ls\ntrue\\nreboot\necho a\\\\\\\\nreboot\nrm -rf /"
	if err := Lines(strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	want := "pass\nflag\tpower: stops the box\npass\nflag\trm-root: recursive forced delete of /\n"
	if out.String() != want {
		t.Errorf("Lines(%q) wrote %q, want %q", in, out.String(), want)
	}
}

func TestLockoutPath(t *testing.T) {
	for path, want := range map[string]bool{
		"/etc/shadow": true, "/etc/../etc/passwd": true, "/etc/sudoers.d/x": true, "/etc/config/dropbear": true, "/root/.ssh/authorized_keys": true,
		"/etc/config/network": false, "/home/pi/.ssh/authorized_keys": false, "/etc/sudoers.d": false, "/tmp/etc/shadow": false,
	} {
		if got := LockoutPath(path); got != want {
			t.Errorf("LockoutPath(%q) = %v, want %v", path, got, want)
		}
	}
}

func TestRunsPrograms(t *testing.T) {
	for name, want := range map[string]bool{
		"sh": true, "busybox": true, "env": true, "sudo": true, "xargs": true, "find": true, "awk": true, "sed": true, "ssh": true, "tar": true, "nohup": true,
		"eval": true, ".": true, "python3": true, "python3.11": true, "lua5.1": true, "npx": true, "git": true, "systemd-run": true, "watch": true, "vi": true, "cluade": true,
		"flock": true, "csh": true, "pwsh": true, "uv": true, "prlimit": true, "ld-linux-x86-64.so.2": true, "capsh": true, "gcc": true, "socat": true, "i386": true, "sg": true, "bwrap": true, "ld.so": true, "qemu-arm": true, "busybox.static": true, "bash-static": true, "vim.tiny": true, "nc.openbsd": true,
		"pip3.11": true, "perl5.36": true, "gcc-12": true, "m4": true, "dc": true, "sqlite3": true, "telnet": true, "tcpdump": true, "svn": true, "java": true, "ld": false, "dd": false, "df": false, "top": false, "iw": false,
		"journalctl": false, "sha256sum": false, "uci": false, "ls": false, "cat": false, "ubus": false, "opkg": false, "systemctl": false, "reboot": false,
	} {
		if got := RunsPrograms(name); got != want {
			t.Errorf("RunsPrograms(%q) = %v, want %v", name, got, want)
		}
	}
}
