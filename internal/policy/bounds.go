package policy

import (
	"path"
	"slices"
	"strings"
)

// Bounds are the most that a run may do which another one started.
type Bounds struct {
	Allow      []string // tools that run without a question; every other is refused
	Toolset    []string // tools that there are at all; nil is every tool
	Mode       Mode     // a run in a stricter one stays in it
	Deny, Ask  []Rule   // they hold beside those of the run
	Scope      string   // the directory outside of which nothing may be written; "" is none
	Exempt     []string // danger classes that are not asked about
	SkipRemote bool     // commands for other hosts are not judged
}

// Bounds are what this run hands down. A tool that is asked for here is refused
// there, where nobody can be asked. That bypass mode asks for nothing is the
// word of a person for this run alone.
func (p *Policy) Bounds() Bounds {
	b := Bounds{Toolset: p.Toolset, Mode: p.Mode, Exempt: p.Danger.Exempt, SkipRemote: p.Danger.SkipRemote}
	tools := make([]string, 0, len(p.Levels))
	for tool := range p.Levels {
		tools = append(tools, tool)
	}
	slices.Sort(tools)
	for _, tool := range tools {
		s := Subject{Tool: tool}
		if strings.HasPrefix(tool, "mcp__") {
			s.Effect = External
		}
		if p.levelOf(&s).Verdict == Allow && p.InToolset(tool) {
			b.Allow = append(b.Allow, tool)
		}
	}
	if b.Mode == ModeBypass {
		b.Mode = ModeDefault
	}
	if p.ProjectScope {
		b.Scope = p.Project
	}
	for _, r := range p.Rules.Deny {
		b.Deny = append(b.Deny, p.absolute(r))
	}
	for _, r := range p.Rules.Ask {
		b.Ask = append(b.Ask, p.absolute(r))
	}
	return b
}

// absolute is a rule that means the same in another directory and with another
// home.
func (p *Policy) absolute(r Rule) Rule {
	switch r.tool {
	case "read", "write", "edit", "glob", "grep", pathTool:
	default:
		return r
	}
	switch {
	case r.spec == "" || strings.HasPrefix(r.spec, "/") || !strings.Contains(strings.TrimSuffix(r.spec, "/"), "/") && r.spec != "~" && strings.Trim(r.spec, "./") != "":
		return r
	case r.spec == "~" || strings.HasPrefix(r.spec, "~/"):
		if p.Home == "" {
			return r
		}
		r.spec = path.Clean(literal(p.Home) + r.spec[1:])
	default:
		r.spec = path.Join(literal(p.Project), r.spec)
	}
	r.Text = r.tool + "(" + r.spec + ")"
	return r
}

// Narrow holds the run to the bounds of the one above it. It can only take away.
// Who calls it sees to it that Project lies in the scope.
func (p *Policy) Narrow(b Bounds) {
	p.narrow, p.above = true, b.Allow
	switch {
	case p.Toolset == nil:
		p.Toolset = b.Toolset
	case b.Toolset != nil:
		p.Toolset = both(p.Toolset, b.Toolset)
	}
	if b.Mode.Narrower(p.Mode) {
		p.Mode = b.Mode
	}
	p.Rules.Deny, p.Rules.Ask = addRules(p.Rules.Deny, b.Deny), addRules(p.Rules.Ask, b.Ask)
	p.ProjectScope = p.ProjectScope || b.Scope != ""
	p.Danger.Exempt = both(p.Danger.Exempt, b.Exempt)
	p.Danger.SkipRemote = p.Danger.SkipRemote && b.SkipRemote
}

// both are the members that two lists share.
func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// addRules appends the rules of which no equal one is there.
func addRules(list, more []Rule) []Rule {
	for _, r := range more {
		if !some(list, func(o *Rule) bool { return o.tool == r.tool && o.spec == r.spec }) {
			list = append(list[:len(list):len(list)], r)
		}
	}
	return list
}
