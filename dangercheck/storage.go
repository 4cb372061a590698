package dangercheck

import "strings"

// ddOnto judges the output file of dd.
func (k *call) ddOnto(kinds ...deviceKind) string {
	for _, a := range k.args {
		if out, ok := strings.CutPrefix(a.s, "of="); ok && k.isOneOf(value{s: out}, kinds) {
			return "writes to the device " + out
		}
	}
	return ""
}

func (k *call) isOneOf(v value, kinds []deviceKind) bool {
	d := k.s.device(v)
	for _, kind := range kinds {
		if d == kind {
			return true
		}
	}
	return false
}

// writesOnto judges the files that programs other than dd write.
func (k *call) writesOnto(kinds ...deviceKind) string {
	for _, v := range k.outputs() {
		if k.isOneOf(v, kinds) {
			return "writes to the raw device " + v.s
		}
	}
	return ""
}

// outputs returns the files that tee, cp, mv, install and downloads write.
func (k *call) outputs() []value {
	switch k.name {
	case "tee":
		return k.operands("")
	case "curl", "wget":
		for i, a := range k.args {
			if file, ok := k.outputFile(a.s, textAt(k.args, i+1)); ok {
				return []value{{s: file}}
			}
		}
		return nil
	}
	if vals := k.operands("tmoOgS"); len(vals) > 1 {
		return vals[len(vals)-1:]
	}
	return nil
}

// written judges an output redirection.
func (c *checker) written(v value, s *scope, op string) {
	switch s.device(v) {
	case rawDisk:
		c.report(Redirect, "writes to the raw device "+v.s)
		return
	case flashMemory:
		c.report(Flash, "writes to the flash device "+v.s)
		return
	}
	c.authority(v, s)
	p := s.join(v.s)
	if op != ">>" && op != "&>>" && (authorizedKeys(p) || authorizedKeys(c.own(p))) {
		c.report(Lockout, "empties "+v.s)
	}
}

func mkfs(k *call) string {
	if k.help() || k.name == "mke2fs" && k.short("n") || strings.HasPrefix(k.name, "mkfs.ext") && k.short("n") || k.name == "mkfs.xfs" && k.short("N") {
		return ""
	}
	for _, a := range k.args {
		if k.s.device(a) > harmless {
			return "makes a file system on " + a.s
		}
	}
	return ""
}

func mtd(k *call) string {
	switch textAt(k.operands("edjps"), 0) {
	case "erase", "write", "jffs2write", "fixtrx", "fixseama", "resetbc":
		return "writes the flash"
	}
	return ""
}

func sysupgrade(k *call) string {
	if k.help() || k.short("Tblr") || k.has("--test", "--create-backup", "--list-backup", "--list-changed-files", "--restore-backup") {
		return ""
	}
	return when(len(k.operands("f")) > 0, "installs a firmware image")
}

func parted(k *call) string {
	for _, v := range append(k.operands("a"), value{s: k.in.text}) {
		for w := range strings.FieldsSeq(v.text()) {
			if hasWord("mklabel mktable rm mkpart", w) {
				return "changes the partition table"
			}
		}
	}
	return ""
}

// fdisk judges those that take orders from standard input.
func fdisk(k *call) string {
	switch {
	case k.help():
		return ""
	case k.name == "sfdisk" && k.has("--delete"):
	case k.short("ldsVvFxJ"), k.has("--list", "--dump", "--json", "--show-size", "--verify", "--list-free"):
		return ""
	case !k.onDevice() || !k.in.fed:
		return ""
	}
	return "changes the partition table"
}
