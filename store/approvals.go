package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"cluade/internal/jsonenc"
	"github.com/valyala/fastjson"
)

const maxApprovals = 256 << 10

// Approvals are the rules that a person allowed for good in one directory. They
// are kept in the state directory, never in the project, in a file that may be
// edited by hand: {"allow":["bash(uci *)"]}.
type Approvals struct{ path string }

// Approvals of the directory of a run; without a state directory there are
// none.
func (p Place) Approvals() Approvals {
	if p.State == "" {
		return Approvals{}
	}
	dir := canonical(p.Dir)
	sum := sha256.Sum256([]byte(dir))
	name := filepath.Base(dir) + "-" + hex.EncodeToString(sum[:8]) + ".json"
	return Approvals{filepath.Join(p.State, "approvals", name)}
}

// Path is the file, which need not be there; "" if there is none.
func (a Approvals) Path() string { return a.path }

// canonical is a directory by the name that links do not change.
func canonical(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// Load returns the rules as they are written; none where there is no file. One
// that holds anything else is faulty as a whole: a refusal in it would be lost.
func (a Approvals) Load() ([]string, error) {
	if _, err := os.Lstat(a.path); a.path == "" || os.IsNotExist(err) {
		return nil, nil
	}
	data, err := readOwn(a.path, maxApprovals)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", a.path, err)
	}
	v, fault := parseObject(a.path, data)
	if fault != nil {
		return nil, fault
	}
	v.GetObject().Visit(func(key []byte, _ *fastjson.Value) {
		if k := string(key); k != "allow" {
			fault = configError(a.path, k, "means nothing here: approvals are one list, allow; what is to be refused or asked belongs in config.json")
		}
	})
	if fault != nil {
		return nil, fault
	}
	list := v.Get("allow")
	if list == nil || listKind("rules", notEmpty).verify(list) != nil {
		return nil, configError(a.path, "allow", "must be a list of rules")
	}
	return stringsOf(list), nil
}

// Add keeps one more rule. Other processes may add to the same file; the last
// one to read it wins no more than its own rule.
func (a Approvals) Add(rule string) error {
	if a.path == "" {
		return errors.New("keep the approval: there is no home directory")
	}
	rules, err := a.Load()
	if err != nil {
		return err
	}
	if slices.Contains(rules, rule) {
		return nil
	}
	return a.write(append(rules, rule))
}

// Remove takes a rule out, if it is there.
func (a Approvals) Remove(rule string) error {
	rules, err := a.Load()
	if i := slices.Index(rules, rule); err == nil && i >= 0 {
		err = a.write(append(rules[:i], rules[i+1:]...))
	}
	return err
}

func (a Approvals) write(rules []string) error {
	text := []byte(`{"allow":[`)
	for i, r := range rules {
		if i > 0 {
			text = append(text, ',')
		}
		text = jsonenc.AppendString(append(text, "\n  "...), r)
	}
	err := os.MkdirAll(filepath.Dir(a.path), 0o700)
	if err == nil {
		err = writeFile(a.path, append(text, "\n]}\n"...), true)
	}
	if err != nil {
		return fmt.Errorf("keep the approval: %w", err)
	}
	return nil
}
