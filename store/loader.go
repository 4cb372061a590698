package store

import (
	"errors"
	"fmt"
	"strings"

	"cluade/internal/chat"
	"github.com/valyala/fastjson"
)

// loader goes through the members of one file.
type loader struct {
	c    *Config
	all  []key
	path string
	tier Tier

	tools     map[string]string // tool -> the name it was set by
	notices   []string
	users     []string // keys that only the user may set
	untrusted []string // keys that wait for the project to be trusted
}

func (l *loader) say(format string, args ...any) {
	l.notices = append(l.notices, fmt.Sprintf(format, args...))
}

// said are the sentences about the file.
func (l *loader) said() []string {
	path := chat.EscapeText(l.path, maxQuoted)
	if len(l.users) > 0 {
		l.say("%s: ignored, because only your own configuration may set it: %s", path, strings.Join(l.users, ", "))
	}
	if len(l.untrusted) > 0 {
		l.say("%s: ignored, because this project is not trusted: %s", path, strings.Join(l.untrusted, ", "))
	}
	if l.tier == TierProject && l.c.Source("model") == TierProject {
		l.say("%s: the model is %s", path, chat.EscapeText(l.c.Model, 80))
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
	case k != nil && name != "permissions.TOOL":
		return l.set(k, v)
	case isLevel:
		return l.level(tool, v)
	case isGroup(l.all, name):
		if v.Type() != fastjson.TypeObject {
			return configError(l.path, name, "must be an object")
		}
		return l.members(name+".", v.GetObject())
	}
	shown := chat.EscapeText(name, 80)
	if place := elsewhere(name); place != "" {
		l.say("%s: %s means nothing here: %s", chat.EscapeText(l.path, maxQuoted), shown, place)
	}
	var names []string
	for _, k := range l.all {
		names = append(names, k.name)
	}
	l.c.Unknown = append(l.c.Unknown, UnknownKey{chat.EscapeText(l.path, maxQuoted), shown, nearest(name, names)})
	return nil
}

// set checks a value and puts it in force where the tier may.
func (l *loader) set(k *key, v *fastjson.Value) *ConfigError {
	if err := k.kind.verify(v); err != nil {
		e := configError(l.path, k.name, err.Error())
		e.refused = errors.Is(err, errRules)
		return e
	}
	switch {
	case l.c.store(k, v, setting{tier: l.tier, file: l.path}):
		if k.name == "permissions.allow" && len(v.GetArray()) > 0 {
			l.say("%s: rules are not supported yet, permissions.allow has no effect", chat.EscapeText(l.path, maxQuoted))
		}
	case k.tier == "user":
		l.users = append(l.users, k.name)
	default:
		l.untrusted = append(l.untrusted, k.name)
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
		l.say("%s: permissions %s; it has no effect", chat.EscapeText(l.path, maxQuoted), unknownTool("allow", name))
		return nil
	}
	if first, twice := l.tools[tool]; twice {
		return configError(l.path, "permissions", fmt.Sprintf("name %s twice, as %s and %s", tool, first, name))
	}
	l.tools[tool] = name
	file := "config.json"
	if l.tier == TierProject {
		file = ".cluade/config.json"
	}
	return l.set(levelKey(tool, file), v)
}

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
