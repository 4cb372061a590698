package tools

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"net"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

func TestAgentSigns(t *testing.T) {
	_, edwards, _ := ed25519.GenerateKey(rand.Reader)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	big, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	for name, key := range map[string]any{"edwards": edwards, "curve": curve, "big": big} {
		if err := ring.Add(agent.AddedKey{PrivateKey: key, Comment: name}); err != nil {
			t.Fatal(err)
		}
	}
	here, there := net.Pipe()
	defer here.Close()
	go agent.ServeAgent(ring, there)
	keys, err := agentKeys(here)
	if err != nil || len(keys) != 3 {
		t.Fatalf("agentKeys = %d keys, %v, want 3", len(keys), err)
	}
	for _, k := range keys {
		want := map[string][]string{
			"edwards": {ssh.KeyAlgoED25519},
			"curve":   {ssh.KeyAlgoECDSA256},
			"big":     {ssh.KeyAlgoRSASHA256, ssh.KeyAlgoRSASHA512},
		}[k.comment]
		public, err := ssh.ParsePublicKey(k.Marshal())
		if err != nil || public.Type() != k.Type() {
			t.Fatalf("type of %q = %q, %v", k.comment, k.Type(), err)
		}
		for _, algorithm := range want {
			signature, err := k.SignWithAlgorithm(rand.Reader, []byte("data"), algorithm)
			if err != nil || signature.Format != algorithm {
				t.Fatalf("%q signed by %s = %v, %v", k.comment, algorithm, signature, err)
			}
			if err := public.Verify([]byte("data"), signature); err != nil {
				t.Errorf("signature of %q by %s: %v", k.comment, algorithm, err)
			}
		}
		if signature, err := k.Sign(rand.Reader, []byte("data")); err != nil || public.Verify([]byte("data"), signature) != nil {
			t.Errorf("plain signature of %q = %v, %v", k.comment, signature, err)
		}
	}
	ring.RemoveAll()
	if _, err := keys[0].Sign(rand.Reader, nil); err != errAgentRefused {
		t.Errorf("signature by a key that is gone: %v, want %v", err, errAgentRefused)
	}
}

// answers is an agent that takes any question and answers with fixed bytes.
type answers struct{ *strings.Reader }

func (answers) Write(b []byte) (int, error) { return len(b), nil }

func agentAnswers(s string) answers { return answers{strings.NewReader(s)} }

func TestAgentBadAnswers(t *testing.T) {
	const blob = "\x00\x00\x00\x05\x00\x00\x00\x01k" // a key of type "k"
	cases := []struct {
		name, answer string
		keys         int
		ok           bool
	}{
		{"no answer", "", 0, false},
		{"no message", "\x00\x00\x00\x00", 0, false},
		{"half a length", "\x00\x00", 0, false},
		{"a message that is cut", "\x00\x00\x00\x05\x0c\x00\x00", 0, false},
		{"a message of 4 GiB", "\xff\xff\xff\xff\x0c", 0, false},
		{"a message over the limit", "\x00\x10\x00\x01\x0c" + strings.Repeat("\x00", maxAgentAnswer), 0, false},
		{"failure", "\x00\x00\x00\x01\x05", 0, false},
		{"another message", "\x00\x00\x00\x05\x0e\x00\x00\x00\x00", 0, false},
		{"no keys", "\x00\x00\x00\x05\x0c\x00\x00\x00\x00", 0, true},
		{"a key", "\x00\x00\x00\x12\x0c\x00\x00\x00\x01" + blob + "\x00\x00\x00\x00", 1, true},
		{"more keys than there are", "\x00\x00\x00\x12\x0c\xff\xff\xff\xff" + blob + "\x00\x00\x00\x00", 1, false},
		{"a key without a type", "\x00\x00\x00\x0d\x0c\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", 0, false},
	}
	for _, c := range cases {
		keys, err := agentKeys(agentAnswers(c.answer))
		if len(keys) != c.keys || (err == nil) != c.ok {
			t.Errorf("agentKeys(%s) = %d keys, %v, want %d, good %v", c.name, len(keys), err, c.keys, c.ok)
		}
	}
	for _, answer := range []string{"\x00\x00\x00\x05\x0e\x00\x00\x00\x00", "\x00\x00\x00\x05\x0e\x00\x00\x00\x09", "\x00\x00\x00\x01\x05"} {
		k := &agentKey{conn: agentAnswers(answer)}
		if signature, err := k.Sign(rand.Reader, nil); err == nil {
			t.Errorf("Sign with the answer %q = %v, want an error", answer, signature)
		}
	}
}

func FuzzAgentKeys(f *testing.F) {
	f.Add([]byte("\x0c\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00\x01k\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, message []byte) {
		if len(message) > 255 {
			return
		}
		keys, _ := agentKeys(agentAnswers("\x00\x00\x00" + string([]byte{byte(len(message))}) + string(message)))
		for _, k := range keys {
			if !bytes.Contains(message, k.blob) {
				t.Errorf("key %q is not in the message %q", k.blob, message)
			}
		}
	})
}
