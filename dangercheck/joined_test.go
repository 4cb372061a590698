package dangercheck

import (
	"strings"
	"testing"
)

func TestJoined(t *testing.T) {
	for in, want := range map[string]string{
		"a\\\nb":                       "ab",
		"a\\\\\nb":                     "a\\\\\nb", // the backslash is itself protected
		"'a\\\nb' c\\\nd":              "'a\\\nb' cd",
		"\"a\\\nb\"":                   "\"ab\"",
		"\"it's $\\\n(x)\" '\\\n'":     "\"it's $(x)\" '\\\n'",
		"\"$(echo '\\\n')\"":           "\"$(echo '\\\n')\"",
		"\"${x:-'\\\n'}\"":             "\"${x:-''}\"",
		"# a\\\nb\\\nc":                "# a\\\nbc",
		"a#b\\\nc":                     "a#bc",
		"$#\\\nc '#' \"#\"\\\nd":       "$#c '#' \"#\"d",
		"$'\\'\\\n'\\\nx":              "$'\\'\\\n'x",
		"`a\\\nb`":                     "`ab`",
		"cat <<E\na\\\nb\nE\nc\\\nd":   "cat <<E\nab\nE\ncd",
		"cat <<'E'\na\\\nb\nE\nc\\\nd": "cat <<'E'\na\\\nb\nE\ncd",
		"cat <\\\n<\\\n-\\E\na\\\nb\n\tE\nc\\\nd":    "cat <<-\\E\na\\\nb\n\tE\ncd",
		"cat <<E; echo 'x\\\n'\nit's\\\n\nE\nc\\\nd": "cat <<E; echo 'x\\\n'\nit's\nE\ncd",
		"x <<<a\\\nb":  "x <<<ab",
		"a\\":          "a\\",
		"a\\\n":        "a",
		"(a; b)\\\n|c": "(a; b)|c",
	} {
		if got := joined(in); got != want {
			t.Errorf("joined(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestJoinedTokens: a line end that the shell takes out of a token hides nothing.
func TestJoinedTokens(t *testing.T) {
	for _, cmd := range []string{
		"echo \"$\\\n(reboot)\"", "echo $\\\n(reboot)", "echo `\\\nreboot`", "cat <<E\n$\\\n(reboot)\nE", "echo ${Y:-$\\\n(reboot)}", "echo \"${Y:-$\\\n(reboot)}\"",
		"$\\\n(echo reboot)", "X=reboot; $\\\nX", "X=reboot; $\\\n{X}", "X=reboot; ${\\\nX}", "X=reboot; ${X\\\n}", "if true; th\\\nen reboot; fi", "2\\\n>&1 reboot",
		"true &\\\n& reboot", "true |\\\n| reboot", "re\\\nboot", "wh\\\nile :; do reboot; done", "f\\\n() { reboot; }; f", "ec\\\nho reb\\\noot | s\\\nh", "s\\\nh -c 're\\\nboot'",
		"echo '\\\n'; echo \"$\\\n(reboot)\"", "# it's\\\necho \"$\\\n(reboot)\"", "cat <<'E'\nx\\\nE\n$\\\n(reboot)",
		"cat <\\\n<E\n$(reboot)\nE", "sh <\\\n<E\nreboot\nE", "rm -rf /et\\\nc", "X\\\n=1 reboot",
	} {
		found := Check(cmd, Options{})
		if len(found) == 0 {
			t.Errorf("Check(%q) passes", cmd)
			continue
		}
		if f := found[0]; f.Start < 0 || f.End > len(cmd) || f.Start >= f.End {
			t.Errorf("Check(%q) marks %d to %d of %d bytes", cmd, f.Start, f.End, len(cmd))
		}
		some := false
		for _, s := range Split(strings.NewReplacer("re\\\nboot", "op\\\nkg", "reb\\\noot", "opk\\\ng", "reboot", "opkg").Replace(cmd)).Segments {
			some = some || strings.HasPrefix(s.Text, "opkg")
		}
		if !some && !strings.Contains(cmd, "rm -rf") {
			t.Errorf("no segment of %q is opkg", cmd)
		}
	}
	for _, cmd := range []string{
		"echo 're\\\nboot'", "cat <<'E'\n$\\\n(reboot)\nE", "# re\\\n", "echo \\\n  hello \\\n  reboot", "rm \\\n -rf \\\n ./build", "grep '$\\\n(reboot)' f",
	} {
		if found := Check(cmd, Options{}); len(found) > 0 {
			t.Errorf("Check(%q) = %v", cmd, found)
		}
	}
	if s := Split("uci set a=b \\\n  --x \\\n  y"); !s.Simple || len(s.Segments) != 1 {
		t.Errorf("a continued command is %+v", s)
	}
	if s := Split("echo \"$\\\n(opkg x)\""); s.Simple {
		t.Errorf("a hidden substitution is %+v", s)
	}
}

// TestJoinedAnywhere: a pair between any two bytes of a dangerous command, but in
// single quotes, leaves it dangerous.
func TestJoinedAnywhere(t *testing.T) {
	for _, cmd := range []string{
		"rm -rf /etc", "sudo rm -rf \"/usr\"", "cd / && rm -rf *", "X=/etc; rm -rf $X", "echo $(reboot)", "curl x | sh", "if :; then reboot; fi", "dd if=x of=/dev/sda",
		"echo x > /dev/sda", "for d in /etc /usr; do rm -rf $d; done", "cat <<E | sh\nreboot\nE", ":(){ :|:& };:", "eval \"rm -rf /etc\"", "{ reboot; }", "(reboot)", "ifdown wan; true",
	} {
		for i := 1; i < len(cmd); i++ {
			in := cmd[:i] + "\\\n" + cmd[i:]
			if i > 1 && cmd[i-1] == '\n' && strings.HasSuffix(cmd, "E") && i == len(cmd)-1 {
				continue // the delimiter's line
			}
			if len(Check(in, Options{Lockout: true})) == 0 {
				t.Errorf("Check(%q) passes", in)
			}
		}
	}
}
