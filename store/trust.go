package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cluade/internal/jsonenc"
	"github.com/valyala/fastjson"
)

const maxTrust = 1 << 20

// Guarded are the values of a project's file that have no effect until a person
// trusts the project. What is in it can be shown and accepted, and nothing else:
// only the loader, given a Trust, puts it in force.
type Guarded struct {
	File   string // path of the project's file
	dir    string // canonical
	values []guardedValue
}

type guardedValue struct {
	key, json string
	secret    bool
}

// Trust is a person's word for the guarded values of one project, exactly as
// they were shown. The zero value is none. Accept and the trust file are the
// only ways to get one.
type Trust struct{ dir, hash string }

// GuardedValue is one value as it is shown: its key and its JSON text, or ***
// where it is a secret. Host is where it would send everything to, "" if it
// does not say.
type GuardedValue struct{ Key, Text, Host string }

// Show lists everything that accepting would put in force.
func (g *Guarded) Show() (list []GuardedValue) {
	for _, v := range g.values {
		s := GuardedValue{Key: v.key, Text: v.json}
		if v.secret {
			s.Text = "***"
		}
		if v.key == "base_url" {
			s.Host = hostOf(string(fastjson.MustParse(v.json).GetStringBytes()))
		}
		list = append(list, s)
	}
	return list
}

// Accept is the word for these values, given by a person.
func (g *Guarded) Accept() Trust { return Trust{g.dir, g.hash()} }

// hash is the SHA-256 of the values as one JSON object with sorted keys.
func (g *Guarded) hash() string {
	var members []string
	for _, v := range g.values {
		members = append(members, quote(v.key)+":"+v.json)
	}
	slices.Sort(members)
	sum := sha256.Sum256([]byte("{" + strings.Join(members, ",") + "}"))
	return hex.EncodeToString(sum[:])
}

// accepts says whether t is the word for exactly these values.
func (t Trust) accepts(g *Guarded) bool {
	return t.hash != "" && t.dir == g.dir && t.hash == g.hash()
}

// trustFile is the words given for good: an object of canonical directories and
// hashes in the state directory.
func (p Place) trustFile() string {
	if p.State == "" {
		return ""
	}
	return filepath.Join(p.State, "trust.json")
}

// known is the word that was given for good for a directory.
func (p Place) known(dir string) (Trust, error) {
	all, err := p.trusted()
	if err != nil || all == nil {
		return Trust{}, err
	}
	return Trust{dir, string(all.GetStringBytes(dir))}, nil
}

// trusted reads the trust file, nil if there is none.
func (p Place) trusted() (*fastjson.Value, error) {
	path := p.trustFile()
	if path == "" {
		return nil, nil
	}
	data, err := readOwn(path, maxTrust)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %s", path, why(err))
	}
	v, fault := parseObject(path, data)
	if fault != nil {
		return nil, fault
	}
	return v, nil
}

// KeepTrust makes a word count in later runs, until one of the values changes.
func (p Place) KeepTrust(t Trust) error {
	path := p.trustFile()
	if path == "" {
		return errors.New("keep the trust: there is no home directory")
	}
	all, err := p.trusted()
	if err != nil {
		return fmt.Errorf("keep the trust: %w", err)
	}
	text := jsonenc.AppendString(jsonenc.AppendKey([]byte("{"), t.dir), t.hash)
	if all != nil {
		all.GetObject().Visit(func(k []byte, v *fastjson.Value) {
			if string(k) != t.dir {
				text = append(jsonenc.AppendKey(text, string(k)), jsonText(v)...)
			}
		})
	}
	if err = os.MkdirAll(p.State, 0o700); err == nil {
		err = writeFile(path, append(text, "}\n"...), true)
	}
	if err != nil {
		return fmt.Errorf("keep the trust: %w", err)
	}
	return nil
}
