package dangercheck

import "strings"

// ddOnto judges the output file of dd.
func (k *call) ddOnto(kind deviceKind) bool {
	for _, t := range k.words {
		if out, ok := strings.CutPrefix(t, "of="); ok && k.s.device(out) == kind {
			return k.found(out)
		}
	}
	return false
}

// writesOnto judges the files that tee, cp, mv, install and downloads write.
func (k *call) writesOnto(kind deviceKind) bool {
	for _, t := range k.outputs() {
		if k.s.device(t) == kind {
			return k.found(t)
		}
	}
	return false
}

func (k *call) outputs() []string {
	switch k.name {
	case "tee":
		return k.operands("")
	case "curl", "wget":
		for i, t := range k.words {
			if file, ok := k.outputFile(t, textAt(k.words, i+1)); ok {
				return []string{file}
			}
		}
		return nil
	}
	ops := k.operands("tmoOgS")
	return ops[max(0, len(ops)-1):]
}

// written judges an output redirection.
func (c *checker) written(file string, s *scope, op string) {
	switch s.device(file) {
	case rawDisk:
		c.report(Redirect, "writes to the raw device "+file)
	case flashMemory:
		c.report(Flash, "writes to the flash device "+file)
	}
	c.authority(file, s)
	if op != ">>" && op != "&>>" && c.loginFile(c.place(file, s)) {
		c.report(Lockout, "empties "+file)
	}
}

func mkfs(k *call) bool {
	dry := (k.name == "mke2fs" || strings.HasPrefix(k.name, "mkfs.ext")) && k.short("n") || k.name == "mkfs.xfs" && k.short("N")
	return !dry && !k.help() && k.onDevice()
}

func sysupgrade(k *call) bool {
	if k.help() || k.short("Tblr") || k.has("--test --create-backup --list-backup --list-changed-files --restore-backup") {
		return false
	}
	return len(k.operandsAt("f")) > 0
}

// parted takes orders as arguments and from standard input.
func parted(k *call) bool {
	for _, t := range append(k.operands("a"), k.in.text) {
		for _, w := range strings.Fields(t) {
			if hasWord("mklabel mktable rm mkpart", w) {
				return true
			}
		}
	}
	return false
}

// fdisk judges those that take orders from standard input.
func fdisk(k *call) bool {
	switch {
	case k.help():
		return false
	case k.name == "sfdisk" && k.has("--delete"):
		return true
	case k.short("ldsVvFxJ"), k.has("--list --dump --json --show-size --verify --list-free"):
		return false
	}
	return k.in.fed && k.onDevice()
}
