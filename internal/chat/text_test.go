package chat

import (
	"strings"
	"testing"
	"unicode/utf8"
)

var cleanTests = []struct{ in, want string }{
	{"", ""},
	{"plain text\n\tindented ü 漢字 👨‍👩‍👧\n", "plain text\n\tindented ü 漢字 👨‍👩‍👧\n"},
	{"\x1b[31mred\x1b[0m and \x1b[1;38;5;200mpink\x1b[m", "red and pink"},
	{"\x1b[?25l\x1b[2J\x1b[Hclear\x1b[6n", "clear"},
	{"\x1b[ qshape\x1b[!preset", "shapereset"},
	{"a\x1b]0;title\x07b", "ab"},
	{"a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"},
	{"a\x1b]52;c;aGk=\u009cb", "ab"},
	{"a\x1bPq#0~~\x1b\\b", "ab"},
	{"a\x1b_Gi=1;AAAA\x1b\\b\x1b^pm\x1b\\c\x1bXsos\x1b\\d", "abcd"},
	{"a\x1bkwindow\x1b\\b", "ab"},
	{"\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\b", "b"},
	{"\x1b7\x1b8\x1bc\x1b(Bx\x1b#8y\x1b%Gz\x1b( [w", "xyzw"},
	{"a\u009b31mb\u009d0;t\u009cc\u0090q\u009cd\u0085e", "abcde"},
	{"bell\x07 back\b nul\x00 del\x7f vt\v ff\f", "bell back nul del vt ff"},
	{"a\r\nb\r\n", "a\nb\n"},
	{"10%\r20%\r\x1b[K30%\r\n", "10%\n20%\n30%\n"},
	{"10%\r\x1b[K\n", "10%\n"},
	{"a\r\r\nb\r", "a\nb\n"},
	{"a\xffb\xc3", "a\ufffdb\ufffd"},
	{"\xe2\x82A\xed\xa0\x80\xf0\x9f\x92", "\ufffd\ufffdA\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd"},
	{"a\x9b31mb", "a\ufffd31mb"},
	// Not finished, or broken off by something that does not belong.
	{"a\x1b", "a"},
	{"a\x1b[31", "a"},
	{"a\x1b]0;never", "a"},
	{"a\x1b]0;never\nnext\x1b[31\nmore", "a\nnext\nmore"},
	{"a\x1b]0;x\x18b\x1b[3\x1b[1mc\x1b\x1b[md", "abcd"},
	{"a\x1büb\x1b[3ü", "aübü"},
}

func TestCleanText(t *testing.T) {
	for _, tt := range cleanTests {
		if got := CleanText(tt.in); got != tt.want {
			t.Errorf("CleanText(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestCleanTextKeepsCleanTextUncopied(t *testing.T) {
	s := strings.Repeat("clean ü\n", 100)
	if n := testing.AllocsPerRun(10, func() { CleanText(s) }); n != 0 {
		t.Errorf("CleanText of clean text allocates %v times, want 0", n)
	}
}

// TestCleanerEverySplit feeds each case in two pieces cut at each place, and
// byte by byte.
func TestCleanerEverySplit(t *testing.T) {
	for _, tt := range cleanTests {
		for i := range len(tt.in) + 1 {
			var c Cleaner
			if got := c.Feed(tt.in[:i]) + c.Feed(tt.in[i:]) + c.Flush(); got != tt.want {
				t.Errorf("Cleaner: %q then %q = %q, want %q", tt.in[:i], tt.in[i:], got, tt.want)
			}
		}
		if got := cleanBytewise(tt.in); got != tt.want {
			t.Errorf("Cleaner: %q byte by byte = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestCleanerIsFreshAfterFlush(t *testing.T) {
	var c Cleaner
	c.Feed("a\r\x1b]0;\xe2")
	c.Flush()
	if got := c.Feed("b"); got != "b" {
		t.Errorf("Feed(%q) after Flush = %q, want %q", "b", got, "b")
	}
}

func cleanBytewise(s string) string {
	var c Cleaner
	var b strings.Builder
	for i := range len(s) {
		b.WriteString(c.Feed(s[i : i+1]))
	}
	b.WriteString(c.Flush())
	return b.String()
}

func TestEscapeText(t *testing.T) {
	tests := []struct {
		in   string
		max  int
		want string
	}{
		{"", 0, ""},
		{"plain ü 漢字 é", 0, "plain ü 漢字 é"},
		{"a\nb\tc\rd", 0, `a\nb\tc\rd`},
		{"\x1b[31mred\x1b]0;t\x07", 0, `\x1b[31mred\x1b]0;t\a`},
		{"nul\x00del\x7fcsi\u009b", 0, `nul\x00del\x7fcsi\u009b`},
		{"\xff\xe2\x82", 0, `\xff\xe2\x82`},
		{"user\u202etxt.exe\u2066\u200e\u061c", 0, `user\u202etxt.exe\u2066\u200e\u061c`},
		{"zero\u200bwidth\u2060\ufeff\u00ad\u2028", 0, `zero\u200bwidth\u2060\ufeff\u00ad\u2028`},
		{"tag\U000e0041", 0, `tag\U000e0041`},
		{`C:\new "x"`, 0, `C:\new "x"`},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abcdef..."},
		{"abcdé", 5, "abcd..."},
		{"abcd\x1b", 7, "abcd..."},
		{"abcd\x1b", 8, `abcd\x1b`},
		{"\x1b", 1, "..."},
	}
	for _, tt := range tests {
		if got := EscapeText(tt.in, tt.max); got != tt.want {
			t.Errorf("EscapeText(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, tt := range cleanTests {
		f.Add(tt.in, 3)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		got := CleanText(s)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, forbidden) {
			t.Errorf("CleanText(%q) = %q, not clean", s, got)
		}
		if again := CleanText(got); again != got {
			t.Errorf("CleanText(%q) = %q, want it unchanged", got, again)
		}
		if by := cleanBytewise(s); by != got {
			t.Errorf("Cleaner: %q byte by byte = %q, want %q", s, by, got)
		}
		line := EscapeText(s, 0)
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || forbidden(r) }) {
			t.Errorf("EscapeText(%q, 0) = %q, not one clean line", s, line)
		}
		if again := EscapeText(line, 0); again != line {
			t.Errorf("EscapeText(%q, 0) = %q, want it unchanged", line, again)
		}
		cut := EscapeText(s, max)
		if rest, was := strings.CutSuffix(cut, "..."); cut != line && (!was || len(rest) > max || !strings.HasPrefix(line, rest)) {
			t.Errorf("EscapeText(%q, %d) = %q, no cut of %q", s, max, cut, line)
		}
	})
}

func forbidden(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r <= 0x9f
}
