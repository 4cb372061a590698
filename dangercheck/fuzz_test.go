package dangercheck

import (
	"slices"
	"strings"
	"testing"
)

func seed(f *testing.F) {
	for _, r := range readRows(f) {
		f.Add(r.cmd)
	}
	for _, cmd := range []string{"\"$(((${`", "x=(#", "$'\\", "<<E\n", "f(){ f|f&};f", "${a:-${a:-", "a{b,{c,d}", "case a in a)", "[[ a", "xargs -n", "\x01\x02\x03"} {
		f.Add(cmd)
	}
}

// FuzzCheck holds that no text makes Check panic, and that a command before
// and a comment behind change nothing.
func FuzzCheck(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, cmd string) {
		if len(cmd) > 4096 {
			return
		}
		o := Options{Lockout: true, Dir: "/root/x", Home: "/root"}
		want := classes(cmd, o)
		for _, f := range Check(cmd, o) {
			if f.Start < 0 || f.End < f.Start || f.End > len(cmd) || f.Reason == "" {
				t.Errorf("Check(%q) = %+v", cmd, f)
			}
		}
		if got := classes(": ;"+cmd, o); !slices.Equal(got, want) {
			t.Errorf("Check(%q) = %v, behind `: ;` %v", cmd, want, got)
		}
		if strings.ContainsAny(cmd, "'\"`$\\<(){}[") { // what follows could belong to it
			return
		}
		if got := classes(cmd+" # x", o); !slices.Equal(got, want) {
			t.Errorf("Check(%q) = %v, before `# x` %v", cmd, want, got)
		}
	})
}

// FuzzSplit holds that a simple command is one that Check follows whole: what
// it would run is what was typed.
func FuzzSplit(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, cmd string) {
		if len(cmd) > 4096 {
			return
		}
		s := Split(cmd)
		if !s.Simple {
			return
		}
		for _, seg := range s.Segments {
			if seg.Text == "" {
				t.Errorf("Split(%q) = %v", cmd, s.Segments)
			}
		}
		if strings.Contains(cmd, "&") && !strings.ContainsAny(cmd, "'\"\\#") && strings.Contains(strings.ReplaceAll(cmd, "&&", ""), "&") {
			t.Errorf("Split(%q) is simple", cmd)
		}
		if strings.ContainsAny(cmd, "<>`()") && !strings.ContainsAny(cmd, "'\"\\#") {
			t.Errorf("Split(%q) is simple", cmd)
		}
	})
}

// FuzzReadOnly holds that what looks is simple but for where errors go, has no
// danger but to show cluade's own state, and does not look any more with
// something behind it.
func FuzzReadOnly(f *testing.F) {
	seed(f)
	yes, no := vectors(f)
	for _, cmd := range append(yes, no...) {
		f.Add(cmd)
	}
	f.Fuzz(func(t *testing.T, cmd string) {
		if !ReadOnly(cmd, "") {
			return
		}
		if got := classes(cmd, Options{Lockout: true, Exempt: []string{OwnState}}); got != nil {
			t.Errorf("ReadOnly(%q), although Check = %v", cmd, got)
		}
		plain := strings.NewReplacer("${HOME}", "", "2>/dev/null", "", "2> /dev/null", "", "2>&1", "").Replace(cmd)
		if !strings.Contains(cmd, "2>") && !Split(cmd).Simple {
			t.Errorf("ReadOnly(%q), although it is not simple", cmd)
		}
		if !strings.ContainsAny(plain, "'\"\\") && strings.ContainsAny(plain, ";`()<>{") {
			t.Errorf("ReadOnly(%q)", cmd)
		}
		for _, more := range []string{";rm x", " > f", "| sh", " && rm x", "\nrm x", " &", " $(rm x)", " `rm x`"} {
			if ReadOnly(cmd+more, "") {
				t.Errorf("ReadOnly(%q)", cmd+more)
			}
		}
	})
}
