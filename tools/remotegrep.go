package tools

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"path"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// grepScript searches below the directory, or in the file, $1 for the extended
// regular expression $2; $3 is oddScript, the rest are conditions of find. It
// prints path:line:text, then what oddScript prints, and then, behind two NUL
// bytes, how many files are too large and, where grep is GNU's, how many are binary.
const grepScript = `ulimit -t 20 2>/dev/null
export LC_ALL=C
p=$1 e=$2 odd=$3 nl="
"
shift 3
grep -E -e "$e" /dev/null 2>/dev/null
[ $? -lt 2 ] || e=
find "$p" "$@" -type f -size -4194305c ! "(" -path "*$nl*" -o -path "*:[0-9]*" ")" -print0 | xargs -0 grep -nE -e "$e" /dev/null
find "$p" "$@" "(" -type f -size -4194305c "(" -path "*$nl*" -o -path "*:[0-9]*" ")" -o -type l ")" -print0 | xargs -0 sh -c "$odd" sh "$e"
printf "\0\0"
find "$p" "$@" -type f -size +4194304c -print 2>/dev/null | wc -l
find "$p" "$@" -type f -size -4194305c -size +0c -print0 2>/dev/null | xargs -0r grep -LIZ -e "" 2>/dev/null | tr -dc "\0" | wc -c`

// oddScript searches the files behind $1 for it: links, which are judged by
// where they lead, and those whose names cannot be told from what grep prints
// behind them. Each begins with its path and the one without links, with a NUL
// byte before, between and behind them.
const oddScript = `e=$1
shift
for p; do
	[ -f "$p" ] || continue
	f=$p
` + resolveScript + `	case $f in /proc/*|/sys/*) [ "$f" = "$p" ] || continue ;; esac
	printf "\0%s\0%s\0\n" "$p" "$f"
	grep -nE -e "$e" <"$f"
done`

// grepOnHost is grep on another host: grep there finds the lines that may
// match, and the pattern decides here. Where the path leads is judged before
// anything is searched, and where a link leads before its lines are taken.
func grepOnHost(ctx context.Context, e *Env, a *Args, s *search) (Result, error) {
	sieve, err := sieveOf(a.Text("pattern"), a.Bool("ignoreCase"))
	if err != nil {
		return Result{}, err
	}
	h, err := e.onHost(ctx, a)
	if err != nil {
		return Result{}, err
	}
	named := a.subject.Paths[0].Abs
	root, err := h.find(ctx, a, named)
	if err == nil && !root.IsDir() {
		err = root.unfit(grepPath(a))
	}
	if err != nil {
		return Result{}, h.fails(err)
	}
	limited, cancel := context.WithTimeout(ctx, walkTime)
	defer cancel()
	sh, out, err := h.conn.shell(limited, nil, grepScript, append([]string{root.real, sieve, oddScript}, grepArgs(root.real, s.include)...))
	if err != nil {
		return Result{}, h.fails(err)
	}
	g := hostGrep{search: s, host: h, root: place{show: grepPath(a), path: root.real, named: named}}
	err = g.read(out)
	end := sh.finish()
	switch {
	case ctx.Err() != nil:
		return Result{}, ctx.Err()
	case limited.Err() != nil:
		g.note("stopped after %s; there may be more, narrow the pattern or path", walkTime)
	case err != nil && end != nil:
		return Result{}, h.fails(end)
	case err != nil:
		return Result{}, h.fails(fmt.Errorf("the search ended before its end: %w", err))
	}
	g.complaints(sh.said)
	return Result{Text: withNotes(g.text(a.Text("pattern"), limited.Err() == nil), h.notes)}, nil
}

// grepArgs are the conditions for what is searched.
func grepArgs(root string, include []string) []string {
	args := append(skipArgs(root, nil), "-prune", "-o")
	if include == nil {
		return args
	}
	names := []string{"("}
	for i, p := range include {
		if i > 0 {
			names = append(names, "-o")
		}
		if strings.ContainsAny(p, `?[\`) { // these are decided here alone: find counts bytes
			p = "*"
		}
		names = append(names, "-name", p)
	}
	// A file that is named is meant, whatever its name.
	return slices.Concat(args, names, []string{"-o", "-path", escapeGlob(root), ")"})
}

// hostGrep reads what grepScript prints.
type hostGrep struct {
	*search
	host       *host
	root       place
	odd, real  string // the file whose lines follow, and where it leads; "" is none
	hits       []*hostHit
	lastBinary string
	more       []string // notes
}

type hostHit struct {
	show string
	n    int
	text string
}

func (g *hostGrep) note(format string, args ...any) {
	g.more = append(g.more, "["+fmt.Sprintf(format, args...)+"]")
}

// complaints takes what grep and find say of files. GNU's grep tells the binary
// ones so.
func (g *hostGrep) complaints(text string) {
	first, binary := "", 0
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(line, ": binary file matches") {
			binary++
		} else if first == "" {
			first = line
		}
	}
	g.binary = max(g.binary, binary)
	if first != "" {
		g.note("some files could not be read: %s", cutText(first, 200))
	}
}

// read takes the lines up to one more than is shown.
func (g *hostGrep) read(r *bufio.Reader) error {
	for len(g.hits) <= maxResults {
		if mark, err := r.Peek(1); err != nil {
			return err
		} else if mark[0] == 0 {
			if err := g.next(r); err != nil || g.odd == "" {
				return err
			}
			continue
		}
		line, size, err := readLine(r, maxGrepFile)
		if err != nil {
			return err
		}
		g.line(line, size)
	}
	return nil
}

// next takes the head of the next file, or the numbers at the end.
func (g *hostGrep) next(r *bufio.Reader) (err error) {
	r.Discard(1)
	if g.odd, err = readName(r); err != nil {
		return err
	}
	if g.odd != "" {
		if g.real, err = readName(r); err == nil {
			_, _, err = readLine(r, 0)
		}
		return err
	}
	var count [2]int
	for i := range count {
		line, _, err := readLine(r, 20)
		if err != nil {
			return err
		}
		if count[i], err = strconv.Atoi(strings.TrimSpace(string(line))); err != nil {
			return err
		}
	}
	g.large, g.binary = count[0], max(g.binary, count[1])
	return nil
}

func (g *hostGrep) line(line []byte, size int64) {
	name, real := g.odd, path.Clean(g.real)
	n, text := 0, line
	if g.odd == "" {
		name, n, text = cutHit(line, len(g.root.path))
		real = name
	} else if number, rest, ok := bytes.Cut(line, []byte(":")); ok {
		n, _ = strconv.Atoi(string(number))
		text = rest
	}
	switch {
	case bytes.HasPrefix(line, []byte("Binary file ")): // GNU's, until 3.4
		g.binary++
		return
	case n == 0:
		return
	case bytes.IndexByte(text, 0) >= 0:
		if name != g.lastBinary {
			g.binary++
		}
		g.lastBinary = name
		return
	}
	show, named := g.root.show, g.root.named
	if name != g.root.path {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, strings.TrimSuffix(g.root.path, "/")), "/")
		show, named = asPrefix(show)+rel, path.Join(named, rel)
	}
	text = bytes.TrimSuffix(text, []byte("\r"))
	switch {
	case name != g.root.path && g.include != nil && !g.included(path.Base(name)),
		g.host.hides(named, name), g.host.hides(named, real), !g.re.Match(text):
		return
	}
	g.hits = append(g.hits, &hostHit{show, n, grepLine(text, size-int64(len(line)-len(text)))})
}

// cutHit takes apart path:line:text, where the path is longer than from and
// holds no colon before a digit. n is 0 where the line is nothing of the kind.
func cutHit(line []byte, from int) (name string, n int, text []byte) {
	for i := from; i < len(line); i++ {
		if line[i] != ':' {
			continue
		}
		j := i + 1
		for j < len(line) && j-i < 12 && line[j] >= '0' && line[j] <= '9' {
			j++
		}
		if j < len(line) && line[j] == ':' && j > i+1 {
			n, _ = strconv.Atoi(string(line[i+1 : j]))
			return string(line[:i]), n, line[j+1:]
		}
	}
	return "", 0, nil
}

func (g *hostGrep) text(pattern string, whole bool) string {
	slices.SortFunc(g.hits, func(a, b *hostHit) int {
		if c := strings.Compare(a.show, b.show); c != 0 {
			return c
		}
		return a.n - b.n
	})
	for _, h := range g.hits {
		if !g.out.add(fmt.Sprintf("%s:%d:%s", shown(h.show), h.n, h.text)) {
			break
		}
	}
	return g.search.text(pattern, whole, g.more)
}

// sieveOf is an extended regular expression (POSIX) that fits every line which
// the RE2 pattern fits, in the C locale, and perhaps more.
func sieveOf(pattern string, ignoreCase bool) (string, error) {
	flags := syntax.Perl
	if ignoreCase {
		flags |= syntax.FoldCase
	}
	re, err := syntax.Parse(pattern, flags)
	if err != nil {
		return "", err
	}
	sieve := sieve(re)
	if len(sieve) > 16<<10 {
		return "", nil // fits everything; the kernel limits arguments
	}
	return sieve, nil
}

// sieve is the same for a part of a pattern; "" for what takes no room, or may
// take none.
func sieve(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		var b strings.Builder
		for _, r := range re.Rune {
			b.WriteString(sieveRune(r, re.Flags&syntax.FoldCase != 0))
		}
		return b.String()
	case syntax.OpCharClass:
		return sieveClass(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return anyRune
	case syntax.OpBeginLine, syntax.OpBeginText:
		return "^"
	case syntax.OpEndLine, syntax.OpEndText:
		return "\r?$" // lines are looked at without their carriage return
	case syntax.OpCapture:
		return group(sieve(re.Sub[0]))
	case syntax.OpStar:
		return repeated(re.Sub[0], 0, -1)
	case syntax.OpPlus:
		return repeated(re.Sub[0], 1, -1)
	case syntax.OpQuest:
		return repeated(re.Sub[0], 0, 1)
	case syntax.OpRepeat:
		return repeated(re.Sub[0], re.Min, re.Max)
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(sieve(sub))
		}
		return b.String()
	case syntax.OpAlternate:
		return sieveAlternate(re.Sub)
	case syntax.OpNoMatch:
		return anyRune
	}
	return "" // word boundaries, nothing
}

// anyRune is one character as bytes.
const anyRune = ".{1,4}"

func group(expr string) string {
	if expr == "" {
		return ""
	}
	return "(" + expr + ")"
}

// repeated is an expression from least to most times; most < 0 is without end.
// Numbers end at 255 in POSIX. What is no more than an anchor is left out:
// whether it may be repeated is not said there.
func repeated(sub *syntax.Regexp, least, most int) string {
	const limit = 255
	expr := sieve(sub)
	switch {
	case expr == "" || strings.Trim(expr, "()\r?$^") == "":
		return ""
	case expr == anyRune:
		expr, most = ".", 4*most
	default:
		expr = group(expr)
	}
	if least = min(least, limit); most < 0 || most > limit {
		return fmt.Sprintf("%s{%d,}", expr, least)
	}
	return fmt.Sprintf("%s{%d,%d}", expr, least, most)
}

func sieveAlternate(subs []*syntax.Regexp) string {
	var exprs []string
	none := ""
	for _, sub := range subs {
		if expr := sieve(sub); expr == "" {
			none = "?"
		} else {
			exprs = append(exprs, expr)
		}
	}
	if len(exprs) == 0 {
		return ""
	}
	return group(strings.Join(exprs, "|")) + none
}

// sieveRune is one character, in its other cases too where they count.
func sieveRune(r rune, fold bool) string {
	if r == 0 || r == '\n' {
		return anyRune // no line holds it, and no argument can
	}
	forms := []rune{r}
	for f := unicode.SimpleFold(r); fold && f != r; f = unicode.SimpleFold(f) {
		forms = append(forms, f)
	}
	if len(forms) == 1 {
		return quoteERE(r)
	}
	var exprs []string
	for _, f := range forms {
		exprs = append(exprs, quoteERE(f))
	}
	return group(strings.Join(exprs, "|"))
}

// quoteERE is a character that stands for itself.
func quoteERE(r rune) string {
	if strings.ContainsRune(`\.[]{}()*+?^$|`, r) {
		return `\` + string(r)
	}
	return string(r)
}

// sieveClass is a set of characters given as pairs of bounds. Sets that go
// beyond ASCII fit any character.
func sieveClass(bounds []rune) string {
	if len(bounds) == 0 || bounds[0] == 0 || bounds[len(bounds)-1] >= 0x80 {
		return anyRune
	}
	var set [0x80]bool
	n, last := 0, rune(0)
	for i := 0; i < len(bounds); i += 2 {
		for r := bounds[i]; r <= bounds[i+1]; r++ {
			if r != '\n' { // no line holds it
				set[r], n, last = true, n+1, r
			}
		}
	}
	switch n {
	case 0:
		return anyRune
	case 1:
		return quoteERE(last)
	}
	return "[" + bracketed(set) + "]"
}

// bracketed puts the members of a set in an order in which none of them has a
// meaning of its own: ] first, ^ not first, - last, [ before neither . = nor :.
func bracketed(set [0x80]bool) string {
	special := ""
	for _, r := range "[^-" {
		if set[r] {
			special += string(r)
		}
	}
	plain := ""
	for r := rune(1); r < 0x80; r++ {
		if set[r] && !strings.ContainsRune("][^-", r) {
			plain += string(r)
		}
	}
	if set[']'] {
		plain = "]" + plain
	}
	if plain == "" && special == "^-" {
		return "-^"
	}
	return plain + special
}
