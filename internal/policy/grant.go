package policy

import (
	"net/url"
	"strings"

	"cluade/dangercheck"
)

// Grant is the rule that "always" would record for a call; "" offers none, and
// why then says for the person why not, where that is not plain.
func (p *Policy) Grant(s Subject, d Decision) (rule, why string) {
	if d.Firm || d.Danger {
		return "", ""
	}
	switch s.Tool {
	case "write", "edit":
		if s.Host != "" || len(s.Paths) != 1 {
			return "", ""
		}
		if f := s.Paths[0]; f.Root != "" {
			return ruleOn("edit", f.Root, "/**"), ""
		}
		return ruleOn("edit", s.Paths[0].Real, ""), ""
	case "web_fetch":
		u, err := url.Parse(s.URL)
		if err != nil || u.Hostname() == "" {
			return "", ""
		}
		return ruleOn("web_fetch", "domain:"+u.Hostname(), ""), ""
	case "bash":
		program, why := grantable(s.Command)
		switch {
		case why != "":
			return "", why
		case dangercheck.IsRelative(program) && !p.here(&s):
			return "", program + " depends on the directory, so it is approved once at a time"
		}
		return ruleOn("bash", program, " *"), ""
	case "remote_bash":
		program, why := grantable(s.Command)
		if why != "" {
			return "", why
		}
		return ruleOn("remote_bash", s.Host, ": "+program+" *"), ""
	case "web_search":
		return s.Tool, ""
	}
	if s.Effect == External {
		return s.Tool, ""
	}
	return "", ""
}

// ruleOn is a rule on a name of the call; "" where the name holds what a rule
// would not take for itself.
func ruleOn(tool, name, tail string) string {
	rule := tool + "(" + name + tail + ")"
	if _, err := ParseRule(rule, ""); err != nil || strings.ContainsAny(name, "*?[]\\()\n") {
		return ""
	}
	return rule
}

// grantable returns the first word of a command that may be allowed for good.
func grantable(command string) (program, why string) {
	shape := dangercheck.Split(command)
	if !shape.Simple || shape.Typed != 1 {
		return "", "a compound command is approved once at a time"
	}
	program, _, _ = strings.Cut(shape.Segments[0].Text, " ")
	base := program[strings.LastIndexByte(program, '/')+1:]
	switch {
	case dangercheck.RunsPrograms(base):
		return "", base + " runs other programs, so it is approved once at a time"
	case dangercheck.ChangesShell(base):
		return "", base + " changes the shell, so it is approved once at a time"
	case program == "" || strings.ContainsAny(program, "*$()'\"\\"):
		return "", "the program of this command is not plain"
	}
	return program, ""
}
