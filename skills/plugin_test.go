package skills

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sharedTop is a tree of the shape of a public marketplace: plugins share the top
// as their source, and name their skills.
func sharedTop() map[string]string {
	return map[string]string{
		catalogue: `{"name":"m","owner":{"name":"o"},"plugins":[
{"name":"docs","description":"d","source":"./","strict":false,"skills":["./skills/pdf","./skills/xlsx"]},
{"name":"mixed","source":"./","strict":false,"skills":["./skills/art","./skills/pdf"]},
{"name":"api","source":"./","strict":false,"skills":["./skills/art"]}]}`,
		"skills/pdf/SKILL.md": skill("pdf", "d"), "skills/pdf/scripts/a.py": "", "skills/xlsx/SKILL.md": skill("xlsx", "d"), "skills/xlsx/a.py": "",
		"skills/art/SKILL.md": skill("art", "d"), "commands/c.md": "c",
	}
}

// judgeAll shows what Marketplace makes of a tree, a line a plugin.
func judgeAll(t *testing.T, files map[string]string) string {
	t.Helper()
	_, list, err := Marketplace(tree(t, files), Target{})
	if err != nil {
		return "error: " + err.Error()
	}
	var b strings.Builder
	for i := range list {
		p := &list[i]
		fmt.Fprintf(&b, "%s %s %v", p.Verdict().Label(), p.Name, p.Skills)
		for _, n := range []struct {
			name string
			n    int
		}{{"commands", p.Commands}, {"agents", p.Agents}} {
			if n.n > 0 {
				fmt.Fprintf(&b, " %d %s", n.n, n.name)
			}
		}
		for _, has := range []struct {
			name string
			has  bool
		}{{"hooks", p.Hooks}, {"mcp", p.MCP}, {"lsp", p.LSP}} {
			if has.has {
				b.WriteString(" " + has.name)
			}
		}
		for _, more := range [][]string{p.Limited, p.Lacks, p.Faults} {
			if len(more) > 0 {
				fmt.Fprintf(&b, " %q", more)
			}
		}
		if p.Outside != "" {
			b.WriteString(" outside: " + p.Outside)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// plugins is a catalogue of these entries.
func plugins(entries ...string) string {
	return `{"name":"m","plugins":[` + strings.Join(entries, ",") + `]}`
}

func TestMarketplace(t *testing.T) {
	limited := map[string]string{"p/skills/x/SKILL.md": skill("x", "d"), "p/skills/x/a.py": ""}
	whole := map[string]string{
		"p/skills/a/SKILL.md": skill("a", "d"), "p/skills/b/SKILL.md": skill("b", "d"), "p/skills/README": "", "p/skills/c/x.md": "",
		"p/commands/one.md": "", "p/commands/two.md": "", "p/commands/x.txt": "", "p/commands/deep/three.md": "", "p/agents/a.md": "",
	}
	tests := []struct {
		name    string
		entries []string
		files   map[string]string
		want    string
	}{
		{"by its directory", []string{`{"name":"p","source":"./p"}`}, whole, "[OK  ] p [0 2 0 0] 2 commands 1 agents\n"},
		{"strict said", []string{`{"name":"p","source":"p","strict":true}`}, whole, "[OK  ] p [0 2 0 0] 2 commands 1 agents\n"},
		{"not strict, nothing declared", []string{`{"name":"p","source":"./p","strict":false}`}, whole,
			"[ X  ] p [0 0 0 0] [\"strict is false: what the catalogue does not declare does not count\"]\n"},
		{"not strict", []string{`{"name":"p","source":"./p","strict":false,"skills":"./skills/a","commands":["./commands/one.md"],"agents":"./agents"}`}, whole,
			"[OK  ] p [0 1 0 0] 1 commands 1 agents\n"},
		{"declared and there, once", []string{`{"name":"p","source":"./p","skills":["./skills/a","./skills"],"commands":"./commands/"}`}, whole,
			"[OK  ] p [0 2 0 0] 2 commands 1 agents\n"},
		{"a directory of skills", []string{`{"name":"p","source":"./p","strict":false,"skills":["./skills/"]}`}, whole, "[OK  ] p [0 2 0 0]\n"},
		{"the file of a skill", []string{`{"name":"p","source":"./p","strict":false,"skills":["./skills/a/SKILL.md"]}`}, whole, "[OK  ] p [0 1 0 0]\n"},
		{"objects", []string{`{"name":"p","source":"./p","strict":false,"commands":{"x":{"source":"./commands/one.md"},"y":{"content":"text"},"z":{}}}`}, whole,
			"[OK  ] p [0 0 0 0] 2 commands [\"commands: it names no file\"]\n"},
		{"another directory", []string{`{"name":"p","source":"./p","strict":false,"commands":"./more"}`}, map[string]string{"p/more/x.md": ""}, "[OK  ] p [0 0 0 0] 1 commands\n"},
		{"limited", []string{`{"name":"p","source":"./p"}`}, limited, "[LTD ] p [0 0 0 1] [\"x\"]\n"},
		{"a manifest", []string{`{"name":"p","source":"./p"}`}, map[string]string{
			"p/.claude-plugin/plugin.json": `{"name":"p","skills":["./other"],"commands":["./c/x.md"],"mcpServers":{"s":{}}}`, "p/other/SKILL.md": skill("o", "d"), "p/c/x.md": "",
		}, "[PART] p [0 1 0 0] 1 commands mcp\n"},
		{"a manifest counts only if strict", []string{`{"name":"p","source":"./p","strict":false,"commands":"./c/x.md"}`}, map[string]string{
			"p/.claude-plugin/plugin.json": `{"name":"p","mcpServers":{"s":{}}}`, "p/c/x.md": "",
		}, "[OK  ] p [0 0 0 0] 1 commands\n"},
		{"a faulty manifest", []string{`{"name":"p","source":"./p"}`}, map[string]string{"p/.claude-plugin/plugin.json": `[]`, "p/commands/x.md": ""},
			"[OK  ] p [0 0 0 0] 1 commands [\"plugin.json: .claude-plugin/plugin.json: it is no object\"]\n"},
		{"hooks", []string{`{"name":"p","source":"./p"}`}, map[string]string{"p/hooks/hooks.json": "{}", "p/commands/x.md": ""}, "[PART] p [0 0 0 0] 1 commands hooks\n"},
		{"servers alone", []string{`{"name":"p","source":"./p"}`}, map[string]string{"p/.mcp.json": "{}", "p/.lsp.json": "{}"}, "[ X  ] p [0 0 0 0] mcp lsp\n"},
		{"declared servers", []string{`{"name":"p","source":"./","strict":false,"hooks":"./h.json","lspServers":{"x":{}}}`}, nil, "[ X  ] p [0 0 0 0] hooks lsp\n"},
		{"empty ones", []string{`{"name":"p","source":"./","strict":false,"hooks":{},"mcpServers":"","lspServers":[],"commands":["./c.md"]}`}, map[string]string{"c.md": ""}, "[OK  ] p [0 0 0 0] 1 commands\n"},
		{"partial skills", []string{`{"name":"p","source":"./p"}`}, map[string]string{"p/skills/x/SKILL.md": "---\nname: x\ndescription: d\nallowed-tools: Read Task\n---\n"}, "[PART] p [0 0 1 0] [\"Task\"]\n"},
		{"agents and a limited skill", []string{`{"name":"p","source":"./p"}`}, map[string]string{"p/skills/x/SKILL.md": skill("x", "d"), "p/skills/x/a.js": "", "p/agents/a.md": ""}, "[PART] p [0 0 0 1] 1 agents [\"x\"]\n"},

		{"elsewhere", []string{
			`{"name":"a","source":{"source":"github","repo":"o/r"}}`, `{"name":"b","source":{"source":"url","url":"https://x/y.git","path":"z"}}`,
			`{"name":"c","source":{"source":"git-subdir","url":"o/r","path":"p","ref":"main"},"strict":false,"skills":["./a","./b"]}`,
			`{"name":"d","source":{"source":"npm","package":"@x/y"},"commands":["./c.md"],"hooks":{"x":[]}}`, `{"name":"e","source":{"source":"archive","url":"https://x/y.zip"},"agents":"./a"}`,
			`{"name":"f","source":{"source":"command","command":"touch /tmp/x"}}`, `{"name":"g","source":{}}`,
			`{"name":"h","source":{"source":"github","repo":"o/r"},"skills":["../../b","/etc","./s"],"commands":"../c.md"}`,
		}, nil, `[ X  ] a [0 0 0 0] outside: github o/r
[ X  ] b [0 0 0 0] outside: url https://x/y.git z
[OK  ] c [0 2 0 0] outside: git-subdir o/r p
[PART] d [0 0 0 0] 1 commands hooks outside: npm @x/y
[OK  ] e [0 0 0 0] 1 agents outside: archive https://x/y.zip
[ X  ] f [0 0 0 0] outside: command touch /tmp/x
[ X  ] g [0 0 0 0] outside: an unknown place
[OK  ] h [0 1 0 0] ["skills ../../b: it leaves the repository" "skills /etc: it leaves the repository" "commands ../c.md: it leaves the repository"] outside: github o/r
`},
		{"out of the repository", []string{
			`{"name":"a","source":"../other","strict":false,"skills":["./s"],"commands":"./c.md"}`, `{"name":"b","source":"/etc"}`, `{"name":"c","source":"./l"}`, `{"name":"d","source":"./p/../../x"}`,
			`{"name":"e","source":"./","strict":false,"skills":["../x"],"commands":"/etc/x.md","agents":"./l/a.md"}`,
		}, map[string]string{"l": "-> /etc", "p/x": ""}, `[ X  ] a [0 0 0 0] ["source ../other: it leaves the repository"]
[ X  ] b [0 0 0 0] ["source /etc: it leaves the repository"]
[ X  ] c [0 0 0 0] ["source ./l: it leaves the repository"]
[ X  ] d [0 0 0 0] ["source ./p/../../x: it leaves the repository"]
[ X  ] e [0 0 0 0] ["skills ../x: it leaves the repository" "commands /etc/x.md: it leaves the repository" "agents ./l/a.md: it is not there"]
`},
		{"links of what is there", []string{`{"name":"p","source":"./p"}`}, map[string]string{
			"p/skills/in": "-> ../../q/s", "q/s/SKILL.md": skill("s", "d"), "p/skills/out": "-> /etc", "p/commands": "-> /etc", "p/agents/x.md": "-> /etc/passwd",
		}, "[OK  ] p [0 1 0 0] [\"commands: it leaves the repository\"]\n"},
		{"not there", []string{`{"name":"p","source":"./none"}`, `{"source":"./x"}`, `{"name":"q"}`, `7`, `{"name":"r","source":"./","strict":false,"skills":["./p"]}`}, map[string]string{"x": "", "p/y": ""},
			`[ X  ] p [0 0 0 0] ["source ./none: it is not there"]
[ X  ] (plugin 2, without name) [0 0 0 0] ["source ./x: it is no directory"]
[ X  ] q [0 0 0 0] ["source: there is none"]
[ X  ] (plugin 4, without name) [0 0 0 0] ["source: there is none"]
[ X  ] r [0 0 0 0] ["skills: p holds no SKILL.md" "strict is false: what the catalogue does not declare does not count"]
`},
		{"within the repository by a detour", []string{`{"name":"p","source":"./p/../p/","strict":false,"commands":"../shared/c.md"}`}, map[string]string{"p/x": "", "shared/c.md": ""},
			"[OK  ] p [0 0 0 0] 1 commands\n"},
	}
	for _, tt := range tests {
		files := map[string]string{catalogue: plugins(tt.entries...)}
		for name, text := range tt.files {
			files[name] = text
		}
		if got := judgeAll(t, files); got != tt.want {
			t.Errorf("%s: Marketplace gives\n%swant\n%s", tt.name, got, tt.want)
		}
	}
}

func TestMarketplaceSharedTop(t *testing.T) {
	want := "[LTD ] docs [0 0 0 2] [\"pdf\" \"xlsx\"]\n[PART] mixed [0 1 0 1] [\"pdf\"]\n[OK  ] api [0 1 0 0]\n"
	if got := judgeAll(t, sharedTop()); got != want {
		t.Errorf("Marketplace gives\n%swant\n%s", got, want)
	}
}

func TestMarketplaceRoot(t *testing.T) {
	files := map[string]string{
		catalogue:                 `{"name":"m","metadata":{"pluginRoot":"./plugins"},"plugins":[{"name":"a","source":"a"},{"name":"b","source":"./b"}]}`,
		"plugins/a/commands/c.md": "", "b/commands/c.md": "",
	}
	if got := judgeAll(t, files); got != "[OK  ] a [0 0 0 0] 1 commands\n[OK  ] b [0 0 0 0] 1 commands\n" {
		t.Errorf("Marketplace gives\n%s", got)
	}
}

func TestMarketplaceFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no JSON", "{", ".claude-plugin/marketplace.json: "},
		{"no object", "[]", ".claude-plugin/marketplace.json: it is no object"},
		{"no list", `{"name":"m"}`, ".claude-plugin/marketplace.json: it has no list of plugins"},
		{"an object for the list", `{"plugins":{}}`, ".claude-plugin/marketplace.json: it has no list of plugins"},
		{"deep", `{"plugins":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "}", ".claude-plugin/marketplace.json: "},
		{"many values", `{"plugins":[` + strings.Repeat("0,", maxValues) + "0]}", ".claude-plugin/marketplace.json is too large: "},
		{"out", "-> /etc/passwd", ".claude-plugin/marketplace.json: it leaves the repository"},
	}
	for _, tt := range tests {
		if got := judgeAll(t, map[string]string{catalogue: tt.text}); !strings.HasPrefix(got, "error: "+tt.want) {
			t.Errorf("%s: Marketplace gives %.200q, want the error %q", tt.name, got, tt.want)
		}
	}
	if got := judgeAll(t, map[string]string{"x": ""}); got != "error: .claude-plugin/marketplace.json: it is not there" {
		t.Errorf("Marketplace of another tree gives %q", got)
	}
	if got := judgeAll(t, map[string]string{catalogue: "\ufeff" + plugins()}); got != "" {
		t.Errorf("Marketplace without plugins gives %q", got)
	}
}

// TestMarketplaceRunsNothing: what a catalogue would have run stays as it is.
func TestMarketplaceRunsNothing(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "ran")
	judgeAll(t, map[string]string{catalogue: plugins(
		`{"name":"a","source":{"source":"command","command":"touch `+mark+`"}}`, `{"name":"b","source":"./","mcpServers":{"x":{"command":"touch","args":["`+mark+`"]}}}`)})
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a command of the catalogue ran")
	}
}

// many is a marketplace of 300 plugins that share 300 skills.
func many(t testing.TB) (dir string) {
	files := map[string]string{}
	var entries []string
	for i := range 300 {
		entries = append(entries, fmt.Sprintf(`{"name":"p%d","source":"./","description":"shares all"}`, i))
		files[fmt.Sprintf("skills/s%d/SKILL.md", i)] = skill(fmt.Sprintf("s%d", i), "d")
	}
	files[catalogue] = plugins(entries...)
	return tree(t, files)
}

func TestMarketplaceOfMany(t *testing.T) {
	_, list, err := Marketplace(many(t), Target{})
	if err != nil || len(list) != 300 || list[299].Skills[Portable] != 300 {
		t.Fatalf("Marketplace = %d plugins, %v", len(list), err)
	}
}

// BenchmarkMarketplaceOfMany is what build/bench.sh holds against its budget.
func BenchmarkMarketplaceOfMany(b *testing.B) {
	dir := many(b)
	for b.Loop() {
		if _, list, err := Marketplace(dir, Target{}); err != nil || len(list) != 300 {
			b.Fatalf("Marketplace = %d plugins, %v", len(list), err)
		}
	}
}

func FuzzMarketplace(f *testing.F) {
	f.Add(sharedTop()[catalogue])
	f.Add(plugins(`{"name":"a","source":{"source":"github"},"skills":{"x":7}}`, `{"source":"..","commands":[[],{"content":1}]}`))
	dir := f.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".claude-plugin"), 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(filepath.Join(dir, catalogue), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, list, _ := Marketplace(dir, Target{})
		for _, p := range list {
			if p.Name == "" || p.Verdict() < Compatible || p.Verdict() > Incompatible {
				t.Errorf("Marketplace(%q) has the plugin %+v", text, p)
			}
		}
	})
}
