package dangercheck

import (
	"cmp"
	"strconv"
	"strings"
)

// What xargs is followed with: so many words of so much of its input.
const (
	maxInputs = 32
	maxInput  = 4 << 10
)

// feed is how xargs and its kin give input to a command.
type feed struct {
	in      fact
	ends    string // the characters that end an item; none for blanks and line ends, where quotes count
	replace string // what an item stands for in the command; none to add items at its end
	most    int    // items for one command; 0 is any number
}

// items are what a command gets of the input.
func (f *feed) items() []value {
	text, ends := f.in.text, f.ends
	if text == unknown || !f.in.fed {
		return []value{{s: unknown, from: f.in.from}}
	}
	text = text[:min(len(text), maxInput)]
	if ends == "" {
		quoted := strings.ContainsAny(text, "'\"")
		text = strings.ReplaceAll(strings.ReplaceAll(text, "'", ""), `"`, "")
		if ends = "\n"; f.replace == "" && !quoted { // what is in quotes may hold blanks
			ends = " \t\n"
		}
	}
	var out []value
	for _, item := range fields(text, ends) {
		if len(out) < maxInputs {
			out = append(out, value{s: asPattern(item), from: f.in.from})
		}
	}
	return out
}

// option takes an option of xargs; a value in the same word or the next is v.
func (f *feed) option(name, val string, v *value) {
	switch {
	case name == "I":
		f.replace = val
	case hasWord("i replace", name):
		f.replace = cmp.Or(val, "{}")
	case hasWord("0 null", name):
		f.ends = "\x00"
	case hasWord("d delimiter", name):
		f.ends = unescaped(val)
	case hasWord("n max-args", name):
		f.most, _ = strconv.Atoi(val)
	case !hasWord("a arg-file", name):
	case v.file != nil:
		f.in = v.file.fact
		f.in.fed = true
	default:
		f.in = fact{text: unknown}
	}
}

// xargs judges the commands that it would build.
func (k *call) xargs() fact {
	f, i := feed{in: k.in}, 0
	for i < len(k.args) && len(k.words[i]) > 1 && k.words[i][0] == '-' {
		a, v := k.words[i], &k.args[i]
		i++
		if name, ok := strings.CutPrefix(a, "--"); ok {
			name, val, has := strings.Cut(name, "=")
			if !has && hasWord("max-args max-procs max-chars arg-file delimiter process-slot-var", name) && i < len(k.args) {
				val, v = k.words[i], &k.args[i]
				i++
			}
			f.option(name, val, v)
			continue
		}
		for j := 1; j < len(a); j++ {
			val := ""
			if strings.IndexByte("EILPadnseil", a[j]) >= 0 {
				if val = a[j+1:]; val == "" && strings.IndexByte("eil", a[j]) < 0 && i < len(k.args) {
					val, v = k.words[i], &k.args[i]
					i++
				}
			}
			f.option(a[j:j+1], val, v)
			if val != "" {
				break
			}
		}
	}
	if i >= len(k.args) {
		return k.in // echo is the command
	}
	return k.built(k.args[i:], f.items(), f.replace, f.most)
}

// parallel judges the command that it would build of the words behind :::, or
// of its input.
func (k *call) parallel() fact {
	cmd := k.args[k.afterOptions(0, "jNnLSaPI"):]
	lines := feed{in: k.in, ends: "\n"}
	extra := lines.items()
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
		return k.built(cmd, extra, "{}", 1)
	}
	for i := range cmd {
		if strings.Contains(cmd[i].text(), "{}") {
			return k.built(cmd, extra, "{}", 1)
		}
	}
	return k.built(cmd, extra, "", 1)
}

// built judges a command with so many items at a time added at its end, or each
// in place of replace.
func (k *call) built(cmd, items []value, replace string, most int) fact {
	if most <= 0 {
		most = len(items)
	}
	var out outputs
	for n := 0; n == 0 || n < len(items); {
		if replace != "" && len(items) > 0 {
			out.add(k.c, k.fill(cmd, replace, items[n]))
			n++
			continue
		}
		next := min(n+most, len(items))
		out.add(k.c, k.fill(append(cmd[:len(cmd):len(cmd)], items[n:next]...), "", value{}))
		n = max(next, 1)
	}
	return out.all()
}

// bundled judges what follows each word that is no option, where it is not told
// which of them are an option's values.
func (k *call) bundled() {
	for i, w := range k.words[:min(len(k.words), maxInputs)] {
		if strings.HasPrefix(w, "-") {
			continue
		}
		k.c.run(k.args[i:], k.s.fork(), k.in)
		if hasWord(bundlers, base(w)) { // it has judged the rest
			return
		}
	}
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
