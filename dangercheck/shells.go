package dangercheck

import "strings"

// shell judges sh and its kin: a text behind -c, standard input, or a script.
func (k *call) shell() fact {
	i, text, stdin := 0, false, false
	for ; i < len(k.args); i++ {
		a := k.words[i]
		if a == "--" {
			i++
			break
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' || k.args[i].unknown() {
			break
		}
		switch {
		case a == "--help", a == "--version":
			return fact{}
		case a == "--rcfile", a == "--init-file":
			i++
		case strings.HasPrefix(a, "--"):
		default:
			if a[0] == '-' && strings.Contains(a, "n") { // reads, runs nothing
				return fact{}
			}
			text = text || a[0] == '-' && strings.Contains(a, "c")
			stdin = stdin || strings.Contains(a, "s")
			if a[len(a)-1] == 'o' || a[len(a)-1] == 'O' {
				i++
			}
		}
	}
	rest := k.args[min(i, len(k.args)):]
	name, params := value{s: k.path}, rest
	switch {
	case text && len(rest) == 0:
		return fact{}
	case text:
		params = nil
		if len(rest) > 1 {
			name, params = rest[1], rest[2:]
		}
	case !stdin && len(rest) > 0:
		name, params = rest[0], rest[1:]
	}
	t := k.s.call(name, params)
	switch {
	case text:
		return k.runText(&rest[0], t)
	case stdin, len(rest) == 0:
		return k.fedToShell(t)
	}
	return k.script(&rest[0], t)
}

// script judges a file that a shell reads, where the text tells what is in it.
func (k *call) script(name *value, s *scope) fact {
	f, told := s.descriptor(name.s)
	switch {
	case name.file != nil && name.downloaded():
		k.download()
	case name.file != nil:
		return k.c.inner(name.file.text, s, k.in)
	case s.initDir(name.s):
		return k.c.run(s.args, s, k.in)
	case told:
		k.in = f
		return k.fedToShell(s)
	case hasWord("- /dev/stdin /dev/fd/0 /proc/self/fd/0", name.s):
		return k.fedToShell(s)
	}
	return opaque(k.in)
}

func (k *call) download() { k.c.report(DownloadExec, "a download is run by "+k.name) }

// interpreter judges programs in other languages by where they come from and by
// what they start.
func (k *call) interpreter() {
	i := k.afterOptions(0, "vF")
	from, program := k.in.from.isDownload() && !k.help() && !k.short("mcenp"), k.in.text
	if i < len(k.args) && k.words[i] != "-" {
		told := strings.HasSuffix(k.name, "awk") || i > 0 && hasWord("-c -uc -e -E -r -ne -le -pe --eval", k.words[i-1])
		from = k.args[i].downloaded() && (k.args[i].file != nil || told)
		program = ""
		if told {
			program = k.words[i]
		}
	}
	k.oneLiner(program)
	if from {
		k.download()
	}
}

// runText judges a text given to a shell as an argument.
func (k *call) runText(v *value, s *scope) fact {
	if v.downloaded() {
		k.download()
	}
	return k.c.inner(v.s, s, k.in)
}

// fedToShell judges a text that reaches a shell through a pipe or a
// redirection.
func (k *call) fedToShell(s *scope) fact {
	if k.in.from.isDownload() {
		k.download()
		return fact{}
	}
	s.in = fact{}
	return k.c.inner(k.in.text, s, fact{})
}

func (k *call) eval() fact {
	for i := range k.args {
		if k.args[i].downloaded() {
			k.download()
			return fact{}
		}
	}
	return k.c.inner(texts(k.args), k.s, k.in)
}

func (k *call) source() fact {
	if len(k.args) == 0 {
		return fact{}
	}
	return k.script(&k.args[0], k.s)
}

func (k *call) su() fact {
	t := k.s.fork()
	if k.name == "sg" { // sg GROUP [-c] TEXT
		if n := len(k.args); n > 1 {
			return k.runText(&k.args[n-1], t)
		}
		return k.fedToShell(t)
	}
	t.cleared = t.cleared || k.has("- --login") || k.short("l")
	for i, name := range k.words {
		if v, ok := strings.CutPrefix(name, "--command="); ok {
			return k.runText(&value{s: v, from: k.args[i].from}, t)
		}
		long := name == "--command"
		if !long && len(name) > 1 && name[0] == '-' && name[1] != '-' {
			long = name[len(name)-1] == 'c'
		}
		if long && i+1 < len(k.args) {
			return k.runText(&k.args[i+1], t)
		}
	}
	if k.help() {
		return fact{}
	}
	return k.fedToShell(t)
}

// sshValues are the options of ssh and dbclient that take a value.
const sshValues = "BbcDEeFIiJLlmOopPQRSWw"

// ssh judges the command for another host as if it ran here. Options may stand
// on both sides of the host.
func (k *call) ssh() fact {
	host, s := false, &scope{}
	var cmd []value
	for i := 0; i < len(k.args); i++ {
		a := k.words[i]
		if len(a) > 1 && a[0] == '-' {
			if hasWord("-G -V -Q -O", a) {
				return fact{}
			}
			if len(a) == 2 && strings.IndexByte(sshValues, a[1]) >= 0 {
				i++
			}
			continue
		}
		if host {
			cmd = k.args[i:]
			break
		}
		host = true
		a = a[strings.LastIndexByte(a, '@')+1:]
		s.cleared = hasWord("localhost ::1", a) || strings.HasPrefix(a, "127.") // another login on this box
	}
	if len(cmd) == 0 {
		return k.fedToShell(s)
	}
	if len(cmd) == 1 && cmd[0].downloaded() && cmd[0].s == unknown {
		k.download()
	}
	return k.c.inner(texts(cmd), s, k.in)
}

// tmux judges the command of a new window and the keys sent to one.
func (k *call) tmux() bool {
	i := k.afterOptions(0, "LSfc")
	if i >= len(k.args) {
		return false
	}
	verb, text := k.words[i], ""
	i++
	k.s = k.s.fork()
	k.s.cleared = true // what runs inherits from tmux's server
	switch {
	case hasWord("new new-session neww new-window splitw split-window respawnp respawn-pane respawnw respawn-window popup display-popup", verb):
		text = texts(k.args[k.afterOptions(i, "cefFnstxylh"):])
	case hasWord("run run-shell if if-shell", verb):
		text = texts(k.args[k.afterOptions(i, "dt"):])
	case hasWord("send send-keys", verb):
		for _, a := range k.args[k.afterOptions(i, "tN"):] {
			if hasWord("Enter C-m KPEnter", a.text()) {
				a.s = "\n"
			}
			text += a.s
		}
	}
	k.apart(text)
	return true
}

// afterOptions returns the place of the first argument from i on that is
// neither an option nor the value of one.
func (k *call) afterOptions(i int, valued string) int {
	for i < len(k.args) {
		a := k.words[i]
		if len(a) < 2 || a[0] != '-' {
			break
		}
		i++
		if a == "--" {
			break
		}
		if strings.IndexByte(valued, a[len(a)-1]) >= 0 {
			i++
		}
	}
	return min(i, len(k.args))
}
