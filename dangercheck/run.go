package dangercheck

import "strings"

// fact is what is known of the text that flows through a pipe or that a
// command writes. Output that is not followed is an unknown mark in text.
type fact struct {
	text string
	from *origin
	fed  bool // something is connected
}

// origin is what is known of text that is not told itself. Nil is nothing.
type origin struct {
	download bool   // some of it comes from the network
	state    bool   // it names files that decide what cluade may do
	tree     string // it names what lies in this system directory
	process  string // it holds the number of the process of this name; "*" for a list of all
}

func (o *origin) isDownload() bool { return o != nil && o.download }

// and returns what is known of two texts together.
func (o *origin) and(p *origin) *origin {
	switch {
	case o == nil:
		return p
	case p == nil || o == p:
		return o
	}
	both := *o
	both.download = o.download || p.download
	both.state = o.state || p.state
	if both.tree == "" {
		both.tree = p.tree
	}
	if both.process == "" {
		both.process = p.process
	}
	return &both
}

// opaque is what a command writes that is not followed. What is known of its
// input holds for its output as well.
func opaque(in fact) fact { return fact{text: unknown, from: in.from} }

// outputs collects what commands write one after the other.
type outputs struct {
	fact
	buf []byte
}

func (o *outputs) add(c *checker, f fact) {
	again := f.text == unknown && len(o.buf) > 0 && o.buf[len(o.buf)-1] == markUnknown
	if !again && c.spend(len(f.text)) {
		if len(o.buf)+len(f.text) > maxText {
			c.cut = true
		} else {
			o.buf = append(o.buf, f.text...)
		}
	}
	o.from = o.from.and(f.from)
}

func (o *outputs) all() fact {
	if len(o.buf) == 1 && o.buf[0] == markUnknown {
		o.text = unknown
	} else {
		o.text = string(o.buf)
	}
	return o.fact
}

// list judges pipelines in order and returns what they write.
func (c *checker) list(l *list, s *scope, in fact) fact {
	if l.foreign && !c.fixed {
		c.fixed = true
		defer func() { c.fixed = false }()
	}
	if len(l.items) == 1 && l.items[0].op != "&" {
		return c.pipeline(l.items[0].pipe, s, in)
	}
	var out outputs
	for i := range l.items {
		it := &l.items[i]
		sc := s
		if it.op == "&" {
			sc = s.fork()
		}
		out.add(c, c.pipeline(it.pipe, sc, in))
	}
	return out.all()
}

func (c *checker) pipeline(cmds []*command, s *scope, in fact) fact {
	if len(cmds) == 1 {
		return c.command(cmds[0], s, in)
	}
	f := in
	for i, cmd := range cmds {
		f = c.command(cmd, s.fork(), f)
		f.fed = i < len(cmds)-1
	}
	return f
}

func (c *checker) command(cmd *command, s *scope, in fact) fact {
	if !c.spend(commandCost) {
		return fact{}
	}
	if !c.fixed {
		c.start, c.end = cmd.pos, cmd.end
	}
	if !in.fed {
		in = s.in
	}
	outer := s.in
	s.in = in
	var out fact
	switch cmd.kind {
	case simple:
		out = c.simple(cmd, s, in)
		if cmd.opens() {
			return out
		}
	case function:
		c.define(cmd, s)
	default:
		out = c.compound(cmd, s, in)
	}
	s.in = outer
	return out
}

func (c *checker) compound(cmd *command, s *scope, in fact) fact {
	in, to := c.redirects(cmd.redirs, s, in)
	s.in = in
	switch cmd.kind {
	case subshell:
		s = s.fork()
	case forLoop:
		return to.pass(c, c.loop(cmd, s, in), s)
	case whileLoop:
		return to.pass(c, c.whileLoop(cmd, s, in), s)
	}
	c.expandAll(cmd.words, s)
	return to.pass(c, c.lists(cmd.body, s, in), s)
}

// lists judges the lists of a compound command, whichever would run.
func (c *checker) lists(ls []*list, s *scope, in fact) fact {
	var out outputs
	for _, l := range ls {
		out.add(c, c.list(l, s, in))
	}
	return out.all()
}

// maxRounds is how often the body of a loop is looked at.
const maxRounds = 64

// loop judges the body of a for loop once for each value of its variable.
func (c *checker) loop(cmd *command, s *scope, in fact) fact {
	vals := c.expandAll(cmd.words, s)
	if len(vals) == 0 {
		vals = []value{{s: unknown}}
	}
	var out outputs
	c.limit(cmd.name)
	for _, v := range vals[:min(len(vals), maxRounds)] {
		s.set(cmd.name, v)
		out.add(c, c.lists(cmd.body, s, in))
	}
	return out.all()
}

// opens reports whether a command is exec with redirections alone, which hold
// for the commands behind it.
func (cmd *command) opens() bool { return len(cmd.words) == 1 && cmd.words[0].bare() == "exec" }

// reads reports whether a while loop takes one line of its input a round.
func (cmd *command) reads() bool {
	if len(cmd.body) == 0 || len(cmd.body[0].items) == 0 {
		return false
	}
	first := cmd.body[0].items[0].pipe[0]
	return first.kind == simple && len(first.words) > 0 && first.words[0].bare() == "read"
}

// whileLoop judges a loop once, and again for each line that it reads and each
// parameter that it shifts away.
func (c *checker) whileLoop(cmd *command, s *scope, in fact) fact {
	var out outputs
	reads := cmd.reads()
	for range maxRounds {
		args := len(s.args)
		out.add(c, c.lists(cmd.body, s, in))
		_, rest, ok := strings.Cut(in.text, "\n")
		switch {
		case reads && ok && rest != "":
			in.text = rest
		case len(s.args) == args || len(s.args) < 2:
			return out.all()
		}
	}
	return out.all()
}

// define keeps a function for its calls and judges its body once, as if called
// with arguments that are not told.
func (c *checker) define(cmd *command, s *scope) {
	t := s.fork()
	t.args, t.argsKnown = nil, false
	c.lists(cmd.body, t, fact{})
	if c.funcs == nil {
		c.funcs = make(map[string]*definition)
	}
	c.funcs[cmd.name] = &definition{body: cmd.body, bomb: bombs(cmd)}
}

func (c *checker) simple(cmd *command, s *scope, in fact) fact {
	args := c.expandAll(cmd.words, s)
	in, to := c.redirects(cmd.redirs, s, in)
	if cmd.opens() {
		s.in = in
	}
	before := s.fork()
	for i := range cmd.assigns {
		c.assign(&cmd.assigns[i], s)
	}
	if len(args) == 0 {
		return fact{}
	}
	c.ownState(args, s)
	out := c.run(args, s, in)
	for i := range args {
		c.into(args[i].file, s, fact{text: out.text, from: out.from.and(in.from)})
	}
	for i := range cmd.assigns { // they held for this command alone
		if declares(args[0].s) {
			break
		}
		name := cmd.assigns[i].name
		if old := before.lookup(name); old != nil {
			s.set(name, old...)
		} else {
			s.set(name, value{s: unknown})
		}
	}
	return to.pass(c, out, s)
}

func (c *checker) assign(a *assign, s *scope) {
	if a.name == "" { // an element of an array
		c.limit(a.value.parts[0].text)
	}
	var vals []value
	if a.array != nil {
		vals = c.expandAll(a.array, s)
	} else {
		v := c.one(&a.value, s)
		v.s = plain(v.s)
		vals = []value{v}
	}
	if a.added {
		old := s.lookup(a.name)
		switch {
		case a.array != nil:
			vals = append(old[:len(old):len(old)], vals...)
		case len(old) == 1 && c.spend(len(old[0].s)) && len(old[0].s)+len(vals[0].s) <= maxText:
			vals[0].s = old[0].s + vals[0].s
		default:
			vals = []value{{s: unknown}}
		}
	}
	c.sets(a.name, vals, s)
}

// started are variables whose value is a command that programs start.
const started = "PROMPT_COMMAND PAGER MANPAGER GIT_PAGER EDITOR VISUAL GIT_EDITOR GIT_SSH_COMMAND"

// sets judges what a variable is set to, and sets it.
func (c *checker) sets(name string, vals []value, s *scope) {
	c.limit(name)
	if hasWord(started, name) {
		c.inner(texts(vals), s.fork(), fact{})
	}
	s.set(name, vals...)
}

// into judges the commands of >(...), if that is the file, with what is written
// to it.
func (c *checker) into(f *file, s *scope, in fact) {
	if f != nil && f.into != nil {
		in.fed = true
		c.list(f.into, s.fork(), in)
	}
}

// plumbing says where standard output goes.
type plumbing struct {
	closed bool // not to the next command
	sysrq  bool // to the kernel's trigger
	file   *file
}

// pass returns what reaches the next command.
func (p plumbing) pass(c *checker, out fact, s *scope) fact {
	if p.sysrq && sysrqStops(out.text) {
		c.report(Power, "stops the box")
	}
	c.into(p.file, s, out)
	if p.closed {
		return fact{}
	}
	return out
}

// redirects judges where output goes and returns what standard input carries.
func (c *checker) redirects(rs []redir, s *scope, in fact) (fact, plumbing) {
	var to plumbing
	for i := range rs {
		r := &rs[i]
		if !c.spend(valueCost) {
			break
		}
		c.limit(strings.Trim(r.fd, "{}"))
		if r.op[0] == '<' && r.op != "<>" {
			f := c.input(r, s)
			if r.fd == "" || r.fd == "0" {
				in = f
			} else {
				s.set(descriptorOf+r.fd, value{s: f.text, from: f.from})
			}
			continue
		}
		v := c.one(&r.target, s)
		onto := v.s
		v.s = plain(v.s)
		if r.op == ">&" && strings.Trim(v.s, "0123456789-") == "" { // a descriptor
			continue
		}
		c.written(onto, s, r.op) // some shells take it for a pattern
		if v.from != nil && v.from.state {
			c.report(OwnState, "changes what decides what cluade may do")
		}
		if (r.fd == "" || r.fd == "1") && v.s != "/dev/stdout" && v.s != "/dev/fd/1" {
			to = plumbing{closed: true, sysrq: s.join(v.s) == sysrqFile, file: v.file}
		}
	}
	return in, to
}

// descriptorOf begins the name under which the scope holds what is read from a
// descriptor; that of a variable never does.
const descriptorOf = "descriptor "

// input returns what a redirection reads.
func (c *checker) input(r *redir, s *scope) fact {
	if r.body != nil {
		return sourceOf(c.one(r.body, s))
	}
	v := c.one(&r.target, s)
	v.s = plain(v.s)
	name := v.s
	switch {
	case r.op == "<<<":
		v.s += "\n"
		return sourceOf(v)
	case r.op == "<&":
		name = "/dev/fd/" + strings.TrimSuffix(name, "-")
	case name == "/dev/null":
		return fact{}
	case v.file != nil:
		v.file.fed = true
		return v.file.fact
	}
	if f, told := s.descriptor(name); told {
		return f
	}
	c.authority(name, s)
	return fact{text: unknown, fed: true}
}

// descriptor returns what is read from the descriptor that a path stands for.
func (s *scope) descriptor(path string) (f fact, told bool) {
	fd := base(path)
	v := s.lookup(descriptorOf + fd)
	if len(v) == 0 || !strings.HasSuffix(path[:len(path)-len(fd)], "/fd/") {
		return f, false
	}
	return sourceOf(v[0]), true
}

// sourceOf is a value as standard input.
func sourceOf(v value) fact { return fact{text: v.s, from: v.from, fed: true} }

// inner judges a text that a shell would run.
func (c *checker) inner(text string, s *scope, in fact) fact {
	if !c.enter() {
		return fact{}
	}
	defer c.leave()
	if len(text) > maxText || !c.spend(4*len(text)) {
		c.cut = true
		return fact{}
	}
	return c.text(plain(strings.ReplaceAll(text, "\x00", "")), true, s, in)
}

// apart judges a text that a shell of its own would run, without input.
func (k *call) apart(text string) {
	t := k.s.fork()
	t.in = fact{}
	k.c.inner(text, t, fact{})
}

// text judges a text in each of its readings; what it does to the scope and
// what it writes is taken from bash's.
func (c *checker) text(src string, foreign bool, s *scope, in fact) (out fact) {
	before := s.fork()
	for n, form := range forms(src) {
		if n > 0 && !c.fixed {
			c.start, c.end = 0, len(src) // its places are others
		}
		outer := c.joined
		c.joined = outer || n > 0
		ls, cut := readings(form, foreign || n > 0, c.seen != nil)
		c.cut = c.cut || cut
		if n == 0 {
			out = c.list(ls[0], s, in)
			ls = ls[1:]
		}
		for _, l := range ls {
			c.list(l, before.fork(), in)
		}
		c.joined = outer
	}
	return out
}
