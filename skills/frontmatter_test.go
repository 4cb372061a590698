package skills

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	tests := []struct{ name, text, wantName, wantDescription, tools, body string }{
		{"plain", "---\nname: demo\ndescription: d\n---\nBody\n", "demo", "d", "", "Body\n"},
		{"blank lines", "\n---  \n\nname:   demo  \n\ndescription:\td\n...\n\n\nBody", "demo", "d", "", "Body"},
		{"colons", "---\ndescription: Two axes: style and tests, e.g. http://x\n---\n", "", "Two axes: style and tests, e.g. http://x", "", ""},
		{"number sign", "---\nname: demo # the name\ndescription: C# in #12 # not this\n---\n", "demo", "C# in #12", "", ""},
		{"comment lines", "---\n# c\nname: demo\n  # c: d\n# c: d\ndescription: d\n---\n", "demo", "d", "", ""},
		{"single quotes", "---\ndescription: 'it''s: \\n #1' # c\n---\n", "", `it's: \n #1`, "", ""},
		{"double quotes", `---` + "\n" + `description: "a \"b\": \\ \u00e9\x41\n\tc\/"` + "\n---\n", "", `a "b": \ éA c/`, "", ""},
		{"number sign in quotes", "---\ndescription: \"a # b\" # c\nname: 'x # y'\n---\n", "x # y", "a # b", "", ""},
		{"number sign in quotes below", "---\ndescription:\n  'a # b' # c\n---\n", "", "a # b", "", ""},
		{"quotes over lines", "---\ndescription: \"one\n  two \\\n  three\nfour\"\nname: demo\n---\n", "demo", "one two three four", "", ""},
		{"quoted key", "---\n\"name\": demo\n'description': d\n---\n", "demo", "d", "", ""},
		{"plain over lines", "---\ndescription: one\n  two: 2 # c\n\n\tthree\nname: demo\n---\n", "demo", "one two: 2 three", "", ""},
		{"value below", "---\ndescription:\n\n  one: 1\n  two\nname:\n  'demo'\n---\n", "demo", "one: 1 two", "", ""},
		{"folded", "---\ndescription: >\n  first part,\n  key: not a key\nname: demo\n---\n", "demo", "first part, key: not a key", "", ""},
		{"folded, stripped", "---\ndescription: >-\n    first\n\n      # second\n  third\n---\n", "", "first # second third", "", ""},
		{"literal", "---\ndescription: |+2 # c\n   a\n  \"b\"\n\n\nname: demo\n---\n", "demo", `a "b"`, "", ""},
		{"block without text", "---\ndescription: |\nname: demo\n---\n", "demo", "", "", ""},
		{"null", "---\nname: ~\ndescription:\nlicense: x\n---\n", "", "", "", ""},
		{"nested", "---\nmetadata:\n  name: other\n  tags: [a,\n    b]\n\n  list:\n  - name: x\nname: demo\n---\n", "demo", "", "", ""},
		{"list at the margin", "---\nhooks:\n- name: x\n-\n  y: z\nname: demo\n---\n", "demo", "", "", ""},
		{"brackets over lines", "---\nmetadata: {\n  a: b,\n}\nname: demo\n---\n", "demo", "", "", ""},
		{"unknown block", "---\nwhen_to_use: |\n  name: other\nname: demo\n---\n", "demo", "", "", ""},
		{"odd keys", "---\nUse when: x\nName: other\nname : demo\n---\n", "demo", "", "", ""},
		{"control characters", "---\ndescription: \"a\\e[31m\\0b\u202e c\x1b\"\n---\n", "", "a [31m b c", "", ""},

		{"tools by commas", "---\nallowed-tools: Read, Bash(git add *),Grep # c\n---\n", "", "", "Read|Bash(git add *)|Grep", ""},
		{"tools by blanks", "---\nallowed-tools: Bash(git:*) Bash(jq:*) Read\n---\n", "", "", "Bash(git:*)|Bash(jq:*)|Read", ""},
		{"tools in brackets", "---\nallow: [\"Read\", 'Write' , Bash(a, b)] # c\nname: demo\n---\n", "demo", "", "Read|Write|Bash(a, b)", ""},
		{"brackets over lines", "---\nallow: [Read, # c\n  Write,\n]\nname: demo\n---\n", "demo", "", "Read|Write", ""},
		{"tools by lines", "---\nallowed-tools: # c\n  - Read\n\n  # c\n  -  \"Bash(git *)\"\nallow:\n- Write # c\nname: demo\n---\n", "demo", "", "Read|Bash(git *)|Write", ""},
		{"no tools", "---\nallow: []\nallowed-tools:\nname: demo\n---\n", "demo", "", "", ""},
		{"brackets and parentheses in quotes", "---\nallow: [\"Bash([a-z]*)\", 'Bash(a \"]\" # b)' ,\"Read, Write\"]\nallowed-tools: Bash(grep \")\" x), Bash(it's), Skill(it's)\n---\n", "", "",
			`Bash([a-z]*)|Bash(a "]" # b)|Read|Write|Bash(grep ")" x)|Bash(it's)|Skill(it's)`, ""},
		{"quotes in quotes", "---\nallowed-tools:\n  - \"Bash(grep \\\")\\\" x)\" # c\n  - 'Bash(''a b'')'\n---\n", "", "", `Bash(grep ")" x)|Bash('a b')`, ""},
		{"quotes without end", "---\nallowed-tools: Bash(\"a), Read, 'Write\n---\n", "", "", `Bash("a)|Read|Write`, ""},
		{"tools below", "---\nallowed-tools: # c\n\n  # c\n  Read, # c\n  Write\nallow:\n  [Read,\n  Edit]\nname: demo\n---\n", "demo", "", "Read|Write|Read|Edit", ""},
		{"tools folded", "---\nallowed-tools: >\n  Read,\n  Write\n---\n", "", "", "Read|Write", ""},
	}
	for _, tt := range tests {
		h, body, err := parse(tt.text)
		if err != nil || h.name != tt.wantName || h.description != tt.wantDescription || strings.Join(h.tools, "|") != tt.tools || body != tt.body {
			t.Errorf("%s: parse(%q) = %+v, %q, %v, want %q %q %q, %q", tt.name, tt.text, h, body, err,
				tt.wantName, tt.wantDescription, tt.tools, tt.body)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{"", "line 1: it does not begin"},
		{"# Body\n", "line 1: it does not begin"},
		{"----\nname: x\n---\n", "line 1: it does not begin"},
		{"---\nname: x\n", "line 1: the line --- has no second one"},
		{"---\nname: x\njust words\n---\n", `line 3: "just words" is no key`},
		{"---\nname:x\n---\n", `line 2: "name:x" is no key`},
		{"---\n  name: x\n---\n", `line 2: "  name: x" is no key`},
		{"---\n: x\n---\n", "line 2: "},
		{"---\n- name: x\n---\n", "line 2: "},
		{"---\nname: a\nname: b\n---\n", "line 3: name stands twice"},
		{"---\ndescription: 'no end\nname: x\n---\n", "line 2: the quotes have no end"},
		{"---\ndescription: \"no end\\\n---\n", "line 2: the quotes have no end"},
		{"---\ndescription: \"a\" b\n---\n", `line 2: "b" follows`},
		{"---\nname: x\ndescription: \"a\n  b\" c\n---\n", `line 4: "c" follows`},
		{"---\ndescription: \"\\q\"\n---\n", `line 2: unknown escape \"q"`},
		{"---\ndescription: \"\\u12\"\n---\n", "line 2: unknown escape"},
		{"---\ndescription: [a, b]\n---\n", "line 2: a text cannot begin with ["},
		{"---\ndescription: {a: b}\n---\n", "line 2: a text cannot begin with {"},
		{"---\nname: &x demo\n---\n", "line 2: a text cannot begin with &"},
		{"---\nname: *x\n---\n", "line 2: a text cannot begin with *"},
		{"---\nname: !!str demo\n---\n", "line 2: a text cannot begin with !"},
		{"---\ndescription:\n  - a\n---\n", "line 3: a text cannot begin with -"},
		{"---\ndescription: > text\n---\n", `line 2: "> text" begins no text`},
		{"---\ndescription: |22\n---\n", `line 2: "|22" begins no text`},
		{"---\nallow: [a, b\nname: x\n---\n", "line 2: the list has no end"},
		{"---\nallow: [a, [b]]\n---\n", "line 2: a list of tools holds names only"},
		{"---\nallow: {a: b}\n---\n", "line 2: a text cannot begin with {"},
		{"---\nallow:\n  - a\n  b: c\n---\n", `line 4: "b: c" is no item`},
	}
	for _, tt := range tests {
		if _, _, err := parse(tt.text); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("parse(%q) = %v, want %q", tt.text, err, tt.want)
		}
	}
}

// FuzzParse: any text is read, in bounded time; what comes of it fits a list,
// and the kind of line ends makes no difference.
// TestParseIsQuick has metadata that makes a careless reader start again, or copy
// what it has, at every line.
func TestParseIsQuick(t *testing.T) {
	for _, s := range []string{
		"description: x\n" + strings.Repeat(" a\n", 42000), "allowed-tools: [a,\n" + strings.Repeat(" b,\n", 32000) + "]\n",
		strings.Repeat("argument-hint: \"x\"\n", 6000), "allowed-tools: [" + strings.Repeat("\"\\", 8000) + "\n",
		strings.Repeat("a: b\n", 25000), "allowed-tools:\n" + strings.Repeat(" - a\n", 25000),
	} {
		for _, max := range []int{maxMetadata - 10, maxFile - 10} {
			s := s[:strings.LastIndexByte(s[:min(max, len(s))], '\n')+1]
			if s == "" {
				continue
			}
			began := time.Now()
			for range 20 {
				_, _, err := parse("---\n" + s + "---\nBody")
				if got := err != nil && strings.Contains(err.Error(), "the metadata is larger than 16384 bytes"); got != (len(s) > maxMetadata) {
					t.Fatalf("parse(%.30q...), %d bytes: %v", s, len(s), err)
				}
			}
			if d := time.Since(began); d > time.Second {
				t.Errorf("parse(%.30q...), %d bytes, took %v", s, len(s), d/20)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"---\nname: demo\ndescription: >-\n  a\n\n  b # c\nallow: [Read, 'Write']\n---\nBody\n",
		"---\ndescription: \"a\\u00e9\n b\" # c\nallowed-tools:\n- Bash(x, y)\nmetadata: {\n}\n---\n",
		"---\ndescription: 'it''s'\nname:\n  x\n...\n", "---\n: \n---", "---\nallow: [\n---", "---\nallow: ]\n---", "---\nallow: [\x00, a\x1bb]\n---",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, body, err := parse(s)
		if !strings.HasSuffix(s, body) {
			t.Errorf("parse(%q): body %q is not its end", s, body)
		}
		if strings.ContainsAny(h.name+h.description+strings.Join(h.tools, ""), "\n\x00\x1b") {
			t.Errorf("parse(%q) = %+v: control characters", s, h)
		}
		if err != nil && !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("parse(%q) = %v: no line", s, err)
		}
		again, _, err2 := parse(s)
		if again.name != h.name || again.description != h.description || !slices.Equal(again.tools, h.tools) || (err == nil) != (err2 == nil) {
			t.Errorf("parse(%q) differs from itself", s)
		}
	})
}
