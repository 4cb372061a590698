package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
	"github.com/valyala/fastjson"
)

// EditRules changes one list of rules (deny, ask, allow) of the user's
// configuration. Everything else in the file is kept, but for its layout. A
// file that cannot be read is left alone.
func (p Place) EditRules(list string, edit func([]string) []string) error {
	if p.State == "" {
		return errors.New("change the rules: there is no home directory")
	}
	path := filepath.Join(p.State, "config.json")
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
	if v.Get("permissions") == nil {
		v.Set("permissions", fastjson.MustParse("{}"))
	}
	old := v.Get("permissions", list)
	if old == nil {
		old = fastjson.MustParse("[]")
	}
	if v.Get("permissions").Type() != fastjson.TypeObject || listKind("rules", notEmpty).verify(old) != nil {
		return configError(path, "permissions."+list, "must be a list of rules")
	}
	text := []byte{'['}
	for i, rule := range edit(stringsOf(old)) {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = jsonenc.AppendString(text, rule)
	}
	v.Get("permissions").Set(list, fastjson.MustParseBytes(append(text, ']')))
	err := os.MkdirAll(p.State, 0o700)
	if err == nil {
		err = writeFile(path, []byte(layOut(v, "")+"\n"), true)
	}
	if err != nil {
		return fmt.Errorf("change the rules: %s", why(err))
	}
	return nil
}

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
