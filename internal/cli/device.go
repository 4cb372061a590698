package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"cluade/internal/chat"
)

// device is what the model is told of the machine. It is read from files and
// from the kernel; no program runs for it.
type device struct {
	system  string // distribution and release
	openWrt bool
	kernel  string
	machine string // as uname names the architecture
	memory  int    // MiB, 0 if unknown
	shell   string
	has     []string
	lacks   []string
	user    string
	branch  string // of git, or the commit of a detached head
}

// Programs that a model reaches for. Of the last group only the absence is
// worth a word: a small BusyBox is built without them.
var (
	languages   = []string{"python3", "lua", "perl", "git"}
	packagers   = []string{"opkg", "apk", "apt"}
	usuallyHere = []string{"timeout", "stat", "setsid", "diff", "base64"}
)

// readDevice looks at the machine. What lies beside o.Etc is its root.
func readDevice(o promptOptions) device {
	root := filepath.Dir(o.Etc)
	d := device{memory: memInfo(filepath.Join(root, "proc/meminfo"), "MemTotal:") >> 10, user: userName(o.Getenv)}
	d.kernel, d.machine = uname()
	d.system, d.openWrt = distribution(o.Etc)
	d.shell = shellName(filepath.Join(root, o.Shell))
	if d.openWrt {
		d.shell += " on " + d.machine
	}
	path := o.Getenv("PATH")
	for _, name := range slices.Concat(languages, packagers, usuallyHere) {
		switch here := onPath(path, name); {
		case !here && !slices.Contains(packagers, name):
			d.lacks = append(d.lacks, name)
		case here && !slices.Contains(usuallyHere, name):
			d.has = append(d.has, name)
		}
	}
	d.branch = gitBranch(projectRoot(o.Dir))
	return d
}

func distribution(etc string) (name string, openWrt bool) {
	if v := readVars(filepath.Join(etc, "openwrt_release")); v != nil {
		name := strings.TrimSpace(v["DISTRIB_ID"] + " " + v["DISTRIB_RELEASE"])
		if target := v["DISTRIB_TARGET"]; target != "" {
			name += " (" + target + ")"
		}
		return chat.EscapeText(name, 100), true
	}
	v := readVars(filepath.Join(etc, "os-release"))
	if v["PRETTY_NAME"] != "" {
		return chat.EscapeText(v["PRETTY_NAME"], 100), false
	}
	return chat.EscapeText(strings.TrimSpace(v["NAME"]+" "+v["VERSION_ID"]), 100), false
}

// readVars reads NAME=value lines, the value in quotes or bare, as
// os-release(5) has them. It returns nil if there is no such file.
func readVars(path string) map[string]string {
	text, _, err := readRegular(path, 16<<10)
	if err != nil {
		return nil
	}
	vars := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			vars[name] = strings.Trim(value, `"'`)
		}
	}
	return vars
}

// shellName says what the shell at path is, which its link tells: BusyBox
// answers under many names.
func shellName(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "sh"
	}
	switch name := filepath.Base(real); {
	case strings.HasPrefix(name, "busybox"):
		return "BusyBox ash"
	default:
		return name
	}
}

func uname() (release, machine string) {
	var u syscall.Utsname
	if err := syscall.Uname(&u); err != nil {
		return "", runtime.GOARCH
	}
	return cString(u.Release[:]), cString(u.Machine[:])
}

// cString is a C string as Go's; C's char is signed on some machines only.
func cString[T int8 | uint8](s []T) string {
	var b strings.Builder
	for _, c := range s {
		if c == 0 {
			break
		}
		b.WriteByte(byte(c))
	}
	return b.String()
}

func userName(getenv func(string) string) string {
	if os.Getuid() == 0 {
		return "root"
	}
	for _, v := range []string{"USER", "LOGNAME"} {
		if name := getenv(v); name != "" {
			return chat.EscapeText(name, 40)
		}
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// onPath says whether a program of that name is in a directory of path.
func onPath(path, name string) bool {
	for _, dir := range strings.Split(path, ":") {
		if !filepath.IsAbs(dir) {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// gitBranch reads what is checked out in root: a branch, or the commit of a
// detached head; "" if root is no working tree. .git is a directory, or in a
// worktree a file that names one (gitrepository-layout(5)).
func gitBranch(root string) string {
	git := filepath.Join(root, ".git")
	if text, _, err := readRegular(git, 4<<10); err == nil {
		dir, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
		if !ok {
			return ""
		}
		if git = dir; !filepath.IsAbs(dir) {
			git = filepath.Join(root, dir)
		}
	}
	text, _, err := readRegular(filepath.Join(git, "HEAD"), 4<<10)
	if err != nil {
		return ""
	}
	head := strings.TrimSpace(string(text))
	if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok && oneWord(branch) {
		return chat.EscapeText(branch, 80)
	}
	if len(head) >= 40 && strings.Trim(head, "0123456789abcdef") == "" {
		return "none, detached at " + head[:12]
	}
	return ""
}

// oneWord says that s has no space or control character. A branch never has
// one; the file may come from anybody.
func oneWord(s string) bool {
	return s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) < 0
}

var errNotRegular = errors.New("not a regular file")

// readRegular reads at most max bytes of a regular file; links are followed.
// It never opens a pipe or a device, where the mere opening may wait or act.
func readRegular(path string, max int64) ([]byte, os.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, nil, errors.Join(err, errNotRegular)
	}
	data, err := io.ReadAll(io.LimitReader(f, max))
	return data, info, err
}
