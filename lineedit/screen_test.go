package lineedit

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"
)

// model is what the terminal must show: the line painted on an empty one.
func (d *desk) model() string {
	v := newVT(d.vt.t, d.vt.columns, d.vt.rows)
	s := screen{columns: v.columns, height: v.rows, top: d.r.screen.top}
	s.paint(lay(d.r.ed.prompt(d.r.prompt), &d.r.ed.buf, v.columns))
	v.Write(s.out.Bytes())
	return v.text()
}

// shown is the terminal from the first row of the line on.
func (d *desk) shown() string {
	lines := strings.Split(d.vt.text(), "\n")
	first := d.vt.row - d.r.screen.row
	if first < 0 || first >= len(lines) {
		return "the first row is gone"
	}
	return strings.Join(lines[first:], "\n")
}

// someKeys are what random typing is made of.
var someKeys = []string{
	"a", "bc ", "word", "漢", "字漢字漢字", "e\u0301", "👨\u200d👩\u200d👧", "🇩🇪", "\u0301", "❤\ufe0f", "\t", "x y z 0123456789",
	up, down, left, left, right, home, end, del, "\x7f", "\x7f\x7f\x7f", "\n", "\x17", "\x15", "\x0b", "\x19", "\x1f", "\x14",
	"\x1bb", "\x1bf", "\x1bd", "\x12o", "\x1b[200~p\nq\x1b[201~", "\x1b[200~" + "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n" + "\x1b[201~",
}

// TestPaint types at random and compares the terminal, on which only changes
// were written, with one on which all was.
func TestPaint(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {40, 12}, {11, 5}, {2, 3}} {
		for seed := range int64(20) {
			rnd := rand.New(rand.NewSource(seed))
			d := newDesk(t, size[0], size[1], "one", "two\nthree", strings.Repeat("long ", 40))
			for range 60 {
				keys := someKeys[rnd.Intn(len(someKeys))]
				before := d.vt.text()
				d.press(keys, 1+rnd.Intn(4))
				if d.ended != "" {
					break
				}
				if got, want := d.shown(), d.model(); got != want {
					t.Fatalf("%v, seed %d: %q on\n%s\nshows\n%s\nwant\n%s", size, seed, keys, before, got, want)
				}
			}
		}
	}
}

func TestResize(t *testing.T) {
	d := newDesk(t, 40, 10)
	d.press(strings.Repeat("0123456789", 10)+left+left, 7)
	for _, size := range [][2]int{{80, 24}, {13, 10}, {100, 5}, {40, 10}} {
		// The terminal breaks its rows anew by itself; what it makes of them is cleared.
		d.vt = newVT(t, size[0], size[1])
		d.vt.row = min(9, size[1]-1)
		d.r.screen.resize(size[0], size[1])
		d.settle()
		if got, want := d.shown(), d.model(); got != want {
			t.Errorf("%v shows\n%s\nwant\n%s", size, got, want)
		}
	}
}

// TestBytesPerKey holds what a key costs on a slow line: at 9600 baud a byte
// takes a millisecond.
func TestBytesPerKey(t *testing.T) {
	long := strings.Repeat("0123456789", 7)
	two := long + long
	tests := []struct {
		name, before, key string
		most              int
	}{
		{"insert at the end", long, "x", 1},
		{"insert at the margin", long + "1234567", "x", 3},
		{"insert a wide one", "漢字", "漢", 3},
		{"insert in the middle", long + "\x1bb", "x", 4},
		{"insert in a wrapped line", two + home, "x", 20},
		{"delete at the end", long, "\x7f", 4},
		{"delete in the middle", long + "\x1bb", del, 3},
		{"delete in a wrapped line", two + home, del, 24},
		{"left", long, left, 1},
		{"right", long + left, right, 3},
		{"home", long, home, 7},
		{"end", long + home, end, 8},
		{"up to a wrapped row", two, home, 8},
		{"kill a word", long + " word", "\x17", 7},
		{"kill the line", long, "\x15", 8},
		{"a key that does nothing", long, "\x1b[99~", 0},
	}
	for _, tt := range tests {
		d := newDesk(t, 80, 24)
		d.press(tt.before, len(tt.before))
		d.press(tt.key, len(tt.key))
		if d.wrote > tt.most {
			t.Errorf("%s costs %d bytes, want at most %d", tt.name, d.wrote, tt.most)
		}
	}
}

func TestLargePaste(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 10000) // 1 MB
	for _, n := range []int{4096, 4095, 1000} {
		d := newDesk(t, 80, 24)
		d.press("a\x1b[200~"+text+"\x1b[201~b\r", n)
		if got := d.r.ed.buf.whole(); got != "a"+text+"b" || d.ended != "accept" {
			t.Errorf("in pieces of %d: %d bytes, want %d; %q", n, len(got), len(text)+2, d.ended)
		}
		if got, want := d.vt.text(), "> a[pasted 10000 lines]b|"; got != want {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
}

func TestPasteIsOneCharacter(t *testing.T) {
	sixty := strings.TrimSuffix(strings.Repeat("line\n", 60), "\n")
	mark := func(s string) string { return "\x1b[200~" + s + "\x1b[201~" }
	tests := []struct{ keys, shows, whole string }{
		{mark(sixty), "> [pasted 60 lines]|", sixty},
		{"a" + mark(sixty) + "b" + left + left + "x", "> ax|[pasted 60 lines]b", "ax" + sixty + "b"},
		{mark(sixty) + "\x7f", "> |", ""},
		{mark(sixty) + "\x7f\x1f", "> [pasted 60 lines]|", sixty},
		{mark(sixty) + "\x15\x19\x19", "> [pasted 60 lines][pasted 60 lines]|", sixty + sixty},
		{mark(strings.Repeat("x", 5000)), "> [pasted 5000 bytes]|", strings.Repeat("x", 5000)},
		{mark("1\n2\n3\n4\n5\n6\n7\n8\n9\n10"), "> 1\n2\n3\n4\n5\n6\n7\n8\n9\n10|", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10"},
		{mark("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"), "> 1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n|", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"},
		{mark("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11"), "> [pasted 11 lines]|", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11"},
		{up, "> [pasted 12 lines]|", strings.TrimSuffix(strings.Repeat("old\n", 12), "\n")},
	}
	for _, tt := range tests {
		d := newDesk(t, 80, 24, strings.TrimSuffix(strings.Repeat("old\n", 12), "\n"))
		d.press(tt.keys, 64)
		if got := d.vt.text(); got != tt.shows {
			t.Errorf("%.20q shows %q, want %q", tt.keys, got, tt.shows)
		}
		if got := d.r.ed.buf.whole(); got != tt.whole {
			t.Errorf("%.20q is %q, want %q", tt.keys, got, tt.whole)
		}
	}
}

// TestTooMuch has pastes that are longer than a message, and typing that no
// person does; all but the first is kept, and said to be cut.
func TestTooMuch(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.press("\x1b[200~"+strings.Repeat("漢", 1<<20)+"\x1b[201~", 4096)
	if got := d.r.ed.buf.whole(); len(got) > maxMessage || len(got) < maxMessage-3 || !strings.HasSuffix(got, "漢") {
		t.Errorf("%d bytes are kept, want %d", len(got), maxMessage)
	}
	if got := d.vt.text(); !strings.Contains(got, "bytes, the rest does not fit]|") {
		t.Errorf("it shows %q", got)
	}
	typed := strings.Repeat(strings.Repeat("y", 79)+"\n", 5000) // 400 kB
	d = newDesk(t, 80, 24)
	d.press(typed, 4096)
	if got := d.r.ed.buf.whole(); got != typed {
		t.Errorf("%d bytes are kept, want %d", len(got), len(typed))
	}
	if n := len(d.r.ed.buf.text); n > maxTyped {
		t.Errorf("%d bytes are edited as such", n)
	}
}

// TestLostEnd has a paste whose end mark was lost: Ctrl-C helps.
func TestLostEnd(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.press("\x1b[200~text", 100)
	d.press("\x03", 1)
	if d.ended != "interrupt" {
		t.Errorf("the line is %q, ended %q", d.line(), d.ended)
	}
	d = newDesk(t, 80, 24)
	d.press("\x1b[200~te\x03xt\x1b[201~", 1)
	if d.line() != "text|" || d.ended != "" {
		t.Errorf("the line is %q, ended %q", d.line(), d.ended)
	}
}

// TestLongString has a reply of the terminal that no buffer needs to hold, and
// one that never ends.
func TestLongString(t *testing.T) {
	d := newDesk(t, 80, 24)
	for _, part := range []string{"a\x1b]52;c;", strings.Repeat("x", 1<<20)} {
		d.r.dec.feed([]byte(part))
		d.apply(false)
	}
	if n := len(d.r.dec.buf); n > 16 {
		t.Errorf("%d bytes are held", n)
	}
	d.press("\x1b\\b", 9)
	d.press("\x1bP1$r", 9)
	d.press("c", 9)
	if got := d.line(); got != "abc|" {
		t.Errorf("the line is %q, want %q", got, "abc|")
	}
}

// TestTurnsAreShown has marks that turn the direction of writing, in the text
// and in what is searched for.
func TestTurnsAreShown(t *testing.T) {
	for _, r := range "\u061c\u200e\u200f\u202a\u202e\u2066\u2069" {
		d := newDesk(t, 80, 24)
		d.press("\x1b[200~a"+string(r)+"b\x1b[201~"+left+left+"x", 64)
		want := fmt.Sprintf("> ax|<%x>b", r)
		if got := d.vt.text(); got != want || d.line() != "ax|"+string(r)+"b" {
			t.Errorf("it shows %q, want %q; the line is %q", got, want, d.line())
		}
		d.press("\x12"+string(r), 64)
		if got, want := d.vt.text(), fmt.Sprintf("(not found: <%x>) ", r); !strings.HasPrefix(got, want) {
			t.Errorf("it shows %q, want %q", got, want)
		}
	}
}

// TestMarksInThePrompt searches for what has no width of its own.
func TestMarksInThePrompt(t *testing.T) {
	for _, what := range []string{"🇩🇪\u0301", "🇩🇪\u200d", "🇩🇪\ufe0f", "🇩\u0301", "\u0301", "🇩🇪\u200d🇫🇷"} {
		d := newDesk(t, 80, 24, "abc")
		d.press("abc\x12"+what, 64)
		if d.r.screen.col != d.vt.col {
			t.Errorf("%q: the cursor is in column %d, thought to be in %d", what, d.vt.col, d.r.screen.col)
		}
	}
}

func TestTallText(t *testing.T) {
	d := newDesk(t, 20, 5)
	d.press("1\n2\n3\n4\n5\n6\n7\n8", 1)
	if got, want := d.vt.text(), "4\n5\n6\n7\n8|"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
	d.press(strings.Repeat(up, 5), 3)
	if got, want := d.vt.text(), "3|\n4\n5\n6\n7"; got != want {
		t.Errorf("it shows %q, want %q", got, want)
	}
}

// TestTallTextScrolls holds what a key costs that moves the window over a
// message taller than it.
func TestTallTextScrolls(t *testing.T) {
	d := newDesk(t, 80, 24)
	line := strings.Repeat("0123456789", 6) + "01234567"
	d.press(strings.Repeat(line+"\n", 29)+line, 4096)
	for _, key := range []string{"\x1b\r", "x", "\x1b\r"} {
		if d.press(key, 2); d.wrote > 5 {
			t.Errorf("%q at the end costs %d bytes", key, d.wrote)
		}
	}
	for i := range 31 {
		if d.press(up, 3); d.wrote > 90 {
			t.Errorf("Up %d costs %d bytes", i, d.wrote)
		}
		if got, want := d.shown(), d.model(); got != want {
			t.Fatalf("Up %d shows\n%s\nwant\n%s", i, got, want)
		}
	}
	d.press("\x1b>", 2)
	if got, want := d.shown(), d.model(); got != want {
		t.Fatalf("the end shows\n%s\nwant\n%s", got, want)
	}
}

func FuzzEditor(f *testing.F) {
	for _, k := range someKeys {
		f.Add([]byte(k), uint8(80), uint8(1))
	}
	f.Add([]byte("\x1b[200~\x1b[201\x1b[1;5D\x12a\x12\x07\x18\x15\x19\x1by\t\t"), uint8(3), uint8(7))
	f.Fuzz(func(t *testing.T, keys []byte, columns, piece uint8) {
		d := newDesk(t, int(columns)%90+1, 6, "one", "two\nthree")
		d.r.ed.complete = func(line string, pos int) (int, []string) { return pos, []string{"é漢", "é字", "\xff\x1b"} }
		n := int(piece)%9 + 1
		for len(keys) > 0 && d.ended == "" {
			k := min(n, len(keys))
			d.press(string(keys[:k]), k)
			keys = keys[k:]
			if got, want := d.shown(), d.model(); got != want && d.ended == "" {
				t.Fatalf("it shows\n%s\nwant\n%s", got, want)
			}
		}
	})
}
