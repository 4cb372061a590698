package cli

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"cluade/store"
)

func TestComplete(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"net.conf", "network", "two words", ".hidden", "bad\x1b[31m"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "new", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("new", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	a := &app{place: store.Place{Dir: dir, Home: dir}, cfg: &store.Config{}, models: []string{"big", "bigger", "small"}}
	tests := []struct {
		line string
		from int
		want []string
	}{
		{"/mo", 0, []string{"/model", "/mode"}},
		{"/nothing", 0, nil},
		{"/mode p", 6, []string{"plan"}},
		{"/mode plan x", 11, nil},
		{"/model big", 7, []string{"big", "bigger"}},
		{"look at @ne", 8, []string{"@net.conf", "@network", "@new/"}},
		{"@new/", 0, []string{"@new/deep/"}},
		{"@l", 0, []string{"@link/"}},
		{"@two", 0, []string{`@"two words"`}},
		{`see @"two w`, 4, []string{`@"two words"`}},
		{`see @"two words" n`, 17, nil},
		{`see @"ne`, 4, []string{`@"net.conf"`, `@"network"`, `@"new/`}},
		{"/cwd ne", 5, []string{"new/"}},
		{"/cwd ./l", 5, []string{"./link/"}},
		{"/nope ne", 6, nil},
		{"/config set model", 12, []string{"model", "models"}},
		{"/config set model x", 18, nil},
		{"@.h", 0, []string{"@.hidden"}},
		{"@bad", 0, nil},
		{"see ./ne", 4, []string{"./net.conf", "./network", "./new/"}},
		{"see ~/net", 4, []string{"~/net.conf", "~/network"}},
		{"see ne", 4, nil},
		{"@gone/x", 0, nil},
		{"", 0, nil},
	}
	for _, tt := range tests {
		from, got := a.complete(tt.line+"tail", len(tt.line))
		if from != tt.from && got != nil || !slices.Equal(got, tt.want) {
			t.Errorf("complete(%q) = %d, %q, want %d, %q", tt.line, from, got, tt.from, tt.want)
		}
	}
}
