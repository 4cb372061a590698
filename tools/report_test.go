package tools

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestReport: what is written piece by piece, in pieces of any size, arrives.
func TestReport(t *testing.T) {
	first := Report{Steps: 1, Calls: 2, Usage: Usage{3, 4, 5, 6}, Changed: []string{"/a b", "/new\nline", "/\xff\""}}
	second := Report{Steps: 2, Calls: 7, Usage: Usage{30, 40, 50, 60}, Changed: append(first.Changed[:3:3], "/c")}
	text := string(second.Append(first.Append(nil, 0), 3))
	for size := 1; size <= len(text); size++ {
		var r reportReader
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if got, err := r.Write([]byte(rest[:n])); got != n || err != nil {
				t.Fatalf("Write = %d, %v", got, err)
			}
			rest = rest[n:]
		}
		if !reflect.DeepEqual(r.Report, second) {
			t.Errorf("in pieces of %d bytes %q gives %+v, want %+v", size, text, r.Report, second)
		}
	}
	// Cut anywhere, as by a kill, the last whole lines count.
	for cut := range text {
		var r reportReader
		r.Write([]byte(text[:cut]))
		if lines := strings.Count(text[:cut], "\n"); lines > 0 && r.Steps == 0 || len(r.Changed) > lines {
			t.Errorf("cut after %q: %+v", text[:cut], r.Report)
		}
	}
}

func TestReportOfOthers(t *testing.T) {
	good := "run 1 2 3 4 5 6\n"
	for _, line := range []string{
		"", "run", "run 1 2 3", "run 9 9 9 9 9 -1", "run a b c d e f", "changed", "changed /a", `changed "/a`, "other 1", "\x00",
		"run 99999999999999999999 1 1 1 1 1", strings.Repeat("9 ", 20000), `changed "` + strings.Repeat("x", 20000) + `"`,
	} {
		var r reportReader
		fmt.Fprint(&r, good+line+"\n")
		want := Report{Steps: 1, Calls: 2, Usage: Usage{3, 4, 5, 6}}
		if !reflect.DeepEqual(r.Report, want) {
			t.Errorf("after %.60q: %+v, want %+v", line, r.Report, want)
		}
		if len(r.line) > maxReportLine || cap(r.line) > 4*maxReportLine {
			t.Errorf("after %.60q %d bytes are kept", line, cap(r.line))
		}
	}
	var r reportReader
	for i := range maxChanged + 10 {
		fmt.Fprintf(&r, "changed \"/%d\"\n", i)
	}
	if len(r.Changed) != maxChanged {
		t.Errorf("%d changed files are kept, want %d", len(r.Changed), maxChanged)
	}
}

func FuzzReport(f *testing.F) {
	f.Add("run 1 2 3 4 5 6\nchanged \"/a\"\n", 3)
	f.Fuzz(func(t *testing.T, text string, size int) {
		var whole, pieces reportReader
		whole.Write([]byte(text))
		for rest := text; rest != ""; {
			n := min(max(1, size), len(rest))
			pieces.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if !reflect.DeepEqual(whole.Report, pieces.Report) {
			t.Errorf("%q gives %+v whole, %+v in pieces of %d", text, whole.Report, pieces.Report, size)
		}
	})
}
