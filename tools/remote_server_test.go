package tools

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Real servers for the tests: sshd and dropbear as they are installed, one
// process a connection, as inetd would start them. So no port is guessed and
// nothing is left behind.

// needProgram finds a program. Without it the test is skipped; in CI that is a
// failure.
func needProgram(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range append(filepath.SplitList(os.Getenv("PATH")), "/usr/sbin", "/sbin") {
		path := filepath.Join(dir, name)
		if fi, err := os.Stat(path); err == nil && fi.Mode().IsRegular() && fi.Mode()&0o111 != 0 {
			return path
		}
	}
	missing(t, name+" is not installed")
	return ""
}

func missing(t testing.TB, what string) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

func must(t testing.TB, name string, args ...string) string {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", name, args, err, out, errs.Bytes())
	}
	return string(out)
}

func me(t testing.TB) *user.User {
	t.Helper()
	u, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// server is an SSH server on loopback. Connections are counted.
type server struct {
	t        testing.TB
	dir      string // authorized keys, host keys, log
	listener net.Listener
	argv     []string

	mu    sync.Mutex
	count int
	conns []net.Conn
	procs sync.WaitGroup
}

func newServer(t testing.TB, address string) *server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		missing(t, "no address "+address+" here")
	}
	s := &server{t: t, dir: t.TempDir(), listener: l}
	t.Cleanup(s.close)
	return s
}

func (s *server) close() {
	s.listener.Close()
	s.drop()
	s.procs.Wait()
	if s.t.Failed() {
		log, _ := os.ReadFile(s.dir + "/log")
		s.t.Logf("log of %s:\n%s", s.argv[0], log)
	}
}

// drop ends all connections.
func (s *server) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.conns {
		c.Close()
	}
	s.conns = nil
}

func (s *server) connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// serve starts a server process for each connection. What goes through the
// pair of sockets is copied, so that a test can cut it.
func (s *server) serve() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		file, err := conn.(*net.TCPConn).File()
		if err != nil {
			s.t.Error(err)
			return
		}
		log, err := os.OpenFile(s.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			s.t.Error(err)
			return
		}
		cmd := exec.Command(s.argv[0], s.argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = file, file, log
		if err := cmd.Start(); err != nil {
			s.t.Error(err)
		}
		file.Close()
		log.Close()
		ours := cutter{conn.(*net.TCPConn)}
		s.mu.Lock()
		s.count++
		s.conns = append(s.conns, ours)
		s.mu.Unlock()
		s.procs.Go(func() {
			cmd.Wait()
			ours.Close()
		})
	}
}

// cutter ends a connection that another process holds too.
type cutter struct{ *net.TCPConn }

func (c cutter) Close() error {
	if raw, err := c.SyscallConn(); err == nil {
		raw.Control(shutdownBoth)
	}
	return c.TCPConn.Close()
}

func (s *server) port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// name is what the server is filed under in known_hosts.
func (s *server) name() string {
	return fmt.Sprintf("[%s]:%d", s.listener.Addr().(*net.TCPAddr).IP, s.port())
}

// hostKey makes a key for the server and returns its public half, type and
// base64.
func (s *server) hostKey(kind string) string {
	s.t.Helper()
	file := s.dir + "/host_" + kind
	return makeKey(s.t, file, kind)
}

// makeKey makes a key in OpenSSH's format, unless it is there, and returns its
// public half. kind is a type with, perhaps, its size.
func makeKey(t testing.TB, file, kind string, more ...string) string {
	t.Helper()
	if _, err := os.Stat(file); err != nil {
		typ := strings.TrimRight(kind, "0123456789")
		args := append([]string{"-q", "-t", typ, "-N", "", "-C", "", "-f", file}, more...)
		if size := kind[len(typ):]; size != "" && typ != "ed" {
			args = append(args, "-b", size)
		}
		if typ == "ed" {
			args[2] = "ed25519"
		}
		must(t, needProgram(t, "ssh-keygen"), args...)
	}
	pub, err := os.ReadFile(file + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(string(pub))[:2], " ")
}

// admit lets public keys in.
func (s *server) admit(keys ...string) {
	s.t.Helper()
	for _, dir := range []string{s.dir, s.dir + "/.ssh"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(dir+"/authorized_keys", []byte(strings.Join(keys, "\n")+"\n"), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// newSSHD is OpenSSH's server with host keys of these kinds and further lines
// of configuration.
func newSSHD(t testing.TB, kinds []string, more ...string) *server {
	t.Helper()
	return newSSHDAt(t, "127.0.0.1:0", kinds, more...)
}

func newSSHDAt(t testing.TB, address string, kinds []string, more ...string) *server {
	t.Helper()
	exe := needProgram(t, "sshd")
	s := newServer(t, address)
	conf := append(more, "UsePAM no", "StrictModes no", "PermitRootLogin yes", "PasswordAuthentication no",
		"AuthorizedKeysFile "+s.dir+"/authorized_keys", "UseDNS no", "PrintMotd no", "PidFile none", "LogLevel VERBOSE")
	for _, kind := range kinds {
		s.hostKey(kind)
		conf = append(conf, "HostKey "+s.dir+"/host_"+kind)
	}
	if err := os.WriteFile(s.dir+"/conf", []byte(strings.Join(conf, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		os.MkdirAll("/run/sshd", 0o755) // sshd insists on it
	}
	s.argv = []string{exe, "-i", "-e", "-f", s.dir + "/conf"}
	go s.serve()
	return s
}

// newDropbear is dropbear. It takes the authorized keys from the home of the
// password file, so the test's directory is mounted there; script is run
// before, in the same mount namespace, with that directory as $1.
func newDropbear(t testing.TB, kinds []string, script string) *server {
	t.Helper()
	exe, convert := needProgram(t, "dropbear"), needProgram(t, "dropbearconvert")
	needNamespace(t, "-m")
	s := newServer(t, "127.0.0.1:0")
	copyFile(t, exe, s.dir+"/dropbear")
	script = `mount --bind "$1" "$2" && ` + script + ` dir=$1 && shift 2 && exec "$dir/dropbear" -i "$@"`
	s.argv = []string{needProgram(t, "unshare"), "-m", "--propagation", "private", "sh", "-c", script, "sh", s.dir, me(t).HomeDir}
	for _, kind := range kinds {
		s.hostKey(kind)
		file := s.dir + "/host_" + kind
		must(t, convert, "openssh", "dropbear", file, file+".dropbear")
		s.argv = append(s.argv, "-r", file+".dropbear")
	}
	go s.serve()
	return s
}

// newRouter is dropbear on a system whose programs are those that BusyBox has
// on OpenWrt, and whose shell is ash.
func newRouter(t testing.TB) *server {
	t.Helper()
	busybox := needProgram(t, "busybox")
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/bin", 0o755); err != nil {
		t.Fatal(err)
	}
	copyFile(t, busybox, dir+"/bin/busybox")
	for _, applet := range strings.Fields(openWrtApplets) {
		if err := os.Symlink("busybox", dir+"/bin/"+applet); err != nil {
			t.Fatal(err)
		}
	}
	u := me(t)
	put := func(name, text string) {
		if err := os.WriteFile(dir+"/"+name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("passwd", fmt.Sprintf("%s:x:%s:%s::%s:/bin/ash\n", u.Username, u.Uid, u.Gid, u.HomeDir))
	put("shells", "/bin/ash\n")
	script := "d=" + dir + ` b=$d/bin/busybox
		for f in passwd shells; do $b mount -o bind $d/$f /etc/$f || exit; done
		for p in /usr/bin /usr/sbin /bin /sbin; do $b mount -o bind $d/bin $p || exit; done &&`
	return newDropbear(t, []string{"ed25519"}, script)
}

const openWrtApplets = `ash sh test [ printf echo awk sed grep egrep fgrep find xargs cat head tail sort uniq cut tr wc tee ls cp mv ln rm
	mkdir rmdir mktemp readlink dd df du env expr seq sleep md5sum sha256sum gzip gunzip zcat tar vi less hexdump strings cmp time top
	ps pgrep pidof kill killall free uptime netstat nc ping ip ifconfig route chmod chown chgrp touch id sync true false pwd uname date
	dirname basename mount umount mkfifo`

// needNamespace skips the test where no namespace of a kind may be made.
func needNamespace(t testing.TB, kind string) {
	t.Helper()
	if out, err := exec.Command(needProgram(t, "unshare"), kind, "true").CombinedOutput(); err != nil {
		missing(t, fmt.Sprintf("no namespace (unshare %s): %s", kind, out))
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// client is an Env whose home has a key that the servers admit, and nothing on
// file about them.
func client(t *testing.T, servers ...*server) *Env {
	t.Helper()
	e := testEnv(t)
	e.SSH.KnownHosts = e.State + "/known_hosts"
	e.SSH.Config = e.Home + "/.ssh/config"
	if err := os.MkdirAll(e.Home+"/.ssh", 0o700); err != nil {
		t.Fatal(err)
	}
	pub := makeKey(t, e.Home+"/.ssh/id_ed25519", "ed25519")
	for _, s := range servers {
		s.admit(pub)
	}
	t.Cleanup(e.Close)
	return e
}

// knows puts a host's keys on file.
func knows(t *testing.T, e *Env, lines ...string) {
	t.Helper()
	put(t, e, e.Home+"/.ssh/known_hosts", strings.Join(lines, "\n")+"\n")
}

// on are the arguments of a command on a server.
func on(t *testing.T, s *server, command string) args {
	return args{"host": "127.0.0.1", "port": s.port(), "username": me(t).Username, "command": command}
}

// quick fails when f takes longer than it may.
func quick(t *testing.T, most time.Duration, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > most {
		t.Errorf("took %s, want at most %s", took, most)
	}
}

func number(n int) string { return strconv.Itoa(n) }
