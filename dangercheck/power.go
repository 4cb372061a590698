package dangercheck

import "strings"

func systemctlPower(k *call) bool {
	ops := k.operands("HMtps")
	if k.has("--help --when=cancel") || k.has("--when") && k.has("cancel") {
		return false
	}
	switch verb := textAt(ops, 0); {
	case hasWord("reboot poweroff halt kexec", verb):
		return true
	case hasWord("start isolate", verb):
		for _, unit := range ops[1:] {
			if hasWord("reboot.target poweroff.target halt.target kexec.target shutdown.target", unit) {
				return true
			}
		}
	}
	return false
}

// ubusCall reports whether the method of the object is called.
func (k *call) ubusCall(object, method string) bool {
	ops := k.operands("tsm")
	return textAt(ops, 0) == "call" && textAt(ops, 1) == object && textAt(ops, 2) == method
}

const sysrqFile = "/proc/sysrq-trigger"

// sysrq judges orders to the kernel that reach it through tee or cp; those
// through a redirection are judged where it is opened.
func sysrq(k *call) bool {
	for _, t := range k.operands("") {
		if k.s.join(t) == sysrqFile && sysrqStops(k.in.text) {
			return true
		}
	}
	return false
}

// sysrqStops reports whether a key restarts, switches off or crashes the
// kernel.
func sysrqStops(text string) bool { return strings.ContainsAny(text, "boc") }
