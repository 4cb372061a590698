package lineedit

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestCluster(t *testing.T) {
	tests := []struct {
		in          string
		size, width int
	}{
		{"", 0, 0},
		{"ab", 1, 1},
		{"é", 2, 1},
		{"e\u0301x", 3, 1},
		{"e\u0301\u0323x", 5, 1},
		{"漢字", 3, 2},
		{"ｱ", 3, 1},
		{"Ａ", 3, 2},
		{"가", 3, 2},
		{"\u1100\u1161\u11a8\u1100", 9, 2}, // one syllable in three letters
		{"👍x", 4, 2},
		{"👍🏽x", 8, 2},
		{"👨\u200d👩\u200d👧x", 18, 2},
		{"🏳\ufe0f\u200d🌈", 14, 2},
		{"🇩🇪🇫🇷", 8, 2},
		{"🇩x", 4, 1},
		{"❤x", 3, 1},
		{"❤\ufe0fx", 6, 2},
		{"1\ufe0f\u20e3x", 7, 2},
		{"a\u200db", 4, 1}, // joins nothing that is no picture
		{"\u0301a", 2, 0},
		{"\u202eabc", 3, 0},
		{"a\u202eb", 1, 1},
		{"\u200e\u0301", 3, 0},
		{"🇩🇪\u0301x", 10, 2},
		{"🇩🇪\u200d🌈x", 11, 2},
		{"🇩\u200dx", 7, 1},
		{"\xffa", 1, 1},
		{"\x1b[A", 1, 0},
		{"\u0301\n", 2, 0},
	}
	for _, tt := range tests {
		if size, width := Cluster(tt.in); size != tt.size || width != tt.width {
			t.Errorf("Cluster(%q) = %d, %d, want %d, %d", tt.in, size, width, tt.size, tt.width)
		}
	}
}

func TestTruncate(t *testing.T) {
	tests := []struct {
		in      string
		columns int
		want    string
	}{
		{"abc", 2, "ab"},
		{"abc", 3, "abc"},
		{"a漢字", 2, "a"},
		{"a漢字", 3, "a漢"},
		{"e\u0301e\u0301", 1, "e\u0301"},
		{"👨\u200d👩x", 1, ""},
		{"x", 0, ""},
	}
	for _, tt := range tests {
		if got := Truncate(tt.in, tt.columns); got != tt.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tt.in, tt.columns, got, tt.want)
		}
	}
}

// TestRanges compares the table of zero width with the categories it is made
// of, and both with their own order.
func TestRanges(t *testing.T) {
	for _, table := range [][][2]uint32{wideRanges[:], zeroRanges[:]} {
		last := uint32(0)
		for _, r := range table {
			if r[0] <= last || r[1] < r[0] {
				t.Errorf("%#x-%#x is out of order", r[0], r[1])
			}
			last = r[1]
		}
	}
	for r := rune(0x300); r <= unicode.MaxRune; r++ {
		mark := unicode.In(r, unicode.Mn, unicode.Me)
		joins := mark || unicode.Is(unicode.Cf, r) || r >= 0x1160 && r <= 0x11ff || !unicode.IsPrint(r)
		switch got := RuneWidth(r); {
		case mark && got != 0:
			t.Errorf("RuneWidth(%U) = %d, want 0", r, got)
		case got == 0 && !joins:
			t.Errorf("RuneWidth(%U) = 0, want more", r)
		}
	}
}

func FuzzCluster(f *testing.F) {
	f.Add("a漢👨\u200d👩🇩🇪\u0301\xff")
	f.Fuzz(func(t *testing.T, s string) {
		total := 0
		for rest := s; rest != ""; {
			size, w := Cluster(rest)
			if size < 1 || size > len(rest) || w < 0 || w > 2 {
				t.Fatalf("Cluster(%q) = %d, %d", rest, size, w)
			}
			if utf8.ValidString(s) && !utf8.ValidString(rest[:size]) {
				t.Fatalf("Cluster(%q) cuts a character: %q", rest, rest[:size])
			}
			total += w
			rest = rest[size:]
		}
		if got := Width(s); got != total {
			t.Errorf("Width(%q) = %d, want %d", s, got, total)
		}
	})
}
