package tools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"cluade/internal/policy"
)

// remoteServers are a Debian and a router. A test on both is a test of what
// POSIX says.
func remoteServers(t *testing.T) map[string]*server {
	return map[string]*server{"sshd": newSSHD(t, []string{"ed25519"}), "router": newRouter(t)}
}

// at are the arguments of a tool of files on a server.
func at(t *testing.T, s *server, a args) args {
	a["host"] = fmt.Sprintf("%s@127.0.0.1:%d", me(t).Username, s.port())
	return a
}

func known(t *testing.T, s *server) *Env {
	t.Helper()
	e := client(t, s)
	knows(t, e, s.name()+" "+s.hostKey("ed25519"))
	return e
}

func TestRemoteRead(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		file := func(name, text string) string { return put(t, e, dir+"/"+name, text) }
		tests := []struct{ path, want string }{
			{file("plain", "one\ntwo\n"), "1: one\n2: two"},
			{file("no end", "one"), "1: one"},
			{file("empty", ""), "(empty file)"},
			{file("CRLF", "a\r\nb\r\n"), "1: a\r\n2: b\r"},
			{file("it's \"odd\" $HOME `x` \\ *", "odd\n"), "1: odd"},
			{file("line\nfeed\n", "x\n"), "1: x"},
			{file("-dash", "x\n"), "1: x"},
			{file("tab\tü", "ü\n"), "1: ü"},
		}
		for _, tt := range tests {
			got, err := use(t, e, "read", at(t, s, args{"filePath": tt.path}))
			if err != nil || got != tt.want {
				t.Errorf("%s: read %q = %q, %v, want %q", name, tt.path, got, err, tt.want)
			}
		}
		var long strings.Builder
		for i := range 50000 {
			fmt.Fprintf(&long, "line %d\n", i+1)
		}
		file("long", long.String())
		want(t, e, "read", at(t, s, args{"filePath": dir + "/long", "offset": 40000, "limit": 2}),
			"40000: line 40000\n40001: line 40001\n[lines 40000-40001 of 50000; continue with offset=40002]")
		want(t, e, "read", at(t, s, args{"filePath": dir + "/plain", "offset": 9}), "("+dir+"/plain has 2 lines; offset 9 is past the end)")

		os.Symlink("plain", dir+"/rel")
		os.Symlink("rel", dir+"/twice")
		os.Symlink(dir, dir+"/self")
		os.Symlink("none", dir+"/gone")
		os.Symlink("ring", dir+"/ring")
		want(t, e, "read", at(t, s, args{"filePath": dir + "/self/twice"}), "1: one\n2: two")
		prefix := "root@127.0.0.1:" + number(s.port()) + ": "
		wantError(t, e, "read", at(t, s, args{"filePath": dir + "/none"}), prefix+"no such file: "+dir+"/none")
		wantError(t, e, "read", at(t, s, args{"filePath": dir + "/gone"}), "leads to "+dir+"/none, which does not exist")
		wantError(t, e, "read", at(t, s, args{"filePath": dir + "/ring"}), dir+"/ring: too many levels of symbolic links")
		wantError(t, e, "read", at(t, s, args{"filePath": dir}), "is a directory")
		must(t, needProgram(t, "mkfifo"), dir+"/pipe")
		quick(t, 5*time.Second, func() {
			wantError(t, e, "read", at(t, s, args{"filePath": dir + "/pipe"}), "not a regular file")
		})
		wantError(t, e, "read", at(t, s, args{"filePath": file("binary", "\x7fELF\x00\x01\x02")}), "is binary (7 bytes, ELF")
		got, err := use(t, e, "read", at(t, s, args{"filePath": "/proc/version"}))
		if err != nil || !strings.HasPrefix(got, "1: Linux version") {
			t.Errorf("%s: /proc/version = %q, %v", name, got, err)
		}
		if n := s.connections(); n != 1 {
			t.Errorf("%s: %d connections, want 1", name, n)
		}
	}
}

// A file is given up at the time limit and read no further than it has to be.
func TestRemoteReadHuge(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		file := t.TempDir() + "/huge"
		f, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(8 << 30); err != nil {
			t.Fatal(err)
		}
		f.WriteString(strings.Repeat("line\n", 10000))
		f.Close()
		for range 2 {
			quick(t, 10*time.Second, func() {
				got, err := use(t, e, "read", at(t, s, args{"filePath": file, "limit": 1}))
				if err != nil || !strings.HasPrefix(got, "1: line\n[lines 1-1 of at least ") {
					t.Errorf("%s: %.100q, %v", name, got, err)
				}
			})
		}
		want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")
		if n := s.connections(); n != 1 {
			t.Errorf("%s: %d connections, want 1", name, n)
		}
	}
}

func TestRemoteWrite(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		dir, _ := filepath.EvalSymlinks(t.TempDir())
		to := func(path string) string { return "wrote " + path + " on root@127.0.0.1:" + number(s.port()) }
		every := make([]byte, 256)
		for i := range every {
			every[i] = byte(i)
		}
		contents := map[string]string{
			"plain": "one\ntwo\n", "empty": "", "no end": "x", "CRLF": "a\r\nb\n", "odd 'name' $x": "y\n", "line\nfeed": "z\n",
			"controls": "\x00\x01\x1b[0m\x7f\u00a0\u2028 é 漢 👍\n", "large": strings.Repeat("0123456789abcdef", maxFile/16),
			"new/dirs/below": "deep\n", "-dash": "d\n",
		}
		for file, content := range contents {
			path := dir + "/" + file
			want(t, e, "write", at(t, s, args{"filePath": path, "content": content}), to(shown(path)))
			holds(t, e, path, content)
		}
		if fi, err := os.Stat(dir + "/plain"); err != nil || fi.Mode().Perm() != 0o644 {
			t.Errorf("%s: a new file has the mode %v", name, fi.Mode())
		}
		wantError(t, e, "write", at(t, s, args{"filePath": dir + "/x", "content": strings.Repeat("x", maxFile+1)}), "more than 1 MiB")
		wantError(t, e, "write", at(t, s, args{"filePath": dir, "content": ""}), "is a directory")
		wantError(t, e, "write", at(t, s, args{"filePath": dir + "/plain/x", "content": ""}), "nothing was changed")

		// Mode, owner and link of what is replaced stay.
		for _, mode := range []string{"600", "755", "4711", "444"} {
			path, link := put(t, e, dir+"/m"+mode, "old"), dir+"/link"+mode
			must(t, needProgram(t, "chown"), "12:34", path)
			must(t, needProgram(t, "chmod"), mode, path)
			os.Symlink("m"+mode, link)
			want(t, e, "write", at(t, s, args{"filePath": link, "content": "new"}), to(link))
			holds(t, e, path, "new")
			if got := strings.TrimSpace(must(t, needProgram(t, "stat"), "-c", "%a %u:%g", path)); got != mode+" 12:34" {
				t.Errorf("%s: mode and owner are %s, want %s 12:34", name, got, mode)
			}
			if target, err := os.Readlink(link); err != nil || target != "m"+mode {
				t.Errorf("%s: the link was replaced", name)
			}
		}
		left, _ := filepath.Glob(dir + "/.cluade*")
		if len(left) > 0 {
			t.Errorf("%s: left behind %q", name, left)
		}
	}
}

func TestRemoteEdit(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		dir, _ := filepath.EvalSymlinks(t.TempDir())
		path := put(t, e, dir+"/config", "\xff\x00a=1\r\nb=2\r\nb=3\nlast")
		want(t, e, "edit", at(t, s, args{"filePath": path, "oldString": "a=1\nb=2", "newString": "a=10\nb=2"}),
			"edited "+path+" (1 replacement) on root@127.0.0.1:"+number(s.port()))
		holds(t, e, path, "\xff\x00a=10\r\nb=2\r\nb=3\nlast")
		want(t, e, "edit", at(t, s, args{"filePath": path, "oldString": "b=", "newString": "c=", "replaceAll": true}),
			"edited "+path+" (2 replacements) on root@127.0.0.1:"+number(s.port()))
		holds(t, e, path, "\xff\x00a=10\r\nc=2\r\nc=3\nlast")
		wantError(t, e, "edit", at(t, s, args{"filePath": path, "oldString": "none", "newString": "x"}), "oldString not found in "+path)
		wantError(t, e, "edit", at(t, s, args{"filePath": path, "oldString": "c=", "newString": "x"}), "oldString matches 2 times in "+path)
		wantError(t, e, "edit", at(t, s, args{"filePath": dir + "/none", "oldString": "c=", "newString": "x"}), "no such file: "+dir+"/none")
		wantError(t, e, "edit", at(t, s, args{"filePath": path, "oldString": "", "newString": "x"}), "oldString is empty")
		put(t, e, dir+"/large", strings.Repeat("x", maxFile+1))
		wantError(t, e, "edit", at(t, s, args{"filePath": dir + "/large", "oldString": "a", "newString": "b"}), "up to 1 MiB")
		if n := s.connections(); n != 1 {
			t.Errorf("%s: %d connections, want 1", name, n)
		}
	}
}

// A file that somebody else changes between reading and writing, or between
// question and writing, is left alone.
func TestRemoteChanged(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := known(t, s)
	path := put(t, e, "f", "one\n")
	a := at(t, s, args{"filePath": path, "content": "mine\n"})
	want(t, e, "read", at(t, s, args{"filePath": path}), "1: one")
	put(t, e, "f", "two\n")
	wantError(t, e, "write", a, path+" changed since it was read; read it again")
	holds(t, e, path, "two\n")
	want(t, e, "read", at(t, s, args{"filePath": path}), "1: two")
	if _, err := use(t, e, "write", a); err != nil {
		t.Errorf("after reading again: %v", err)
	}
	if _, err := use(t, e, "write", at(t, s, args{"filePath": path, "content": "again\n"})); err != nil {
		t.Errorf("after its own writing: %v", err)
	}
	for _, tool := range []string{"write", "edit"} {
		put(t, e, "g", "one\n")
		text, _ := json.Marshal(at(t, s, args{"filePath": e.Dir + "/g", "content": "mine\n", "oldString": "one", "newString": "two"}))
		c, err := Builtin.Parse(e, tool, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if shown, err := c.Preview(); err != nil || !strings.Contains(shown, "-one") {
			t.Errorf("preview of %s = %q, %v, want a diff", tool, shown, err)
		}
		put(t, e, "g", "else\n")
		if _, err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "g changed while ") {
			t.Errorf("%s of a file that changed after the question: %v", tool, err)
		}
		holds(t, e, "g", "else\n")
	}
	onlyHolds(t, e.Dir, "f", "g")
}

// No question makes a connection: what is shown then are the arguments.
func TestRemotePreviewUnseen(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := known(t, s)
	for tool, parts := range map[string][]string{"write": {"2 bytes\n+x\n", "not compared"}, "edit": {"-a\n", "+b\n", "not compared"}} {
		text, _ := json.Marshal(at(t, s, args{"filePath": "/etc/x", "content": "x\n", "oldString": "a\n", "newString": "b\n"}))
		c, err := Builtin.Parse(e, tool, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if c.Subject.Effect != policy.Execute || c.Subject.Host == "" || c.Subject.Paths[0].Abs != "/etc/x" {
			t.Errorf("%s is judged as %+v", tool, c.Subject)
		}
		shown, err := c.Preview()
		for _, part := range parts {
			if err != nil || !strings.Contains(shown, part) {
				t.Errorf("preview of %s = %q, %v, want %q", tool, shown, err, part)
			}
		}
	}
	if s.connections() != 0 {
		t.Error("a preview connected to the host")
	}
}

func TestRemotePaths(t *testing.T) {
	e := testEnv(t)
	tests := []struct {
		tool, host, path, abs string
		guard                 policy.Guard
	}{
		{"read", "h", "/etc/../etc/config/network", "/etc/config/network", policy.Open},
		{"read", "h", "~/x", "/root/x", policy.Open},
		{"read", "h", "x/y", "/root/x/y", policy.Open},
		{"read", "pi@h", "~", "/home/pi", policy.Open},
		{"read", "pi@h", "../x", "/home/x", policy.Open},
		{"read", "h", "/proc/version", "/proc/version", policy.Open},
		{"write", "h", "/proc/sys/x", "/proc/sys/x", policy.NoWrite},
		{"write", "h", "/sys/power/state", "/sys/power/state", policy.NoWrite},
		{"write", "h", "/etc/cluade/x", "/etc/cluade/x", policy.NoWrite},
		{"write", "h", "/root/.cluade/history", "/root/.cluade/history", policy.NoRead},
		{"read", "h", "/root/.cluade/config.json", "/root/.cluade/config.json", policy.NoRead},
		{"read", "h", "/root/.cluade/skills/x/SKILL.md", "/root/.cluade/skills/x/SKILL.md", policy.Open},
		{"edit", "h", "/root/.cluade/notes", "/root/.cluade/notes", policy.NoWrite},
	}
	for _, tt := range tests {
		text, _ := json.Marshal(args{"host": tt.host, "filePath": tt.path, "content": "", "oldString": "a", "newString": "b"})
		c, err := Builtin.Parse(e, tt.tool, string(text))
		if err != nil {
			t.Fatal(err)
		}
		if p := c.Subject.Paths[0]; p.Abs != tt.abs || p.Real != tt.abs || p.Guard != tt.guard {
			t.Errorf("%s %s:%s is judged as %+v, want %s, guard %d", tt.tool, tt.host, tt.path, p, tt.abs, tt.guard)
		}
	}
	wantError(t, e, "read", args{"host": "-x", "filePath": "/x"}, "begins with a dash")
	wantError(t, e, "read", args{"host": "h", "filePath": "a\x00b"}, "NUL byte")
	wantError(t, e, "read", args{"host": "", "filePath": "none"}, "no such file") // no host at all
}

// Where a link leads is judged too, once it is known.
func TestRemoteLinkRefused(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := known(t, s)
	path := put(t, e, "secret", "s\n")
	link(t, e, "secret", "link")
	e.SSH.Met = func(by, sub policy.Subject) policy.Decision {
		if sub.Host != "" && sub.Effect == policy.Execute && sub.Paths[0].Real == path {
			return policy.Decision{Reason: "denied by rule " + sub.Tool + "(secret)"}
		}
		return policy.Decision{Verdict: policy.Allow}
	}
	wantError(t, e, "read", at(t, s, args{"filePath": e.Dir + "/link"}), "denied by rule read(secret)")
	wantError(t, e, "write", at(t, s, args{"filePath": e.Dir + "/link", "content": "x"}), "denied by rule write(secret)")
	holds(t, e, "secret", "s\n")
	e.SSH.Met = nil
	put(t, e, e.Home+"/.cluade/config.json", "{}")
	link(t, e, e.Home+"/.cluade", "own")
	wantError(t, e, "read", at(t, s, args{"filePath": e.Dir + "/own/config.json"}), "denied: ", "/.cluade/config.json, which is guarded")
	link(t, e, "/proc", "kernel")
	wantError(t, e, "write", at(t, s, args{"filePath": e.Dir + "/kernel/sysrq-trigger", "content": "x"}), "denied: ", "/proc/sysrq-trigger, which is guarded")
	if got, err := use(t, e, "read", at(t, s, args{"filePath": e.Dir + "/kernel/version"})); err != nil || !strings.HasPrefix(got, "1: Linux") {
		t.Errorf("reading a file of the kernel through a link = %q, %v", got, err)
	}
	want(t, e, "read", at(t, s, args{"filePath": e.Dir + "/link"}), "1: s")
}

// On a full disk, a read-only one and a mount point the old file stays, or the
// new one is whole.
func TestRemoteWriteDisk(t *testing.T) {
	s := newDropbear(t, []string{"ed25519"}, `mkdir -p "$1/full" "$1/ro" && mount -t tmpfs -o size=64k none "$1/full" &&
		mount -t tmpfs none "$1/ro" && echo old >"$1/ro/f" && mount -o remount,ro "$1/ro" &&
		echo old >"$1/full/mount" && echo old >"$1/below" && chmod 600 "$1/below" && mount --bind "$1/below" "$1/full/mount" &&`)
	e := known(t, s)
	file := s.dir + "/full/f"
	to := func(path string) string { return "wrote " + path + " on root@127.0.0.1:" + number(s.port()) }
	want(t, e, "write", at(t, s, args{"filePath": file, "content": "old"}), to(file))
	wantError(t, e, "write", at(t, s, args{"filePath": file, "content": strings.Repeat("x", 200000)}), file, "nothing was changed")
	want(t, e, "read", at(t, s, args{"filePath": file}), "1: old")
	want(t, e, "glob", at(t, s, args{"pattern": s.dir + "/full/*"}), file+"\n"+s.dir+"/full/mount")
	wantError(t, e, "write", at(t, s, args{"filePath": s.dir + "/ro/f", "content": "new"}), s.dir+"/ro/f")
	want(t, e, "read", at(t, s, args{"filePath": s.dir + "/ro/f"}), "1: old")
	want(t, e, "write", at(t, s, args{"filePath": s.dir + "/full/mount", "content": "new"}), to(s.dir+"/full/mount"))
	holds(t, e, s.dir+"/below", "new")
}

// A login that greets spoils nothing.
func TestRemoteGreeting(t *testing.T) {
	s := newRouter(t)
	e := known(t, s)
	put(t, e, s.dir+"/greet", "#!/bin/sh\nfor i in 1 2 3; do echo 'welcome to the router'; done\neval \"$SSH_ORIGINAL_COMMAND\"\n")
	key, err := os.ReadFile(e.Home + "/.ssh/id_ed25519.pub")
	if err != nil {
		t.Fatal(err)
	}
	s.admit(`command="sh ~/greet" ` + string(key))
	want(t, e, "read", at(t, s, args{"filePath": put(t, e, "f", "one\n")}), "1: one")
	put(t, e, s.dir+"/greet", "#!/bin/sh\necho 'This account is for menus only'; exit 1\n")
	wantError(t, e, "read", at(t, s, args{"filePath": e.Dir + "/f"}), "no shell answers")
}

// The steps of writing, where they go another way.
func TestRemoteWriteScripts(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		path := put(t, e, "f", "old")
		tmp := e.Dir + "/.tmp"
		if _, err := use(t, e, "read", at(t, s, args{"filePath": path})); err != nil {
			t.Fatal(err)
		}
		h := &host{env: e, conn: e.remote.conns[0]}
		sh := func(script string, args ...string) (string, error) {
			return h.sh(t.Context(), []byte("new"), script, args...)
		}
		if _, err := sh(stageScript, path, tmp, "5", "", ""); err == nil || err.Error() != "only 3 of 5 bytes arrived" {
			t.Errorf("%s: a transfer that is cut: %v", name, err)
		}
		onlyHolds(t, e.Dir, "f")
		const powerless = "chown() { return 1; }\n"
		if out, err := sh(powerless+stageScript, path, tmp, "3", "640", "12:34"); out != "place\n" || err != nil {
			t.Errorf("%s: where the owner cannot be kept: %q, %v", name, out, err)
		}
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sh(commitScript, path, tmp, "place"); err != nil {
			t.Errorf("%s: writing in place: %v", name, err)
		}
		if after, err := os.Stat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s: writing in place made another file, %v", name, err)
		}
		holds(t, e, path, "new")
		onlyHolds(t, e.Dir, "f")
		if out, err := sh(powerless+stageScript, path, tmp, "3", "640", "0:0"); out != "" || err != nil && me(t).Uid == "0" {
			t.Errorf("%s: where the owner is the same: %q, %v", name, out, err)
		}
		os.Remove(path)
		os.Mkdir(path, 0o755)
		if _, err := sh(commitScript, path, tmp, ""); err == nil || err.Error() != "it is a directory now" {
			t.Errorf("%s: where a directory came into being: %v", name, err)
		}
		onlyHolds(t, e.Dir, "f")
	}
}

func FuzzReadLook(f *testing.F) {
	f.Add([]byte("file 1 -rw-r--r-- 1 0 0 12\n/etc/x\x00content"))
	f.Add([]byte("none 0 ? ? ? ? ?\n/etc/x\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := readLook(bufio.NewReader(bytes.NewReader(data)))
		if err == nil && (file.kind == "" || file.kind == "file" && file.mode == "") {
			t.Errorf("readLook(%q) = %+v", data, file)
		}
		if err == nil {
			octalMode(file.mode)
		}
		cutHit(data, len(data)/2)
	})
}

func TestOctalMode(t *testing.T) {
	for letters, want := range map[string]uint32{
		"-rw-r--r--": 0o644, "-rwxr-xr-x": 0o755, "----------": 0, "-rwsr-sr-t": 0o7755, "-rwSr-Sr-T": 0o7644, "-rw-rw----+": 0o660, "": 0, "-rw": 0o600,
	} {
		if got := octalMode(letters); got != want {
			t.Errorf("octalMode(%q) = %o, want %o", letters, got, want)
		}
	}
}

func TestQuoteShell(t *testing.T) {
	for _, script := range []string{lookScript, stageScript, commitScript} {
		if strings.Contains(script, "'") {
			t.Errorf("a script holds a single quote: %.40q", script)
		}
	}
	for _, s := range []string{"", "a b", "it's", "''", "$x `y` \\ \"z\"", "a\nb", "-n", "é"} {
		if got := must(t, "sh", "-c", "printf %s "+quoteShell(s)); got != s {
			t.Errorf("quoteShell(%q) = %s, the shell makes %q of it", s, quoteShell(s), got)
		}
	}
}

// What waits on the host is ended there with the call.
func TestRemoteReadWaits(t *testing.T) {
	if os.Geteuid() != 0 {
		missing(t, "only root may read /proc/kmsg")
	}
	for name, s := range remoteServers(t) {
		e := known(t, s)
		for tool, a := range map[string]args{"read": {"filePath": "/proc/kmsg"}, "grep": {"path": "/proc/kmsg", "pattern": "none such"}} {
			if tool == "grep" && name != "router" {
				continue // it takes its whole time
			}
			before := readersOf(t, "/proc/kmsg")
			quick(t, walkTime+10*time.Second, func() { use(t, e, tool, at(t, s, a)) })
			for end := time.Now().Add(10 * time.Second); readersOf(t, "/proc/kmsg") > before; {
				if time.Now().After(end) {
					t.Fatalf("%s: a process still reads for %s", name, tool)
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
}

// readersOf counts the processes that have a file open.
func readersOf(t *testing.T, file string) (n int) {
	t.Helper()
	fds, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && target == file {
			n++
		}
	}
	return n
}
