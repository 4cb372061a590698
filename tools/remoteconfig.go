package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The configuration of OpenSSH as far as it names hosts: Host, Match (all,
// host, originalhost, user), HostName, User, Port, IdentityFile, ProxyJump,
// HostKeyAlias, UserKnownHostsFile and Include; ssh_config(5) is the reference. The first value found counts. What
// is a program there (ProxyCommand, Match exec) is never run.

const (
	maxSSHConfig = 256 << 10
	maxIncludes  = 16 // files within files
)

// hostConfig is what the configuration says of one host. What the caller gave
// comes first; what nobody says is the default.
type hostConfig struct {
	hostName, user string
	port           int
	identity       []string // nil: the usual ones
	known          []string // nil: the usual one
	alias          string
	jumps          []typed
	command        string // where a ProxyCommand for it stands
	notes          []string

	jumpSet bool // ProxyJump or ProxyCommand: the first of both counts
}

func (e *Env) hostConfig(t typed) (*hostConfig, error) {
	c := &hostConfig{user: t.user, port: t.port}
	if filepath.IsAbs(e.SSH.Config) { // without a home, ~/ is no place
		r := configReader{env: e, typed: t, host: c}
		if err := r.file(e.SSH.Config, true, 0); err != nil {
			return nil, err
		}
	}
	if c.user == "" {
		c.user = defaultUser
	}
	if c.port == 0 {
		c.port = sshPort
	}
	if c.hostName == "" {
		c.hostName = t.host
	}
	for _, files := range [][]string{c.identity, c.known} {
		for i, file := range files {
			files[i] = expandTokens(file, map[byte]string{
				'd': e.Home, 'h': c.hostName, 'n': t.host, 'p': strconv.Itoa(c.port), 'r': c.user,
			})
		}
	}
	c.known = slices.DeleteFunc(c.known, func(file string) bool { return file == os.DevNull || !filepath.IsAbs(file) })
	return c, nil
}

// configReader reads for one host.
type configReader struct {
	env   *Env
	typed typed
	host  *hostConfig
	where string // file and line, for errors
}

// file reads one file. Outside of an active block of the including file
// nothing in it counts.
func (r *configReader) file(path string, outer bool, depth int) error {
	f, fi, err := openConfig(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("SSH configuration: %s: %s", path, errnoText(err))
	}
	defer f.Close()
	if fi.Size() > maxSSHConfig {
		return fmt.Errorf("SSH configuration: %s is larger than %d KiB", path, maxSSHConfig>>10)
	}
	br := bufio.NewReader(&source{ctx: context.Background(), r: io.LimitReader(f, maxSSHConfig)})
	active := outer
	for n := 1; ; n++ {
		line, _, err := readLine(br, maxSSHConfig)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("SSH configuration: %s: %s", path, errnoText(err))
		}
		r.where = path + " line " + strconv.Itoa(n)
		words, err := configWords(string(line))
		if err != nil {
			return r.fault("%s", err)
		}
		if len(words) == 0 {
			continue
		}
		switch key, args := strings.ToLower(words[0]), words[1:]; {
		case key == "host":
			active = outer && matchHosts(args, r.typed.host)
		case key == "match":
			active = outer && r.match(args)
		case key == "include" && active && depth < maxIncludes:
			if err := r.include(args, depth+1); err != nil {
				return err
			}
		case active:
			if err := r.set(key, args); err != nil {
				return err
			}
		}
	}
}

// openConfig opens a file of the person's own, wherever links lead; anything
// that is no regular file is an error and is not waited for.
func openConfig(path string) (*os.File, fs.FileInfo, error) {
	fi, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if err := notRegular(fi, path); err != nil {
		return nil, nil, err
	}
	f, err := os.Open(path)
	return f, fi, err
}

func (r *configReader) fault(format string, args ...any) error {
	return fmt.Errorf("SSH configuration: %s: "+format, append([]any{r.where}, args...)...)
}

func (r *configReader) note(format string, args ...any) {
	r.host.notes = append(r.host.notes, r.where+": "+fmt.Sprintf(format, args...))
}

// include reads the files that match, in the order of their names. A relative
// name stands beside the configuration.
func (r *configReader) include(patterns []string, depth int) error {
	for _, p := range patterns {
		if p = r.path(p); !filepath.IsAbs(p) {
			p = filepath.Join(filepath.Dir(r.env.SSH.Config), p)
		}
		files, err := filepath.Glob(p)
		if err != nil {
			return r.fault("Include: %s", err)
		}
		for _, f := range files {
			if err := r.file(f, true, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// path replaces a leading ~/.
func (r *configReader) path(p string) string {
	if rest, ok := strings.CutPrefix(p, "~/"); ok && r.env.Home != "" {
		return filepath.Join(r.env.Home, rest)
	}
	return p
}

// set takes a value for the host, unless there is one.
func (r *configReader) set(key string, args []string) error {
	switch key {
	case "hostname", "user", "port", "identityfile", "proxyjump", "hostkeyalias":
		if len(args) != 1 || args[0] == "" {
			return r.fault("%s takes one value", key)
		}
	case "proxycommand", "userknownhostsfile":
		if len(args) == 0 {
			return r.fault("%s has no value", key)
		}
	default:
		return nil
	}
	h, arg := r.host, args[0]
	switch {
	case key == "hostname" && h.hostName == "":
		h.hostName = expandTokens(arg, map[byte]string{'h': r.typed.host})
	case key == "user" && h.user == "":
		h.user = arg
		return r.faultIf(checkWord("user", arg))
	case key == "port" && h.port == 0:
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 || n > 65535 {
			return r.fault("the port must be 1 to 65535")
		}
		h.port = n
	case key == "identityfile":
		if h.identity == nil {
			h.identity = []string{}
		}
		if !strings.EqualFold(arg, "none") {
			h.identity = append(h.identity, r.path(arg))
		}
	case key == "hostkeyalias" && h.alias == "":
		h.alias = strings.ToLower(arg)
		return r.faultIf(checkWord("alias", arg))
	case key == "userknownhostsfile" && h.known == nil:
		h.known = []string{}
		for _, file := range args {
			h.known = append(h.known, r.path(file))
		}
	case key == "proxycommand" && !h.jumpSet:
		h.jumpSet = true
		if !strings.EqualFold(arg, "none") {
			h.command = r.where
		}
	case key == "proxyjump" && !h.jumpSet:
		h.jumpSet = true
		return r.faultIf(r.setJumps(arg))
	}
	return nil
}

func (r *configReader) setJumps(arg string) error {
	if strings.EqualFold(arg, "none") {
		return nil
	}
	for _, j := range strings.Split(arg, ",") {
		t, err := parseHost(expandTokens(strings.TrimSpace(j), map[byte]string{'h': r.typed.host, 'n': r.typed.host}))
		if err != nil {
			return err
		}
		r.host.jumps = append(r.host.jumps, t)
	}
	return nil
}

func (r *configReader) faultIf(err error) error {
	if err != nil {
		return r.fault("%s", err)
	}
	return nil
}

// match judges the conditions of a Match line. One that this program cannot
// judge, or that would have to be run, does not hold; that is told where it
// alone decided.
func (r *configReader) match(args []string) bool {
	for i := 0; i < len(args); i++ {
		word := strings.ToLower(args[i])
		if word == "all" && len(args) == 1 {
			return true
		}
		name, not := strings.CutPrefix(word, "!")
		var subject string
		switch name {
		case "host":
			if subject = r.host.hostName; subject == "" {
				subject = r.typed.host
			}
		case "originalhost":
			subject = r.typed.host
		case "user":
			if subject = r.host.user; subject == "" {
				subject = defaultUser
			}
		case "exec":
			r.note("Match exec is a program and is not run; its block does not count")
			return false
		default:
			r.note("Match %s is not known here; its block does not count", name)
			return false
		}
		i++
		if i == len(args) || matchHosts(strings.Split(args[i], ","), subject) == not {
			return false
		}
	}
	return len(args) > 0
}

// configWords splits a line: a keyword, which an equals sign may follow, and
// its arguments, which may be quoted. Nothing is left of a comment.
func configWords(line string) (words []string, err error) {
	const blanks = " \t\r\f"
	rest := strings.TrimLeft(line, blanks)
	for rest != "" && rest[0] != '#' {
		end := blanks
		if words == nil {
			end += "="
		}
		var word string
		if word, rest, err = configWord(rest, end); err != nil {
			return nil, err
		}
		rest = strings.TrimLeft(rest, blanks)
		if words == nil {
			rest = strings.TrimLeft(strings.TrimPrefix(rest, "="), blanks)
		}
		words = append(words, word)
	}
	return words, nil
}

// configWord takes the first word of s, which ends at one of the characters of
// end outside of quotes.
func configWord(s, end string) (word, rest string, err error) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		case !quoted && strings.IndexByte(end, c) >= 0:
			return b.String(), s[i:], nil
		default:
			b.WriteByte(c)
		}
	}
	if quoted {
		return "", "", errors.New("a quote is not closed")
	}
	return b.String(), "", nil
}

// expandTokens replaces the percent signs that have a meaning here.
func expandTokens(s string, tokens map[byte]string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+1 < len(s) {
			if s[i+1] == '%' {
				b.WriteByte('%')
				i++
				continue
			}
			if value, ok := tokens[s[i+1]]; ok {
				b.WriteString(value)
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// matchHosts says whether one of the patterns fits and none behind a ! does.
func matchHosts(patterns []string, host string) bool {
	host = strings.ToLower(host)
	found := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(strings.ToLower(p), "!")
		if !matchHost(p, host) {
			continue
		}
		if not {
			return false
		}
		found = true
	}
	return found
}

// matchHost fits a name to a pattern in which * is any run of characters and ?
// any one. It takes at most len(pattern) times len(name) steps.
func matchHost(pattern, name string) bool {
	p, n := 0, 0
	star, resume := -1, 0 // behind the last *, and where its run ends
	for n < len(name) || p < len(pattern) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			p++
			star, resume = p, n
		case p < len(pattern) && n < len(name) && (pattern[p] == '?' || pattern[p] == name[n]):
			p, n = p+1, n+1
		case star < 0 || resume >= len(name):
			return false
		default:
			resume++
			p, n = star, resume
		}
	}
	return true
}
