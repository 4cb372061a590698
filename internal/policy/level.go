package policy

import "slices"

// Level is the configured answer for one tool and where it comes from, in words
// for people ("config.json", "default", "--yes").
type Level struct {
	Verdict Verdict
	Source  string
}

// ParseVerdict reads the words of a configuration: allow, ask, deny.
func ParseVerdict(word string) (Verdict, bool) {
	for _, v := range []Verdict{Deny, Ask, Allow} {
		if word == v.String() {
			return v, true
		}
	}
	return Deny, false
}

// String is the word of a configuration.
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// String is the word shown beside a question.
func (e Effect) String() string {
	switch e {
	case Read:
		return "Read"
	case Session:
		return "Session"
	case Network:
		return "Network"
	case Write:
		return "Write"
	case Execute:
		return "Execute"
	}
	return "External"
}

// Defaults is a fresh table of the levels that hold where nothing is
// configured. Tools of other programs are not in it; they ask.
func Defaults() map[string]Level {
	levels := map[string]Level{remoteTool: {Ask, "default"}}
	for _, tool := range []string{
		"read", "write", "edit", "bash", "glob", "grep",
		"web_search", "web_fetch", "compact", "skill", "subagent", "job",
	} {
		levels[tool] = Level{Allow, "default"}
	}
	return levels
}

// ApplyYes makes --yes count: an ask of the level becomes allow for the tools
// that the flag is for. A deny stays, and so does any question that did not
// come from a level.
func (p *Policy) ApplyYes() { p.yes = true }

// level is the level in force for a call, and the tool whose level it is. A
// tool of files that works on another host is at the stricter one of its own
// level and remote_bash's.
func (p *Policy) level(s *Subject) (tool string, l Level) {
	l = p.levelOf(s)
	if elsewhere(s) {
		remote := p.levelOf(&Subject{Tool: remoteTool, Effect: Execute})
		if remote.Verdict <= l.Verdict {
			return remoteTool, remote
		}
	}
	return s.Tool, l
}

// levelOf is the level of a tool: the table, then --yes, within what the run
// above allows.
func (p *Policy) levelOf(s *Subject) Level {
	l, ok := p.Levels[s.Tool]
	switch {
	case !ok && s.Effect == External:
		l = Level{Ask, "default"}
	case !ok:
		l = Level{Deny, "no level is set"}
	}
	if p.yes && l.Verdict == Ask && yesCovers(s) {
		l = Level{Allow, "--yes"}
	}
	if p.narrow && l.Verdict != Deny && !slices.Contains(p.above, s.Tool) {
		l = Level{Deny, runAbove}
	}
	return l
}

// runAbove is the source of a level that the run above does not grant.
const runAbove = "the run above this one"

// remoteTool is the tool that reaches other hosts.
const remoteTool = "remote_bash"

// elsewhere says that another tool than that one works on another host.
func elsewhere(s *Subject) bool { return s.Host != "" && s.Tool != remoteTool }

// yesCovers names the tools that --yes is for.
func yesCovers(s *Subject) bool {
	switch s.Tool {
	case "bash", remoteTool, "write", "edit", "web_search", "web_fetch":
		return true
	}
	return s.Effect == External
}
