package tools

import (
	"encoding/binary"
	"errors"
	"io"

	"golang.org/x/crypto/ssh"
)

// maxAgentAnswer bounds an answer of the agent, in bytes.
const maxAgentAnswer = 1 << 20

var (
	errAgentAnswer  = errors.New("its answer cannot be read")
	errAgentRefused = errors.New("it refused")
)

// agentKey is a key that an ssh-agent holds: the public half, of any type, and
// the signer that asks the agent at the other end of conn, one question at a
// time. The client of x/crypto does more and is 19 KiB larger.
type agentKey struct {
	conn    io.ReadWriter
	kind    string
	blob    []byte
	comment string
}

// agentKeys are the keys that the agent has (draft-miller-ssh-agent).
func agentKeys(conn io.ReadWriter) ([]*agentKey, error) {
	var list struct {
		Count uint32 `sshtype:"12"`
		Rest  []byte `ssh:"rest"`
	}
	const listKeys = 11
	if err := askAgent(conn, []byte{listKeys}, &list); err != nil {
		return nil, err
	}
	var keys []*agentKey
	for ; list.Count > 0; list.Count-- {
		var key struct {
			Blob    []byte
			Comment string
			Rest    []byte `ssh:"rest"`
		}
		var head struct {
			Type string
			Rest []byte `ssh:"rest"`
		}
		if ssh.Unmarshal(list.Rest, &key) != nil || ssh.Unmarshal(key.Blob, &head) != nil {
			return keys, errAgentAnswer
		}
		keys = append(keys, &agentKey{conn, head.Type, key.Blob, key.Comment})
		list.Rest = key.Rest
	}
	return keys, nil
}

// askAgent sends a message and reads the answer into a struct that names its type.
func askAgent(conn io.ReadWriter, message []byte, answer any) error {
	packet := binary.BigEndian.AppendUint32(nil, uint32(len(message)))
	if _, err := conn.Write(append(packet, message...)); err != nil {
		return err
	}
	var head [4]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > maxAgentAnswer {
		return errAgentAnswer
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(conn, data); err != nil {
		return err
	}
	const failure = 5
	if data[0] == failure {
		return errAgentRefused
	}
	if ssh.Unmarshal(data, answer) != nil {
		return errAgentAnswer
	}
	return nil
}

func (k *agentKey) PublicKey() ssh.PublicKey { return k }
func (k *agentKey) Type() string             { return k.kind }
func (k *agentKey) Marshal() []byte          { return k.blob }

// Verify is not for a key to log in with.
func (k *agentKey) Verify([]byte, *ssh.Signature) error {
	return errors.New("a key of the agent verifies nothing")
}

// Sign signs as the type of the key says.
func (k *agentKey) Sign(rand io.Reader, data []byte) (*ssh.Signature, error) {
	return k.SignWithAlgorithm(rand, data, "")
}

// SignWithAlgorithm lets the agent sign; an RSA key with SHA-2 where the
// algorithm says so (RFC 8332).
func (k *agentKey) SignWithAlgorithm(_ io.Reader, data []byte, algorithm string) (*ssh.Signature, error) {
	request := struct {
		Key   []byte `sshtype:"13"`
		Data  []byte
		Flags uint32
	}{Key: k.blob, Data: data}
	switch algorithm {
	case ssh.KeyAlgoRSASHA256:
		request.Flags = 2
	case ssh.KeyAlgoRSASHA512:
		request.Flags = 4
	}
	var answer struct {
		Signature []byte `sshtype:"14"`
	}
	if err := askAgent(k.conn, ssh.Marshal(request), &answer); err != nil {
		return nil, err
	}
	signature := &ssh.Signature{}
	if ssh.Unmarshal(answer.Signature, signature) != nil {
		return nil, errAgentAnswer
	}
	return signature, nil
}
