package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindPlace(t *testing.T) {
	home := t.TempDir()
	passwd := passwdHome(os.Getuid())
	state := ""
	if passwd != "" {
		state = filepath.Join(passwd, ".cluade")
	}
	tests := []struct{ home, state, wantHome, wantState string }{
		{home, "", home, filepath.Join(home, ".cluade")},
		{home, "/x/y/", home, "/x/y"},
		{home, "rel", home, ""},
		{"relative", "", "", ""},
		{"", "", passwd, state},
		{home + "/nothing", "", "", ""},
		{home + "/nothing", "/x/y", "", "/x/y"},
	}
	for _, tt := range tests {
		env := map[string]string{"HOME": tt.home, "CLUADE_HOME": tt.state}
		p := FindPlace("/some/dir", func(k string) string { return env[k] })
		if p.Home != tt.wantHome || p.State != tt.wantState || p.Dir != "/some/dir" {
			t.Errorf("FindPlace(HOME=%q, CLUADE_HOME=%q) = %q, %q, want %q, %q", tt.home, tt.state, p.Home, p.State, tt.wantHome, tt.wantState)
		}
	}
}

func TestFindHome(t *testing.T) {
	const file = "root:x:0:0:root:/root:/bin/ash\n# comment\nshort:x:7\nann:x:1000:1000::/home/ann:/bin/sh\n"
	for uid, want := range map[int]string{0: "/root", 1000: "/home/ann", 7: "", 5: ""} {
		if got := findHome(strings.NewReader(file), uid); got != want {
			t.Errorf("findHome(%d) = %q, want %q", uid, got, want)
		}
	}
}
