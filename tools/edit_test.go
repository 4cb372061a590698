package tools

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	const bomText = "\ufeffa = 1\nb = 2\n"
	tests := []struct {
		old, from, to string
		all           bool
		want          string // the new content
	}{
		{"a\nb\nc\n", "b", "x", false, "a\nx\nc\n"},
		{"a\nb\nc\n", "a\nb\nc\n", "", false, ""},
		{"abc", "b", "", false, "ac"},
		{"a a a", "a", "bb", true, "bb bb bb"},
		{"aaaa", "aa", "b", true, "bb"},
		{"aaa", "aa", "b", true, "ba"},
		{"a", "a", "aa", true, "aa"},

		// Neither text is a pattern or a template.
		{"log done\n", "done", "$& $1 ${1} $$ $0", false, "log $& $1 ${1} $$ $0\n"},
		{"log done\n", "done", `$& \1 %s & \n`, true, "log $& \\1 %s & \\n\n"},
		{"a.c abc a*c", "a.c", "x", false, "x abc a*c"},
		{"a*c", "a*c", "x", false, "x"},
		{"[x] (y", "(y", "z", false, "[x] z"},

		// Bytes elsewhere stay what they are.
		{"x = 1\n# caf\xe9\n", "x = 1", "x = 2", false, "x = 2\n# caf\xe9\n"},
		{"\x00\xff\xfea\x80", "a", "é", false, "\x00\xff\xfeé\x80"},
		{bomText, "a = 1", "a = 9", false, "\ufeffa = 9\nb = 2\n"},
		{bomText, "\ufeffa = 1", "a = 9", false, "\ufeffa = 9\nb = 2\n"},
		{bomText, "\ufeffa = 1", "\ufeffa = 9", false, "\ufeffa = 9\nb = 2\n"},

		// LF text against CRLF files.
		{"a = 1\r\nb = 2\r\nc = 3\r\n", "a = 1\nb = 2", "a = 9\nb = 8", false, "a = 9\r\nb = 8\r\nc = 3\r\n"},
		{"a\r\nb\r\n", "b", "b\nc", false, "a\r\nb\r\nc\r\n"},
		{"a\r\nb", "b", "b\nc", false, "a\r\nb\r\nc"},
		{"a\r\nb\r\n", "a\n", "", false, "b\r\n"},
		{"a\r\nb\r\nc", "\nb\n", "\nx\ny\n", false, "a\r\nx\r\ny\r\nc"},
		{"a\r\nb\r\na\r\n", "a\n", "x\ny\n", true, "x\r\ny\r\nb\r\nx\r\ny\r\n"},
		{"a\r\nb\r\n", "a\r\nb", "a\nb", false, "a\nb\r\n"},         // asked for to the byte
		{"a\r\nb\r\n", "a\nb", "a\r\nB", false, "a\r\nB\r\n"},       // the same
		{"a\nb\n", "a\nb", "a\r\nb", false, "a\r\nb\n"},             // the same
		{"a\r\nb\r\n", "a", "a\r\nx\n", false, "a\r\nx\n\r\nb\r\n"}, // the same
		{"a\nb\n", "a\nb", "c\nd", false, "c\nd\n"},
		{"a\nb", "b", "c\nd", false, "a\nc\nd"},
		{"x", "x", "c\nd", false, "c\nd"},
		{"\na", "a", "b\nc", false, "\nb\nc"},

		// Mixed line ends: each place keeps its own.
		{"a\r\nb\nc\r\n", "a\nb\nc", "x\ny\nz", false, "x\r\ny\r\nz\r\n"},
		{"a\nb\r\n", "a", "x\ny", false, "x\ny\nb\r\n"},
		{"a\nb\r\n", "b", "x\ny", false, "a\nx\r\ny\r\n"},
		{"k\nv\r\nk\r\nv\n", "k\nv", "x\ny", true, "x\ny\r\nx\r\ny\n"},
		{"a\rb\r\r\nc", "c", "d", false, "a\rb\r\r\nd"},
	}
	for _, tt := range tests {
		e := testEnv(t)
		put(t, e, "f", tt.old)
		a := args{"filePath": "f", "oldString": tt.from, "newString": tt.to}
		if tt.all {
			a["replaceAll"] = true
		}
		if text, err := use(t, e, "edit", a); err != nil || !strings.HasPrefix(text, "edited f (") {
			t.Errorf("edit(%q, %q, %q) = %q, %v", tt.old, tt.from, tt.to, text, err)
			continue
		}
		holds(t, e, "f", tt.want)
		onlyHolds(t, e.Dir, "f")
	}
}

func TestEditResult(t *testing.T) {
	e := testEnv(t)
	path := put(t, e, "run.sh", "echo 1\n")
	os.Chmod(path, 0o755)
	link(t, e, "run.sh", "link")
	want(t, e, "edit", args{"filePath": "link", "oldString": "1", "newString": "2"}, "edited link (1 replacement)")
	holds(t, e, "run.sh", "echo 2\n")
	if fi, err := os.Stat(path); err != nil || fi.Mode().Perm() != 0o755 {
		t.Errorf("run.sh has mode %v, %v, want 0755", fi.Mode(), err)
	}
	if target, err := os.Readlink(e.Dir + "/link"); err != nil || target != "run.sh" {
		t.Errorf("link leads to %q, %v, want run.sh", target, err)
	}
	want(t, e, "edit", args{"filePath": "run.sh", "oldString": "e", "newString": "E", "replaceAll": true}, "edited run.sh (1 replacement)")
	want(t, e, "edit", args{"filePath": "run.sh", "oldString": "o", "newString": "oo", "replaceAll": true}, "edited run.sh (1 replacement)")
	want(t, e, "edit", args{"filePath": "run.sh", "oldString": "o", "newString": "0", "replaceAll": true}, "edited run.sh (2 replacements)")
}

func TestEditErrors(t *testing.T) {
	long := strings.Repeat("x\n", 30)
	tests := []struct {
		old, from, to string
		all           bool
		want          string
		kind          error
	}{
		{"abc", "", "X", false, "oldString is empty; give the text to replace, or use write for the whole file", nil},
		{"abc", "", "X", true, "oldString is empty; give the text to replace, or use write for the whole file", nil},
		{"abc", "b", "b", false, "oldString and newString are identical; nothing to do", nil},
		{"a\r\nb\r\n", "a\nb", "a\r\nb", false, "the edit would change nothing", nil},
		{"abc", "x", "y", false, "oldString not found in f", ErrNoMatch},
		{"abc", "x", "y", true, "oldString not found in f", ErrNoMatch},
		{"", "x", "y", false, "oldString not found in f", ErrNoMatch},
		{"abc", "a.c", "y", false, "oldString not found in f", ErrNoMatch},
		{"a\nb\n", "1: a\n2: b", "y", false, "oldString not found in f; it holds the line-number prefixes of read ('12: '); leave them out", ErrNoMatch},
		{"x\n  b\n\nc\n", "2:   b\n3:\n4: c", "y", false, "oldString not found in f; it holds the line-number prefixes of read ('12: '); leave them out", ErrNoMatch},
		{"a\n", "7: z", "y", false, "oldString not found in f", ErrNoMatch},
		{"a\nb\n", "a\r\nb", "y", false, "oldString not found in f; it has CRLF line ends, the file has LF", ErrNoMatch},
		{"a\n\tif x {\n\t\ty()\n", "    if x {\n        y()\n", "y", false, "oldString not found in f; it differs only in whitespace at line 2; copy the text as it is there", ErrNoMatch},
		{"one\n\n\nkey=value\n", "key = value", "y", false, "oldString not found in f; it differs only in whitespace at line 4; copy the text as it is there", ErrNoMatch},
		{"a\nb", "b\n", "y", false, "oldString not found in f; it differs only in whitespace at line 2; copy the text as it is there", ErrNoMatch},
		{"a\u00a0b", "a b", "y", false, "oldString not found in f; it differs only in whitespace at line 1; copy the text as it is there", ErrNoMatch},
		{"abc", " \n", "y", false, "oldString not found in f", ErrNoMatch},
		{"caf\xe9", "caf\ufffd", "y", false, "oldString not found in f; it holds U+FFFD, which stands for bytes of the file that are not UTF-8; choose text without them", ErrNoMatch},
		{"\xff\xfea\x00", "a", "b", false, "", nil},
		{"\xff\xfea\x00b\x00", "ab", "b", false, "oldString not found in f; the file is UTF-16 text, which edit cannot change", ErrNoMatch},
		{"a b\na\n", "a", "x", false, "oldString matches 2 times in f (lines 1, 2); add context or set replaceAll", ErrManyMatches},
		{"x x\nx\n", "x", "y", false, "oldString matches 3 times in f (lines 1, 2); add context or set replaceAll", ErrManyMatches},
		{long, "x", "y", false, "oldString matches 30 times in f (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...); add context or set replaceAll", ErrManyMatches},
		{"x\nx\r\n", "x\n", "y\n", false, "oldString matches 2 times in f (lines 1, 2); add context or set replaceAll", ErrManyMatches},
		{"b\naaa", "aa", "y", false, "oldString matches twice in f, overlapping itself at line 2; add context or set replaceAll", ErrManyMatches},
		{"a\nb\na\nb\na", "a\nb\na", "y", false, "oldString matches twice in f, overlapping itself at line 1; add context or set replaceAll", ErrManyMatches},
		{strings.Repeat("a", 1000), "a", strings.Repeat("b", 2000), true, "f would become 2000000 bytes; edit makes files of up to 1 MiB", nil},
		{strings.Repeat("a", 1<<20+1), "a", "b", true, "f is 1048577 bytes; edit takes files up to 1 MiB, use sed through bash", nil},
	}
	for _, tt := range tests {
		e := testEnv(t)
		put(t, e, "f", tt.old)
		a := args{"filePath": "f", "oldString": tt.from, "newString": tt.to, "replaceAll": tt.all}
		_, err := use(t, e, "edit", a)
		if tt.want == "" {
			continue
		}
		if err == nil || err.Error() != tt.want || tt.kind != nil && !errors.Is(err, tt.kind) {
			t.Errorf("edit(%.40q, %q, %.40q): error %q, want %q", tt.old, tt.from, tt.to, err, tt.want)
		}
		holds(t, e, "f", tt.old)
	}
	e := testEnv(t)
	put(t, e, "d/f", "x")
	a := args{"filePath": "none", "oldString": "a", "newString": "b"}
	wantError(t, e, "edit", a, "no such file: none")
	a["filePath"] = "d"
	wantError(t, e, "edit", a, "d is a directory")
	a["filePath"] = "/proc/sys/kernel/hostname"
	wantError(t, e, "edit", a, "belongs to the kernel")
	a["filePath"] = "/dev/null"
	wantError(t, e, "edit", a, "not a regular file")
	onlyHolds(t, e.Dir, "d")
}

func TestEditPreview(t *testing.T) {
	e := testEnv(t)
	put(t, e, "f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	want := "1 line added, 1 removed\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
	if _, got := prepare(t, e, "edit", args{"filePath": "f", "oldString": "5", "newString": "five"}); got != want {
		t.Errorf("preview = %q, want %q", got, want)
	}
	holds(t, e, "f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
}

// FuzzSubstitute: what an edit leaves alone stays to the byte, and replacing
// all agrees with the library where line ends play no part.
func FuzzSubstitute(f *testing.F) {
	f.Add("a\r\nb\r\n", "a\nb", "x\ny", false)
	f.Add("aaa", "aa", "b", true)
	f.Add("\ufeffx\n", "\ufeffx", "y", false)
	f.Add("\r\r\n\n", "\n", "z\n", true)
	f.Fuzz(func(t *testing.T, old, from, to string, all bool) {
		if from == "" || from == to || len(old)+len(from)+len(to) > 1<<12 {
			return
		}
		c := &change{name: "f", old: state{data: []byte(old)}}
		err := c.substitute(from, to, all)
		if string(c.old.data) != old {
			t.Fatal("the old content was changed")
		}
		if err != nil {
			return
		}
		if c.hits == 0 || c.hits > 1 && !all {
			t.Errorf("substitute(%q, %q, %q, %v) took %d hits", old, from, to, all, c.hits)
		}
		if !strings.Contains(old+from+to, "\r") && !strings.HasPrefix(from, bom) {
			if got := strings.ReplaceAll(old, from, to); got != string(c.data) {
				t.Errorf("substitute(%q, %q, %q) = %q, want %q", old, from, to, c.data, got)
			}
		}
		if got := bytes.Count(c.data, []byte("\r")); !strings.Contains(old+to, "\r") && got > 0 {
			t.Errorf("substitute(%q, %q, %q) = %q has carriage returns", old, from, to, c.data)
		}
		whyNot([]byte(old), to)
	})
}
