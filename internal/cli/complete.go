package cli

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
	"unicode"

	"cluade/skills"
	"cluade/store"
)

// What can stand in a slash command's words in place of words.
const (
	anyModel   = "MODELS"
	anySession = "SESSIONS"
	anySkill   = "SKILLS"
	anyPath    = "PATHS"
)

const (
	maxEntries = 2000        // of a directory that are looked at for a path
	listTime   = time.Second // how long that may take
)

// complete says what the text before pos can be continued to: from is the byte
// where what the options replace begins.
func (a *app) complete(line string, pos int) (from int, options []string) {
	text := line[:pos]
	from = strings.LastIndexAny(text, " \t\n") + 1
	name, _, isSlash := splitCommand(text)
	c := findCommand(name)
	switch {
	case isSlash && from == 0:
		return 0, withPrefix(a.commandNames(), text)
	case isSlash && c != nil && c.words == anyPath:
		from = len(name) + 2
		return from, withSuffix(a.paths(text[from:]), "/")
	case isSlash && c != nil:
		return from, withPrefix(a.argument(c, strings.Fields(text[:from])[1:]), text[from:])
	case isSlash && !contains(a.commandNames(), "/"+name):
		return from, nil
	}
	if i := strings.LastIndex(text, `@"`); i >= 0 && startsMention(text, i) && !strings.ContainsAny(text[i+2:], "\"\n") {
		from = i
	}
	word := text[from:]
	if at, isAt := strings.CutPrefix(word, "@"); isAt {
		return from, a.mentioned(at)
	}
	for _, begin := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(word, begin) || isSlash {
			return from, a.paths(word)
		}
	}
	return from, nil
}

// mentioned are the paths behind an @, in quotes if one of them has a blank: only
// a file ends them.
func (a *app) mentioned(begun string) (options []string) {
	begun, quoted := strings.CutPrefix(begun, `"`)
	list := a.paths(begun)
	for _, p := range list {
		quoted = quoted || strings.ContainsAny(p, " \t")
	}
	for _, p := range list {
		if quoted {
			p = `"` + p
		}
		if quoted && !strings.HasSuffix(p, "/") {
			p += `"`
		}
		options = append(options, "@"+p)
	}
	return options
}

// argument are the words that may stand behind those already there.
func (a *app) argument(c *slashCommand, before []string) []string {
	switch {
	case len(before) == 0:
		return a.words(c.words)
	case len(before) == 1 && c.name+before[0] == "configset":
		var keys []string
		for _, k := range store.Keys() {
			if !k.Later {
				keys = append(keys, strings.TrimSuffix(k.Name, "TOOL"))
			}
		}
		return keys
	case len(before) == 1 && c.name+before[0] == "sessionsdelete":
		return a.words(anySession)
	}
	return nil
}

// commandNames are the slash commands as they are typed.
func (a *app) commandNames() []string {
	var names []string
	for _, c := range slashCommands() {
		names = append(names, "/"+c.name)
	}
	for _, c := range a.customCommands() {
		names = append(names, "/"+c.Name)
	}
	return names
}

// words are what may stand behind a slash command.
func (a *app) words(of string) (list []string) {
	switch of {
	case anyModel:
		return append(a.cfg.ModelNames(), a.models...)
	case anySession:
		if a.sessions == nil {
			return nil
		}
		saved, _ := a.sessions.List()
		for _, s := range saved {
			list = append(list, s.ID)
		}
		return list
	case anySkill:
		found, _ := skills.Find(a.tools.Skills)
		for _, s := range found {
			list = append(list, s.Name)
		}
		return list
	}
	return strings.Fields(of)
}

func withSuffix(all []string, suffix string) (some []string) {
	for _, s := range all {
		if strings.HasSuffix(s, suffix) {
			some = append(some, s)
		}
	}
	return some
}

func withPrefix(all []string, prefix string) (some []string) {
	for _, s := range all {
		if strings.HasPrefix(s, prefix) && !contains(some, s) {
			some = append(some, s)
		}
	}
	return some
}

// paths are the files that a path can be continued to, directories with a slash
// at the end. One that begins with a dot must be asked for.
func (a *app) paths(begun string) (list []string) {
	dir, base := "", begun
	if i := strings.LastIndexByte(begun, '/'); i >= 0 {
		dir, base = begun[:i+1], begun[i+1:]
	}
	at := dir
	if rest, ok := strings.CutPrefix(at, "~/"); ok {
		at = filepath.Join(a.place.Home, rest)
	}
	if !filepath.IsAbs(at) {
		at = filepath.Join(a.place.Dir, at)
	}
	for _, name := range entries(at) {
		plain := strings.TrimSuffix(name, "/")
		hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".")
		if strings.HasPrefix(name, base) && !hidden && strings.IndexFunc(plain, unicode.IsControl) < 0 {
			list = append(list, dir+name)
		}
	}
	sort.Strings(list)
	return list
}

// entries lists a directory, unless its file system does not answer in time.
func entries(dir string) []string {
	found := make(chan []string, 1)
	go func() {
		f, err := os.Open(dir)
		if err != nil {
			found <- nil
			return
		}
		defer f.Close()
		var names []string
		list, _ := f.ReadDir(maxEntries)
		for _, e := range list {
			name := e.Name()
			if e.IsDir() || e.Type()&os.ModeSymlink != 0 && isDir(filepath.Join(dir, name)) {
				name += "/"
			}
			names = append(names, name)
		}
		found <- names
	}()
	select {
	case names := <-found:
		return names
	case <-time.After(listTime):
		return nil
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
