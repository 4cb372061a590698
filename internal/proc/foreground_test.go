package proc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func foreground(t *testing.T, ctx context.Context, command string) (Result, string) {
	t.Helper()
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var shown bytes.Buffer
	r, err := Foreground(ctx, Spec{Argv: []string{"/bin/sh", "-c", command}, Env: []string{"A=b", "PATH=" + os.Getenv("PATH")}, Keep: 100}, in, &shown)
	if err != nil {
		t.Fatalf("Foreground(%q): %v", command, err)
	}
	return r, shown.String()
}

func TestForeground(t *testing.T) {
	r, shown := foreground(t, context.Background(), "echo $A; echo err >&2; exit 3")
	if shown != "b\nerr\n" || r.Head != "b\nerr\n" || r.Exit != 3 {
		t.Errorf("shown %q, kept %q, exit %d; want both outputs and 3", shown, r.Head, r.Exit)
	}
	r, shown = foreground(t, context.Background(), "head -c 5000 /dev/zero | tr '\\0' x")
	if len(shown) != 5000 || len(r.Head)+len(r.Tail) > 100 || r.Dropped == 0 {
		t.Errorf("%d bytes shown, %d kept; want all shown and 100 kept", len(shown), len(r.Head)+len(r.Tail))
	}
	// It shares our process group: the keys of the terminal reach both.
	if r, _ = foreground(t, context.Background(), `test "$(cut -d' ' -f5 /proc/$$/stat)" = "$(cut -d' ' -f5 /proc/$PPID/stat)"`); r.Exit != 0 {
		t.Error("the program has a process group of its own")
	}
}

func TestForegroundEnds(t *testing.T) {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if r, _ := foreground(t, ctx, "exec sleep 60"); !r.Cancelled || r.Signal == 0 {
		t.Errorf("result %+v, want one that was cancelled", r)
	}
	file := filepath.Join(t.TempDir(), "late")
	r, _ := foreground(t, context.Background(), "(sleep 1; echo late; echo late > "+file+") & echo now")
	if r.Head != "now\n" || !r.Held {
		t.Errorf("result %+v, want the background job held", r)
	}
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("took %v", d)
	}
	for stop := time.Now().Add(20 * time.Second); ; {
		if _, err := os.Stat(file); err == nil {
			return
		}
		if time.Now().After(stop) {
			t.Fatal("the background job did not live on")
		}
		time.Sleep(20 * time.Millisecond)
	}
}
