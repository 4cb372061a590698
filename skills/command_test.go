package skills

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func commandRoots(top string) []Root {
	return CommandRoots(filepath.Join(top, "work"), filepath.Join(top, "home"), filepath.Join(top, "home/.cluade"))
}

func TestCommands(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"none", map[string]string{"work/x": ""}, ""},
		{"places and order", map[string]string{
			"work/.cluade/commands/d.md": "D", "work/.claude/commands/c.md": "C", "home/.cluade/commands/b.md": "B", "home/.claude/commands/a.md": "A",
		}, "a||A|\nb||B|\nc||C|\nd||D|\n"},
		{"nearer hides farther", map[string]string{
			"work/.cluade/commands/x.md": "1", "work/.claude/commands/x.md": "2", "home/.cluade/commands/x.md": "3", "home/.claude/commands/x.md": "4",
			"work/.claude/commands/y.md": "2", "home/.cluade/commands/y.md": "3", "home/.cluade/commands/z.md": "3", "home/.claude/commands/z.md": "4",
		}, "x||1|\ny||2|\nz||3|\n"},
		{"metadata", map[string]string{
			"work/.cluade/commands/a.md": "---\ndescription: Says: hello\nargument-hint: [who] [how often]\nallowed-tools: [\"Bash(x\"\nmodel: {a\n---\nBody\n",
			"work/.cluade/commands/b.md": "\ufeff---\r\nargument-hint: \"<file> # all\"\r\n---\r\n\r\n## Title here\r\n",
			"work/.cluade/commands/c.md": "---\nargument-hint: <a> | --all\ndescription: >\n  two\n  lines\n---\nx",
		}, "a|[who] [how often]|Says: hello|\nb|<file> # all|Title here|\nc|<a> | --all|two lines|\n"},
		{"faulty metadata costs what it says", map[string]string{
			"work/.cluade/commands/a.md": "---\nno key\n---\nBody", "work/.cluade/commands/b.md": "---\nA rule, and no metadata", "work/.cluade/commands/c.md": "text\n---\nx: y\n---\n",
		}, "a||Body|\nb||---|\nc||text|\n"},
		{"faults", map[string]string{
			"work/.cluade/commands/a.md": "\xff", "work/.cluade/commands/b.md": strings.Repeat("x", maxCommand+1), "work/.cluade/commands/c.md": "---\ndescription: d\n---\n \n",
			"work/.cluade/commands/d.md": "-> /etc/passwd", "home/.cluade/commands/e.md": "-> ../../notes.md", "home/notes.md": "E", "home/.claude/commands/f.md": "-> /etc/passwd",
		}, "a|||a.md is not UTF-8 text\nb|||b.md is larger than 65536 bytes\nc||d|it holds no text\n" +
			"d|||d.md is a link that leads out of its directory\ne||E|\nf|||f.md is a link that leads out of its directory\n"},
		{"not commands", map[string]string{
			"work/.cluade/commands/a.txt": "", "work/.cluade/commands/b c.md": "", "work/.cluade/commands/..md": "", "work/.cluade/commands/.md": "",
			"work/.cluade/commands/d/e.md": "", "work/.cluade/commands/f.md/x": "", "work/.cluade/commands/g.md": "-> none",
		}, ""},
	}
	for _, tt := range tests {
		var b strings.Builder
		for _, c := range Commands(commandRoots(tree(t, tt.files))) {
			fmt.Fprintf(&b, "%s|%s|%s|%s\n", c.Name, c.Hint, c.Description, c.Fault)
		}
		if got := b.String(); got != tt.want {
			t.Errorf("%s: Commands gives\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestFindCommand(t *testing.T) {
	roots := commandRoots(tree(t, map[string]string{"home/.cluade/commands/x.md": "3", "work/.claude/commands/x.md": "2", "work/secret.md": "s"}))
	c, ok := FindCommand(roots, "x")
	if text, err := c.Expand(""); !ok || err != nil || text != "2" {
		t.Errorf("FindCommand(x) = %+v, %v; %q, %v", c, ok, text, err)
	}
	for _, name := range []string{"", "y", "../../secret", ".", "..", "x.md", "a/b"} {
		if c, ok := FindCommand(roots, name); ok {
			t.Errorf("FindCommand(%q) = %+v, want none", name, c)
		}
	}
}

func TestExpand(t *testing.T) {
	tests := []struct{ text, args, want string }{
		{"Do it.", "", "Do it."},
		{"Do it.", "now and  here", "Do it.\n\nnow and  here"},
		{"Fix $ARGUMENTS, then test $ARGUMENTS.", "a b", "Fix a b, then test a b."},
		{"Fix $ARGUMENTS.", "", "Fix ."},
		{"$1 and $2, not $3: $9", "a  b", "a and b, not : "},
		{"$2$1", "a b", "ba"},
		{"$ARGUMENTS[0] $ARGUMENTS[1] $ARGUMENTS[2] $ARGUMENTS[x", "a b", "a b  a b[x"},
		{"costs $10, $100, $0, $HOME, $ARGUMENT, $, $$", "a", "costs $10, $100, $0, $HOME, $ARGUMENT, $, $$\n\na"},
		{"wlan$1ap $1_v2 $1st $1.5 $ARGUMENTS_x", "a", "wlanaap a_v2 ast a.5 a_x"},
		{"$ARGUMENTS[12] $ARGUMENTS[1]2 $ARGUMENTS[99999999999999999999] $ARGUMENTS[] $ARGUMENTS[-1]", "0 1 2 3 4 5 6 7 8 9 a b c", "c 12  0 1 2 3 4 5 6 7 8 9 a b c[] 0 1 2 3 4 5 6 7 8 9 a b c[-1]"},
		{"$$1 ${1} \\$1 \"$1\"", "a", "$a ${1} \\a \"a\""},
		{"say $1 $ARGUMENTS", "$ARGUMENTS $1", "say $ARGUMENTS $ARGUMENTS $1"},
		{"!rm -rf /\n@/etc/passwd $1", "@x", "!rm -rf /\n@/etc/passwd @x"},
	}
	for _, tt := range tests {
		c, ok := FindCommand(commandRoots(tree(t, map[string]string{"work/.cluade/commands/x.md": tt.text})), "x")
		if got, err := c.Expand(tt.args); !ok || err != nil || got != tt.want {
			t.Errorf("Expand(%q, %q) = %q, %v, want %q", tt.text, tt.args, got, err, tt.want)
		}
	}
}

// TestExpandBounds: a file and a line cannot become a prompt without bounds.
func TestExpandBounds(t *testing.T) {
	c, _ := FindCommand(commandRoots(tree(t, map[string]string{"work/.cluade/commands/x.md": strings.Repeat("$ARGUMENTS ", 5000)})), "x")
	want := "the command /x becomes a prompt of more than 262144 bytes"
	if got, err := c.Expand(strings.Repeat("a", 60000)); got != "" || err == nil || err.Error() != want {
		t.Errorf("Expand = %d bytes, %v, want %q", len(got), err, want)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("$1 $ARGUMENTS $ARGUMENTS[1] $", "a b")
	f.Fuzz(func(t *testing.T, text, args string) {
		got, used := expand(text, args)
		if !used && len(text) <= maxExpanded && got != text {
			t.Errorf("expand(%q, %q) = %q, and nothing was used", text, args, got)
		}
	})
}
