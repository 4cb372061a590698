package tools

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"
)

const (
	maxHostLine = 32 << 10
	maxHostFile = 8 << 20
)

// hostKey is a key that is on file for a host.
type hostKey struct {
	key     ssh.PublicKey
	where   string // file and line
	revoked bool
}

// knownKeys are the keys on file for one host. OpenSSH files a host under
// [name]:port unless the port is 22; dropbear always under the bare name. So a
// bare name vouches for a key on another port, but says nothing against one.
type knownKeys struct {
	own, bare []hostKey
}

// lookUp collects the keys of a host from known_hosts files; what is not there
// holds none. Lines that make no sense are passed over, as OpenSSH does: files
// hold keys of types that this program does not know.
func lookUp(t target, files []string) (*knownKeys, error) {
	k := &knownKeys{}
	for _, file := range files {
		if err := k.read(t, file); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return nil, fmt.Errorf("known hosts: %s: %s", file, errnoText(err))
		}
	}
	return k, nil
}

func (k *knownKeys) read(t target, file string) error {
	f, _, err := openConfig(file)
	if err != nil {
		return err
	}
	defer f.Close()
	br := bufio.NewReader(&source{ctx: context.Background(), r: io.LimitReader(f, maxHostFile)})
	for n := 1; ; n++ {
		line, size, err := readLine(br, maxHostLine)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if size <= maxHostLine {
			k.take(t, line, fmt.Sprintf("%s line %d", file, n))
		}
	}
}

// take reads one line: [@marker] names key-type base64 [comment]; sshd(8),
// "SSH_KNOWN_HOSTS FILE FORMAT". Keys of certificate authorities are no host
// keys.
func (k *knownKeys) take(t target, line []byte, where string) {
	fields := bytes.Fields(line)
	if len(fields) == 0 || fields[0][0] == '#' {
		return
	}
	h := hostKey{where: where}
	if fields[0][0] == '@' {
		h.revoked = string(fields[0]) == "@revoked"
		if fields = fields[1:]; !h.revoked {
			return
		}
	}
	if len(fields) < 3 {
		return
	}
	own, bare := namesHost(string(fields[0]), t)
	if !own && !bare {
		return
	}
	blob, err := base64.StdEncoding.DecodeString(string(fields[2]))
	if err != nil {
		return
	}
	if h.key, err = ssh.ParsePublicKey(blob); err != nil {
		return
	}
	if own {
		k.own = append(k.own, h)
		return
	}
	k.bare = append(k.bare, h)
}

// knownName is what a host is filed under.
func knownName(t target) string {
	if t.port == sshPort {
		return t.host
	}
	return fmt.Sprintf("[%s]:%d", t.host, t.port)
}

// namesHost says whether the first field of a line means the host, or the host
// on any port.
func namesHost(field string, t target) (own, bare bool) {
	if strings.HasPrefix(field, "|") {
		return hashOf(field, knownName(t)), t.port != sshPort && hashOf(field, t.host)
	}
	patterns := strings.Split(field, ",")
	return matchHosts(patterns, knownName(t)), t.port != sshPort && matchHosts(patterns, t.host)
}

// hashOf says whether a field is the hash of a name: |1|salt|HMAC-SHA1, both in
// base64.
func hashOf(field, name string) bool {
	parts := strings.Split(field, "|")
	if len(parts) != 4 || parts[1] != "1" {
		return false
	}
	salt, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return false
	}
	want, err := base64.StdEncoding.DecodeString(parts[3])
	mac := hmac.New(sha1.New, salt)
	mac.Write([]byte(name))
	return err == nil && hmac.Equal(mac.Sum(nil), want)
}

// algorithms are the host key algorithms to offer: the types on file first, so
// that a host with several keys shows the one that is known; then the cheapest.
func (k *knownKeys) algorithms(legacy bool) []string {
	var list []string
	add := func(keyType string) {
		algos := []string{keyType}
		if keyType == ssh.KeyAlgoRSA {
			algos = []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}
			if legacy {
				algos = append(algos, ssh.KeyAlgoRSA)
			}
		}
		for _, a := range algos {
			if !slices.Contains(list, a) {
				list = append(list, a)
			}
		}
	}
	for _, h := range k.all() {
		if !h.revoked {
			add(h.key.Type())
		}
	}
	for _, keyType := range []string{ssh.KeyAlgoED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoRSA} {
		add(keyType)
	}
	return list
}

// all are the keys on file for the host, those of its own name first.
func (k *knownKeys) all() []hostKey {
	return append(append([]hostKey{}, k.own...), k.bare...)
}

// errUnknownHost says that nothing is on file for a host.
var errUnknownHost = errors.New("host key is not known")

// check compares a key with those on file. The error is errUnknownHost where
// there is none; any other is a refusal.
func (k *knownKeys) check(t target, key ssh.PublicKey) error {
	is := func(h hostKey) bool { return bytes.Equal(h.key.Marshal(), key.Marshal()) }
	var known []string
	match := false
	for _, h := range k.all() {
		if h.revoked && is(h) {
			return fmt.Errorf("the host key of %s (%s) is revoked in %s", knownName(t), describeKey(key), h.where)
		}
		match = match || is(h)
	}
	for _, h := range k.own {
		if !h.revoked {
			known = append(known, fmt.Sprintf("%s in %s", describeKey(h.key), h.where))
		}
	}
	switch {
	case match:
		return nil
	case len(known) == 0:
		return errUnknownHost
	}
	return fmt.Errorf("the host key of %s has changed: it shows %s, known is %s; "+
		"somebody may be in between, so nothing was sent; only the person can tell whether the new key is right, and then removes the old line",
		knownName(t), describeKey(key), strings.Join(known, " and "))
}

func describeKey(key ssh.PublicKey) string { return key.Type() + " " + ssh.FingerprintSHA256(key) }

// recordHost appends a key to a known_hosts file, which is made if need be. One
// write, so that two processes do not mix their lines.
func recordHost(file string, t target, key ssh.PublicKey) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_RDWR|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	line := knownName(t) + " " + string(ssh.MarshalAuthorizedKey(key))
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if err := notRegular(fi, file); err != nil {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, fi.Size()-1); fi.Size() > 0 && err == nil && last[0] != '\n' {
		line = "\n" + line
	}
	_, err = f.WriteString(line)
	return err
}

// hostCheck judges the keys that one connection is shown: the first, and those
// of later key exchanges. The SSH library calls verify from a goroutine of its
// own; the verdict on the first key goes through news.
type hostCheck struct {
	target   target
	known    *knownKeys
	strict   bool
	file     string        // where to record; "" cannot
	accepted ssh.PublicKey // unknown until then; verify's own
	news     chan hostNews
}

// hostNews is what came of the first key. note is empty where the key was
// known; key is nil where it was refused.
type hostNews struct {
	key  ssh.PublicKey
	note string
}

func (c *hostCheck) verify(_ string, _ net.Addr, key ssh.PublicKey) error {
	if c.accepted != nil && bytes.Equal(c.accepted.Marshal(), key.Marshal()) {
		return nil
	}
	err := c.known.check(c.target, key)
	n := hostNews{key: key}
	if errors.Is(err, errUnknownHost) && c.accepted == nil {
		if c.strict {
			return fmt.Errorf("the host key of %s (%s) is not known and ssh.strict is set; the person can add it to known_hosts", knownName(c.target), describeKey(key))
		}
		n.note, err = c.accept(key), nil
	}
	if err == nil {
		c.accepted = key
		select {
		case c.news <- n:
		default:
		}
	}
	return err
}

// accept records the key of an unknown host and says so.
func (c *hostCheck) accept(key ssh.PublicKey) string {
	note := fmt.Sprintf("new host key of %s accepted: %s", knownName(c.target), describeKey(key))
	if c.file == "" {
		return note + ", for this session only"
	}
	if err := recordHost(c.file, c.target, key); err != nil {
		return fmt.Sprintf("%s, but not recorded: %s: %s", note, c.file, errnoText(err))
	}
	return note + ", recorded in " + c.file
}
