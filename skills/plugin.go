package skills

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/valyala/fastjson"
)

// A plugin marketplace is a tree of files with a catalogue, in the form of
// Claude Code (its documentation's page "Plugin marketplaces reference"). Only
// skills, commands and agents of a plugin are of use here, the last two as
// text. Nothing of it is run.

const (
	catalogue    = ".claude-plugin/marketplace.json"
	manifest     = ".claude-plugin/plugin.json"
	maxCatalogue = 4 << 20 // bytes
	maxValues    = 100000  // values of a catalogue, each of which takes memory
	maxPlugins   = 5000
	maxListed    = 2000 // names of a directory of components
)

// Plugin is one plugin of a marketplace: what it has, and what that is worth.
type Plugin struct {
	Name, Description string
	Skills            [4]int   // how many, by verdict
	Limited           []string // names of the limited ones
	Lacks             []string // tools that skills declare and that are not there
	Commands, Agents  int
	Hooks, MCP, LSP   bool
	Outside           string   // where the plugin is, if it was not inspected
	Faults            []string // what could not be counted
}

// PluginVerdict says how much of a plugin can be used.
type PluginVerdict int

const (
	Compatible PluginVerdict = iota
	PartlyUsable
	OnlyLimited
	Incompatible
)

func (v PluginVerdict) String() string {
	return [...]string{"compatible", "partial", "limited", "incompatible"}[v]
}

// Label is the mark of the verdict, six characters wide.
func (v PluginVerdict) Label() string {
	return [...]string{"[OK  ]", "[PART]", "[LTD ]", "[ X  ]"}[v]
}

// Usable is how many skills of the plugin can be used.
func (p *Plugin) Usable() int { return p.Skills[Full] + p.Skills[Portable] + p.Skills[Partial] }

// Verdict weighs what can be used against what cannot.
func (p *Plugin) Verdict() PluginVerdict {
	usable := p.Usable()+p.Commands+p.Agents > 0
	limited := p.Skills[Limited] > 0
	lacking := p.Hooks || p.MCP || p.LSP || len(p.Lacks) > 0
	switch {
	case usable && !limited && !lacking:
		return Compatible
	case usable:
		return PartlyUsable
	case limited:
		return OnlyLimited
	}
	return Incompatible
}

// Marketplace reads the catalogue of a tree and judges its plugins.
func Marketplace(dir string, t Target) (name string, list []Plugin, err error) {
	m := market{target: t, judged: map[string]judged{}, found: map[string][]string{}}
	if m.root, err = filepath.EvalSymlinks(dir); err == nil {
		m.root, err = filepath.Abs(m.root)
	}
	if err != nil {
		return "", nil, err
	}
	c, err := m.readJSON(m.root, catalogue)
	if err != nil {
		return "", nil, err
	}
	entries := c.GetArray("plugins")
	switch {
	case c.Get("plugins") == nil || c.Get("plugins").Type() != fastjson.TypeArray:
		return "", nil, errors.New(catalogue + ": it has no list of plugins")
	case len(entries) > maxPlugins:
		return "", nil, fmt.Errorf("%s: it has more than %d plugins", catalogue, maxPlugins)
	}
	m.base = text(c.Get("metadata", "pluginRoot"))
	for i, e := range entries {
		p := Plugin{Name: oneLine(text(e.Get("name"))), Description: oneLine(text(e.Get("description")))}
		if p.Name == "" {
			p.Name = fmt.Sprintf("(plugin %d, without name)", i+1)
		}
		m.judge(&p, e)
		list = append(list, p)
	}
	return oneLine(text(c.Get("name"))), list, nil
}

// market is one marketplace while it is judged.
type market struct {
	root   string // with links resolved
	base   string // of sources that are bare names
	target Target
	judged map[string]judged   // by directory: plugins share skills
	found  map[string][]string // what is in directories, by kind and path
}

type judged struct {
	name string
	Judgement
}

// readJSON reads a file of the tree.
func (m *market) readJSON(dir, name string) (*fastjson.Value, error) {
	path, err := m.inTree(dir, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if fi, err := file.Stat(); err != nil || !fi.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New(name+" is not a regular file"))
	}
	data, err := io.ReadAll(io.LimitReader(file, maxCatalogue+1))
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxCatalogue || bytes.Count(data, []byte(","))+bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxValues:
		return nil, fmt.Errorf("%s is too large: %d bytes", name, len(data))
	}
	v, err := fastjson.ParseBytes(bytes.TrimPrefix(data, []byte("\ufeff")))
	if err == nil && v.Type() != fastjson.TypeObject {
		err = errors.New("it is no object")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %.200w", name, err)
	}
	return v, nil
}

var errLeaves = errors.New("it leaves the repository")

// inTree is the place that a path of a catalogue names, links resolved.
func (m *market) inTree(dir, name string) (string, error) {
	path := filepath.Join(dir, name)
	if filepath.IsAbs(name) || !inside(m.root, path) {
		return "", errLeaves
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", errors.New("it is not there")
	}
	if err == nil && !inside(m.root, real) {
		err = errLeaves
	}
	return real, err
}

// judge counts the components of one entry of the catalogue.
func (m *market) judge(p *Plugin, e *fastjson.Value) {
	c := counter{market: m, plugin: p, seen: map[string]bool{}}
	dir, ok := c.source(e.Get("source"))
	if !ok && p.Outside == "" {
		return
	}
	c.dir = dir
	c.declared(e)
	if !ok {
		return
	}
	if strict := e.Get("strict"); strict != nil && strict.Type() == fastjson.TypeFalse {
		if p.Verdict() == Incompatible && !p.Hooks && !p.MCP && !p.LSP {
			c.fault("strict is false", errors.New("what the catalogue does not declare does not count"))
		}
		return
	}
	if _, err := m.inTree(c.dir, manifest); err == nil {
		if v, err := m.readJSON(c.dir, manifest); err != nil {
			c.fault("plugin.json", err)
		} else {
			c.declared(v)
		}
	}
	c.defaults()
}

// text is a string of a catalogue, "" if it is none.
func text(v *fastjson.Value) string {
	if v == nil {
		return ""
	}
	b, _ := v.StringBytes()
	return strings.ToValidUTF8(string(b), "\ufffd")
}
