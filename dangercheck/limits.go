package dangercheck

import "strings"

// limits are the variables by which a run of cluade tells the runs that it
// starts what they may do.
const limits = "CLUADE_DEPTH CLUADE_PARENT"

// limitStem is what both begin with.
const limitStem = "CLUADE_"

// limit reports a change of what a run that is started here may do, by the
// variable, with an index or a value behind it or none.
func (c *checker) limit(variable string) {
	if !strings.HasPrefix(variable, limitStem) {
		return
	}
	if i := strings.IndexAny(variable, "=[+"+patterns); i >= 0 {
		variable = variable[:i]
	}
	if hasWord(limits, variable) {
		c.report(OwnState, "changes "+variable+", which limits what a cluade that is started here may do")
	}
}

// nameless is what ${!...} and arithmetic stand for: a limit, where names are
// asked for by what they begin with.
func (c *checker) nameless(text string) []value {
	stem := strings.TrimRight(text, "*@")
	if stem != text && strings.HasPrefix(limitStem, stem) {
		return []value{{s: "CLUADE_DEPTH"}}
	}
	c.arithmetic(text)
	return []value{{s: unknown}}
}

// assigners are the operators behind a variable that change it, changers those
// that may also stand before it.
const (
	assigners = "= += -= *= /= %= &= ^= |= <<= >>= " + changers
	changers  = "++ --"
)

// arithmetic judges an expression by what it assigns to.
func (c *checker) arithmetic(text string) {
	for c.spend(len(text)) {
		i := strings.Index(text, limitStem)
		if i < 0 {
			return
		}
		before := strings.TrimRight(text[:i], " \t\n")
		name := text[i:]
		text = strings.TrimLeft(name[len(limitStem):], "DEPTHARN")
		name = name[:len(name)-len(text)]
		next := strings.TrimLeft(text, " \t\n")
		set := hasWord(changers, before[max(0, len(before)-2):])
		for n := 1; n <= min(3, len(next)); n++ {
			set = set || hasWord(assigners, next[:n]) && (n > 1 || !strings.HasPrefix(next, "=="))
		}
		if set {
			c.limit(name)
		}
	}
}

// setsLimits judges builtins that are given the name of a variable.
func (k *call) setsLimits() {
	for i, w := range k.words {
		at := strings.Index(w, limitStem)
		if at < 0 {
			continue
		}
		option, name := w[:at], w[at:] // what stands before it in the same word, else the word before
		if option == "" {
			option = k.words[max(0, i-1)]
		}
		switch {
		case k.name == "let":
			k.c.arithmetic(w)
		case hasWord("read mapfile readarray getopts coproc set setenv unsetenv local", k.name),
			hasWord("printf wait env strace", k.name) && hasWord("-v -p -u -E --unset --unset=", option),
			declares(k.name) && !k.short("p") && (k.short("n") || k.has("+x") || strings.Contains(name, "=")):
			k.c.limit(name)
		}
	}
}

// inherits judges what takes from a command the variables that it would
// inherit, and a cluade that is started without them. What such a program sets
// is not set behind it.
func (k *call) inherits() {
	if k.name == "cluade" && k.s.cleared && !k.help() && !k.first("guard") {
		k.c.report(OwnState, "starts cluade without the limits of this run")
	}
	k.setsLimits()
	w := wrapperOf(k.name)
	if w == nil {
		return
	}
	n := k.afterOptions(0, w.values)
	own := call{words: k.words[:n]} // not those of the command
	cleared := false
	switch k.name {
	case "env":
		cleared = own.short("i") || textAt(k.words, n) == "-"
	case "exec":
		cleared = own.short("c")
	case "sudo", "doas", "run0", "pkexec", "systemd-run", "machinectl":
		cleared = !own.short("E") && !own.has("--preserve-env")
	case "setpriv":
	default:
		return
	}
	cleared = cleared || own.has("--ignore-environment --reset-env")
	k.s = k.s.fork()
	k.s.cleared = k.s.cleared || cleared
}
