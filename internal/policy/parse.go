package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"path"
	"strconv"
	"strings"

	"cluade/internal/hostname"
)

// ParseRule reads Tool or Tool(specifier). Tool names are ours or Claude
// Code's, in any case, and may hold *. A rule that could never cover anything
// is an error too: the refusal that it was meant for would be lost without a
// word. The error says what to write.
func ParseRule(text, source string) (Rule, error) {
	r := Rule{Text: strings.TrimSpace(text), Source: source}
	if err := r.parse(); err != nil {
		return Rule{}, fmt.Errorf("rule %.60q: %w", r.Text, err)
	}
	return r, nil
}

func (r *Rule) parse() error {
	name, spec, has := strings.Cut(r.Text, "(")
	name = strings.TrimSpace(name)
	if err := r.setTool(name); err != nil {
		return err
	}
	if has {
		end := strings.LastIndexByte(spec, ')')
		switch {
		case end < 0:
			return errors.New("its parenthesis is not closed")
		case holdsRule(spec):
			return errTwo
		case end < len(spec)-1:
			return fmt.Errorf("%.40q stands behind its closing parenthesis", spec[end+1:])
		}
		if r.spec = strings.TrimSpace(spec[:end]); r.spec == "" {
			return fmt.Errorf("nothing stands between the parentheses; write %s for every call", name)
		}
	}
	switch {
	case r.spec != "":
		return r.setSpec()
	case r.tool == pathTool:
		return errors.New("which one? Write path(PATTERN)")
	}
	return nil
}

var errTwo = errors.New("it holds more than one rule; write each as a text of its own")

// holdsRule reports whether another rule begins behind a parenthesis.
func holdsRule(spec string) bool {
	for i := range len(spec) {
		if spec[i] != ')' {
			continue
		}
		name, _, more := strings.Cut(strings.TrimLeft(spec[i+1:], " ,;"), "(")
		if _, ok := ToolName(strings.TrimSpace(name)); more && (ok || strings.EqualFold(name, pathTool)) {
			return true
		}
	}
	return false
}

// setTool reads the name of a rule.
func (r *Rule) setTool(name string) error {
	tool, ok := ToolName(name)
	const separators = " \t,;:|"
	switch i := strings.IndexAny(name, separators); {
	case i >= 0:
		first, rest := name[:i], strings.Trim(name[i:], separators)
		_, known := ToolName(first)
		if _, two := ToolName(strings.Fields(rest + " .")[0]); two || name[i] == ',' || name[i] == ';' {
			return errTwo
		}
		if known && rest != "" {
			return fmt.Errorf("write %s(%s)", first, rest)
		}
	case strings.Contains(name, "*"):
		if r.tool = strings.ToLower(name); mayMatch(r.tool) {
			return nil
		}
	case strings.HasPrefix(name, "mcp__"):
		if server, part, _ := strings.Cut(name[len("mcp__"):], "__"); server == "" || part == "" {
			return fmt.Errorf("it names no tool of the server; write %s__* for all of them", strings.TrimRight(name, "_"))
		}
		fallthrough
	case ok:
		r.tool = tool
		return nil
	case strings.EqualFold(name, pathTool):
		r.tool = pathTool
		return nil
	}
	return errors.New("it names no tool; the tools are bash, read, write, edit, glob, grep, path (all that touch files), " +
		"remote_bash, web_fetch, web_search, skill, subagent, job, compact and mcp__SERVER__TOOL")
}

// mayMatch reports whether a pattern of names, in lower case, is one of tools
// that there are or that another program may have.
func mayMatch(pattern string) bool {
	for tool := range Defaults() {
		if wild(pattern, tool) {
			return true
		}
	}
	begin, _, _ := strings.Cut(pattern, "*")
	return strings.HasPrefix("mcp__", begin) || strings.HasPrefix(begin, "mcp__")
}

// ToolName is our name of a tool that may be written as ours or as Claude
// Code's, in any case. Tools of other programs begin with mcp__ and keep their
// name.
func ToolName(s string) (name string, ok bool) {
	if strings.HasPrefix(s, "mcp__") {
		return s, true
	}
	switch low := strings.ToLower(s); low {
	case "read", "write", "edit", "bash", "glob", "grep", "web_search", "web_fetch", "remote_bash", "compact", "skill", "subagent", "job":
		return low, true
	case "multiedit":
		return "edit", true
	case "websearch":
		return "web_search", true
	case "webfetch":
		return "web_fetch", true
	case "task", "agent":
		return "subagent", true
	}
	return "", false
}

// setSpec checks what stands between the parentheses, which is not empty.
func (r *Rule) setSpec() (err error) {
	switch r.tool {
	case "bash":
		err = commandFault(r.spec)
	case remoteTool:
		err = remoteFault(r.spec)
	case "web_fetch":
		name, ok := strings.CutPrefix(r.spec, "domain:")
		if !ok {
			return errors.New("write web_fetch(domain:HOST)")
		}
		r.spec, err = hostPattern(strings.Trim(strings.TrimSpace(name), "[]"))
	case "skill":
	case "read", "write", "edit", "glob", "grep", pathTool:
		err = pathFault(r.spec)
	default:
		err = fmt.Errorf("nothing can be said of its calls; write %s for all of them", r.tool)
	}
	if r.spec == "*" {
		r.spec = ""
	}
	return err
}

// commandFault says why a pattern can be no command. Commands are compared word
// by word without their quotes, so the first word is a program's name.
func commandFault(spec string) error {
	program, rest, _ := strings.Cut(strings.Join(strings.Fields(spec), " "), " ")
	bare := strings.TrimRight(program, ":*")
	switch {
	case program == ":*":
		return errors.New("write * for every command")
	case bare != "" && (strings.HasSuffix(program, ":") || strings.HasSuffix(program, ":*") && rest != ""):
		return fmt.Errorf("no program is called %s; write %s *", program, bare)
	case strings.ContainsRune(`"'`, rune(program[0])):
		return errors.New("write the command without quotes")
	case len(program) > 1 && strings.ContainsRune("!^", rune(program[0])):
		return fmt.Errorf("%c means nothing in front of a command; there are only the lists deny, ask and allow", program[0])
	case strings.Contains(program, "|"), strings.Contains(program, "{") && strings.Contains(program, ","):
		return errors.New("alternatives are not read; write a rule for each")
	}
	return nil
}

// remoteFault says why a specifier of remote_bash is no host with or without a
// command.
func remoteFault(spec string) error {
	_, command, has := splitHostRule(spec)
	user, host, port := hostParts(spec)
	number, err := strconv.Atoi(port)
	switch {
	case strings.Contains(port, "*"), err == nil && number > 0 && number < 1<<16:
	default:
		return fmt.Errorf("%q is no port; a host, and behind a colon and a blank a command: remote_bash(HOST: COMMAND)", port)
	}
	if user == "" || strings.ContainsAny(user, " \"'{},$/:") {
		return fmt.Errorf("%q is no user", user)
	}
	if _, err := hostPattern(strings.Trim(host, "[]")); err != nil {
		return fmt.Errorf("%w; a host, and behind a colon and a blank a command: remote_bash(HOST: COMMAND)", err)
	}
	if command = strings.TrimSpace(command); has && command != "*" {
		return commandFault(command)
	}
	return nil
}

// hostPattern is a host as it is dialled, in which * is any text. An asterisk
// cannot stand in a name that is encoded for that.
func hostPattern(name string) (string, error) {
	host, err := hostname.Canonical(strings.TrimSuffix(name, "."))
	if strings.Contains(name, "/") {
		return "", fmt.Errorf("%.80q is no host; several are written as 10.0.0.* or *.lan", name)
	}
	if err != nil {
		return "", err
	}
	_, wrong := netip.ParseAddr(host)
	if before, rest, ok := strings.Cut(host, ":"); ok && wrong != nil && (strings.Trim(before, "0123456789abcdef*") != "" || !strings.Contains(rest, "*")) {
		return "", fmt.Errorf("%q is more than a host", name)
	}
	if wrong != nil && strings.Trim(host, "0123456789.") == "" {
		return "", fmt.Errorf("%q is no address; several are written as 10.0.0.*", name)
	}
	for _, label := range strings.Split(host, ".") {
		switch {
		case strings.HasPrefix(label, "xn--") && strings.Contains(label, "*"):
			return "", fmt.Errorf("%q has an asterisk within a part that is not ASCII", name)
		case label == "", strings.ContainsAny(label, ",;|{}$'"):
			return "", fmt.Errorf("%q is no name of a host", name)
		}
	}
	return host, nil
}

// pathFault says why a pattern can be no path. What a shell would read, or
// .gitignore would, is no part of a name unless a \ stands before it.
func pathFault(spec string) error {
	for _, e := range split(spec) {
		if _, err := path.Match(class(e), ""); err != nil || strings.Contains(e, "[[:") {
			return errors.New("a bracket is not closed, or a class is empty or one like [:alpha:]; \\ before a character takes it as it is")
		}
	}
	if strings.Contains(spec, "://") {
		return errors.New("write the path alone, without what stands before ://")
	}
	bad, in := byte(0), false
	for i := 0; i < len(spec) && bad == 0; i++ {
		switch c := spec[i]; {
		case c == '\\':
			i++
		case in:
			in = c != ']'
		case c == '[':
			in = true
		case strings.IndexByte(`"{}$`, c) >= 0,
			c == '!' && i == 0,
			c == '~' && i == 0 && len(spec) > 1 && spec[1] != '/',
			c == '\'' && (i == 0 || spec[i-1] == '/'):
			bad = c
		}
	}
	if bad == 0 {
		return nil
	}
	return fmt.Errorf("a path has no quotes, variables, alternatives in braces or !, and no home but ~/: write it out, one rule for each, and \\%c where a name has %[1]c", bad)
}

// literal is a directory as a pattern that only its own name matches.
func literal(dir string) string {
	const special = `*?[]\"'{}$!~`
	if !strings.ContainsAny(dir, special) {
		return dir
	}
	var b strings.Builder
	for i := range len(dir) {
		if strings.IndexByte(special, dir[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(dir[i])
	}
	return b.String()
}
