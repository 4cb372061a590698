package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestApprovals(t *testing.T) {
	b := newBox(t)
	a := b.place().Approvals()
	if rules, err := a.Load(); len(rules) > 0 || err != nil {
		t.Errorf("Load of nothing = %v, %v", rules, err)
	}
	want := []string{"bash(uci *)", `edit(/a "b"/**)`}
	for _, rule := range append(want, want[0]) {
		if err := a.Add(rule); err != nil {
			t.Fatal(err)
		}
	}
	if rules, err := a.Load(); err != nil || !slices.Equal(rules, want) {
		t.Errorf("Load = %q, %v, want %q", rules, err, want)
	}
	if err := a.Remove("bash(none)"); err != nil {
		t.Errorf("Remove of what is not there = %v", err)
	}
	if err := a.Remove(want[0]); err != nil {
		t.Fatal(err)
	}
	if rules, err := a.Load(); err != nil || !slices.Equal(rules, want[1:]) {
		t.Errorf("without the first: %q, %v, want %q", rules, err, want[1:])
	}
	info := must(os.Stat(a.Path()))
	if info.Mode().Perm() != 0o600 || filepath.Dir(a.Path()) != filepath.Join(b.home, ".cluade", "approvals") {
		t.Errorf("%s has mode %v", a.Path(), info.Mode())
	}
	// The same directory by another name has the same file, another one has not.
	link := filepath.Join(b.home, "link")
	if err := os.Symlink(b.dir, link); err != nil {
		t.Fatal(err)
	}
	p := b.place()
	p.Dir = link
	if p.Approvals() != a {
		t.Errorf("by a link: %v, want %v", p.Approvals(), a)
	}
	p.Dir = b.home
	if p.Approvals() == a {
		t.Error("another directory has the same approvals")
	}
	if err := os.Chmod(a.Path(), 0o620); err != nil {
		t.Fatal(err)
	}
	if rules, err := a.Load(); err == nil || len(rules) > 0 || !strings.Contains(err.Error(), "others can write to it") {
		t.Errorf("Load of a file to which others can write = %v, %v", rules, err)
	}
	if err := os.Chmod(a.Path(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "[]", `{"allow":"bash"}`, `{"allow":[1]}`, `{"allow":["a",]}`, `{"allow":["a"],"deny":["b"]}`, `{"ask":[]}`} {
		b.put(a.Path(), text)
		if rules, err := a.Load(); err == nil || len(rules) > 0 {
			t.Errorf("Load of %q = %v, %v, want an error", text, rules, err)
		} else if !strings.Contains(err.Error(), a.Path()) {
			t.Errorf("Load of %q = %v, want the file named", text, err)
		}
		if err := a.Add("bash(x *)"); err == nil || string(must(os.ReadFile(a.Path()))) != text {
			t.Errorf("Add to %q = %v, the file is %q", text, err, must(os.ReadFile(a.Path())))
		}
	}
	if err := (Place{Dir: b.dir}).Approvals().Add("bash"); err == nil || !strings.Contains(err.Error(), "no home") {
		t.Errorf("Add without a home = %v", err)
	}
}
