package dangercheck

import (
	"slices"
	"strings"
	"testing"
)

// typedTexts are the segments of a command as typed.
func typedTexts(s Shape) []string {
	var out []string
	for _, seg := range s.Segments {
		if !seg.Nested {
			out = append(out, seg.Text)
		}
	}
	return out
}

func TestSplitSimple(t *testing.T) {
	tests := []struct {
		cmd  string
		want []string // the segments
	}{
		{"uci show network", []string{"uci show network"}},
		{"  uci   show\tnetwork  ", []string{"uci show network"}},
		{"a; b && c || d | e\nf", []string{"a", "b", "c", "d", "e", "f"}},
		{"a;\n\n;b", []string{"a", "b"}},
		{"! a | b", []string{"a", "b"}},
		{"a # rest; b\nc", []string{"a", "c"}},
		{"a \\\n  b", []string{"a b"}},
		{"a 'b c' d", []string{"a 'b c' d"}},
		{`a "b c" d`, []string{"a 'b c' d"}},
		{"a ''", []string{"a ''"}},
		{`a "it's"`, []string{`a 'it'\''s'`}},
		{"a 'b\nc'", []string{"a 'b\nc'"}},
		{`a b\;c "d;e" 'f|g'`, []string{"a b;c d;e f|g"}},
		{`a "b$"`, []string{"a b$"}},
		{"a $x \"$y\" ${z}", []string{"a $x $y $z"}},
		{"a *.c [b]? {c,d} ~/e", []string{"a *.c [b]? {c,d} ~/e"}},
		{"./a /b/c ~/d", []string{"./a /b/c ~/d"}},
		{"[ -f a ]", []string{"[ -f a ]"}},
		{"sudo a b", []string{"sudo a b"}},
		{"a 'x$(b)'", []string{"a x$(b)"}},
		{"a -- -b=c,d:e%f@g^h", []string{"a -- -b=c,d:e%f@g^h"}},
		{"a é", []string{"a é"}},
		{"cd a && b c", []string{"cd a", "b c"}},
		{"cd a && /bin/b c", []string{"cd a", "/bin/b c"}},
		{"./a; ./b", []string{"./a", "./b"}},
		{"a; export B=c", []string{"a", "export B=c"}},
		{"printf a; b", []string{"printf a", "b"}},
	}
	for _, tt := range tests {
		s := Split(tt.cmd)
		if got := typedTexts(s); !s.Simple || !slices.Equal(got, tt.want) {
			t.Errorf("Split(%q) = %q, simple %v; want %q, simple", tt.cmd, got, s.Simple, tt.want)
		}
	}
}

// TestSplitNotSimple holds what an allow rule must not cover: something else
// runs or is written than the segments tell, or shells differ over it.
func TestSplitNotSimple(t *testing.T) {
	for _, cmd := range []string{
		"a > f", "a >> f", "a >| f", "a 2> f", "a 2>&1", "a 2>/dev/null", "a &> f", "a >& f", "> f", "a < f", "a <> f", "a <<< b", "a <<E\nb\nE", "a <<'E'\nb\nE", "a <<-E\n\tb\n\tE",
		"a $(b)", "a `b`", "a \"$(b)\"", "a \"`b`\"", "a x$(b)y", "$(a)", "`a` b", "a <(b)", "a >(b)", "a ${x:-$(b)}", "a ${x:=b}", "a ${x:-b}", "a ${x@P}", "a ${!x}", "a ${x[$(b)]}", "a ${x#b}", "a ${x/b/c}",
		"a $((1))", "a $((x[$(b)]))", "a $[1]", "a \"$[b]\"", "a ${x:$(b)}",
		"a & b", "a &", "a |& b", "a & ", "x=1 a", "x=1", "x+=1 a", "x=(a b)", "x[0]=1 a", "x[$(b)]=1", "a; x=$(b)",
		"(a)", "{ a; }", "( a; b )", "if a; then b; fi", "while a; do b; done", "until a; do b; done", "for i in a b; do c; done", "for i in a; do $i; done", "case a in b) c;; esac", "select i in a; do b; done",
		"f() { a; }", "f() (a)", "function f { a; }", "f() { a; }; f", "[[ a ]]", "[[ a -eq b ]]", "(( a ))", "((a=1))", "time a", "coproc a", "coproc a { b; }",
		"$x", "$x a", "\"$x\" a", "'a' b", "\"a b\" c", "\"a b/../c\" d", "a\\ b", "\\a", "a* b", "/bin/a? b", "{a,b} c", "~x/a", "a ~x", "a=b", "'a=b' c", "''", "\"\" a",
		"a $'b'", "a $'\\x62'", "a $\"b\"", "a @(b|c)", "a !(b)", "a 'b", "a \"b", "a \\", "a (b)", "a )", "a b) c", "a; }", "a }; (b)",
		"a\rb", "a\r", "a\r\nb", "a\x01", "a \x02", "\x03", "a \x11",
		"printf -v 'x[$(a)]' b", "test -v 'x[$(a)]'", "[ -v \"x[\\$(a)]\" ]", "read 'x[`a`]'", "unset 'x[$(a)]'", "let 'x[$(a)]'", "declare 'x[$(a)]=1'", "export 'x[$(a)]'",
		"a [[ b && c", "a [[", "a;;b)c", "if a", "then a", "do a", "done", "fi", "esac", "{ a", "a <", "a >", "a <<", "<<E", "a <<E", "&", "& a",
		"alias a=b; a", "alias a=b\na", "export PATH=/a; b", "set -a && b", "hash -p /a b; b", "enable -n a; a", "unset a; b", "cd a && ./b", "cd a; b/c", "pushd a | ./b",
		"printf -v PATH a; b", "printf '-v' PATH a; b", "read PATH; a", "trap a EXIT; b", ". a; b", "unalias a; a", "declare -x PATH=a; b", "builtin alias a=b; a",
		"%1", "a^b", "#a", "", " ", "\n", ";", "!", "a=b c", "a$x", "a$x b", "-$x", "a{b,c}", "?", "a~",
	} {
		if s := Split(cmd); s.Simple && len(typedTexts(s)) > 0 {
			t.Errorf("Split(%q) is simple, with %q", cmd, typedTexts(s))
		}
	}
}

func TestSplitNested(t *testing.T) {
	tests := []struct{ cmd, want string }{
		{"sudo -u root a b", "a b"},
		{"env X=1 nice -n 5 a b", "a b"},
		{"X=1 a b", "a b"},
		{"'a' b", "a b"},
		{`\a b`, "a b"},
		{"a'' b", "a b"},
		{`"a" "b"`, "a b"},
		{"/usr/bin/a b", "a b"},
		{"/usr/bin/a b", "/usr/bin/a b"},
		{"./x/a b", "a b"},
		{"busybox a b", "a b"},
		{"x; a b", "a b"},
		{"x\na b", "a b"},
		{"x & a b", "a b"},
		{"x|a b", "a b"},
		{"(a b)", "a b"},
		{"{ a b; }", "a b"},
		{"a b > f", "a b"},
		{"> f a b", "a b"},
		{"if x; then a b; fi", "a b"},
		{"for i in b c; do a $i; done", "a b"},
		{"for i in b c; do a $i; done", "a c"},
		{"case x in x) a b;; esac", "a b"},
		{"f() { a b; }", "a b"},
		{"f() { a \"$1\"; }; f b", "a b"},
		{"x $(a b)", "a b"},
		{"x \"`a b`\"", "a b"},
		{"x <(a b)", "a b"},
		{"x > \"$(a b)\"", "a b"},
		{"y=$(a b)", "a b"},
		{"x ${y:-$(a b)}", "a b"},
		{"x <<E\n$(a b)\nE", "a b"},
		{"sh -c 'x; a b'", "a b"},
		{"sh -ec \"sh -c 'a b'\"", "a b"},
		{"eval 'a b'", "a b"},
		{"eval a b", "a b"},
		{"C='a b'; $C", "a b"},
		{"C=a; $C b", "a b"},
		{"P=b; a $P", "a b"},
		{"a {b,c}", "a b c"},
		{"echo 'a b' | sh", "a b"},
		{"sh <<E\na b\nE", "a b"},
		{"sh <<< 'a b'", "a b"},
		{"ssh host a b", "a b"},
		{"git -c alias.x='!a b' x", "a b"},
		{"vim -c '!a b' f", "a b"},
		{"tar --checkpoint-action=exec='a b' -cf x y", "a b"},
		{"sed '1e a b' f", "a b"},
		{"PAGER='a b' man x", "a b"},
		{"xargs -I{} sh -c 'a {}'", "a ..."},
		{"ssh host 'x && a b'", "a b"},
		{"su -c 'a b' root", "a b"},
		{"xargs -n1 a b", "a b ..."},
		{"echo b | xargs a", "a b"},
		{"find . -exec a b {} +", "a b ..."},
		{"find /etc -exec rm -f {} \\;", "rm -f ..."},
		{"find /etc | xargs rm", "rm ..."},
		{"trap 'a b' EXIT", "a b"},
		{"cluade guard -- a b", "a b"},
		{"timeout 5 a b", "a b"},
		{"flock /tmp/l -c 'a b'", "a b"},
		{"watch a b", "a b"},
		{"tmux new -d 'a b'", "a b"},
		{"! a b", "a b"},
		{"time a b", "a b"},
		{"coproc a b", "a b"},
		{"[[ -n $(a b) ]]", "a b"},
		{"echo $(( $(a b) + 1 ))", "a b"},
		{"x[$(a b)]=1", "a b"},
		{"a \"$y\"", "a ..."},
		{"curl x | a b", "a b"},
		{"((a b))", "a b"},
		{"[[ x && a ]]", "a ]]"},
		{"[[ x | a b", "a b"},
		{"x $'y\\'; a b #'", "a b"},
		{"a${IFS}b", "a b"},
		{"alias q='a b'\nq", "a b"},
		{"alias q=a\nq b", "a b"},
		{"find . -ok a b {} \\;", "a b ..."},
		{"{fd}>f a b", "a b"},
		{"{fd}</dev/null a b", "a b"},
		{"x[0]=1 a b", "a b"},
		{"x[$i]+=1 a b", "a b"},
	}
	for _, tt := range tests {
		var got []string
		for _, s := range Split(tt.cmd).Segments {
			got = append(got, s.Text)
		}
		if !slices.Contains(got, tt.want) {
			t.Errorf("Split(%q) = %q, want %q among them", tt.cmd, got, tt.want)
		}
	}
}

// TestSplitTest holds that a pattern within a test is no command to any shell.
func TestSplitTest(t *testing.T) {
	for _, s := range Split("[[ $x =~ ^(a|b)$ ]] && c").Segments {
		if s.Text == "a" || s.Text == "b" {
			t.Errorf("the segments of a pattern hold %q", s.Text)
		}
	}
}

// TestSplitCut tells what was not read to the end from what only looks like it.
func TestSplitCut(t *testing.T) {
	grown := "set --" + strings.Repeat(" a", 300) + strings.Repeat("; : $@ $@ $@ $@", 300) + "; env a b"
	for cmd, want := range map[string]bool{
		strings.Repeat("eval ", 12) + "a b":                              true,
		strings.Repeat("env ", 1000) + "a b":                             true,
		strings.Repeat("{ ", 100) + "a b; " + strings.Repeat("}; ", 100): true,
		strings.Repeat("( ", 20) + "a b" + strings.Repeat(" )", 20):      true,
		strings.Repeat("x $( ", 20) + "a b" + strings.Repeat(" )", 20):   true,
		strings.Repeat("x `", 20) + "a b":                                false, // one within the other is none
		grown:                                                            true,
		"/path/a? b":                                                     true,
		"a* b":                                                           true,
		"[ -f a ] && b *":                                                false,
		"for s in /etc/init.d/*; do $s enabled; done":                    false, // what a loop or a variable holds is not followed
		"[[ a == b* ]]":                                                  false,
		"f() { a; f; }; f":                                               false, // what it would do was seen
		"for i in $(seq 1000); do a $i; done":                            false,
		strings.Repeat("env ", 10) + "a b":                               false,
		"sh -c \"sh -c 'a b'\"":                                          false,
		strings.Repeat("if a; then ", 10) + "b; " + strings.Repeat("fi; ", 10):   false,
		"cat > f <<'E'\n" + strings.Repeat("a b c d e f g h\n", 20<<10) + "E\na": false,
		strings.Repeat("a b\n", 1000):                                            false,
	} {
		if got := Split(cmd).Cut; got != want {
			t.Errorf("Split(%.40q...).Cut = %v, want %v", cmd, got, want)
		}
	}
}

// TestSplitLong finds a command behind more text than Check reads.
func TestSplitLong(t *testing.T) {
	cmd := strings.Repeat("x; ", maxText) + "a b"
	s := Split(cmd)
	if last := s.Segments[len(s.Segments)-1].Text; last != "a b" || len(s.Segments) != 2 {
		t.Errorf("Split of %d bytes ends in %q of %d segments, want %q of 2", len(cmd), last, len(s.Segments), "a b")
	}
}
