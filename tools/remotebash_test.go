package tools

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

func shutdownBoth(fd uintptr) { syscall.Shutdown(int(fd), syscall.SHUT_RDWR) }

func TestRemoteBash(t *testing.T) {
	for name, s := range map[string]*server{
		"sshd":     newSSHD(t, []string{"ed25519"}),
		"dropbear": newDropbear(t, []string{"ed25519"}, ""),
	} {
		e := client(t, s)
		knows(t, e, s.name()+" "+s.hostKey("ed25519"))
		tests := []struct{ command, want string }{
			{"echo ok", "ok\n"},
			{"printf ab; printf cd", "abcd"},
			{"echo gone wrong >&2; exit 3", "gone wrong\n[exit code: 3]"},
			{"true", "(no output)"},
			{"false", "(no output)\n[exit code: 1]"},
			{"no-such-command-here 2>/dev/null", "(no output)\n[exit code: 127]"},
			{"printf 'killed'; kill -9 $$", "killed\n[exit code: 137]"},
			{"kill -15 $$", "(no output)\n[exit code: 143]"},
			{"cat; echo rc=$?", "rc=0\n"}, // there is no input
			{`echo "a  b" 'c"d' $((1+2)) \\ 'é' "$(echo x)"`, "a  b c\"d 3 \\ é x\n"},
			{"printf 'two\nlines\n'\necho three", "two\nlines\nthree\n"},
			{"head -c 3000 /dev/zero", "(binary output, not shown: 3000 bytes, unknown type; strings or hexdump can show it)"},
			{"(: </dev/tty) 2>/dev/null || echo no terminal", "no terminal\n"},
			{"[ -z \"$SSH_AUTH_SOCK\" ] && echo nothing is forwarded", "nothing is forwarded\n"},
		}
		for _, tt := range tests {
			got, err := use(t, e, "remote_bash", on(t, s, tt.command))
			if err != nil || got != tt.want {
				t.Errorf("%s: remote_bash(%q) = %q, %v, want %q", name, tt.command, got, err, tt.want)
			}
		}
		if n := s.connections(); n != 1 {
			t.Errorf("%s: %d calls made %d connections, want 1", name, len(tests), n)
		}
	}
}

// The output is bounded while it is captured, and an endless one ends.
func TestRemoteOutput(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	got, err := use(t, e, "remote_bash", on(t, s, "seq 1 200000"))
	if err != nil || len(got) > e.keep() || !strings.HasPrefix(got, "1\n2\n") || !strings.Contains(got, "bytes cut ...]") || !strings.Contains(got, "\n200000\n") {
		t.Errorf("seq 1 200000 = %d bytes, %v: %.60q", len(got), err, got)
	}
	quick(t, 60*time.Second, func() {
		a := on(t, s, "yes")
		a["timeout"] = 600
		got, err = use(t, e, "remote_bash", a)
	})
	if err != nil || !strings.Contains(got, "\n[more than 64 MiB of output; ") || len(got) > e.keep() {
		t.Errorf("yes = %d bytes, %v: %q", len(got), err, got[max(0, len(got)-100):])
	}
}

func TestRemoteTimeout(t *testing.T) {
	for name, s := range map[string]*server{
		"sshd":     newSSHD(t, []string{"ed25519"}),
		"dropbear": newDropbear(t, []string{"ed25519"}, ""),
	} {
		e := client(t, s)
		knows(t, e, s.name()+" "+s.hostKey("ed25519"))
		for _, command := range []string{"echo begun; exec sleep 20", "trap '' TERM; echo begun; sleep 20; sleep 20"} {
			a := on(t, s, command)
			a["timeout"] = 1
			quick(t, 8*time.Second, func() {
				got, err := use(t, e, "remote_bash", a)
				if err != nil || !strings.HasPrefix(got, "begun\n[timed out after 1s; ") {
					t.Errorf("%s: remote_bash(%q) = %q, %v, want it timed out", name, command, got, err)
				}
			})
		}
		want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")
	}
}

func TestRemoteTimeoutValues(t *testing.T) {
	e := testEnv(t)
	for n, fine := range map[any]bool{1: true, 600: true, 0: false, 601: false, -1: false} {
		text, _ := json.Marshal(args{"host": "h", "command": "true", "timeout": n})
		if _, err := Builtin.Parse(e, "remote_bash", string(text)); (err == nil) != fine {
			t.Errorf("timeout %v: %v", n, err)
		}
	}
	e.SSH.Timeout = 7 * time.Second
	if got, err := e.remoteTimeout(&Args{}); got != 7*time.Second || err != nil {
		t.Errorf("the configured timeout = %s, %v, want 7s", got, err)
	}
}

// Cancelling ends the call and the connection at once; the next call makes a
// new one. The mark comes a second behind the output, which has farther to go.
func TestRemoteCancel(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	knows(t, e, s.name()+" "+s.hostKey("ed25519"))
	mark := filepath.Join(t.TempDir(), "begun")
	text, _ := json.Marshal(on(t, s, "echo part; sleep 1; echo >"+mark+"; sleep 20"))
	call, err := Builtin.Parse(e, "remote_bash", string(text))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		for !isThere(mark) {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	quick(t, 20*time.Second, func() {
		res, err := call.Run(ctx)
		if err != nil || !res.Failed || !strings.HasPrefix(res.Text, "part\n[interrupted") {
			t.Errorf("a cancelled call = %+v, %v", res, err)
		}
	})
	if c := e.remote.conns[0]; c.alive(context.Background()) {
		t.Error("the connection outlived the cancel")
	}
	want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")
	if n := s.connections(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// What the command leaves in the background does not hold the call.
func TestRemoteBackground(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	knows(t, e, s.name()+" "+s.hostKey("ed25519"))
	quick(t, 10*time.Second, func() {
		got, err := use(t, e, "remote_bash", on(t, s, "sleep 20 & echo started"))
		if err != nil || got != "started\n[background processes still hold the output]" {
			t.Errorf("with a background process = %q, %v", got, err)
		}
	})
}

// A connection that the host dropped is made anew; one that breaks under a
// command is told.
func TestRemoteDropped(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	knows(t, e, s.name()+" "+s.hostKey("ed25519"))
	want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")
	s.drop()
	want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")
	if n := s.connections(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
	mark := filepath.Join(t.TempDir(), "begun")
	go func() {
		for !isThere(mark) {
			time.Sleep(5 * time.Millisecond)
		}
		s.drop()
	}()
	got, err := use(t, e, "remote_bash", on(t, s, "echo part; sleep 1; echo >"+mark+"; sleep 20"))
	if err != nil || got != "part\n[the connection ended before the command did; it may still run on the host]" {
		t.Errorf("a broken connection = %q, %v", got, err)
	}
}

func TestRemoteClose(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	use(t, e, "remote_bash", on(t, s, "true"))
	c := e.remote.conns[0]
	e.Close()
	if c.alive(context.Background()) || len(e.remote.conns) != 0 {
		t.Error("a connection outlived Close")
	}
	e.Close()
	(&Env{}).Close()
}

// Every kind of key opens both servers: OpenSSH's format, OpenSSL's two, and
// dropbear's.
func TestRemoteKeyTypes(t *testing.T) {
	dropbearkey := needProgram(t, "dropbearkey")
	dir := t.TempDir()
	var public, files []string
	for _, kind := range []string{"ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa2048"} {
		formats := []string{"RFC4716", "PEM", "PKCS8"}
		if kind == "ed25519" {
			formats = formats[:1] // ssh-keygen writes no other
		}
		for _, format := range formats {
			file := dir + "/" + kind + "." + format
			public = append(public, makeKey(t, file, kind, "-m", format))
			files = append(files, file)
		}
		file := dir + "/" + kind + ".dropbear"
		typ := strings.TrimRight(kind, "0123456789")
		gen := []string{"-t", typ, "-f", file, "-s", kind[len(typ):]}
		if typ == "ed" {
			gen = []string{"-t", "ed25519", "-f", file}
		}
		out := must(t, dropbearkey, gen...)
		for _, line := range strings.Split(out, "\n") {
			if fields := strings.Fields(line); len(fields) > 1 && len(fields[1]) > 60 {
				public = append(public, strings.Join(fields[:2], " "))
			}
		}
		files = append(files, file)
	}
	if len(public) != len(files) {
		t.Fatalf("%d public keys for %d files", len(public), len(files))
	}
	servers := []*server{newSSHD(t, []string{"ed25519"}), newDropbear(t, []string{"ed25519"}, "")}
	for _, s := range servers {
		for i, file := range files {
			e := client(t)
			s.admit(public[i])
			knows(t, e, s.name()+" "+s.hostKey("ed25519"))
			e.SSH.IdentityFiles = []string{file}
			got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
			if err != nil || got != "ok\n" {
				t.Errorf("%s with %s = %q, %v", s.argv[0], filepath.Base(file), got, err)
			}
			e.Close()
		}
	}
}

// The usual files are found by their names, dropbear's first.
func TestRemoteUsualKeys(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	for _, name := range []string{"id_dropbear", "id_ed25519", "id_ecdsa", "id_rsa"} {
		e := testEnv(t)
		t.Cleanup(e.Close)
		file := e.Home + "/.ssh/" + name
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if name == "id_dropbear" {
			s.admit(makeKey(t, file+".openssh", "ed25519"))
			must(t, needProgram(t, "dropbearconvert"), "openssh", "dropbear", file+".openssh", file)
		} else {
			s.admit(makeKey(t, file, "ed25519"))
		}
		got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
		if err != nil || !strings.HasPrefix(got, "ok\n") {
			t.Errorf("with %s = %q, %v", name, got, err)
		}
	}
}

func TestRemoteEncryptedKey(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	for _, format := range []string{"RFC4716", "PEM", "PKCS8"} {
		e := testEnv(t)
		file := e.Home + "/.ssh/id_rsa"
		os.MkdirAll(filepath.Dir(file), 0o700)
		must(t, needProgram(t, "ssh-keygen"), "-q", "-t", "rsa", "-b", "2048", "-m", format, "-N", "secret", "-f", file)
		quick(t, 15*time.Second, func() {
			wantError(t, e, "remote_bash", on(t, s, "echo ok"), "ssh "+me(t).Username+"@127.0.0.1:", file, "passphrase")
		})
	}
}

func TestRemoteRefused(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t) // whose key it does not admit
	s.admit("")
	wantError(t, e, "remote_bash", on(t, s, "echo ok"),
		"ssh "+me(t).Username+"@127.0.0.1:"+number(s.port())+": ", "accepts no key", "tried: "+e.Home+"/.ssh/id_ed25519", "not there: "+e.Home+"/.ssh/id_dropbear")
	e = testEnv(t)
	wantError(t, e, "remote_bash", on(t, s, "echo ok"), "no private key", "not there: "+e.Home+"/.ssh/id_dropbear, ")
	e.SSH.IdentityFiles = []string{"~/nothing", "/dev/zero"}
	wantError(t, e, "remote_bash", on(t, s, "echo ok"), "~/nothing (no such file", "/dev/zero (/dev/zero is a device")
}

// A server hangs up after a few keys; the one that fits may come later.
func TestRemoteManyKeys(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	for i := range 13 {
		file := e.Home + "/key" + number(i)
		makeKey(t, file, "ed25519")
		e.SSH.IdentityFiles = append(e.SSH.IdentityFiles, file)
	}
	e.SSH.IdentityFiles = append(e.SSH.IdentityFiles, "~/.ssh/id_ed25519")
	got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
	if err != nil || !strings.HasPrefix(got, "ok\n") {
		t.Errorf("with the fourteenth key = %q, %v", got, err)
	}
}

func TestRemoteAgent(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	data, err := os.ReadFile(e.Home + "/.ssh/id_ed25519")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.ParseRawPrivateKey(data)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: key, Comment: "mine"}); err != nil {
		t.Fatal(err)
	}
	e.SSH.Agent = t.TempDir() + "/s"
	l, err := net.Listen("unix", e.SSH.Agent)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go agent.ServeAgent(ring, c)
		}
	}()
	os.Rename(e.Home+"/.ssh/id_ed25519", e.Home+"/elsewhere")
	got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
	if err != nil || !strings.HasPrefix(got, "ok\n") {
		t.Errorf("with a key of the agent = %q, %v", got, err)
	}
	s.admit("")
	e.Close()
	wantError(t, e, "remote_bash", on(t, s, "echo ok"), "tried: ssh-agent mine")
	l.Close()
	wantError(t, e, "remote_bash", on(t, s, "echo ok"), "ssh-agent (")
}

// An agent that never answers costs no more than the time to connect.
func TestRemoteSilentAgent(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	e.SSH.Agent = t.TempDir() + "/s"
	l, err := net.Listen("unix", e.SSH.Agent)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	quick(t, 15*time.Second, func() {
		got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
		if err != nil || !strings.HasPrefix(got, "ok\n") {
			t.Errorf("beside a silent agent = %q, %v", got, err)
		}
	})
}

func TestRemoteIPv6(t *testing.T) {
	s := newSSHDAt(t, "[::1]:0", []string{"ed25519"})
	e := client(t, s)
	knows(t, e, s.name()+" "+s.hostKey("ed25519"))
	for _, host := range []string{"::1", "[::1]", "0:0::1"} {
		want(t, e, "remote_bash", args{"host": host, "port": s.port(), "username": me(t).Username, "command": "echo ok"}, "ok\n")
	}
	want(t, e, "remote_bash", args{"host": me(t).Username + "@[::1]:" + number(s.port()), "command": "echo ok"}, "ok\n")
	if n := s.connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A jump host leads to a host behind it; both keys are checked.
func TestRemoteJump(t *testing.T) {
	jump, inner := newSSHD(t, []string{"ed25519"}), newDropbear(t, []string{"ed25519"}, "")
	e := client(t, jump, inner)
	u := me(t).Username
	put(t, e, e.SSH.Config, "Host inner\n HostName 127.0.0.1\n Port "+number(inner.port())+"\n User "+u+
		"\n ProxyJump gate\nHost gate\n HostName 127.0.0.1\n Port "+number(jump.port())+"\n User "+u+"\n")
	knows(t, e, inner.name()+" "+inner.hostKey("ed25519"))
	c, err := Builtin.Parse(e, "remote_bash", `{"host":"inner","command":"echo ok"}`)
	if gate := u + "@127.0.0.1:" + number(jump.port()); err != nil || len(c.Subject.Via) != 1 || c.Subject.Via[0] != gate {
		t.Errorf("subject %+v, %v, want it to name %s", c.Subject, err, gate)
	}
	got, err := use(t, e, "remote_bash", args{"host": "inner", "command": "echo ok"})
	if err != nil || !strings.HasPrefix(got, "ok\n[new host key of "+jump.name()+" accepted: ssh-ed25519 SHA256:") {
		t.Errorf("through a jump host = %q, %v", got, err)
	}
	want(t, e, "remote_bash", args{"host": "inner", "command": "echo ok"}, "ok\n")
	if jump.connections() != 1 || inner.connections() != 1 {
		t.Errorf("%d and %d connections, want 1 and 1", jump.connections(), inner.connections())
	}
	inner.listener.Close()
	e.Close()
	wantError(t, e, "remote_bash", args{"host": "inner", "command": "echo ok"}, "ssh "+u+"@127.0.0.1:"+number(inner.port())+": the jump host", "onnect")
	jump.listener.Close()
	e.Close()
	wantError(t, e, "remote_bash", args{"host": "inner", "command": "echo ok"}, "ssh "+u+"@127.0.0.1:"+number(inner.port())+": jump host "+u, "connection refused")
}

func TestRemoteLegacy(t *testing.T) {
	s := newSSHD(t, []string{"rsa2048"}, "HostKeyAlgorithms ssh-rsa", "KexAlgorithms diffie-hellman-group14-sha1", "Ciphers aes128-cbc,3des-cbc")
	e := client(t, s)
	wantError(t, e, "remote_bash", on(t, s, "echo ok"), "algorithm is shared", "diffie-hellman-group14-sha1", "ssh.legacy")
	e.SSH.Legacy = true
	got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
	if err != nil || !strings.HasPrefix(got, "ok\n") {
		t.Errorf("with ssh.legacy = %q, %v", got, err)
	}
}

// What is no SSH server, and what does not answer.
func TestRemoteOdd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for i := 0; ; i++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			switch i {
			case 0:
				c.Write([]byte("HTTP/1.0 400 Bad Request\r\n\r\n"))
				c.Close()
			case 1:
				defer c.Close() // and says nothing
			}
		}
	}()
	e := client(t)
	e.SSH.ConnectTimeout = 500 * time.Millisecond
	port := l.Addr().(*net.TCPAddr).Port
	a := args{"host": "127.0.0.1", "port": port, "command": "true"}
	wantError(t, e, "remote_bash", a, "ssh root@127.0.0.1:"+number(port)+": ")
	quick(t, 5*time.Second, func() { wantError(t, e, "remote_bash", a, "connecting timed out after 0.5s") })
	l.Close()
	wantError(t, e, "remote_bash", a, "connection refused")
	wantError(t, e, "remote_bash", args{"host": "no-such-host.invalid", "command": "true"}, "no-such-host.invalid")
}
