package loopdetect

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// play feeds steps to d. A step is calls separated by blanks, each
// tool=result, with a ! behind a result that is an error. It returns what each
// step's check said: ".", or verdict and kind.
func play(d *Detector, steps []string) []string {
	var got []string
	for _, step := range steps {
		for _, c := range strings.Fields(step) {
			tool, result, _ := strings.Cut(c, "=")
			text, failed := strings.CutSuffix(result, "!")
			d.Observe(Signature(tool, "{}"), text, failed)
		}
		got = append(got, word(d.Check()))
	}
	return got
}

func word(r Report) string {
	if r.Verdict == Continue {
		return "."
	}
	return []string{Warn: "warn", Stop: "stop"}[r.Verdict] + "-" +
		[]string{"none", "repeat", "cycle", "errors", "poll"}[r.Kind]
}

func TestDetector(t *testing.T) {
	many := func(n int, f func(i int) string) []string {
		var s []string
		for i := range n {
			s = append(s, f(i))
		}
		return s
	}
	dots := func(n int) []string { return many(n, func(int) string { return "." }) }
	tests := []struct {
		name        string
		limits      Limits
		steps, want []string
	}{
		{"warn after the third, stop after the fourth", Limits{},
			[]string{"a=1", "a=1", "a=1", "a=1"}, []string{".", ".", "warn-repeat", "stop-repeat"}},
		{"warn, disarm, warn again", Limits{},
			[]string{"a=1", "a=1", "a=1", "b=1", "a=1", "a=1", "a=1"},
			[]string{".", ".", "warn-repeat", ".", ".", ".", "warn-repeat"}},
		{"the same with errors", Limits{},
			[]string{"a=1!", "a=1!", "a=1!", "b=1", "a=1!", "a=1!", "a=1!"},
			[]string{".", ".", "warn-repeat", ".", ".", ".", "warn-repeat"}},
		{"a change of result disarms", Limits{},
			[]string{"a=1", "a=1", "a=1", "a=2", "a=2", "a=2", "a=2"},
			[]string{".", ".", "warn-repeat", ".", ".", "warn-repeat", "stop-repeat"}},
		{"only the end of a step matters", Limits{},
			[]string{"a=1 a=1 a=1 b=1", "a=1 a=1", "a=1 a=1"}, []string{".", ".", "warn-repeat"}},
		{"three at once", Limits{}, []string{"a=1 a=1 a=1", "a=1"}, []string{"warn-repeat", "stop-repeat"}},
		{"threshold", Limits{Repeat: 2}, []string{"a=1", "a=1", "a=1"}, []string{".", "warn-repeat", "stop-repeat"}},
		{"a high threshold is no cycle before", Limits{Repeat: 20}, many(19, func(int) string { return "a=1" }), dots(19)},
		{"watching", Limits{}, many(24, func(i int) string { return fmt.Sprint("a=", i) }), dots(24)},
		{"watching for ever", Limits{}, many(26, func(i int) string { return fmt.Sprint("a=", i) }),
			append(dots(24), "warn-poll", "stop-poll")},
		{"watching what blinks", Limits{}, many(24, func(i int) string { return fmt.Sprint("a=", i%2) }), dots(24)},
		{"poll threshold", Limits{Poll: 5}, many(6, func(i int) string { return fmt.Sprint("a=", i) }),
			append(dots(4), "warn-poll", "stop-poll")},
		{"two in turn", Limits{},
			[]string{"a=1", "b=2", "a=1", "b=2", "a=1", "b=2", "a=1"},
			append(dots(5), "warn-cycle", "stop-cycle")},
		{"two in turn, one changes", Limits{}, many(20, func(i int) string {
			return []string{"a=1", fmt.Sprint("b=", i)}[i%2]
		}), dots(20)},
		{"three in turn", Limits{}, many(10, func(i int) string { return []string{"a=1", "b=2", "c=3"}[i%3] }),
			append(dots(8), "warn-cycle", "stop-cycle")},
		{"twice and another", Limits{}, many(9, func(i int) string { return []string{"a=1", "a=1", "b=3"}[i%3] }),
			append(dots(8), "warn-cycle")},
		{"four in turn are no cycle", Limits{}, many(40, func(i int) string {
			return []string{"a=1", "b=2", "c=3", "d=4"}[i%4]
		}), dots(40)},
		{"a cycle in one step", Limits{}, []string{"a=1 b=2 a=1 b=2 a=1 b=2", "a=1 b=2"}, []string{"warn-cycle", "stop-cycle"}},
		{"errors", Limits{}, []string{"a=1!", "b=2!", "c=3!", "d=4!", "e=5!"},
			append(dots(3), "warn-errors", "stop-errors")},
		{"a success resets errors", Limits{}, []string{"a=1!", "b=2!", "c=3!", "d=4", "e=5!", "f=6!", "g=7!"}, dots(7)},
		{"error threshold", Limits{Errors: 2}, []string{"a=1!", "b=2!"}, []string{".", "warn-errors"}},
		{"any kind stops after a warning", Limits{}, []string{"a=1!", "b=2!", "b=2!", "b=2!", "c=3!"},
			[]string{".", ".", ".", "warn-repeat", "stop-errors"}},
		{"nothing observed", Limits{}, []string{"", ""}, dots(2)},
	}
	for _, tt := range tests {
		d := New(tt.limits)
		if got := play(d, tt.steps); !slices.Equal(got, tt.want) {
			t.Errorf("%s: play(%q) = %v, want %v", tt.name, tt.steps, got, tt.want)
		}
		d.Reset()
		if got := play(d, tt.steps); !slices.Equal(got, tt.want) {
			t.Errorf("%s after Reset: play(%q) = %v, want %v", tt.name, tt.steps, got, tt.want)
		}
	}
}

func TestReport(t *testing.T) {
	tests := []struct {
		steps []string
		want  Report
	}{
		{[]string{"read=1 read=1 read=1 read=1"}, Report{Warn, Repeat, 4, []string{"read"}}},
		{[]string{"glob=1 grep=2 glob=1 grep=2 glob=1 grep=2"}, Report{Warn, Cycle, 3, []string{"glob", "grep"}}},
		{[]string{"a=1! b=2! c=3! bash=4!"}, Report{Warn, Errors, 4, []string{"bash"}}},
	}
	for _, tt := range tests {
		d := New(Limits{})
		for _, c := range strings.Fields(tt.steps[0]) {
			tool, result, _ := strings.Cut(c, "=")
			d.Observe(Signature(tool, "{}"), result, strings.HasSuffix(result, "!"))
		}
		got := d.Check()
		if fmt.Sprint(got) != fmt.Sprint(tt.want) {
			t.Errorf("Check after %q = %v, want %v", tt.steps, got, tt.want)
		}
	}
}
