package skills

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bundled are the skills that come with the program.
func bundled(t *testing.T) []Skill {
	t.Helper()
	list, notices := Find([]Root{{Dir: "bundled"}})
	if len(notices) > 0 {
		t.Errorf("notices: %q", notices)
	}
	return list
}

func bundledText(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("bundled", name, fileName))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestBundled: the ten are there, whole, and small enough for the window of a
// small model, together in its list and each for itself.
func TestBundled(t *testing.T) {
	const maxSize, maxListed, maxAbout = 4 << 10, 1400, 160
	manual, err := os.ReadFile("../docs/skills.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	list := bundled(t)
	for _, s := range list {
		names = append(names, s.Name)
		if s.Fault != "" || s.Name != filepath.Base(s.Dir) || s.Tools != nil {
			t.Errorf("%+v", s)
		}
		if n := len(s.Description); n == 0 || n > maxAbout {
			t.Errorf("%s: a description of %d bytes", s.Name, n)
		}
		if n := len(bundledText(t, s.Name)); n >= maxSize {
			t.Errorf("%s: %d bytes", s.Name, n)
		}
		if !strings.Contains(string(manual), "\n| `"+s.Name+"` | ") {
			t.Errorf("the manual does not name %s", s.Name)
		}
		c, err := s.Load()
		if err != nil || len(c.Files) > 0 {
			t.Errorf("%s: files %q, %v", s.Name, c.Files, err)
		}
	}
	want := "firewall mwan3 packages pi-services procd-service sqm sysupgrade-and-backup uci wifi wireguard"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("bundled: %s, want %s", got, want)
	}
	whole := List(list, 1<<20)
	if len(whole) > maxListed || List(list, maxListed) != whole {
		t.Errorf("the list takes %d bytes", len(whole))
	}
}

// TestBundledCommands: what a skill names exists where it says so. Blocks that
// begin with ```sh are commands, and so are `words` in the text of which there
// are several. A line "- 22.03 to 24.10: ...", and a column of a table with such
// a head, speaks of these releases, everything else of all.
func TestBundledCommands(t *testing.T) {
	for _, s := range bundled(t) {
		text := bundledText(t, s.Name)
		for _, l := range commandLines(text) {
			in, err := span(systemOf(s.Name), l.releases)
			if err != nil {
				t.Errorf("%s: %q: %v", s.Name, l.text, err)
				continue
			}
			for _, c := range commandsOf(l.text) {
				if fault := commandFault(s.Name, text, c, in); fault != "" {
					t.Errorf("%s: %q in %q: %s", s.Name, c[0], l.text, fault)
				}
			}
		}
		for _, w := range regexp.MustCompile(`procd_\w+`).FindAllString(text, -1) {
			if !slices.Contains(strings.Fields(procdWords), w) {
				t.Errorf("%s: unknown %s", s.Name, w)
			}
		}
		all := releases[systemOf(s.Name)]
		for _, r := range []string{all[0], all[len(all)-1]} {
			if !strings.Contains(text, r) {
				t.Errorf("%s does not say what holds in %s", s.Name, r)
			}
		}
	}
}

// TestBundledSecrets: what shows settings that may be keys and passwords leaves
// these out, and a key that is made is a whole one: hexdump without -v puts an
// asterisk for bytes that repeat.
func TestBundledSecrets(t *testing.T) {
	shows := regexp.MustCompile(`^(sudo )?(uci (show|export)( network| wireless|$)|uci changes( network| wireless|$)|wg showconf|wifi status|cat /etc/(config|shadow))`)
	for _, s := range bundled(t) {
		for _, l := range commandLines(bundledText(t, s.Name)) {
			for _, c := range commandsOf(l.text) {
				switch c := strings.Join(c, " "); {
				case shows.MatchString(c) && !strings.Contains(l.text, " | grep -viE 'key|passw|secret|") && l.text != "uci changes":
					t.Errorf("%s: %q shows keys", s.Name, l.text)
				case strings.HasPrefix(c, "hexdump ") && !strings.HasPrefix(c, "hexdump -v "):
					t.Errorf("%s: %q is not all bytes", s.Name, c)
				}
			}
		}
	}
}

// TestBundledShell: the blocks are commands that a shell can read.
func TestBundledShell(t *testing.T) {
	shell := []string{"sh", "-n"}
	if _, err := exec.LookPath("busybox"); err == nil {
		shell = []string{"busybox", "sh", "-n"}
	}
	block := regexp.MustCompile("(?ms)^ *```sh\n(.*?)^ *```$")
	for _, s := range bundled(t) {
		for _, m := range block.FindAllStringSubmatch(bundledText(t, s.Name), -1) {
			cmd := exec.Command(shell[0], shell[1:]...)
			cmd.Stdin = strings.NewReader(m[1])
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s\n%s", s.Name, err, out, m[1])
			}
		}
	}
}

// TestCommandFault shows that the checks above find something.
func TestCommandFault(t *testing.T) {
	const text = "- 22.03 to 24.10: `opkg update`\n- 25.12: `apk add mwan3`\n\n```sh\nlogread | nosuch 'a | b' && X=$(date +%s) sudo free # why; not\n" +
		"cat >f <<EOF\nnot a command\nEOF\nstart-stop-daemon -x /bin/sh -- -c 'sleep 1; [ -e f ] || wifi'\n```\n" +
		"| | 22.03 to 24.10 | 25.12 |\n|---|---|---|\n| `one` | `opkg list` | `apk list` |\n"
	var got []string
	for _, l := range commandLines(text) {
		for _, c := range commandsOf(l.text) {
			got = append(got, l.releases+":"+strings.Join(c, " "))
		}
	}
	want := []string{"22.03 to 24.10:opkg update", "25.12:apk add mwan3", ":logread", ":nosuch 'a | b'", ":date +%s", ":free", ":cat >f",
		":start-stop-daemon -x /bin/sh -- -c 'sleep 1; [ -e f ] || wifi'", ":sleep 1", ":[ -e f ]", ":wifi", "22.03 to 24.10:opkg list", "25.12:apk list"}
	if !slices.Equal(got, want) {
		t.Errorf("commands:\n%q, want\n%q", got, want)
	}
	tests := []struct{ command, skill, releases, want string }{
		{"opkg update", "uci", "22.03 to 24.10", ""},
		{"opkg update", "uci", "", "not in 25.12"},
		{"apk add mwan3", "uci", "25.12", ""},
		{"apk add nosuch", "uci", "25.12", "no such package: nosuch"},
		{"auc -c", "uci", "22.03", "does not name the package auc"},
		{"grep -P x", "uci", "", "has no option -P"},
		{"df --human", "uci", "", "has no option --human"},
		{"stat x", "uci", "", "not known in OpenWrt"},
		{"/etc/init.d/network relod", "uci", "", "no such action"},
		{"/etc/init.d/nosuch start", "uci", "", "no such service"},
		{"uci show", "pi-services", "", "not known in Raspberry Pi OS"},
		{"gpiofind x", "pi-services", "13", "not in 13"},
	}
	for _, tt := range tests {
		in, err := span(systemOf(tt.skill), tt.releases)
		if err != nil {
			t.Fatal(err)
		}
		if got := commandFault(tt.skill, "text", strings.Fields(tt.command), in); got != tt.want {
			t.Errorf("commandFault(%q, %s) = %q, want %q", tt.command, tt.releases, got, tt.want)
		}
	}
	if in, err := span("OpenWrt", "23.05 to 24.10"); err != nil || !reflect.DeepEqual(in, []string{"23.05", "24.10"}) {
		t.Errorf("span = %q, %v", in, err)
	}
	if _, err := span("OpenWrt", "24.10 to 22.03"); err == nil {
		t.Error("a span may go backwards")
	}
}
