package cli

import (
	"strings"
	"testing"

	"cluade/lineedit"
)

func TestCutColumns(t *testing.T) {
	tests := []struct {
		in   string
		max  int
		want string
	}{
		{"", 10, ""},
		{"0123456789", 10, "0123456789"},
		{"0123456789a", 10, "0123456..."},
		{"漢字漢字漢", 10, "漢字漢字漢"},
		{"漢字漢字漢x", 10, "漢字漢..."},
		{"x漢字漢字漢", 10, "x漢字漢..."},
		{"e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301e\u0301e\u0301e\u0301"},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301", 4, "e\u0301..."},
		{"abcd", 3, "..."},
	}
	for _, tt := range tests {
		if got := cutColumns(tt.in, tt.max); got != tt.want {
			t.Errorf("cutColumns(%q, %d) = %q, want %q", tt.in, tt.max, got, tt.want)
		}
	}
}

func TestASCIIText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"“quoted” – isn’t it…", `"quoted" - isn't it...`},
		{"• a → b ×2", "* a -> b x2"},
		{"┌──┬─│", "+--+-|"},
		{"größe 漢", "gr??e ?"},
		{"e\u0301\u200b", "e"},
		{"\xff", "?"},
	}
	for _, tt := range tests {
		if got := asciiText(tt.in); got != tt.want {
			t.Errorf("asciiText(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzWidths(f *testing.F) {
	for _, s := range []string{"", "plain", "漢字 e\u0301", "\xff\xfe", strings.Repeat("x", 200)} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		max = 3 + max&0xff
		cut := cutColumns(s, max)
		width := lineedit.Width(cut)
		if width > max {
			t.Errorf("cutColumns(%q, %d) = %q, %d columns", s, max, cut, width)
		}
		if i := strings.IndexFunc(asciiText(s), func(r rune) bool { return r >= 0x80 }); i >= 0 {
			t.Errorf("asciiText(%q) = %q", s, asciiText(s))
		}
	})
}
