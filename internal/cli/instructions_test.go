package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestReadInstructions has a root with a home in it. In what is wanted, text
// that must come in that order; after a !, what must not come; after a ?, what
// a notice must say.
func TestReadInstructions(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		dir   string // "home/ada" if empty
		want  string // parts separated by |
	}{
		{"nothing", map[string]string{"home/ada/x": ""}, "", "!Instructions"},
		{"agents before claude before gemini", map[string]string{"home/ada/AGENTS.md": "A", "home/ada/CLAUDE.md": "C", "home/ada/GEMINI.md": "G"}, "", "AGENTS.md\n\nA\n|!C\n|!G\n"},
		{"claude before gemini", map[string]string{"home/ada/CLAUDE.md": "C", "home/ada/GEMINI.md": "G"}, "", "CLAUDE.md\n\nC\n|!G\n"},
		{"gemini alone", map[string]string{"home/ada/GEMINI.md": "G"}, "", "G"},
		{"the nearest wins", map[string]string{"home/ada/p/.git/HEAD": "", "home/ada/p/AGENTS.md": "FAR", "home/ada/p/q/CLAUDE.md": "NEAR", "home/ada/p/q/r/x": ""}, "home/ada/p/q/r", "NEAR|!FAR"},
		{"up to the git root", map[string]string{"home/ada/p/.git/HEAD": "", "home/ada/p/AGENTS.md": "ROOT", "home/ada/p/q/x": "", "home/ada/AGENTS.md": "ABOVE"}, "home/ada/p/q", "ROOT|!ABOVE"},
		{"not above the git root", map[string]string{"home/ada/p/.git/HEAD": "", "home/ada/p/q/x": "", "home/ada/AGENTS.md": "ABOVE"}, "home/ada/p/q", "!ABOVE"},
		{"a worktree's .git file is a root", map[string]string{"home/ada/p/.git": "gitdir: x", "home/ada/p/q/x": "", "home/ada/AGENTS.md": "ABOVE"}, "home/ada/p/q", "!ABOVE"},
		{"a git root outside of home", map[string]string{"srv/p/.git/HEAD": "", "srv/p/AGENTS.md": "ROOT", "srv/p/q/x": ""}, "srv/p/q", "ROOT"},
		{"without git up to home", map[string]string{"home/ada/AGENTS.md": "HOME", "home/ada/p/q/x": "", "home/AGENTS.md": "ABOVE"}, "home/ada/p/q", "HOME|!ABOVE"},
		{"without git not above home", map[string]string{"home/ada/p/x": "", "home/AGENTS.md": "ABOVE"}, "home/ada/p", "!ABOVE"},
		{"without git outside of home only here", map[string]string{"srv/AGENTS.md": "ABOVE", "srv/p/x": ""}, "srv/p", "!ABOVE"},
		{"without git outside of home here", map[string]string{"srv/p/AGENTS.md": "HERE"}, "srv/p", "HERE"},
		{"a name like home's is not in it", map[string]string{"home/ada2/x": "", "home/AGENTS.md": "ABOVE"}, "home/ada2", "!ABOVE"},
		{"device, person, project", map[string]string{"etc/cluade/AGENTS.md": "DEVICE", "home/ada/.cluade/AGENTS.md": "PERSON", "home/ada/p/AGENTS.md": "PROJECT"}, "home/ada/p", "DEVICE|PERSON|PROJECT"},
		{"of the device one name only", map[string]string{"etc/cluade/CLAUDE.md": "DEVICE"}, "", "!DEVICE"},
		{"of the person any name", map[string]string{"home/ada/.cluade/GEMINI.md": "PERSON"}, "", "PERSON"},
		{"a link", map[string]string{"home/ada/p/AGENTS.md": "-> ../shared/rules.md", "home/ada/shared/rules.md": "RULE-7"}, "home/ada/p", "RULE-7|?p/AGENTS.md: it is a link out of the project, to "},
		{"a link in the project", map[string]string{"home/ada/p/AGENTS.md": "-> doc/rules", "home/ada/p/doc/rules": "RULE-7"}, "home/ada/p", "RULE-7"},
		{"a project links to the environment", map[string]string{"home/ada/p/AGENTS.md": "-> /proc/self/environ", "home/ada/p/CLAUDE.md": "-> /sys/kernel/notes"}, "home/ada/p", "!Instructions|?no file on a disk"},
		{"the person links to what is theirs", map[string]string{"home/ada/.cluade/AGENTS.md": "-> ../rules", "home/ada/rules": "RULE-7"}, "home/ada/p", "RULE-7"},
		{"the same file once", map[string]string{"home/ada/.cluade/AGENTS.md": "ONCE", "home/ada/p/AGENTS.md": "-> ../.cluade/AGENTS.md"}, "home/ada/p", "ONCE|!ONCE"},
		{"a project links to our state", map[string]string{"home/ada/.cluade/config.json": "KEY", "home/ada/p/AGENTS.md": "-> ../.cluade/config.json"}, "home/ada/p", "!KEY|?own state"},
		{"a dangling link", map[string]string{"home/ada/p/AGENTS.md": "-> nowhere", "home/ada/p/CLAUDE.md": "NEXT"}, "home/ada/p", "NEXT|?no such file"},
		{"a directory", map[string]string{"home/ada/p/AGENTS.md/x": "", "home/ada/p/CLAUDE.md": "NEXT"}, "home/ada/p", "NEXT|?not a regular file"},
		{"not UTF-8", map[string]string{"home/ada/p/AGENTS.md": "caf\xe9 BAD", "home/ada/p/CLAUDE.md": "NEXT"}, "home/ada/p", "NEXT|!BAD|?not UTF-8"},
		{"byte order mark and line ends", map[string]string{"home/ada/AGENTS.md": "\ufeffone\r\ntwo\r\n"}, "", "AGENTS.md\n\none\ntwo\n|!\ufeff|!\r"},
		{"control characters", map[string]string{"home/ada/AGENTS.md": "a\x1b]0;t\ab\x00c"}, "", "abc"},
		{"empty", map[string]string{"home/ada/p/AGENTS.md": "\n \n", "home/ada/AGENTS.md": "ABOVE"}, "home/ada/p", "!Instructions"},

		{"import", map[string]string{"home/ada/AGENTS.md": "before\n@docs/a.md\nafter\n", "home/ada/docs/a.md": "@b.md", "home/ada/docs/b.md": "IMPORTED"}, "", "before\nIMPORTED\nafter\n"},
		{"the usual CLAUDE.md", map[string]string{"home/ada/.cluade/CLAUDE.md": "@rules.md\n", "home/ada/.cluade/rules.md": "RULE\n"}, "", "RULE"},
		{"import with spaces around", map[string]string{"home/ada/AGENTS.md": "  @a.md  \n", "home/ada/a.md": "IMPORTED"}, "", "IMPORTED"},
		{"no import within a line", map[string]string{"home/ada/AGENTS.md": "see @a.md\n- @a.md\n", "home/ada/a.md": "IMPORTED"}, "", "see @a.md\n- @a.md\n|!IMPORTED"},
		{"no import in code", map[string]string{"home/ada/AGENTS.md": "```\n@a.md\n```\n    @a.md\n\t@a.md\n~~~ x\n@a.md\n```\n@a.md\n", "home/ada/a.md": "IMPORTED"}, "", "!IMPORTED"},
		{"import after code", map[string]string{"home/ada/AGENTS.md": "````\n```\n````\n@a.md\n", "home/ada/a.md": "IMPORTED"}, "", "IMPORTED"},
		{"import of nothing", map[string]string{"home/ada/AGENTS.md": "@someone\n"}, "", "@someone\n|?@someone stays: no such file"},
		{"import outside of the root", map[string]string{"srv/p/AGENTS.md": "@../secret\n@" + "/etc/hostname\n@~/x\n", "srv/secret": "SECRET", "home/ada/x": "SECRET"}, "srv/p", "@../secret\n@/etc/hostname\n@~/x|!SECRET|?@../secret stays: it lies outside|?@/etc/hostname stays: it lies outside|?@~/x stays: it lies outside"},
		{"import outside by a link", map[string]string{"srv/p/AGENTS.md": "@in/secret\n", "srv/p/in": "-> ../out", "srv/out/secret": "SECRET"}, "srv/p", "!SECRET|?lies outside"},
		{"import above the file, inside the git root", map[string]string{"srv/p/.git/HEAD": "", "srv/p/a.md": "IMPORTED", "srv/p/q/AGENTS.md": "@../a.md"}, "srv/p/q", "IMPORTED"},
		{"the person's own from anywhere at home", map[string]string{"home/ada/.cluade/AGENTS.md": "@../notes/a.md\n@~/notes/b.md\n@~/../x\n", "home/ada/notes/a.md": "ONE", "home/ada/notes/b.md": "TWO", "home/x": "OUT"}, "srv", "ONE\nTWO|!OUT|?lies outside"},
		{"the device's from its directory", map[string]string{"etc/cluade/AGENTS.md": "@more.md\n@../passwd\n", "etc/cluade/more.md": "MORE", "etc/passwd": "OUT"}, "", "MORE|!OUT|?lies outside"},
		{"a project imports our state", map[string]string{"home/ada/.cluade/config.json": "KEY", "home/ada/AGENTS.md": "@.cluade/config.json\n"}, "", "!KEY|?own state"},
		{"import of the same", map[string]string{"home/ada/AGENTS.md": "@a.md\n@a.md\n@./a.md\n@AGENTS.md\nend", "home/ada/a.md": "ONCE\n@AGENTS.md\n"}, "", "ONCE\nend|!ONCE"},
		{"four deep", map[string]string{"home/ada/AGENTS.md": "@1", "home/ada/1": "@2", "home/ada/2": "@3", "home/ada/3": "@4", "home/ada/4": "FOUR\n@5", "home/ada/5": "FIVE"}, "", "FOUR\n@5|!FIVE|?no deeper than 4"},
		{"import of what is no text", map[string]string{"home/ada/AGENTS.md": "@a\n@b\n", "home/ada/a": "\xff", "home/ada/b/x": ""}, "", "@a\n@b|?not UTF-8|?not a regular file"},

		{"comment", map[string]string{"home/ada/AGENTS.md": "one\n<!-- secret\nsecret -->\ntwo <!-- secret --> three\n"}, "", "one\ntwo  three|!secret"},
		{"comments in code stay", map[string]string{"home/ada/AGENTS.md": "`<!-- a -->`\n```\n<!-- b -->\n```\n"}, "", "`<!-- a -->`\n```\n<!-- b -->\n```"},
		{"comment without an end", map[string]string{"home/ada/AGENTS.md": "<!-- a -->one <!-- two\nthree\n"}, "", "one <!-- two\nthree"},
		{"import in a comment", map[string]string{"home/ada/AGENTS.md": "<!--\n@a.md\n-->\n", "home/ada/a.md": "IMPORTED"}, "", "!IMPORTED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, tt.files)
			o := instructionOptions(root, tt.dir)
			os.MkdirAll(o.Dir, 0o755)
			text, notices := readInstructions(o)
			at := 0
			told := strings.Join(notices, "\n")
			for _, want := range strings.Split(tt.want, "|") {
				switch {
				case want[0] == '!' && strings.Contains(text[at:], want[1:]):
					t.Errorf("%q is in\n%s", want[1:], text)
				case want[0] == '?' && !strings.Contains(told, want[1:]):
					t.Errorf("%q is not told: %q", want[1:], notices)
				case want[0] != '!' && want[0] != '?':
					i := strings.Index(text[at:], want)
					if i < 0 {
						t.Fatalf("%q is not where it belongs in\n%s", want, text)
					}
					at += i + len(want)
				}
			}
			if !strings.Contains(tt.want, "?") && len(notices) > 0 {
				t.Errorf("unexpected notices %q", notices)
			}
		})
	}
}

func instructionOptions(root, dir string) promptOptions {
	if dir == "" {
		dir = "home/ada"
	}
	home := filepath.Join(root, "home/ada")
	return promptOptions{Dir: filepath.Join(root, dir), Home: home, State: filepath.Join(home, ".cluade"), Etc: filepath.Join(root, "etc")}
}

func TestNoProjectInstructions(t *testing.T) {
	root := tree(t, map[string]string{"etc/cluade/AGENTS.md": "DEVICE", "home/ada/.cluade/AGENTS.md": "PERSON", "home/ada/p/AGENTS.md": "PROJECT"})
	o := instructionOptions(root, "home/ada/p")
	o.NoProject = true
	text, _ := readInstructions(o)
	inOrder(t, text, "DEVICE", "PERSON")
	if strings.Contains(text, "PROJECT") {
		t.Errorf("the project's are in\n%s", text)
	}
}

func TestInstructionsWithoutHome(t *testing.T) {
	root := tree(t, map[string]string{"srv/AGENTS.md": "HERE", "srv/p/x": "", "etc/x": ""})
	for _, home := range []string{"", "/"} { // a daemon's
		o := promptOptions{Dir: filepath.Join(root, "srv"), Etc: filepath.Join(root, "etc"), Home: home}
		if text, notices := readInstructions(o); !strings.Contains(text, "HERE") || notices != nil {
			t.Errorf("home %q: %q, %q", home, text, notices)
		}
		o.Dir = filepath.Join(root, "srv/p")
		if text, notices := readInstructions(o); text != "" || notices != nil {
			t.Errorf("home %q, below: %q, %q", home, text, notices)
		}
	}
}

// TestInstructionsOpenNoPipe would wait for ever if a pipe were opened.
func TestInstructionsOpenNoPipe(t *testing.T) {
	root := tree(t, map[string]string{"home/ada/p/x": "", "home/ada/CLAUDE.md": "@pipe\nTEXT\n"})
	for _, name := range []string{"home/ada/p/AGENTS.md", "home/ada/pipe"} {
		if err := syscall.Mkfifo(filepath.Join(root, name), 0o644); err != nil {
			t.Skip(err)
		}
	}
	done := make(chan string)
	go func() {
		text, notices := readInstructions(instructionOptions(root, "home/ada/p"))
		done <- text + strings.Join(notices, "\n")
	}()
	select {
	case got := <-done:
		if !strings.Contains(got, "TEXT") || strings.Count(got, "not a regular file") != 2 {
			t.Errorf("readInstructions = %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for a writer of the pipe")
	}
}

func TestInstructionsLimit(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	var long strings.Builder
	for i := range 400 {
		fmt.Fprintf(&long, "%05d%s", i, line[5:])
	}
	root := tree(t, map[string]string{
		"home/ada/.cluade/AGENTS.md": strings.Repeat(line, 300), "home/ada/p/AGENTS.md": long.String(), "etc/x": "",
	})
	text, notices := readInstructions(instructionOptions(root, "home/ada/p"))
	if len(text) > maxInstructions+500 || len(text) < maxInstructions-200 {
		t.Errorf("%d bytes for a limit of %d", len(text), maxInstructions)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "p/AGENTS.md: cut here") || !strings.Contains(text, "x\n[cut here: ") {
		t.Errorf("notices %q, text ends %q", notices, text[len(text)-200:])
	}

	root = tree(t, map[string]string{"home/ada/.cluade/AGENTS.md": strings.Repeat(line, 400), "home/ada/p/AGENTS.md": "LATE", "etc/x": ""})
	text, notices = readInstructions(instructionOptions(root, "home/ada/p"))
	if len(notices) != 2 || !strings.Contains(notices[1], "left out") || strings.Contains(text, "LATE") {
		t.Errorf("notices %q", notices)
	}

	root = tree(t, map[string]string{"home/ada/AGENTS.md": strings.Repeat("ü", 100<<10), "etc/x": ""})
	text, notices = readInstructions(instructionOptions(root, ""))
	if len(notices) != 2 || len(text) > maxInstructions+300 || strings.Contains(text, "\ufffd") {
		t.Errorf("one long line: %d bytes, notices %q", len(text), notices)
	}

	files := map[string]string{"etc/x": ""}
	for i := range 100 {
		files[fmt.Sprintf("home/ada/%d", i)] = strings.Repeat(line, 100)
		files["home/ada/AGENTS.md"] += fmt.Sprintf("@%d\n", i)
	}
	text, _ = readInstructions(instructionOptions(tree(t, files), ""))
	if len(text) > maxInstructions+300 {
		t.Errorf("many imports: %d bytes", len(text))
	}
}

func TestStripComments(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"plain", "plain"},
		{"a<!---->b", "ab"},
		{"a<!-->b", "ab"},
		{"<!-- a -->\nb", "b"},
		{"  <!-- a -->  \nb", "b"},
		{"<!-- a --><!-- b -->\nc", "c"},
		{"a <!-- x\ny --> b\nc", "a  b\nc"},
		{"a <!-- x\ny -->\nc", "a \nc"},
		{"-->\n<!-- a", "-->\n<!-- a"},
		{"`` ` <!-- ` `` <!-- x -->", "`` ` <!-- ` `` "},
		{"` <!-- x -->", "` "},
		{"```\n<!-- x -->\n", "```\n<!-- x -->\n"},
		{"```a`b\n<!-- x -->y\n", "```a`b\ny\n"},
		{"~~~\n<!-- x -->\n~~~~ \n<!-- y -->z", "~~~\n<!-- x -->\n~~~~ \nz"},
		{"    ```\n<!-- x -->y", "    ```\ny"},
	}
	for _, tt := range tests {
		if got := stripComments(tt.in); got != tt.want {
			t.Errorf("stripComments(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

// TestStripCommentsIsQuick has texts that make a careless search start again at
// every place.
func TestStripCommentsIsQuick(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("<!--\n", maxRawFile/5), strings.Repeat("<!--", maxRawFile/4), strings.Repeat("<!-- -->", maxRawFile/8),
		strings.Repeat("` ", maxRawFile/2), strings.Repeat("<!--\n", maxRawFile/5) + "-->", strings.Repeat("`<!-- -->\n", maxRawFile/10),
	} {
		began := time.Now()
		stripComments(s)
		if d := time.Since(began); d > 2*time.Second {
			t.Errorf("stripComments(%.10q...) took %v", s, d)
		}
	}
}

func FuzzInstructions(f *testing.F) {
	f.Add("# Rules\n@a.md\n```\n@a.md\n```\n<!-- x -->\n")
	f.Add("<!-- `\n` -->~~~\n\ufeff@AGENTS.md\n@~/\n@/\n@..\n")
	f.Fuzz(func(t *testing.T, s string) {
		if got := stripComments(s); len(got) > len(s) {
			t.Errorf("stripComments(%q) = %q, longer", s, got)
		}
		for line := range strings.Lines(s) {
			if name := importName(line); name != "" && !strings.Contains(line, "@"+name) {
				t.Errorf("importName(%q) = %q", line, name)
			}
		}
		root := t.TempDir()
		os.WriteFile(filepath.Join(root, "AGENTS.md"), []byte(s), 0o644)
		os.WriteFile(filepath.Join(root, "a.md"), []byte(s), 0o644)
		text, _ := readInstructions(promptOptions{Dir: root, Etc: root})
		if strings.ContainsAny(text, "\x1b\x00\x07") {
			t.Errorf("%q became %q", s, text)
		}
	})
}
