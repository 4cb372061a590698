package policy

import (
	"slices"
	"strings"
	"testing"
)

// configured is every way in which the level of a tool can stand.
var configured = []struct {
	name  string
	level *Level
}{
	{"unset", nil},
	{"deny", &Level{Deny, "config.json"}},
	{"ask", &Level{Ask, "config.json"}},
	{"allow", &Level{Allow, "config.json"}},
	{"nonsense", &Level{Verdict(9), "config.json"}},
}

// TestEveryCombination walks mode x rule x danger x effect x level x guard x
// attended x wish x toolset x --yes x tool and compares with the rules as one
// would say them.
func TestEveryCombination(t *testing.T) {
	n := 0
	for _, tool := range []string{"bash", "read", "mcp__x__y"} {
		all := rules(t, tool)
		lists := []Rules{{}, {Deny: all}, {Ask: all}, {Allow: all}}
		commands := []string{"ps"}
		if tool == "bash" {
			commands = []string{"ps", "reboot", "touch x"}
		}
		for _, effect := range []Effect{Read, Session, Network, Write, Execute, External} {
			for _, conf := range configured {
				for bits := range 3 * 3 * 3 * 2 * 2 * 5 * 4 * len(commands) {
					c := combination{guard: Guard(bits % 3), wish: Wish(bits / 3 % 3), yes: bits/54%2 == 1,
						rule: bits / 540 % 4, danger: bits/2160 == 1}
					s := Subject{Tool: tool, Effect: effect, Command: commands[bits/2160]}
					if c.guard != Open {
						s.Paths = []Path{{Abs: "/a"}, {Abs: "/b", Guard: c.guard}}
					}
					toolset := [][]string{nil, {tool}, {"other"}}[bits/9%3]
					p := &Policy{Mode: Mode(bits / 108 % 5), Attended: bits/27%2 == 1, Toolset: toolset, Rules: lists[c.rule], Levels: map[string]Level{}}
					if conf.level != nil {
						p.Levels[tool] = *conf.level
					}
					if c.yes {
						p.ApplyYes()
					}
					d := p.Refuse(s)
					got := p.Gate(s, d, c.wish)
					if want := expect(p, s, c); got.Verdict != want {
						t.Errorf("%s %q effect %v level %s mode %v %+v toolset %q attended %v: got %v (%s), want %v",
							tool, s.Command, effect, conf.name, p.Mode, c, toolset, p.Attended, got.Verdict, got.Reason, want)
					}
					if want := c.danger && d.Verdict != Deny; got.Danger != want {
						t.Errorf("%+v in %+v: %+v, want danger %v", s, p, got, want)
					}
					check(t, p, s, d, got)
					n++
				}
			}
		}
	}
	if n != 6*5*108*5*4*(3+1+1) {
		t.Errorf("walked %d combinations", n)
	}
}

// combination is what TestEveryCombination knows better of a call than the
// policy tells.
type combination struct {
	guard       Guard
	wish        Wish
	rule        int // of no, the deny, ask or allow list
	yes, danger bool
}

// expect is the verdict in the words of the manual.
func expect(p *Policy, s Subject, c combination) Verdict {
	outside := p.Toolset != nil && p.Toolset[0] != s.Tool
	level := expectLevel(p, s, c.yes)
	if c.rule == denyRule || c.guard == NoRead || c.guard == NoWrite && s.Effect != Read || outside || level == "deny" {
		return Deny
	}
	looks := s.Tool == "read" || s.Tool == "bash" && s.Command == "ps"
	if p.Mode == ModePlan && !looks {
		return Deny
	}
	firm := c.danger || c.rule == askRule || c.wish == WishAsk
	if !firm && (c.rule == allowRule || c.wish == WishAllow && p.Attended) {
		level = "allow"
	}
	switch {
	case !firm && level == "allow":
		return Allow
	case p.Attended:
		return Ask
	}
	return Deny
}

// The lists that a rule may stand in.
const (
	denyRule = 1 + iota
	askRule
	allowRule
)

// expectLevel is what the configuration, --yes and the mode say.
func expectLevel(p *Policy, s Subject, yes bool) string {
	level := "deny"
	if l, ok := p.Levels[s.Tool]; ok {
		level = l.Verdict.String()
	} else if s.Effect == External {
		level = "ask"
	}
	if yes && level == "ask" && (s.Tool == "bash" || s.Effect == External) {
		level = "allow"
	}
	looks := s.Effect == Read || s.Effect == Session
	switch {
	case level == "deny":
	case p.Mode == ModeBypass, p.Mode == ModeAcceptEdits && s.Effect == Write:
		level = "allow"
	case p.Mode == ModeAsk && !looks, p.Mode == ModeAcceptEdits && !looks:
		level = "ask"
	}
	return level
}

// check is what holds of every decision.
func check(t *testing.T, p *Policy, s Subject, d, got Decision) {
	t.Helper()
	if d.Verdict == Deny && got != d {
		t.Errorf("%+v in %+v: the gate made %+v of the refusal %+v", s, p, got, d)
	}
	if got.Verdict != Allow && got.Reason == "" {
		t.Errorf("%+v in %+v: no reason", s, p)
	}
	if got.Alone != (d.Verdict != Deny && got.Verdict == Deny) {
		t.Errorf("%+v in %+v: Alone = %v after %v", s, p, got.Alone, d.Verdict)
	}
	if (p.Hint(s, got) != "") != got.Alone {
		t.Errorf("%+v in %+v: hint %q for %+v", s, p, p.Hint(s, got), got)
	}
	// Asked again, the gate does not change its mind.
	if again := p.Gate(s, got, WishNone); again.Verdict != got.Verdict {
		t.Errorf("%+v in %+v: gate of gate = %v, want %v", s, p, again.Verdict, got.Verdict)
	}
}

func TestFirmAndDangerAreNotAnswered(t *testing.T) {
	s := Subject{Tool: "bash", Effect: Execute}
	for _, ask := range []Decision{{Verdict: Ask, Firm: true}, {Verdict: Ask, Danger: true}} {
		for _, attended := range []bool{true, false} {
			p := &Policy{Levels: Defaults(), Attended: attended}
			p.ApplyYes()
			if got := p.Gate(s, ask, WishAllow); got.Verdict == Allow {
				t.Errorf("Gate(%+v, WishAllow) attended %v = %+v", ask, attended, got)
			}
		}
	}
	p := &Policy{Levels: Defaults(), Attended: true}
	if got := p.Gate(s, p.Refuse(s), WishAsk); !got.Firm {
		t.Errorf("a hook's ask = %+v, want firm", got)
	}
}

func TestNilMeansNo(t *testing.T) {
	p := &Policy{}
	for tool := range Defaults() {
		s := Subject{Tool: tool, Effect: Execute}
		if got := p.Gate(s, p.Refuse(s), WishAllow); got.Verdict != Deny {
			t.Errorf("zero policy, %s = %+v", tool, got)
		}
	}
	if got := p.Gate(Subject{}, Decision{}, WishAllow); got.Verdict != Deny {
		t.Errorf("Gate of the zero decision = %+v", got)
	}
}

func TestReasons(t *testing.T) {
	own := Path{Abs: "/root/.cluade/config.json", Real: "/root/.cluade/config.json", Guard: NoRead}
	sys := Path{Abs: "/tmp/l", Real: "/sys/power/state", Guard: NoWrite}
	tests := []struct {
		name string
		p    Policy
		s    Subject
		w    Wish
		want string
		hint string
	}{
		{"level", Policy{Levels: map[string]Level{"bash": {Deny, "config.json"}}}, Subject{Tool: "bash", Effect: Execute}, 0,
			"denied: permission for bash is deny (config.json)", ""},
		{"boundary", Policy{Toolset: []string{"read"}, Boundary: "plan mode allows only looking"}, Subject{Tool: "write", Effect: Write}, 0,
			"denied: plan mode allows only looking", ""},
		{"boundary without words", Policy{Toolset: []string{}}, Subject{Tool: "write", Effect: Write}, 0,
			"denied: write is not among the tools of this run", ""},
		{"unknown tool", Policy{Levels: Defaults()}, Subject{Tool: "zap", Effect: Execute}, 0,
			"denied: permission for zap is deny (no level is set)", ""},
		{"own state", Policy{Levels: Defaults()}, Subject{Tool: "read", Paths: []Path{own}}, 0,
			"denied: read may not touch /root/.cluade/config.json (cluade's own state)", ""},
		{"kernel", Policy{Levels: Defaults()}, Subject{Tool: "write", Effect: Write, Paths: []Path{sys}}, 0,
			"denied: write may not touch /tmp/l (the kernel's)", ""},
		{"nobody there", Policy{Levels: Defaults()}, Subject{Tool: "remote_bash", Effect: Execute}, 0,
			"denied: remote_bash needs approval and no one is here to give it",
			`remote_bash was refused: -y or "permissions": {"remote_bash": "allow"} in the configuration would allow it`},
		{"nobody there, no flag", Policy{Levels: map[string]Level{"read": {Ask, "config.json"}}}, Subject{Tool: "read"}, 0,
			"denied: read needs approval and no one is here to give it",
			`read was refused: "permissions": {"read": "allow"} in the configuration would allow it`},
		{"a hook asks nobody", Policy{Levels: Defaults()}, Subject{Tool: "bash", Effect: Execute}, WishAsk,
			"denied: bash needs approval and no one is here to give it",
			"bash was refused: only a person at a terminal can approve this call"},
		{"question", Policy{Levels: Defaults(), Attended: true}, Subject{Tool: "remote_bash", Effect: Execute}, 0,
			"permission for remote_bash is ask", ""},
	}
	for _, tt := range tests {
		got := tt.p.Gate(tt.s, tt.p.Refuse(tt.s), tt.w)
		if got.Reason != tt.want {
			t.Errorf("%s: reason %q, want %q", tt.name, got.Reason, tt.want)
		}
		if hint := tt.p.Hint(tt.s, got); hint != tt.hint {
			t.Errorf("%s: hint %q, want %q", tt.name, hint, tt.hint)
		}
	}
}

// On another host a tool of files is at the stricter level of the two, and
// needs both in the toolset.
func TestElsewhere(t *testing.T) {
	for _, tool := range []Verdict{Deny, Ask, Allow} {
		for _, remote := range []Verdict{Deny, Ask, Allow} {
			for _, yes := range []bool{false, true} {
				p := &Policy{Attended: true, Levels: map[string]Level{"write": {tool, "x"}, "remote_bash": {remote, "y"}}}
				want := min(tool, remote)
				if yes {
					p.ApplyYes()
					if want == Ask {
						want = Allow
					}
				}
				s := Subject{Tool: "write", Effect: Execute, Host: "root@h:22"}
				if got := p.Gate(s, p.Refuse(s), WishNone); got.Verdict != want {
					t.Errorf("write %v, remote_bash %v, --yes %v = %v, want %v", tool, remote, yes, got.Verdict, want)
				}
			}
		}
	}
	for _, toolset := range [][]string{{"read"}, {"remote_bash"}} {
		p := &Policy{Levels: Defaults(), Attended: true, Toolset: toolset, Boundary: "plan mode allows only looking"}
		if got := p.Refuse(Subject{Tool: "read", Effect: Execute, Host: "root@h:22"}); got.Reason != "denied: plan mode allows only looking" {
			t.Errorf("read with a host among %q = %+v", toolset, got)
		}
	}
	p := &Policy{Levels: Defaults()}
	s := Subject{Tool: "read", Effect: Execute, Host: "root@h:22"}
	got := p.Gate(s, p.Refuse(s), WishAllow)
	if want := "denied: read on another host needs approval and no one is here to give it"; got.Reason != want {
		t.Errorf("reason %q, want %q", got.Reason, want)
	}
	if want := `read on another host was refused: -y or "permissions": {"remote_bash": "allow"} in the configuration would allow it`; p.Hint(s, got) != want {
		t.Errorf("hint %q, want %q", p.Hint(s, got), want)
	}
	s.Host = ""
	if got := p.Refuse(s); got.Verdict != Allow {
		t.Errorf("read here = %+v", got)
	}
}

// TestOrder holds the order of the steps: the earlier one gives the reason.
func TestOrder(t *testing.T) {
	p := &Policy{Toolset: []string{"read"}, Boundary: "boundary", Levels: map[string]Level{"write": {Deny, "level"}}}
	p.Rules.Deny, p.ProjectScope, p.Mode = rules(t, "write"), true, ModePlan
	s := Subject{Tool: "write", Effect: Write, Paths: []Path{{Abs: "/p", Guard: NoWrite}}}
	for _, step := range []struct {
		want string
		lift func() // what gave this reason
	}{
		{"denied by rule write (config.json)", func() { p.Rules.Deny = nil }},
		{"denied: write may not touch /p (cluade's own state)", func() { s.Paths[0].Guard = Open }},
		{"denied: /p is outside the project, and writes are limited to it (write_scope)", func() { p.ProjectScope = false }},
		{"denied: plan mode allows only looking", func() { p.Mode = ModeBypass }},
		{"denied: boundary", func() { p.Toolset = nil }},
		{"denied: permission for write is deny (level)", func() {}},
	} {
		if got := p.Refuse(s); got.Reason != step.want || got.Verdict != Deny {
			t.Errorf("Refuse = %+v, want %q", got, step.want)
		}
		step.lift()
	}
}

// TestOrderOfTheGate: what makes a call a question, and who answers it. Each
// reason outweighs those behind it, though an allow rule, a grant and a hook
// would all answer a plain question.
func TestOrderOfTheGate(t *testing.T) {
	p := &Policy{Attended: true, Levels: map[string]Level{"bash": {Ask, "level"}}}
	p.Rules.Ask, p.Rules.Allow, p.Grants = rules(t, "bash(reboot *)"), rules(t, "bash"), rules(t, "bash")
	s := Subject{Tool: "bash", Effect: Execute, Command: "reboot"}
	gate := func(w Wish) Decision { return p.Gate(s, p.Refuse(s), w) }
	if got := gate(WishAllow); !got.Danger || !got.Firm || got.Class != "power" || got.Segment != "reboot" {
		t.Errorf("danger: %+v", got)
	}
	p.Attended = false
	if got := gate(WishAllow); got.Verdict != Deny || !got.Alone || !strings.HasPrefix(got.Reason, "denied: dangerous command (power: ") {
		t.Errorf("danger, nobody there: %+v", got)
	}
	p.Attended, p.Danger.Exempt = true, []string{"power"}
	if got := gate(WishAllow); got.Danger || !got.Firm || got.Reason != "rule bash(reboot *) asks (config.json)" {
		t.Errorf("ask rule: %+v", got)
	}
	p.Rules.Ask = nil
	if got := gate(WishAsk); !got.Firm || got.Reason != "a hook asks" {
		t.Errorf("hook: %+v", got)
	}
	// Each of the three alone answers a plain question; a rule of the
	// configuration does so even where nobody is there, the others do not.
	all := *p
	for name, keep := range map[string]func(){
		"rule":  func() { p.Grants = nil },
		"grant": func() { p.Rules.Allow = nil },
		"hook":  func() { p.Rules.Allow, p.Grants = nil, nil },
	} {
		*p = all
		keep()
		wish := WishNone
		if name == "hook" {
			wish = WishAllow
		}
		for _, attended := range []bool{true, false} {
			p.Attended = attended
			want := attended || name == "rule"
			if got := gate(wish); (got.Verdict == Allow) != want {
				t.Errorf("%s, attended %v: %+v, want allow %v", name, attended, got, want)
			}
		}
	}
	*p = all
	p.Rules.Allow, p.Grants = nil, nil
	if got := gate(WishNone); got.Verdict != Ask || got.Firm {
		t.Errorf("nothing answers: %+v", got)
	}
}

// TestEveryMode walks every mode over every effect and level.
func TestEveryMode(t *testing.T) {
	asks := map[Mode][]Effect{ModeAsk: {Network, Write, Execute, External}, ModeAcceptEdits: {Network, Execute, External}}
	for m := ModeDefault; m <= ModeBypass; m++ {
		for _, e := range []Effect{Read, Session, Network, Write, Execute, External} {
			for _, v := range []Verdict{Deny, Ask, Allow} {
				want := v
				switch {
				case v == Allow && slices.Contains(asks[m], e):
					want = Ask
				case v == Ask && (m == ModeBypass || m == ModeAcceptEdits && e == Write):
					want = Allow
				}
				p := &Policy{Attended: true, Mode: m, Levels: map[string]Level{"skill": {v, "x"}}}
				if got := p.Refuse(Subject{Tool: "skill", Effect: e}); got.Verdict != want {
					t.Errorf("mode %v, effect %v, level %v = %+v, want %v", m, e, v, got, want)
				}
			}
		}
	}
	p := &Policy{Attended: true, Mode: ModePlan, Levels: Defaults()}
	p.ApplyYes()
	for s, want := range map[*Subject]bool{
		{Tool: "read", Effect: Read}: true, {Tool: "compact", Effect: Session}: true, {Tool: "subagent", Effect: Execute}: true,
		{Tool: "bash", Effect: Execute, Command: "ps"}: true, {Tool: "bash", Effect: Execute, Command: "ps > x"}: false,
		{Tool: "bash", Effect: Execute, Command: "touch x"}: false, {Tool: "write", Effect: Write}: false,
		{Tool: "web_fetch", Effect: Network}: false, {Tool: "remote_bash", Effect: Execute, Host: "h"}: false,
		{Tool: "read", Effect: Execute, Host: "root@h:22"}: false, {Tool: "mcp__a__b", Effect: External}: false,
	} {
		if got := p.Gate(*s, p.Refuse(*s), WishAllow); (got.Verdict == Allow) != want {
			t.Errorf("plan mode, %+v = %+v, want %v", *s, got, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	want := map[string]Verdict{
		"read": Allow, "write": Allow, "edit": Allow, "bash": Allow, "glob": Allow, "grep": Allow,
		"web_search": Allow, "web_fetch": Allow, "compact": Allow, "skill": Allow, "subagent": Allow, "job": Allow,
		"remote_bash": Ask,
	}
	got := Defaults()
	for tool, v := range want {
		if got[tool].Verdict != v || got[tool].Source != "default" {
			t.Errorf("Defaults()[%q] = %v, want %v", tool, got[tool], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("Defaults has %d tools, want %d", len(got), len(want))
	}
}

func TestApplyYes(t *testing.T) {
	tests := []struct {
		tool       string
		effect     Effect
		conf, want Verdict
	}{
		{"bash", Execute, Ask, Allow}, {"remote_bash", Execute, Ask, Allow}, {"write", Write, Ask, Allow},
		{"edit", Write, Ask, Allow}, {"web_search", Network, Ask, Allow}, {"web_fetch", Network, Ask, Allow},
		{"mcp__a__b", External, Ask, Allow},
		{"read", Read, Ask, Ask}, {"grep", Read, Ask, Ask}, {"skill", Read, Ask, Ask}, {"subagent", Execute, Ask, Ask},
		{"bash", Execute, Deny, Deny}, {"write", Write, Deny, Deny}, {"mcp__a__b", External, Deny, Deny},
		{"bash", Execute, Allow, Allow},
	}
	for _, tt := range tests {
		p := &Policy{Levels: map[string]Level{}}
		p.ApplyYes() // before or after the configuration makes no difference
		p.Levels[tt.tool] = Level{tt.conf, "config.json"}
		if got := p.Refuse(Subject{Tool: tt.tool, Effect: tt.effect}); got.Verdict != tt.want {
			t.Errorf("%s at %v with --yes = %v, want %v", tt.tool, tt.conf, got.Verdict, tt.want)
		}
	}
}

func TestParseVerdict(t *testing.T) {
	for _, v := range []Verdict{Deny, Ask, Allow} {
		if got, ok := ParseVerdict(v.String()); got != v || !ok {
			t.Errorf("ParseVerdict(%q) = %v, %v", v.String(), got, ok)
		}
	}
	for _, word := range []string{"", "Allow", "yes"} {
		if got, ok := ParseVerdict(word); got != Deny || ok {
			t.Errorf("ParseVerdict(%q) = %v, %v, want deny, false", word, got, ok)
		}
	}
}

// TestTaking: a mode of which only what it takes away counts is never wider than
// the level, nor than the mode.
func TestTaking(t *testing.T) {
	for _, m := range []Mode{ModeDefault, ModeAsk, ModeAcceptEdits, ModeBypass} {
		for e := Read; e <= External; e++ {
			for _, v := range []Verdict{Deny, Ask, Allow} {
				p := &Policy{Mode: m, Taking: true, Levels: map[string]Level{"x": {v, "config.json"}}}
				if got, want := p.Refuse(Subject{Tool: "x", Effect: e}).Verdict, min(v, m.overlay(v, e)); got != want {
					t.Errorf("mode %v, level %v, effect %v: %v, want %v", m, v, e, got, want)
				}
			}
		}
	}
}
