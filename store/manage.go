package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// CheckName says what is wrong with a name for a session. A name is told from an
// id, and from the beginning of one, by what is neither digit nor hyphen.
func (s *Sessions) CheckName(name, own string) error {
	switch {
	case len(name) > 60 || !utf8.ValidString(name):
		return errors.New("a name has at most 60 bytes")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("a name has no control characters")
	case strings.Trim(name, "0123456789-") == "":
		return errors.New("a name of digits alone would be taken for an id")
	}
	for _, e := range s.named(name) {
		if e.id != own {
			return fmt.Errorf("session %s has that name", e.id)
		}
	}
	return nil
}

// named are the sessions with that name. Each file is read.
func (s *Sessions) named(name string) (found []*saved) {
	list, _ := s.entries()
	for _, e := range list {
		if r, err := e.scan(); err == nil && name != "" && r.sess.Name == name {
			found = append(found, e)
		}
	}
	return found
}

// Delete removes a session, named by its id, a unique prefix or its name, with
// what belongs to it. One that a process has open stays.
func (s *Sessions) Delete(id string) (string, error) {
	e, err := s.find(id)
	if err != nil {
		return "", err
	}
	return e.id, s.remove(e)
}

func (s *Sessions) remove(e *saved) error {
	f, err := hold(e.path)
	if err != nil {
		return fmt.Errorf("delete session %s: %s", e.id, why(err))
	}
	defer f.Close()
	base := filepath.Join(s.dir, e.id)
	for _, path := range []string{base + ".jsonl" + undoSuffix, base + ".json", base + ".jsonl"} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("delete session %s: %s", e.id, why(err))
		}
	}
	return nil
}

// Prune removes the sessions beyond the newest keep, but never own and none that
// a process has open, and returns their ids. 0 keeps all.
func (s *Sessions) Prune(keep int, own string) (removed []string) {
	list, _ := s.entries()
	if keep <= 0 || len(list) <= keep {
		return nil
	}
	for _, e := range list[keep:] {
		if e.id != own && s.remove(e) == nil {
			removed = append(removed, e.id)
		}
	}
	return removed
}
