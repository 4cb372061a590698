package dangercheck

import (
	"strings"
	"testing"
)

// Quotes as dash, BusyBox ash and bash read them (tried with each): a command
// that one of them runs is seen, and text that none runs is not.
func TestQuotesInExpansions(t *testing.T) {
	for cmd, runs := range map[string]bool{
		`echo "${x:-it's}"; reboot`:              true,
		`echo "${x-it's}"; reboot`:               true,
		`echo "${x:=it's}"; reboot`:              true,
		`echo "${x:+it's}"; reboot`:              true,
		`echo "${x?it's}"; reboot`:               true,
		`echo "${x:-a ${y:-it's}}"; reboot`:      true,
		`echo "$(echo "${x:-it's}"; reboot)"`:    true,
		"cat <<E\n${x:-it's}\nE\nreboot":         true,
		`echo "${x:-it's $(reboot)}"`:            true,
		`echo "${x:-'$(reboot)'}"`:               true,
		`echo "${x%'}'}"; reboot`:                true,
		`echo ${x:-'; reboot; '}`:                false,
		`echo "${x:-'; reboot; '}"`:              false,
		`echo "${x:-it's reboot}"`:               false,
		`echo "${x%'; reboot; '}"`:               false,
		`echo "${x:-it's}; reboot" fine "it's}"`: false,
	} {
		quotesRun(t, cmd, runs)
	}
}

// TestHeredocDelimiters: the word that ends a here-document is taken as it
// stands, without its quotes.
func TestHeredocDelimiters(t *testing.T) {
	for cmd, runs := range map[string]bool{
		"cat <<$x\na\n$x\nreboot":                         true,
		"cat <<${x}\na\n${x}\nreboot":                     true,
		"cat <<\"$x\"\na\n$x\nreboot":                     true,
		"cat <<\"\\$x\"\na\n$x\nreboot":                   true,
		"cat <<\"\\x\"\na\n\\x\nreboot":                   true,
		"cat <<~\na\n~\nreboot":                           true,
		"cat <<`x`\na\n`x`\nreboot":                       true,
		"cat <<\\$\\(x\\)\na\n$(x)\nreboot":               true,
		"cat <<\"E\nF\"\nx\nE\nF\nreboot":                 true, // dash, ash
		"cat <<$'E'\na\nE\nreboot":                        true, // bash
		"cat <<$'E'\na\n$E\nreboot":                       true, // dash
		"cat <<a$\"b\"\na\nab\nreboot":                    true,
		"cat <<\"E F\"\na\nE F\nreboot":                   true,
		"cat <<\"E F\"\nE F\necho \"$\\\n(reboot)\"":      true,
		"cat <<'E F' <<G\na\nE F\n$\\\n(reboot)\nG\nfine": true,
		"cat <<$x\nreboot\n$x":                            false,
		"cat <<\"a b\"\nreboot\na b":                      false,
		"cat <<E\"O\"F\n$(reboot)\nEOF\nfine":             false,
		"cat <<\\E\n$(reboot)\nE":                         false,
		"cat <<$x\n$(reboot)\n$x":                         true,
		"cat <<\"\"\nreboot\n\nfine":                      false,
		"cat <<\"\"\na\n\nreboot":                         true,
	} {
		quotesRun(t, cmd, runs)
	}
}

// quotesRun checks that the danger check and the segments of rules see a command
// that runs reboot, and only such a one.
func quotesRun(t *testing.T, cmd string, runs bool) {
	t.Helper()
	if found := Check(cmd, Options{}); (len(found) > 0) != runs {
		t.Errorf("Check(%q) = %v, want %v", cmd, found, runs)
	}
	segment := false
	for _, s := range Split(cmd).Segments {
		segment = segment || strings.HasPrefix(s.Text, "reboot")
	}
	if segment != runs {
		t.Errorf("a segment of %q is reboot: %v, want %v", cmd, segment, runs)
	}
}

// TestOptionValueOfARun: a value that only a run tells hides no program.
func TestOptionValueOfARun(t *testing.T) {
	for _, cmd := range []string{
		"nsenter --target=$$ --mount reboot", "nice -n$n reboot", "timeout --signal=$s 5 reboot", "sudo --user=$u reboot", "env --chdir=$d reboot",
	} {
		quotesRun(t, cmd, true)
		quotesRun(t, cmd[:len(cmd)-len("reboot")]+"ls", false)
	}
}
