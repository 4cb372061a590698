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
	name, src, dest string
	router          bool   // judge for a router
	given           string // the options without a value, each between blanks
	origin          origin // what src names
}

func (c *treeCommand) has(option string) bool { return strings.Contains(c.given, " "+option+" ") }

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
	c := &treeCommand{name: name, given: " "}
	options := "target json help"
	if name == "skillimport" {
		options += " dry-run force link dest"
	}
	for plain := false; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		if plain || arg == "" || arg[0] != '-' {
			if c.src != "" || arg == "" {
				return nil, fmt.Errorf("%s takes one source: a path, a git URL or owner/repo", name)
			}
			c.src = arg
			continue
		}
		if arg == "--" {
			plain = true
			continue
		}
		if arg == "-h" {
			arg = "--help"
		}
		option, value, given := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if arg[1] != '-' || !strings.Contains(" "+options+" ", " "+option+" ") {
			return nil, fmt.Errorf("%s has no option %s; the nearest is --%s", name, arg, nearest(option, strings.Fields(options)))
		}
		takes := option == "dest" || option == "target"
		if takes && !given && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch {
		case !takes && given:
			return nil, fmt.Errorf("--%s takes no value", option)
		case !takes:
			c.given += option + " "
		case value == "":
			return nil, fmt.Errorf("--%s needs a value", option)
		case option == "dest":
			c.dest = value
		case value != "router":
			return nil, errors.New("--target is router, or left out for this device")
		default:
			c.router = true
		}
	}
	if c.src == "" && !c.has("help") {
		return nil, fmt.Errorf("%s needs a source: a path, a git URL or owner/repo (cluade %s --help)", name, name)
	}
	var err error
	if c.origin, err = parseSource(c.src); err == nil && c.has("link") && c.origin.url != "" {
		err = errors.New("--link needs a local path")
	}
	return c, err
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
	switch err := a.lookAt(ctx, c); {
	case ctx.Err() != nil:
		return a.exitCode(context.Cause(ctx)), nil
	case err != nil:
		return exitFailed, err
	}
	return writeCode(a.out.Err()), nil
}

// lookAt opens the tree and does what the command is for. Where the skills go is
// known before anything is fetched.
func (a *app) lookAt(ctx context.Context, c *treeCommand) error {
	if err := a.nameDest(c); err != nil {
		return err
	}
	t, err := a.openTree(ctx, c)
	if err != nil {
		return err
	}
	defer t.close()
	if c.name == "skillimport" {
		return a.importSkills(ctx, c, t)
	}
	return a.listPlugins(c, t)
}

// target is the device that is judged for.
func (a *app) target(c *treeCommand) skills.Target {
	if c.router {
		return skills.Target{}
	}
	path := a.env.Getenv("PATH")
	return skills.Target{Python3: onPath(path, "python3"), Node: onPath(path, "node")}
}
