package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"cluade/skills"
)

// treeCommand is the command line of skillimport or marketplace, which look at a
// tree of files that somebody published.
type treeCommand struct {
	name, src, dest                         string
	dryRun, force, link, router, json, help bool

	origin origin // what src names
}

const (
	importUsage = `usage: cluade skillimport SRC [option...]

Copies every skill of a directory or a repository, and says how far it can be
used. SRC is a path, a git URL (https, ssh, git, file) or GitHub's owner/repo.

      --dry-run        only say what would be done
      --force          replace skills that are there already
      --link           link to the skills of a path instead of copying them
      --dest DIR       where to put them (default ~/.cluade/skills)
`
	marketUsage = `usage: cluade marketplace SRC [option...]

Lists the plugins of a marketplace, and says how far each can be used. Nothing
is installed or run. SRC is a path, a git URL or GitHub's owner/repo.

`
	treeUsage = `      --target router  judge for a device without python3 and node
      --json           print one JSON object
`
)

// parseTree reads the arguments behind the name of the command.
func parseTree(name string, args []string) (*treeCommand, error) {
	c := &treeCommand{name: name}
	names := []string{"target", "json", "help"}
	if name == "skillimport" {
		names = append(names, "dry-run", "force", "link", "dest")
	}
	for plain := false; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		option, value, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		switch {
		case arg == "--" && !plain:
			plain = true
			continue
		case arg == "-h" && !plain:
			option = "help"
		case plain || !strings.HasPrefix(arg, "-"):
			if c.src != "" || arg == "" {
				return nil, fmt.Errorf("%s takes one source: a path, a git URL or owner/repo", name)
			}
			c.src = arg
			continue
		case !strings.HasPrefix(arg, "--") || !contains(names, option):
			return nil, fmt.Errorf("%s has no option %s; the nearest is --%s", name, arg, nearest(option, names))
		}
		if takes := option == "dest" || option == "target"; !takes && given {
			return nil, fmt.Errorf("--%s takes no value", option)
		} else if takes && !given && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		if err := c.take(option, value); err != nil {
			return nil, err
		}
	}
	if c.src == "" && !c.help {
		return nil, fmt.Errorf("%s needs a source: a path, a git URL or owner/repo (cluade %s --help)", name, name)
	}
	var err error
	if c.origin, err = parseSource(c.src); err == nil && c.link && c.origin.url != "" {
		err = errors.New("--link needs a local path")
	}
	return c, err
}

func (c *treeCommand) take(option, value string) error {
	switch option {
	case "dry-run":
		c.dryRun = true
	case "force":
		c.force = true
	case "link":
		c.link = true
	case "json":
		c.json = true
	case "help":
		c.help = true
	case "dest":
		if c.dest = value; value == "" {
			return errors.New("--dest needs a value: --dest DIR")
		}
	case "target":
		if c.router = value == "router"; !c.router {
			return errors.New("--target is router, or left out for this device")
		}
	}
	return nil
}

func (c *treeCommand) usage() string {
	if c.name == "skillimport" {
		return importUsage + treeUsage
	}
	return marketUsage + treeUsage
}

// runTree runs skillimport or marketplace.
func (a *app) runTree(ctx context.Context, c *treeCommand) (int, error) {
	a.out = newOutput(a.env, outputOptions{Color: "auto", ASCII: a.flags.ascii})
	t, err := a.openTree(ctx, c)
	if err == nil {
		defer t.close()
		if c.name == "skillimport" {
			err = a.importSkills(ctx, c, t)
		} else {
			err = a.listPlugins(c, t)
		}
	}
	switch {
	case ctx.Err() != nil:
		return a.exitCode(context.Cause(ctx)), nil
	case err != nil:
		return exitFailed, err
	}
	return writeCode(a.out.Err()), nil
}

// target is the device that is judged for.
func (a *app) target(c *treeCommand) skills.Target {
	if c.router {
		return skills.Target{}
	}
	path := a.env.Getenv("PATH")
	return skills.Target{Python3: onPath(path, "python3"), Node: onPath(path, "node")}
}
