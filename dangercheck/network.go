package dangercheck

import "strings"

// ipDown judges ip, whose words may be shortened.
func ipDown(k *call) string {
	ops := k.operands("nbfl")
	if len(ops) < 2 {
		return ""
	}
	object, verb := ops[0].text(), ops[1].text()
	switch {
	case strings.HasPrefix("link", object) && strings.HasPrefix("set", verb):
		for _, v := range ops[2:] {
			if v.text() == "down" {
				return "takes an interface down"
			}
		}
	case strings.HasPrefix("address", object) && strings.HasPrefix("flush", verb):
		return "removes the addresses of an interface"
	}
	return ""
}

// ubusNetwork judges the calls that stop interfaces and, through the service
// manager, what an init script would stop.
func ubusNetwork(k *call) string {
	ops := k.operands("tsm")
	object, method := textAt(ops, 1), textAt(ops, 2)
	switch {
	case textAt(ops, 0) != "call":
	case object == "network" && (method == "restart" || method == "reload" && k.s.committed):
		return "restart of the network can cut the connection"
	case strings.HasPrefix(object, "network.interface") && (method == "down" || method == "remove"):
		return "takes an interface down"
	case object == "network.wireless" && method == "down":
		return "switches the radios off"
	case object == "rc" && method == "init":
		order := strings.FieldsFunc(textAt(ops, 3), func(r rune) bool { return strings.ContainsRune(`{}":, `, r) })
		return k.stopped(after(order, "name"), after(order, "action"))
	}
	return ""
}

// after returns the word that follows another.
func after(words []string, w string) string {
	for i, x := range words {
		if x == w && i+1 < len(words) {
			return words[i+1]
		}
	}
	return ""
}

// serviceKind says what stopping a service cuts: the network, the login or the
// packet filter.
func serviceKind(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(base(name), ".service"), ".socket")
	name, _, _ = strings.Cut(name, "@")
	switch name {
	case "network", "networking", "NetworkManager", "network-manager", "systemd-networkd", "dhcpcd", "wpa_supplicant", "wpad", "netifd", "connman":
		return "network"
	case "dropbear", "ssh", "sshd":
		return "login"
	case "firewall":
		return "filter"
	}
	return ""
}

// stopped judges one verb on one service, as init scripts know them.
func (k *call) stopped(name, verb string) string {
	kind := serviceKind(name)
	switch {
	case kind == "":
		return ""
	case verb == "stop", verb == "force-stop", verb == "kill":
		switch kind {
		case "login":
			return "stops the login service"
		case "filter":
			return "stops the packet filter"
		}
		return "stop of " + base(name) + " cuts the connection"
	case kind == "network" && (verb == "restart" || verb == "force-reload" || verb == "shutdown" || verb == "reload" && k.s.committed):
		return verb + " of " + base(name) + " can cut the connection"
	}
	return ""
}

// initScript judges /etc/init.d/NAME VERB and /etc/rc.d/S20NAME VERB.
func (k *call) initScript() string {
	name := k.name
	switch {
	case strings.Contains(k.path, "init.d/"):
	case strings.Contains(k.path, "rc.d/") && len(name) > 3 && strings.IndexByte("SK", name[0]) >= 0:
		name = strings.TrimLeft(name[1:], "0123456789")
	default:
		return ""
	}
	return k.stopped(name, textAt(k.args, 0))
}

func service(k *call) string {
	ops := k.operands("")
	return k.stopped(textAt(ops, 0), textAt(ops, 1))
}

// stopsDaemon judges start-stop-daemon -K.
func stopsDaemon(k *call) string {
	if !k.short("K") && !k.has("--stop") || k.harmlessSignal() {
		return ""
	}
	for _, a := range k.args {
		if serviceKind(strings.TrimSuffix(a.text(), ".pid")) == "login" {
			return "stops the login service"
		}
	}
	return ""
}

func systemctlStop(k *call) string {
	ops := k.operands("HMtps")
	if len(ops) < 2 {
		return ""
	}
	verb := ops[0].text()
	for _, v := range ops[1:] {
		kind := serviceKind(v.text())
		switch {
		case kind != "network" && kind != "login":
		case verb == "stop", verb == "mask", verb == "kill", verb == "disable" && k.has("--now"):
			return verb + " of " + v.text() + " can cut the connection"
		}
	}
	return ""
}

// nmcli judges nmcli, whose objects and verbs may be shortened.
func nmcli(k *call) string {
	ops := k.operands("fgmtcew")
	object, verb, what := textAt(ops, 0), textAt(ops, 1), textAt(ops, 2)
	is := func(full string) bool { return object != "" && strings.HasPrefix(full, object) }
	switch {
	case is("radio") && (verb == "off" || (verb == "wifi" || verb == "all") && what == "off"):
		return "switches the radios off"
	case is("networking") && verb == "off":
		return "switches the network off"
	case is("device") && (verb == "down" || len(verb) > 2 && strings.HasPrefix("disconnect", verb)):
		return "disconnects a device"
	case is("connection") && verb == "down":
		return "takes a connection down"
	}
	return ""
}

// uci remembers a commit of the network's settings; the reload after it is
// what cuts.
func (k *call) uci() {
	var words []string
	for _, v := range k.operands("cdfmpPtn") {
		words = append(words, v.text())
	}
	if len(words) > 0 && words[0] == "batch" {
		for line := range strings.SplitSeq(k.in.text, "\n") {
			k.committed(strings.Fields(line))
		}
	}
	k.committed(words)
}

func (k *call) committed(words []string) {
	if len(words) > 0 && words[0] == "commit" && (len(words) == 1 || strings.HasPrefix(words[1], "network")) {
		k.s.committed = true
	}
}
