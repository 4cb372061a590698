package dangercheck

import (
	"strconv"
	"strings"
)

func iptables(k *call) bool {
	for i, w := range k.words {
		target := textAt(k.words, i+2)
		switch {
		case textAt(k.words, i+1) != "INPUT":
		case hasWord("-P --policy", w):
			return target != "ACCEPT" && target != "" && target[0] != markUnknown
		case hasWord("-A -I -R --append --insert --replace", w):
			return k.cutsSSH(i + 2)
		}
	}
	return false
}

// cutsSSH reports whether a rule for what comes in, which begins at that word,
// drops what comes to port 22 from everybody, or everything. One at the end of
// the chain does not, behind another that accepts.
func (k *call) cutsSSH(from int) bool {
	port, verdict, matches := false, "", false
	first := k.has("-I --insert")
	for i := from; i < len(k.words); i++ {
		name, arg, has := strings.Cut(k.words[i], "=")
		if !has {
			arg = textAt(k.words, i+1)
		}
		switch {
		case hasWord("--dport --dports --destination-port --destination-ports", name):
			port = k.words[max(0, i-1)] != "!" && holdsSSH(arg)
			matches = true
		case hasWord("-j --jump", name):
			verdict = arg
		case hasWord("-s --source --src", name) && arg != "0.0.0.0/0" && arg != "::/0" && k.words[i-1] != "!",
			hasWord("-m --match", name) && hasWord("recent limit hashlimit connlimit set geoip time mac", arg): // not everybody
			return false
		case hasWord("-m --match -p --protocol -i --in-interface --ctstate --state", name):
			matches = true
		}
	}
	switch verdict {
	case "ACCEPT":
		k.s.accepts = true
	case "DROP", "REJECT":
		return port || !matches && (first || !k.s.accepts)
	}
	return false
}

// holdsSSH reports whether a list of ports and ranges holds port 22.
func holdsSSH(ports string) bool {
	for _, p := range strings.Split(ports, ",") {
		from, to, isRange := strings.Cut(p, ":")
		if !isRange {
			to = from
		}
		low, err := strconv.Atoi(from)
		high, err2 := strconv.Atoi(to)
		if p == "ssh" || err == nil && err2 == nil && low <= 22 && 22 <= high {
			return true
		}
	}
	return false
}

// nft judges statements, given as arguments or on standard input.
func nft(k *call) bool {
	if k.has("--check") || k.short("c") {
		return false
	}
	text := strings.Join(k.words, " ")
	if k.short("f") || k.has("--file") {
		text = k.in.text
	}
	for _, stmt := range fields(text, ";\n") {
		if k.nftStatement(fields(stmt, " \t{},")) {
			return true
		}
	}
	return false
}

// nftStatement judges what takes the filter away and rules that drop what comes
// in to port 22 from everybody.
func (k *call) nftStatement(w []string) bool {
	for len(w) > 0 && (w[0] == "" || w[0][0] == '-') {
		w = w[1:]
	}
	verb, object := textAt(w, 0), textAt(w, 1)
	switch {
	case verb == "flush" && object == "ruleset":
		return true
	case hasWord("flush delete destroy", verb) && object == "table":
		return hasWord("fw4 filter", w[len(w)-1]) && k.found("of "+w[len(w)-1])
	case !hasWord("add insert", verb) || object != "rule" || len(w) < 5:
		return false
	}
	said := 0
	for i, t := range w {
		switch {
		case hasWord("saddr limit meter", t):
			return false
		case hasWord("input INPUT", t):
			said |= 1
		case hasWord("drop reject", t):
			said |= 2
		case t == "dport" && portsHoldSSH(w[i+1:]):
			said |= 4
		}
	}
	return said == 7 && k.found("for port 22")
}

// portsHoldSSH reports whether the ports with which words begin hold port 22.
func portsHoldSSH(w []string) bool {
	for _, p := range w {
		if p != "ssh" && strings.Trim(p, "0123456789-") != "" {
			break
		}
		if holdsSSH(strings.Replace(p, "-", ":", 1)) {
			return true
		}
	}
	return false
}

func ufw(k *call) bool {
	words := k.operands("")
	if verb := textAt(words, 0); (verb == "insert" || verb == "prepend") && len(words) > 2 {
		words = words[2:]
	}
	switch textAt(words, 0) {
	case "deny", "reject":
	case "delete":
		if textAt(words, 1) != "allow" && textAt(words, 1) != "limit" {
			return false
		}
	default:
		return false
	}
	for i, w := range words {
		switch w {
		case "from":
			if from := textAt(words, i+1); from != "any" { // one host
				return false
			}
		case "out":
			return false
		}
		if holdsSSH(strings.TrimSuffix(w, "/tcp")) || w == "OpenSSH" || w == "SSH" {
			return true
		}
	}
	return false
}
