package dangercheck

import "strings"

// What xargs is followed with: so many words of so much of its input.
const (
	maxInputs = 32
	maxInput  = 4 << 10
)

// inputs are the words that xargs would add to a command.
func (k *call) inputs() []value {
	if k.in.text == unknown || !k.in.fed {
		return []value{{s: unknown, from: k.in.from}}
	}
	var out []value
	words := strings.Fields(k.in.text[:min(len(k.in.text), maxInput)])
	for _, w := range words[:min(len(words), maxInputs)] {
		out = append(out, value{s: asPattern(w), from: k.in.from})
	}
	return out
}

// xargs judges the command that it would build. One built for each input word
// is judged for the first alone.
func (k *call) xargs() fact {
	i, replace := 0, ""
	for i < len(k.args) {
		a := k.words[i]
		if len(a) < 2 || a[0] != '-' {
			break
		}
		i++
		switch {
		case a == "--replace", a == "-i":
			replace = "{}"
		case strings.HasPrefix(a, "--replace="):
			replace = a[len("--replace="):]
		case a == "-I" && i < len(k.args):
			replace = k.words[i]
			i++
		case a[1] == 'I':
			replace = a[2:]
		case hasWord("--max-args --max-procs --max-lines --max-chars --arg-file --delimiter --eof", a):
			i++
		case a[1] != '-' && strings.IndexByte("nPLsdEa", a[len(a)-1]) >= 0:
			i++
		}
	}
	if i >= len(k.args) {
		return k.in // echo is the command
	}
	return k.built(k.args[i:], k.inputs(), replace)
}

// parallel judges the command that it would build of the words behind :::, or
// of its input.
func (k *call) parallel() fact {
	cmd := k.args[k.afterOptions(0, "jNnLSaPI"):]
	extra := k.inputs()
	for i := range cmd {
		if strings.HasPrefix(cmd[i].text(), ":::") {
			cmd, extra = cmd[:i], cmd[i+1:]
			break
		}
	}
	if len(cmd) == 0 { // the inputs are the commands
		for i := range extra {
			k.apart(extra[i].s)
		}
		return opaque(k.in)
	}
	if len(cmd) == 1 && strings.IndexByte(cmd[0].s, ' ') > 0 { // shell text
		cmd = []value{{s: "sh"}, {s: "-c"}, cmd[0]}
		return k.built(cmd, extra, "{}")
	}
	for i := range cmd {
		if strings.Contains(cmd[i].text(), "{}") {
			return k.built(cmd, extra, "{}")
		}
	}
	return k.built(cmd, extra, "")
}

// built judges a command with words added at its end, or the first of them in
// place of replace.
func (k *call) built(cmd, extra []value, replace string) fact {
	if replace == "" || len(extra) == 0 {
		return k.fill(append(cmd[:len(cmd):len(cmd)], extra...), "", value{})
	}
	return k.fill(cmd, replace, extra[0])
}

// itemName is the variable that holds a value which is not told, for shell text
// that it becomes a part of: so it keeps its origin.
const itemName = "item_of_list"

// fill judges a command with a value in place of a mark, if there is a mark.
// Rules are matched with words as they are.
func (k *call) fill(cmd []value, mark string, v value) fact {
	s := k.s.fork()
	s.set(itemName, v)
	args := make([]value, len(cmd))
	for i, a := range cmd {
		if t := a.text(); mark != "" && strings.Contains(t, mark) && k.c.spend(len(t)+len(v.s)*strings.Count(t, mark)) {
			a = v
			if v.s == unknown && k.c.seen == nil && strings.IndexByte(t, ' ') > 0 {
				t = strings.ReplaceAll(t, "'"+mark+"'", mark)
				a.s = strings.ReplaceAll(t, mark, "${"+itemName+"}")
			} else {
				a.s = strings.ReplaceAll(t, mark, v.s)
			}
		}
		args[i] = a
	}
	if len(args) == 0 {
		return fact{}
	}
	k.c.ownState(args, s)
	return k.c.run(args, s, fact{})
}

// find judges -delete and the commands it would run. A test that narrows what
// is found makes it pass, as far as the tree is concerned.
func (k *call) find() fact {
	tree, i := k.findRoots()
	state := k.findsState()
	listed := true // it prints what it finds
	for ; i < len(k.args); i++ {
		switch w := k.words[i]; {
		case w == "-delete":
			if tree != "" {
				k.c.report(RmRoot, "removes what lies in "+tree)
			}
			if state {
				k.c.report(OwnState, "removes what decides what cluade may do")
			}
		case hasWord("-ok -okdir", w): // asks the person, if no input answers
			if !k.in.fed && k.c.seen == nil {
				for i < len(k.args) && k.words[i] != ";" {
					i++
				}
				continue
			}
			fallthrough
		case hasWord("-exec -execdir", w):
			end := i + 1
			for end < len(k.args) && k.words[end] != ";" && k.words[end] != "+" {
				end++
			}
			k.fill(k.args[i+1:end], "{}", value{s: unknown, from: &origin{tree: tree, state: state}})
			listed = false
			if hasWord("grep egrep fgrep test [ sh bash", textAt(k.words, i+1)) { // a test of its own
				tree = ""
			}
			i = end
		case hasWord("-type -maxdepth -mindepth", w):
			i++
		case hasWord("-name -iname -path -wholename", w):
			i++
			if i < len(k.args) && k.words[i] != "*" {
				tree = ""
			}
		case hasWord("-xdev -mount -depth -d -print -print0 -follow -a -and ( ) -ls", w):
		default:
			tree = ""
		}
	}
	if !listed {
		tree = ""
	}
	return fact{text: unknown, from: &origin{tree: tree, state: state}}
}

// findRoots returns a system directory among those that find walks, if there is
// one, and the place behind them.
func (k *call) findRoots() (tree string, next int) {
	i := 0
	for i < len(k.words) && hasWord("-H -L -P -E -X -x -s", k.words[i]) {
		i++
	}
	first := i
	for ; i < len(k.words); i++ {
		a := k.words[i]
		if a == "" || a[0] == '-' || a == "(" || a == "!" || a == ")" {
			break
		}
		if k.s.inSystem(k.args[i].s) {
			tree = a
		}
	}
	if i == first && k.s.inSystem(".") {
		tree = "."
	}
	return tree, i
}
