package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/store"
)

// numberedRule is a rule in the order in which /rules shows them.
type numberedRule struct {
	list string
	policy.Rule
}

func (a *app) numberedRules() (all []numberedRule) {
	r := a.policy.Rules
	for _, l := range []struct {
		name  string
		rules []policy.Rule
	}{{"deny", r.Deny}, {"ask", r.Ask}, {"allow", r.Allow}, {"always", a.policy.Grants}} {
		for _, rule := range l.rules {
			all = append(all, numberedRule{l.name, rule})
		}
	}
	return all
}

// cmdRules lists the rules, or changes those of the user's configuration. What
// it adds can only narrow.
func (a *app) cmdRules(arg string) (bool, error) {
	verb, rest, _ := strings.Cut(arg, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case verb == "":
		a.out.Print(a.rulesText())
		return false, nil
	case a.depth > 0:
		return false, errors.New("rules are not changed in a run that another run started")
	case (verb == "deny" || verb == "ask") && rest != "":
		if _, err := policy.ParseRule(rest, ""); err != nil {
			return false, errors.New(chat.EscapeText(err.Error(), maxErrorLen))
		}
		return false, a.editRules(verb, func(list []string) []string { return append(list, rest) })
	case verb == "remove" && rest != "":
		return false, a.removeRule(rest)
	}
	return false, errors.New("usage: /rules, /rules deny RULE, /rules ask RULE, /rules remove NUMBER")
}

func (a *app) removeRule(number string) error {
	all := a.numberedRules()
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(all) {
		return fmt.Errorf("there is no rule %s; /rules numbers them", chat.EscapeText(number, 20))
	}
	rule := all[n-1]
	switch {
	case rule.list == "always":
		return a.revoke(rule.Text)
	case rule.Source != "config.json":
		return fmt.Errorf("rule %d is in %s, which is not yours to change here", n, rule.Source)
	}
	return a.editRules(rule.list, func(list []string) []string {
		return slices.DeleteFunc(list, func(text string) bool { return strings.TrimSpace(text) == rule.Text })
	})
}

// editRules changes the user's file and puts the rules in force as they then
// are.
func (a *app) editRules(list string, edit func([]string) []string) error {
	if err := a.place.EditRules(list, edit); err != nil {
		return err
	}
	cfg, _, err := store.Load(a.place, a.trust)
	if err != nil {
		return err
	}
	if a.rules, err = parseRules(cfg); err != nil {
		return err
	}
	s := &a.cfg.Safety
	s.Deny, s.Ask, s.Allow = cfg.Safety.Deny, cfg.Safety.Ask, cfg.Safety.Allow
	a.policy.Rules, a.tools.Vars = a.rules, a.childVars()
	a.out.Print(a.rulesText())
	return nil
}

func (a *app) rulesText() string {
	var b strings.Builder
	for i, r := range a.numberedRules() {
		fmt.Fprintf(&b, "%3d  %-6s  %s  (%s)\n", i+1, r.list, chat.EscapeText(r.Text, 0), chat.EscapeText(r.Source, 0))
	}
	if b.Len() == 0 {
		b.WriteString("no rules\n")
	}
	b.WriteString("Rules on commands do not follow variables, loops, renamed copies or scripts; rules on paths do not bind commands. A tool without parentheses has no such gaps.\n")
	return b.String()
}
