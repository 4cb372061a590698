package dangercheck

import "strings"

// killsByName judges killall and pkill.
func killsByName(k *call) string {
	if k.harmlessSignal() || k.has("--list") {
		return ""
	}
	for _, v := range k.operands("sugUGtPo") {
		if name := strings.Trim(v.text(), "^$"); vitalProcess(name) {
			return "ends " + name
		}
	}
	return ""
}

func vitalProcess(name string) bool {
	switch name {
	case "dropbear", "ssh", "sshd", "wpa_supplicant", "netifd", "NetworkManager", "systemd-networkd", "dhcpcd":
		return true
	}
	return false
}

// harmlessSignal reports whether a signal is named that makes a daemon reload
// or does nothing. It stands before the operands.
func (k *call) harmlessSignal() bool {
	for i, a := range k.args {
		sig := a.text()
		switch {
		case sig == "-s" || sig == "--signal" || sig == "-n":
			sig = textAt(k.args, i+1)
		case strings.HasPrefix(sig, "--signal="):
			sig = sig[len("--signal="):]
		case len(sig) < 2 || sig[0] != '-':
			return false
		default:
			sig = sig[1:]
		}
		switch strings.TrimPrefix(strings.ToUpper(sig), "SIG") {
		case "0", "1", "HUP", "10", "USR1", "12", "USR2", "18", "CONT", "WINCH", "L":
			return true
		}
	}
	return false
}

// kills judges kill: a target of -1 is every process. As the first word it is
// a signal.
func kills(k *call) string {
	targets := k.args
	switch t := textAt(targets, 0); {
	case t == "-s", t == "-n", t == "--signal":
		targets = targets[min(2, len(targets)):]
	case strings.HasPrefix(t, "-") && t != "--":
		targets = targets[1:]
	}
	for _, v := range targets {
		if v.s == "-1" && !k.has("-l", "-L", "-0") {
			return "ends every process"
		}
	}
	if k.harmlessSignal() {
		return ""
	}
	for _, v := range targets {
		if v.src != nil && vitalProcess(v.src.pid) {
			return "ends " + v.src.pid
		}
	}
	return ""
}

func vitalPackage(name string) bool {
	name, _, _ = strings.Cut(name, ":")
	return hasWord("base-files busybox libc musl procd netifd ubus ubusd uci fstools mtd kernel dropbear firewall4 firewall apk-tools opkg alpine-base alpine-baselayout "+
		"openrc libc6 libc-bin systemd systemd-sysv init bash dash login util-linux coreutils apt dpkg sudo openssh-server network-manager ifupdown dhcpcd dhcpcd5 wpasupplicant", name)
}

// removesPackage judges the removal of what the box cannot do without. verbs
// are the words that remove; none if options say so.
func (k *call) removesPackage(verbs string) string {
	ops := k.operands("oct")
	if k.has("--simulate", "--dry-run", "--noaction", "--no-act", "--just-print", "--help") || k.name != "dpkg" && k.short("s") {
		return ""
	}
	if verbs != "" {
		if !hasWord(verbs, textAt(ops, 0)) {
			return ""
		}
		ops = ops[1:]
	}
	for _, v := range ops {
		if vitalPackage(v.text()) {
			return "removes the package " + v.text()
		}
	}
	return ""
}
