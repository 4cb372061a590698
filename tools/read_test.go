package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRead(t *testing.T) {
	e := testEnv(t)
	files := map[string]string{
		"plain": "a\n\tb\n\nd\n", "open-end": "a\nb", "empty": "", "blank": "\n", "crlf": "a\r\nb\r\n",
		"bom": "\ufeffa\n\ufeffb\n", "latin": "caf\xe9\n\xff\xfex\n", "colour": "\x1b[31mred\x1b[0m\n", "new\nline": "x\n",
	}
	for name, content := range files {
		put(t, e, name, content)
	}
	link(t, e, "plain", "link")
	tests := []struct {
		a    args
		want string
	}{
		{args{"filePath": "plain"}, "1: a\n2: \tb\n3: \n4: d"},
		{args{"filePath": e.Dir + "/plain"}, "1: a\n2: \tb\n3: \n4: d"},
		{args{"filePath": "link"}, "1: a\n2: \tb\n3: \n4: d"},
		{args{"filePath": "new\nline"}, "1: x"},
		{args{"filePath": "open-end"}, "1: a\n2: b"},
		{args{"filePath": "empty"}, "(empty file)"},
		{args{"filePath": "empty", "offset": 7}, "(empty file)"},
		{args{"filePath": "blank"}, "1: "},
		{args{"filePath": "crlf"}, "1: a\r\n2: b\r"},
		{args{"filePath": "bom"}, "1: a\n2: \ufeffb"},
		{args{"filePath": "latin"}, "1: caf\ufffd\n2: \ufffdx"},
		{args{"filePath": "colour"}, "1: \x1b[31mred\x1b[0m"},
		{args{"filePath": "plain", "offset": 2}, "2: \tb\n3: \n4: d"},
		{args{"filePath": "plain", "offset": 2, "limit": 2}, "2: \tb\n3: \n[lines 2-3 of 4; continue with offset=4]"},
		{args{"filePath": "plain", "offset": 3, "limit": 2}, "3: \n4: d"},
		{args{"filePath": "plain", "limit": 1}, "1: a\n[lines 1-1 of 4; continue with offset=2]"},
		{args{"filePath": "open-end", "limit": 1}, "1: a\n[lines 1-1 of 2; continue with offset=2]"},
		{args{"filePath": "plain", "limit": int64(1) << 52}, "1: a\n2: \tb\n3: \n4: d"},
		{args{"filePath": "plain", "offset": 5}, "(plain has 4 lines; offset 5 is past the end)"},
		{args{"filePath": "open-end", "offset": 1200, "limit": 200}, "(open-end has 2 lines; offset 1200 is past the end)"},
	}
	for _, tt := range tests {
		want(t, e, "read", tt.a, tt.want)
	}
}

func TestReadErrors(t *testing.T) {
	e := testEnv(t)
	put(t, e, "elf", "\x7fELF\x02\x01\x01\x00rest")
	put(t, e, "utf16", "\xff\xfea\x00\n\x00")
	put(t, e, "noise", strings.Repeat("\x01\x02\x03ab", 20))
	put(t, e, "f", "x")
	put(t, e, "dir/f", "x")
	link(t, e, "missing/file", "dangling")
	link(t, e, "loop", "loop")
	if err := syscall.Mkfifo(e.Dir+"/pipe", 0o644); err != nil {
		t.Fatal(err)
	}
	link(t, e, "pipe", "pipe-link")
	sock, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(sock)
	if err := syscall.Bind(sock, &syscall.SockaddrUnix{Name: e.Dir + "/sock"}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		a    args
		want string
	}{
		{args{"filePath": "none"}, "no such file: none"},
		{args{"filePath": "none\n"}, `no such file: "none\n"`},
		{args{"filePath": "dangling"}, "no such file: dangling is a link to missing/file, which does not exist"},
		{args{"filePath": "loop"}, "too many levels of symbolic links"},
		{args{"filePath": "f/x"}, "f/x: not a directory"},
		{args{"filePath": strings.Repeat("x", 300)}, "file name too long"},
		{args{"filePath": "dir"}, "dir is a directory; glob lists what is in it"},
		{args{"filePath": "pipe"}, "pipe is a named pipe, not a regular file"},
		{args{"filePath": "pipe-link"}, "pipe-link is a named pipe, not a regular file"},
		{args{"filePath": "sock"}, "sock is a socket, not a regular file"},
		{args{"filePath": "/dev/null"}, "/dev/null is a device, not a regular file"},
		{args{"filePath": "elf"}, "elf is binary (12 bytes, ELF program or library); look at it through bash with strings or hexdump"},
		{args{"filePath": "utf16"}, "utf16 is binary (6 bytes, UTF-16 text)"},
		{args{"filePath": "noise"}, "noise is binary (100 bytes, unknown type)"},
		{args{"filePath": "f", "offset": 0}, "offset and limit must be at least 1"},
		{args{"filePath": "f", "offset": -4}, "offset and limit must be at least 1"},
		{args{"filePath": "f", "limit": 0}, "offset and limit must be at least 1"},
		{args{"filePath": "f", "limit": -1}, "offset and limit must be at least 1"},
		{args{"filePath": ""}, "the path is empty"},
	}
	for _, tt := range tests {
		wantError(t, e, "read", tt.a, tt.want)
	}
}

// TestReadLongLines: a line is cut at 2000 bytes, never within a character,
// and says how much more it has.
func TestReadLongLines(t *testing.T) {
	e := testEnv(t)
	put(t, e, "min.js", strings.Repeat("x", 2000000))
	put(t, e, "exact", strings.Repeat("x", 2000)+"\nb\n")
	put(t, e, "accents", "a"+strings.Repeat("é", 1500)+"\nb\n")
	want(t, e, "read", args{"filePath": "min.js"}, "1: "+strings.Repeat("x", 2000)+" [+1998000 bytes]")
	want(t, e, "read", args{"filePath": "exact"}, "1: "+strings.Repeat("x", 2000)+"\n2: b")
	want(t, e, "read", args{"filePath": "accents"}, "1: a"+strings.Repeat("é", 999)+" [+1002 bytes]\n2: b")
}

// TestReadPages: following the offsets gives each line once, and each page fits
// whatever size a result may have.
func TestReadPages(t *testing.T) {
	e := testEnv(t)
	const lines = 7000
	var b strings.Builder
	for i := 1; i <= lines; i++ {
		fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("é", i%97))
	}
	put(t, e, "big", b.String())
	for _, keep := range []int{0, 4096, 20000, 131072, 1 << 24} {
		e.Keep = keep
		next, pages := 1, 0
		for next <= lines {
			pages++
			text, err := use(t, e, "read", args{"filePath": "big", "offset": next})
			if err != nil {
				t.Fatal(err)
			}
			if len(text) > min(e.keep(), maxPage) {
				t.Fatalf("keep %d: a page of %d bytes", keep, len(text))
			}
			rows := strings.Split(text, "\n")
			for _, row := range rows[:len(rows)-1] {
				if prefix := fmt.Sprintf("%d: line %d ", next, next); !strings.HasPrefix(row, prefix) {
					t.Fatalf("keep %d: row %q, want %q", keep, row, prefix)
				}
				next++
			}
			last := rows[len(rows)-1]
			if next == lines && strings.HasPrefix(last, fmt.Sprint(lines)) {
				next++ // the last row of the last page is a line
			}
			if next <= lines && !strings.HasSuffix(last, fmt.Sprintf("-%d of %d; continue with offset=%d]", next-1, lines, next)) {
				t.Fatalf("keep %d: trailer %q before line %d", keep, last, next)
			}
		}
		if keep == 4096 && pages < 100 {
			t.Errorf("keep 4096: only %d pages", pages)
		}
	}
}

// TestReadHuge: a file with more lines than can be counted says so, and a hole
// of a terabyte holds nobody up.
func TestReadHuge(t *testing.T) {
	t.Parallel()
	e := testEnv(t)
	put(t, e, "sparse", "head\nsecond\n"+strings.Repeat("x", 9000))
	if err := os.Truncate(e.Dir+"/sparse", 1<<40); err != nil {
		t.Skipf("cannot make a sparse file: %v", err)
	}
	start := time.Now()
	text, err := use(t, e, "read", args{"filePath": "sparse", "limit": 1})
	if err != nil || text != "1: head\n[lines 1-1 of at least 3; continue with offset=2]" {
		t.Errorf("read = %q, %v", text, err)
	}
	text, err = use(t, e, "read", args{"filePath": "sparse", "offset": 3})
	if err != nil || !strings.HasPrefix(text, "3: xxx") || !strings.Contains(text, " bytes or more]") {
		t.Errorf("read = %.50q, %v", text, err)
	}
	if d := time.Since(start); d > 8*time.Second {
		t.Errorf("two reads took %s", d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	c, err := Builtin.Parse(e, "read", `{"filePath":"sparse","offset":9}`)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled read = %v", err)
	}
}

func TestReadKernel(t *testing.T) {
	t.Parallel()
	e := testEnv(t)
	name, err := os.ReadFile("/proc/sys/kernel/hostname")
	if err != nil {
		t.Skipf("no /proc: %v", err)
	}
	want(t, e, "read", args{"filePath": "/proc/sys/kernel/hostname"}, "1: "+strings.TrimSpace(string(name)))
	text, err := use(t, e, "read", args{"filePath": "/proc/self/cmdline"})
	if err != nil || !strings.HasPrefix(text, "1: "+os.Args[0]+"\n2: -test.") {
		t.Errorf("read of NUL-separated words = %.200q, %v", text, err)
	}
	text, err = use(t, e, "read", args{"filePath": "/proc/kallsyms", "limit": 2})
	if err != nil || !strings.Contains(text, "\n2: ") || !strings.HasSuffix(text, "\n[only the first 64 KiB of a kernel file are read]") {
		t.Errorf("read of a long kernel file = %.200q, %v", text, err)
	}
	if len(e.Seen) != 0 {
		t.Errorf("kernel files were noted as read: %v", e.Seen)
	}
	start := time.Now()
	use(t, e, "read", args{"filePath": "/proc/kmsg"}) // never ends for root, is refused for others
	if d := time.Since(start); d > 3*time.Second {
		t.Errorf("read of /proc/kmsg took %s", d)
	}
}

func TestReadNotAllowed(t *testing.T) {
	if !asNobody(t) {
		return
	}
	e := testEnv(t)
	put(t, e, "secret", "x")
	put(t, e, "locked/f", "x")
	os.Chmod(e.Dir+"/secret", 0)
	os.Chmod(e.Dir+"/locked", 0)
	t.Cleanup(func() { os.Chmod(e.Dir+"/locked", 0o755) })
	wantError(t, e, "read", args{"filePath": "secret"}, "secret: permission denied")
	wantError(t, e, "read", args{"filePath": "locked/f"}, "locked/f: permission denied")
}

// TestAwait: what blocks is given up, and a panic is the caller's.
func TestAwait(t *testing.T) {
	block := make(chan struct{})
	defer close(block)
	_, err := await(context.Background(), time.Millisecond, func(context.Context) (int, error) {
		<-block
		return 1, nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("await = %v, want the deadline", err)
	}
	defer func() {
		if p := recover(); p != "oops" {
			t.Errorf("recovered %v, want the panic of the function", p)
		}
	}()
	await(context.Background(), time.Minute, func(context.Context) (int, error) { panic("oops") })
}
