package cli

import (
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
	"unicode"

	"cluade/skills"
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
	name, arg, isSlash := splitCommand(text)
	if isSlash && from == 0 {
		return 0, withPrefix(a.commandNames(), text)
	}
	if c := findCommand(name); isSlash && c != nil && c.words != anyPath {
		if strings.ContainsAny(arg, " \t") {
			return from, nil
		}
		return from, withPrefix(a.words(c.words), text[from:])
	}
	word := text[from:]
	switch at, isAt := strings.CutPrefix(word, "@"); {
	case isAt:
		quoted, isQuoted := strings.CutPrefix(at, `"`)
		for _, p := range a.paths(quoted) {
			if isQuoted || strings.ContainsAny(p, " \t") {
				p = `"` + p
			}
			options = append(options, "@"+p)
		}
		return from, options
	case strings.HasPrefix(word, "/"), strings.HasPrefix(word, "./"), strings.HasPrefix(word, "../"), strings.HasPrefix(word, "~/"), isSlash:
		return from, a.paths(word)
	}
	return from, nil
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
