package dangercheck

import (
	"path"
	"strings"
)

func rmRoot(k *call) bool {
	recursive := k.short("rR") || k.has("--recursive --r")
	force := k.short("f") || k.has("--force --f")
	if !recursive || !force || k.has("--help --version") {
		return false
	}
	for _, i := range k.operandsAt("") {
		if k.wipes(k.args[i].s) {
			if p := k.s.join(k.args[i].s); rooted(p) { // where it lies, whatever the directory
				return k.found(p)
			}
			return k.found(k.words[i])
		}
	}
	return false
}

// removesTree judges words that come from a list of what a system directory
// holds.
func removesTree(k *call) bool {
	for _, i := range k.operandsAt("") {
		if tree := k.args[i].tree(); tree != "" {
			return k.found(tree)
		}
	}
	return false
}

// changesState judges words that come from a list of the files that decide what
// cluade may do.
func changesState(k *call) bool {
	for i := range k.args {
		if from := k.args[i].from; from != nil && from.state {
			return true
		}
	}
	return false
}

// tree returns the system directory whose contents a word names.
func (v *value) tree() string {
	before, ok := strings.CutSuffix(v.s, unknown)
	if v.from == nil || !ok || before != "" && path.Clean(before) != v.from.tree {
		return ""
	}
	return v.from.tree
}

// changesTree judges chmod, chown and chgrp of whole system directories. What
// is one person's is theirs to change.
func changesTree(k *call) bool {
	at := k.operandsAt("")
	if !k.has("--reference") && len(at) > 0 {
		at = at[1:]
	}
	recursive := k.short("R") || k.has("--recursive")
	for _, i := range at {
		if tree := k.args[i].tree(); tree != "" && !isHome(whole(k.s.join(tree))) {
			return k.found(tree)
		}
		if p := k.c.own(k.s.join(k.args[i].s)); recursive && rooted(p) && isSystem(p) && !isHome(whole(p)) {
			return k.found(k.words[i])
		}
	}
	return false
}

// emptiesLogin judges what takes away a file that logins need.
func emptiesLogin(k *call) bool {
	ops := k.operands("s")
	switch {
	case k.name == "sed":
		if !k.short("i") && !k.has("--in-place") || len(ops) == 0 || !hasWord("d 1,$d /./d /.*/d /^/d /$/d /ssh/d", ops[0]) {
			return false
		}
		ops = ops[1:]
	case k.name == "dd":
		for i, t := range ops {
			ops[i], _ = strings.CutPrefix(t, "of=")
		}
	case k.name == "tee" && (k.short("a") || k.has("--append")):
		return false
	case k.name == "mv" && len(ops) > 1:
		ops = ops[:len(ops)-1]
	case k.name == "cp" && textAt(ops, 0) != "/dev/null":
		return false
	}
	for _, t := range ops {
		p := k.c.place(asPattern(t), k.s)
		if k.c.loginFile(p) || k.name == "rm" && k.short("rR") && (p == "/etc/dropbear" || p == "/root/.ssh" || p == home+"/.ssh") {
			return k.found(t)
		}
	}
	return false
}

// loginFiles say who may log in, and how.
const loginFiles = "/etc/passwd /etc/shadow /etc/config/dropbear /etc/ssh/sshd_config /etc/sudoers"

// loginFile reports whether a joined path, which may be a pattern, names one of
// them or the keys that root logs in with.
func (c *checker) loginFile(p string) bool {
	p = c.own(beneath(p))
	dir, file := path.Split(p)
	return hasWord(loginFiles, p) || names(file, "authorized_keys") && hasWord("/etc/dropbear/ /root/.ssh/ "+home+"/.ssh/", dir)
}

// LockoutPath reports whether a file decides who may log in, so that a write
// to it can shut the administrator out. p is absolute.
func LockoutPath(p string) bool {
	p = beneath(path.Clean(p))
	return hasWord("/etc/dropbear/authorized_keys /root/.ssh/authorized_keys "+loginFiles, p) || strings.HasPrefix(p, "/etc/sudoers.d/")
}
