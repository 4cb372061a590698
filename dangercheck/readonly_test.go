package dangercheck

import (
	"math/rand"
	"os"
	"strings"
	"testing"
)

// vectors reads the vectors of testdata.
func vectors(t testing.TB) (yes, no []string) {
	t.Helper()
	data, err := os.ReadFile("testdata/looks.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "## looks\n")
	y, n, ok := strings.Cut(rest, "\n\n## does not look\n")
	yes, no = strings.Split(y, "\n"), strings.Split(strings.TrimSuffix(n, "\n"), "\n")
	if !ok || len(yes) < 150 || len(no) < 380 {
		t.Fatalf("only %d and %d vectors", len(yes), len(no))
	}
	return yes, no
}

func TestReadOnly(t *testing.T) {
	yes, no := vectors(t)
	for _, cmd := range yes {
		if !ReadOnly(cmd, "") {
			t.Errorf("ReadOnly(%q) = false, want true", cmd)
		}
	}
	for _, cmd := range no {
		if ReadOnly(cmd, "") {
			t.Errorf("ReadOnly(%q) = true, want false", cmd)
		}
	}
}

// TestReadOnlyDevices holds that no device is opened, however it is spelt from
// where the command runs.
func TestReadOnlyDevices(t *testing.T) {
	tests := []struct {
		cmd, dir string
		want     bool
	}{
		{"head -c 4 zero", "/dev", false},
		{"head -c 4 zero", "/root", true},
		{"cat x", "/proc/self/root/dev", false},
		{"cat root/dev/zero", "/proc/self", false},
		{"cat dev/x", "/", false},
		{"cat dev/x", "/root", true},
		{"cat ../dev/x", "/root", false},
		{"cat ../dev/x", "/home/pi", true},
		{"cat */x", "/", false},
		{"cat */x", "/root", true},
		{"head -c 4 /d?v/zero", "/root", false},
		{"cat /de[v]/watchdog", "/root", false},
		{"cat /*/zero", "/root", false},
		{"cat '/d?v/zero'", "/root", true},
		{"cat /sys/class/net/*/address", "/root", true},
		{"cat ~/../dev/zero", "/root", false},
		{"cat ~+/zero", "/root", false},
		{"cat /proc/self/root/dev/zero", "/root", false},
		{"cat /proc/1/fd/0", "/root", false},
		{"cat /proc/1/status", "/root", true},
		{"file -s /dev/zero", "/root", false},
		{"file /dev/zero", "/root", true},
		{"file -f /dev/watchdog", "/root", false},
		{"file -bf/dev/watchdog", "/root", false},
		{"file -f watchdog", "/dev", false},
		{"file -f list", "/root", true},
		{"pgrep -F /dev/watchdog", "/root", false},
		{"pgrep -lF/dev/watchdog", "/root", false},
		{"pgrep --pidfile /dev/watchdog", "/root", false},
		{"pgrep --pidf=/dev/watchdog", "/root", false},
		{"pgrep -F /run/x.pid", "/root", true},
		{"du -X /dev/watchdog", "/root", false},
		{"du -shX /dev/watchdog", "/root", false},
		{"du --exclude-from /dev/watchdog /etc", "/root", false},
		{"du --exclude-f=/d?v/watchdog", "/root", false},
		{"du --files0-from=x", "/root", false},
		{"du --files=x", "/root", false},
		{"du -sh /dev/shm", "/root", true},
		{"du -sh", "/dev", true},
		{"df -h /dev/sda1", "/root", true},
		{"stat -f /dev/sda1", "/root", true},
		{"grep -fzero x", "/dev", false},
		{"grep --file=../dev/zero x", "/root", false},
		{"grep --files-with-matches x f", "/root", true},
		{"cat /proc/kmsg", "/root", false},
		{"cat /proc/km?g", "/root", false},
		{"cat kmsg", "/proc", false},
		{"cat /proc/meminfo", "/root", true},
		{"cat /sys/kernel/debug/tracing/trace_pipe", "/root", false},
		{"head -n 1 /sys/kernel/tracing/trace_pipe", "/root", false},
		{"cat /sys/*/tracing/trace_pipe", "/root", false},
		{"cat tracing/trace_pipe", "/sys/kernel", false},
		{"cat /sys/kernel/mm/transparent_hugepage/enabled", "/root", true},
		{"grep -r x /sys", "/root", false},
		{"grep -r x /sys/kernel", "/root", false},
		{"grep -r . /sys/class/thermal", "/root", true},
		{"grep -r x /dev", "/root", false},
		{"grep -rn x /", "/root", false},
		{"grep -R x", "/", false},
		{"grep --recursive x .", "/dev", false},
		{"grep -r x", "/root", true},
		{"grep dev /etc/fstab", "/root", true},
		{"grep -r dev /etc", "/root", true},
		{"wc --files0-from=x", "/root", false},
		{"cat x > /dev/null", "/root", false},
		{"cat /dev/null", "/root", true},
		{"ls", "/dev", true},
		{"ls -l /dev", "/root", true},
		{"free | grep Mem", "/dev", false}, // the pattern could be a file's name
	}
	for _, tt := range tests {
		if got := ReadOnly(tt.cmd, tt.dir); got != tt.want {
			t.Errorf("ReadOnly(%q, %q) = %v, want %v", tt.cmd, tt.dir, got, tt.want)
		}
	}
}

func TestReadOnlyControl(t *testing.T) {
	for _, cmd := range []string{
		"", " ", "ls\nrm x", "ls\rrm x", "ls \x00", "ls \x01", "cat \x11", "ls\n", "\nls", "ls\vx", "ls \x7f; rm x",
		"ls " + strings.Repeat("a", maxLook),
	} {
		if ReadOnly(cmd, "") {
			t.Errorf("ReadOnly(%q) = true", cmd)
		}
	}
}

// writers are, for each program that may look, words that make it write, send
// or run, whatever stands around them.
var writers = map[string]string{
	"find":       "-delete -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls",
	"sort":       "-o -oF -uo -T -Tx --output --output=F --outp=F --compress-program=rm --compress-program --compr=rm --temporary-directory=F",
	"file":       "-C -bC -Cm --compile --comp -z -Z --uncompress",
	"date":       "-s -us -s12 --set --set=12 --se=12 010203042025",
	"dmesg":      "-c -C -n -n1 -D -E -Tc --clear --read-clear --console-level=1 --console-off --console-on",
	"journalctl": "--vacuum-size=1 --vacuum-time=1 --vacuum-files --rotate --flush --sync --cursor-file=F --cursor-file --relinquish-var --update-catalog --vacuum-s=1",
	"hostname":   "-F -b --file --file=F --boot name",
	"logread":    "-F -r -p -S -h",
	"ip":         "-b -batch -batch=F netns monitor add del set flush replace change append restore",
	"ss":         "-K -tK -D -F --kill --diag --diag=F --filter=F",
	"systemctl":  "-H -M -Hh --host=h --host --machine=c --root=/x --image=x",
	"nft":        "-f -i flush add delete insert create -c ; {",
	"iptables":   "-A -D -I -F -X -N -P -R -Z -E -LZ --flush --append --delete --zero --policy -w -M --modprobe=x",
	"uci":        "-c -p -P -f -m -d -t -C --x",
	"dpkg":       "-i -r -P -A -B --install --purge --unpack --configure --admindir=/x --root=/x --log=x --pre-invoke=x -D",
	"apt":        "-o -oX=y -c --option=x -y --config-file=x -t",
	"apk":        "-U --root --root=x -p -X --repository=x --update-cache -t --virtual",
	"opkg":       "-f -d -o --conf --offline-root=x --add-dest -t --tmp-dir --force-depends",
	"lsof":       "-D -Db -D@ +d +D -i@host @host -K9 -r",
	"bridge":     "-b -batch monitor add del set",
	"wg":         "set setconf syncconf addconf showconf genkey private-key preshared-keys dump",
	"ping":       "-f -p -p41 -b name",
	"arp":        "-d -s -f -Ds",
	"top":        "-W",
}

// TestReadOnlyWriters puts words that write among words that look.
func TestReadOnlyWriters(t *testing.T) {
	yes, _ := vectors(t)
	rng := rand.New(rand.NewSource(1))
	tried := 0
	for name, list := range writers {
		for _, w := range strings.Fields(list) {
			for _, cmd := range yes {
				words := strings.Fields(cmd)
				if words[0] != name || strings.ContainsAny(cmd, "|&>'\"") {
					continue
				}
				for range 4 {
					at := 1 + rng.Intn(len(words))
					bad := strings.Join(words[:at], " ") + " " + quoted(w, rng) + " " + strings.Join(words[at:], " ")
					tried++
					if ReadOnly(bad, "") && !inOperand(name, words, at) {
						t.Errorf("ReadOnly(%q) = true", bad)
					}
				}
			}
		}
	}
	if tried < 1000 {
		t.Errorf("only %d were tried", tried)
	}
}

// quoted spells a word in one of the ways that mean the same.
func quoted(w string, rng *rand.Rand) string {
	switch rng.Intn(4) {
	case 0:
		return w
	case 1:
		return "'" + w + "'"
	case 2:
		return `"` + w + `"`
	}
	return w[:len(w)/2] + `\` + w[len(w)/2:]
}

// inOperand reports whether a word at this place is a plain name to the
// program, and so does no harm there.
func inOperand(name string, words []string, at int) bool {
	switch name {
	case "wg", "ip", "bridge", "nft", "lsof":
		return at == len(words) || at > 2
	}
	return false
}
