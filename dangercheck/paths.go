package dangercheck

import (
	"path"
	"strings"
)

// systemDirs are the directories without which a box does not work or does not
// keep what its owner has. Deeper ones count only where they are named.
const systemDirs = "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /mnt /media /opt /overlay /proc /rom /root /run /sbin /srv /sys /usr /var /www " +
	"/etc/config /etc/init.d /usr/bin /usr/sbin /usr/lib /usr/share /lib/modules /lib/firmware /var/lib /overlay/upper /boot/firmware"

func isSystemDir(p string) bool { return isHome(p) || hasWord(systemDirs, p) }

func isHome(p string) bool {
	user, ok := strings.CutPrefix(p, "/home/")
	return p == home || ok && strings.IndexByte(user, '/') < 0
}

// rooted reports whether a path does not depend on where it is used.
func rooted(p string) bool {
	return p != "" && (p[0] == '/' || p[0] == markHome)
}

// join returns a path as seen from where commands run: absolute, or beginning
// with the home mark, or relative to a place not told; "" if it is not told
// itself.
func (s *scope) join(p string) string {
	if strings.HasPrefix(p, "/proc/") {
		p = ofProcess(p)
	}
	switch {
	case p == "" || strings.IndexByte(p, markUnknown) >= 0:
		return ""
	case p[0] == '/':
		return path.Clean(p)
	case p[0] == markHome:
		if p = path.Clean(p); rooted(p) {
			return p
		}
		return "/home" // above a home
	case p[0] == markPwd:
		p = "." + p[1:]
	}
	if s.dir == "" {
		return path.Clean(p)
	}
	return path.Clean(s.dir + "/" + p)
}

// ofProcess takes off a path below /proc what leads through the root or the
// working directory of a process, which is taken for that of the command.
func ofProcess(p string) string {
	_, rest, _ := strings.Cut(p[len("/proc/"):], "/")
	if in, ok := strings.CutPrefix(rest, "cwd/"); ok {
		return "./" + in
	}
	if in, ok := strings.CutPrefix(rest, "root"); ok && rooted(in) {
		return in
	}
	return p
}

// everything reports whether the last element of a path stands for all of a
// directory's contents, as * and .* and .[!.]* do.
func everything(e string) bool {
	return strings.ContainsAny(e, patterns) && strings.Trim(e, ".!^]"+patterns) == ""
}

// whole returns the directory of which a path names all contents, else the path.
func whole(p string) string {
	for {
		i := strings.LastIndexByte(p, '/')
		switch {
		case i < 0 || !everything(p[i+1:]):
			return p
		case i == 0:
			return "/"
		}
		p = p[:i]
	}
}

// isSystem reports whether a joined path names a system directory or all that
// is in one.
func isSystem(p string) bool {
	p = whole(p)
	if isSystemDir(p) {
		return true
	}
	return strings.ContainsAny(p, patterns) && hasName(systemDirs, p)
}

// own makes the home directory's path comparable: it begins with the
// home mark.
func (c *checker) own(p string) string {
	if h := c.o.Home; h != "" && h != "/" {
		if rest, ok := strings.CutPrefix(p, h); ok && (rest == "" || rest[0] == '/') {
			return home + rest
		}
	}
	return p
}

// inSystem reports whether a word names a system directory as it stands, or
// from where cd went.
func (s *scope) inSystem(p string) bool {
	p = s.join(p)
	return rooted(p) && isSystem(p)
}

// bare reports whether a relative path stands for all of the working directory
// or of one above it.
func bare(p string) bool {
	if p == "" || rooted(p) {
		return false
	}
	if p[0] == markPwd {
		p = "." + p[1:]
	}
	p = strings.TrimRight(p, "/")
	i := strings.LastIndexByte(p, '/')
	last := p[i+1:]
	return strings.Trim(p[:i+1], "./") == "" && (last == "." || last == ".." || everything(last))
}

// wipes reports whether removing a path recursively takes a system directory,
// a home, or all of a place that cd did not name.
func (k *call) wipes(word string) bool {
	p := k.s.join(word)
	switch {
	case p == "":
		return false
	case rooted(p) && isSystem(k.c.own(p)):
		return true
	case k.s.moved:
		return !rooted(p) && bare(p)
	}
	return bare(word) && !strings.HasPrefix(k.s.dir+"/", "/tmp/")
}

// deviceKind is what a path below /dev stands for.
type deviceKind int

const (
	noDevice    deviceKind = iota
	harmless               // terminals, null, descriptors and the like
	rawDisk                // a disk, a partition or what stands for one
	flashMemory            // mtd and ubi
	otherDevice
)

func (s *scope) device(word string) deviceKind {
	name, ok := strings.CutPrefix(s.join(word), "/dev/")
	if !ok || name == "" {
		return noDevice
	}
	name = plain(name)
	switch {
	case strings.HasPrefix(name, "mtd"), strings.HasPrefix(name, "ubi"):
		return flashMemory
	case isDisk(name):
		return rawDisk
	case hasPrefix(name, "null", "zero", "full", "std", "fd/", "shm/", "tty", "pts/", "console", "random", "urandom", "ptmx", "kmsg", "log",
		"tcp/", "udp/", "snd/", "dsp", "lp", "usb/", "hidraw", "input/", "net/", "fuse", "watchdog", "gpio", "i2c-", "spidev", "mqueue/"):
		return harmless
	}
	return otherDevice
}

func isDisk(name string) bool {
	if len(name) > 2 && name[1] == 'd' && strings.IndexByte("shv", name[0]) >= 0 { // sda, hda1, vdb
		return true
	}
	return name != "mapper/control" && name != "loop-control" &&
		hasPrefix(name, "mmcblk", "nvme", "disk/", "mapper/", "loop", "nbd", "dm-", "md", "root", "zram", "xvd", "pmem", "block/", "bcache", "rbd", "drbd")
}

func hasPrefix(s string, prefixes ...string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
