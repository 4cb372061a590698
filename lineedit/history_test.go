package lineedit

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestHistoryKeeps(t *testing.T) {
	h := &History{max: 3}
	for _, line := range []string{"one", "two", "two", "", "  ", " secret", "three\nlines", "one", "two"} {
		h.Add(line)
	}
	if want := []string{"three\nlines", "one", "two"}; !slices.Equal(h.lines, want) {
		t.Errorf("the history is %q, want %q", h.lines, want)
	}
}

func openHistory(t *testing.T, max int, file string, keep int) *History {
	t.Helper()
	h, err := OpenHistory(max, file, keep)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestHistoryFile has two programs end one after the other: neither loses what
// the other had.
func TestHistoryFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	a, b := openHistory(t, 100, file, 500), openHistory(t, 100, file, 500)
	a.Add("one\ntwo \\n three")
	b.Add(`C:\new`)
	if _, err := os.Stat(file); err == nil {
		t.Error("the file is written before the end")
	}
	for _, h := range []*History{a, b, b} {
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	b.Add("last")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if got, want := openHistory(t, 100, file, 500).lines, []string{"one\ntwo \\n three", `C:\new`, "last"}; !slices.Equal(got, want) {
		t.Errorf("the history is %q, want %q", got, want)
	}
}

func TestHistoryFileIsBounded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "history")
	for i := range 40 {
		h := openHistory(t, 3, file, 5)
		h.Add("line " + strconv.Itoa(i))
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(file)
		if n := strings.Count(string(data), "\n"); n > 11 || i >= 5 && n < 5 {
			t.Fatalf("%d lines after %d", n, i+1)
		}
	}
	if got, want := openHistory(t, 3, file, 5).lines, []string{"line 37", "line 38", "line 39"}; !slices.Equal(got, want) {
		t.Errorf("the history is %q, want %q", got, want)
	}
	os.WriteFile(file, []byte(strings.Repeat(strings.Repeat("x", 99)+"\n", 10000)), 0o600)
	h := openHistory(t, 100, file, 500)
	h.Add("last")
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if n := strings.Count(string(data), "\n"); err != nil || n != 500 || !strings.HasSuffix(string(data), "x\nlast\n") {
		t.Errorf("a large file has %d lines, %v", n, err)
	}
	if info, _ := os.Stat(file); info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v", info.Mode())
	}
}

func TestHistoryFileFaults(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{fifo, dir} {
		h, err := OpenHistory(100, file, 500)
		if err == nil {
			t.Errorf("OpenHistory(%q) = nil, want an error", file)
		}
		h.Add("works all the same")
		if err := h.Close(); err != nil || len(h.lines) != 1 {
			t.Errorf("after a fault: %q, %v", h.lines, err)
		}
	}
	damaged := filepath.Join(dir, "damaged")
	os.WriteFile(damaged, []byte("a\\\n\x1b[2Jb\xff\n\n\\x\nlast"), 0o600)
	if got, want := openHistory(t, 100, damaged, 500).lines, []string{`a\`, "[2Jb\ufffd", "x", "last"}; !slices.Equal(got, want) {
		t.Errorf("the history is %q, want %q", got, want)
	}
	h := openHistory(t, 100, filepath.Join(dir, "none", "file"), 500)
	h.Add("x")
	if err := h.Close(); err == nil || !strings.Contains(err.Error(), "save history: ") {
		t.Errorf("Close = %v", err)
	}
	for _, h := range []*History{openHistory(t, 100, "", 500), openHistory(t, 100, filepath.Join(dir, "off"), 0)} {
		h.Add("x")
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "off")); err == nil {
		t.Error("a history of no entries has a file")
	}
}

func FuzzHistoryLine(f *testing.F) {
	f.Add("a\\n\nb\\\\")
	f.Fuzz(func(t *testing.T, s string) {
		line := escape(s)
		if strings.Contains(line, "\n") || unescape(line) != s {
			t.Errorf("escape(%q) = %q, which is %q", s, line, unescape(line))
		}
	})
}
