package dangercheck

import "strings"

// rule judges one command. Its function returns the reason, or "" to pass. A
// name that ends in a dot is a prefix.
type rule struct {
	names []string
	class string
	check func(*call) string
}

// rules is the one table of what is dangerous in a single command. Shells,
// find, xargs, ssh and the like are judged by what they run.
var rules = [...]rule{
	{[]string{"rm"}, RmRoot, rmRoot},
	{[]string{"rm", "unlink", "shred"}, RmRoot, removesTree},
	{[]string{"dd"}, DdDevice, func(k *call) string { return k.ddOnto(rawDisk, otherDevice) }},
	{[]string{"dd"}, Flash, func(k *call) string { return k.ddOnto(flashMemory) }},
	{[]string{"tee", "cp", "mv", "install", "curl", "wget"}, Redirect, func(k *call) string { return k.writesOnto(rawDisk) }},
	{[]string{"tee", "cp", "mv", "install", "curl", "wget"}, Flash, func(k *call) string { return k.writesOnto(flashMemory) }},
	{[]string{"mkfs", "mkfs.", "mke2fs", "mkswap", "mkdosfs", "mkntfs"}, Mkfs, mkfs},

	{[]string{"reboot", "halt", "poweroff"}, Power, stops},
	{[]string{"shutdown"}, Power, shutdown},
	{[]string{"init", "telinit"}, Power, func(k *call) string { return when(k.first("0", "6"), "stops the box") }},
	{[]string{"systemctl", "loginctl"}, Power, systemctlPower},
	{[]string{"ubus"}, Power, func(k *call) string { return when(k.ubusCall("system", "reboot"), "stops the box") }},
	{[]string{"tee", "cp"}, Power, sysrq},

	{[]string{"mtd"}, Flash, mtd},
	{[]string{"sysupgrade"}, Flash, sysupgrade},
	{[]string{"ubus"}, Flash, func(k *call) string { return when(k.ubusCall("system", "sysupgrade"), "installs a firmware image") }},
	{[]string{"firstboot", "jffs2reset", "factoryreset"}, Flash, func(k *call) string { return when(!k.help(), "erases all settings and packages") }},
	{[]string{"ubiformat", "ubirmvol", "ubiupdatevol", "ubidetach", "ubimkvol", "ubirsvol", "nandwrite", "flash_erase", "flash_eraseall", "flashcp"}, Flash,
		func(k *call) string { return when(len(k.operands("")) > 0 && !k.help(), "changes the flash") }},
	{[]string{"mtd_debug"}, Flash, func(k *call) string { return when(k.first("erase", "write"), "changes the flash") }},
	{[]string{"fw_setenv"}, Flash, func(k *call) string {
		return when(len(k.args) > 0 && !k.help(), "changes the boot loader's settings")
	}},
	{[]string{"flashrom"}, Flash, func(k *call) string {
		return when(k.short("wE") || k.has("--write", "--erase"), "writes the boot flash")
	}},
	{[]string{"rpi-eeprom-update"}, Flash, func(k *call) string { return when(k.short("adf"), "writes the boot EEPROM") }},
	{[]string{"rpi-eeprom-config"}, Flash, func(k *call) string {
		return when(k.has("--apply", "-a", "--edit", "-e"), "writes the boot EEPROM's settings")
	}},

	{[]string{"wipefs"}, Disk, func(k *call) string {
		return when((k.short("a") || k.has("--all")) && !k.short("n") && !k.has("--no-act"), "erases the signatures of a disk")
	}},
	{[]string{"blkdiscard"}, Disk, func(k *call) string { return when(k.onDevice() && !k.help(), "discards all blocks of a disk") }},
	{[]string{"sgdisk"}, Disk, func(k *call) string {
		return when(k.short("Zozd") || k.has("--zap-all", "--zap", "--clear", "--delete"), "changes the partition table")
	}},
	{[]string{"parted"}, Disk, parted},
	{[]string{"fdisk", "sfdisk", "cfdisk", "gdisk"}, Disk, fdisk},
	{[]string{"shred"}, Disk, func(k *call) string { return when(k.onDevice(), "overwrites a disk") }},
	{[]string{"badblocks"}, Disk, func(k *call) string { return when(k.short("w") && k.onDevice(), "overwrites a disk") }},
	{[]string{"hdparm"}, Disk, func(k *call) string {
		return when(k.has("--security-erase", "--security-erase-enhanced"), "erases a disk")
	}},

	{[]string{"rm", "unlink", "shred", "mv", "truncate", "tee", "cp"}, Lockout, emptiesKeys},
	{[]string{"ifdown"}, Lockout, func(k *call) string { return when(len(k.args) > 0 && !k.help(), "takes an interface down") }},
	{[]string{"ifconfig"}, Lockout, func(k *call) string { return when(len(k.args) > 1 && k.has("down"), "takes an interface down") }},
	{[]string{"ip"}, Lockout, ipDown},
	{[]string{"ubus"}, Lockout, ubusNetwork},
	{[]string{"service", "rc-service", "invoke-rc.d"}, Lockout, service},
	{[]string{"start-stop-daemon"}, Lockout, stopsDaemon},
	{[]string{"systemctl"}, Lockout, systemctlStop},
	{[]string{"reload_config"}, Lockout, func(k *call) string {
		return when(k.s.committed, "applies the network's changed settings")
	}},
	{[]string{"wifi"}, Lockout, func(k *call) string { return when(k.first("down"), "switches the radios off") }},
	{[]string{"iw"}, Lockout, func(k *call) string { return when(k.has("disconnect"), "leaves the wireless network") }},
	{[]string{"wpa_cli"}, Lockout, func(k *call) string {
		return when(k.has("disconnect", "terminate"), "leaves the wireless network")
	}},
	{[]string{"rfkill"}, Lockout, func(k *call) string {
		return when(k.first("block") && k.has("wifi", "wlan", "all"), "switches the radios off")
	}},
	{[]string{"nmcli"}, Lockout, nmcli},
	{[]string{"killall", "pkill"}, Lockout, killsByName},
	{[]string{"kill"}, Lockout, kills},
	{[]string{"fw3", "fw4"}, Lockout, func(k *call) string { return when(k.has("stop", "flush"), "stops the packet filter") }},
	{[]string{"iptables", "ip6tables", "iptables-legacy", "iptables-nft"}, Lockout, iptables},
	{[]string{"nft"}, Lockout, nft},
	{[]string{"ufw"}, Lockout, ufw},
	{[]string{"passwd"}, Lockout, func(k *call) string {
		return when((k.short("l") || k.has("--lock")) && k.has("root"), "locks root's login")
	}},
	{[]string{"usermod"}, Lockout, func(k *call) string {
		return when((k.short("L") || k.has("--lock")) && k.has("root"), "locks root's login")
	}},
	{[]string{"chmod", "chown", "chgrp"}, Lockout, changesTree},
	{[]string{"opkg"}, Lockout, func(k *call) string { return k.removesPackage("remove") }},
	{[]string{"apk"}, Lockout, func(k *call) string { return k.removesPackage("del") }},
	{[]string{"apt", "apt-get", "aptitude"}, Lockout, func(k *call) string { return k.removesPackage("remove purge autoremove autopurge") }},
	{[]string{"dpkg"}, Lockout, func(k *call) string {
		return when(k.short("rP") || k.has("--remove", "--purge"), k.removesPackage(""))
	}},
	{[]string{"cluade"}, Lockout, func(k *call) string {
		return when(k.first("confirm") || k.first("guard") && k.has("rollback"), "decides a guarded change, which is the person's to decide")
	}},
}

func (r *rule) matches(name string) bool {
	for _, n := range r.names {
		if n == name || n[len(n)-1] == '.' && strings.HasPrefix(name, n) {
			return true
		}
	}
	return false
}

func when(b bool, reason string) string {
	if b {
		return reason
	}
	return ""
}

// judge reports what the rules say of a command that runs nothing else.
func (k *call) judge() {
	for i := range rules {
		if r := &rules[i]; r.matches(k.name) {
			if reason := r.check(k); reason != "" {
				k.c.report(r.class, reason)
			}
		}
	}
	if reason := k.initScript(); reason != "" {
		k.c.report(Lockout, reason)
	}
	if k.name == "uci" {
		k.uci()
	}
}

// has reports whether one of the words stands among the arguments. A word that
// begins with two hyphens also counts when it is shortened, as getopt allows,
// or has a value.
func (k *call) has(words ...string) bool {
	for _, a := range k.args {
		t := a.text()
		long := strings.HasPrefix(t, "--") && len(t) > 4
		if long {
			t, _, _ = strings.Cut(t, "=")
		}
		for _, w := range words {
			if t == w || long && strings.HasPrefix(w, t) {
				return true
			}
		}
	}
	return false
}

// first reports whether the first argument that is no option is one of words.
func (k *call) first(words ...string) bool {
	for _, a := range k.args {
		t := a.text()
		if strings.HasPrefix(t, "-") {
			continue
		}
		for _, w := range words {
			if t == w {
				return true
			}
		}
		return false
	}
	return false
}

// short reports whether a bundle of short options holds one of the letters.
func (k *call) short(letters string) bool {
	for _, a := range k.args {
		t := a.text()
		if t == "--" {
			return false
		}
		if len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[1:], letters) {
			return true
		}
	}
	return false
}

func (k *call) help() bool {
	return k.has("--help", "--version") || len(k.args) == 1 && k.has("-h", "-V")
}

// operands are the arguments that are no options; valued lists the short
// options that take the next word.
func (k *call) operands(valued string) []value {
	var out []value
	for i := 0; i < len(k.args); i++ {
		t := k.args[i].text()
		if t == "--" {
			return append(out, k.args[i+1:]...)
		}
		if len(t) > 1 && t[0] == '-' {
			if t[1] != '-' && strings.IndexByte(valued, t[len(t)-1]) >= 0 {
				i++
			}
			continue
		}
		out = append(out, k.args[i])
	}
	return out
}

// textAt returns the text of the i-th of vals, "" if there are not so many.
func textAt(vals []value, i int) string {
	if i < len(vals) {
		return vals[i].text()
	}
	return ""
}

func (k *call) onDevice() bool {
	for _, a := range k.args {
		if k.s.device(a) > harmless {
			return true
		}
	}
	return false
}
