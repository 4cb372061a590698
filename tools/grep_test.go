package tools

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestGrep(t *testing.T) {
	e := testEnv(t)
	for name, content := range map[string]string{
		"help.txt": "--ctx-size N\n-v\n", "a.go": "package a\nfunc Foo() {}\r\n\tfoo()\n", "src/b.go": "foo bar", "src/b.c": "FOO\nfoo\n",
		".hidden/h": "foo in a dot directory\n", ".git/config": "foo\n", "node_modules/m.js": "foo\n", "nul": "foo\x00\n", "late": strings.Repeat("x", 9000) + "\nfoo\x00\n",
		"latin": "caf\xe9 foo\n", "long": strings.Repeat("é", 200) + "foo" + "\nshort foo\n", "new\nline": "foo\n", "empty": "",
		"odd/a{1}.txt": "foo\n",
	} {
		put(t, e, name, content)
	}
	if err := os.Truncate(put(t, e, "big", "foo\n"), 4<<20+1); err != nil {
		t.Fatal(err)
	}
	put(t, e, "../out/shared", "foo shared\n")
	link(t, e, "../out/shared", "rules")
	link(t, e, "../out", "outdir")
	link(t, e, "gone", "dead")
	link(t, e, "/proc/self/status", "kernel")
	if err := syscall.Mkfifo(e.Dir+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	const passed = "[skipped 1 binary file and 1 file over 4 MiB]"
	lines := func(s ...string) string { return strings.Join(s, "\n") }
	tests := []struct {
		a    args
		want string
	}{
		{args{"pattern": "--ctx-size"}, lines("help.txt:1:--ctx-size N", passed)},
		{args{"pattern": "-v", "path": "help.txt"}, "help.txt:2:-v"},
		{args{"pattern": "foo", "include": "*.{go,c}"}, lines("a.go:3:\tfoo()", "src/b.c:2:foo", "src/b.go:1:foo bar")},
		{args{"pattern": "foo", "include": "*.{go,c}", "ignoreCase": true}, lines("a.go:2:func Foo() {}", "a.go:3:\tfoo()", "src/b.c:1:FOO", "src/b.c:2:foo", "src/b.go:1:foo bar")},
		{args{"pattern": "foo|bar", "path": "src", "include": "b.go"}, "src/b.go:1:foo bar"},
		{args{"pattern": "foo", "path": "src/"}, lines("src/b.c:2:foo", "src/b.go:1:foo bar")},
		{args{"pattern": "foo", "path": e.Dir + "/src/b.go"}, e.Dir + "/src/b.go:1:foo bar"},
		{args{"pattern": "foo", "path": "src", "include": "*.txt"}, "(no matches)"},
		{args{"pattern": "foo", "path": "src/b.c", "include": "*.txt"}, "src/b.c:2:foo"},
		{args{"pattern": "foo", "include": "**/*.go"}, lines("a.go:3:\tfoo()", "src/b.go:1:foo bar")},
		{args{"pattern": "foo", "path": "odd", "include": "a\\{1}.txt"}, "odd/a{1}.txt:1:foo"},
		{args{"pattern": "}$", "path": "a.go"}, "a.go:2:func Foo() {}"},
		{args{"pattern": "^$", "path": "empty"}, "(no matches)"},
		{args{"pattern": "^Name:"}, lines("(no matches)", passed)}, // a link into /proc is not followed
		{args{"pattern": "foo", "path": "outdir"}, "outdir/shared:1:foo shared"},
		{args{"pattern": "foo", "path": ".git"}, ".git/config:1:foo"},
		{args{"pattern": "foo", "path": "latin"}, "latin:1:caf\xe9 foo"},
		{args{"pattern": "foo", "path": "long"}, lines("long:1:"+strings.Repeat("é", 150)+" [+103 bytes]", "long:2:short foo")},
		{args{"pattern": "foo", "path": "late"}, "late:2:foo\x00"},
		{args{"pattern": "bar\\|foo", "path": "src"}, "(no matches)\n[\\| is a literal bar here; alternation is a|b]"},
		{args{"pattern": "foo"}, lines(".hidden/h:1:foo in a dot directory", "a.go:3:\tfoo()", "late:2:foo\x00", "latin:1:caf\xe9 foo",
			"long:1:"+strings.Repeat("é", 150)+" [+103 bytes]", "long:2:short foo", `"new\nline":1:foo`, "odd/a{1}.txt:1:foo", "rules:1:foo shared",
			"src/b.c:2:foo", "src/b.go:1:foo bar", passed)},
		{args{"pattern": "absent"}, lines("(no matches)", passed)},
	}
	for _, tt := range tests {
		want(t, e, "grep", tt.a, tt.want)
	}
	for _, tt := range []struct {
		a     args
		parts []string
	}{
		{args{"pattern": "foo", "path": "none"}, []string{"no such file: none"}},
		{args{"pattern": "foo", "path": "big"}, []string{"big was skipped", "over 4 MiB", "bash"}},
		{args{"pattern": "foo", "path": "nul"}, []string{"nul was skipped", "binary", "bash"}},
		{args{"pattern": `ab\`}, []string{"position 3"}},
		{args{"pattern": "foo", "path": "pipe"}, []string{"pipe is a named pipe"}},
		{args{"pattern": "foo", "path": "/dev/null"}, []string{"not a regular file"}},
		{args{"pattern": "foo", "include": "src/*.go"}, []string{`include "src/*.go" names directories`}},
		{args{"pattern": ""}, []string{"the pattern is empty"}},
		{args{"pattern": "a(b"}, []string{"missing closing ) at position 2", "alternation is a|b"}},
		{args{"pattern": "a)b"}, []string{"unexpected ) at position 2"}},
		{args{"pattern": "(a[)](b"}, []string{"missing closing ) at position 6"}},
		{args{"pattern": "x[a-"}, []string{"missing closing ] at position 2"}},
		{args{"pattern": "ab*?+"}, []string{"position 3"}},
		{args{"pattern": "*a"}, []string{"missing argument to repetition operator at position 1"}},
		{args{"pattern": "foo(?=bar)"}, []string{"position 4", "no lookaround"}},
		{args{"pattern": `(a)\1`}, []string{"invalid escape sequence at position 4"}},
		{args{"pattern": "a(b", "ignoreCase": true}, []string{"at position 2"}},
		{args{"pattern": "a{2000}"}, []string{"invalid repeat count at position 2"}},
		{args{"pattern": "a\\"}, []string{"trailing backslash"}},
		{args{"pattern": strings.Repeat("a", 1<<20)}, []string{"longer than 4096 bytes"}},
	} {
		wantError(t, e, "grep", tt.a, tt.parts...)
	}
}

func TestGrepLimit(t *testing.T) {
	e := testEnv(t)
	var hits []string
	for i := range 101 {
		hits = append(hits, fmt.Sprintf("f:%d:hit", i+1))
	}
	put(t, e, "f", strings.Repeat("hit\n", 100))
	want(t, e, "grep", args{"pattern": "hit"}, strings.Join(hits[:100], "\n"))
	put(t, e, "f", strings.Repeat("hit\n", 101))
	want(t, e, "grep", args{"pattern": "hit"}, strings.Join(hits[:100], "\n")+"\n[100-line limit reached; narrow the pattern or path]")
	put(t, e, "f", strings.Repeat("hit "+strings.Repeat("x", 400)+"\n", 100))
	text, err := use(t, e, "grep", args{"pattern": "hit"})
	if err != nil || len(text) > e.keep() || strings.Count(text, "\n") < 80 || !strings.HasSuffix(text, "[the result is full; narrow the pattern or path]") {
		t.Errorf("grep = %d bytes ending %.100q, %v", len(text), text[max(0, len(text)-100):], err)
	}
}

// TestGrepKernel: files that are never finished hold a search up for two
// seconds at most.
func TestGrepKernel(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/kmsg"); err != nil {
		t.Skipf("no /proc/kmsg: %v", err)
	}
	e := testEnv(t)
	start := time.Now()
	use(t, e, "grep", args{"pattern": "no line holds this text", "path": "/proc/kmsg"})
	if d := time.Since(start); d > 4*time.Second {
		t.Errorf("grep of /proc/kmsg took %s", d)
	}
	text, err := use(t, e, "grep", args{"pattern": "^Name:", "path": "/proc/self/status"})
	if err != nil || !strings.HasPrefix(text, "/proc/self/status:1:Name:") {
		t.Errorf("grep = %q, %v", text, err)
	}
}
