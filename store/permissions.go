package store

import (
	"strings"

	"github.com/valyala/fastjson"
)

// toolNames are the tools a configuration may name, in the order in which the
// model is told of them; ours first, then what Claude Code calls the same.
var toolNames = []struct{ name, foreign string }{
	{"read", ""}, {"write", ""}, {"edit", "multiedit"}, {"bash", ""}, {"glob", ""}, {"grep", ""},
	{"web_search", "websearch"}, {"web_fetch", "webfetch"}, {"remote_bash", ""}, {"compact", ""},
	{"skill", ""}, {"subagent", "task"}, {"job", ""},
}

// toolName is our name of a tool that may be written as ours or as Claude
// Code's, in any case. Tools of MCP servers are known by their shape. ok is
// false for any other name.
func toolName(s string) (name string, ok bool) {
	if strings.HasPrefix(s, "mcp__") {
		return s, true
	}
	low := strings.ToLower(s)
	for _, t := range toolNames {
		if low == t.name || low == t.foreign && low != "" || low == "agent" && t.name == "subagent" {
			return t.name, true
		}
	}
	return "", false
}

// nearestTool suggests a tool for a misspelt name, "" if none is near.
func nearestTool(s string) string {
	var names []string
	for _, t := range toolNames {
		names = append(names, t.name)
	}
	return nearest(strings.ToLower(s), names)
}

// defaultLevel is the level of a tool that no configuration names, against
// which a project's level is weighed.
func defaultLevel(tool string) string {
	if tool == "remote_bash" || strings.HasPrefix(tool, "mcp__") {
		return "ask"
	}
	return "allow"
}

// levelKey is the key of one tool's level. file is the name that a refusal
// gives as the source.
func levelKey(tool, file string) *key {
	return &key{
		name: "permissions." + tool, tier: "narrowing free", def: `"` + defaultLevel(tool) + `"`,
		kind:   oneOf("allow", "ask", "deny"),
		strict: ranked("allow", "ask", "deny"),
		put: func(c *Config, v *fastjson.Value) {
			c.Levels[tool] = string(v.GetStringBytes())
			c.LevelFiles[tool] = file
		},
	}
}
