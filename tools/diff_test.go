package tools

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestUnified(t *testing.T) {
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	tests := []struct{ a, b, want string }{
		{"a\n", "a\n", ""},
		{"", "a\nb\n", "@@ -1,0 +1,2 @@\n+a\n+b\n"},
		{"a\n", "", "@@ -1,1 +1,0 @@\n-a\n"},
		{"a", "a\n", "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"},
		{"a\nb", "a\nc", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"},
		{"a\r\nb\r\n", "a\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\r\n"},
		{ten, strings.Replace(ten, "5\n", "", 1), "@@ -2,7 +2,6 @@\n 2\n 3\n 4\n-5\n 6\n 7\n 8\n"},
		{ten, strings.Replace(ten, "10\n", "10\n11\n", 1), "@@ -8,3 +8,4 @@\n 8\n 9\n 10\n+11\n"},
		{ten, "0\n" + ten, "@@ -1,3 +1,4 @@\n+0\n 1\n 2\n 3\n"},
		{ten, strings.NewReplacer("2\n", "two\n", "7\n", "seven\n").Replace(ten),
			"@@ -1,10 +1,10 @@\n 1\n-2\n+two\n 3\n 4\n 5\n 6\n-7\n+seven\n 8\n 9\n 10\n"},
		{ten + ten, "x\n" + ten + strings.Replace(ten, "10\n", "y\n", 1),
			"@@ -1,3 +1,4 @@\n+x\n 1\n 2\n 3\n@@ -17,4 +18,4 @@\n 7\n 8\n 9\n-10\n+y\n"},
		{"a\na\n", "a\na\na\n", "@@ -1,2 +1,3 @@\n a\n a\n+a\n"},
		{"xa\n", "a\n", "@@ -1,1 +1,1 @@\n-xa\n+a\n"},
	}
	for _, tt := range tests {
		if got, _, _ := unified(tt.a, tt.b); got != tt.want {
			t.Errorf("unified(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestUnifiedApplies: a diff, followed line by line, makes the new text of the
// old, and its counts are right.
func TestUnifiedApplies(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(40) {
			fmt.Fprintf(&b, "%d\n", r.IntN(6))
		}
		return strings.TrimSuffix(b.String(), strings.Repeat("\n", r.IntN(2)))
	}
	for range 3000 {
		a, b := text(), text()
		diff, added, removed := unified(a, b)
		if got := applyDiff(t, a, diff); got != b {
			t.Fatalf("unified(%q, %q) = %q, which gives %q", a, b, diff, got)
		}
		plus, minus := 0, 0
		for _, l := range strings.Split(diff, "\n") {
			if strings.HasPrefix(l, "+") {
				plus++
			}
			if strings.HasPrefix(l, "-") {
				minus++
			}
		}
		if added != plus || removed != minus {
			t.Fatalf("unified(%q, %q) counts +%d -%d, shows +%d -%d", a, b, added, removed, plus, minus)
		}
	}
}

// applyDiff is an independent reader of unified diffs.
func applyDiff(t *testing.T, a, diff string) string {
	t.Helper()
	old := strings.SplitAfter(a, "\n")
	var out strings.Builder
	at := 1
	lines := strings.SplitAfter(diff, "\n")
	for i := 0; i < len(lines) && lines[i] != ""; {
		var from, n, to, m int
		if _, err := fmt.Sscanf(lines[i], "@@ -%d,%d +%d,%d @@\n", &from, &n, &to, &m); err != nil {
			t.Fatalf("header %q: %v", lines[i], err)
		}
		for ; at < from; at++ {
			out.WriteString(old[at-1])
		}
		if made := strings.Count(out.String(), "\n") + 1; made != to {
			t.Fatalf("header %q at line %d of the new text", lines[i], made)
		}
		for i++; i < len(lines) && n+m > 0; i++ {
			line := lines[i][1:]
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\`) {
				line = strings.TrimSuffix(line, "\n")
			}
			switch lines[i][0] {
			case ' ', '-':
				if old[at-1] != line {
					t.Fatalf("line %d is %q, the diff says %q", at, old[at-1], line)
				}
				at, n = at+1, n-1
			}
			switch lines[i][0] {
			case ' ', '+':
				out.WriteString(line)
				m--
			}
		}
		if i < len(lines) && strings.HasPrefix(lines[i], `\`) {
			i++
		}
	}
	for ; at <= len(old); at++ {
		out.WriteString(old[at-1])
	}
	return out.String()
}

// TestUnifiedBounded: what differs everywhere costs neither time nor memory
// and is shown whole.
func TestUnifiedBounded(t *testing.T) {
	numbers := func(from int) string {
		var b strings.Builder
		for i := range 9000 {
			fmt.Fprintf(&b, "%d\n", from+i*7919%100000)
		}
		return b.String()
	}
	for name, tt := range map[string][2]string{
		"many differences": {numbers(0), numbers(1)},
		"blank lines":      {strings.Repeat("\n", 1<<20), strings.Repeat("x\n", 1<<19)},
		"one line":         {strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		diff, _, _ := unified(tt[0], tt[1])
		runtime.ReadMemStats(&after)
		if d, mem := time.Since(start), after.TotalAlloc-before.TotalAlloc; d > 3*time.Second || mem > 32<<20 {
			t.Errorf("%s: %s, %d bytes", name, d, mem)
		}
		if name != "many differences" {
			continue
		}
		if got := applyDiff(t, tt[0], diff); got != tt[1] {
			t.Errorf("%s: the diff does not give the new text", name)
		}
	}
}
