package tools

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// publicKey makes an Ed25519 key of a number.
func publicKey(t testing.TB, n byte) ssh.PublicKey {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	key, err := ssh.NewPublicKey(ed25519.NewKeyFromSeed(seed).Public())
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func keyLine(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func hashed(name string) string {
	salt := []byte("01234567890123456789")
	mac := hmac.New(sha1.New, salt)
	mac.Write([]byte(name))
	return "|1|" + base64.StdEncoding.EncodeToString(salt) + "|" + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestKnownHosts(t *testing.T) {
	a, b := publicKey(t, 1), publicKey(t, 2)
	A, B := keyLine(a), keyLine(b)
	const known, unknown, changed, revoked = "known", "unknown", "changed", "revoked"
	tests := []struct {
		name, file string
		host       string
		port       int
		want       string // of key a
	}{
		{"empty", "", "h", 22, unknown},
		{"plain", "h " + A, "h", 22, known},
		{"comment behind", "h " + A + " root@h (old)\n", "h", 22, known},
		{"another host", "x " + B, "h", 22, unknown},
		{"changed", "h " + B, "h", 22, changed},
		{"two keys", "h " + B + "\nh " + A, "h", 22, known},
		{"list", "x,h,10.0.0.1 " + A, "10.0.0.1", 22, known},
		{"case", "H.Lan " + A, "h.lan", 22, known},
		{"pattern", "*.lan " + A, "h.lan", 22, known},
		{"pattern, changed", "*.lan " + B, "h.lan", 22, changed},
		{"negated", "*.lan,!h.lan " + B, "h.lan", 22, unknown},
		{"hashed", hashed("h") + " " + A, "h", 22, known},
		{"hashed, changed", hashed("h") + " " + B, "h", 22, changed},
		{"hashed, another", hashed("x") + " " + B, "h", 22, unknown},
		{"port", "[h]:2222 " + A, "h", 2222, known},
		{"port, changed", "[h]:2222 " + B, "h", 2222, changed},
		{"port, hashed", hashed("[h]:2222") + " " + A, "h", 2222, known},
		{"another port", "[h]:2223 " + B, "h", 2222, unknown},
		{"port 22 in brackets is not how it is written", "[h]:22 " + B, "h", 22, unknown},
		{"bare name for another port", "h " + A, "h", 2222, known},
		{"bare name says nothing against another port", "h " + B, "h", 2222, unknown},
		{"bare hashed name", hashed("h") + " " + A, "h", 2222, known},
		{"own line before the bare one", "h " + A + "\n[h]:2222 " + A, "h", 2222, known},
		{"port form says nothing of 22", "[h]:2222 " + B, "h", 22, unknown},
		{"IPv6", "::1 " + A, "::1", 22, known},
		{"IPv6 with a port", "[::1]:2222 " + A, "::1", 2222, known},
		{"revoked", "@revoked h " + A, "h", 22, revoked},
		{"revoked and listed", "h " + A + "\n@revoked * " + A, "h", 22, revoked},
		{"another one revoked", "@revoked * " + B + "\nh " + A, "h", 22, known},
		{"only another one revoked", "@revoked h " + B, "h", 22, unknown},
		{"revoked under the bare name", "@revoked h " + A, "h", 2222, revoked},
		{"authority", "@cert-authority h " + A, "h", 22, unknown},
		{"commented out", "#h " + B + "\n# h " + B, "h", 22, unknown},
		{"blanks", "  \t h \t " + A + "  \r\n", "h", 22, known},
		{"rubbish around", "h\nh x\nh ssh-ed25519 !!!\nh ssh-ed25519 AAAA\n|1|x h\n@\n|||| ssh-rsa AAAA\n\x00\xff\nh " + A, "h", 22, known},
		{"SSH 1", "h 1024 35 1234567\nh " + A, "h", 22, known},
		{"types not known here", "h sk-new@example.com AAAAB3NzaC1yc2E=\nh " + A, "h", 22, known},
		{"a long line before", strings.Repeat("x", maxHostLine+10) + " " + B + "\nh " + A, "h", 22, known},
	}
	for _, tt := range tests {
		e := testEnv(t)
		host := target{"root", tt.host, tt.port}
		k, err := lookUp(host, []string{e.Dir + "/none", put(t, e, "known", tt.file)})
		if err != nil {
			t.Fatal(err)
		}
		got := known
		switch err := k.check(host, a); {
		case errors.Is(err, errUnknownHost):
			got = unknown
		case err != nil && strings.Contains(err.Error(), "changed"):
			got = changed
			if !strings.Contains(err.Error(), "host key of "+knownName(host)) || !strings.Contains(err.Error(), ssh.FingerprintSHA256(a)) || !strings.Contains(err.Error(), ssh.FingerprintSHA256(b)) {
				t.Errorf("%s: %v, want the host and both fingerprints", tt.name, err)
			}
		case err != nil && strings.Contains(err.Error(), "revoked"):
			got = revoked
		case err != nil:
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestKnownHostsTwoFiles(t *testing.T) {
	e := testEnv(t)
	a, b := publicKey(t, 1), publicKey(t, 2)
	h := target{"root", "h", 22}
	files := []string{put(t, e, "one", "h "+keyLine(b)+"\n"), put(t, e, "two", "h "+keyLine(a)+"\n")}
	k, err := lookUp(h, files)
	if err != nil || k.check(h, a) != nil || k.check(h, b) != nil {
		t.Errorf("keys in two files: %v", err)
	}
	if _, err := lookUp(h, []string{e.Dir}); err == nil || !strings.Contains(err.Error(), e.Dir) {
		t.Errorf("a directory as known hosts: %v, want an error that names it", err)
	}
}

func TestKnownAlgorithms(t *testing.T) {
	parse := func(line string) ssh.PublicKey {
		key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	dir := t.TempDir()
	ed, ec, rs := parse(makeKey(t, dir+"/ed", "ed25519")), parse(makeKey(t, dir+"/ec", "ecdsa384")), parse(makeKey(t, dir+"/rsa", "rsa2048"))
	tests := []struct {
		keys   []ssh.PublicKey
		legacy bool
		first  string
	}{
		{nil, false, "ssh-ed25519 ecdsa-sha2-nistp256"},
		{[]ssh.PublicKey{rs}, false, "rsa-sha2-512 rsa-sha2-256 ssh-ed25519"},
		{[]ssh.PublicKey{rs}, true, "rsa-sha2-512 rsa-sha2-256 ssh-rsa ssh-ed25519"},
		{[]ssh.PublicKey{ec, ed}, false, "ecdsa-sha2-nistp384 ssh-ed25519 ecdsa-sha2-nistp256"},
	}
	for _, tt := range tests {
		k := &knownKeys{}
		for _, key := range tt.keys {
			k.own = append(k.own, hostKey{key: key})
		}
		algos := k.algorithms(tt.legacy)
		if got := strings.Join(algos, " "); !strings.HasPrefix(got, tt.first+" ") || slices.Contains(algos, "ssh-rsa") != tt.legacy {
			t.Errorf("algorithms(%v) = %s, want %s first", tt.legacy, got, tt.first)
		}
		if sorted := slices.Compact(slices.Sorted(slices.Values(algos))); len(sorted) != len(algos) {
			t.Errorf("algorithms = %q, some twice", algos)
		}
	}
}

func TestRecordHost(t *testing.T) {
	a, b := publicKey(t, 1), publicKey(t, 2)
	dir := t.TempDir()
	file := dir + "/new/known_hosts"
	for _, r := range []struct {
		t   target
		key ssh.PublicKey
	}{{target{"root", "h", 22}, a}, {target{"root", "h", 2222}, b}, {target{"root", "::1", 2222}, a}} {
		if err := recordHost(file, r.t, r.key); err != nil {
			t.Fatal(err)
		}
	}
	e := testEnv(t)
	holds(t, e, file, "h "+keyLine(a)+"\n[h]:2222 "+keyLine(b)+"\n[::1]:2222 "+keyLine(a)+"\n")
	if fi, err := os.Stat(file); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", fi.Mode(), err)
	}
	if keygen := needProgram(t, "ssh-keygen"); keygen != "" { // OpenSSH reads it so, too
		must(t, keygen, "-F", "[h]:2222", "-f", file)
	}
	put(t, e, "open", "x y z") // no line feed at the end
	if err := recordHost(e.Dir+"/open", target{"root", "h", 22}, a); err != nil {
		t.Fatal(err)
	}
	holds(t, e, "open", "x y z\nh "+keyLine(a)+"\n")
	if err := recordHost("/dev/null", target{"root", "h", 22}, a); err == nil {
		t.Error("a key is recorded in a device")
	}
}

// TestRemoteHostKey: unknown is recorded and told, known is silent, changed is
// refused and nothing runs, strict refuses unknown.
func TestRemoteHostKey(t *testing.T) {
	s := newSSHD(t, []string{"rsa2048", "ecdsa256", "ed25519"})
	keys := map[string]string{}
	for _, kind := range []string{"rsa2048", "ecdsa256", "ed25519"} {
		keys[kind] = s.hostKey(kind)
	}
	e := client(t, s)
	var told []string
	e.Tell = func(text string) { told = append(told, text) }
	got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
	fingerprint := strings.Fields(must(t, needProgram(t, "ssh-keygen"), "-lf", s.dir+"/host_ed25519.pub"))[1]
	if want := "ok\n[new host key of " + s.name() + " accepted: ssh-ed25519 " + fingerprint + ", recorded in " + e.SSH.KnownHosts + "]"; err != nil || got != want {
		t.Errorf("first contact = %q, %v, want %q", got, err, want)
	}
	if len(told) != 1 || !strings.Contains(told[0], fingerprint) {
		t.Errorf("the person was told %q, want the fingerprint", told)
	}
	holds(t, e, e.SSH.KnownHosts, s.name()+" "+keys["ed25519"]+"\n")
	e.Close()
	want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")

	for kind, key := range keys { // each alone on file: the server has all three
		e := client(t, s)
		knows(t, e, s.name()+" "+key)
		got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
		if err != nil || got != "ok\n" {
			t.Errorf("with the %s key on file = %q, %v", kind, got, err)
		}
		if isThere(e.SSH.KnownHosts) {
			t.Errorf("with the %s key on file another was recorded", kind)
		}
	}

	for _, kind := range []string{"ed25519", "rsa2048", "ecdsa384"} { // a key that the server does not have
		e := client(t, s)
		other := makeKey(t, e.Home+"/other", kind)
		line := s.name() + " " + other
		knows(t, e, line)
		ran := filepath.Join(t.TempDir(), "ran")
		wantError(t, e, "remote_bash", on(t, s, "touch "+ran), "ssh ", "host key of "+s.name()+" has changed", "SHA256:", e.Home+"/.ssh/known_hosts line 1")
		if isThere(ran) || isThere(e.SSH.KnownHosts) {
			t.Errorf("with another %s key on file the command ran, or the key was recorded", kind)
		}
		holds(t, e, e.Home+"/.ssh/known_hosts", line+"\n")
	}

	e = client(t, s)
	e.SSH.Strict = true
	wantError(t, e, "remote_bash", on(t, s, "echo ok"), "host key of "+s.name(), fingerprint, "is not known", "ssh.strict")
	if isThere(e.SSH.KnownHosts) {
		t.Error("strict records keys")
	}
	knows(t, e, s.name()+" "+keys["ecdsa256"])
	want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")
}

// A key that cannot be recorded is good for the session, and the same host
// with another is refused in it.
func TestRemoteHostKeyUnrecorded(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := client(t, s)
	e.SSH.KnownHosts = "/proc/none/known_hosts"
	got, err := use(t, e, "remote_bash", on(t, s, "echo ok"))
	if err != nil || !strings.Contains(got, ", but not recorded: ") {
		t.Errorf("first contact = %q, %v", got, err)
	}
	e.Close()
	want(t, e, "remote_bash", on(t, s, "echo ok"), "ok\n")
	e.Close()
	os.Remove(s.dir + "/host_ed25519")
	os.Remove(s.dir + "/host_ed25519.pub")
	s.hostKey("ed25519")
	wantError(t, e, "remote_bash", on(t, s, "echo ok"), "has changed", "in this session")
}

func FuzzKnownHosts(f *testing.F) {
	f.Add("h ssh-ed25519 AAAA\n@revoked * x y\n|1|a|b c d\n")
	f.Add(hashed("h") + " " + keyLine(publicKey(f, 1)))
	key := publicKey(f, 2)
	f.Fuzz(func(t *testing.T, line string) {
		began := time.Now()
		k := &knownKeys{}
		for _, port := range []int{22, 2222} {
			h := target{"root", "h", port}
			k.take(h, []byte(line), "here")
			k.check(h, key)
			k.algorithms(true)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("%q took %s", line, took)
		}
	})
}
