package dangercheck

import "strings"

// rule judges one command. Its function reports whether the command is
// dangerous, and may leave in what the thing that the reason ends with. A name
// that ends in a dot is a prefix.
type rule struct {
	names  []string
	class  string
	reason string
	hits   func(*call) bool
}

// rules is, with wordRules, the table of what is dangerous in a single command. Shells,
// find, xargs, ssh and the like are judged by what they run.
var rules = [...]rule{
	{[]string{"rm"}, RmRoot, "recursive forced delete of", rmRoot},
	{[]string{"rm", "unlink", "shred"}, RmRoot, "removes what lies in", removesTree},

	{[]string{"rm", "unlink", "shred", "mv", "cp", "ln", "install", "sed", "perl", "ed", "ex", "patch", "dd", "tee", "chmod", "chown", "truncate"}, OwnState, "changes what decides what cluade may do", changesState},

	{[]string{"dd", "dcfldd"}, DdDevice, "writes to the device", func(k *call) bool { return k.ddOnto(rawDisk) || k.ddOnto(otherDevice) }},
	{[]string{"dd", "dcfldd"}, Flash, "writes to the flash device", func(k *call) bool { return k.ddOnto(flashMemory) }},
	{[]string{"tee", "cp", "mv", "install", "sponge", "curl", "wget"}, Redirect, "writes to the raw device", func(k *call) bool { return k.writesOnto(rawDisk) }},
	{[]string{"tee", "cp", "mv", "install", "sponge", "curl", "wget"}, Flash, "writes to the flash device", func(k *call) bool { return k.writesOnto(flashMemory) }},
	{[]string{"mkfs", "mkfs.", "mke2fs", "mkswap", "mkdosfs", "mkntfs", "mkexfatfs", "mkreiserfs", "make_ext4fs"}, Mkfs, "makes a file system on", mkfs},

	{[]string{"reboot", "halt", "poweroff"}, Power, "stops the box", func(k *call) bool { return !k.help() && !k.short("w") && !k.has("--wtmp-only") }},
	{[]string{"shutdown"}, Power, "stops the box", func(k *call) bool { return !k.help() && !k.short("ck") && !k.has("--show") }},
	{[]string{"systemctl", "loginctl"}, Power, "stops the box", systemctlPower},
	{[]string{"ubus"}, Power, "stops the box", func(k *call) bool { return k.ubusCall("system", "reboot") }},
	{[]string{"tee", "cp"}, Power, "stops the box", sysrq},
	{[]string{"kill"}, Power, "tells process 1 to stop", killsInit},

	{[]string{"mtd"}, Flash, "writes the flash", func(k *call) bool {
		return hasWord("erase write jffs2write fixtrx fixseama resetbc", textAt(k.operands("edjpsoctlF"), 0))
	}},
	{[]string{"sysupgrade"}, Flash, "installs a firmware image", sysupgrade},
	{[]string{"ubus"}, Flash, "installs a firmware image", func(k *call) bool { return k.ubusCall("system", "sysupgrade") }},
	{[]string{"firstboot", "jffs2reset", "factoryreset"}, Flash, "erases all settings and packages", func(k *call) bool { return !k.help() }},
	{[]string{"ubiformat", "ubirmvol", "ubiupdatevol", "ubidetach", "ubimkvol", "ubirsvol", "nandwrite", "flash_erase", "flash_eraseall", "flashcp"}, Flash, "changes the flash",
		func(k *call) bool { return len(k.operandsAt("")) > 0 && !k.help() }},
	{[]string{"fw_setenv"}, Flash, "changes the boot loader's settings", given},
	{[]string{"flashrom"}, Flash, "writes the boot flash", func(k *call) bool { return k.short("wE") || k.has("--write --erase") }},
	{[]string{"rpi-eeprom-update"}, Flash, "writes the boot EEPROM", func(k *call) bool { return k.short("adf") }},

	{[]string{"wipefs"}, Disk, "erases the signatures of a disk", func(k *call) bool {
		return (k.short("a") || k.has("--all")) && !k.short("n") && !k.has("--no-act")
	}},
	{[]string{"blkdiscard"}, Disk, "discards the blocks of", func(k *call) bool { return k.onDevice() && !k.help() }},
	{[]string{"sgdisk"}, Disk, "changes the partition table", func(k *call) bool { return k.short("Zozd") || k.has("--zap-all --zap --clear --delete") }},
	{[]string{"parted"}, Disk, "changes the partition table", parted},
	{[]string{"fdisk", "sfdisk", "cfdisk", "gdisk"}, Disk, "changes the partition table", fdisk},
	{[]string{"vgremove", "lvremove"}, Disk, "removes the volume", func(k *call) bool { // unforced, they ask
		return (k.short("fy") || k.has("--force --yes")) && !k.short("t") && !k.has("--test")
	}},
	{[]string{"shred"}, Disk, "overwrites", func(k *call) bool { return k.onDevice() }},
	{[]string{"badblocks"}, Disk, "overwrites", func(k *call) bool { return k.short("w") && k.onDevice() }},

	{[]string{"rm", "unlink", "shred", "mv", "truncate", "tee", "cp", "sed", "dd"}, Lockout, "takes away what logins need:", emptiesLogin},
	{[]string{"passwd"}, Lockout, "takes away the login of root", func(k *call) bool { return (k.short("ld") || k.has("--lock --delete")) && k.has("root") }},
	{[]string{"usermod"}, Lockout, "locks the login of root", func(k *call) bool { return (k.short("L") || k.has("--lock")) && k.has("root") }},
	{[]string{"chmod", "chown", "chgrp"}, Lockout, "changes everything in", changesTree},
	{[]string{"killall", "pkill"}, Lockout, "ends", killsByName},
	{[]string{"kill"}, Lockout, "ends", kills},
	{[]string{"opkg", "apk", "apt", "apt-get", "aptitude"}, Lockout, "removes the package", func(k *call) bool { return k.removes("remove del purge autoremove autopurge") }},
	{[]string{"dpkg"}, Lockout, "removes the package", func(k *call) bool { return (k.short("rP") || k.has("--remove --purge")) && k.removes("") }},
	{[]string{"cluade"}, Lockout, "decides a guarded change, which is the person's to decide", func(k *call) bool {
		return k.first("confirm") || k.first("guard") && k.has("rollback")
	}},

	{[]string{"ifdown"}, Lockout, "takes an interface down", given},
	{[]string{"ifconfig"}, Lockout, "takes an interface down", func(k *call) bool { return len(k.words) > 1 && k.has("down") }},
	{[]string{"ip"}, Lockout, "takes an interface or its addresses down", ipDown},
	{[]string{"nmcli"}, Lockout, "disconnects", nmcliOff},
	{[]string{"ubus"}, Lockout, "can cut the connection:", ubusNetwork},
	{[]string{"service", "rc-service", "invoke-rc.d"}, Lockout, "can cut the connection:", func(k *call) bool {
		ops := k.operands("")
		return k.stops(textAt(ops, 0), textAt(ops, 1))
	}},
	{[]string{"systemctl"}, Lockout, "can cut the connection:", systemctlStops},
	{[]string{"start-stop-daemon"}, Lockout, "can cut the connection:", stopsDaemon},
	{[]string{"reload_config"}, Lockout, "applies the network's changed settings", func(k *call) bool { return k.s.committed }},
	{[]string{"rfkill"}, Lockout, "switches the radios off", func(k *call) bool { return k.first("block") && k.has("wifi wlan all") }},
	{[]string{"iptables", "ip6tables", "iptables-legacy", "iptables-nft"}, Lockout, "drops what comes in to log in", iptables},
	{[]string{"nft"}, Lockout, "removes or shuts the packet filter", nft},
	{[]string{"ufw"}, Lockout, "drops logins over SSH", ufw},
}

// wordRules are those of commands that a word tells: first, if it is the first
// argument that is no option, or any, wherever it stands. Both are lists.
var wordRules = [...]struct{ name, class, reason, first, any string }{
	{"init", Power, "stops the box", "0 6", ""},
	{"telinit", Power, "stops the box", "0 6", ""},
	{"dbus-send", Power, "stops the box", "", busPower},
	{"busctl", Power, "stops the box", "", busPower},
	{"gdbus", Power, "stops the box", "", busPower},
	{"owut", Flash, "installs a firmware image", "upgrade install", ""},
	{"mtd_debug", Flash, "changes the flash", "erase write", ""},
	{"rpi-eeprom-config", Flash, "writes the boot EEPROM's settings", "", "--apply -a --edit -e"},
	{"nvme", Disk, "destroys a disk or what is on it", "format sanitize destroy luksFormat luksErase erase", ""},
	{"zpool", Disk, "destroys a disk or what is on it", "format sanitize destroy luksFormat luksErase erase", ""},
	{"cryptsetup", Disk, "destroys a disk or what is on it", "format sanitize destroy luksFormat luksErase erase", ""},
	{"zfs", Disk, "destroys a disk or what is on it", "destroy", ""},
	{"mdadm", Disk, "destroys an array", "", "--zero-superblock"},
	{"hdparm", Disk, "erases a disk", "", "--security-erase --security-erase-enhanced"},
	{"wifi", Lockout, "switches the radios off", "down", ""},
	{"iw", Lockout, "leaves the wireless network", "", "disconnect"},
	{"wpa_cli", Lockout, "leaves the wireless network", "", "disconnect terminate"},
	{"fw3", Lockout, "stops the packet filter", "", "stop flush"},
	{"fw4", Lockout, "stops the packet filter", "", "stop flush"},
}

// busPower are the methods of logind that stop the box.
const busPower = "org.freedesktop.login1.Manager.Reboot org.freedesktop.login1.Manager.PowerOff Reboot PowerOff"

func (r *rule) matches(name string) bool {
	for _, n := range r.names {
		if n == name || n[len(n)-1] == '.' && strings.HasPrefix(name, n) {
			return true
		}
	}
	return false
}

// judge reports what the rules say of a command that runs nothing else.
func (k *call) judge() {
	for i := range rules {
		if r := &rules[i]; r.matches(k.name) {
			k.reportIf(r.hits(k), r.class, r.reason)
		}
	}
	for i := range wordRules {
		if r := &wordRules[i]; r.name == k.name {
			k.reportIf(k.first(r.first) || k.has(r.any), r.class, r.reason)
		}
	}
	k.reportIf(k.initScript(), Lockout, "can cut the connection:")
	if k.name == "uci" {
		k.uci()
	}
}

func (k *call) reportIf(hit bool, class, reason string) {
	if hit && k.what != "" {
		reason += " " + k.what
	}
	if hit {
		k.c.report(class, reason)
	}
	k.what = ""
}

func given(k *call) bool { return len(k.words) > 0 && !k.help() }

// found leaves a thing for the reason.
func (k *call) found(what string) bool {
	k.what = what
	return true
}

// has reports whether one of the blank-separated words stands among the
// arguments. One that begins with two hyphens also counts when it is
// shortened, as getopt allows, or has a value.
func (k *call) has(words string) bool {
	for _, t := range k.words {
		if !strings.HasPrefix(t, "--") || len(t) < 4 {
			if hasWord(words, t) {
				return true
			}
			continue
		}
		name, _, _ := strings.Cut(t, "=")
		for rest := words; rest != ""; {
			var w string
			w, rest, _ = strings.Cut(rest, " ")
			if strings.HasPrefix(w, name) {
				return true
			}
		}
	}
	return false
}

// first reports whether the first argument that is no option is one of the
// blank-separated words.
func (k *call) first(words string) bool {
	for _, t := range k.words {
		if !strings.HasPrefix(t, "-") {
			return hasWord(words, t)
		}
	}
	return false
}

// short reports whether a bundle of short options holds one of the letters.
func (k *call) short(letters string) bool {
	for _, t := range k.words {
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
	return k.has("--help --version") || len(k.words) == 1 && k.has("-h -V")
}

// operandsAt returns the places of the arguments that are no options; valued
// lists the short options that take the next word.
func (k *call) operandsAt(valued string) []int {
	var at []int
	options := true
	for i := 0; i < len(k.words); i++ {
		t := k.words[i]
		switch {
		case !options, len(t) < 2, t[0] != '-':
			at = append(at, i)
		case t == "--":
			options = false
		case t[1] != '-' && strings.IndexByte(valued, t[len(t)-1]) >= 0:
			i++
		}
	}
	return at
}

func (k *call) operands(valued string) []string {
	at := k.operandsAt(valued)
	ops := make([]string, len(at))
	for i, j := range at {
		ops[i] = k.words[j]
	}
	return ops
}

// textAt returns the i-th of the words, "" if there are not so many.
func textAt(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return ""
}

func (k *call) onDevice() bool {
	for _, t := range k.words {
		if k.s.device(t) > harmless {
			return k.found(t)
		}
	}
	return false
}
