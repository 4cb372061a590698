package dangercheck

import "strings"

// killsByName judges killall and pkill.
func killsByName(k *call) bool {
	if k.harmlessSignal() || k.has("--list") {
		return false
	}
	for _, t := range k.operands("sugUGtPo") {
		program, _, _ := strings.Cut(strings.Trim(t, "^$"), " ") // pkill -f takes a command
		if name := daemon(program); vitalProcess(name) {
			return k.found(name)
		}
	}
	return false
}

// daemon is the name of a process by the path of its program or of the file
// with its number, which for one of several is as dropbear.1.pid.
func daemon(p string) string {
	name, _, _ := strings.Cut(base(p), ".")
	return name
}

func vitalProcess(name string) bool {
	return hasWord("dropbear ssh sshd wpa_supplicant netifd NetworkManager systemd-networkd dhcpcd", name)
}

// harmlessSignal reports whether a signal is named that makes a daemon reload
// or does nothing. It stands before the operands.
func (k *call) harmlessSignal() bool {
	for i, sig := range k.words {
		switch {
		case hasWord("-s --signal -n", sig):
			sig = textAt(k.words, i+1)
		case strings.HasPrefix(sig, "--signal="):
			sig = sig[len("--signal="):]
		case len(sig) < 2 || sig[0] != '-':
			return false
		default:
			sig = sig[1:]
		}
		if hasWord("0 1 HUP 10 USR1 12 USR2 18 CONT WINCH L", strings.TrimPrefix(strings.ToUpper(sig), "SIG")) {
			return true
		}
	}
	return false
}

// kills judges kill: a target of -1 is every process. As the first word it is
// a signal.
func kills(k *call) bool {
	from := 0
	switch t := textAt(k.words, 0); {
	case hasWord("-s -n --signal", t):
		from = 2
	case strings.HasPrefix(t, "-") && t != "--":
		from = 1
	}
	for i := from; i < len(k.words); i++ {
		if k.words[i] == "-1" && !k.has("-l -L -0") {
			return k.found("every process")
		}
		if from := k.args[i].from; from != nil && vitalProcess(from.process) && !k.harmlessSignal() {
			return k.found(from.process)
		}
	}
	return false
}

// killsInit judges what tells process 1 to end: as init, it stops or restarts
// the box at TERM, INT and, in BusyBox, USR1 and USR2.
func killsInit(k *call) bool {
	last := len(k.words) - 1
	if last < 0 || k.words[last] != "1" {
		return false
	}
	sig := "TERM"
	if last > 0 {
		sig = strings.ToUpper(strings.TrimLeft(k.words[last-1], "-"))
	}
	return hasWord("TERM 15 INT 2 USR1 10 USR2 12", strings.TrimPrefix(sig, "SIG"))
}

// vitalPackages are those without which OpenWrt, Alpine or Debian does not
// start, is not reached, or cannot be repaired.
const vitalPackages = "base-files busybox libc musl procd netifd ubus ubusd uci fstools mtd kernel dropbear firewall4 firewall apk-tools opkg " +
	"alpine-base alpine-baselayout openrc " +
	"libc6 libc-bin systemd systemd-sysv init bash dash login util-linux coreutils apt dpkg sudo openssh-server network-manager ifupdown dhcpcd dhcpcd5 wpasupplicant"

// removes judges the removal of a package that the box cannot do without. verbs
// are the words that remove; none if options say so.
func (k *call) removes(verbs string) bool {
	ops := k.operands("oct")
	if k.has("--simulate --dry-run --noaction --no-act --just-print --help") || k.name != "dpkg" && k.short("s") {
		return false
	}
	if verbs != "" {
		if !hasWord(verbs, textAt(ops, 0)) {
			return false
		}
		ops = ops[1:]
	}
	for _, t := range ops {
		name, _, _ := strings.Cut(t, ":")
		if hasName(vitalPackages, asPattern(name)) {
			return k.found(name)
		}
	}
	return false
}
