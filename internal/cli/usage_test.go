package cli

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestUsageFitsTheScreen(t *testing.T) {
	text := usage()
	for _, line := range strings.Split(text, "\n") {
		if n := utf8.RuneCountInString(line); n > 80 {
			t.Errorf("line of %d columns: %q", n, line)
		}
	}
	if strings.HasSuffix(text, "\n\n") || !strings.HasSuffix(text, "\n") {
		t.Errorf("usage() ends %q", text[len(text)-10:])
	}
}

func TestUsageNamesEveryOption(t *testing.T) {
	shown, rest, ok := strings.Cut(usage(), "Not there yet: ")
	if !ok {
		t.Fatal("usage() does not name what is not there yet")
	}
	for _, o := range new(flags).options() {
		text := shown
		if o.later {
			text = rest
		}
		if !strings.Contains(text, "--"+o.long) {
			t.Errorf("usage() lacks --%s at its place", o.long)
		}
		if o.later && strings.Contains(shown, "--"+o.long+" ") {
			t.Errorf("usage() shows --%s as if it worked", o.long)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"model", "max-steps", "max-turns", "print"}
	tests := []struct{ word, want string }{
		{"model", "model"},
		{"modle", "model"},
		{"maxsteps", "max-steps"},
		{"max-trun", "max-turns"},
		{"pint", "print"},
		{strings.Repeat("z", 1000), "model"},
	}
	for _, tt := range tests {
		if got := nearest(tt.word, names); got != tt.want {
			t.Errorf("nearest(%q) = %q, want %q", cut(tt.word), got, tt.want)
		}
	}
	if got := nearest("x", nil); got != "" {
		t.Errorf("nearest without names = %q", got)
	}
}

func TestDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0},
		{"abc", "acb", 1}, {"abc", "abd", 1}, {"abc", "ab", 1}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
	}
	for _, tt := range tests {
		if got := distance(tt.a, tt.b); got != tt.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestBuildVersion(t *testing.T) {
	for given, want := range map[string]string{"1.2.3": "1.2.3", "": "devel"} { // a test has no version
		if got := buildVersion(given); got != want {
			t.Errorf("buildVersion(%q) = %q, want %q", given, got, want)
		}
	}
}
