package jsonenc

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestAppendString(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", `""`},
		{"plain ü 漢字 👍", `"plain ü 漢字 👍"`},
		{`say "hi" \ / <&>`, `"say \"hi\" \\ / <&>"`},
		{"a\nb\rc\td", `"a\nb\rc\td"`},
		{"\x00\x07\x08\x0b\x0c\x1b[0m\x1f\x7f", `"\u0000\u0007\u0008\u000b\u000c\u001b[0m\u001f` + "\x7f\""},
		{"line\u2028paragraph\u2029end\u202a", `"line\u2028paragraph\u2029end` + "\u202a\""},
		{"\xff\xc3", "\"\ufffd\ufffd\""},
		{"a\xe2\x82b", "\"a\ufffd\ufffdb\""},
		{"\xed\xa0\x80", "\"\ufffd\ufffd\ufffd\""},
		{"real \ufffd stays", "\"real \ufffd stays\""},
		{"\n", `"\n"`},
		{"x\xff", "\"x\ufffd\""},
	}
	for _, tt := range tests {
		if got := string(AppendString(nil, tt.in)); got != tt.want {
			t.Errorf("AppendString(nil, %q) = %s, want %s", tt.in, got, tt.want)
		}
		if got := string(AppendString([]byte("[1,"), tt.in)); got != "[1,"+tt.want {
			t.Errorf("AppendString([1,, %q) = %s, want [1,%s", tt.in, got, tt.want)
		}
	}
}

func TestAppendMembers(t *testing.T) {
	b := []byte("{")
	b = AppendInt(AppendKey(b, "n"), -1<<63)
	b = AppendBool(AppendKey(b, "yes"), true)
	b = AppendString(AppendKey(b, `quo"te`), "v")
	b = append(AppendKey(b, "in"), '{')
	b = AppendBool(AppendKey(b, "no"), false)
	b = append(b, "}}"...)
	const want = `{"n":-9223372036854775808,"yes":true,"quo\"te":"v","in":{"no":false}}`
	if string(b) != want {
		t.Errorf("members = %s, want %s", b, want)
	}
}

// TestWriterCutsAnywhere puts characters of each length, and broken ones, at
// every place around the end of the piece that a long string is written in.
func TestWriterCutsAnywhere(t *testing.T) {
	for _, char := range []string{"x", "\n", "\x1b", "ü", "漢", "👍", "\u2028", "\xff", "\xe2\x82", "\xf0\x9f\x91", "\x80\x80\x80\x80\x80"} {
		for pad := bufSize - 6; pad <= bufSize+2; pad++ {
			s := strings.Repeat("a", pad) + char + strings.Repeat(char, bufSize)
			if got, want := viaWriter(s), string(AppendString(nil, s)); got != want {
				t.Errorf("Writer.String of %d bytes and %q differs from AppendString", pad, char)
			}
		}
	}
}

func viaWriter(s string) string {
	var b strings.Builder
	w := NewWriter(&b)
	w.String(s)
	w.Flush()
	return b.String()
}

func TestWriterCounts(t *testing.T) {
	var b strings.Builder
	for _, w := range []*Writer{NewWriter(nil), NewWriter(&b)} {
		w.Raw(`{"a":`)
		w.Int(-12)
		w.Raw(`,"b":`)
		w.String(strings.Repeat("\x00ü", 3*bufSize))
		w.Raw("," + strings.Repeat(" ", 3*bufSize) + "}")
		n := w.Len()
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		want := int64(len(`{"a":-12,"b":"",}`) + 3*bufSize*len(`\u0000ü`) + 3*bufSize)
		if n != want || w.Len() != want {
			t.Errorf("Len = %d, after Flush %d, want %d", n, w.Len(), want)
		}
	}
	if want := `{"a":-12,"b":"\u0000ü`; !strings.HasPrefix(b.String(), want) || !strings.HasSuffix(b.String(), " }") {
		t.Errorf("text = %.30q ..., want %q ... %q", b.String(), want, " }")
	}
}

// failing takes some bytes and then refuses each write with its error.
type failing struct {
	room, calls int
	err         error
}

func (f *failing) Write(p []byte) (int, error) {
	f.calls++
	if f.room -= len(p); f.room < 0 {
		return 0, f.err
	}
	return len(p), nil
}

func TestWriterErrorSticks(t *testing.T) {
	f := &failing{room: bufSize + 1, err: errors.New("disk full")}
	w := NewWriter(f)
	w.String(strings.Repeat("x", 5*bufSize))
	if err := w.Flush(); !errors.Is(err, f.err) {
		t.Errorf("Flush = %v, want %v", err, f.err)
	}
	if f.calls != 2 {
		t.Errorf("%d writes, want 2: none after the one that failed", f.calls)
	}
}

// TestWriterMemory holds a long string to the promise that it is not copied.
func TestWriterMemory(t *testing.T) {
	s := strings.Repeat("a line of text\n", 1<<16)
	w := NewWriter(nil)
	w.String(s)
	if n := cap(w.buf); n > 8*bufSize {
		t.Errorf("buffer grew to %d bytes for a string of %d, want at most %d", n, len(s), 8*bufSize)
	}
}

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "a\x1b[0m", "\u2028\xff\xe2\x82", `"\`, "\x7f\u0080"} {
		f.Add(s, bufSize-1)
	}
	f.Fuzz(func(t *testing.T, s string, pad int) {
		text := AppendString(nil, s)
		var got, want string
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("AppendString(nil, %q) = %s, not JSON: %v", s, text, err)
		}
		std, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(std, &want); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("AppendString(nil, %q) reads back as %q, want %q", s, got, want)
		}
		long := strings.Repeat("a", max(0, min(pad, 2*bufSize))) + s
		if viaWriter(long) != string(AppendString(nil, long)) {
			t.Errorf("Writer.String(%d bytes, %q) differs from AppendString", len(long)-len(s), s)
		}
		w := NewWriter(nil)
		w.String(long)
		if n := len(AppendString(nil, long)); w.Len() != int64(n) {
			t.Errorf("Writer counts %d for %q, want %d", w.Len(), long, n)
		}
	})
}
