package dangercheck

import (
	"path"
	"strings"
)

func rmRoot(k *call) string {
	recursive := k.short("rR") || k.has("--recursive", "--r")
	force := k.short("f") || k.has("--force", "--f")
	if !recursive || !force || k.has("--help", "--version") {
		return ""
	}
	for _, v := range k.operands("") {
		if k.wipes(v) {
			return "recursive forced delete of " + v.s
		}
	}
	return ""
}

// removesTree judges words that come from a list of what a system directory
// holds.
func removesTree(k *call) string {
	for _, v := range k.operands("") {
		if tree := v.tree(); tree != "" {
			return "removes what lies in " + tree
		}
	}
	return ""
}

// tree returns the system directory whose contents a word names.
func (v value) tree() string {
	before, found := strings.CutSuffix(v.s, unknown)
	if v.src == nil || v.file || !found || before != "" && path.Clean(before) != v.src.tree {
		return ""
	}
	return v.src.tree
}

// emptiesKeys judges what takes away the keys that root logs in with.
func emptiesKeys(k *call) string {
	vals := k.operands("s")
	switch {
	case k.name == "tee" && (k.short("a") || k.has("--append")):
		return ""
	case k.name == "mv" && len(vals) > 1:
		vals = vals[:len(vals)-1]
	case k.name == "cp":
		if textAt(vals, 0) != "/dev/null" {
			return ""
		}
	}
	for _, v := range vals {
		if k.loginKeys(v) {
			return "takes away the login keys in " + v.s
		}
	}
	return ""
}

// loginKeys reports whether a word names the keys that root logs in with.
func (k *call) loginKeys(v value) bool {
	p := k.s.join(v.s)
	if authorizedKeys(p) || authorizedKeys(k.c.own(p)) {
		return true
	}
	return k.name == "rm" && k.short("rR") && (p == "/etc/dropbear" || p == "/root/.ssh" || p == home+"/.ssh")
}

func authorizedKeys(p string) bool {
	switch p {
	case "/etc/dropbear/authorized_keys", home + "/.ssh/authorized_keys", "/root/.ssh/authorized_keys":
		return true
	}
	return false
}

// LockoutPath reports whether a file decides who may log in, so that a write
// to it can shut the administrator out. p is absolute.
func LockoutPath(p string) bool {
	switch p = path.Clean(p); p {
	case "/etc/dropbear/authorized_keys", "/root/.ssh/authorized_keys", "/etc/passwd", "/etc/shadow", "/etc/config/dropbear", "/etc/ssh/sshd_config", "/etc/sudoers":
		return true
	}
	return strings.HasPrefix(p, "/etc/sudoers.d/")
}

// changesTree judges chmod, chown and chgrp of whole system directories.
func changesTree(k *call) string {
	vals := k.operands("")
	if !k.has("--reference") && len(vals) > 0 {
		vals = vals[1:]
	}
	recursive := k.short("R") || k.has("--recursive")
	for _, v := range vals {
		if tree := v.tree(); tree != "" {
			return k.name + " on everything in " + tree
		}
		if p := k.s.join(v.s); recursive && rooted(p) && isSystem(k.c.own(p)) {
			return k.name + " on everything in " + v.s
		}
	}
	return ""
}
