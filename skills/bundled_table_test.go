package skills

import (
	"fmt"
	"slices"
	"strings"
)

// releases are those that bundled skills speak of, in their order.
var releases = map[string][]string{
	"OpenWrt":         {"22.03", "23.05", "24.10", "25.12"},
	"Raspberry Pi OS": {"12", "13"},
}

// systemOf is what a bundled skill is about.
func systemOf(skill string) string {
	if strings.HasPrefix(skill, "pi-") {
		return "Raspberry Pi OS"
	}
	return "OpenWrt"
}

// A program says where commands exist.
type program struct {
	names   string // commands
	system  string
	only    string // releases, "A to B" or one; "" is all
	without string // options that this one lacks
	from    string // package that has to be installed; "" is none
}

// programs are the commands that bundled skills may name. Those of OpenWrt are
// of its default image (package/base-files, busybox with its Config-defaults,
// uci, ubus, procd, netifd, firewall4, dropbear, iw and iwinfo with any Wi-Fi
// driver), or of the package named, in the branches of the packages feed for
// these releases. Those of Raspberry Pi OS are of its Lite image.
var programs = []program{
	{names: ". [ cd command echo exit for if kill set sleep test true umask while", system: "OpenWrt"},
	{names: "cat chmod cmp cp crontab cut date df free head hexdump ip kill logger ls mkdir mv nslookup ping ps readlink reboot rm sh sha256sum sleep tail tar top touch tr uname wc", system: "OpenWrt", without: "--"},
	{names: "grep", system: "OpenWrt", without: "-- -P"},
	{names: "sort", system: "OpenWrt", without: "-- -k -t"},
	{names: "find", system: "OpenWrt", without: "-- -printf -delete -empty"},
	{names: "start-stop-daemon", system: "OpenWrt"},
	{names: "firstboot fw4 ifdown ifstatus ifup iw iwinfo jsonfilter logread mount_root mtd nft reload_config scp ssh sysupgrade ubus uci wifi", system: "OpenWrt"},
	{names: "swconfig", system: "OpenWrt"}, // where switch ports are no devices
	{names: "config_get config_load " + procdWords, system: "OpenWrt"},
	{names: "opkg opkg-key", system: "OpenWrt", only: "22.03 to 24.10"},
	{names: "apk", system: "OpenWrt", only: "25.12"},
	{names: "auc", system: "OpenWrt", only: "22.03 to 23.05", from: "auc"},
	{names: "owut", system: "OpenWrt", only: "24.10 to 25.12", from: "owut"},
	{names: "wg", system: "OpenWrt", from: "wireguard-tools"},
	{names: "qrencode", system: "OpenWrt", from: "qrencode"},
	{names: "tc", system: "OpenWrt", from: "sqm-scripts"},
	{names: "mwan3", system: "OpenWrt", from: "mwan3"},

	{names: "apt cat findmnt journalctl nmcli pinctrl python3 raspi-config systemctl systemd-analyze systemd-run vcgencmd", system: "Raspberry Pi OS"},
	{names: "gpiodetect gpioinfo gpioget gpioset gpiomon", system: "Raspberry Pi OS", from: "gpiod"},
	{names: "gpiofind", system: "Raspberry Pi OS", only: "12", from: "gpiod"},
}

// services have a script in /etc/init.d, of the default image or a package.
var services = map[string]string{
	"cron": "", "dnsmasq": "", "dropbear": "", "firewall": "", "network": "", "sysntpd": "", "system": "",
	"sqm": "sqm-scripts", "frpc": "frpc", // the example of a service of one's own
}

// actions are those of every such script.
var actions = []string{"start", "stop", "restart", "reload", "enable", "disable", "enabled"}

// packages are what a package manager is told to install, in all releases.
var packages = []string{"ip6tables-nft", "iptables-nft", "mwan3", "tcpdump"}

// procdWords are the functions of /lib/functions/procd.sh that skills show.
const procdWords = "procd_add_interface_trigger procd_add_reload_trigger procd_close_instance procd_open_instance procd_set_param"

// span are the releases of "A to B", or of A alone; all of them if it is "".
func span(system, text string) ([]string, error) {
	all := releases[system]
	if text == "" {
		return all, nil
	}
	first, last, ok := strings.Cut(text, " to ")
	if !ok {
		last = first
	}
	i, j := slices.Index(all, first), slices.Index(all, last)
	if i < 0 || j < i {
		return nil, fmt.Errorf("%q are no releases of %s", text, system)
	}
	return all[i : j+1], nil
}

// commandFault says why a command cannot stand in a skill, where it is to work
// in the given releases; "" if it can.
func commandFault(skill, text string, words, in []string) string {
	name := words[0]
	if service, ok := strings.CutPrefix(name, "/etc/init.d/"); ok {
		switch from, ok := services[service]; {
		case !ok:
			return "no such service"
		case len(words) < 2 || !slices.Contains(actions, words[1]):
			return "no such action"
		case !strings.Contains(text, from):
			return "does not name the package " + from
		}
		return ""
	}
	if strings.HasPrefix(name, "/usr/bin/") {
		name = strings.TrimPrefix(name, "/usr/bin/")
		if services[name] != "" {
			return ""
		}
	}
	for _, p := range programs {
		if p.system == systemOf(skill) && slices.Contains(strings.Fields(p.names), name) {
			return p.fault(text, words, in)
		}
	}
	return "not known in " + systemOf(skill)
}

func (p program) fault(text string, words, in []string) string {
	has, err := span(p.system, p.only)
	if err != nil {
		return err.Error()
	}
	for _, r := range in {
		if !slices.Contains(has, r) {
			return "not in " + r
		}
	}
	for _, w := range words[1:] {
		for _, o := range strings.Fields(p.without) {
			if w == o && o != "--" || o == "--" && len(w) > 2 && strings.HasPrefix(w, "--") {
				return "has no option " + w
			}
		}
	}
	if !strings.Contains(text, p.from) {
		return "does not name the package " + p.from
	}
	if i := slices.IndexFunc(words, func(w string) bool { return w == "install" || w == "add" }); i > 0 && (words[0] == "opkg" || words[0] == "apk") {
		for _, w := range words[i+1:] {
			if w[0] != '-' && w[0] != '/' && !slices.Contains(packages, w) {
				return "no such package: " + w
			}
		}
	}
	return ""
}
