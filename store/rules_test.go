package store

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"
)

func TestEditRules(t *testing.T) {
	b := newBox(t)
	add := func(rule string) func([]string) []string {
		return func(list []string) []string { return append(list, rule) }
	}
	if err := b.place().EditRules("deny", add("bash(rm *)")); err != nil {
		t.Fatal(err)
	}
	if c, _ := b.load(); len(c.Safety.Deny) != 1 || c.Safety.Deny[0].Text != "bash(rm *)" {
		t.Errorf("deny = %v", c.Safety.Deny)
	}
	const text = `{"model":"é","mine":{"s":"\u0007","a":[1,{"b":null}],"c":1e3},"permissions":{"bash":"ask","deny":["a\"b"]},"api_key":"sk"}`
	b.user(text)
	if err := b.place().EditRules("deny", add("bash(rm *)")); err != nil {
		t.Fatal(err)
	}
	if err := b.place().EditRules("ask", add("edit")); err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(must(os.ReadFile(b.userFile())), &got); err != nil {
		t.Fatal(err)
	}
	json.Unmarshal([]byte(`{"model":"é","mine":{"s":"\u0007","a":[1,{"b":null}],"c":1e3},"permissions":{"bash":"ask","deny":["a\"b","bash(rm *)"],"ask":["edit"]},"api_key":"sk"}`), &want)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the file is %v, want %v", got, want)
	}
	if info := must(os.Stat(b.userFile())); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	for _, text := range []string{`{`, `[]`, `{"permissions":1}`, `{"permissions":{"deny":"x"}}`, ""} {
		b.user(text)
		if err := b.place().EditRules("deny", add("x")); err == nil || string(must(os.ReadFile(b.userFile()))) != text {
			t.Errorf("EditRules of %q = %v; the file is %q", text, err, must(os.ReadFile(b.userFile())))
		}
	}
}
