package dangercheck

import "strings"

// wrapper is a program that runs the command in its arguments. Options are
// named by their letter or long name.
type wrapper struct {
	name   string
	values string // letters of the options that take a value
	long   string // blank-separated long options that take the next word
	skip   int    // operands before the command
	text   string // options whose value is shell text
	dir    string // options that change the directory
	idle   string // options with which nothing runs
	shell  string // options with which a shell reads standard input, if no command follows
}

// wrappers is the one table of them. It lists what admins use; a program that
// is not here hides the command behind it.
var wrappers = [...]wrapper{
	{name: "sudo", values: "ugpChrtTUDR", long: "user group prompt close-from host role type command-timeout other-user chdir chroot", dir: "D chdir", idle: "l v K V e list validate remove-timestamp edit", shell: "s i shell login"},
	{name: "doas", values: "uC", idle: "L C", shell: "s"},
	{name: "run0", long: "unit property description slice user group nice chdir setenv background", dir: "D chdir", values: "upgD"},
	{name: "pkexec", long: "user"},
	{name: "env", values: "uCS", long: "unset chdir split-string", text: "S split-string", dir: "C chdir"},
	{name: "nice", values: "n", long: "adjustment"},
	{name: "ionice", values: "cnpPu", long: "class classdata pid", idle: "p P u"},
	{name: "chrt", values: "TPDp", skip: 1, idle: "p m"},
	{name: "proxychains", values: "f"}, {name: "proxychains4", values: "f"},
	{name: "command", idle: "v V"}, {name: "exec", values: "a"},
	{name: "stdbuf", values: "ioe", long: "input output error"},
	{name: "time", values: "fo", long: "format output"},
	{name: "timeout", values: "sk", long: "signal kill-after", skip: 1},
	{name: "busybox", idle: "list list-full install"},
	{name: "taskset", values: "p", skip: 1, idle: "p"},
	{name: "numactl", values: "CmNpi", idle: "s H"},
	{name: "flock", values: "wEc", long: "timeout wait conflict-exit-code command", skip: 1, text: "c command", idle: "u"},
	{name: "lock", skip: 1, idle: "u"},
	{name: "screen", values: "StTcehps", idle: "ls list x X r"},
	{name: "sshpass", values: "pfdP"},
	{name: "autossh", values: "M"},
	{name: "watch", values: "nqdi", long: "interval equexit"},
	{name: "script", values: "cEIOBTmo", long: "command", skip: 1, text: "c command"},
	{name: "strace", values: "oepsEuaIPSbXO"}, {name: "ltrace", values: "oepsuanAlx"},
	{name: "unshare", values: "RwSG", long: "root wd", dir: "w wd", shell: "m n p r U u i"},
	{name: "nsenter", values: "tSGW", long: "target", shell: "t m n p a"},
	{name: "chroot", long: "userspec groups", skip: 1},
	{name: "setpriv", long: "reuid regid groups"},
	{name: "runuser", values: "ugG"},
	{name: "faketime", values: "f", skip: 1},
	{name: "chpst", values: "uUbednmloptfc/"}, {name: "softlimit", values: "acdfmlnoprst"},
	{name: "prlimit", values: "po", idle: "p pid"}, {name: "choom", values: "np", long: "adjust pid", idle: "p pid"},
	{name: "ssh-agent", values: "aEtPO", idle: "k"}, {name: "dtach", values: "AcnNaer", idle: "a p"},
	{name: "xvfb-run", values: "enfps"},
	{name: "systemd-run", values: "upEHM", long: "unit property description slice setenv uid gid nice working-directory on-active on-boot on-startup on-calendar on-unit-active timer-property", dir: "working-directory"},
	{name: "systemd-inhibit", long: "what who why mode", idle: "list"},
	{name: "cpulimit", values: "lpec", long: "limit", idle: "p"},
	{name: "trickle", values: "udwlts"},
	{name: "perf", values: "aeopCtGFcIrD", long: "event output pid tid cpu", skip: 1, idle: "p t pid tid"},
	{name: "uclampset", values: "mMp", idle: "p s pid system"}, {name: "cgexec", values: "g"}, {name: "aa-exec", values: "pn", long: "profile namespace"},
	{name: "systemd-cat", values: "tp", long: "identifier priority stderr-priority level-prefix namespace"}, {name: "tini", values: "ep"}, {name: "dumb-init", values: "r"},
	{name: "runcon", values: "utrl", long: "user type role range", skip: 1}, {name: "openvt", values: "c"}, {name: "daemonize", values: "acelopu"},
	{name: "machinectl", values: "ME", long: "machine setenv uid", skip: 2}, {name: "tcpsvd", values: "cCbulE", skip: 2}, {name: "schroot", values: "cdspu", long: "chroot directory shell preference user"},
}

// plainWrappers are those without options that take a value, skipWrappers those
// of them with an operand before the command. bundlers are those whose options
// are not told here: what follows any of their words may be the command.
const (
	plainWrappers = "nohup setsid builtin eatmydata fakeroot unbuffer torsocks torify dbus-run-session catchsegv toybox chronic rlwrap valgrind firejail coproc noglob nocorrect entr " +
		"linux32 linux64 i386 i486 i586 i686 x86_64 mips mips32 mips64 ppc ppc32 ppc64 aarch64 uname26 ifne annotate-output ts tsp multitime niceload"
	skipWrappers = "setarch setuidgid logsave gosu su-exec s6-setuidgid envuidgid s6-envuidgid envdir s6-envdir setlock s6-setlock lckdo arch-chroot"
	bundlers     = "bwrap proot systemd-nspawn ujail minijail0 cset schedtool pexec flatpak-spawn"
)

var (
	plainWrapper  wrapper
	skipWrapper   = wrapper{skip: 1}
	loaderWrapper = wrapper{values: "LE", long: "library-path preload argv0 audit"}
)

func wrapperOf(name string) *wrapper {
	switch {
	case hasPrefix(name, "ld-", "ld.so", "qemu-"): // run what follows
		return &loaderWrapper
	case strings.HasPrefix(name, "busybox"): // or busybox.static
		name = "busybox"
	}
	for i := range wrappers {
		if wrappers[i].name == name {
			return &wrappers[i]
		}
	}
	switch {
	case hasWord(plainWrappers, name):
		return &plainWrapper
	case hasWord(skipWrappers, name):
		return &skipWrapper
	}
	return nil
}

// runners are programs beside the wrappers, shells and interpreters that run
// what their arguments or files name.
const runners = "su sg xargs find sed ssh dbclient scp sftp rsync tar eval . source trap make git git-shell docker podman crontab at batch parallel sem expect tmux " +
	"vi vim nvim view rvim rview vimdiff ex less more man ip start-stop-daemon cluade npm npx yarn pnpm go cargo nmap gdb zip ed emacs nano mc run-parts lxc-attach lxc ansible " +
	"capsh xterm socat nc ncat mosh plink uv uvx poetry pipenv pip pipx gcc cc g++ clang tcc split pee mispipe hyperfine ftp telnet lftp smbclient dc m4 sqlite psql mysql mariadb " +
	"tcpdump openvpn logrotate hg svn wine java jshell R Rscript julia octave osascript gnuplot debugfs gem bundle ghc ghci irb inetd xinetd inotifyd"

// RunsPrograms reports whether a program of that name runs other programs that
// its arguments name, so that allowing it allows everything. A version or a
// build behind the name (pip3.11, vim.tiny, bash-static) makes no difference.
func RunsPrograms(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	stem = strings.TrimRight(strings.TrimSuffix(stem, "-static"), "0123456789-")
	for _, n := range [...]string{name, stem} {
		if wrapperOf(n) != nil || isShell(n) || isInterpreter(n) || hasWord(runners, n) || hasWord(bundlers, n) {
			return true
		}
	}
	return false
}

func isShell(name string) bool {
	return hasWord("sh bash ash dash zsh ksh mksh hush rbash fish csh tcsh pwsh", name)
}

func isInterpreter(name string) bool {
	return hasWord("python pypy perl awk gawk mawk nawk lua luajit node ruby php tclsh ucode jshn micropython deno bun", strings.TrimRight(name, "0123456789."))
}

func base(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// hasWord reports whether a list of blank-separated words holds one.
func hasWord(list, w string) bool {
	for list != "" && w != "" {
		i := strings.Index(list, w)
		if i < 0 {
			return false
		}
		end := i + len(w)
		if (i == 0 || list[i-1] == ' ') && (end == len(list) || list[end] == ' ') {
			return strings.IndexByte(w, ' ') < 0
		}
		_, list, _ = strings.Cut(list[i:], " ")
	}
	return false
}

// peeled is what a wrapper runs: a command, shell text with parameters, or a
// shell that reads standard input.
type peeled struct {
	args   []value // the command, or the parameters of text
	text   string
	isText bool
	shell  bool
	dir    string // where it runs, if that changes
}

// peel returns what a wrapper runs; ok is false when the call is no wrapper's
// or runs nothing.
func (k *call) peel() (p peeled, ok bool) {
	w := wrapperOf(k.name)
	if w == nil || k.name == "runuser" && !k.short("u") { // it is like su then
		return k.peelShaped()
	}
	skip, i, options := w.skip, 0, true
	if hasWord("setarch runcon", k.name) && strings.HasPrefix(textAt(k.words, 0), "-") { // options stand for it
		skip = 0
	}
	for i < len(k.args) {
		switch a := k.words[i]; {
		case options && a == "--":
			options = false
			i++
		case options && len(a) > 1 && a[0] == '-': // also where only a run tells its value
			used, end := w.option(k.args[i:], &p)
			if end {
				return peeled{}, false
			}
			i += used
		case a == "-" && k.name == "env", strings.HasPrefix(a, "+"):
			i++
		case isAssignment(a) && hasWord("env sudo doas", k.name):
			k.declare(k.args[i])
			i++
		case skip > 0:
			i, skip = i+1, skip-1
		default:
			p.args, p.shell = k.args[i:], false
			return p.whole(k.name), true
		}
		if p.isText {
			p.args = k.args[i:]
			if k.name == "env" { // more of its own arguments
				p.text = "env " + p.text + ` "$@"`
			}
			return p, true
		}
	}
	p.shell = p.shell || k.name == "chroot" && skip == 0
	return p, p.shell
}

// whole makes text of the arguments of wrappers that hand all of them to a
// shell.
func (p peeled) whole(name string) peeled {
	if name == "watch" || len(p.args) == 1 && strings.IndexByte(p.args[0].s, ' ') > 0 && hasWord("screen script unbuffer entr", name) {
		p.text, p.isText, p.args = texts(p.args), true, nil
	}
	return p
}

// option takes one option and says how many words it is, and whether nothing
// runs because of it.
func (w *wrapper) option(args []value, p *peeled) (used int, end bool) {
	a := args[0].text()
	if name, ok := strings.CutPrefix(a, "--"); ok {
		name, val, has := strings.Cut(name, "=")
		used = 1
		if !has && hasWord(w.long, name) && len(args) > 1 {
			used, val = 2, args[1].s
		}
		return used, w.take(name, val, p)
	}
	for j := 1; j < len(a); j++ {
		letter := a[j : j+1]
		if strings.IndexByte(w.values, a[j]) < 0 {
			if w.take(letter, "", p) {
				return 1, true
			}
			continue
		}
		used, val := 1, args[0].text()[j+1:]
		if val == "" && len(args) > 1 {
			used, val = 2, args[1].s
		}
		return used, w.take(letter, val, p)
	}
	return 1, false
}

// take notes what an option means and reports whether nothing runs with it.
func (w *wrapper) take(name, val string, p *peeled) bool {
	switch {
	case hasWord(w.idle, name), name == "help", name == "version":
		return true
	case hasWord(w.text, name):
		p.text, p.isText = val, true
	case hasWord(w.dir, name):
		p.dir = val
	case hasWord(w.shell, name):
		p.shell = true
	}
	return false
}

// peelShaped takes the wrappers whose arguments have a shape of their own.
func (k *call) peelShaped() (p peeled, ok bool) {
	from := 1 // where the command begins, behind this word
	var word string
	switch k.name {
	case "ip": // ip netns exec NAME command
		word, from = "exec", 2
	case "cluade": // cluade guard [options] -- command
		if k.first("guard") {
			word = "--"
		}
	case "capsh": // capsh [options] -- arguments of a shell
		word = "--"
		p.args = []value{{s: "sh"}}
	case "gdb":
		word = "--args"
	case "uv", "poetry", "pipenv":
		word = "run"
	case "start-stop-daemon":
		return k.peelDaemon()
	}
	for i := 0; i+from < len(k.args) && word != ""; i++ {
		if k.words[i] == word {
			p.args = append(p.args, k.args[i+from:]...)
			return p, true
		}
	}
	return p, false
}

// peelDaemon takes start-stop-daemon -S -x PROGRAM [-- arguments].
func (k *call) peelDaemon() (p peeled, ok bool) {
	for i, a := range k.words {
		if a == "--" {
			p.args = append(p.args, k.args[i+1:]...)
			break
		}
		if i+1 == len(k.args) || len(a) < 2 || a[0] != '-' {
			continue
		}
		switch next := k.args[i+1]; {
		case a == "--exec", a == "--startas", a[1] != '-' && strings.IndexByte("xa", a[len(a)-1]) >= 0:
			p.args = []value{next}
		case a == "-d", a == "--chdir":
			p.dir = next.s
		}
	}
	return p, len(p.args) > 0 && (k.has("-S --start") || k.short("S"))
}
