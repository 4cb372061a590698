package dangercheck

import "strings"

// call is one command about to run: a program's base name, its arguments and
// what it would read.
type call struct {
	c     *checker
	s     *scope
	path  string   // the program as it was typed
	name  string   // its base name
	args  []value  // without the program
	words []string // their texts
	in    fact
	what  string // what a rule found, for the reason
}

func newCall(c *checker, s *scope, args []value, in fact) *call {
	path := args[0].text()
	words := make([]string, len(args)-1)
	for i := range words {
		words[i] = args[i+1].text()
	}
	return &call{c: c, s: s, path: path, name: base(path), args: args[1:], words: words, in: in}
}

// run judges a command and everything it runs, and returns what it writes.
func (c *checker) run(args []value, s *scope, in fact) fact {
	if !c.enter() {
		return fact{}
	}
	defer c.leave()
	for len(args) > 0 {
		if !c.meets(args, s, in) {
			return fact{}
		}
		if args[0].unknown() {
			if args[0].downloaded() {
				c.report(DownloadExec, "a download is run as a command")
			}
			return opaque(in)
		}
		if f := c.funcs[args[0].text()]; f != nil {
			return c.callFunction(f, args, s, in)
		}
		k := newCall(c, s, args, in)
		k.inherits()
		k.putsState()
		k.carries()
		s = k.s
		if s.initDir(k.path) { // not the program that has the service's name
			k.judge()
			return k.output()
		}
		p, ok := k.peel()
		switch {
		case !ok:
			if f, done := k.builtin(); done {
				return f
			}
			k.judge()
			return k.output()
		case p.shell:
			return k.fedToShell(s.fork())
		case p.isText:
			return c.inner(p.text, s.call(value{}, p.args), in)
		}
		if p.dir != "" {
			s = s.fork()
			s.cd(p.dir)
		}
		args = p.args
	}
	return fact{}
}

// meets takes the words of a command before its program is known. It reports
// whether there is work left for it.
func (c *checker) meets(args []value, s *scope, in fact) bool {
	size := 0
	for i := range args {
		size += len(args[i].s) + 1
	}
	if !c.spend(size) {
		return false
	}
	if c.seen != nil {
		c.seen(args)
	}
	name := args[0].text()
	c.cut = c.cut || strings.Trim(name, "[") != "" && !args[0].varies && strings.ContainsAny(args[0].s, patterns)
	if c.aliased {
		c.alias(name, args[1:], s, in)
	}
	return true
}

// definition is a function of the text. bomb says that it starts itself at
// least twice, in the background.
type definition struct {
	body   []*list
	bomb   bool
	within int // calls that have not returned
}

func (c *checker) callFunction(f *definition, args []value, s *scope, in fact) fact {
	if f.bomb {
		c.report(ForkBomb, "function "+args[0].text()+" starts itself without end")
		return fact{}
	}
	again := min(f.within, 1)
	c.again += again
	f.within++
	t := s.call(args[0], args[1:])
	out := c.lists(f.body, t, in)
	f.within--
	c.again -= again
	t.args, t.argsKnown, t.in = s.args, s.argsKnown, s.in // what else it changed, stays
	*s = *t
	return out
}

// alias judges what a name stands for since it was made an alias. Shells differ
// on whether it does, so the command of that name is judged as well.
func (c *checker) alias(name string, args []value, s *scope, in fact) {
	vals := s.lookup(aliasOf + name)
	if len(vals) == 0 || vals[0].s == "" {
		return
	}
	t := s.fork()
	t.set(aliasOf+name, value{}) // within itself it is a plain name
	c.inner(vals[0].s+" "+texts(args), t, in)
}

func (k *call) makeAliases() {
	for i, a := range k.args {
		if name, text, ok := strings.Cut(k.words[i], "="); ok {
			a.s = text
			k.s.set(aliasOf+name, a)
			k.c.aliased = true
		}
	}
}

// aliasOf begins the name under which the scope holds an alias; that of a
// variable never does.
const aliasOf = "alias "

func bombs(f *command) bool {
	calls, background := 0, false
	var walk func(l *list)
	walk = func(l *list) {
		for i := range l.items {
			it := &l.items[i]
			background = background || it.op == "&"
			for _, cmd := range it.pipe {
				if cmd.kind == simple && len(cmd.words) > 0 && cmd.words[0].bare() == f.name {
					calls++
				}
				if cmd.kind != function {
					for _, b := range cmd.body {
						walk(b)
					}
				}
			}
		}
	}
	for _, l := range f.body {
		walk(l)
	}
	return calls >= 2 && background
}

// builtin takes the commands that change what the shell knows or that run what
// they are given. done says that nothing else is to be judged.
func (k *call) builtin() (out fact, done bool) {
	if isShell(k.name) {
		return k.shell(), true
	}
	if isInterpreter(k.name) {
		k.interpreter()
	}
	switch k.name {
	case "eval":
		return k.eval(), true
	case ".", "source":
		return k.source(), true
	case "su", "runuser", "sg":
		return k.su(), true
	case "ssh", "dbclient", "mosh", "plink":
		return k.ssh(), true
	case "tmux":
		return fact{}, k.tmux()
	case "trap":
		if i := k.afterOptions(0, ""); i < len(k.args)-1 {
			k.apart(k.args[i].s)
		}
	case "at", "batch":
		k.apart(k.in.text)
	case "xargs":
		return k.xargs(), true
	case "parallel", "sem":
		return k.parallel(), true
	case "find":
		return k.find(), true
	case "cd", "pushd", "chdir":
		k.cd()
	case "popd":
		k.s.cd(unknown)
	case "set":
		k.setArgs()
	case "shift":
		if a := k.s.args; len(a) > 1 {
			k.s.args = append([]value{a[0]}, a[2:]...)
		}
	case "read":
		k.read()
	case "unset":
		for _, name := range k.words {
			k.c.limit(name)
			k.s.set(name, value{})
		}
	case "alias":
		k.makeAliases()
	default:
		if hasWord(bundlers, k.name) {
			k.bundled()
		}
		if !declares(k.name) {
			return fact{}, false
		}
		for i := range k.args {
			k.declare(k.args[i])
		}
	}
	return fact{}, true
}

// maxDir is the longest directory that is followed.
const maxDir = 512

// cd changes to a directory.
func (s *scope) cd(dir string) {
	s.moved = true
	if strings.IndexByte(dir, markUnknown) >= 0 || dir == "-" || dir == "" {
		s.dir, s.lost = "", true
		return
	}
	s.dir = s.join(dir)
	s.lost = s.lost && !rooted(s.dir)
	if len(s.dir) > maxDir {
		s.dir, s.lost = "", true
	}
}

func (k *call) cd() {
	dir := home
	for i := range k.args {
		dir = k.args[i].s
		if len(dir) < 2 || dir[0] != '-' { // what stands before are options
			break
		}
	}
	k.s.cd(dir)
}

// declares reports whether a builtin sets what its arguments name.
func declares(name string) bool {
	return hasWord("export readonly local declare typeset", name)
}

// declare takes NAME=value as an argument.
func (k *call) declare(a value) {
	if isAssignment(a.s) {
		name, val, _ := strings.Cut(a.s, "=")
		a.s = val
		k.c.sets(name, []value{a}, k.s)
	}
}

// setArgs takes the parameters that set gives the shell.
func (k *call) setArgs() {
	i := k.afterOptions(0, "o")
	if i < len(k.args) || i > 0 && k.args[i-1].s == "--" {
		k.s.args = append([]value{{s: "sh"}}, k.args[i:]...)
		k.s.argsKnown = true
	}
}

// read sets variables from the first line of standard input: one takes all of
// it, of several each takes a word.
func (k *call) read() {
	names := k.operands("adinNptu")
	if f, told := k.s.descriptor("/dev/fd/" + k.valueOf("u", "")); told {
		k.in = f
	}
	rest, _, _ := strings.Cut(k.in.text, "\n")
	for i, n := range names {
		v := value{s: strings.TrimSpace(rest), from: k.in.from}
		if i < len(names)-1 {
			v.s, rest, _ = strings.Cut(v.s, " ")
		}
		if !k.in.fed {
			v.s = unknown
		}
		k.s.set(n, v)
	}
}
