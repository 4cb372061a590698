package store

import (
	"errors"
	"fmt"
	"strings"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// What a file may make of itself: so many notices are told and so many unknown
// keys kept.
const (
	maxNotices = 10
	maxUnknown = 100
)

// loader goes through the members of one file.
type loader struct {
	c     *Config
	all   []key
	path  string
	shown string // path as it may be printed
	tier  Tier

	model     string            // before this file
	tools     map[string]string // tool -> the name it was set by
	notices   []string
	users     []string // keys that only the user may set
	untrusted []string // keys that wait for the project to be trusted
	address   bool     // the file names a base_url
	idle      []string // keys that were to restrict something and cannot yet
}

func newLoader(c *Config, path string, t Tier) *loader {
	return &loader{
		c: c, all: keys(c), path: path, shown: chat.EscapeText(path, maxQuoted), tier: t,
		model: c.values["model"].json, tools: map[string]string{},
	}
}

func (l *loader) say(format string, args ...any) {
	l.notices = append(l.notices, l.shown+": "+fmt.Sprintf(format, args...))
}

// said are the sentences about the file.
func (l *loader) said() []string {
	if n := len(l.notices); n > maxNotices {
		l.notices = l.notices[:maxNotices]
		l.say("%d more remarks are left out", n-maxNotices)
	}
	if len(l.users) > 0 {
		l.say("ignored, because only your own configuration may set it: %s", strings.Join(l.users, ", "))
	}
	if len(l.untrusted) > 0 {
		l.say("ignored, because a project that is not trusted may not set it: %s", strings.Join(l.untrusted, ", "))
	}
	if len(l.idle) > 0 {
		l.say("set, but this version does not enforce it yet: %s", strings.Join(l.idle, ", "))
	}
	if l.tier == TierProject && l.c.values["model"].json != l.model {
		l.say("the model is %s", chat.EscapeText(l.c.Model, 80))
	}
	return l.notices
}

func (l *loader) members(group string, o *fastjson.Object) *ConfigError {
	var fault *ConfigError
	o.Visit(func(k []byte, v *fastjson.Value) {
		if fault == nil {
			fault = l.member(group+string(k), v)
		}
	})
	return fault
}

func (l *loader) member(name string, v *fastjson.Value) *ConfigError {
	k := findKey(l.all, name)
	tool, isLevel := strings.CutPrefix(name, "permissions.")
	switch {
	case k != nil && name != anyTool:
		return l.set(k, v)
	case isLevel:
		return l.level(tool, v)
	case isGroup(l.all, name):
		if v.Type() != fastjson.TypeObject {
			return configError(l.path, name, "must be an object")
		}
		return l.members(name+".", v.GetObject())
	}
	for _, k := range refusals {
		if distance(strings.ToLower(name), k) <= 2 {
			return configError(l.path, chat.EscapeText(name, 80), "is no key; is "+k+" meant? What it refuses would be lost")
		}
	}
	l.unknown(name)
	return nil
}

// refusals are the keys whose misspelling would drop a refusal, so that it is a
// fault and not a remark.
var refusals = []string{"permissions", "permission_mode", "write_scope", "sandbox", "sandbox_required"}

func (l *loader) unknown(name string) {
	u := UnknownKey{File: l.shown, Key: chat.EscapeText(name, 80)}
	place := elsewhere(name)
	if place != "" {
		l.say("%s means nothing here: %s", u.Key, place)
	}
	if len(l.c.Unknown) == maxUnknown {
		return
	}
	if place == "" {
		names := make([]string, len(l.all))
		for i, k := range l.all {
			names[i] = k.name
		}
		if u.Nearest = nearest(name, names); u.Nearest != "" {
			l.say("%s is no key and has no effect; is %s meant?", u.Key, u.Nearest)
		}
	}
	l.c.Unknown = append(l.c.Unknown, u)
}

// set checks a value and puts it in force where the tier may.
func (l *loader) set(k *key, v *fastjson.Value) *ConfigError {
	err, rules := k.kind.verify(v), l.c.Safety.list(k.name) != nil
	if err == nil && rules {
		err = l.c.verifyRules(stringsOf(v))
	}
	if err != nil {
		e := configError(l.path, k.name, "")
		e.Msg, e.rules = chat.EscapeText(err.Error(), 2*maxQuoted), rules // the right form is at the end
		return e
	}
	switch {
	case k.name == "api_key" && l.tier == TierProject && !l.address:
		if len(v.GetStringBytes()) > 0 {
			l.say("api_key is ignored: a project's key counts only with a base_url of its own")
		}
	case l.c.store(k, v, setting{tier: l.tier, file: l.path}):
		l.c.Safety.addRules(k.name, stringsOf(v), l.label())
		if k.later && k.strict != nil && jsonText(v) != k.def && k.strict(k.def, v) {
			l.idle = append(l.idle, k.name)
		}
	case jsonText(v) == l.c.values[k.name].json: // it asks for what is in force
	case k.tier == "user":
		l.users = append(l.users, k.name)
	default:
		l.untrusted = append(l.untrusted, k.name)
		l.c.guarded = append(l.c.guarded, guardedValue{k.name, jsonText(v), k.kind.secret})
	}
	return nil
}

// level reads the level of one tool. A refusal for a tool that does not exist
// was meant for one that does, so it is a fault.
func (l *loader) level(name string, v *fastjson.Value) *ConfigError {
	tool, ok := toolName(name)
	if !ok {
		if s, _ := stringOf(v); s != "allow" {
			return configError(l.path, "permissions", unknownTool("name", name).Error())
		}
		l.say("permissions %s; it has no effect", unknownTool("allow", name))
		return nil
	}
	if first, twice := l.tools[tool]; twice {
		return configError(l.path, "permissions", fmt.Sprintf("name %s twice, as %s and %s", tool, first, name))
	}
	l.tools[tool] = name
	return l.set(levelKey(tool, l.label()), v)
}

// label is the name of the file that a refusal gives as its source.
func (l *loader) label() string {
	if l.tier == TierProject {
		return projectLabel
	}
	return "config.json"
}

// projectLabel is the project's file in a refusal.
const projectLabel = ".cluade/config.json"

// unknownTool says that a configuration names a tool that there is not. Some
// names are not misspelt but belong to another place.
func unknownTool(verb, name string) error {
	text := fmt.Sprintf("%s \"%s\", which is no tool", verb, chat.EscapeText(name, 60))
	switch near := nearestTool(name); {
	case name == "defaultMode":
		text += "; the mode is permission_mode"
	case name == "additionalDirectories":
		text += "; there is no such list here"
	case near != "":
		text += "; is " + near + " meant?"
	}
	return errors.New(text)
}

// elsewhere names the right place of a key that people copy from the
// configuration of other programs, or of another part of this one.
func elsewhere(name string) string {
	switch name {
	case "hooks":
		return "hooks belong in hooks.json in the state directory"
	case "env":
		return "commands get the environment in which the program was started"
	case "apiKeyHelper":
		return "write the key to a file and name it in api_key_file"
	case "statusLine":
		return "the status line is fixed"
	case "append_system_prompt", "appendSystemPrompt", "system_prompt":
		return "use --append-system-prompt, or AGENTS.md"
	case "allowedTools":
		return "use permissions.allow"
	}
	if strings.HasPrefix(name, "allow_") {
		return "use permissions.allow"
	}
	return ""
}
