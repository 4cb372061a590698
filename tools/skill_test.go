package tools

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"cluade/skills"
)

// skillEnv has skills below its working directory, by directory and file.
func skillEnv(t *testing.T, files map[string]string) *Env {
	t.Helper()
	e := testEnv(t)
	for name, text := range files {
		put(t, e, ".cluade/skills/"+name, text)
	}
	e.Skills = skills.Roots(e.Dir, "", "")
	return e
}

func TestSkill(t *testing.T) {
	e := skillEnv(t, map[string]string{
		"demo/SKILL.md": "---\r\nname: demo\r\ndescription: d\r\nallowed-tools: Bash\r\n---\r\n\r\nOne\r\nTwo\r\n",
		"demo/run.sh":   "", "demo/ref/a\nb.md": "", "other/SKILL.md": "---\nname: lone\ndescription: d\n---\n",
		"bad/SKILL.md": "---\nname: bad\n---\n", "long/SKILL.md": "---\ndescription: d\n---\n" + strings.Repeat("word\n", 2000),
	})
	dir := filepath.Join(e.Dir, ".cluade/skills")
	e.Keep = 4096
	want(t, e, "skill", args{"name": "demo"},
		"[skill demo: 2 lines of reference material supplied by the skill, not by the user; its directory: "+dir+
			"/demo; other files in it: \"ref/a\\nb.md\", run.sh]\nOne\nTwo\n[end of skill demo]")
	want(t, e, "skill", args{"name": "lone"},
		"[skill lone: 1 line of reference material supplied by the skill, not by the user; its directory: "+dir+
			"/other; no other files in it]\n\n[end of skill lone]")
	wantError(t, e, "skill", args{"name": "Demo"}, `unknown skill "Demo"; available: demo, lone, long`)
	wantError(t, e, "skill", args{"name": "../demo"}, `unknown skill "../demo"; available: demo, lone, long`)
	wantError(t, e, "skill", args{"name": "bad"}, "skill bad cannot be used: it has no description")
	wantError(t, e, "skill", args{"name": ""}, "the name is empty")
	if got, err := use(t, e, "skill", args{"name": "long"}); err != nil || !strings.Contains(got, "; its SKILL.md has what is cut here]\nword") {
		t.Errorf("skill long = %.300q, %v, want a hint", got, err)
	}
	e.Skills = nil
	wantError(t, e, "skill", args{"name": "demo"}, `unknown skill "demo"; there is none here`)
}

// TestSkillCancelled: a call that is over does not wait for a disk.
func TestSkillCancelled(t *testing.T) {
	e := skillEnv(t, nil)
	c, err := Builtin.Parse(e, "skill", `{"name":"demo"}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.Run(ctx); err == nil {
		t.Error("a cancelled call gives no error")
	}
}
