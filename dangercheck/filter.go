package dangercheck

import (
	"strconv"
	"strings"
)

func iptables(k *call) string {
	words := make([]string, len(k.args))
	for i, a := range k.args {
		words[i] = a.text()
	}
	for i, w := range words {
		chain, target := "", ""
		if i+1 < len(words) {
			chain = words[i+1]
		}
		if i+2 < len(words) {
			target = words[i+2]
		}
		switch {
		case chain != "INPUT":
		case w == "-P" || w == "--policy":
			return when(target != "ACCEPT" && target != "" && target[0] != markUnknown, "drops what comes in by default")
		case w == "-A" || w == "-I" || w == "--append" || w == "--insert":
			return when(cutsSSH(words), "drops logins over SSH")
		}
	}
	return ""
}

// cutsSSH reports whether a rule drops what comes to port 22 from everybody.
func cutsSSH(words []string) bool {
	port, drop := false, false
	for i, w := range words {
		name, arg, has := strings.Cut(w, "=")
		if !has && i+1 < len(words) {
			arg = words[i+1]
		}
		switch name {
		case "--dport", "--dports", "--destination-port", "--destination-ports":
			port = i == 0 || words[i-1] != "!"
			port = port && holdsSSH(arg)
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
	for p := range strings.SplitSeq(ports, ",") {
		from, to, isRange := strings.Cut(p, ":")
		if !isRange {
			to = from
		}
		if p == "ssh" {
			return true
		}
		lo, err1 := strconv.Atoi(from)
		hi, err2 := strconv.Atoi(to)
		if err1 == nil && err2 == nil && lo <= 22 && 22 <= hi {
			return true
		}
	}
	return false
}

// nft judges statements, given as arguments or on standard input.
func nft(k *call) string {
	if k.has("--check") || k.short("c") {
		return ""
	}
	text := plain(texts(k.args))
	if k.short("f") || k.has("--file") {
		text = k.in.text
	}
	for stmt := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == '\n' }) {
		if w := strings.Fields(stmt); len(w) > 1 && w[len(w)-2] == "flush" && w[len(w)-1] == "ruleset" || len(w) > 1 && w[0] == "flush" && w[1] == "ruleset" {
			return "removes all filter rules"
		}
	}
	return ""
}

func ufw(k *call) string {
	var words []string
	for _, v := range k.operands("") {
		words = append(words, v.text())
	}
	if len(words) > 2 && (words[0] == "insert" || words[0] == "prepend") {
		words = words[2:]
	}
	if len(words) < 2 || words[0] != "deny" && words[0] != "reject" {
		return ""
	}
	for i, w := range words[1:] {
		switch w {
		case "from":
			if i+2 < len(words) && words[i+2] != "any" {
				return "" // one host
			}
		case "out":
			return ""
		case "22", "22/tcp", "ssh", "OpenSSH", "SSH":
			return "drops logins over SSH"
		}
	}
	return ""
}
