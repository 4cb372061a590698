package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"cluade/internal/chat"
	"cluade/internal/proc"
)

// checkout is a tree of files to look at.
type checkout struct {
	dir   string
	name  string // what the files are known by
	close func()
}

const (
	cloneTime  = 15 * time.Minute
	transports = "https:ssh:git:file" // as git lists them
)

// origin is what SRC names. Where url is "" it is a path on this machine.
type origin struct {
	url  string // for git
	repo string // owner/name, if it is on GitHub
}

// parseSource reads SRC. Git knows more transports than it accepts, among them
// such that run a program.
func parseSource(src string) (origin, error) {
	scheme, rest, isURL := strings.Cut(src, "://")
	if scheme = strings.ToLower(scheme); isURL {
		src = scheme + "://" + rest // git knows small letters only
	}
	host, inside, isSCP := strings.Cut(src, ":")
	switch {
	case strings.HasPrefix(src, "/") || strings.HasPrefix(src, "."):
		return origin{}, nil
	case isURL && !strings.Contains(":"+transports+":", ":"+scheme+":") || strings.Contains(src, "::"):
		return origin{}, fmt.Errorf("%s: a repository comes by https, ssh, git or file", shownSource(src))
	case isURL && scheme == "file":
		return origin{url: src}, nil
	case isURL:
		host, inside, _ := strings.Cut(rest, "/")
		return onGitHub(src, host, inside)
	case exists(src):
		return origin{}, nil
	case isSCP && !strings.Contains(host, "/"):
		return onGitHub(src, host, inside)
	case strings.HasPrefix(src, "github.com/"):
		return onGitHub("https://"+src, "github.com", src[len("github.com/"):])
	case isRepo(src):
		return origin{"https://github.com/" + src, strings.TrimSuffix(src, ".git")}, nil
	}
	return origin{}, nil
}

// onGitHub finds out whether a repository is there.
func onGitHub(src, host, inside string) (origin, error) {
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if !strings.EqualFold(host, "github.com") {
		return origin{url: src}, nil
	}
	repo := strings.TrimSuffix(strings.Trim(inside, "/"), ".git")
	if !isRepo(repo) {
		return origin{}, fmt.Errorf("%s: a repository of GitHub is github.com/owner/name, with nothing behind it", shownSource(src))
	}
	return origin{src, repo}, nil
}

// isRepo says that s is of the form owner/name.
func isRepo(s string) bool {
	owner, name, ok := strings.Cut(s, "/")
	return ok && isRepoWord(owner) && isRepoWord(name)
}

func isRepoWord(s string) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	return s != "" && strings.Trim(s, letters+"._-") == "" && strings.IndexByte(letters+"_", s[0]) >= 0
}

// openTree makes the source's files available. The caller closes the tree.
func (a *app) openTree(ctx context.Context, c *treeCommand) (*checkout, error) {
	if c.origin.url == "" {
		dir, err := filepath.Abs(c.src)
		if err != nil {
			return nil, err
		}
		if !isDir(dir) {
			return nil, fmt.Errorf("%s is no directory here, no git URL and no owner/repo", shownSource(c.src))
		}
		return &checkout{dir, filepath.Base(dir), func() {}}, nil
	}
	tmp, err := os.MkdirTemp("", "cluade-tree-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary directory: %w", err)
	}
	name := strings.TrimSuffix(path.Base(strings.TrimRight(c.origin.url, "/")), ".git")
	t := &checkout{filepath.Join(tmp, "tree"), name, func() { os.RemoveAll(tmp) }}
	if err := a.fetchTree(ctx, c, t); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

var errNoGit = errors.New("git is missing, without which only public repositories of GitHub can be fetched (opkg install git-http, apk add git-http, apt install git)")

// fetchTree fetches a repository: by git, and what is on GitHub without git too.
func (a *app) fetchTree(ctx context.Context, c *treeCommand, t *checkout) error {
	err := errNoGit
	a.out.Notice("fetching " + shownURL(c.origin.url))
	if onPath(a.env.Getenv("PATH"), "git") {
		err = a.clone(ctx, c.origin.url, t.dir)
	}
	if !errors.Is(err, errNoGit) || c.origin.repo == "" {
		return err
	}
	return a.fetchArchive(ctx, c, t)
}

// clone fetches the present state of a repository and nothing else. Nobody is
// asked for a password, and no hook or filter runs for what is in it.
func (a *app) clone(ctx context.Context, from, to string) error {
	r, err := proc.Run(ctx, proc.Spec{
		Argv: []string{"git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "submodule.recurse=false",
			"clone", "--quiet", "--depth", "1", "--single-branch", "--no-tags", "--no-recurse-submodules", "--template=", "--", from, to},
		Env: gitVars(a.env.Environ), Timeout: cloneTime, Keep: 4 << 10,
	})
	said := strings.TrimSpace(strings.ReplaceAll(r.Head+r.Tail, from, shownURL(from)))
	if user := userPart(from); user != "" {
		said = strings.ReplaceAll(said, user, hidden) // git leaves out parts of an address
	}
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.TimedOut:
		return fmt.Errorf("git clone: not done within %v", cloneTime)
	case strings.Contains(said, "remote-http"): // OpenWRT has git's https in a package of its own
		return fmt.Errorf("%w: %s", errNoGit, chat.EscapeText(said, 300))
	case r.Exit != 0:
		return fmt.Errorf("git clone: %s", chat.EscapeText(said, 600))
	}
	return nil
}

// gitVars is the environment for git: nothing of a repository that this run
// stands in, no key, no question.
func gitVars(environ []string) (vars []string) {
	for _, v := range environ {
		name, _, _ := strings.Cut(v, "=")
		switch {
		case strings.Contains(" GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_TEMPLATE_DIR ", " "+name+" "):
		case strings.HasSuffix(name, "_API_KEY"):
		default:
			vars = append(vars, v)
		}
	}
	for _, v := range [][2]string{
		{"GIT_ALLOW_PROTOCOL", transports}, {"GIT_TERMINAL_PROMPT", "0"}, {"GIT_ASKPASS", "true"}, {"SSH_ASKPASS", "false"},
		{"SSH_ASKPASS_REQUIRE", "never"}, {"GIT_LFS_SKIP_SMUDGE", "1"}, {"LC_ALL", "C"},
	} {
		vars = setVar(vars, v[0], v[1])
	}
	return vars
}

const hidden = "***@"

// shownURL is an address without user, password and query, each of which may be
// a secret. The user git is none, nor is anything in a path on this machine.
func shownURL(address string) string {
	if user := userPart(address); user != "" {
		address = strings.Replace(address, user, hidden, 1)
	}
	if before, _, ok := strings.Cut(address, "?"); ok && strings.Contains(before, ":") {
		address = before + "?***"
	}
	return address
}

// shownSource is shownURL of what was typed, for an error.
func shownSource(src string) string { return chat.EscapeText(shownURL(src), 200) }

// userPart is the user of an address, with password and @, as they stand there;
// of one that is damaged, all that may belong to it.
func userPart(address string) string {
	_, rest, isURL := strings.Cut(address, "://")
	if !isURL {
		rest = address
	}
	u, err := url.Parse(address)
	at := strings.LastIndexByte(rest, '@') + 1
	switch {
	case isURL && err == nil && u.User == nil, rest[:at] == "git@", !isURL && (exists(address) || strings.HasPrefix(address, "/") || strings.HasPrefix(address, ".")):
		return ""
	case isURL && err == nil:
		authority, _, _ := strings.Cut(rest, "/")
		at = strings.LastIndexByte(authority, '@') + 1
	}
	return rest[:at]
}
