package skills

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// archive writes a tar archive of members, closed.
func archive(t *testing.T, members ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range members {
		text := h.Uname // where the tests put it
		if h.Uname = ""; h.Typeflag != tar.TypeXGlobalHeader {
			h.Size, h.Mode = int64(len(text)), 0o644|h.Mode
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func file(name, text string) tar.Header {
	return tar.Header{Typeflag: tar.TypeReg, Name: name, Uname: text}
}

func linkTo(name, to string) tar.Header {
	return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
}

func all(string) bool { return true }

// unpack gives what Unpack makes of an archive, in a directory of its own whose
// surroundings must stay empty.
func unpack(t *testing.T, data []byte) (made, notices string, err error) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "d")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	said, err := Unpack(context.Background(), dir, bytes.NewReader(data), all)
	if names := listed(top); len(names) != 1 {
		t.Errorf("Unpack wrote outside: %q", names)
	}
	return contents(t, dir), strings.Join(said, "\n"), err
}

func TestUnpack(t *testing.T) {
	long := strings.Repeat("long-name/", 15) + "x"
	tests := []struct {
		name          string
		members       []tar.Header
		made, notices string
	}{
		{"nothing", nil, "", ""},
		{"files", []tar.Header{
			{Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header", PAXRecords: map[string]string{"comment": "9d2f1ae1"}},
			{Typeflag: tar.TypeDir, Name: "repo/"}, file("repo/a", "A"), file("repo/dir/b", strings.Repeat("b", 600)), file("./repo//c", ""),
		}, "repo/a: A\nrepo/c: \nrepo/dir/b: " + strings.Repeat("b", 600), ""},
		{"long names", []tar.Header{file(long, "L"), {Typeflag: tar.TypeReg, Name: "gnu/" + long, Uname: "G", Format: tar.FormatGNU}, file("caf\u00e9", "é")},
			"café: é\ngnu/" + long + ": G\n" + long + ": L", ""},
		{"links", []tar.Header{linkTo("r/b", "a"), file("r/a", "A"), linkTo("r/d/up", "../a"), linkTo("r/long", strings.Repeat("x", 150))},
			"r/a: A\nr/b -> a\nr/d/up -> ../a\nr/long -> " + strings.Repeat("x", 150), ""},
		{"up", []tar.Header{file("../x", "X"), file("r/../../x", "X"), file("r/../y", "Y"), file("/etc/x", "X"), file("..", "X")},
			"y: Y", "../x is left out: it lies outside of the archive\nr/../../x is left out: it lies outside of the archive\n" +
				"/etc/x is left out: it lies outside of the archive\n.. is left out: it lies outside of the archive"},
		{"links that lead out", []tar.Header{linkTo("r/a", "../../x"), linkTo("r/b", "/etc/passwd"), linkTo("c", ".."), linkTo("d", "")},
			"d -> .", "r/a is left out: the link leads out of the archive\nr/b is left out: the link leads out of the archive\nc is left out: the link leads out of the archive"},
		{"through a link", []tar.Header{linkTo("r/l", "."), file("r/l/x", "X"), linkTo("m", "r"), file("m", "M")},
			"m: M\nr/l/x: X", "r/l is left out: symlink . "},
		{"links through links", []tar.Header{file("d/e/x", "X"), linkTo("d/e/p", "../.."), linkTo("d/e/p/q/r", "../../../../d"), linkTo("t", "d/e/p/../.."), linkTo("d/u", "e/p/../x")},
			"d/e/p/q/r -> ../../../../d\nd/e/x: X\nd/u -> e/x\nt -> d", "d/e/p is left out: symlink "},
		{"kinds", []tar.Header{
			{Typeflag: tar.TypeLink, Name: "hard", Linkname: "/etc/passwd"}, {Typeflag: tar.TypeChar, Name: "char"}, {Typeflag: tar.TypeBlock, Name: "block"},
			{Typeflag: tar.TypeFifo, Name: "fifo"}, file("after", "A"),
		}, "after: A", "hard is left out: it is neither file, directory nor symbolic link\nchar is left out: it is neither file, directory nor symbolic link\n" +
			"block is left out: it is neither file, directory nor symbolic link\nfifo is left out: it is neither file, directory nor symbolic link"},
		{"twice", []tar.Header{file("a", "1"), file("a", "2"), file("a/b", "3")}, "a: 1", "a is left out: open "},
	}
	for _, tt := range tests {
		made, notices, err := unpack(t, archive(t, tt.members...))
		if err != nil || made != tt.made || tt.notices == "" && notices != "" || !strings.HasPrefix(notices, tt.notices) {
			t.Errorf("%s: Unpack makes %v\n%s\n%s\nwant\n%s\n%s", tt.name, err, made, notices, tt.made, tt.notices)
		}
	}
}

func TestUnpackMode(t *testing.T) {
	dir := t.TempDir()
	h := file("run", "x")
	h.Mode = 0o4777
	if _, err := Unpack(context.Background(), dir, bytes.NewReader(archive(t, h)), all); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(dir, "run")); err != nil || fi.Mode()&^0o22 != 0o755 {
		t.Errorf("mode %v, %v, want 0755", fi.Mode(), err)
	}
}

func TestUnpackNamesOnly(t *testing.T) {
	dir := t.TempDir()
	in := bytes.NewReader(archive(t, file("r/a.md", "A"), file("r/b.bin", strings.Repeat("b", 2000)), file("r/c.md", "C")))
	_, err := Unpack(context.Background(), dir, in, func(name string) bool { return strings.HasSuffix(name, ".md") })
	if got := contents(t, dir); err != nil || got != "r/a.md: A\nr/b.bin: \nr/c.md: C" {
		t.Errorf("Unpack makes %q, %v", got, err)
	}
}

func TestUnpackDamaged(t *testing.T) {
	good := archive(t, file("a", strings.Repeat("a", 1000)), linkTo(strings.Repeat("n", 200), "a"))
	change := func(at int, to byte) []byte {
		b := bytes.Clone(good)
		b[at] = to
		return b
	}
	tests := []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "the archive ends in the middle"},
		{"no archive", []byte(strings.Repeat("<html>", 200)), "this is no tar archive, or a damaged one"},
		{"cut in a header", good[:100], "the archive ends in the middle"},
		{"cut in a file", good[:700], "the archive ends in the middle"},
		{"cut in the padding", good[:1520], "the archive ends in the middle"},
		{"cut before the end", good[:1536], "the archive ends in the middle"},
		{"a wrong sum", change(0, 'b'), "this is no tar archive, or a damaged one"},
	}
	for _, tt := range tests {
		if _, _, err := unpack(t, tt.data); err == nil || err.Error() != tt.want {
			t.Errorf("%s: Unpack = %v, want %q", tt.name, err, tt.want)
		}
	}
}

// endless is an archive of one file that does not end.
type endless struct{ head io.Reader }

func (e *endless) Read(p []byte) (int, error) {
	if n, err := e.head.Read(p); n > 0 || err != io.EOF {
		return n, err
	}
	clear(p)
	return len(p), nil
}

func TestUnpackBounds(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "bomb", Size: 1 << 40, Typeflag: tar.TypeReg, Format: tar.FormatGNU}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	_, err := Unpack(context.Background(), dir, &endless{&b}, func(string) bool { return false })
	if err == nil || err.Error() != "the archive is larger than 134217728 bytes" {
		t.Errorf("Unpack of a bomb = %v", err)
	}

	extra := tar.Header{Name: "a", Typeflag: tar.TypeReg, PAXRecords: map[string]string{"comment": strings.Repeat("x", maxExtra)}}
	if _, _, err := unpack(t, archive(t, extra)); err == nil || !strings.HasPrefix(err.Error(), "the archive has a name of 65") {
		t.Errorf("Unpack of a large header = %v", err)
	}
	many := make([]tar.Header, maxMembers+1)
	for i := range many {
		many[i] = file("..", "")
	}
	if _, _, err := unpack(t, archive(t, many...)); err == nil || err.Error() != "the archive has more than 50000 members" {
		t.Errorf("Unpack of many members = %v", err)
	}

	var links []tar.Header
	for range maxLinks + 20 {
		links = append(links, linkTo("l"+strings.Repeat("x", len(links)%200)+string(rune('a'+len(links)/200)), "a"))
	}
	_, notices, err := unpack(t, archive(t, links...))
	if err != nil || !strings.HasSuffix(notices, "there are more than 1000 links\n10 more members of the archive are left out") {
		t.Errorf("Unpack of many links = %v, %q", err, notices)
	}
}

// TestUnpackSizes: a link has no content, whatever its header says.
func TestUnpackSizes(t *testing.T) {
	data := archive(t, linkTo("l", "a"), file("a", "A"))
	copy(data[124:], "00000001000\x00")
	setSum(data)
	if made, notices, err := unpack(t, data); err != nil || notices != "" || made != "a: A\nl -> a" {
		t.Errorf("Unpack makes %q, %q, %v", made, notices, err)
	}
}

func TestUnpackCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Unpack(ctx, t.TempDir(), bytes.NewReader(archive(t, file("a", "A"))), all); err == nil {
		t.Error("Unpack gives no error")
	}
	// In the middle of a file it is not the file that is at fault.
	data := archive(t, file("a", strings.Repeat("A", 4000)))
	broken := io.MultiReader(bytes.NewReader(data[:1000]), iotest.ErrReader(context.Canceled))
	if notices, err := Unpack(context.Background(), t.TempDir(), broken, all); err != context.Canceled || notices != nil {
		t.Errorf("Unpack = %q, %v", notices, err)
	}
}

// setSum makes the sum of a header block right.
func setSum(b []byte) {
	sum := 256
	for i, c := range b[:blockSize] {
		if i < 148 || i >= 156 {
			sum += int(c)
		}
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
}

func TestNumber(t *testing.T) {
	tests := []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0000644\x00", 0o644, true}, {"   644 \x00", 0o644, true}, {"\x00\x00\x00\x00", 0, true}, {"\x80\x00\x01\x02", 258, true},
		{"0000688\x00", 0, false}, {"-000644\x00", 0, false}, {"\xff\xff\xff\xff", 0, false}, {"\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 0, false},
	}
	for _, tt := range tests {
		if got, err := number([]byte(tt.in)); got != tt.want || (err == nil) != tt.ok {
			t.Errorf("number(%q) = %d, %v, want %d, %v", tt.in, got, err, tt.want, tt.ok)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	seed := func(members ...tar.Header) {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, h := range members {
			h.Uname = ""
			w.WriteHeader(&h)
		}
		w.Close()
		f.Add(b.Bytes())
	}
	seed(file("a", ""), linkTo("b", "a"))
	seed(linkTo("d/e/p", "../.."), linkTo("d/e/p/q/r", "../../../x"), file("../x", ""))
	seed(file(strings.Repeat("long/", 40), ""), tar.Header{Name: strings.Repeat("n", 150), Format: tar.FormatGNU})
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Clone(data)
		for b := data; len(b) >= blockSize; b = b[blockSize:] { // else the sums stop nearly all
			setSum(b)
		}
		top := t.TempDir()
		dir := filepath.Join(top, "d")
		os.Mkdir(dir, 0o755)
		Unpack(context.Background(), dir, bytes.NewReader(data), all)
		if names := listed(top); len(names) != 1 {
			t.Errorf("Unpack wrote outside: %q", names)
		}
		filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if to, err := filepath.EvalSymlinks(path); err == nil && !inside(dir, to) {
				t.Errorf("%s leads to %s", path, to)
			}
			return nil
		})
	})
}
