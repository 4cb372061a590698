package tools

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"math/big"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// dropbearKeys are keys of each type in dropbear's format, with their public
// halves.
func dropbearKeys(t testing.TB) map[string]struct {
	data []byte
	pub  ssh.PublicKey
} {
	t.Helper()
	keys := make(map[string]struct {
		data []byte
		pub  ssh.PublicKey
	})
	add := func(public any, private any) {
		pub, err := ssh.NewPublicKey(public)
		if err != nil {
			t.Fatal(err)
		}
		data := append(ssh.Marshal(struct{ Type string }{pub.Type()}), ssh.Marshal(private)...)
		keys[pub.Type()] = struct {
			data []byte
			pub  ssh.PublicKey
		}{data, pub}
	}
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	add(ed.Public(), struct{ Key []byte }{ed})
	r, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	add(r.Public(), struct{ E, N, D, P, Q *big.Int }{big.NewInt(int64(r.E)), r.N, r.D, r.Primes[0], r.Primes[1]})
	for name, curve := range map[string]elliptic.Curve{"nistp256": elliptic.P256(), "nistp384": elliptic.P384(), "nistp521": elliptic.P521()} {
		k, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		public, err := k.PublicKey.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		secret, err := k.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		add(k.Public(), struct {
			Curve string
			Q     []byte
			D     *big.Int
		}{name, public, new(big.Int).SetBytes(secret)})
	}
	return keys
}

func TestDropbearKeys(t *testing.T) {
	for kind, k := range dropbearKeys(t) {
		signer, err := parseKey(k.data)
		if err != nil || !bytes.Equal(signer.PublicKey().Marshal(), k.pub.Marshal()) {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		sig, err := signer.Sign(rand.Reader, []byte("text"))
		if err != nil || k.pub.Verify([]byte("text"), sig) != nil {
			t.Errorf("%s: its signature is not good: %v", kind, err)
		}
		for n := range len(k.data) {
			if _, err := parseKey(k.data[:n]); err == nil {
				t.Errorf("%s: its first %d bytes are a key", kind, n)
			}
		}
		if _, err := parseKey(append(bytes.Clone(k.data), 0)); err == nil {
			t.Errorf("%s: a key with a byte behind it is a key", kind)
		}
		// Whatever byte is damaged, no other key comes of it.
		for i := range k.data {
			damaged := bytes.Clone(k.data)
			damaged[i] ^= 0x55
			if signer, err := parseKey(damaged); err == nil && !bytes.Equal(signer.PublicKey().Marshal(), k.pub.Marshal()) {
				t.Errorf("%s: with byte %d damaged it is another key", kind, i)
			}
		}
	}
}

func TestParseKeyErrors(t *testing.T) {
	public := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKHEChIXvLWHwBQLKNHVTsd5wMHCt+BRqRjbhkeEB5wO me@here\n"
	tests := []struct{ data, want string }{
		{"", "is no private key"},
		{"hello\n", "is no private key"},
		{public, "is a public key; name the private one"},
		{"PuTTY-User-Key-File-3: ssh-ed25519\n", "is in PuTTY's format"},
		{"-----BEGIN DSA PRIVATE KEY-----\nMAA=\n-----END DSA PRIVATE KEY-----\n", "is a DSA key"},
		{"\x00\x00\x00\x07ssh-dss\x00\x00\x00\x01\x01", "is a DSA key"},
		{"-----BEGIN RSA PRIVATE KEY-----\nMAA=\n-----END RSA PRIVATE KEY-----\n", "is no private key"},
		{"-----BEGIN OPENSSH PRIVATE KEY-----\nMAA=\n-----END OPENSSH PRIVATE KEY-----\n", "is no private key"},
		{"-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n", "passphrase"},
		{"\x00\x00\x00\x0bssh-ed25519\x00\x00\x00\x40" + strings.Repeat("a", 64), "is a dropbear key that is damaged"},
		{"\x00\x00\x00\x07ssh-rsa", "is a dropbear key that is damaged"},
		{"\x00\x00\x00\x03abc", "is no private key"},
		{"\x00\x00\xff\xff", "is no private key"},
	}
	for _, tt := range tests {
		_, err := parseKey([]byte(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("parseKey(%q) = %v, want %q", tt.data, err, tt.want)
		}
	}
}

// A key that is huge in number must not cost more than a moment.
func TestParseKeyHuge(t *testing.T) {
	n := new(big.Int).Lsh(big.NewInt(1), 17000)
	data := append(ssh.Marshal(struct{ Type string }{"ssh-rsa"}), ssh.Marshal(struct{ E, N, D, P, Q *big.Int }{big.NewInt(3), n, n, n, n})...)
	if _, err := parseKey(data); err == nil {
		t.Error("a key of 17000 bits is taken")
	}
}

func FuzzParseKey(f *testing.F) {
	for _, k := range dropbearKeys(f) {
		f.Add(k.data)
	}
	f.Add([]byte("-----BEGIN OPENSSH PRIVATE KEY-----\nMAA=\n-----END OPENSSH PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		signer, err := parseKey(data)
		if (signer == nil) == (err == nil) {
			t.Errorf("parseKey(%q) = %v, %v", data, signer, err)
		}
	})
}
