package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// piped makes a pipe to read from that waits as long as a busy machine needs.
func piped(t *testing.T, asked, patient bool) (*pipe, *os.File, *[]string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	var said []string
	p := &pipe{in: r, say: func(s string) { said = append(said, s) }, asked: asked, patient: patient,
		hint: 20 * time.Second, leave: 40 * time.Second}
	return p, w, &said
}

// hasty makes the silence short that the pipe bears.
func (p *pipe) hasty() { p.hint, p.leave = 20*time.Millisecond, 40*time.Millisecond }

func TestPipeText(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{" \n\n", ""},
		{"one\n", "one"},
		{"\n\n  PID USER\n    1 root\n", "  PID USER\n    1 root"},
		{"a\r\nb\r\n", "a\nb"},
		{"\x1b[31mred\x1b[0m\x00", "red"},
		{"caf\xe9", "caf\ufffd"},
	}
	for _, tt := range tests {
		p, w, said := piped(t, true, false)
		w.WriteString(tt.in)
		w.Close()
		got, err := p.read(context.Background())
		if got != tt.want || err != nil {
			t.Errorf("read(%q) = %q, %v, want %q", tt.in, got, err, tt.want)
		}
		if len(*said) > 0 {
			t.Errorf("read(%q) said %q", tt.in, *said)
		}
	}
}

func TestPipeSilence(t *testing.T) {
	p, _, said := piped(t, true, false)
	p.hasty()
	got, err := p.read(context.Background())
	if got != "" || err != nil {
		t.Errorf("read of silence = %q, %v", got, err)
	}
	wantSaid(t, *said, "waiting for standard input", "going on without it")
}

func TestPipeFallsSilent(t *testing.T) {
	p, w, said := piped(t, true, false)
	p.hasty()
	w.WriteString("half")
	got, err := p.read(context.Background())
	if got != "half" || err != nil {
		t.Errorf("read = %q, %v, want what came", got, err)
	}
	wantSaid(t, *said, "waiting for standard input", "going on with the 4 bytes")
}

// TestPipePatient has the writer begin when the wait was announced twice over.
func TestPipePatient(t *testing.T) {
	p, w, said := piped(t, false, true)
	p.hasty()
	say := p.say
	p.say = func(s string) {
		say(s)
		time.AfterFunc(4*p.leave, func() { w.WriteString("late"); w.Close() })
	}
	got, err := p.read(context.Background())
	if got != "late" || err != nil {
		t.Errorf("read = %q, %v, want the late text", got, err)
	}
	wantSaid(t, *said, "waiting for a prompt on standard input")
}

func TestPipeCancel(t *testing.T) {
	p, _, _ := piped(t, false, true)
	p.hasty()
	ctx, cancel := context.WithCancel(context.Background())
	p.say = func(string) { cancel() }
	if _, err := p.read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("read = error %v, want it cancelled", err)
	}
}

func TestPipeCut(t *testing.T) {
	p, w, said := piped(t, true, false)
	go func() {
		defer w.Close()
		w.WriteString(strings.Repeat("x", maxInput-1) + "é")
		w.WriteString(strings.Repeat("y", 64<<10)) // nobody may read this
	}()
	got, err := p.read(context.Background())
	p.in.Close()
	want := strings.Repeat("x", maxInput-1) + "\n[standard input cut after 262143 bytes]"
	if got != want || err != nil {
		t.Errorf("read = %d bytes ending %q, %v", len(got), got[max(0, len(got)-60):], err)
	}
	wantSaid(t, *said, "[standard input cut after 262143 bytes]")
}

func TestPipeWhole(t *testing.T) {
	p, w, said := piped(t, true, false)
	go func() {
		defer w.Close()
		w.WriteString(strings.Repeat("x", maxInput))
	}()
	got, err := p.read(context.Background())
	if len(got) != maxInput || err != nil || len(*said) > 0 {
		t.Errorf("read = %d bytes, %v, said %q; want all of it in silence", len(got), err, *said)
	}
}

func TestPromptFile(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		f    flags
		want string
		err  string
	}{
		{f: flags{words: []string{"why", "is it"}}, want: "why is it"},
		{f: flags{words: []string{""}}, want: ""},
		{f: flags{words: []string{"\x1b[2Jhi"}}, want: "hi"},
		{f: flags{promptFile: file("a", "\ufefffrom file\n")}, want: "from file"},
		{f: flags{promptFile: file("b", "one\r\n\n"), words: []string{"two"}}, want: "one\ntwo"},
		{f: flags{promptFile: file("c", "")}, want: ""},
		{f: flags{promptFile: file("d", strings.Repeat("x", maxInput+1))}, err: "larger than 262144 bytes"},
		{f: flags{promptFile: dir}, err: "not a regular file"},
		{f: flags{promptFile: filepath.Join(dir, "none")}, err: "no such file"},
	}
	for _, tt := range tests {
		got, err := tt.f.prompt()
		switch {
		case tt.err == "" && (err != nil || got != tt.want):
			t.Errorf("prompt(%+v) = %q, %v, want %q", tt.f, got, err, tt.want)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("prompt(%s) = error %v, want %q", tt.f.promptFile, err, tt.err)
		}
	}
}

func wantSaid(t *testing.T, said []string, want ...string) {
	t.Helper()
	if len(said) != len(want) {
		t.Errorf("said %q, want %d sentences", said, len(want))
		return
	}
	for i, w := range want {
		if !strings.Contains(said[i], w) {
			t.Errorf("said %q, want %q", said[i], w)
		}
	}
}
