package policy

import (
	"fmt"
	"slices"
	"testing"
)

// TestBounds walks what a run can be and what a run below it can want: nothing
// that is not allowed above is allowed below, and nothing more is lost.
func TestBounds(t *testing.T) {
	tools := []string{"bash", "read", "mcp__x__y"}
	effects := map[string]Effect{"bash": Execute, "read": Read, "mcp__x__y": External}
	sets := [][]string{nil, {}, {"bash"}, {"read", "bash", "mcp__x__y"}}
	n := 0
	for bits := range 4 * 4 * 2 * 4 * 4 * 2 {
		above := &Policy{Attended: true, Levels: map[string]Level{}, Toolset: sets[bits%4]}
		below := &Policy{Levels: map[string]Level{}, Toolset: sets[bits/32%4]}
		for _, tool := range tools {
			if v := bits / 4 % 4; v < 3 {
				above.Levels[tool] = Level{Verdict(v), "config.json"}
			}
			if v := bits / 128 % 4; v < 3 {
				below.Levels[tool] = Level{Verdict(v), "config.json"}
			}
		}
		if bits/16%2 == 1 {
			above.ApplyYes()
		}
		if bits/512%2 == 1 {
			below.Lacking = []string{"bash"}
		}
		free := *below
		below.Narrow(above.Bounds())
		if bits/512%2 == 1 {
			below.ApplyYes() // after or before makes no difference
			free.ApplyYes()
		}
		for _, tool := range tools {
			s := Subject{Tool: tool, Effect: effects[tool]}
			name := fmt.Sprintf("bits %d, %s", bits, tool)
			got := below.Refuse(s).Verdict
			_, listed := above.Levels[tool]
			allowed := above.Refuse(s).Verdict == Allow && listed
			if got != Deny && !allowed {
				t.Errorf("%s: below %v, although above it is not allowed", name, got)
			}
			if want := free.Refuse(s).Verdict; allowed && got != want {
				t.Errorf("%s: below %v, want %v as without bounds", name, got, want)
			}
			if below.InToolset(tool) && !above.InToolset(tool) {
				t.Errorf("%s: below has a tool that above lacks", name)
			}
			n++
		}
		// A third run is no wider than the second.
		third := &Policy{Levels: Defaults()}
		third.Narrow(below.Bounds())
		for _, tool := range tools {
			s := Subject{Tool: tool, Effect: effects[tool]}
			if third.Refuse(s).Verdict != Deny && below.Refuse(s).Verdict != Allow {
				t.Errorf("bits %d, %s: the third run is wider than the second", bits, tool)
			}
		}
	}
	if n != 3*1024 {
		t.Errorf("walked %d combinations", n)
	}
}

func TestBoundsReasons(t *testing.T) {
	p := &Policy{Levels: Defaults()}
	p.Levels["write"] = Level{Deny, "config.json"}
	p.Narrow(Bounds{Allow: []string{"read", "write"}})
	for tool, want := range map[string]string{
		"bash": "denied: the run above this one does not use bash without asking", "write": "denied: permission for write is deny (config.json)",
	} {
		if got := p.Refuse(Subject{Tool: tool, Effect: Execute}).Reason; got != want {
			t.Errorf("Refuse(%s) = %q, want %q", tool, got, want)
		}
	}
	if got := p.Bounds().Allow; !slices.Equal(got, []string{"read"}) {
		t.Errorf("Bounds().Allow = %q, want read alone", got)
	}
	p = &Policy{Levels: Defaults(), Lacking: []string{"subagent"}}
	if got, want := p.Refuse(Subject{Tool: "subagent", Effect: Execute}).Reason, "denied: subagent is not among the tools of this run"; got != want {
		t.Errorf("Refuse of a tool that is lacking = %q, want %q", got, want)
	}
}

// TestBoundsOfRules: what a run refuses or asks about is refused below it, in
// another directory and with another home too.
func TestBoundsOfRules(t *testing.T) {
	rules := func(texts ...string) (list []Rule) {
		for _, text := range texts {
			r, err := ParseRule(text, "config.json")
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, r)
		}
		return list
	}
	above := &Policy{
		Levels: Defaults(), Project: "/proj", Home: "/root",
		Rules: Rules{
			Deny:  rules("read(src/*.key)", "edit(~/notes)", "path(.env)", "write(/etc/x)", "read(~)", "glob(./top/)", "read(.)", "grep(..)", "bash(rm *)", "skill(a/b)"),
			Ask:   rules("bash(uci *)"),
			Allow: rules("bash(make *)"),
		},
	}
	b := above.Bounds()
	var texts []string
	for _, r := range b.Deny {
		texts = append(texts, r.Text)
	}
	want := []string{"read(/proj/src/*.key)", "edit(/root/notes)", "path(.env)", "write(/etc/x)", "read(/root)", "glob(/proj/top)", "read(/proj)", "grep(/)", "bash(rm *)", "skill(a/b)"}
	if !slices.Equal(texts, want) {
		t.Errorf("Bounds().Deny = %q, want %q", texts, want)
	}
	below := &Policy{Levels: Defaults(), Project: "/other", Home: "/home", Rules: Rules{Deny: rules("bash(rm *)", "bash(dd *)")}}
	below.Narrow(b)
	for _, tt := range []struct {
		s    Subject
		want Verdict
	}{
		{Subject{Tool: "read", Paths: []Path{{Abs: "/proj/src/a.key"}}}, Deny},
		{Subject{Tool: "read", Paths: []Path{{Abs: "/other/src/a.key"}}}, Allow},
		{Subject{Tool: "write", Effect: Write, Paths: []Path{{Abs: "/root/notes/x"}}}, Deny},
		{Subject{Tool: "write", Effect: Write, Paths: []Path{{Abs: "/home/notes/x"}}}, Allow},
		{Subject{Tool: "grep", Paths: []Path{{Abs: "/x/.env"}}}, Deny},
		{Subject{Tool: "bash", Effect: Execute, Command: "rm x"}, Deny},
		{Subject{Tool: "bash", Effect: Execute, Command: "dd x"}, Deny},
		{Subject{Tool: "bash", Effect: Execute, Command: "uci x"}, Deny},
		{Subject{Tool: "bash", Effect: Execute, Command: "make x"}, Allow},
	} {
		if got := below.Gate(tt.s, below.Refuse(tt.s), WishAllow); got.Verdict != tt.want {
			t.Errorf("%+v: %v (%s), want %v", tt.s, got.Verdict, got.Reason, tt.want)
		}
	}
	if n := len(below.Rules.Deny); n != len(want)+1 || len(below.Rules.Allow) != 0 {
		t.Errorf("%d deny rules, %d allow rules; want %d, none", n, len(below.Rules.Allow), len(want)+1)
	}
}

// TestBoundsOfModes: the stricter mode counts, the scope and the danger check
// stay.
func TestBoundsOfModes(t *testing.T) {
	for _, m := range []Mode{ModeDefault, ModeAsk, ModeAcceptEdits, ModePlan, ModeBypass} {
		for _, n := range []Mode{ModeDefault, ModeAsk, ModeAcceptEdits, ModePlan} {
			above, below := &Policy{Levels: Defaults(), Mode: m}, &Policy{Levels: Defaults(), Mode: n}
			below.Narrow(above.Bounds())
			if !below.Mode.Narrower(n) || m != ModeBypass && !below.Mode.Narrower(m) {
				t.Errorf("%v below %v is %v", n, m, below.Mode)
			}
		}
	}
	above := &Policy{Levels: Defaults(), Project: "/p", ProjectScope: true, Danger: Danger{Exempt: []string{"power"}}}
	below := &Policy{Levels: Defaults(), Project: "/p/q", Danger: Danger{Exempt: []string{"power", "disk"}, SkipRemote: true}}
	b := above.Bounds()
	below.Narrow(b)
	if b.Scope != "/p" || !below.ProjectScope || !slices.Equal(below.Danger.Exempt, []string{"power"}) || below.Danger.SkipRemote {
		t.Errorf("scope %q, %v; danger %+v", b.Scope, below.ProjectScope, below.Danger)
	}
}
