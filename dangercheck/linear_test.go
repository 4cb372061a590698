package dangercheck

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// repeated are pieces of text that multiply work where something is done once
// more for each: nesting, alternatives, functions that call functions, values
// that grow, text that is read again.
var repeated = []string{
	"(", "{", "$(", "`", "\"", "'", "\\", "$((", "((", "${", "${a:-", "\"${a:-", "<(", "[[ ", "$'", "$\"", "@(", "\"$(", "\"`", "`\\`", "$(`", "(a)", "{ a;}", "(a|",
	"a ", "a;", "a|", "a&&", "a\n", "! ", "a=b ", "a=b;", "a=(", "a+=b ", "#", "# a\n", "\\\n", "\t", "1", "1>", ">a ", "<a ", "<<a ", "<<a\na\n", "cat <<E|sh\n", "\x01",
	"if ", "if a;then b;fi;", "for i in a;do ", "for i in a b;do ", "for i in a b;do :;done;", "while read a;do ", "case a in a)", "case a in a)b;;esac;",
	"f() ", "f(){ ", "f(){ f;};f;", "f(){ g;g;};g(){ f;f;};f;", "function f ", "f;",
	"{a,b}", "{a,", "{a,b,c,d}", "{1..9}", "*", "[a", "~/", "/a", "../", "cd a;", "cd /;", "rm -rf a;", "rm -rf /;", "rm -rf {a,b}/",
	"a=$a$a;", "x=$(echo $x $x);", "x=`printf '%s%s' \"$x\" \"$x\"`;", "printf %s%s ", "set -- $@ $@ a;", "set -- \"$@\" \"$@\";", "shift;", "a+=$a;",
	"eval ", "eval eval;", "eval $x;", "sh -c ", "sh -c 'sh -c ", "sudo ", "env A=b ", "xargs ", "xargs -I{} ", "echo a|xargs ", "find / ", "find / -exec ", "ssh h ", "ssh h <<E\n",
	"echo $(", "echo a b c|read a;", "uci commit;", "trap 'a' b;", "at;", "tmux new ", "curl -o ", "iptables -A INPUT ", "source <(", "tee >(", "coproc ", "time ",
	"python3 -c 'system(\"a\")' ", "python3 <<E\nsystem(\"a\")\n", "perl -e 'system \"", "awk 'system(", "awk system,a", "apt remove '*a' ",
	"\\\n", "$\\\n(", "a\\\nb;", "<\\\n<E", "<<E\n\\\n", "sh -c 'a\\\n", "\"$(\\\n", "eval 'a\\\n';", "<<E\n$(\\\n",
	"sed 's/a/b/e;", "sed s/a/b/e ", "sed '1e sed 1e ", "expect -c 'send a;", "expect 'send send ", "crontab - <<E\n* * * * * a\n", "vim -c '!a' ", "vim '!vim ", "git -c alias.a='=!git ",
	"make --eval 'a;", "make --eval make ", "PAGER=a;", "PAGER=$PAGER$PAGER;", "rm /proc/self/root", "/proc/self/cwd/", "find ~ -name .cluade ", "parallel ::: a ", "parallel ", "$(dirname $(basename ",
	"bwrap ", "bwrap a ", "proot -b a ", "bwrap a;", "echo a b c|xargs -n1 ", "echo a b c|xargs -n1 xargs -n1 ", "printf 'a\\0b\\0'|xargs -0n1 ", "xargs -a <(", "exec 3<<E\n", "exec <<E\na\nE\n", "exec <<E\n", "read -u 3 a <&3;",
	"$((CLUADE_DEPTH=", "((CLUADE_DEPTH==1));", "unset ${!CLUADE_*};", "${!CLUADE_*}", "read CLUADE_DEPTH;", "echo a|tr a-z A-Z|", "echo aa|sed s/a/aa/g|", "echo aaaaaaaa|sed s/a/\"$x\"/g;", "sed s/a/aa/g|", "tr a-z A-Z|", "echo a|grep a|xargs ",
	"env -S 'env -S ", "env -S a ", "sg a ", "x=$(cat);", "echo $x|{ x=$(cat)$(cat);};", "cat <<E|grep a|", "pee 'a' ", "setarch ", "$@$@", "tar xf a .cluade ",
}

var prefixes = []string{"", "x=y;x=$x$x;f(){ f;f;};", "for i in {a,b,c}{a,b,c}{a,b,c}; do "}

// TestCheckIsLinear doubles the text. The bytes taken from the heap stand for
// the work: they are counted, where time is not.
func TestCheckIsLinear(t *testing.T) {
	for _, pre := range prefixes {
		for _, piece := range repeated {
			const size = 8 << 10
			half, whole := taken(pre, piece, size/2), taken(pre, piece, size)
			if whole > 3*half+128<<10 {
				t.Errorf("Check(%q + %q...) takes %d KiB for %d KiB of text, %d KiB for half of it", pre, piece, whole>>10, size>>10, half>>10)
			}
		}
	}
}

func taken(pre, piece string, size int) uint64 {
	cmd := (pre + strings.Repeat(piece, size/len(piece)+1))[:size]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Check(cmd, Options{Lockout: true, Dir: "/etc", Home: "/root"})
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestCheckTime is a generous bound for a busy machine.
func TestCheckTime(t *testing.T) {
	for _, piece := range repeated {
		cmd := strings.Repeat(piece, maxText/len(piece)+1)
		began := time.Now()
		Check(cmd, Options{Lockout: true, Dir: "/etc", Home: "/root"})
		if d := time.Since(began); d > 3*time.Second {
			t.Errorf("%q repeated to %d bytes took %v", piece, len(cmd), d)
		}
	}
}

// TestCheckWorkIsBounded holds that a text which multiplies itself comes to an
// end, and that what it said before is still judged.
func TestCheckWorkIsBounded(t *testing.T) {
	cmd := "reboot; a() { :; }; " + strings.Repeat("b() { a; a; }; a() { b; b; }; a; ", 50)
	if got := classes(cmd, Options{}); len(got) != 1 || got[0] != Power {
		t.Errorf("Check(%q...) = %v, want %v", cmd[:40], got, Power)
	}
}

func BenchmarkCheck(b *testing.B) {
	rows := readRows(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		Check(rows[i%len(rows)].cmd, Options{Lockout: true})
	}
}
