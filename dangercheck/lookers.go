package dangercheck

import (
	"cmp"
	"net/netip"
	"path"
	"strings"
)

// looker is a program that may look. short and long are its options that do
// (as in the function options), most is how many other words it may have, verbs
// what the first of them must be, and check, if there is one, says of those
// words whether that call only looks.
type looker struct {
	names string
	globs globbing
	short string // "*" allows every option
	long  string
	most  int
	verbs string
	check func(words []string) bool
}

const anyNumber = 1 << 10

// lookers is the one table of programs that may look. Name look-ups are not in
// it, nor git: what was read could leave as a name, and a repository's own
// settings name programs that git runs.
var lookers = [...]looker{
	{"cat head tail wc cut tr grep", anyGlob, "*", "", anyNumber, "", nil},
	{"ls stat du", anyGlob, "*", "", anyNumber, "", nil},
	{"df", anyGlob, "ahHiklmPTvt:x:B:", "all human-readable si inodes local portability print-type total output output= type= exclude-type= block-size=", anyNumber, "", nil}, // --sync writes
	{"file", safeGlob, "bhiklLNrv0F:f:e:P:", "brief mime mime-type mime-encoding keep-going dereference no-dereference raw separator=", anyNumber, "", nil},
	{"sort", safeGlob, "bcCdfghiMmnrRsuVzk:t:", "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort human-numeric-sort numeric-sort month-sort version-sort reverse unique stable check merge zero-terminated key= field-separator=", anyNumber, "", nil},
	{"uniq", noGlob, "cdDuizf:s:w:", "count repeated unique ignore-case zero-terminated skip-fields= skip-chars= check-chars=", 1, "", nil},
	{"find", safeGlob, "*", "", anyNumber, "", lookFind},

	{"free uptime uname id ps pgrep", noGlob, "*", "", anyNumber, "", nil},
	{"top", noGlob, "*", "", anyNumber, "", lookTop},
	{"lsof", noGlob, "*", "", anyNumber, "", lookLsof},
	{"hostname", noGlob, "sfdiIaA", "short fqdn long domain ip-address all-ip-addresses all-fqdns alias", 0, "", nil},
	{"date", noGlob, "*", "", anyNumber, "", lookDate},
	{"logread", noGlob, "fzZtl:e:", "", 0, "", nil},
	{"dmesg", noGlob, "HTLkutxewWdrSJf:l:", "human ctime reltime follow kernel userspace decode raw json nopager level= facility= since= until=", 0, "", nil},
	{"journalctl", noGlob, "aefqrxklb0123456789u:o:p:t:g:S:U:n:", "all boot no-pager since= until= unit= user-unit= priority= reverse follow lines= output= utc grep= dmesg system user list-boots disk-usage identifier= facility= catalog quiet no-hostname no-full full no-tail header fields field=", anyNumber, "", nil},
	{"vcgencmd", noGlob, "", "", 2, "", lookVcgencmd},

	{"ip", noGlob, "*", "", anyNumber, "", lookIP},
	{"ifconfig", noGlob, "a", "", 1, "", nil},
	{"route", noGlob, "ne46v", "", 0, "", nil},
	{"arp", noGlob, "anvei:", "", 1, "", addresses},
	{"bridge", noGlob, "sdjpc", "", anyNumber, "", func(w []string) bool {
		return len(w) > 1 && hasWord("link fdb vlan mdb", w[0]) && hasWord("show list ls", w[1])
	}},
	{"iw", noGlob, "", "", 4, "", lookIw},
	{"iwinfo", noGlob, "", "", 2, "", func(w []string) bool {
		return len(w) != 2 || hasWord("info scan assoclist freqlist txpowerlist countrylist htmodelist", w[1])
	}},
	{"ss", noGlob, "tuwxlnapeimsoH046O", "tcp udp raw unix listening numeric all processes extended info memory summary options no-header oneline", 0, "", nil},
	{"netstat", noGlob, "tulnapeirsWcgoxw46", "numeric listening tcp udp all programs route interfaces statistics wide", 0, "", nil},
	{"ifstatus", noGlob, "", "", 1, "", nil},
	{"wg", noGlob, "", "", 3, "", lookWg},
	{"nft", noGlob, "asnjy", "handle stateless json numeric", 5, "", lookNft},
	{"iptables ip6tables", noGlob, "LSnvxt:", "list list-rules line-numbers numeric verbose exact table=", 2, "", nil},
	{"fw4", noGlob, "", "", 1, "print", nil},
	{"ping ping6", noGlob, "*", "", anyNumber, "", lookPing},
	{"traceroute traceroute6", noGlob, "nIq:w:m:46", "", 1, "", oneAddress},

	{"uci", safeGlob, "qXnN", "", anyNumber, "show get export changes", nil},
	{"ubus", noGlob, "vS", "", 4, "", lookUbus},
	{"opkg", safeGlob, "", "size nocase", anyNumber, "list list-installed list-upgradable list-changed-conffiles info files status", nil},
	{"apk", safeGlob, "IaLsvedwRrqu", "installed upgradable contents size all description depends rdepends who-owns", anyNumber, "list info policy", nil},
	{"apt", safeGlob, "aq", "installed upgradable all-versions", anyNumber, "list show", nil},
	{"dpkg", safeGlob, "lLs", "list listfiles status", anyNumber, "", nil},
	{"systemctl", safeGlob, "*", "", anyNumber, "", lookSystemctl},
}

func lookerOf(name string) *looker {
	for i := range lookers {
		if hasWord(lookers[i].names, name) {
			return &lookers[i]
		}
	}
	return nil
}

// looks reports whether a call with these arguments only looks.
func (l *looker) looks(a []string) bool {
	if l.short != "*" {
		var ok bool
		if a, ok = options(a, l.short, l.long); !ok || len(a) > l.most {
			return false
		}
	}
	if l.verbs != "" && (len(a) == 0 || !hasWord(l.verbs, a[0])) {
		return false
	}
	return l.check == nil || l.check(a)
}

// opensDevice reports whether a command opens files that its words name, and one
// of these, which hold marks, may be a device: opening some of them already does
// something.
func opensDevice(words []string, dir string) bool {
	all, letter := hasWord("cat head tail wc cut tr grep sort uniq", words[0]), "" // or what an option names
	switch words[0] {
	case "file":
		letter = "f"
	case "du":
		letter = "X"
	case "pgrep":
		letter = "F"
	}
	tree := false // it opens all files of a tree
	for _, w := range words {
		tree = tree || words[0] == "grep" && len(w) > 1 && w[0] == '-' && (w[1:2] != "-" && strings.ContainsAny(w, "rR") || strings.Contains(w, "recursive"))
	}
	if tree {
		words = append(words, ".")
	}
	for i := 1; i < len(words) && (all || letter != ""); i++ {
		w, before := words[i], words[i-1]
		if len(w) > 1 && w[0] == '-' {
			if strings.Contains(w, "/dev/") || strings.HasPrefix(w, "--files") && words[0] != "grep" {
				return true
			}
			sign := cmp.Or(letter, w[1:2]) // behind which its value stands
			if w[1] == '-' {
				sign = "="
			}
			if _, w, _ = strings.Cut(w[1:], sign); w == "" {
				continue
			}
		} else if !all && !strings.HasPrefix(before, "--") && (before[0] != '-' || !strings.HasSuffix(before, letter)) {
			continue
		}
		if w != "/dev/null" && isDeviceName(w, dir, tree) {
			return true
		}
	}
	return false
}

// isDeviceName reports whether a word may lead below /dev from a directory, or
// to where all of it is seen: the root, for what opens a whole tree, and what
// the kernel shows of a process. What the kernel hands out once counts as well.
func isDeviceName(w, dir string, tree bool) bool {
	switch {
	case w != "" && w[0] == markHome:
		return strings.Contains(w, "..")
	case strings.HasPrefix(w, "/"):
	case dir == "":
		w = strings.TrimLeft(path.Clean(w), "./")
		return w == "dev" && tree || strings.HasPrefix(w, "dev/")
	default:
		w = dir + "/" + w
	}
	w = beneath(path.Clean(w))
	first, rest, below := strings.Cut(w[1:], "/")
	if !below {
		return tree && (w == "/" || hasName("dev proc sys", first))
	}
	switch {
	case names(first, "dev"):
		return true
	case names(first, "sys"): // of the kernel's buffers of traces, reading takes away
		e := strings.SplitN(rest, "/", 3)
		return names(e[0], "kernel") && (len(e) == 1 && tree || len(e) > 1 && hasName("debug tracing", e[1]))
	}
	rest += "/"
	return names(first, "proc") && (names(rest, "kmsg/") || strings.Contains(rest, "/root/") || strings.Contains(rest, "/cwd/") || strings.Contains(rest, "/fd/"))
}

func lookFind(a []string) bool {
	for _, t := range a {
		if hasPrefix(t, "-exec", "-ok", "-delete", "-fprint", "-fls", "-files0-from") {
			return false
		}
	}
	return true
}

func lookTop(a []string) bool {
	w, ok := options(a, "bcHiS1d:n:o:p:u:w:m", "")
	all := strings.Join(a, " ")
	return ok && len(w) == 0 && strings.Contains(all, "b") && strings.Contains(all, "n")
}

// lookLsof refuses host names behind an @, which lsof would look up.
func lookLsof(a []string) bool {
	var rest []string
	for _, t := range a {
		if strings.Contains(t, "@") || strings.HasPrefix(t, "+") {
			return false
		}
		if !hasPrefix(t, "-i", "-sTCP:", "-sUDP:") { // what it lists follows in the same word
			rest = append(rest, t)
		}
	}
	_, ok := options(rest, "abilnNPRtUwp:u:c:d:", "")
	return ok
}

func lookDate(a []string) bool {
	var rest []string
	for _, t := range a {
		if !hasWord("-I -Idate -Ihours -Iminutes -Iseconds -Is", t) {
			rest = append(rest, t)
		}
	}
	w, ok := options(rest, "uRd:r:", "utc universal date= reference= rfc-email rfc-2822 rfc-3339= iso-8601 iso-8601=")
	return ok && (len(w) == 0 || len(w) == 1 && w[0] != "" && w[0][0] == '+')
}

func lookVcgencmd(w []string) bool {
	return len(w) > 0 && hasPrefix(w[0], "get_", "measure_") && strings.IndexByte(w[0], ' ') < 0
}

func lookIP(a []string) bool {
	for len(a) > 0 && strings.HasPrefix(a[0], "-") {
		if !hasWord("-4 -6 -s -d -o -br -j -p -c -h -N -stats -statistics -details -oneline -brief -json -pretty -color -human -iec", a[0]) {
			return false
		}
		a = a[1:]
	}
	if len(a) == 0 || !hasWord("link l address addr a route r neigh neighbour neighbor n rule ru maddress maddr mroute", a[0]) {
		return false
	}
	for _, t := range a {
		if strings.HasPrefix(t, "-") {
			return false
		}
	}
	switch {
	case len(a) == 1:
		return true
	case a[1] == "get":
		return len(a) > 2 && hasWord("route r", a[0]) && isAddress(a[2])
	case a[1] == "s": // set, for a link
		return a[0] != "link" && a[0] != "l"
	}
	return hasWord("show sho sh list ls lst", a[1])
}

func lookIw(w []string) bool {
	switch {
	case len(w) == 1:
		return hasWord("dev list phy", w[0])
	case len(w) == 2:
		return w[0] == "reg" && w[1] == "get" || w[0] != "reg" && hasWord("info link scan", w[1])
	case len(w) > 2 && hasWord("dev phy", w[0]):
		return len(w) == 3 && hasWord("info link scan", w[2]) || len(w) == 4 && hasWord("station survey scan", w[2]) && w[3] == "dump"
	}
	return false
}

func lookWg(w []string) bool {
	switch {
	case len(w) == 0:
		return true
	case w[0] != "show":
		return false
	}
	return len(w) < 3 || hasWord("public-key listen-port fwmark peers endpoints allowed-ips latest-handshakes transfer persistent-keepalive", w[2])
}

// lookNft refuses what could be another statement: nft reads its words as one
// text.
func lookNft(w []string) bool {
	if len(w) < 2 || w[0] != "list" || !hasWord("ruleset tables table chains chain sets set maps map counters counter", w[1]) {
		return false
	}
	for _, t := range w {
		for i := range len(t) {
			if !isNameByte(t[i], false) && t[i] != '-' {
				return false
			}
		}
	}
	return true
}

func lookPing(a []string) bool {
	w, ok := options(a, "c:W:w:i:I:s:qn46", "")
	return ok && oneAddress(w) && strings.Contains(" "+strings.Join(a, " "), " -c")
}

func oneAddress(w []string) bool { return len(w) == 1 && isAddress(w[0]) }

func addresses(w []string) bool { return len(w) == 0 || oneAddress(w) }

func isAddress(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil
}

func lookUbus(w []string) bool {
	switch {
	case len(w) == 0:
		return false
	case w[0] == "list":
		return len(w) < 3
	}
	return w[0] == "call" && len(w) > 2 && hasWord("status info board dump", w[2])
}

// lookSystemctl wants the verb in front of all options that take a value, or
// such a value could be taken for it.
func lookSystemctl(a []string) bool {
	verb := 0
	for verb < len(a) && hasWord("--no-pager --full -l --all -a --plain --no-legend -q --quiet --user --system", a[verb]) {
		verb++
	}
	if verb == len(a) || !hasWord("status show cat", a[verb]) && !hasPrefix(a[verb], "list-", "is-") {
		return false
	}
	_, ok := options(a[verb:], "laqrTp:t:n:o:", "no-pager full all plain no-legend quiet user system value failed reverse after before recursive show-types property= type= state= lines= output=")
	return ok
}
