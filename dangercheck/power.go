package dangercheck

import "strings"

func stops(k *call) string {
	return when(!k.help() && !k.short("w") && !k.has("--wtmp-only"), k.name+" stops the box")
}

func shutdown(k *call) string {
	return when(!k.help() && !k.short("ck") && !k.has("--show"), "stops the box")
}

func systemctlPower(k *call) string {
	ops := k.operands("HMtps")
	if len(ops) == 0 || k.has("--help") || k.has("--when=cancel") || k.has("--when") && k.has("cancel") {
		return ""
	}
	switch ops[0].text() {
	case "reboot", "poweroff", "halt", "kexec":
		return "stops the box"
	case "start", "isolate":
		for _, v := range ops[1:] {
			if hasWord("reboot.target poweroff.target halt.target kexec.target shutdown.target", v.text()) {
				return "stops the box"
			}
		}
	}
	return ""
}

// ubusCall reports whether the method of the object is called.
func (k *call) ubusCall(object, method string) bool {
	ops := k.operands("tsm")
	return textAt(ops, 0) == "call" && textAt(ops, 1) == object && textAt(ops, 2) == method
}

const sysrqFile = "/proc/sysrq-trigger"

// sysrq judges orders to the kernel that reach it through tee or cp; those
// through a redirection are judged where it is opened.
func sysrq(k *call) string {
	for _, v := range k.operands("") {
		if k.s.join(v.s) == sysrqFile && sysrqStops(k.in.text) {
			return "stops the box"
		}
	}
	return ""
}

// sysrqStops reports whether a key restarts, switches off or crashes the
// kernel.
func sysrqStops(text string) bool {
	return strings.ContainsAny(text, "boc")
}
