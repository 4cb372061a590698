package tools

import (
	"path"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestMatchName(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true},
		{"*", "a", true},
		{"*", ".hidden", true},
		{"*.go", "a.go", true},
		{"*.go", ".go", true},
		{"*.go", "a.god", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "acb", false},
		{"?", "é", true},
		{"?", "", false},
		{"?", "\xff", true},
		{"??", "é", false},
		{"*?", "日本", true},
		{"[abc]", "b", true},
		{"[abc]", "d", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]", "d", true},
		{"[^a-c]", "b", false},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[a-]", "-", true},
		{"[é-ü]", "ö", true},
		{"[\\]]", "]", true},
		{"[a", "[a", true},
		{"[", "[", true},
		{"a[", "ab", false},
		{"\\*", "*", true},
		{"\\*", "a", false},
		{"a\\", "a\\", true},
		{"**.go", "a.go", true},
		{"Makefile", "makefile", false},
	}
	for _, tt := range tests {
		if got := matchName(tt.pattern, tt.name); got != tt.want {
			t.Errorf("matchName(%q, %q) = %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
	start := time.Now()
	matchName(strings.Repeat("*a", 2000)+"b", strings.Repeat("a", 4000))
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("a pattern of many stars takes %s", d)
	}
}

func TestExpandBraces(t *testing.T) {
	tests := []struct{ pattern, want string }{
		{"a", "a"},
		{"", ""},
		{"{a,b}", "a b"},
		{"*.{c,h}", "*.c *.h"},
		{"{a,b}{1,2}", "a1 a2 b1 b2"},
		{"{a,{b,c}d}", "a bd cd"},
		{"x{,y}", "x xy"},
		{"{a/b,c}/*.go", "a/b/*.go c/*.go"},
		{"{a}", "{a}"},
		{"{}", "{}"},
		{"{{a,b}}", "{a} {b}"},
		{"{a,b", "{a,b"},
		{"a,b}", "a,b}"},
		{"\\{a,b}", "\\{a,b}"},
		{"{a\\,b,c}", "a\\,b c"},
		{"\\[", "\\["},
		{"[[]x", "[[]x"},
		{"[]]", "[]]"},
		{"[!]a]", "[!]a]"},
		{"a]", "a]"},
		{"[id]/{a,[bc]}", "[id]/a [id]/[bc]"},
	}
	for _, tt := range tests {
		got, err := expandBraces(tt.pattern)
		if err != nil || strings.Join(got, " ") != tt.want {
			t.Errorf("expandBraces(%q) = %q, %v, want %q", tt.pattern, got, err, tt.want)
		}
	}
	for _, pattern := range []string{strings.Repeat("{a,b}", 40), "{" + strings.Repeat("a,", 1000) + "}", strings.Repeat("{a,", 500) + strings.Repeat("}", 500), strings.Repeat("{", 1<<20)} {
		if got, err := expandBraces(pattern); err == nil {
			t.Errorf("expandBraces(%.30q...) gives %d patterns, want an error", pattern, len(got))
		}
	}
}

// A set that is not closed is no pattern.
func TestOpenSet(t *testing.T) {
	e := testEnv(t)
	for _, pattern := range []string{"[", "a[", "[]", "[!", "[a\\]", "x/[a/b]", "*.{c,[h}", "[a]["} {
		wantError(t, e, "glob", args{"pattern": pattern}, "has a [ without its ]; \\[ stands for the character")
	}
	wantError(t, e, "grep", args{"pattern": "x", "include": "*.[ch"}, "*.[ch has a [ without its ]")
	put(t, e, "[", "x\n")
	want(t, e, "glob", args{"pattern": "\\["}, "[")
	want(t, e, "grep", args{"pattern": "x", "include": "\\["}, "[:1:x")
}

// FuzzMatch: names match as in path.Match where both read a pattern alike, and
// no pattern takes for ever.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{{"a*[b-d]?", "axxce"}, {"[!a]\\*", "b*"}, {"{a,{b}c}", "bc"}, {"*a*a*a*b", "aaaaaaaa"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if len(pattern)+len(name) > 1<<10 {
			return
		}
		expandBraces(pattern)
		globRoots(pattern, "x")
		got := matchName(pattern, name)
		if strings.ContainsAny(pattern, "[\\/") || strings.Contains(name, "/") || !utf8.ValidString(pattern+name) {
			return
		}
		if want, err := path.Match(pattern, name); err == nil && got != want {
			t.Errorf("matchName(%q, %q) = %v, want %v", pattern, name, got, want)
		}
	})
}
