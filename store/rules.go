package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
	"github.com/valyala/fastjson"
)

// EditRules changes one list of rules (deny, ask, allow) of the user's
// configuration. Everything else in the file is kept, but for its layout. A
// file that cannot be read is left alone.
func (p Place) EditRules(list string, edit func([]string) []string) error {
	return p.editFile(func(v *fastjson.Value) error {
		if v.Get("permissions") == nil {
			v.Set("permissions", fastjson.MustParse("{}"))
		}
		old := v.Get("permissions", list)
		if old == nil {
			old = fastjson.MustParse("[]")
		}
		if v.Get("permissions").Type() != fastjson.TypeObject || listKind("rules", notEmpty).verify(old) != nil {
			return configError(p.userFile(), "permissions."+list, "must be a list of rules")
		}
		text := []byte{'['}
		for i, rule := range edit(stringsOf(old)) {
			if i > 0 {
				text = append(text, ", "...)
			}
			text = jsonenc.AppendString(text, rule)
		}
		v.Get("permissions").Set(list, fastjson.MustParseBytes(append(text, ']')))
		return nil
	})
}

// SetKey puts a value into the user's configuration, written as JSON or, for a
// key that is a text, as it is. What is not a key, not of its kind, or would
// make the file a faulty one is refused, and the file left alone.
func (p Place) SetKey(name, value string) error {
	k, err := p.settable(name)
	if err != nil {
		return err
	}
	v, err := k.parse(value)
	if err != nil {
		return fmt.Errorf("%s %w", name, err)
	}
	return p.editFile(func(root *fastjson.Value) error {
		group, member, nested := strings.Cut(name, ".")
		if !nested {
			root.Set(name, v)
			return nil
		}
		if root.Get(group) == nil {
			root.Set(group, fastjson.MustParse("{}"))
		}
		if root.Get(group).Type() != fastjson.TypeObject {
			return configError(p.userFile(), group, "must be an object")
		}
		root.Get(group).Set(member, v)
		return nil
	})
}

// settable is the key of that name, which may be the level of a tool.
func (p Place) settable(name string) (*key, error) {
	all := keys(new(Config))
	if k := findKey(all, name); k != nil && name != anyTool {
		return k, nil
	}
	if tool, ok := strings.CutPrefix(name, "permissions."); ok {
		if own, known := toolName(tool); !known || own != tool {
			return nil, unknownTool("permissions names", tool)
		}
		return levelKey(tool, ""), nil
	}
	var names []string
	for _, k := range all {
		if strings.HasPrefix(k.name, name+".") {
			return nil, fmt.Errorf("%s is an object: set its members, such as %s", name, k.name)
		}
		names = append(names, k.name)
	}
	text := fmt.Sprintf("there is no key %s", chat.EscapeText(name, 60))
	if near := nearest(name, names); near != "" {
		text += "; is " + near + " meant?"
	}
	return nil, errors.New(text)
}

func (p Place) userFile() string { return filepath.Join(p.State, "config.json") }

// editFile changes the user's configuration, unless it cannot be read or what
// comes of it could not.
func (p Place) editFile(edit func(*fastjson.Value) error) error {
	if p.State == "" {
		return errors.New("change the configuration: there is no home directory")
	}
	path := p.userFile()
	data, _, fault := readConfig(path)
	if fault != nil {
		return fault
	}
	if data == nil {
		data = []byte("{}")
	}
	v, fault := parseObject(path, data)
	if fault != nil {
		return fault
	}
	if !utf8.Valid(data) || halves(layOut(v, "")) > halves(string(data)) {
		return configError(path, "", "it holds text that is no Unicode, which a change would lose; change it by hand")
	}
	if err := edit(v); err != nil {
		return err
	}
	text := []byte(layOut(v, "") + "\n")
	if _, fault := Defaults(p).apply(path, TierUser, text, 0o600); fault != nil {
		return fault
	}
	err := os.MkdirAll(p.State, 0o700)
	if err == nil {
		err = writeConfig(path, text)
	}
	if err != nil {
		return fmt.Errorf("write %s: %s", chat.EscapeText(path, maxQuoted), why(err))
	}
	return nil
}

// halves counts what the parser makes of half a surrogate pair, which stands for
// no character: the text of its escape.
func halves(json string) int { return strings.Count(strings.ToLower(json), `\\ud`) }

// layOut is a JSON text with a line for each member of an object.
func layOut(v *fastjson.Value, indent string) string {
	o := v.GetObject()
	if o == nil || o.Len() == 0 {
		return string(chat.AppendValue(nil, v))
	}
	var lines []string
	o.Visit(func(k []byte, v *fastjson.Value) {
		lines = append(lines, indent+"  "+quote(string(k))+": "+layOut(v, indent+"  "))
	})
	return "{\n" + strings.Join(lines, ",\n") + "\n" + indent + "}"
}
