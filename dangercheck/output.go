package dangercheck

import (
	"path"
	"strings"
)

// output says what a command writes, as far as its text tells.
func (k *call) output() fact {
	out := opaque(k.in)
	for i := range k.args {
		if k.args[i].downloaded() {
			out.from = out.from.and(&origin{download: true})
		}
	}
	switch {
	case k.name == "echo":
		out.text = k.echo()
	case k.name == "printf":
		out.text = k.printf()
	case hasWord("true false : sleep wait mkdir touch kill umount test [ exit", k.name):
		return fact{}
	case hasWord("cat tee sponge pv head tail sort uniq", k.name):
		return k.passed()
	case hasWord("tr sed tac dd awk grep", k.name):
		if k.in.fed && k.in.text != unknown && k.c.spend(len(k.in.text)) {
			out.text = k.through()
		}
		if out.from != nil && out.from.process == "*" && !k.short("v") {
			out.from = &origin{process: k.grepped()}
		}
	case k.name == "dirname" && len(k.args) > 0:
		if p := k.args[len(k.args)-1]; !p.unknown() {
			out.text = path.Dir(p.s)
		}
	case k.name == "basename" && len(k.args) > 0:
		out.text = base(k.args[0].s)
	case k.name == "mktemp":
		out.text = "/tmp/mktemp"
	case k.name == "pwd":
		out.text = string(markPwd)
	case k.name == "which":
		if len(k.words) > 0 {
			out.text = k.words[len(k.words)-1]
		}
	case k.name == "command":
		if len(k.words) == 2 && k.words[0] == "-v" {
			out.text = k.words[1]
		}
	case k.name == "ls":
		if tree := k.listed(); tree != "" {
			out.from = &origin{tree: tree}
		}
	case k.name == "ps":
		out.from = &origin{process: "*"}
	case hasWord("pidof pgrep", k.name):
		out.from = &origin{process: strings.Trim(textAt(k.operands("dPgGsuUtFr"), 0), "^$[]")}
	case hasWord("curl wget uclient-fetch fetch", k.name):
		out.from = nil
		if k.toStdout() {
			out.from = &origin{download: true}
		}
	}
	if hasWord("ls grep", k.name) && k.listsState() {
		out.from = &origin{state: true}
	}
	return out
}

// listsState reports whether the words name files of the state directory.
func (k *call) listsState() bool {
	for _, w := range k.words {
		if k.c.mayBeState(w, k.s) && (k.c.isState(w, k.s) || k.c.decides(w, k.s)) {
			return true
		}
	}
	return false
}

// passed is the output of programs that pass on what they read.
func (k *call) passed() fact {
	ops := k.operandsAt("nckt")
	if k.name == "tee" || len(ops) == 0 {
		return k.in
	}
	var out outputs
	for _, i := range ops {
		f := fact{text: unknown}
		if strings.HasSuffix(k.words[i], ".pid") {
			f.from = &origin{process: daemon(k.words[i])}
		}
		switch {
		case k.words[i] == "-":
			f = k.in
		case k.args[i].file != nil:
			f = k.args[i].file.fact
		}
		if x, told := k.s.descriptor(k.words[i]); told {
			f = x
		}
		out.add(k.c, f)
	}
	return out.all()
}

// grepped is the name of the process that grep picks from a list.
func (k *call) grepped() string {
	name := strings.Trim(textAt(k.operands("efmABC"), 0), "^$")
	return strings.ReplaceAll(strings.ReplaceAll(name, "[", ""), "]", "") // [x]y does not find itself
}

// listed is the system directory that ls lists.
func (k *call) listed() string {
	ops := k.operandsAt("IwT")
	if len(ops) == 0 && k.s.inSystem(".") {
		return "."
	}
	for _, i := range ops {
		if k.s.inSystem(k.args[i].s) {
			return k.words[i]
		}
	}
	return ""
}

// toStdout reports whether a download goes to standard output.
func (k *call) toStdout() bool {
	stdout := k.name == "curl"
	for i, a := range k.words {
		if file, given := k.outputFile(a, textAt(k.words, i+1)); given {
			stdout = file == "-" || file == "/dev/stdout"
		}
	}
	return stdout
}

// outputFile returns the file that an option names for the download.
func (k *call) outputFile(a, next string) (string, bool) {
	long, short, valued := "--output-document", "O", "PTUteawiY"
	if k.name == "curl" || k.name == "fetch" {
		long, short, valued = "--output", "o", "AbcCdDeEFHKmPQrtTuUwxXyYz"
	}
	switch {
	case a == long:
		return next, true
	case strings.HasPrefix(a, long+"="):
		return a[len(long)+1:], true
	case a == "--remote-name", a == "--remote-name-all":
		return "file", true
	case len(a) < 2 || a[0] != '-' || a[1] == '-':
		return "", false
	}
	for i := 1; i < len(a); i++ {
		switch {
		case a[i:i+1] == short && i+1 < len(a):
			return a[i+1:], true
		case a[i:i+1] == short:
			return next, true
		case k.name == "curl" && a[i] == 'O':
			return "file", true
		case strings.IndexByte(valued, a[i]) >= 0: // the rest is its value
			return "", false
		}
	}
	return "", false
}

func (k *call) echo() string {
	args, escapes := k.args, false
	for _, a := range k.words {
		if len(a) < 2 || a[0] != '-' || strings.Trim(a[1:], "neE") != "" {
			break
		}
		escapes = escapes || strings.Contains(a, "e")
		args = args[1:]
	}
	s := plain(texts(args))
	switch {
	case escapes:
		s = unescaped(s)
	case strings.Contains(s, `\n`): // some shells take it for a line's end
		s += "\n" + unescaped(s)
	}
	return s + "\n"
}

// printf follows strings; another conversion stands for something unknown.
func (k *call) printf() string {
	args := k.args
	if textAt(k.words, 0) == "--" {
		args = args[1:]
	}
	switch {
	case len(args) == 0:
		return ""
	case len(args) > 2 && args[0].s == "-v":
		k.s.set(k.words[1], value{s: printed(k.c, args[2:])})
		return ""
	}
	return printed(k.c, args)
}

// printed fills in the format that is the first of args.
func printed(c *checker, args []value) string {
	format, args := unescaped(plain(args[0].s)), args[1:]
	var b strings.Builder
	for range maxRounds {
		before := len(args)
		for i := 0; i < len(format); i++ {
			if format[i] != '%' || i+1 == len(format) {
				b.WriteByte(format[i])
				continue
			}
			i++
			switch {
			case format[i] == '%':
				b.WriteByte('%')
			case strings.IndexByte("sbdq", format[i]) < 0:
				b.WriteByte(markUnknown)
			case len(args) > 0:
				b.WriteString(plain(args[0].s))
				args = args[1:]
			}
			if b.Len() > maxText {
				return unknown
			}
		}
		if len(args) == 0 || len(args) == before || !c.spend(b.Len()) {
			break
		}
	}
	return b.String()
}
