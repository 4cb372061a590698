package tools

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"cluade/internal/policy"
)

// files makes files below a directory of both the test and, since the servers
// are on this machine, the host.
func files(t *testing.T, e *Env, texts map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range texts {
		put(t, e, dir+"/"+name, content)
	}
	return dir
}

// What glob finds on a host is what it finds here.
func TestRemoteGlob(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		dir := files(t, e, map[string]string{
			"a.conf": "", "b.conf": "", "c.txt": "", ".hidden": "", "sub/d.conf": "", "sub/deep/e.conf": "", "sub/deep/er/f.conf": "",
			".git/config": "", "x/.git/config": "", "x/node_modules/m.js": "", "it's * [odd] $x": "", "new\nline": "", "ü.conf": "",
			"brack[et]/g.conf": "", ".cluade/config.json": "", ".cluade/skills/s/SKILL.md": "", "empty/.keep": "",
		})
		os.Symlink("sub", dir+"/link")
		os.Symlink("none", dir+"/gone")
		for _, pattern := range []string{
			"*.conf", "*", "**/*.conf", "**", "sub/*", "sub/**", "*/", "**/", "*/*.conf", "sub/*/*/*.conf", "?.conf", "[ab].conf", "{a,c}.*", "{sub,x}/**/*.conf",
			".git/*", "*/.git/*", "**/.git/config", "**/node_modules/*", "none/*", "none", "a.conf", "it's*", "*\\[odd\\]*", "brack\\[et\\]/*", "new*",
			".cluade/**", "**/SKILL.md", "sub/deep/**/f.conf", "**/deep/**/*.conf", "link/*", "*/deep",
		} {
			here, err := use(t, e, "glob", args{"pattern": pattern, "path": dir})
			if err != nil {
				t.Fatal(err)
			}
			there, err := use(t, e, "glob", at(t, s, args{"pattern": pattern, "path": dir}))
			if err != nil || there != here {
				t.Errorf("%s: glob %q = %q, %v, want %q", name, pattern, there, err, here)
			}
			if pattern != "*" && pattern != "none/*" && pattern != "a.conf" {
				continue
			}
			here, _ = use(t, e, "glob", args{"pattern": dir + "/" + pattern})
			there, err = use(t, e, "glob", at(t, s, args{"pattern": dir + "/" + pattern}))
			if err != nil || there != here {
				t.Errorf("%s: glob %q = %q, %v, want %q", name, dir+"/"+pattern, there, err, here)
			}
		}
		e.Hidden = func(_ policy.Subject, p policy.Path) bool { return p.Real == dir+"/a.conf" }
		want(t, e, "glob", at(t, s, args{"pattern": dir + "/?.conf"}), dir+"/b.conf\n"+dir+"/ü.conf")
		e.Hidden = nil
		wantError(t, e, "glob", at(t, s, args{"pattern": "*", "path": dir + "/none"}), dir+"/none: no such file or directory")
		wantError(t, e, "glob", at(t, s, args{"pattern": "*", "path": dir + "/a.conf"}), dir+"/a.conf: is not a directory")
		wantError(t, e, "glob", at(t, s, args{"pattern": ""}), "the pattern is empty")
	}
}

func TestRemoteGlobLimits(t *testing.T) {
	s := newSSHD(t, []string{"ed25519"})
	e := known(t, s)
	dir := t.TempDir()
	for i := range 3000 {
		if err := os.WriteFile(fmt.Sprintf("%s/f%04d", dir, i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := use(t, e, "glob", at(t, s, args{"pattern": dir + "/*"}))
	lines := strings.Split(got, "\n")
	if err != nil || len(lines) != 101 || lines[0] != dir+"/f0000" || lines[99] != dir+"/f0099" || lines[100] != "[100-result limit reached]" {
		t.Errorf("%d lines, %v: %q ... %q", len(lines), err, lines[0], lines[len(lines)-1])
	}
	got, err = use(t, e, "glob", at(t, s, args{"pattern": "/*"}))
	if err != nil || !strings.Contains(got, "/proc\n") || !strings.Contains(got, "/etc\n") {
		t.Errorf("/* = %q, %v", got, err)
	}
}

// What grep finds on a host is what it finds here.
func TestRemoteGrep(t *testing.T) {
	for name, s := range remoteServers(t) {
		e := known(t, s)
		dir := files(t, e, map[string]string{
			"a.conf": "one\ntwo 22\nthree [x]\n", "b.conf": "Two\r\nend\r\nlast two", "c.txt": "two\n", "sub/d.conf": "a.b\n\n  indent\n\ttab\n",
			"it's odd": "two\n", ".git/config": "two\n", "node_modules/x": "two\n", "large": "two\n" + strings.Repeat("x", maxGrepFile),
			"binary": "two\x00\n", "long": strings.Repeat("y", 5000) + "\n", "ü": "grün zwei\nTWO\n", "latin": "gr\xfcn two\n",
			".cluade/config.json": "two\n", "colon:x": "two\n", "empty": "", "12:30:00/log": "two\n", "a:5": "two 1\n", "a": "two 2\n",
			"new\nline": "two 3\n", "new\ndir/file": "two 4\n", "new\nbin": "two\x00\n", "quiet.bin": "\x00\n", "bad\xff": "two 5\n", "back\\slash%s": "two\n",
		})
		os.Symlink("c.txt", dir+"/link")
		os.Symlink("sub", dir+"/linkdir")
		os.Symlink("none", dir+"/gone")
		for _, a := range []args{
			{"pattern": "two"}, {"pattern": "two", "ignoreCase": true}, {"pattern": "two", "include": "*.conf"}, {"pattern": "two", "include": "*.{txt,conf}"},
			{"pattern": "^two$"}, {"pattern": "end$"}, {"pattern": `\d+`}, {"pattern": `\btwo\b`}, {"pattern": `^\s+\w`}, {"pattern": "t.o|one"}, {"pattern": `\[x\]`},
			{"pattern": "gr.n"}, {"pattern": "grün"}, {"pattern": "GRÜN", "ignoreCase": true}, {"pattern": `a\.b`}, {"pattern": "^$"}, {"pattern": "two", "include": "[ab].conf"},
			{"pattern": "none such"}, {"pattern": "x{3,5}y"}, {"pattern": "two|"}, {"pattern": `\|`},
		} {
			a["path"] = dir
			here, err := use(t, e, "grep", a)
			if err != nil {
				t.Fatal(err)
			}
			there, err := use(t, e, "grep", at(t, s, a))
			if err != nil || sameHits(there) != sameHits(here) || name == "sshd" && a["include"] != "[ab].conf" && there != here {
				t.Errorf("%s: grep %v = %q, %v, want %q", name, a, there, err, here)
			}
			delete(a, "host")
		}
		for _, file := range []string{"a.conf", "link", "it's odd", "new\nline", "a:5", "12:30:00/log"} {
			here, _ := use(t, e, "grep", args{"pattern": "two", "path": dir + "/" + file, "include": "*.none"})
			there, err := use(t, e, "grep", at(t, s, args{"pattern": "two", "path": dir + "/" + file, "include": "*.none"}))
			if err != nil || there != here {
				t.Errorf("%s: grep in %s = %q, %v, want %q", name, file, there, err, here)
			}
		}
		e.Hidden = func(_ policy.Subject, p policy.Path) bool { return p.Real == dir+"/a.conf" }
		want(t, e, "grep", at(t, s, args{"pattern": "two", "path": dir, "include": "*.conf"}), dir+"/b.conf:3:last two")
		e.Hidden = nil
		must(t, needProgram(t, "mkfifo"), dir+"/pipe")
		wantError(t, e, "grep", at(t, s, args{"pattern": "x", "path": dir + "/pipe"}), dir+"/pipe is not a regular file")
		wantError(t, e, "grep", at(t, s, args{"pattern": "x", "path": dir + "/none"}), "no such file: "+dir+"/none")
		wantError(t, e, "grep", at(t, s, args{"pattern": "(", "path": dir}), "no RE2 expression")
	}
}

// sameHits is a result of grep without what may differ: the binary files, of
// which BusyBox tells only those that match.
func sameHits(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "[skipped ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}

// The sieve lets through every line that the pattern fits, with the greps of
// GNU and of BusyBox.
func TestSieve(t *testing.T) {
	lines := []string{
		"", "a", "b", "ab", "aab", "abab", "abc", "a.b", "a*b", "a+b", "a?b", "(a)", "[a]", "{a}", "a|b", "a\\b", "^a", "a$", "-", "]", "[", "^", "^-", "a-b",
		"0", "22", "x1y", "two words", "\ttab", "K", "k", "\u212a", "s", "S", "\u017f", "ß", "é", "É", "漢字", "👍", "gr\xfcn", "\xff", "a\r", "end\r", "ab ab", "_", "a_b",
		"key = value", "option proto 'static'", "\x1b[0m", "aaaaaaaaaaaaaaaaaaaa", "\u2028", " ", "  x", "#", "\"quoted\"", "'", "$HOME", "`x`", "\x01",
	}
	patterns := []string{
		"a", "ab", "a.b", "a.*b", "a.+b", "^a", "a$", "^a$", "^$", "$", "^", "a|b", "(a|b)c", "a|", "|a", "(|a)b", "a?b", "a*", "a+b", "(ab)+", "(ab){2}", "a{2,3}b", "a{0}b",
		"a{300,}", "(a{2}){2}", "[ab]", "[^ab]", "[a-c]x?", "[]]", "[[]", "[-]", "[\\^-]", "[\\]^-]", "[\\[\\]]", "[a\\-b]", "[\\n^]", "[\\n]", "a\\nb", "\\x00", "\\d", "\\D", "\\w+", "\\W", "\\s", "\\S+",
		"\\bab\\b", "\\Bb", "\\.", "\\*", "\\+", "\\?", "\\(a\\)", "\\[a\\]", "\\{a\\}", "a\\|b", "\\\\", "\\^", "\\$", "\\x1b\\[", "é", "[é]", "[a-é]", "(?i)é", "(?i)k", "(?i)K", "(?i)s", "(?i)ab", "(?i)[a-z]+",
		"漢", "\\p{Han}", ".", "..", "^.$", "^..$", "^.{2,3}$", "gr.n", "x*", "(^a|b$)", "(^)*a", "(a$)?b", "(^|x)a", "end$", "(end)$", "a(?:b|c)?", "(?:)", "a??b", ".*?b", "(?s)a.b", "(?m)^a$", "\\Aa\\z",
		"k.y\\s*=\\s*(\\w+)", "'static'", "\"", "`", "\\$HOME", "[[:alpha:]]", "[[:^alpha:]]", "\\pL", "(a|b|)(c|)", "((a*)*)*b", "r+", "(r)+o",
	}
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	greps := [][]string{{"grep"}, {needProgram(t, "busybox"), "grep"}}
	for _, pattern := range patterns {
		for _, fold := range []bool{false, true} {
			re, err := compile(pattern, fold)
			if err != nil {
				t.Fatal(err)
			}
			sieve, err := sieveOf(pattern, fold)
			if err != nil || strings.ContainsAny(sieve, "\x00\n") {
				t.Fatalf("sieveOf(%q) = %q, %v", pattern, sieve, err)
			}
			for _, grep := range greps {
				checkSieve(t, re, sieve, append(grep, "-nE", "-e", sieve, file), lines)
			}
		}
	}
}

func checkSieve(t *testing.T, re *regexp.Regexp, sieve string, argv, lines []string) {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	if code := cmd.ProcessState.ExitCode(); code > 1 {
		t.Errorf("%s %q of %q: %v", argv[0], sieve, re, err)
		return
	}
	for i, line := range lines {
		if !re.MatchString(strings.TrimSuffix(line, "\r")) {
			continue
		}
		if hit := fmt.Sprintf("%d:%s\n", i+1, line); !strings.HasPrefix(string(out), hit) && !strings.Contains(string(out), "\n"+hit) {
			t.Errorf("%s: %q fits %q, its sieve %q does not", argv[0], re, line, sieve)
		}
	}
}

func TestSieveShape(t *testing.T) {
	tests := []struct{ pattern, want string }{
		{"abc", "abc"}, {"a.*b", "a.{0,}b"}, {"^option", "^option"}, {"a|b", "[ab]"}, {"foo|bar", "(foo|bar)"}, {`\bfoo\b`, "foo"}, {"x$", "x\r?$"},
		{strings.Repeat("(?:abcdefgh|ijkl)", 200) + "[0-9]", strings.Repeat("(abcdefgh|ijkl)", 200) + "[0123456789]"},
		{strings.Repeat("[a-z]", 800), ""},
	}
	for _, tt := range tests {
		if got, err := sieveOf(tt.pattern, false); got != tt.want || err != nil {
			t.Errorf("sieveOf(%.60q) = %.60q, %v, want %.60q", tt.pattern, got, err, tt.want)
		}
	}
}

func TestCutHit(t *testing.T) {
	tests := []struct {
		line string
		from int
		name string
		n    int
		text string
	}{
		{"/a/b:12:text", 3, "/a/b", 12, "text"}, {"/a/b:1:", 3, "/a/b", 1, ""}, {"/a:b/c:3:x:4:y", 2, "/a:b/c", 3, "x:4:y"},
		{"/a/b", 3, "", 0, ""}, {"/a/b:x:1", 3, "", 0, ""}, {"", 3, "", 0, ""}, {"/a/b:12", 3, "", 0, ""}, {"/a/b:1234567890123:x", 3, "", 0, ""},
	}
	for _, tt := range tests {
		name, n, text := cutHit([]byte(tt.line), tt.from)
		if name != tt.name || n != tt.n || string(text) != tt.text {
			t.Errorf("cutHit(%q, %d) = %q, %d, %q", tt.line, tt.from, name, n, text)
		}
	}
}

func TestMatchPath(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"*", "a", true}, {"*", "a/b", false}, {"**", "a/b/c", true}, {"a/**/b", "a/b", true}, {"a/**/b", "a/x/y/b", true}, {"a/**/b", "a/x", false},
		{"**/b", "b", true}, {"**/*.c", "x/y.c", true}, {"a/*", "a", false}, {"a", "a", true}, {"[ab]/?", "b/c", true},
		{strings.Repeat("**/a/", 40) + "b", strings.Repeat("a/", 200) + "c", false},
	}
	for _, tt := range tests {
		if got := matchPath(parseSegments(tt.pattern), strings.Split(tt.path, "/")); got != tt.want {
			t.Errorf("matchPath(%q, %q) = %v, want %v", tt.pattern, tt.path, got, tt.want)
		}
	}
}

func FuzzSieve(f *testing.F) {
	for _, s := range []string{"a|b", `(?i)\bk+[^a]\d{2,}$`, "[]^-]", "((a*)*)*"} {
		f.Add(s, "ab")
	}
	f.Fuzz(func(t *testing.T, pattern, line string) {
		re, err := compile(pattern, false)
		if err != nil || strings.ContainsAny(line, "\x00\n\r") || !re.MatchString(line) {
			return
		}
		sieve, err := sieveOf(pattern, false)
		if err != nil || strings.ContainsAny(sieve, "\x00\n") {
			t.Fatalf("sieveOf(%q) = %q, %v", pattern, sieve, err)
		}
	})
}
