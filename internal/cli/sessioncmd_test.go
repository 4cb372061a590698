package cli

import (
	"strings"
	"testing"
	"time"

	"cluade/internal/chat"
	"cluade/internal/proc"
	"cluade/lineedit"
	"cluade/store"
)

func TestSessionLine(t *testing.T) {
	s := store.Summary{
		ID: "20260529-201630-1000", Name: "wifi", Dir: "/root/a/very/long/name/of/a/directory/that/does/not/fit/into/a/window/of/eighty",
		Created: time.Date(2026, 5, 29, 20, 16, 30, 0, time.Local), Messages: 12, Bytes: 34567, First: `a "first" prompt of 日本語 that is cut in a window`, Damage: "torn",
	}
	const head = `  20260529-201630-1000  2026-05-29 20:16  12 messages  ~35 kB  [torn]  "`
	tests := []struct {
		columns int
		dir     string
		want    string
	}{
		{0, s.Dir, head + s.First + `"  name wifi`},
		{0, "/", head + s.First + `"  name wifi  in ` + s.Dir},
		{200, s.Dir, head + s.First + "\"\n    name wifi"},
		{40, s.Dir, "  20260529-201630-1000  12 messages  ...\n    \"a \"first\" prompt of 日本語 that...\"\n    name wifi"},
	}
	for _, tt := range tests {
		if got := sessionLine(s, "other", tt.dir, tt.columns); got != tt.want+"\n" {
			t.Errorf("sessionLine(%d, %s) = %q, want %q", tt.columns, tt.dir, got, tt.want)
		}
	}
	for columns, rows := range map[int]int{20: 3, 40: 3, 72: 3, 80: 3, 100: 2} {
		got := sessionLine(s, s.ID, "/", columns)
		if !strings.HasPrefix(got, "* 2026") || strings.Count(got, "\n") != rows || columns >= 40 && !strings.Contains(got, `"a "first" p`) {
			t.Errorf("in %d columns: %q", columns, got)
		}
		for _, line := range strings.Split(got, "\n") {
			width := lineedit.Width(line)
			if width > columns {
				t.Errorf("in %d columns: %q takes %d", columns, line, width)
			}
		}
	}
}

func TestTurnText(t *testing.T) {
	for _, tt := range []struct {
		input string
		width int
		want  string
	}{
		{"hello\nthere", 40, `hello\nthere`},
		{shellText("ls", proc.Result{Head: "a\n"}) + shellText("pwd", proc.Result{Head: "/x"}) + "what now?", 40, "what now?"},
		{strings.Repeat("x", 80), 10, "xxxxxxx..."},
		{shellMark, 40, shellMark},
	} {
		if got := turnText(tt.input, tt.width); got != tt.want {
			t.Errorf("turnText(%q) = %q, want %q", tt.input, got, tt.want)
		}
	}
}

// TestTakeModel: what was learnt of one model's window is not said of another.
func TestTakeModel(t *testing.T) {
	s := &chat.Session{Model: "a", Window: 3000}
	if takeModel(s, "a"); s.Window != 3000 {
		t.Errorf("the same model has window %d", s.Window)
	}
	if takeModel(s, "b"); s.Model != "b" || s.Window != 0 {
		t.Errorf("another model: %+v", s)
	}
	a := &app{cfg: &store.Config{BaseURL: "http://127.0.0.1:8080/v1"}}
	for host, want := range map[string]bool{"127.0.0.1:8080": true, "127.0.0.1": false, "27.0.0.1:8080": false, "": false} {
		if got := a.wrote([]chat.Message{{Role: chat.Assistant, Host: host}, {Role: chat.User}}); got != want {
			t.Errorf("wrote of host %q = %v, want %v", host, got, want)
		}
	}
	if !a.wrote(nil) {
		t.Error("a compacted session is taken for that of another host")
	}
}
