package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"cluade/internal/policy"
	"cluade/internal/proc"
	"cluade/store"
)

func TestParent(t *testing.T) {
	rules := func(texts ...string) []policy.Rule {
		list, err := parentRules(texts)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for _, want := range []parent{
		{depth: 1, baseURL: "http://x/v1", bounds: policy.Bounds{Allow: []string{"bash", "read"}}},
		{depth: 2, baseURL: "http://x/v1?a=b&c=%20;,", bounds: policy.Bounds{Allow: []string{}, Toolset: []string{}, Mode: policy.ModePlan}},
		{depth: 2, baseURL: "http://[::1]:1/", bounds: policy.Bounds{Allow: []string{"mcp__a__b"}, Toolset: []string{"read", "glob"}, Mode: policy.ModeAsk}},
		{depth: 1, baseURL: "http://x", bounds: policy.Bounds{Allow: []string{}, Deny: rules("bash(rm *)", "read(/a b/%2f&\\\"\n)"), Ask: rules("mcp__*"),
			Scope: "/a b", Exempt: []string{"power", "disk"}, SkipRemote: true}, sandbox: proc.Confined, must: true},
	} {
		text := want.String()
		got, err := parseParent(text)
		if err != nil || !reflect.DeepEqual(*got, want) || strings.ContainsAny(text, " \n\x00") {
			t.Errorf("parseParent(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	if p, err := parseParent(""); p != nil || err != nil {
		t.Errorf("parseParent of nothing = %v, %v", p, err)
	}
}

// TestParentRefuses: what is not understood may be a limit.
func TestParentRefuses(t *testing.T) {
	whole := (&parent{depth: 1, baseURL: "http://x", bounds: policy.Bounds{Allow: []string{"read"}, Toolset: []string{"read"}}}).String()
	change := func(old, new string) string {
		text := strings.Replace(whole, old, new, 1)
		if text == whole {
			t.Fatalf("%q has no %q", whole, old)
		}
		return text
	}
	for _, text := range []string{
		"x", " ", "base_url=http://x", "%", whole + "&v=2", whole + "&allow=bash", whole + ";allow=bash", whole + "&%zz=1",
		change("depth=1", "depth=0"), change("depth=1", "depth=one"), change("depth=1", ""), change("allow=read", ""), change("base_url=", "base="),
		change("mode=default", "mode=none"), change("mode=default", "mode=bypass"), change("mode=default", ""),
		whole + "&deny=zap", whole + "&deny=bash(", whole + "&ask=", whole + "&scope=", whole + "&scope=relative", whole + "&sandbox=none", whole + "&sandbox=", strings.Repeat("a", 1<<16),
	} {
		if p, err := parseParent(text); err == nil {
			t.Errorf("parseParent(%.200q) = %+v, want an error", text, p)
			continue
		}
		w := newWorld(t)
		w.vars["CLUADE_PARENT"] = text
		w.wantNothingSent(w.run("-y", "hi"), `CLUADE_PARENT`)
	}
}

// TestParentNarrows has a run start below one with limits of every kind.
func TestParentNarrows(t *testing.T) {
	touch := reply{tool: "bash", args: `{"command":"echo ran"}`}
	above := func(allow, toolset []string, more ...string) string {
		text := (&parent{depth: 1, baseURL: "http://elsewhere/v1", bounds: policy.Bounds{Allow: allow, Toolset: toolset}}).String()
		for _, m := range more {
			text = strings.Replace(text, "mode=default", m, 1)
		}
		return text
	}
	bash := []string{"bash"}
	tests := []struct{ name, parent, config, args, want string }{
		{"allowed", above([]string{"bash"}, nil), "", "", "ran"},
		{"not allowed", above([]string{"read"}, nil), "", "", "error: denied: the run above this one does not use bash without asking"},
		{"not allowed, but here", above([]string{"read"}, nil), `{"permissions":{"bash":"allow"}}`, "-y", "error: denied: the run above this one does not use bash without asking"},
		{"allowed, but not here", above([]string{"bash"}, nil), `{"permissions":{"bash":"deny"}}`, "-y", "error: denied: permission for bash is deny (config.json)"},
		{"asked here", above([]string{"bash"}, nil), `{"permissions":{"bash":"ask"}}`, "-y", "error: denied: bash needs approval and no one is here to give it"},
		{"not in the toolset", above([]string{"bash"}, []string{"read"}), "", "", "error: denied: bash is not among the tools of this run"},
		{"nothing", above(nil, []string{}), "", "", "error: denied: bash is not among the tools of this run"},
		{"by rule", above(bash, nil, "mode=default&deny=bash(echo+*)"), "", "", "error: denied by rule bash(echo *) (the run above this one)"},
		{"asked by rule", above(bash, nil, "mode=default&ask=Bash(echo:*)"), "", "-y", "error: denied: bash needs approval and no one is here to give it"},
		{"asked by mode", above(bash, nil, "mode=ask"), "", "-y", "error: denied: bash needs approval and no one is here to give it"},
		{"planning", above(bash, nil, "mode=plan"), "", "", "error: denied: plan mode allows only looking"},
		{"in no toolset together", above([]string{"bash"}, []string{"bash"}), `{"tools":["read"]}`, "", "error: denied: bash is not among the tools of this run"},
	}
	for _, depth := range []string{"", "0", "1"} {
		for _, tt := range tests {
			w := newWorld(t, touch)
			if tt.config != "" {
				w.config(tt.config)
			}
			w.vars["CLUADE_PARENT"], w.vars["CLUADE_DEPTH"] = tt.parent, depth
			w.run(append(split(tt.args), "hi")...)
			if got := strings.TrimSpace(w.message(1, -1)); got != tt.want {
				t.Errorf("%s, CLUADE_DEPTH=%q: the result is %q, want %q", tt.name, depth, got, tt.want)
			}
			if offered := w.tools(0); strings.Contains(offered, "subagent") {
				t.Errorf("%s: a run below another is offered %q", tt.name, offered)
			}
		}
	}
}

// TestParentDepth: a depth that was set back does not help.
func TestParentDepth(t *testing.T) {
	w := newWorld(t)
	w.vars["CLUADE_DEPTH"] = "0"
	w.vars["CLUADE_PARENT"] = (&parent{depth: maxDepth, baseURL: "http://x"}).String()
	w.wantNothingSent(w.run("hi"), `number 4`)
}

func TestChildVars(t *testing.T) {
	a := &app{flags: &flags{}, cfg: &store.Config{BaseURL: "http://x/v1", ScrubEnv: []string{"SECRET"}}, depth: 1,
		policy: &policy.Policy{Levels: map[string]policy.Level{"bash": {Verdict: policy.Ask}, "read": {Verdict: policy.Allow}}},
		env: Env{Environ: []string{"A=1=2", "SECRET=s", "SECRET_2=t", "CLUADE_DEPTH=1", "CLUADE_REPORT=3", "CLUADE_PARENT=x", "ODD",
			"CLUADE_API_KEY=old", "CLUADE_PARENT=y"}}}
	const parent = "CLUADE_PARENT=allow=read&base_url=http%3A%2F%2Fx%2Fv1&depth=2&mode=default"
	want := []string{"A=1=2", "SECRET_2=t", "ODD", "CLUADE_API_KEY=old", "CLUADE_DEPTH=2", parent}
	if got := a.childVars(); !slices.Equal(got, want) {
		t.Errorf("childVars() = %q, want %q", got, want)
	}
	a.flags.apiKey, a.key = "FLAG", "FLAG"
	want = []string{"A=1=2", "SECRET_2=t", "ODD", "CLUADE_API_KEY=FLAG", "CLUADE_DEPTH=2", parent}
	if got := a.childVars(); !slices.Equal(got, want) {
		t.Errorf("childVars() with a key as option = %q, want %q", got, want)
	}
}

func FuzzParseParent(f *testing.F) {
	f.Add("allow=read&base_url=http%3A%2F%2Fx&depth=1&tools=&mode=plan&deny=bash(rm+*)&scope=/x&exempt=")
	f.Add("mode=ask&mode=ask;%")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseParent(text)
		if err != nil || p == nil {
			return
		}
		again, err := parseParent(p.String())
		if err != nil || !reflect.DeepEqual(p, again) {
			t.Errorf("parseParent(%q) = %+v, after String %+v, %v", text, p, again, err)
		}
	})
}

// TestParentScope: a run in another directory writes no further than the one
// above it, and links do not help.
func TestParentScope(t *testing.T) {
	scope, other := resolved(t.TempDir()), resolved(t.TempDir())
	if err := os.Symlink(other, filepath.Join(scope, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(scope, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		dir, file string
		allowed   bool
	}{
		{scope, "here", true}, {scope, "link/x", false}, {scope, other + "/x", false},
		{scope + "/sub", "here", true}, {scope + "/sub", "../x", false}, // its own project is narrower
		{other, "here", false}, {other, scope + "/there", true}, {scope + "/link", "here", false},
	}
	for _, tt := range tests {
		w := newWorld(t, reply{tool: "write", args: `{"filePath":"` + tt.file + `","content":"x"}`})
		w.vars["CLUADE_PARENT"] = (&parent{depth: 1, baseURL: w.url, bounds: policy.Bounds{Allow: []string{"write"}, Scope: scope}}).String()
		t.Chdir(tt.dir) // by this name, as a shell does
		w.run("hi")
		if got := w.message(1, -1); strings.Contains(got, "is outside the project") == tt.allowed {
			t.Errorf("write %s in %s: %q, want it allowed: %v", tt.file, tt.dir, got, tt.allowed)
		}
	}
}
