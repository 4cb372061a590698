package dangercheck

import (
	"cmp"
	"path"
	"strings"
)

// authorityFiles are the files below the state directory that decide what cluade
// may do.
const authorityFiles = "config.json hooks.json trust.json approvals"

// inState returns what a path names below cluade's state directory, "." for
// the directory itself; ok is false if it lies elsewhere.
func (c *checker) inState(p string) (rest string, ok bool) {
	if !rooted(p) {
		return "", false
	}
	p = beneath(p)
	if c.o.State != "" {
		if rest, ok = strings.CutPrefix(p, c.o.State); ok && (rest == "" || rest[0] == '/') {
			return path.Clean("./" + rest), true
		}
	}
	p = c.own(p)
	if user, found := strings.CutPrefix(p, "/home/"); found {
		_, rest, _ = strings.Cut(user, "/")
	} else if rest, ok = strings.CutPrefix(p, "/root/"); !ok {
		rest, _ = strings.CutPrefix(p, home+"/")
	}
	dir, rest, _ := strings.Cut(rest, "/")
	return path.Clean("./" + rest), dir == ".cluade" || strings.HasPrefix(dir, ".") && names(dir, ".cluade")
}

// names reports whether a path, or an element of one, is a name or a pattern of it.
func names(element, name string) bool {
	if !strings.ContainsAny(element, patterns) {
		return element == name
	}
	ok, _ := path.Match(plain(element), name)
	return ok
}

// hasName reports whether a path, or an element of one, is one of the
// blank-separated names or a pattern of one.
func hasName(list, element string) bool {
	for list != "" {
		var name string
		name, list, _ = strings.Cut(list, " ")
		if names(element, name) {
			return true
		}
	}
	return false
}

// beneath is a path without what leads back to the root: the process's view of
// it, and the directory in which OpenWRT keeps what was written anywhere.
func beneath(p string) string {
	for _, root := range [...]string{"/proc/self/root/", "/proc/1/root/", "/overlay/upper/"} {
		if strings.HasPrefix(p, root) {
			return beneath(p[len(root)-1:])
		}
	}
	return p
}

// place is where a word leads: as join tells, from the home where a login
// begins.
func (c *checker) place(word string, s *scope) string {
	p := s.join(word)
	if c.o.Login && p != "" && !rooted(p) && !s.lost {
		return path.Clean(home + "/" + p)
	}
	return p
}

// authority reports a word that names one of the files.
func (c *checker) authority(word string, s *scope) bool {
	if strings.ContainsAny(word, " \n") || !c.decides(word, s) { // prose
		return false
	}
	c.report(OwnState, "touches "+word+", which decides what cluade may do")
	return true
}

// decides reports whether a path names one of the files.
func (c *checker) decides(p string, s *scope) bool {
	rest, ok := c.inState(c.place(p, s))
	first, _, _ := strings.Cut(rest, "/")
	return ok && hasName(authorityFiles, first)
}

// mayBeState spares most words a closer look.
func (c *checker) mayBeState(word string, s *scope) bool {
	return strings.Contains(word, "cluade") || strings.Contains(s.dir, "cluade") || c.o.State != "" || strings.ContainsAny(word, patterns)
}

// ownState judges every word of a command but those of programs that only
// print or compare them.
func (c *checker) ownState(args []value, s *scope) {
	name := base(args[0].text())
	if hasWord("echo printf logger man help true false : test [ which type", name) {
		return
	}
	for i := range args {
		word := args[i].s
		if !c.mayBeState(word, s) {
			continue
		}
		if i := strings.IndexByte(word, '='); i > 0 {
			word = word[i+1:]
		}
		if c.authority(word, s) {
			return
		}
		if c.isState(word, s) && hasWord("rm mv chmod chown ln mount", name) {
			c.report(OwnState, name+" on cluade's own directory")
		}
	}
}

// isState reports whether a word names the state directory or all that is in it.
func (c *checker) isState(word string, s *scope) bool {
	rest, ok := c.inState(c.place(word, s))
	return ok && (rest == "." || everything(rest))
}

// copiers are programs that copy files to a directory, with their options that
// take the next word.
var copiers = [...][2]string{{"cp", "tS"}, {"mv", "tS"}, {"ln", "tS"}, {"install", "tSmog"}, {"rsync", "eBTfM"}, {"scp", "iFPolcJS"}}

// unpackers are programs that write files of names not told into the directory
// that an option names, else into the working directory, if they are given one
// of the words or of the letters.
var unpackers = [...]struct{ name, words, letters, dir, long string }{
	{"tar", "--extract --get", "x", "C", "--directory"},
	{"bsdtar", "--extract --get", "x", "C", "--directory"},
	{"unzip", "", "", "d", ""},
	{"cpio", "--extract", "i", "D", "--directory"},
	{"patch", "", "", "d", "--directory"},
	{"7z", "x e", "", "o", ""},
	{"git", "checkout restore reset pull merge stash clean apply am revert rebase switch", "", "C", "--work-tree"},
}

// putsState judges what a command does to the state directory without naming
// its files: what it copies, unpacks, downloads or finds there.
func (k *call) putsState() {
	if k.c.o.State == "" && !strings.Contains(k.s.dir, "cluade") && !strings.Contains(strings.Join(k.words, " ")+k.in.text, "cluade") {
		return
	}
	for i := range copiers {
		if copiers[i][0] == k.name {
			k.copiesInto(copiers[i][1])
		}
	}
	for i := range unpackers {
		if u := &unpackers[i]; u.name == k.name {
			bundle := u.letters == "x" && strings.Contains(textAt(k.words, 0), "x") // tar takes it without a hyphen
			if u.words+u.letters == "" || k.has(u.words) || k.short(u.letters) || bundle {
				k.unpacks(k.valueOf(u.dir, u.long))
			}
		}
	}
	switch {
	case hasWord("wget curl", k.name):
		for _, w := range k.words {
			if strings.Contains(w, "://") {
				k.into(k.valueOf("P", "--directory-prefix --output-dir"), base(w))
			}
		}
	case k.name == "git" && k.has("clone"):
		k.into(k.words[len(k.words)-1], patterns[:1])
	case isInterpreter(k.name), hasWord("sed ed ex vi vim nvim sqlite3", k.name):
		k.quotesState()
	}
}

// unpacks judges files of names not told put into a directory, and those that
// are named.
func (k *call) unpacks(dir string) {
	k.into(dir, patterns[:1])
	for _, w := range k.words {
		if w != "" && w[0] != '-' && w[0] != '/' {
			k.into(dir, asPattern(w))
			k.into(dir, w+"/"+patterns[:1]) // should it be the directory itself
		}
	}
}

// into judges a file put into a directory, by default the working directory.
func (k *call) into(dir, file string) bool {
	return k.c.authority(cmp.Or(dir, ".")+"/"+file, k.s)
}

// valueOf returns the value of an option, "" if it is not given.
func (k *call) valueOf(letter, long string) string {
	for i, w := range k.words {
		name, val, has := strings.Cut(w, "=")
		switch {
		case strings.HasPrefix(w, "--"):
			if hasWord(long, name) {
				return cmp.Or(val, textAt(k.words, i+1))
			}
		case len(w) < 2 || w[0] != '-' || has:
		case strings.HasSuffix(w, letter):
			return textAt(k.words, i+1)
		case w[1:2] == letter:
			return w[2:]
		}
	}
	return ""
}

// copiesInto judges copies by the names that they get in the directory.
func (k *call) copiesInto(valued string) {
	ops := k.operands(valued)
	dir := ""
	if valued[0] == 't' {
		dir = k.valueOf("t", "--target-directory")
	}
	if dir == "" && len(ops) > 1 {
		dir, ops = ops[len(ops)-1], ops[:len(ops)-1]
	}
	for _, from := range ops {
		name := asPattern(base(from))
		if k.short("T") {
			name = "."
		}
		if k.into(dir, name+"/"+patterns[:1]) { // all below it counts, should it be the directory itself
			return
		}
	}
}

// findsState reports whether find finds files that decide what cluade may do:
// whatever it finds among them, or above them by name.
func (k *call) findsState() bool {
	name, above := patterns[:1], false
	for i, w := range k.words {
		if hasWord("-name -iname -path -wholename", w) {
			path := textAt(k.words, i+1)
			_, in, own := strings.Cut(path, ".cluade")
			if !own {
				in = base(path)
			}
			name = asPattern(cmp.Or(strings.Trim(in, "/"), "*"))
			above = own || hasWord(authorityFiles, name)
		}
	}
	for _, root := range k.words {
		if root == "" || root[0] == '-' {
			break
		}
		if p := k.c.own(k.s.join(root)); above && (isHome(p) || hasWord("/ /home /root", p)) {
			root = home + "/.cluade"
		}
		if k.c.decides(root+"/"+name, k.s) {
			return true
		}
	}
	return false
}

// quotesState judges the strings of a program in another language.
func (k *call) quotesState() {
	ends := "'\"`"
	if !isInterpreter(k.name) { // words of an editor
		ends += " \n"
	}
	for _, text := range append(k.words, k.in.text) {
		for _, t := range fields(text, ends) {
			if ends[len(ends)-1] == '\n' { // the file may follow the command at once
				t = strings.TrimLeft(t, "wrW")
			}
			if strings.HasPrefix(t, "~/") || strings.HasPrefix(t, "/.cluade/") {
				t = home + strings.TrimPrefix(t, "~")
			}
			if k.c.authority(t, k.s) {
				return
			}
		}
	}
}

// fields cuts a text at the characters of a set.
func fields(s, set string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(set, r) })
}
