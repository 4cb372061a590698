package dangercheck

import "strings"

// carriers are programs that start the shell text behind a mark with which one
// of their arguments, or a line of what they read, begins. A mark that is all of
// an argument is an option, whose value is the next.
var carriers = [...]struct{ name, marks string }{
	{"vi", editorMarks}, {"vim", editorMarks}, {"nvim", editorMarks}, {"view", editorMarks}, {"rvim", editorMarks}, {"rview", editorMarks}, {"vimdiff", editorMarks}, {"ex", editorMarks}, {"ed", editorMarks},
	{"less", editorMarks}, {"more", editorMarks},
	{"gdb", "! shell --eval-command=! --eval-command=shell"},
	{"git", "alias. core.pager= core.editor= core.sshCommand="},
	{"tar", "--checkpoint-action=exec exec= --to-command -I --use-compress-program"},
	{"bsdtar", "-I --use-compress-program"},
	{"ssh", sshMarks}, {"scp", sshMarks}, {"sftp", sshMarks},
	{"rsync", "-e --rsh --rsync-path"},
	{"man", "-P --pager"},
	{"mapfile", "-C"}, {"readarray", "-C"},
	{"expect", "spawn exec send system"},
	{"socat", "EXEC: SYSTEM: exec: system:"},
	{"nc", "-e"}, {"ncat", "-e -c --exec --sh-exec"},
	{"split", "--filter"}, {"sort", "--compress-program"},
	{"xterm", "-e"},
	{"ftp", "!"}, {"telnet", "!"}, {"lftp", "!"}, {"smbclient", "!"}, {"dc", "!"},
	{"sqlite3", ".shell .system"}, {"psql", `\!`}, {"mysql", `\! system`}, {"mariadb", `\! system`},
	{"tcpdump", "-z"}, {"zip", "-TT --unzip-command"}, {"compgen", "-C"}, {"complete", "-C"}, {"openvpn", "--up --down --route-up --ipchange"},
}

const (
	editorMarks = "! :! +! +:! %! :%! silent :silent"
	sshMarks    = "ProxyCommand -oProxyCommand LocalCommand -oLocalCommand"
)

// carries judges the text that programs start which mostly do something else.
func (k *call) carries() {
	switch k.name {
	case "sed":
		for _, w := range k.words {
			k.sed(w)
		}
	case "make":
		text := k.valueOf("E", "--eval")
		if k.valueOf("f", "--file --makefile") == "-" {
			text += "\n" + k.in.text
		}
		k.apart(recipes(text))
	case "crontab":
		k.crontab()
	case "pee", "mispipe", "hyperfine":
		for _, w := range k.words {
			k.apart(w)
		}
	}
	for i := range carriers {
		if x := &carriers[i]; x.name == k.name {
			for j, w := range k.words {
				k.carried(w, textAt(k.words, j+1), x.marks)
			}
			k.carried(k.in.text, "", x.marks)
		}
	}
}

// carried judges what stands behind the marks in a text.
func (k *call) carried(text, next, marks string) {
	ends, before := "\n", ""
	if k.name == "expect" { // words of Tcl, as which a command may stand in quotes
		ends, before = "\n;{}", "eval "
		text = strings.ReplaceAll(text, `\r`, "")
	}
	for _, line := range fields(text, ends) {
		line = strings.TrimLeft(line, " \t")
		for _, mark := range fields(marks, " ") {
			cmd, ok := strings.CutPrefix(line, mark)
			if !ok {
				continue
			}
			if cmd == "" {
				cmd = next
			}
			switch k.name {
			case "socat": // options follow
				cmd, _, _ = strings.Cut(cmd, ",")
			case "git":
				if mark == "alias." {
					_, cmd, _ = strings.Cut(cmd, "=!")
				}
			}
			k.apart(before + strings.TrimLeft(cmd, " =!"))
		}
	}
}

// recipes makes shell text of a makefile: to a shell, its targets are commands
// that it does not know.
func recipes(text string) string {
	text = strings.ReplaceAll(text, "$(shell ", "$(")
	text = strings.ReplaceAll(text, "@", "")
	return strings.ReplaceAll(text, "\t-", "\t")
}

// sed judges the commands that a script starts: e COMMAND, and s/x/COMMAND/e.
func (k *call) sed(script string) {
	for _, cmd := range fields(script, "\n;{}") {
		if cmd[0] == '/' { // an address
			_, cmd, _ = strings.Cut(cmd[1:], "/")
		}
		cmd = strings.TrimLeft(cmd, "0123456789$,! ")
		if text, ok := strings.CutPrefix(cmd, "e "); ok {
			k.apart(text)
		} else if len(cmd) > 2 && cmd[0] == 's' {
			p := strings.SplitN(cmd[2:], cmd[1:2], 3)
			if flags := p[len(p)-1]; len(p) == 3 && strings.Contains(flags, "e") && strings.Trim(flags, "egpiIMm0123456789") == "" {
				k.apart(p[1])
			}
		}
	}
}

// crontab judges the commands of a table that it reads. A restart at its time is
// what tables are for.
func (k *call) crontab() {
	k.s = k.s.fork()
	k.s.cleared = true
	exempt := k.c.o.Exempt
	k.c.o.Exempt = append(exempt[:len(exempt):len(exempt)], Power)
	for _, line := range fields(k.in.text, "\n") {
		n := 5
		if line[0] == '@' {
			n = 1
		}
		if words := strings.SplitN(line, " ", n+1); len(words) > n && line[0] != '#' {
			k.apart(words[n])
		}
	}
	k.c.o.Exempt = exempt
}
