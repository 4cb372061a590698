package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"cluade/internal/chat"
	"cluade/skills"
)

// listPlugins says of each plugin of a marketplace how far it can be used.
func (a *app) listPlugins(c *treeCommand, t *checkout) error {
	name, list, err := skills.Marketplace(t.dir, a.target(c))
	if err != nil {
		for _, other := range []string{".agents/plugins/marketplace.json", ".cursor-plugin/marketplace.json"} {
			if exists(filepath.Join(t.dir, other)) {
				err = fmt.Errorf("%w (%s is the catalogue of another program, which is not read)", err, other)
			}
		}
		return fmt.Errorf("%s: %w", shownSource(c.src), err)
	}
	var counts [4]int
	var items []string
	for i := range list {
		p := &list[i]
		counts[p.Verdict()]++
		if c.has("json") {
			items = append(items, pluginJSON(p))
		} else {
			a.out.Print(pluginLine(p))
		}
	}
	if c.has("json") {
		_, err := a.print(pluginsJSON(c, name, items, counts))
		return err
	}
	var total []string
	for v, n := range counts {
		total = append(total, fmt.Sprintf("%d %s", n, skills.PluginVerdict(v)))
	}
	a.out.Print(chat.EscapeText(fmt.Sprintf("%s: %s: %s", orUnnamed(name), plural(len(list), "plugin"), strings.Join(total, ", ")), 0))
	return nil
}

func orUnnamed(name string) string {
	if name == "" {
		return "(without name)"
	}
	return name
}

// pluginLine tells of one plugin: the verdict, the name, what it has and what
// of that is of no use.
func pluginLine(p *skills.Plugin) string {
	return chat.EscapeText(fmt.Sprintf("%s %-12s  %s: %s", p.Verdict().Label(), p.Verdict(), p.Name, strings.Join(append(pluginCounts(p), pluginReasons(p)...), "; ")), 0)
}

// pluginCounts are the numbers of what a plugin has.
func pluginCounts(p *skills.Plugin) (list []string) {
	if n := p.Usable() + p.Skills[skills.Limited]; n > 0 {
		list = append(list, fmt.Sprintf("%s, %d usable", plural(n, "skill"), p.Usable()))
	}
	if p.Commands > 0 {
		list = append(list, plural(p.Commands, "command"))
	}
	if p.Agents > 0 {
		list = append(list, plural(p.Agents, "agent"))
	}
	if list == nil {
		list = append(list, "nothing that can be used")
	}
	return list
}

// pluginReasons say why a plugin is not wholly compatible.
func pluginReasons(p *skills.Plugin) (list []string) {
	if n := len(p.Limited); n > 0 {
		named := p.Limited[:min(n, 3)]
		text := "limited: " + strings.Join(named, ", ")
		if n > len(named) {
			text += fmt.Sprintf(" and %d more", n-len(named))
		}
		list = append(list, text)
	}
	if len(p.Lacks) > 0 {
		list = append(list, "lacks "+strings.Join(p.Lacks, ", "))
	}
	var unused []string
	for _, b := range []struct {
		has  bool
		name string
	}{{p.Hooks, "hooks"}, {p.MCP, "MCP servers"}, {p.LSP, "LSP servers"}} {
		if b.has {
			unused = append(unused, b.name)
		}
	}
	if unused != nil {
		list = append(list, "not used: "+strings.Join(unused, ", "))
	}
	list = append(list, p.Faults...)
	if p.Outside != "" {
		list = append(list, "not inspected ("+p.Outside+")")
	}
	return list
}

// pluginJSON is the object of one plugin.
func pluginJSON(p *skills.Plugin) string {
	var o, s object
	s.counts("full portable partial limited", p.Skills[:]...)
	o.texts("name", p.Name, "description", p.Description, "verdict", p.Verdict().String(), "reason", strings.Join(pluginReasons(p), "; "))
	o.raw("skills", s.String())
	o.counts("commands agents", p.Commands, p.Agents)
	o.flag("hooks", p.Hooks)
	o.flag("mcp", p.MCP)
	o.flag("lsp", p.LSP)
	o.flag("inspected", p.Outside == "")
	return o.String()
}

// pluginsJSON is the whole report on one line.
func pluginsJSON(c *treeCommand, name string, items []string, counts [4]int) string {
	var o, total object
	total.counts("compatible partial limited incompatible", counts[:]...)
	o.texts("source", shownURL(c.src), "marketplace", name)
	o.raw("plugins", "["+strings.Join(items, ",")+"]")
	o.raw("total", total.String())
	return o.String() + "\n"
}
