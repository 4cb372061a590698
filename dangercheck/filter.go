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
		case w == "-P" || w == "--policy":
			return target != "ACCEPT" && target != "" && target[0] != markUnknown
		case w == "-A" || w == "-I" || w == "--append" || w == "--insert":
			return cutsSSH(k.words)
		}
	}
	return false
}

// cutsSSH reports whether a rule drops what comes to port 22 from everybody.
func cutsSSH(words []string) bool {
	port, drop := false, false
	for i, w := range words {
		name, arg, has := strings.Cut(w, "=")
		if !has {
			arg = textAt(words, i+1)
		}
		switch name {
		case "--dport", "--dports", "--destination-port", "--destination-ports":
			port = words[max(0, i-1)] != "!" && holdsSSH(arg)
		case "-j", "--jump":
			drop = arg == "DROP" || arg == "REJECT"
		case "-s", "--source", "--src":
			if arg != "0.0.0.0/0" && arg != "::/0" {
				return false
			}
		}
	}
	return port && drop
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
	for _, stmt := range strings.FieldsFunc(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if strings.HasSuffix(" "+strings.Join(strings.Fields(stmt), " "), " flush ruleset") {
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
	if verb := textAt(words, 0); verb != "deny" && verb != "reject" {
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
		case "22", "22/tcp", "ssh", "OpenSSH", "SSH":
			return true
		}
	}
	return false
}
