package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"cluade/provider"
	"cluade/store"
	"cluade/tools"
)

// checkConfig reads the files anew. The other checks look at the configuration
// of the run, or without a run at this one; where it is faulty, at the defaults.
func (a *app) checkConfig(f findings) {
	l, err := a.readConfig()
	if err != nil {
		var fault *store.ConfigError
		user, _ := a.place.Files()
		f.either(errors.As(err, &fault) && fault.File == user, "config|FAIL|%|correct it, or begin with a new file: cluade --init --force",
			"config|FAIL|%|correct it", err.Error())
		l = &loaded{cfg: store.Defaults(a.place)}
	} else {
		f.add("config|ok|no fault%|", a.configFiles())
	}
	if a.cfg == nil {
		a.cfg = l.cfg
	}
	for _, n := range l.notices {
		f.add("config|warn|%|", n)
	}
	unknown := l.cfg.Unknown
	for i := range unknown {
		if unknown[i].Nearest == "" { // else a notice told it
			f.add("config|warn|% is no key and has no effect|take it out", unknown[i].File+": "+unknown[i].Key)
		}
	}
}

// configFiles names those that are there.
func (a *app) configFiles() (in string) {
	user, project := a.place.Files()
	for _, path := range []string{user, project} {
		if _, err := os.Lstat(path); err == nil {
			in += " in " + path
		}
	}
	return in
}

// checkWay looks at what leads to the model: key, clock, certificates, names.
func (a *app) checkWay(f findings) {
	near := provider.IsPrivate(a.cfg.BaseURL)
	switch key, from, withheld, err := a.credential(a.cfg); {
	case err != nil:
		f.add("key|FAIL|%|correct it there", err.Error())
	case key != "":
		f.add("key|ok|from %|", from)
	default:
		f.either(near, "key|ok|none, which a server on your own network may not need|",
			"key|FAIL|none%|set OPENAI_API_KEY, or write it to a file of mode 600 and name that in api_key_file", withheld)
	}
	checkClock(f, time.Now())
	n, err := provider.Authorities(a.cfg.CAFile)
	if err != nil {
		f.either(near, "certificates|warn|%|", "certificates|FAIL|%|", err.Error())
	} else {
		f.add("certificates|ok|%|", strconv.Itoa(n))
	}
	const path = "/etc/resolv.conf" // resolv.conf(5)
	text, _, _ := readRegular(path, 64<<10)
	const none = "|% names no server|bring the network up, or write to it: nameserver 9.9.9.9"
	if strings.Contains("\n"+string(text), "\nnameserver") {
		f.add("resolver|ok|%|", path)
	} else {
		f.either(near, "resolver|warn"+none, "resolver|FAIL"+none, path)
	}
}

func checkClock(f findings, now time.Time) {
	f.either(now.After(provider.Earliest()), "clock|ok|% UTC|",
		"clock|FAIL|% UTC is before this program was made, so certificates seem not yet valid|compare it with date, and set it (/etc/init.d/sysntpd restart, or timedatectl)",
		now.UTC().Format(time.DateTime))
}

// checkBox looks at memory, programs, terminal and sandbox.
func (a *app) checkBox(f findings) {
	free, limit := int64(memInfo("/proc/meminfo", "MemAvailable:"))<<10, debug.SetMemoryLimit(-1)
	f.either(free >= limit || limit > 1<<40, // no limit is a huge one
		"memory|ok|% available|",
		"memory|warn|% available, less than a long session may take|end other programs, or add swap (zram-swap)", sizeText(free))
	path := a.env.Getenv("PATH")
	f.either(onPath(path, "sh"), "shell|ok|sh|", "shell|FAIL|no sh in PATH|commands need it: install busybox", "")
	f.either(onPath(path, "git"), "git|ok|git|", "git|warn|no git in PATH|/diff and skillimport do without, unless it is installed", "")
	if tty := asTerminal(a.env.Stdout); tty != nil {
		f.either(!dumbTerminal(a.env.Getenv), "terminal|ok|%|",
			"terminal|warn|TERM is empty or dumb: no editing of lines, no colours|export TERM=xterm, or vt100 on a serial line",
			a.env.Getenv("TERM")+", "+strconv.Itoa(columns(tty))+" columns")
	} else {
		f.add("terminal|ok|none: plain text|", "")
	}
	s := a.sandbox()
	level := "sandbox|ok|%|"
	if s.Effective() != s.Level {
		level = "sandbox|warn|%|take a kernel with Landlock, 5.13 or later"
		if a.mustConfine() {
			level = "sandbox|FAIL|%, so no command runs|take a kernel with Landlock, 5.13 or later"
		}
	}
	f.add(level, sandboxLevels(s))
	for _, l := range s.Facts() {
		f.either(l.Enforced, "sandbox|ok|%|", "sandbox|warn|%|", factText(l))
	}
}

const ramDisk = 0x01021994

// fileSystems are names for what statfs(2) tells (linux/magic.h, ubifs).
var fileSystems = [...]struct {
	magic uint32
	name  string
}{
	{0x72b6, "jffs2"}, {0x24051905, "ubifs"}, {0x794c7630, "overlay"}, {0xf2f52010, "f2fs"},
	{0xef53, "ext4"}, {0x4d44, "vfat"}, {ramDisk, "tmpfs"}, {0x6969, "nfs"}, {0xff534d42, "cifs"}, {0x65735546, "fuse"},
}

// checkFiles looks at what lies on drives, which may not answer: keys of ssh,
// state and sessions.
func (a *app) checkFiles(f findings) {
	faults := (&tools.Env{Dir: a.place.Dir, Home: a.place.Home, SSH: a.ssh()}).CheckSSH()
	for _, fault := range faults {
		f.add("ssh|warn|%|", fault)
	}
	if faults == nil {
		f.add("ssh|ok|no fault|", "")
	}
	if a.place.State == "" {
		f.add("disk|warn|there is no home directory: nothing is saved|let HOME or CLUADE_HOME name one", "")
		return
	}
	dir := a.place.State
	var st syscall.Statfs_t
	for syscall.Statfs(dir, &st) != nil && dir != "/" {
		dir = filepath.Dir(dir)
	}
	free := int64(st.Bavail) * int64(st.Bsize)
	text := a.place.State + ": " + sizeText(free) + " free"
	for i := range fileSystems {
		if fileSystems[i].magic == uint32(st.Type) {
			text += " on " + fileSystems[i].name
		}
	}
	const mayMake = 3 // W_OK and X_OK of access(2); a file in its place has not both
	room := "disk|ok|%|"
	switch {
	case syscall.Access(dir, mayMake) != nil:
		room = "disk|FAIL|%, but it cannot be written|see its owner and mode, and with mount whether it is read-only"
	case free < 64<<10:
		room = "disk|FAIL|%|delete something, or let sessions_dir name another drive"
	case free < 1<<20:
		room = "disk|warn|%|delete something, or let sessions_dir name another drive"
	case uint32(st.Type) == ramDisk:
		room = "disk|warn|%, lost with a restart|let CLUADE_HOME name a directory on a drive"
	}
	f.add(room, text)
	a.checkSessions(f, free)
}

// checkSessions tells how much is saved: too much is more than is free, or than
// a small device should give for it.
func (a *app) checkSessions(f findings, free int64) {
	dir := a.cfg.SessionsDir
	if dir == "" {
		dir = a.place.State + "/sessions"
	}
	var size int64
	list, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		f.add("sessions|FAIL|%|see its owner and mode", err.Error())
		return
	}
	for _, e := range list {
		if info, err := e.Info(); err == nil {
			size += info.Size()
		}
	}
	f.either(size < 1<<20 || size < 16<<20 && size < free, "sessions|ok|%|",
		"sessions|warn|%|cluade --delete-session ID deletes one, sessions_keep keeps the newest", dir+": "+sizeText(size))
}

// checkServer asks the model's server for its list, as /model does. One that
// answers without having a list is there all the same.
func (a *app) checkServer(ctx context.Context, f findings) {
	began := time.Now()
	var c *provider.Fallback // not the one of the run, which has its connection
	key, _, _, err := a.credential(a.cfg)
	if err == nil {
		c, err = a.connect(a.cfg, key)
	}
	if err == nil {
		_, err = c.Client().Models(ctx)
		c.Close()
	}
	var status *provider.StatusError
	switch {
	case err == nil:
		f.add("server|ok|answered in % ms|", strconv.FormatInt(time.Since(began).Milliseconds(), 10))
	case errors.As(err, &status) && status.Code == 404:
		f.add("server|warn|%|it may have no list of models; else see whether base_url is right", err.Error())
	default:
		f.add("server|FAIL|%|", err.Error())
	}
}
