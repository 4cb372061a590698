package cli

import (
	"slices"
	"testing"
)

func TestMentions(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"nothing here", nil},
		{"@a", []string{"a"}},
		{"look at @a and @b/c.txt, please", []string{"a", "b/c.txt,"}},
		{"me@example.com", nil},
		{"(@a) '@b' \"@c\"", []string{"a)", "b'", "c\""}},
		{`@"two words" @"open end`, []string{"two words", "open end"}},
		{"@\"open end\nx\" y", []string{"open end"}},
		{"@a @a @a", []string{"a"}},
		{"@ @", nil},
		{"line\n@a\tx", []string{"a"}},
		{"@@a", []string{"@a"}},
		{`@""`, nil},
	}
	for _, tt := range tests {
		if got := mentions(tt.text); !slices.Equal(got, tt.want) {
			t.Errorf("mentions(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
