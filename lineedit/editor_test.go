package lineedit

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// desk is an editor with a terminal, without the modes of one.
type desk struct {
	r     *Reader
	vt    *vt
	wrote int    // bytes, of the last key
	ended string // what ended the line
}

func newDesk(t *testing.T, columns, rows int, history ...string) *desk {
	d := &desk{vt: newVT(t, columns, rows), r: New(Options{History: &History{max: 100}})}
	for _, line := range history {
		d.r.o.History.Add(line)
	}
	d.r.prompt = "> "
	d.r.ed.begin("")
	d.r.screen.columns, d.r.screen.height = columns, rows
	d.settle()
	return d
}

// settle writes what is to be written.
func (d *desk) settle() {
	d.r.paint()
	d.wrote = d.r.screen.out.Len()
	d.vt.Write(d.r.flush())
}

// press feeds bytes in pieces of n and applies the keys that come of them.
func (d *desk) press(keys string, n int) {
	for keys != "" && d.ended == "" {
		piece := keys[:min(n, len(keys))]
		keys = keys[len(piece):]
		d.r.dec.feed([]byte(piece))
		d.apply(false)
	}
	d.apply(true)
	d.settle()
}

func (d *desk) apply(flush bool) {
	for d.ended == "" {
		k, ok := d.r.dec.next(flush)
		if !ok {
			return
		}
		switch d.r.ed.key(k) {
		case accept:
			d.ended = "accept"
		case interrupt:
			d.ended = "interrupt"
		case endOfFile:
			d.ended = "eof"
		case suspend:
			d.ended = "suspend"
		case external:
			d.ended = "external"
		case list:
			d.r.listOptions()
		}
		if err := d.r.ed.buf.check(); err != nil {
			d.vt.t.Fatal(err)
		}
	}
}

func (b *buffer) check() error {
	switch {
	case b.pos < 0 || b.pos > len(b.text):
		return fmt.Errorf("the cursor is at %d of %q", b.pos, b.text)
	case !utf8.ValidString(b.text) || !utf8.ValidString(b.text[:b.pos]):
		return fmt.Errorf("no UTF-8: %q, cursor at %d", b.text, b.pos)
	}
	return nil
}

// line is the text with the cursor as |.
func (d *desk) line() string {
	b := d.r.ed.buf
	return b.text[:b.pos] + "|" + b.text[b.pos:]
}

const (
	up, down, right, left = "\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D"
	home, end, del        = "\x1b[H", "\x1b[F", "\x1b[3~"
)

// TestKeys feeds each case in pieces of every size.
func TestKeys(t *testing.T) {
	history := []string{"first", "second line", "third\nof two"}
	tests := []struct{ keys, want string }{
		{"abc", "abc|"},
		{"abc" + left + "x", "abx|c"},
		{"漢字" + left + "x", "漢x|字"},
		{"e\u0301a" + left + left + "x", "x|e\u0301a"},
		{"🇩🇪🇫🇷" + left + "x", "🇩🇪x|🇫🇷"},
		{"👨\u200d👩\u200d👧" + left + "x", "x|👨\u200d👩\u200d👧"},
		{"👨\u200d👩\u200d👧\x7f", "|"},
		{"abc" + left + left + right + "x", "abx|c"},
		{"abc\x02\x02\x06x", "abx|c"},
		{"abc" + home + "x", "x|abc"}, {"abc\x01x", "x|abc"}, {"abc\x1b[1~x", "x|abc"}, {"abc\x1b[7~x", "x|abc"}, {"abc\x1bOHx", "x|abc"},
		{"abc\x01" + end + "x", "abcx|"}, {"abc\x01\x05x", "abcx|"}, {"abc\x01\x1b[4~x", "abcx|"}, {"abc\x01\x1b[8~x", "abcx|"}, {"abc\x01\x1bOFx", "abcx|"},
		{"abc\x7f", "ab|"}, {"abc\x08", "ab|"}, {"\x7f", "|"},
		{"abc\x01" + del, "|bc"}, {"abc" + del, "abc|"}, {"abc\x01\x04", "|bc"}, {"abc\x04", "abc|"},
		{"\x04", "|eof"}, {"abc\x03", "abc|interrupt"}, {"abc\r", "abc|accept"}, {"abc\x1bOM", "abc|accept"}, {"\x1a", "|suspend"},
		{"abc\n", "abc\n|"}, {"abc\x1b\r", "abc\n|"}, {"abc\x1b[13;2ux", "abc\nx|"}, {"abc\x1b[27;2;13~x", "abc\nx|"},
		{"abc\\\rdef", "abc\ndef|"}, {"abc\\" + left + "\r", "abc|\\accept"},
		{`abc\\` + "\r", `abc\\|accept`}, {`abc\\\` + "\rx", "abc\\\\\nx|"},
		{"one two three\x17", "one two |"}, {"one two  \x17", "one |"}, {"one/two\x17", "|"},
		{"one two\x1b\x7f\x1b\x08", "|"}, {"one/two\x1b\x7f", "one/|"},
		{"one two\x1bb\x1bbx", "x|one two"}, {"one two\x01\x1bfx", "onex| two"}, {"one two\x01\x1bd", "| two"},
		{"one two\x1b[1;5Dx", "one x|two"}, {"one two\x1b[1;3Dx", "one x|two"}, {"one two\x1bOdx", "one x|two"}, {"one two\x1b\x1b[Dx", "one x|two"},
		{"one two\x01\x1b[1;5Cx", "onex| two"}, {"one two\x01\x1bOcx", "onex| two"}, {"one two\x1b[5Dx", "one x|two"}, {"one two\x1bO5Dx", "one x|two"}, {"one two\x1bO1;5Dx", "one x|two"},
		{"one two\x01\x1b[5Cx", "onex| two"}, {"one two\x01\x1bO3Cx", "onex| two"}, {"abc\x1bO2M", "abc\n|"}, {"abc\x1b[32;10;10M", "abc|"},
		{"ab\x1bOc", "ab|"}, {"ab\x1bO", "ab|"}, {"ab\x1bO\x7fc", "ac|"}, {"ab\x1bO5", "ab5|"}, {"ab\x1bO\x03", "ab|interrupt"},
		{"one two\x15", "|"}, {"one two\x1bb\x0b", "one |"}, {"a\nb\x01\x15\x7f\x0b", "a|"}, {"a\nb" + up + "\x0b", "a|b"},
		{"one two\x17\x17\x19", "one two|"}, {"one two\x17x\x19", "one xtwo|"}, {"one\x15two\x15\x19", "two|"}, {"one\x15two\x15\x19\x1by", "one|"},
		{"one\x15two\x15\x19\x1by\x1by", "two|"}, {"x\x19\x1by", "x|"},
		{"abc\x14", "acb|"}, {"abc\x02\x14", "acb|"}, {"漢字\x14", "字漢|"}, {"a\x14", "a|"}, {"\x14", "|"},
		{"one two\x17\x1f", "one two|"}, {"one\x1f", "|"}, {"one\x17\x1f\x1f", "|"}, {"\x1f", "|"}, {"one two\x17\x18\x15", "one two|"},
		{"ab\x1bx\x1b[99~\x1b[1;99Z\x1b[?1;2c\x1b[<0;1;2M\x1b[[Ac", "abc|"}, {"ab\x1b[5~\x1b[6~c", "abc|"},
		{"a\x1b]11;rgb:0000/0000/0000\x1b\\b", "ab|"}, {"a\x1b]0;tïtle\x07b", "ab|"}, {"a\x1bP1$r0m\x1b\\b", "ab|"}, {"a\x1b_Gi=1;OK\x07b", "ab|"},
		{"a\x1b^x\x1b\\b\x1bXy\x1b\\c", "abc|"}, {"a\x1b\x1b]1\x07b", "ab|"}, {"a\x1b]11;rgb\x1b[Db", "b|a"}, {"a\x1bP1$r\x03", "a|interrupt"},
		{"ab\x1b[?2026;2$yc", "abc|"}, {"ab\x1b[4;2$yc", "abc|"}, {"abc\x01\x1b[8$x", "abcx|"}, {"ab\x1b[" + strings.Repeat("1;", 200) + "qc", "abc|"},
		{"ab\x1b[97;1:3uc", "abc|"}, {"ab\x1b[97;1:1uc", "abac|"}, {"ab\x1b[97:65;2uc", "abAc|"}, {"one two\x1b[1;5:1Dx", "one x|two"}, {"one two\x1b[1;5:3Dx", "one twox|"}, {"ab\x1b[57442;5uc\x1b[57428u", "abc|"},
		{"abc\x01\x1bOwx", "abcx|"}, {"one two\x1b[1;9Dx", "one x|two"}, {"one two\x01\x1b[3;5~", "| two"}, {"one two\x01\x1b[3;3~", "| two"}, {"one two\x01\x1b[3^", "| two"}, {"one two\x01\x1b[3;2~", "|ne two"},
		{"\x1b[228:196;2u\x1b[97:65;1u\x1b[97;2u\x1b[97::99;2u\x1b[97:65;6ux", "x|ÄaAA"},
		{"\x1b[57399u\x1b[57408u\x1b[57409;1u\x1b[57413u\x1b[57416u\x1b[57415u\x1b[57425u\x1b[57427u\x1b[57399;1:3u", "09.+,=|"},
		{"one two\x1b[57417;5u\x1b[57418u1\x1b[57423u2\x1b[57424u3\x1b[57417u\x1b[57426u", "2one t1wo|"}, {"one two\x1b[57423u\x1b[57426;5ux", "x| two"},
		{"abc\x1b[H\x1b[P", "|bc"}, {"ab\x1bOP\x1b[H\x1b[1;2P", "|ab"}, {"a\x1b[57414;3ub", "a\nb|"},
		{"one two\x1b[127;5u", "one |"}, {"one two\x1b[27;5;127~", "one |"}, {"ab\x1b[127u", "a|"},
		{"a\x1b]", "a|"}, {"a\x1bP\x7f", "|"},
		{"a\x1b[M !!b", "ab|"}, {"a\x1b[M#\x60\xf0\x1b[Dx", "x|a"}, {"a\x1b[M \x03", "a|interrupt"},
		{"ab\x1b", "ab|"}, {"ab\x1b\x1b", "ab|"},
		{"a\tb", "ab|"}, // nothing to complete
		{"\x18\x05", "|external"}, {"\x18x\x05", "x|"},
		{"a\xffb", "a\ufffdb|"}, {"a\xe6\xbc", "a\ufffd\ufffd|"}, {"a\u0085\u009bb", "ab|"}, {"a\U000f0000b", "ab|"},
		{up, "third\nof two|"}, {up + up + up + "x", "second linex|"}, {up + up + up + up + up + up, "first|"}, {"draft" + up + down, "draft|"},
		{"draft\x10\x10\x10\x0e\x0e", "draft|"}, {down, "|"}, {"a\nbcd" + up + "x", "ax|\nbcd"}, {"abcd\ne" + up + "x" + down + "y", "axbcd\ney|"},
		{"\x12sec", "|second line"}, {"\x12sec\x05x", "second linex|"}, {"\x12sec\r", "|second lineaccept"},
		{"ab\x12sec\x07x", "abx|"}, {"\x12i", "th|ird\nof two"}, {"\x12i\x12", "second l|ine"}, {"\x12i\x12\x12", "f|irst"}, {"\x12i\x12\x12\x12", "f|irst"}, {"\x12o\x12x", "sec|ond line"}, {"\x12zzz\x1b", "|"},
		{"\x12zz\x7f\x7fsec\x1b", "|second line"}, {"ab\x12sec\x03", "|second lineinterrupt"}, {"\x12sec" + up + up + "x", "firstx|"},
		{"ab\x12\x1b[200~sec\x1b[201~", "|second line"}, {"ab\x12\x1b[200~sec\nx\x1b[201~", "absec\nx|"}, {"ab\x12fir\x1b[200~x\ny\x1b[201~", "abx\ny|"},
		{"\x1b[200~line 1\nline 2\x1b[201~\r", "line 1\nline 2|accept"},
		{"\x1b[200~a\r\nb\rc\x1b[201~", "a\nb\nc|"}, {"\x1b[200~\x1b[31ma\x07\x03\x1b[201~b", "[31mab|"}, {"\x1b[200~\x1b[201~b", "b|"},
		{"x\x1b[200~漢\x1b[20\x1b[201~y", "x漢[20y|"}, {"\x1b[200~a\tb\x1b[201~", "a\tb|"},
	}
	for _, tt := range tests {
		for n := 1; n <= len(tt.keys); n++ {
			d := newDesk(t, 80, 24, history...)
			d.press(tt.keys, n)
			got := d.line() + d.ended
			if got != tt.want {
				t.Errorf("%q in pieces of %d: %q, want %q", tt.keys, n, got, tt.want)
				break
			}
		}
	}
}

// TestListFits: the list of completions leaves the line above it in the window.
func TestListFits(t *testing.T) {
	var names []string
	for i := range 60 {
		names = append(names, fmt.Sprintf("a-rather-long-name-%02d", i))
	}
	for rows, want := range map[int]int{10: 7, 24: 21, 100: 60} {
		d := newDesk(t, 40, rows)
		d.r.ed.complete = func(line string, pos int) (int, []string) { return 0, names }
		d.press("a\t", 9)
		d.press("\t", 1)
		screen := d.vt.text()
		if n := strings.Count(screen, "a-rather-long-name-"); n < want || n > want+2 || !strings.HasSuffix(strings.TrimSpace(screen), "> a-rather-long-name-|") || strings.Contains(screen, "...") != (want < 60) {
			t.Errorf("%d rows: %d of 60 names:\n%s", rows, n, screen)
		}
	}
}
