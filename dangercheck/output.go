package dangercheck

import "strings"

// output says what a command writes, as far as its text tells.
func (k *call) output() fact {
	out := opaque(k.in)
	for _, a := range k.args {
		out.download = out.download || a.downloaded()
	}
	switch k.name {
	case "echo":
		out.text = k.echo()
	case "printf":
		out.text = k.printf()
	case "true", "false", ":", "sleep", "wait", "mkdir", "touch", "kill", "umount", "test", "[", "exit":
		return fact{}
	case "cat", "tee", "sponge", "pv", "head", "tail", "sort", "uniq":
		return k.passed()
	case "grep", "egrep", "fgrep":
		if out.pid == "*" && !k.short("v") {
			out.pid = k.grepped()
		}
	case "pwd":
		out.text = string(markPwd)
	case "which":
		if len(k.args) > 0 {
			out.text = k.args[len(k.args)-1].s
		}
	case "command":
		if len(k.args) == 2 && k.args[0].s == "-v" {
			out.text = k.args[1].s
		}
	case "ls":
		out.tree = k.listed()
	case "ps":
		out.pid = "*"
	case "pidof", "pgrep":
		if ops := k.operands("dPgGsuUtFr"); len(ops) > 0 {
			out.pid = strings.Trim(ops[0].text(), "^$[]")
		}
	case "curl", "wget", "uclient-fetch", "fetch":
		out.download = k.toStdout()
	}
	return out
}

// passed is the output of programs that pass on what they read.
func (k *call) passed() fact {
	ops := k.operands("nckt")
	if k.name == "tee" || len(ops) == 0 {
		return k.in
	}
	var out outputs
	for _, v := range ops {
		switch {
		case v.s == "-":
			out.add(k.c, k.in)
		case v.file:
			out.add(k.c, *v.src)
		case strings.HasSuffix(v.s, ".pid"):
			out.add(k.c, fact{text: unknown, pid: strings.TrimSuffix(base(v.text()), ".pid")})
		default:
			out.add(k.c, opaque(fact{}))
		}
	}
	return out.all()
}

// grepped is the name of the process that grep picks from a list.
func (k *call) grepped() string {
	if ops := k.operands("efmABC"); len(ops) > 0 {
		return strings.NewReplacer("[", "", "]", "", "^", "", "$", "").Replace(ops[0].text())
	}
	return ""
}

// listed is the system directory that ls lists.
func (k *call) listed() string {
	ops := k.operands("IwT")
	if len(ops) == 0 {
		ops = []value{{s: "."}}
	}
	for _, v := range ops {
		if k.s.inSystem(v) {
			return v.text()
		}
	}
	return ""
}

// toStdout reports whether a download goes to standard output.
func (k *call) toStdout() bool {
	stdout := k.name == "curl"
	for i, v := range k.args {
		next := ""
		if i+1 < len(k.args) {
			next = k.args[i+1].text()
		}
		if file, given := k.outputFile(v.text(), next); given {
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
	for len(args) > 0 {
		a := args[0].text()
		if len(a) < 2 || a[0] != '-' || strings.Trim(a[1:], "neE") != "" {
			break
		}
		escapes = escapes || strings.Contains(a, "e")
		args = args[1:]
	}
	s := texts(args)
	if escapes {
		s = unescaped(s)
	}
	return plain(s) + "\n"
}

// printf follows strings; another conversion stands for something unknown.
func (k *call) printf() string {
	args := k.args
	if len(args) > 0 && args[0].text() == "--" {
		args = args[1:]
	}
	if len(args) > 2 && args[0].text() == "-v" {
		k.s.set(args[1].text(), value{s: printed(k.c, args[2:])})
		return ""
	}
	if len(args) == 0 {
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
