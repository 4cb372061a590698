package tools

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	maxKeyFile = 64 << 10
	agentTime  = 2 * time.Second // for the agent to list its keys
)

var errPassphrase = errors.New("is encrypted with a passphrase, which nobody is asked for; load it into an ssh-agent, or use another key")

// identity is a private key that may open a host.
type identity struct {
	name   string // the file, or the agent's comment
	signer ssh.Signer
}

// keyring is what there is to log in with: keys, and why others are none.
type keyring struct {
	keys   []identity
	unfit  []string
	absent []string // usual files that are not there
	agent  net.Conn // nil if none; open while its keys are used
}

func (k *keyring) close() {
	if k.agent != nil {
		k.agent.Close()
	}
}

// keysFor collects the keys for a host: those that the configuration names for
// it or for all hosts, else the files in the usual places; and the agent's. Few
// servers let more than six be tried, so the named ones come first.
func (e *Env) keysFor(h hop) *keyring {
	k := &keyring{}
	named := append(h.identity[:len(h.identity):len(h.identity)], e.SSH.IdentityFiles...)
	for _, file := range named {
		k.addFile(e, file)
	}
	k.addAgent(e.SSH.Agent)
	if h.identity == nil && len(named) == 0 && e.Home != "" {
		for _, name := range []string{"id_dropbear", "id_ed25519", "id_ecdsa", "id_rsa"} {
			if file := filepath.Join(e.Home, ".ssh", name); isThere(file) {
				k.addFile(e, file)
			} else {
				k.absent = append(k.absent, file)
			}
		}
	}
	return k
}

// CheckSSH says what is wrong with the keys to reach other hosts with, and with
// the files of the keys of hosts, one sentence each.
func (e *Env) CheckSSH() []string {
	k := e.keysFor(hop{})
	k.close()
	if _, err := lookUp(target{}, []string{e.SSH.KnownHosts, e.Home + "/.ssh/known_hosts"}); err != nil {
		k.unfit = append(k.unfit, err.Error())
	}
	return k.unfit
}

func (k *keyring) addFile(e *Env, file string) {
	path, err := e.absolute(file)
	var signer ssh.Signer
	if err == nil {
		signer, err = loadKey(path)
	}
	if err != nil {
		k.unfit = append(k.unfit, fmt.Sprintf("%s (%s)", file, errnoText(err)))
		return
	}
	k.add(identity{file, signer})
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return !errors.Is(err, fs.ErrNotExist)
}

// add takes a key unless it is there already.
func (k *keyring) add(id identity) {
	pub := id.signer.PublicKey().Marshal()
	for _, have := range k.keys {
		if bytes.Equal(have.signer.PublicKey().Marshal(), pub) {
			return
		}
	}
	k.keys = append(k.keys, id)
}

func (k *keyring) addAgent(socket string) {
	if socket == "" {
		return
	}
	conn, err := net.DialTimeout("unix", socket, agentTime)
	if err != nil {
		k.unfit = append(k.unfit, "ssh-agent ("+errnoText(err)+")")
		return
	}
	k.agent = conn
	conn.SetDeadline(time.Now().Add(agentTime))
	held, err := agentKeys(conn)
	conn.SetDeadline(time.Time{})
	if err != nil {
		k.unfit = append(k.unfit, "ssh-agent ("+err.Error()+")")
	}
	for _, key := range held {
		name := key.comment
		if name == "" {
			name = ssh.FingerprintSHA256(key)
		}
		k.add(identity{"ssh-agent " + name, key})
	}
}

// loadKey reads a private key. The error says what the file is instead.
func loadKey(path string) (ssh.Signer, error) {
	f, fi, err := openConfig(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if fi.Size() > maxKeyFile {
		return nil, errors.New("is too large for a key")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, err
	}
	return parseKey(data)
}

// parseKey reads a private key as OpenSSH, OpenSSL or dropbear write it.
func parseKey(data []byte) (ssh.Signer, error) {
	if key, err := parseDropbear(data); key != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return ssh.NewSignerFromKey(key)
	}
	signer, err := ssh.ParsePrivateKey(data)
	var encrypted *ssh.PassphraseMissingError
	switch {
	case err == nil:
		return signer, nil
	case errors.As(err, &encrypted), bytes.Contains(data, []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----")):
		return nil, errPassphrase
	case bytes.HasPrefix(data, []byte("PuTTY-User-Key-File")):
		return nil, errors.New("is in PuTTY's format; puttygen key.ppk -O private-openssh -o key converts it")
	case bytes.Contains(data, []byte("-----BEGIN DSA PRIVATE KEY-----")):
		return nil, errors.New("is a DSA key, which servers no longer take")
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(data); err == nil {
		return nil, errors.New("is a public key; name the private one")
	}
	return nil, errors.New("is no private key: " + strings.TrimPrefix(err.Error(), "ssh: "))
}

// parseDropbear reads dropbear's own format: the name of the key type, then the
// numbers of the key, encoded as in the SSH protocol (RFC 4251, section 5); see
// dropbear's signkey.c. Both results are nil when data is nothing of the kind.
func parseDropbear(data []byte) (crypto.PrivateKey, error) {
	var head struct {
		Type string
		Rest []byte `ssh:"rest"`
	}
	if len(data) < 4 || data[0] != 0 || ssh.Unmarshal(data, &head) != nil {
		return nil, nil
	}
	switch head.Type {
	case ssh.KeyAlgoED25519:
		return dropbearEd25519(head.Rest)
	case ssh.KeyAlgoRSA:
		return dropbearRSA(head.Rest)
	case ssh.KeyAlgoECDSA256:
		return dropbearECDSA(head.Rest, elliptic.P256())
	case ssh.KeyAlgoECDSA384:
		return dropbearECDSA(head.Rest, elliptic.P384())
	case ssh.KeyAlgoECDSA521:
		return dropbearECDSA(head.Rest, elliptic.P521())
	case "ssh-dss":
		return nil, errors.New("is a DSA key, which servers no longer take")
	}
	return nil, nil
}

var errDamaged = errors.New("is a dropbear key that is damaged")

func dropbearEd25519(data []byte) (crypto.PrivateKey, error) {
	var k struct{ Key []byte }
	if ssh.Unmarshal(data, &k) != nil || len(k.Key) != ed25519.PrivateKeySize {
		return nil, errDamaged
	}
	key := ed25519.NewKeyFromSeed(k.Key[:ed25519.SeedSize])
	if !bytes.Equal(key, k.Key) {
		return nil, errDamaged
	}
	return key, nil
}

func dropbearRSA(data []byte) (crypto.PrivateKey, error) {
	var k struct{ E, N, D, P, Q *big.Int }
	const maxBits = 16384
	if ssh.Unmarshal(data, &k) != nil || k.E.BitLen() > 31 || k.N.BitLen() > maxBits {
		return nil, errDamaged
	}
	for _, n := range []*big.Int{k.E, k.N, k.D, k.P, k.Q} {
		if n.Sign() <= 0 || n.BitLen() > k.N.BitLen() {
			return nil, errDamaged
		}
	}
	key := &rsa.PrivateKey{
		PublicKey: rsa.PublicKey{N: k.N, E: int(k.E.Int64())},
		D:         k.D,
		Primes:    []*big.Int{k.P, k.Q},
	}
	if err := key.Validate(); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	key.Precompute()
	return key, nil
}

func dropbearECDSA(data []byte, curve elliptic.Curve) (crypto.PrivateKey, error) {
	var k struct {
		Curve  string
		Public []byte
		D      *big.Int
	}
	size := (curve.Params().BitSize + 7) / 8
	if ssh.Unmarshal(data, &k) != nil || k.D.Sign() <= 0 || k.D.BitLen() > 8*size {
		return nil, errDamaged
	}
	key, err := ecdsa.ParseRawPrivateKey(curve, k.D.FillBytes(make([]byte, size)))
	if err != nil {
		return nil, errDamaged
	}
	if public, err := key.PublicKey.Bytes(); err != nil || !bytes.Equal(public, k.Public) {
		return nil, errDamaged
	}
	return key, nil
}
