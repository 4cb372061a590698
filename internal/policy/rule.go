package policy

import (
	"net/url"
	"path"
	"strings"

	"cluade/dangercheck"
	"cluade/internal/hostname"
)

// Rule is one line of permissions.deny, ask or allow: a tool, or a tool with
// what of it the rule covers.
//
// Rules on commands see the text alone: they do not follow variables, loops,
// renamed copies or scripts. Rules on paths do not bind the shell. A rule that
// names the tool alone has no such gaps.
type Rule struct {
	Text   string // as written
	Source string // the file, for people

	tool string // our name; may hold *
	spec string // "" covers every call
}

// pathTool is the name under which a rule covers every file tool.
const pathTool = "path"

// Rules are the lists of one session. Deny counts before ask, ask before allow;
// order inside a list does not matter.
type Rules struct{ Deny, Ask, Allow []Rule }

// unread is added to the reason where a rule on commands covers one that hides
// something.
const unread = ": the command could not be followed to its end, which may hold what the rule names; say it in a simpler form"

// first returns the first rule that covers some part of a call, as deny and
// ask rules do, and what is to be added to the reason.
func (p *Policy) first(rules []Rule, s *Subject) (Rule, string, bool) {
	if len(rules) == 0 {
		return Rule{}, "", false
	}
	shape := shapeOf(s)
	cut := shape.Cut
	shape.Cut = false
	for _, why := range [...]string{"", unread} {
		for i := range rules {
			if r := &rules[i]; p.touches(r, s, shape) {
				return *r, why, true
			}
		}
		shape.Cut = cut
	}
	return Rule{}, "", false
}

// shapeOf cuts a call's command up, if it has one.
func shapeOf(s *Subject) dangercheck.Shape {
	if s.Command == "" {
		return dangercheck.Shape{}
	}
	shape := dangercheck.Split(s.Command)
	shape.Segments = append(shape.Segments, dangercheck.Segment{Text: strings.Join(strings.Fields(s.Command), " ")})
	return shape
}

// touches reports whether a rule covers some part of a call: any segment of the
// command, either spelling of any path, any host on the way.
func (p *Policy) touches(r *Rule, s *Subject, shape dangercheck.Shape) bool {
	if _, _, has := splitHostRule(r.spec); !has && r.names(remoteTool) {
		for i := range s.Via {
			if s.hostMatches(r.spec, i) {
				return true
			}
		}
	}
	if elsewhere(s) && r.names(remoteTool) { // files on that host
		_, command, has := splitHostRule(r.spec)
		return r.spec == "" || s.hostMatches(r.spec, len(s.Via)) && (!has || strings.TrimSpace(command) == "*")
	}
	if !r.names(s.Tool) {
		return false
	}
	if r.spec == "" {
		return true
	}
	switch s.Tool {
	case "bash":
		return anySegment(r.spec, shape)
	case "remote_bash":
		host, cmd, has := splitHostRule(r.spec)
		return s.hostMatches(host, len(s.Via)) && (!has || anySegment(cmd, shape))
	case "web_fetch":
		return domainMatches(r.spec, s.URL, true)
	}
	specs := []string{r.spec}
	if below, ok := strings.CutPrefix(r.spec, "~"); ok && elsewhere(s) { // nothing is known of the home there
		specs = append(specs, "/root"+below, "/home/*"+below)
	}
	for _, f := range s.Paths {
		for _, spec := range specs {
			if p.pathMatches(spec, f.Abs) || p.pathMatches(spec, f.Real) {
				return true
			}
		}
	}
	return len(s.Paths) == 0 && s.Name != "" && wild(r.spec, s.Name)
}

// hostMatches compares the i-th host on the way, or behind Via the last one, with
// a pattern, under the name that is dialled and the one that it was called.
func (s *Subject) hostMatches(pattern string, i int) bool {
	host := s.Host
	if i < len(s.Via) {
		host = s.Via[i]
	}
	return hostMatches(pattern, host) || i < len(s.Named) && hostMatches(pattern, s.Named[i])
}

// covered reports whether allow rules cover every part of a call.
func (p *Policy) covered(rules []Rule, s *Subject) bool {
	if elsewhere(s) { // what may be done here says nothing of other hosts
		return some(rules, func(r *Rule) bool {
			host, _, has := splitHostRule(r.spec)
			return r.names(remoteTool) && !has && (host == "" || hostMatches(host, s.Host))
		})
	}
	if some(rules, func(r *Rule) bool { return r.names(s.Tool) && r.spec == "" }) {
		return true
	}
	switch s.Tool {
	case "bash":
		return everySegment(s.Command, func(text string) bool {
			program, _, _ := strings.Cut(text, " ")
			return (!dangercheck.IsRelative(program) || p.here(s)) && some(rules, func(r *Rule) bool { return r.tool == "bash" && commandMatches(r.spec, text) })
		})
	case "remote_bash":
		return everySegment(s.Command, func(text string) bool {
			return some(rules, func(r *Rule) bool {
				host, cmd, has := splitHostRule(r.spec)
				return r.tool == "remote_bash" && hostMatches(host, s.Host) && (!has || commandMatches(cmd, text))
			})
		})
	case "web_fetch":
		return some(rules, func(r *Rule) bool { return r.tool == "web_fetch" && domainMatches(r.spec, s.URL, false) })
	}
	for _, f := range s.Paths {
		if !some(rules, func(r *Rule) bool {
			return r.names(s.Tool) && p.pathMatches(r.spec, f.Abs) && p.pathMatches(r.spec, f.Real)
		}) {
			return false
		}
	}
	return len(s.Paths) > 0 || s.Name != "" && some(rules, func(r *Rule) bool { return r.tool == s.Tool && wild(r.spec, s.Name) })
}

// here reports whether a command runs where the session works.
func (p *Policy) here(s *Subject) bool { return p.Dir != "" && s.Dir == p.Dir }

func some(rules []Rule, f func(*Rule) bool) bool {
	for i := range rules {
		if f(&rules[i]) {
			return true
		}
	}
	return false
}

// names reports whether a rule is about a tool: edit covers write too, read
// what looks into files, path every file tool.
func (r *Rule) names(tool string) bool {
	switch r.tool {
	case tool:
		return true
	case "edit":
		return tool == "write"
	case "read":
		return tool == "glob" || tool == "grep"
	case pathTool:
		return tool == "read" || tool == "write" || tool == "edit" || tool == "glob" || tool == "grep"
	}
	return strings.Contains(r.tool, "*") && wild(r.tool, strings.ToLower(tool))
}

// anySegment reports whether some part of a command is, or by its patterns of
// file names may be, what a pattern covers. A program that the pattern names by
// its path may be found by its name.
func anySegment(pattern string, shape dangercheck.Shape) bool {
	forms := commandForms(pattern)
	for i := range shape.Segments {
		if covers(forms, &shape.Segments[i]) {
			return true
		}
	}
	program, rest, _ := strings.Cut(forms[0], " ")
	if name := path.Base(program); strings.HasPrefix(program, "/") && name != "/" && !strings.Contains(name, "*") {
		return anySegment(name+" "+rest, shape)
	}
	return shape.Cut
}

func covers(forms []string, s *dangercheck.Segment) bool {
	for _, form := range forms {
		if wild(form, s.Text) || s.MayBe(form) {
			return true
		}
	}
	return false
}

// everySegment reports whether a command does nothing but what its segments
// tell, and each of them is covered.
func everySegment(command string, covered func(string) bool) bool {
	shape := dangercheck.Split(command)
	if !shape.Simple {
		return false
	}
	n := 0
	for _, s := range shape.Segments {
		if s.Nested {
			continue
		}
		if n++; !covered(s.Text) {
			return false
		}
	}
	return n > 0
}

// commandMatches compares one command with a pattern.
func commandMatches(pattern, text string) bool {
	return covers(commandForms(pattern), &dangercheck.Segment{Text: text})
}

// commandForms are the forms of a pattern of commands, in which * is any text: a
// trailing " *" or ":*" also stands for nothing.
func commandForms(pattern string) []string {
	pattern = strings.Join(strings.Fields(pattern), " ")
	if p, ok := strings.CutSuffix(pattern, ":*"); ok {
		pattern = strings.TrimRight(p, " ") + " *"
	}
	forms := []string{pattern}
	if p, ok := strings.CutSuffix(pattern, " *"); ok {
		forms = append(forms, p)
	}
	return forms
}

// wild matches text with a pattern in which * is any run of characters.
func wild(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

// splitHostRule cuts "host: command" at the colon and blank.
func splitHostRule(spec string) (host, command string, has bool) {
	return strings.Cut(spec, ": ")
}

// hostParts are user, host and port of a pattern of hosts, * where it does not
// say.
func hostParts(pattern string) (user, host, port string) {
	pattern, _, _ = splitHostRule(pattern)
	user, rest, ok := strings.Cut(pattern, "@")
	if !ok {
		user, rest = "*", pattern
	}
	if i := strings.LastIndexByte(rest, ':'); i > 0 && rest[i-1] == ']' || i >= 0 && !strings.Contains(rest[:i], ":") {
		return user, rest[:i], rest[i+1:]
	}
	return user, rest, "*"
}

// hostMatches compares a pattern with a host as dialled, user@host:port. The
// pattern's user and port are optional; an IPv6 address stands in brackets.
func hostMatches(pattern, dialled string) bool {
	user, host, port := hostParts(pattern)
	if name, err := hostname.Canonical(strings.TrimSuffix(strings.Trim(host, "[]"), ".")); err == nil {
		if host = name; strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
	}
	return wild(strings.ToLower(user+"@"+host+":"+port), strings.ToLower(dialled))
}

// domainMatches compares a host with that of a URL. A refusal covers the hosts
// below it too.
func domainMatches(want, raw string, below bool) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return below
	}
	host, err := hostname.Canonical(strings.TrimSuffix(u.Hostname(), "."))
	if err != nil {
		return below
	}
	return wild(want, host) || below && strings.HasSuffix(host, "."+want)
}

// pathMatches compares a gitignore-like pattern with an absolute path, or with
// a directory above it: a rule on a directory covers its contents.
func (p *Policy) pathMatches(pattern, file string) bool {
	if file == "" {
		return false
	}
	pattern = strings.TrimSuffix(pattern, "/")
	switch {
	case pattern == "": // of the root
		pattern = "**"
	case pattern[0] == '/':
		pattern = path.Clean(pattern)
	case pattern == "~" || strings.HasPrefix(pattern, "~/"):
		if p.Home == "" {
			return false
		}
		pattern = path.Clean(literal(p.Home) + pattern[1:])
	case !strings.Contains(pattern, "/") && strings.Trim(pattern, ".") != "":
		pattern = "/**/" + pattern
	default:
		pattern = path.Join(literal(p.Project), pattern)
	}
	return segmentsMatch(split(pattern), split(file))
}

func split(p string) []string { return strings.Split(strings.Trim(p, "/"), "/") }

// segmentsMatch matches path elements; a pattern that ends early covers what
// lies below. ** stands for any number of elements.
func segmentsMatch(pattern, file []string) bool {
	for len(pattern) > 0 {
		if pattern[0] == "**" {
			if len(pattern) == 1 {
				return len(file) > 0
			}
			for i := range file {
				if segmentsMatch(pattern[1:], file[i:]) {
					return true
				}
			}
			return false
		}
		if len(file) == 0 {
			return false
		}
		if ok, err := path.Match(class(pattern[0]), file[0]); err != nil || !ok {
			return false
		}
		pattern, file = pattern[1:], file[1:]
	}
	return true
}

// class is a pattern in which a class that excludes begins with ^, as path.Match
// has it, where gitignore and the shell write !.
func class(pattern string) string {
	b := []byte(pattern)
	in := false
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] == '\\':
			i++
		case b[i] == ']':
			in = false
		case b[i] == '[' && !in:
			in = true
			if i+1 < len(b) && b[i+1] == '!' {
				b[i+1] = '^'
			}
		}
	}
	return string(b)
}
