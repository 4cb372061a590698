package skills

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/valyala/fastjson"
)

// counter counts the components of one plugin, each file once.
type counter struct {
	*market
	plugin *Plugin
	dir    string          // of the plugin; "" if it is not in the tree
	seen   map[string]bool // paths that were counted
}

func (c *counter) fault(what string, err error) {
	if len(c.plugin.Faults) < namedFiles {
		c.plugin.Faults = append(c.plugin.Faults, oneLine(what)+": "+err.Error())
	}
}

// source finds the directory of the plugin. False says that it is elsewhere, or
// nowhere.
func (c *counter) source(v *fastjson.Value) (dir string, ok bool) {
	if v != nil && v.Type() == fastjson.TypeObject {
		if c.plugin.Outside = oneLine(text(v.Get("source")) + " " + outsideName(v)); c.plugin.Outside == "" {
			c.plugin.Outside = "an unknown place"
		}
		return "", false
	}
	name := text(v)
	if name == "" {
		c.fault("source", errors.New("there is none"))
		return "", false
	}
	base := ""
	if name[0] != '.' && !filepath.IsAbs(name) {
		base = c.base
	}
	dir, err := c.inTree(c.root, base)
	if err == nil {
		dir, err = c.inTree(dir, name)
	}
	if err == nil && !isDir(dir) {
		err = errors.New("it is no directory")
	}
	if err != nil {
		c.fault("source "+name, err)
	}
	return dir, err == nil
}

// outsideName is where an object of a source says that the plugin is.
func outsideName(v *fastjson.Value) string {
	for _, key := range []string{"repo", "url", "package", "command"} {
		if s := text(v.Get(key)); s != "" {
			if path := text(v.Get("path")); path != "" {
				s += " " + path
			}
			return s
		}
	}
	return ""
}

func isDir(path string) bool {
	fi, err := os.Stat(path)
	return err == nil && fi.IsDir()
}

// declared counts what an entry of the catalogue, or a manifest, names.
func (c *counter) declared(v *fastjson.Value) {
	p := c.plugin
	c.each("skills", v, func(path string) {
		if !c.skills(path) {
			c.fault("skills", errors.New(filepath.Base(path)+" holds no "+fileName))
		}
	})
	c.each("commands", v, func(path string) { p.Commands += c.texts(path) })
	c.each("agents", v, func(path string) { p.Agents += c.texts(path) })
	p.Hooks = p.Hooks || isPresent(v.Get("hooks"))
	p.MCP = p.MCP || isPresent(v.Get("mcpServers"))
	p.LSP = p.LSP || isPresent(v.Get("lspServers"))
}

// defaults counts what stands where plugins have it without saying so.
func (c *counter) defaults() {
	p := c.plugin
	for _, d := range []struct {
		name  string
		count func(path string)
	}{
		{"skills", func(path string) { c.skills(path) }},
		{"commands", func(path string) { p.Commands += c.texts(path) }},
		{"agents", func(path string) { p.Agents += c.texts(path) }},
		{"hooks/hooks.json", func(string) { p.Hooks = true }},
		{".mcp.json", func(string) { p.MCP = true }},
		{".lsp.json", func(string) { p.LSP = true }},
	} {
		if path, err := c.inTree(c.dir, d.name); err == nil {
			d.count(path)
		} else if err == errLeaves {
			c.fault(d.name, err)
		}
	}
}

// each goes through the paths under a key: one, or a list, or an object whose
// values have them as "source". The path is "" where there is nothing to look
// at: the plugin is elsewhere, or the text stands here as "content".
func (c *counter) each(key string, v *fastjson.Value, count func(path string)) {
	take := func(v *fastjson.Value) {
		name := text(v)
		if v.Type() == fastjson.TypeObject {
			name = text(v.Get("source"))
		}
		outside := c.dir == "" && (name == "" || filepath.IsLocal(name))
		if outside || name == "" && text(v.Get("content")) != "" {
			count("")
			return
		}
		path, err := c.inTree(c.dir, name)
		if name == "" {
			err = errors.New("it names no file")
		}
		if err != nil {
			c.fault(strings.TrimRight(key+" "+name, " "), err)
			return
		}
		count(path)
	}
	v = v.Get(key)
	switch {
	case !isPresent(v):
	case v.Type() == fastjson.TypeArray:
		for _, item := range v.GetArray() {
			take(item)
		}
	case v.Type() == fastjson.TypeObject:
		v.GetObject().Visit(func(_ []byte, item *fastjson.Value) { take(item) })
	default:
		take(v)
	}
}

// isPresent says that a key has a value that is not empty.
func isPresent(v *fastjson.Value) bool {
	if v == nil {
		return false
	}
	switch v.Type() {
	case fastjson.TypeString:
		return text(v) != ""
	case fastjson.TypeArray:
		return len(v.GetArray()) > 0
	case fastjson.TypeObject:
		return v.GetObject().Len() > 0
	}
	return false
}

// first says that a path was not counted before.
func (c *counter) first(path string) bool {
	new := !c.seen[path]
	c.seen[path] = true
	return new
}

// skills counts the skill in a directory, or those one level below it. It
// reports whether there is any.
func (c *counter) skills(path string) (any bool) {
	if path == "" {
		c.plugin.Skills[Portable]++ // by the declaration alone
		return true
	}
	if filepath.Base(path) == fileName {
		path = filepath.Dir(path)
	}
	dirs := c.within("skills", path, func(dir string) bool {
		_, err := c.inTree(dir, fileName)
		return err == nil
	})
	for _, dir := range dirs {
		if c.first(dir) {
			c.skill(dir)
		}
	}
	return len(dirs) > 0
}

// skill counts one skill by its verdict.
func (c *counter) skill(dir string) {
	j, ok := c.judged[dir]
	if !ok {
		s := Skill{Name: filepath.Base(dir), Dir: dir, root: &root{Root{Dir: c.root}, c.root, c.root}}
		s.load()
		j = judged{s.Name, s.Judge(c.target)}
		c.judged[dir] = j
	}
	c.plugin.Skills[j.Verdict]++
	if j.Verdict == Limited {
		c.plugin.Limited = append(c.plugin.Limited, j.name)
		return
	}
	for _, tool := range j.Lacks {
		c.plugin.Lacks = addNew(c.plugin.Lacks, tool)
	}
}

// texts counts a Markdown file, or those in a directory.
func (c *counter) texts(path string) (n int) {
	if path == "" {
		return 1 // by the declaration alone
	}
	for _, f := range c.within("texts", path, func(path string) bool { return strings.HasSuffix(path, ".md") && !isDir(path) }) {
		if c.first(f) {
			n++
		}
	}
	return n
}

// within returns path if it is one of a kind, else what of the kind is directly
// in it. Plugins that share a directory look at it once.
func (m *market) within(kind, path string, is func(path string) bool) []string {
	key := kind + " " + path
	found, known := m.found[key]
	switch {
	case known:
	case is(path):
		found = []string{path}
	default:
		for _, name := range listed(path) {
			if p, err := m.inTree(path, name); err == nil && is(p) {
				found = append(found, p)
			}
		}
	}
	m.found[key] = found
	return found
}

// listed are the names in a directory in their order, none if it cannot be read.
func listed(dir string) []string {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxListed)
	sort.Strings(names)
	return names
}
