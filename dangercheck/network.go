package dangercheck

import "strings"

// ipDown judges ip, whose words may be shortened.
func ipDown(k *call) bool {
	ops := k.operands("nbfl")
	object, verb := textAt(ops, 0), textAt(ops, 1)
	switch {
	case verb == "":
		return false
	case strings.HasPrefix("link", object) && strings.HasPrefix("set", verb):
		return k.has("down")
	}
	return strings.HasPrefix("address", object) && strings.HasPrefix("flush", verb)
}

// nmcliOff judges nmcli, whose objects and verbs may be shortened.
func nmcliOff(k *call) bool {
	ops := k.operands("fgmtcew")
	object, verb, what := textAt(ops, 0), textAt(ops, 1), textAt(ops, 2)
	is := func(full string) bool { return object != "" && strings.HasPrefix(full, object) }
	switch {
	case is("radio"):
		return verb == "off" || (verb == "wifi" || verb == "all") && what == "off"
	case is("networking"):
		return verb == "off"
	case is("device"):
		return verb == "down" || len(verb) > 2 && strings.HasPrefix("disconnect", verb)
	case is("connection"):
		return verb == "down"
	}
	return false
}

// ubusNetwork judges the calls that stop interfaces and, through the service
// manager, what an init script would stop.
func ubusNetwork(k *call) bool {
	ops := k.operands("tsm")
	object, method := textAt(ops, 1), textAt(ops, 2)
	switch {
	case textAt(ops, 0) != "call":
		return false
	case object == "rc" && method == "init":
		order := fields(textAt(ops, 3), `{}":, `)
		return k.stops(after(order, "name"), after(order, "action"))
	case strings.HasPrefix(object, "network.interface"), object == "network.wireless":
		return (method == "down" || method == "remove") && k.found(object)
	}
	return k.stops(object, method)
}

// after returns the word that follows another.
func after(words []string, w string) string {
	for i, x := range words {
		if x == w {
			return textAt(words, i+1)
		}
	}
	return ""
}

// serviceKind says what stopping a service cuts.
type serviceKind int

const (
	otherService serviceKind = iota
	networkService
	loginService
	filterService
)

func serviceOf(name string) serviceKind {
	name = strings.TrimSuffix(strings.TrimSuffix(base(name), ".service"), ".socket")
	name, _, _ = strings.Cut(name, "@")
	switch {
	case name == "":
	case hasWord("network networking NetworkManager network-manager systemd-networkd dhcpcd wpa_supplicant wpad netifd connman", name):
		return networkService
	case hasWord("dropbear ssh sshd", name):
		return loginService
	case name == "firewall":
		return filterService
	}
	return otherService
}

// stops judges one verb on one service, as init scripts know them.
func (k *call) stops(name, verb string) bool {
	kind := serviceOf(name)
	switch {
	case hasWord("stop force-stop kill", verb):
		return kind != otherService && k.found(verb+" of "+name)
	case hasWord("restart force-reload shutdown", verb):
		return kind == networkService && k.found(verb+" of "+name)
	case verb == "reload":
		return kind == networkService && k.s.committed && k.found(verb+" of "+name)
	}
	return false
}

// initDir reports whether a path names an init script.
func (s *scope) initDir(p string) bool {
	return strings.Contains(p, "init.d/") || strings.Contains(p, "/") && strings.Contains(s.join(p), "init.d/")
}

// initScript judges /etc/init.d/NAME VERB and /etc/rc.d/S20NAME VERB.
func (k *call) initScript() bool {
	name := k.name
	switch {
	case k.s.initDir(k.path):
	case strings.Contains(k.path, "rc.d/") && len(name) > 3 && strings.IndexByte("SK", name[0]) >= 0:
		name = strings.TrimLeft(name[1:], "0123456789")
	default:
		return false
	}
	return k.stops(name, textAt(k.words, 0))
}

// stopsDaemon judges start-stop-daemon -K.
func stopsDaemon(k *call) bool {
	if !k.short("K") && !k.has("--stop") || k.harmlessSignal() {
		return false
	}
	for _, t := range k.words {
		if serviceOf(daemon(t)) == loginService {
			return k.found("stop of " + t)
		}
	}
	return false
}

func systemctlStops(k *call) bool {
	ops := k.operands("HMtps")
	verb := textAt(ops, 0)
	if hasWord("restart try-restart", verb) { // the other managers keep the links up
		return strings.HasPrefix(textAt(ops, 1), "networking") && k.found(verb+" of "+ops[1])
	}
	if !hasWord("stop mask kill", verb) && (verb != "disable" || !k.has("--now")) {
		return false
	}
	for _, unit := range ops[1:] {
		if kind := serviceOf(unit); kind == networkService || kind == loginService {
			return k.found(verb + " of " + unit)
		}
	}
	return false
}

// uci remembers a commit of the network's settings; the reload after it is
// what cuts.
func (k *call) uci() {
	ops := k.operands("cdfmpPtn")
	if textAt(ops, 0) == "batch" {
		for _, line := range strings.Split(k.in.text, "\n") {
			k.commits(strings.Fields(line))
		}
	}
	k.commits(ops)
}

func (k *call) commits(words []string) {
	if textAt(words, 0) == "commit" && (len(words) == 1 || strings.HasPrefix(words[1], "network")) {
		k.s.committed = true
	}
}
