package dangercheck

import (
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
	rest, ok = strings.CutPrefix(rest, ".cluade")
	return path.Clean("./" + rest), ok && (rest == "" || rest[0] == '/')
}

// authority reports a word that names one of the files.
func (c *checker) authority(word string, s *scope) bool {
	if strings.ContainsAny(word, " \n") { // prose
		return false
	}
	rest, ok := c.inState(s.join(word))
	if !ok {
		return false
	}
	first, _, _ := strings.Cut(rest, "/")
	for f := range strings.SplitSeq(authorityFiles, " ") {
		hit := first == f
		if strings.ContainsAny(first, patterns) {
			hit, _ = path.Match(plain(first), f)
		}
		if hit {
			c.report(OwnState, "touches "+word+", which decides what cluade may do")
			return true
		}
	}
	return false
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
		if rest, ok := c.inState(s.join(word)); ok && (rest == "." || everything(rest)) && hasWord("rm mv chmod chown ln", name) {
			c.report(OwnState, name+" on cluade's own directory")
		}
	}
}
