package cli

import (
	"regexp"
	"strings"
	"testing"

	"cluade/internal/chat"
	"cluade/lineedit"
)

// renderPieces writes text to a renderer in pieces of n bytes.
func renderPieces(text string, n, width int, styled bool) string {
	m := markdown{width: width, styled: styled}
	var c chat.Cleaner // it keeps characters whole
	var b strings.Builder
	for text != "" {
		n := min(n, len(text))
		b.WriteString(m.write(c.Feed(text[:n])))
		text = text[n:]
	}
	b.WriteString(m.write(c.Flush()) + m.end())
	return b.String()
}

// The looks in short: [b] for bold and so on, [] for none.
var looksInTests = strings.NewReplacer("\x1b[0m", "[]", "\x1b[0;1m", "[b]", "\x1b[0;4m", "[e]", "\x1b[0;1;4m", "[be]", "\x1b[0;36m", "[c]",
	"\x1b[0;2m", "[f]", "\x1b[0;1;36m", "[bc]")

var markdownTests = []struct{ name, in, want, plain string }{
	{"text", "Hello,  world\n\nagain\n\n", "Hello,  world\n\nagain", ""},
	{"line ends in front", "\n\nHello", "Hello", ""},
	{"lines stay", "one\ntwo  \nthree", "one\ntwo\nthree", ""},
	{"wrapped", "a sentence that is longer than the window is", "a sentence that is longer than\nthe window is", ""},
	{"a word that just fits", strings.Repeat("x", 30) + " y", strings.Repeat("x", 30) + "\ny", ""},
	{"a word wider than the window", "see " + strings.Repeat("x", 40) + " y", "see\n" + strings.Repeat("x", 30) + "\nxxxxxxxxxx y", ""},
	{"wide characters", strings.Repeat("漢字", 9), strings.Repeat("漢字", 7) + "漢\n字漢字", ""},
	{"joined characters stay whole", strings.Repeat("é 👩‍💻 ", 8), strings.TrimSpace(strings.Repeat("é 👩‍💻 ", 6)) + "\n" + strings.TrimSpace(strings.Repeat("é 👩‍💻 ", 2)), ""},
	{"bold", "a **bold** word", "a [b]bold[] word", "a **bold** word"},
	{"bold words", "**two words** here", "[b]two words[] here", "**two words** here"},
	{"emphasis", "an *odd* and _even_ one", "an [e]odd[] and [e]even[] one", "an *odd* and _even_ one"},
	{"both", "***x*** **a *b* c**", "[be]x[b] a [be]b[b] c", "***x*** **a *b* c**"},
	{"bold in a language without blanks", "这是**重点**内容", "这是[b]重点[]内容", "这是**重点**内容"},
	{"bold over a line's end", "a **b\nc** d", "a [b]b[]\n[b]c[] d", "a **b\nc** d"},
	{"code and emphasis over lines' ends", "- *a\n  b\n  c* `d\n  -e` f", "- [e]a[]\n  [e]b[]\n  [e]c[] [c]d[]\n  [c]-e[] f", "- *a\n  b\n  c* `d\n  -e` f"},
	{"a line's end in both", "***a\nb*** _c\nd_", "[be]a[]\n[be]b[e] c[]\n[e]d", "***a\nb*** _c\nd_"},
	{"bold far away over a line's end", "**" + strings.Repeat("x", 90) + "\ny** z", strings.Repeat("[b]"+strings.Repeat("x", 30)+"[]\n", 3) + "[b]y[] z",
		"**" + strings.Repeat("x", 28) + "\n" + strings.Repeat("x", 30) + "\n" + strings.Repeat("x", 30) + "\nxx\ny** z"},
	{"no end in reach of a line's end", "**a\n" + strings.Repeat("x", 90) + "** `b\n\nc`", "**a\n" + strings.Repeat(strings.Repeat("x", 30)+"\n", 3) + "** `b\n\nc`", ""},
	{"bold over a paragraph's end", "**a\n\nb** **c\n- d** `e\n# f` **g\n| h** **i\n***\n**j\n  > k**",
		"**a\n\nb** **c\n- d** `e\n[b]f` **g[]\n| h** **i\n[f]---[]\n**j\n  | k**", "**a\n\nb** **c\n- d** `e\n# f` **g\n| h** **i\n***\n**j\n  | k**"},
	{"bold over the end of a heading", "# a **b\nc**", "[b]a **b[]\nc**", "# a **b\nc**"},
	{"bold and more beside it", "**b***e*, *e***b** and **a *b*** z **b*** **bold***em*_em_ x", "[b]b[e]e[], [e]e[b]b[] and [b]a [be]b[] z [b]b[]* [b]bold[e]emem[] x",
		"**b***e*, *e***b** and **a\n*b*** z **b***\n**bold***em*_em_ x"},
	{"bold far away", "**" + strings.Repeat("word ", 20) + "end** x", strings.Repeat("[b]"+strings.Repeat("word ", 5)+"word[]\n", 3) + "[b]word word end[] x", "**" + strings.Repeat("word ", 4) + "word\n" + strings.Repeat(strings.Repeat("word ", 5)+"word\n", 2) + "word word word end** x"},
	{"stars that are none", "2 * 3 * 4, 2*3*4, *.txt, a**b, **kwargs, 5 ** 2", "2 * 3 * 4, 2*3*4, *.txt, a**b,\n**kwargs, 5 ** 2", ""},
	{"bold paths", "**/etc/config/network** and **.bashrc**", "[b]/etc/config/network[] and\n[b].bashrc", "**/etc/config/network** and\n**.bashrc**"},
	{"patterns of directories", "**/node_modules/** and **/*.c, **/x", "**/node_modules/** and **/*.c,\n**/x", ""},
	{"an address in brackets", "[a](</b c>) [d](e \"title\")", "a (/b c) d (e)", ""},
	{"file patterns", "rm *.o *.a and /*.c", "rm *.o *.a and /*.c", ""},
	{"a pointer in a call", "use *p and f(*p)", "use *p and f(*p)", ""},
	{"arguments", "f(**kw), g(**kw)", "f(**kw), g(**kw)", ""},
	{"values of *", "--opt=*a --opt=*b", "--opt=*a --opt=*b", ""},
	{"patterns", `g("*.c", "*_t.c")`, `g("*.c", "*_t.c")`, ""},
	{"formats", `"%*d" and ("%*d")`, `"%*d" and ("%*d")`, ""},
	{"a mark of the other kind", "_a f* is_ and *m_f_ x* z", "[e]a f* is[] and [e]m_f_ x[] z", "_a f* is_ and *m_f_ x* z"},
	{"bold with a stroke", "**foo__ bar** z", "[b]foo__ bar[] z", "**foo__ bar** z"},
	{"an escaped mark ends nothing", `*a b\* c* z`, "[e]a b* c[] z", `*a b\* c* z`},
	{"ends behind a sign", "**`uci`**x **(a)**b **é“w”**é", "[bc]uci[]x [b](a)[]b [b]é“w”[]é", "**`uci`**x **(a)**b **é“w”**é"},
	{"names with strokes", "snake_case_name and __init__ x", "snake_case_name and [b]init[] x", "snake_case_name and __init__ x"},
	{"escaped", `\*no\* \_ \. C:\new`, `*no* _ . C:\new`, `\*no\* \_ \. C:\new`},
	{"escaped signs", "\\[a\\](b) \\|\\<\\-\\+\\!\\(\\) 1\\. \\\\ \\~ `\\.`", "[a](b) |<-+!() 1. \\ ~ [c]\\.", "\\[a\\](b) \\|\\<\\-\\+\\!\\(\\) 1\\. \\\\\n\\~ `\\.`"},
	{"a hard break", "one\\\ntwo **a\\\nb** x\\\n\nC:\\\n- y\\", "one\ntwo [b]a[]\n[b]b[] x\\\n\nC:\\\n- y\\", "one\\\ntwo **a\\\nb** x\\\n\nC:\\\n- y\\"},
	{"code", "run `ls -l *.c` now", "run [c]ls -l *.c[] now", "run `ls -l *.c` now"},
	{"code with backticks", "``a`b`` and `c", "[c]a`b[] and `c", "``a`b`` and `c"},
	{"code in bold", "**use `x`**", "[b]use [bc]x", "**use `x`**"},
	{"code is wrapped", "please run `ls -l /etc/config/network` now", "please run [c]ls -l[]\n[c]/etc/config/network[] now", "please run `ls -l\n/etc/config/network` now"},
	{"heading", "## The *end* ##\ntext", "[b]The [be]end[]\ntext", "## The *end* ##\ntext"},
	{"no heading", "#5 and #tag", "#5 and #tag", ""},
	{"rule", "a\n\n---\n***\nb", "a\n\n[f]---[]\n[f]---[]\nb", "a\n\n---\n***\nb"},
	{"list", "- one\n* two\n+ three\n1. four\n12) five\n-six", "- one\n- two\n- three\n1. four\n12) five\n-six", ""},
	{"hanging indent", "- one two three four five six seven\n  1. one two three four five six", "- one two three four five six\n  seven\n  1. one two three four five\n     six", ""},
	{"bold in a list", "* **Name**: text\n- [ ] open\n- [x] done", "- [b]Name[]: text\n- [ ] open\n- [x] done", "- **Name**: text\n- [ ] open\n- [x] done"},
	{"code in a quote", "> ```sh\n> ls *.c *.h\n>  - `x`\n> ```\n> *so*\n> ```\n> *.c\n*end*\n> *x*\n> ```a```",
		"| ```sh\n| ls *.c *.h\n|  - `x`\n| ```\n| [e]so[]\n| ```\n| *.c\n[e]end[]\n| [e]x[]\n| [c]a", "| ```sh\n| ls *.c *.h\n|  - `x`\n| ```\n| *so*\n| ```\n| *.c\n*end*\n| *x*\n| ```a```"},
	{"quote", "> one two three four five six seven\n>> deep\n> - item", "| one two three four five six\n| seven\n| | deep\n| - item", ""},
	{"link", "see [the page](http://x/a_(b)) and [http://y](http://y)", "see the page (http://x/a_(b))\nand http://y", ""},
	{"link with a title", "[a](http://x \"title\") ![pic](p.png) [top](#top)", "a (http://x) pic (p.png) top", ""},
	{"marks in a link", "[`uci`](u) [**a *b* c**](v) **[d](w) e** [f*](x)* [`g](y)`", "[c]uci[] (u) [b]a [be]b[b] c[] (v) [b]d (w) e[] f*\n(x)* `g (y)`",
		"`uci` (u) **a *b* c** (v) **d\n(w) e** f* (x)* `g (y)`"},
	{"brackets in a link", "[a[0]](u) [b\\]](v) [![pic](p.png)](w)", "a[0] (u) b] (v) pic (p.png)\n(w)", "a[0] (u) b\\] (v) pic (p.png)\n(w)"},
	{"no link", "[1] a[i] (x) [no](end ![ x [a [b](c)", "[1] a[i] (x) [no](end ![ x [a\nb (c)", ""},
	{"code block", "```sh\nif x; then\n\ty \\\n    \"**z**\" `w`\n\nfi\n```\nafter", "[f]--- sh[]\nif x; then\n\ty \\\n    \"**z**\" `w`\n\nfi\n[f]---[]\nafter",
		"```sh\nif x; then\n\ty \\\n    \"**z**\" `w`\n\nfi\n```\nafter"},
	{"a long line of code", "```\n" + strings.Repeat("x ", 30) + "\n```", "[f]---[]\n" + strings.Repeat("x ", 30) + "\n[f]---", "```\n" + strings.Repeat("x ", 30) + "\n```"},
	{"longer fences", "````\n```\nx\n```\n````\n~~~\n```\n~~~", "[f]---[]\n```\nx\n```\n[f]---[]\n[f]---[]\n```\n[f]---", "````\n```\nx\n```\n````\n~~~\n```\n~~~"},
	{"code in a list", "- do:\n  ```sh\n  ls\n    x\n  ```\n- then", "- do:\n[f]--- sh[]\nls\n  x\n[f]---[]\n- then", "- do:\n```sh\nls\n  x\n```\n- then"},
	{"code behind a list's mark", "- ```sh\n  a **b**\n    c\n  ```\n- **c**\n1. ```\n   $a_b_c\n   ```\n2. d\n* ~~~ x\n  ```\n~~~\n\n|a|\n|-|\n- `x`\n10) ```a```",
		"- [f]--- sh[]\na **b**\n  c\n[f]---[]\n- [b]c[]\n1. [f]---[]\n$a_b_c\n[f]---[]\n2. d\n- [f]--- x[]\n```\n[f]---[]\n\n[b]a[]\n[f]-[]\n- [c]x[]\n10) [c]a",
		"- ```sh\na **b**\n  c\n```\n- **c**\n1. ```\n$a_b_c\n```\n2. d\n- ~~~ x\n```\n~~~\n\na\n-\n- `x`\n10) ```a```"},
	{"code behind the marks of lists in lists", "- 1. ```\n     *x*\n     ```\n- - *y* 2\n* - 10) ~~~\n*z*\n~~~\n- 5\n- -\n- - a", "- 1. [f]---[]\n*x*\n[f]---[]\n- - [e]y[] 2\n- - 10) [f]---[]\n*z*\n[f]---[]\n- 5\n- -\n- - a",
		"- 1. ```\n*x*\n```\n- - *y* 2\n- - 10) ~~~\n*z*\n~~~\n- 5\n- -\n- - a"},
	{"code with tabs before it", "- do:\n\t```sh\n\tls\n\t\tx\n\t```\n- **then**", "- do:\n[f]--- sh[]\nls\n\tx\n[f]---[]\n- [b]then", "- do:\n```sh\nls\n\tx\n```\n- **then**"},
	{"code in a list in a quote", "> - ```sh\n>   a *b* c\n>   ```\n> ~~~\n> ```\n> *x*\n> ~~~\n> *so*\n> - do:\n>   ```\n>   *y*\n>   ```", "| - ```sh\n|   a *b* c\n|   ```\n| ~~~\n| ```\n| *x*\n| ~~~\n| [e]so[]\n| - do:\n|   ```\n|   *y*\n|   ```",
		"| - ```sh\n|   a *b* c\n|   ```\n| ~~~\n| ```\n| *x*\n| ~~~\n| *so*\n| - do:\n|   ```\n|   *y*\n|   ```"},
	{"a block without end", "```\nx", "[f]---[]\nx", "```\nx"},
	{"indented code", "so:\n\n    *p = **q*2;\n", "so:\n\n    *p = **q*2;", ""},
	{"table", "| a | *bb* |\n|---|---:|\n| `c` | 1 |\n| d |\nend", "[b]a[] | [be]bb[]\n[f]--+---[]\n[c]c[] |  1\nd\nend",
		"a   | *bb*\n----+-----\n`c` |    1\nd\nend"},
	{"table, shrunk", "|x|y|\n|-|-|\n|one|a cell that is wide, wider than the window|\n", "[b]x[]   | [b]y[]\n[f]----+-------------------------[]\none | a cell that is wide,\n    | wider than the window",
		"x   | y\n----+-------------------------\none | a cell that is wide,\n    | wider than the window"},
	{"table as records", "|k1|k2|k3|k4|k5|\n|-|-|-|-|-|\n|aaaaaaaa|bbbbbbbb|cccccccc|dddddddd|`eeee` eeee|\n|f||h|",
		"[b]k1:[] aaaaaaaa\n[b]k2:[] bbbbbbbb\n[b]k3:[] cccccccc\n[b]k4:[] dddddddd\n[b]k5:[] [c]eeee[] eeee\n\n[b]k1:[] f\n[b]k3:[] h",
		"k1: aaaaaaaa\nk2: bbbbbbbb\nk3: cccccccc\nk4: dddddddd\nk5: `eeee` eeee\n\nk1: f\nk3: h"},
	{"table of wide characters", "|名|値|\n|-|-|\n|漢字|x|", "[b]名[]   | [b]値[]\n[f]-----+---[]\n漢字 | x", "名   | 値\n-----+---\n漢字 | x"},
	{"bars in cells", "|a|b|\n|-|-|\n|x\\|y|`p|q`|\n|l<br>m|n|", "[b]a[]   | [b]b[]\n[f]----+----[]\nx|y | [c]p|q[]\nl   | n\nm   |", "a   | b\n----+------\nx|y | `p|q`\nl   | n\nm   |"},
	{"table without bars around it", "x|y\n-|-\n1|2\n\nName | *Value*\n:--- | ---:\nhost | `a|b`\n  port | 1\nend\n\n`z` | q\n--|--\n|c|d|\n- e | f",
		"[b]x[] | [b]y[]\n[f]--+--[]\n1 | 2\n\n[b]Name[] | [be]Value[]\n[f]-----+------[]\nhost |   [c]a|b[]\nport |     1\nend\n\n[bc]z[] | [b]q[]\n[f]--+--[]\nc | d\n- e | f",
		"x | y\n--+--\n1 | 2\n\nName | *Value*\n-----+--------\nhost |   `a|b`\nport |       1\nend\n\n`z` | q\n----+--\nc   | d\n- e | f"},
	{"no table without bars around it", "a | *b*\nc | d\n-|-\n\na|b\n\n# c | d\n-|-\n- e | f\n-|-\n\n`g|h` i\n-|-\n\nj\\|k\n-|-\n\nx | y\n- | z", "a | [e]b[]\nc | d\n-|-\n\na|b\n\n[b]c | d[]\n-|-\n- e | f\n-|-\n\n[c]g|h[] i\n-|-\n\nj|k\n-|-\n\nx | y\n- | z",
		"a | *b*\nc | d\n-|-\n\na|b\n\n# c | d\n-|-\n- e | f\n-|-\n\n`g|h` i\n-|-\n\nj\\|k\n-|-\n\nx | y\n- | z"},
	{"table in a quote", "> so:\n> | a | *bb* |\n> |---|---:|\n> | `c` | 1 |\n>\n> end\n> | x |\n| y |\n>> | z |\n>> |-|", "| so:\n| [b]a[] | [be]bb[]\n| [f]--+---[]\n| [c]c[] |  1\n| \n| end\n| | x |\n| y |\n| | [b]z[]\n| | [f]-",
		"| so:\n| a   | *bb*\n| ----+-----\n| `c` |    1\n| \n| end\n| | x |\n| y |\n| | z\n| | -"},
	{"table in a quote as records", "> |k1|k2|k3|k4|\n> |-|-|-|-|\n> |aaaaaaaa|bbbbbbbb|cccccccc|ddd dddddddd dddddddd dddddddd|\n> |e|||", "| [b]k1:[] aaaaaaaa\n| [b]k2:[] bbbbbbbb\n| [b]k3:[] cccccccc\n| [b]k4:[] ddd dddddddd dddddddd\n|   dddddddd\n| \n| [b]k1:[] e",
		"| k1: aaaaaaaa\n| k2: bbbbbbbb\n| k3: cccccccc\n| k4: ddd dddddddd dddddddd\n|   dddddddd\n| \n| k1: e"},
	{"no table", "| just a bar\n|| two *of* them", "| just a bar\n|| two [e]of[] them", "| just a bar\n|| two *of* them"},
}

func TestMarkdown(t *testing.T) {
	for _, tt := range markdownTests {
		for _, styled := range []bool{true, false} {
			want := tt.want
			if !styled && tt.plain != "" {
				want = tt.plain
			}
			for n := 1; n <= len(tt.in); n++ {
				got := looksInTests.Replace(renderPieces(tt.in, n, 30, styled))
				got = strings.TrimSuffix(got, "[]")
				if got != want {
					t.Errorf("%s, styled %v, in pieces of %d:\n%s\nwant\n%s", tt.name, styled, n, got, want)
					break
				}
			}
		}
	}
}

// TestMarkdownRows: no row of words or of a table is wider than the window.
func TestMarkdownRows(t *testing.T) {
	var all strings.Builder
	for _, tt := range markdownTests {
		if !strings.Contains(tt.in, "```") && tt.name != "indented code" {
			all.WriteString(tt.in + "\n\n")
		}
	}
	all.WriteString("> > > > > > > > > > deep\n- a\n" + strings.Repeat(" ", 40) + "- item\n1234. x y z\n- " + strings.Repeat(" ", 50) + "far\n")
	for width := minWidth; width < 130; width++ {
		wantRows(t, renderPieces(all.String(), 7, width, true), width)
	}
}

var lookSequence = regexp.MustCompile("\x1b\\[[0-9;]*m")

func wantRows(t *testing.T, screen string, width int) {
	t.Helper()
	for row := range strings.SplitSeq(screen, "\n") {
		if got := lineedit.Width(lookSequence.ReplaceAllString(row, "")); got > width {
			t.Errorf("a row of %d columns in a window of %d: %q", got, width, row)
		}
	}
}

// TestMarkdownLosesNothing: without styles each word of a text is on the screen.
func TestMarkdownLosesNothing(t *testing.T) {
	for _, tt := range markdownTests {
		got := strings.Join(strings.Fields(renderPieces(tt.in, 3, 200, false)), "")
		for _, word := range regexp.MustCompile(`[\pL\pN]+`).FindAllString(tt.in, -1) {
			if word != "br" && word != "title" && word != "top" && !strings.Contains(got, word) {
				t.Errorf("%s: %q is missing in %q", tt.name, word, got)
			}
		}
	}
}

func TestMarkdownPause(t *testing.T) {
	tests := []struct{ in, want string }{
		{"a wor", "a wor"},
		{"\n\nA", "A"},
		{"**Bold", "[b]Bold"},
		{"*.txt", "*.txt"},
		{"an *odd", "an [e]odd"},
		{"**", ""},
		{"*b**", "[e]b"},
		{"an _odd", "an"}, // names have such strokes
		{"run `ls", "run [c]ls"},
		{"#", ""},
		{"text\n\na **b", "text\n\na [b]b"},
		{"a | b", ""}, // probably the head of a table
		{"- ", ""},
		{"a [link](http", "a"},
	}
	for _, tt := range tests {
		m := markdown{width: 30, styled: true}
		if got := looksInTests.Replace(m.write(tt.in) + m.pause()); got != tt.want {
			t.Errorf("%q, then a pause: %q, want %q", tt.in, got, tt.want)
		}
	}
	m := markdown{width: 10}
	if got, want := m.write("12345678")+m.pause()+m.write("90ab cd")+m.end(), "1234567890\nab cd"; got != want {
		t.Errorf("a word with a pause in it: %q, want %q", got, want)
	}
	m = markdown{width: 10}
	m.write("1234567 ")
	m.pause()
	if got, want := m.write("890ab")+m.end(), "\n890ab"; got != want {
		t.Errorf("a word behind a pause: %q, want %q", got, want)
	}
	m = markdown{width: 30}
	if got, want := m.write("text\n\n| a |\n")+m.pause(), "text\n\n"; got != want {
		t.Errorf("before a table: %q, want %q", got, want)
	}
}

// TestMarkdownHeldBack: what waits for its end does not wait for ever.
func TestMarkdownHeldBack(t *testing.T) {
	words := strings.Repeat("word ", 2000)
	for _, in := range []string{"**" + words, "`" + words, "[" + words, "[a](" + words, "```" + words, "| " + words, "#" + words, "_" + words, "![" + words} {
		m := markdown{width: 80, styled: true}
		shown := 0
		for i := range in {
			shown += len(m.write(in[i : i+1]))
			if held := i - shown; held > maxRow+100 {
				t.Errorf("%.10q...: %d bytes are held back", in, held)
				break
			}
		}
	}
	m := markdown{width: 80}
	shown := len(m.write("| a | b |\n|---|---|\n"))
	for range maxTableRows + 10 {
		shown += len(m.write("| c | d |\n"))
	}
	if shown == 0 {
		t.Error("an endless table is held back for ever")
	}
	rows := strings.Repeat("| c | "+strings.Repeat("d", 400)+" |\n", 170)
	for _, in := range []string{strings.Repeat("| c | d |\n", maxTableRows+1), rows} {
		in = "| a | b |\n|---|---|\n" + in
		if got := renderPieces(in, 100, 1000, true); got != strings.TrimSuffix(in, "\n") {
			t.Errorf("a long table is not as it was written: %.200q", got)
		}
	}
}

func TestMarkdownTableBounds(t *testing.T) {
	in := strings.Repeat("|", 8000) + "\n|-|\n" + strings.Repeat("|x\n", 190)
	if got := renderPieces(in, 4096, 80, true); strings.Count(got, "x") != 190 {
		t.Errorf("%d cells of 190", strings.Count(got, "x"))
	}
}

// FuzzMarkdown cuts a text in two ways; the screen is the same.
func FuzzMarkdown(f *testing.F) {
	for _, tt := range markdownTests {
		f.Add(tt.in, uint16(7), uint8(30))
	}
	f.Add(strings.Repeat("-", 600)+"x", uint16(511), uint8(80))
	f.Add("#"+strings.Repeat(" ", 600)+"x", uint16(511), uint8(80))
	f.Add("# x "+strings.Repeat("#", 600)+"x\n```\n"+strings.Repeat("`", 600)+"x", uint16(511), uint8(80))
	f.Add("x\n"+strings.Repeat(" ", 600)+"x", uint16(511), uint8(80))
	f.Add("**"+strings.Repeat("x", 600)+"**", uint16(513), uint8(80))
	f.Add("**a\n"+strings.Repeat(" ", 600)+"b** `c\nd` e\\\nf", uint16(511), uint8(80))
	f.Add("a | b\n--|--\nc | d\n\ne f|g\n|-|\nh\n| i |\n|-|\nj|k\n> l|m\n-|-", uint16(5), uint8(30))
	f.Add(strings.Repeat("1. ", 180)+"```\n- 1. "+strings.Repeat(" ", 600)+"```\n- 1. ```\nx", uint16(511), uint8(80))
	f.Add("> - ```\n> x\n>   ```\n> |a|\n> |-|\n>> |b|\n- ~~~\n\tx\n\t~~~", uint16(3), uint8(30))
	f.Fuzz(func(t *testing.T, text string, seed uint16, width uint8) {
		text = strings.ToValidUTF8(text, "?")
		for _, styled := range []bool{true, false} {
			whole := markdown{width: int(width), styled: styled}
			want := whole.write(text) + whole.end()
			m := markdown{width: int(width), styled: styled}
			var b strings.Builder
			for rest, x := []rune(text), uint32(seed)|1; len(rest) > 0; {
				x = x*1664525 + 1013904223
				n := min(1+int(x>>16)%9, len(rest))
				if x&0x300 == 0 {
					n = min(n*100, len(rest))
				}
				b.WriteString(m.write(string(rest[:n])))
				rest = rest[n:]
			}
			if got := b.String() + m.end(); got != want {
				t.Fatalf("%q in pieces of %d: %q, want %q", text, seed, got, want)
			}
			if !strings.ContainsAny(text, "`~\t\x1b") && !strings.Contains(text, "    ") {
				wantRows(t, want, max(int(width), minWidth))
			}
		}
	})
}

// TestMarkdownEndless: a model that repeats itself without a line's end costs
// no more time for each piece than at first.
func TestMarkdownEndless(t *testing.T) {
	for _, in := range []string{" ", "`", "*", "#", "[", "|", "-", "_", "x", "漢", "> ", "1", "![", "**a", "a`", "**a\n ", "> - `", "a\\\n", "> |a|\n", "`a\n", "a|", "a|\n", "a|b\n-|-\n", "a|b\n-|", "1. ", "- - x\n- "} {
		m := markdown{width: 80, styled: true}
		for range 100_000 {
			m.write(in)
		}
		if got := len(m.line) + len(m.rest); got > maxRow {
			t.Errorf("%q without an end: %d bytes are held back undecided", in, got)
		}
	}
}

func TestWrapText(t *testing.T) {
	tests := []struct {
		in   string
		w    int
		rows string // separated by |
	}{
		{"", 10, ""},
		{"\n \n", 10, ""},
		{"one\n\n  two\n", 10, "one|  two"},
		{"one two three four", 10, "one two|three four"},
		{"0123456789abcdefghij-tail", 10, "0123456789|abcdefghij|-tail"},
		{"漢字漢字漢", 8, "漢字漢字|漢"},
	}
	for _, tt := range tests {
		if got := strings.Join(wrapText(tt.in, tt.w), "|"); got != tt.rows {
			t.Errorf("wrapText(%q, %d) = %q, want %q", tt.in, tt.w, got, tt.rows)
		}
	}
}

// TestMarkdownReach has marks end where the search for their end does.
func TestMarkdownReach(t *testing.T) {
	for _, mark := range []string{"*", "**", "***", "_", "__", "`", "``"} {
		for n := reach - 8; n < reach+8; n++ {
			for _, tail := range []string{mark, mark + " y", mark + "*", mark + "`z", ""} {
				in := mark + strings.Repeat("x", n) + tail
				want := renderPieces(in, len(in), 200, true)
				for _, size := range []int{1, 3, reach - 1, reach, reach + 1} {
					if got := renderPieces(in, size, 200, true); got != want {
						t.Errorf("%q in pieces of %d: %q, want %q", in, size, got, want)
					}
				}
			}
		}
	}
}
