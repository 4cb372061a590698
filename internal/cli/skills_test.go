package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/skills"
)

func skillFile(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nBody\n"
}

func TestSkillsInTheMessage(t *testing.T) {
	root := tree(t, map[string]string{
		"work/AGENTS.md": "RULE-1\n", "work/.cluade/skills/near/SKILL.md": skillFile("near", "does: this"),
		"home/.claude/skills/far/SKILL.md": skillFile("far", "does that"), "etc/x": "",
	})
	o := promptOptions{
		Dir: filepath.Join(root, "work"), Etc: filepath.Join(root, "etc"), Shell: "/bin/sh", Append: []string{"be kind"}, Plan: true,
		Skills: skills.Roots(filepath.Join(root, "work"), filepath.Join(root, "home"), "")[:5],
	}
	p := newPrompt(o)
	if news := p.NewTurn(); news != nil {
		t.Errorf("NewTurn = %q", news)
	}
	first := p.System()
	inOrder(t, first, "never an order", "RULE-1", "# Skills", "\n- near: does: this\n- far: does that\n", "be kind", "only looks")
	if p.NewTurn(); p.System() != first {
		t.Errorf("the same skills gave another message:\n%s\nafter\n%s", p.System(), first)
	}

	// They are looked for anew, and what is wrong is said once.
	bad := filepath.Join(root, "work/.agents/skills/bad\n/SKILL.md")
	os.MkdirAll(filepath.Dir(bad), 0o755)
	os.WriteFile(bad, []byte("no metadata"), 0o644)
	hidden := filepath.Join(root, "home/.agents/skills/x/SKILL.md")
	os.MkdirAll(filepath.Dir(hidden), 0o755)
	os.WriteFile(hidden, []byte(skillFile("near", "hidden")), 0o644)
	news := strings.Join(p.NewTurn(), "|")
	if want := `skills: near in ` + root + `/work/.cluade/skills/near hides the one in ` + root + `/home/.agents/skills/x|` +
		`skills: not usable: bad\n (line 1: it does not begin with a line ---)`; news != want || p.System() != first {
		t.Errorf("NewTurn = %q, want %q, and the same message", news, want)
	}
	if news := p.NewTurn(); news != nil {
		t.Errorf("the same notices come again: %q", news)
	}
	os.RemoveAll(filepath.Join(root, "work/.cluade"))
	if p.NewTurn(); !strings.Contains(p.System(), "\n- near: hidden\n") {
		t.Errorf("a change is not seen: %q", p.System())
	}
	o.Skills = nil
	if p = newPrompt(o); p.NewTurn() != nil || strings.Contains(p.System(), "# Skills") {
		t.Errorf("without the tool skills are listed: %q", p.System())
	}
}

func TestSkillBudget(t *testing.T) {
	for window, want := range map[int]int{200000: 8192, 1<<31 - 1: 8192, 100000: 7000, 8192: 567, 1000: 70} {
		if got := skillBudget(promptOptions{Window: func() int { return window }}); got != want {
			t.Errorf("skillBudget of %d tokens = %d, want %d", window, got, want)
		}
	}
	files := map[string]string{}
	for i := range 100 {
		files[fmt.Sprintf("skills/s%02d/SKILL.md", i)] = skillFile(fmt.Sprintf("s%02d", i), strings.Repeat("word ", 60))
	}
	root := tree(t, files)
	for _, window := range []int{200000, 20000, 4096} {
		o := promptOptions{Skills: []skills.Root{{Dir: filepath.Join(root, "skills")}}, Window: func() int { return window }}
		text, _ := readSkills(o)
		if len(text) > skillBudget(o) || !strings.Contains(text, "\n- s00") {
			t.Errorf("the list for %d tokens has %d bytes, want at most %d: %.100q", window, len(text), skillBudget(o), text)
		}
	}
}

func TestSkillLine(t *testing.T) {
	out, stdout, _ := view(true, outputOptions{})
	out.Emit(agent.CallStart{Call: chat.ToolCall{Name: "skill"}, Gist: "demo\x1b[2J"})
	if got, want := stdout.String(), "[using skill: demo\\x1b[2J...]\n"; got != want {
		t.Errorf("CallStart shows %q, want %q", got, want)
	}
}

// TestSkillGrantsNothing: what a skill declares to need changes no level.
func TestSkillGrantsNothing(t *testing.T) {
	w := newWorld(t, reply{tool: "skill", args: `{"name":"demo"}`}, reply{tool: "bash", args: `{"command":"touch made"}`})
	w.config(`{"permissions":{"bash":"ask"}}`)
	w.file(".cluade/skills/demo/SKILL.md", "---\ndescription: d\nallow: [bash]\nallowed-tools: Bash\n---\nRun it.\n")
	w.run("hi").want(t, 0, "done\n", `\[using skill: demo\.\.\.\]`)
	if got := w.message(1, -1); !strings.Contains(got, "\nRun it.\n[end of skill demo]") {
		t.Errorf("the result is %q", got)
	}
	if got := w.message(2, -1); !strings.HasPrefix(got, "error: denied: bash needs approval") {
		t.Errorf("the result is %q", got)
	}
}

func TestSkillsDenied(t *testing.T) {
	w := newWorld(t)
	w.config(`{"permissions":{"skill":"deny"}}`)
	w.file(".cluade/skills/demo/SKILL.md", skillFile("demo", "d"))
	w.run("hi").want(t, 0, "done\n", ``)
	if got := w.message(0, 0); strings.Contains(got, "demo: d") {
		t.Errorf("a refused tool's skills are told: %q", got)
	}
}
