package store

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/valyala/fastjson"
)

// maxLimit is the largest limit on commands: in bytes or blocks it still is a
// number for a shell of 32 bits.
const maxLimit = 1 << 20

// Safety is what the configuration says on permissions beyond the levels of
// tools. The words are checked, the rules are not: their grammar is the
// policy's.
type Safety struct {
	Deny, Ask, Allow []Rule
	Mode             string // "default", "ask", "accept-edits" or "plan"
	WriteScope       string // "any" or "project"
	DangerAllow      []string
	DangerRemote     bool
	Sandbox          string // "off", "limits" or "confined"
	SandboxRequired  bool
	Limits           Limits
}

// Limits are those of a command; 0 is none.
type Limits struct{ Procs, FileMB, CPU, MemMB int }

// Rule is one line of permissions.deny, ask or allow as it is written, with the
// file that holds it, in words for people.
type Rule struct{ Text, File string }

// list is the list that a key adds rules to, nil for other keys.
func (s *Safety) list(key string) *[]Rule {
	switch key {
	case "permissions.deny":
		return &s.Deny
	case "permissions.ask":
		return &s.Ask
	case "permissions.allow":
		return &s.Allow
	}
	return nil
}

// addRules keeps the rules of one file beside those of the files before.
func (s *Safety) addRules(key string, texts []string, file string) {
	list := s.list(key)
	if list == nil {
		return
	}
	for _, text := range texts {
		if !slices.ContainsFunc(*list, func(r Rule) bool { return r.Text == text }) {
			*list = append(*list, Rule{text, file})
		}
	}
}

// verifyRules says what is wrong with the first rule that is none.
func (c *Config) verifyRules(texts []string) error {
	for _, text := range texts {
		if c.rule == nil {
			return nil
		}
		if err := c.rule(text); err != nil {
			return fmt.Errorf("is faulty: %w", err)
		}
	}
	return nil
}

// keepRefusals puts those rules of a project's file in force that refuse or ask
// and are without fault, where another one is faulty: nothing that it would
// refuse is allowed because of a slip elsewhere in its lists.
func (c *Config) keepRefusals(path string) {
	data, _, fault := readConfig(path)
	if fault != nil || data == nil {
		return
	}
	v, fault := parseObject(path, data)
	if fault != nil {
		return
	}
	for _, list := range []string{"deny", "ask"} {
		for _, e := range v.GetArray("permissions", list) {
			if text, ok := stringOf(e); ok && notEmpty(text) && c.verifyRules([]string{text}) == nil {
				c.Safety.addRules("permissions."+list, []string{text}, projectLabel)
			}
		}
	}
}

func (s Safety) clone() Safety {
	s.Deny, s.Ask, s.Allow = slices.Clone(s.Deny), slices.Clone(s.Ask), slices.Clone(s.Allow)
	return s
}

func safetyKeys(c *Config) []key {
	yes := boolKind()
	return []key{
		{name: "permissions.deny", tier: "adding free", kind: listKind("rules", notEmpty), def: "[]", adds: true, strict: always,
			doc: "rules that refuse, of all files together"},
		{name: "permissions.ask", tier: "adding free", kind: listKind("rules", notEmpty), def: "[]", adds: true, strict: always,
			doc: "rules that ask, whatever else would allow"},
		{name: "permissions.allow", tier: "trusted", kind: listKind("rules", notEmpty), def: "[]", adds: true,
			doc: "rules that answer what a level or a mode asks"},
		{name: "permission_mode", tier: "narrowing free", kind: modeKind(), def: `"default"`, strict: stricterMode,
			put: func(c *Config, v *fastjson.Value) { c.Safety.Mode = modeWord(string(v.GetStringBytes())) },
			doc: "mode in which a session begins"},
		{name: "write_scope", tier: "narrowing free", kind: oneOf("any", "project"), def: `"any"`, strict: ranked("any", "project"),
			to:  &c.Safety.WriteScope,
			doc: "where write and edit may write: anywhere, or in the project"},
		{name: "danger_allow", tier: "user", kind: listKind("classes of the danger check", notEmpty), def: "[]",
			to:  &c.Safety.DangerAllow,
			doc: "danger classes that are not asked about"},
		{name: "danger_remote", tier: "true free", kind: yes, def: "true", strict: becomes("true"),
			to:  &c.Safety.DangerRemote,
			doc: "the danger check looks at remote commands too"},
		{name: "sandbox", tier: "raising free", kind: oneOf("off", "limits", "confined"), def: `"limits"`, strict: ranked("off", "limits", "confined"),
			to:  &c.Safety.Sandbox,
			doc: "confinement of commands"},
		{name: "sandbox_required", tier: "true free", kind: yes, def: "false", strict: becomes("true"),
			to:  &c.Safety.SandboxRequired,
			doc: "no command runs where the confinement is not in force"},
		limitKey("procs", 64, "processes of a command", &c.Safety.Limits.Procs),
		limitKey("file_mb", 256, "MiB of a file that a command writes", &c.Safety.Limits.FileMB),
		limitKey("cpu_s", 0, "processor seconds of a process", &c.Safety.Limits.CPU),
		limitKey("mem_mb", 0, "MiB of memory of a process", &c.Safety.Limits.MemMB),
	}
}

// limitKey is a limit on what commands use.
func limitKey(name string, def int, what string, field *int) key {
	return key{
		name: "limits." + name, tier: "lowering free", kind: intKind(0, maxLimit), def: strconv.Itoa(def), strict: lower,
		to: field, doc: "most " + what + "; 0 is no limit",
	}
}

// modeKind is a mode that a configuration may set, ours or as Claude Code
// spells it. The mode without questions is a decision for one run.
func modeKind() kind {
	k := oneOf("default", "ask", "accept-edits", "plan")
	plain := k.check
	k.check = func(v *fastjson.Value) error {
		switch s, _ := stringOf(v); s {
		case "acceptEdits":
			return nil
		case "bypass", "bypassPermissions":
			return errors.New("may not be bypass: that is --dangerously-skip-permissions on the command line, for one run")
		}
		return plain(v)
	}
	return k
}

func modeWord(s string) string {
	if s == "acceptEdits" {
		return "accept-edits"
	}
	return s
}

// stricterMode orders the modes so that each asks no less than those before.
func stricterMode(old string, v *fastjson.Value) bool {
	order := []string{"accept-edits", "default", "ask", "plan"}
	rank := func(v *fastjson.Value) int { return slices.Index(order, modeWord(string(v.GetStringBytes()))) }
	return rank(v) >= rank(fastjson.MustParse(old))
}
