package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"cluade/dangercheck"
	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/store"
)

// openWrtFile is there on OpenWRT alone.
const openWrtFile = "/etc/openwrt_release"

// newPolicy is the permission state of a session: the table of levels, the
// configured ones over it, then --yes; the rules and the danger check; and the
// tools that this run has at all.
func (a *app) newPolicy(s *chat.Session) *policy.Policy {
	p := &policy.Policy{
		Levels: policy.Defaults(), Attended: a.attended(), Toolset: a.cfg.Tools,
		Rules: a.rules,
		Home:  a.place.Home, Dir: a.place.Dir, Project: a.projectDir(),
		ProjectScope: a.cfg.Safety.WriteScope == "project",
	}
	p.Below = a.depth > 0
	p.Mode, p.Taking = a.startMode(s, p.Attended)
	if p.Mode != policy.ModeDefault || s.Mode != "" {
		s.Mode = p.Mode.String()
	}
	p.Danger = policy.Danger{
		State:   a.place.State,
		Lockout: !p.Attended || a.lockoutMatters(),
		Exempt:  a.cfg.Safety.DangerAllow, SkipRemote: !a.cfg.Safety.DangerRemote,
	}
	for tool, word := range a.cfg.Levels {
		verdict, _ := policy.ParseVerdict(word) // a word that is none denies
		p.Levels[tool] = policy.Level{Verdict: verdict, Source: a.cfg.LevelFiles[tool]}
	}
	if a.flags.agentMode == "plan" {
		p.Toolset, p.Boundary = []string{}, "plan mode allows only looking"
		for _, tool := range planTools {
			if a.cfg.Tools == nil || slices.Contains(a.cfg.Tools, tool) {
				p.Toolset = append(p.Toolset, tool)
			}
		}
	}
	if a.flags.subagent || a.depth > 0 {
		p.Lacking = []string{"subagent"}
	}
	if a.flags.yes {
		p.ApplyYes()
	}
	if a.above != nil {
		p.Narrow(a.above.bounds)
	}
	return p
}

// lockoutMatters says whether a command can cut the person off: where they came
// over ssh, and on a router, to which there may be no other way.
func (a *app) lockoutMatters() bool {
	if a.env.Getenv("SSH_CONNECTION") != "" || a.env.Getenv("SSH_TTY") != "" {
		return true
	}
	_, err := os.Stat(openWrtFile)
	return err == nil
}

// findPlace is where a run in dir happens. Its files are faulty where a rule is:
// a lost refusal would be a permission.
func findPlace(dir string, getenv func(string) string) store.Place {
	p := store.FindPlace(dir, getenv)
	p.Rule = func(text string) error {
		_, err := policy.ParseRule(text, "")
		return err
	}
	return p
}

// parseRules reads the rules of a configuration, whose grammar was checked when
// its files were read.
func parseRules(cfg *store.Config) (policy.Rules, error) {
	var rules policy.Rules
	for _, l := range []struct {
		key  string
		from []store.Rule
		to   *[]policy.Rule
	}{
		{"permissions.deny", cfg.Safety.Deny, &rules.Deny},
		{"permissions.ask", cfg.Safety.Ask, &rules.Ask},
		{"permissions.allow", cfg.Safety.Allow, &rules.Allow},
	} {
		for _, r := range l.from {
			rule, err := policy.ParseRule(r.Text, r.File)
			if err != nil {
				return policy.Rules{}, fmt.Errorf("%s: %s: %s", r.File, l.key, chat.EscapeText(err.Error(), maxErrorLen))
			}
			*l.to = append(*l.to, rule)
		}
	}
	return rules, nil
}

// unknownClasses warns of classes that danger_allow names and that there are
// not.
func unknownClasses(cfg *store.Config) (notices []string) {
	for _, c := range cfg.Safety.DangerAllow {
		if !slices.Contains(dangercheck.Classes(), c) {
			notices = append(notices, fmt.Sprintf("danger_allow names %q, which is no class of the danger check; the classes are %s",
				chat.EscapeText(c, 60), strings.Join(dangercheck.Classes(), ", ")))
		}
	}
	return notices
}

// checkLines judges the commands on standard input, one a line.
func (a *app) checkLines() (int, error) {
	err := dangercheck.Lines(a.env.Stdin, a.env.Stdout)
	if code := writeCode(err); code != exitFailed {
		return code, nil
	}
	return exitFailed, fmt.Errorf("check commands: %w", err)
}
