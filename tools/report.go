package tools

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// Usage counts tokens; see chat.Usage, whose fields it has.
type Usage struct{ Prompt, Completion, Cached, Reasoning int }

// Report is what a run tells the one that started it, so that this can count
// what was spent and say what was changed. It is written anew with every step,
// for the run may be killed in the next.
type Report struct {
	Steps, Calls int
	Usage        Usage
	Changed      []string // absolute paths, each once
}

const (
	maxChanged    = 1000    // paths of a report that are kept
	maxReportLine = 8 << 10 // bytes; a path takes at most 4096, four times that when quoted
)

// Append appends the report as it is written: a line of numbers, and one for
// each changed file after the first known, which were reported before.
func (r Report) Append(dst []byte, known int) []byte {
	dst = append(dst, "run"...)
	for _, n := range r.numbers() {
		dst = strconv.AppendInt(append(dst, ' '), int64(*n), 10)
	}
	dst = append(dst, '\n')
	for _, path := range r.Changed[known:] {
		dst = append(strconv.AppendQuote(append(dst, "changed "...), path), '\n')
	}
	return dst
}

// numbers are the counters in the order of their line.
func (r *Report) numbers() []*int {
	u := &r.Usage
	return []*int{&r.Steps, &r.Calls, &u.Prompt, &u.Completion, &u.Cached, &u.Reasoning}
}

// reportReader reads reports as they come, piece by piece. What is no line of a
// report is passed over, and a line whose end is missing does not count.
type reportReader struct {
	Report
	line []byte
}

// Write takes the next bytes. It never fails.
func (r *reportReader) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		if end < 0 {
			end = len(p)
		}
		if room := maxReportLine - len(r.line); room > 0 {
			r.line = append(r.line, p[:min(end, room)]...)
		}
		if end == len(p) {
			break
		}
		r.take(string(r.line))
		r.line, p = r.line[:0], p[end+1:]
	}
	return n, nil
}

// take reads one line.
func (r *reportReader) take(line string) {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "run":
		next := Report{Changed: r.Changed}
		fields := strings.Fields(rest)
		for i, to := range next.numbers() {
			if i >= len(fields) {
				return
			}
			n, err := strconv.Atoi(fields[i])
			if err != nil || n < 0 {
				return
			}
			*to = n
		}
		r.Report = next
	case "changed":
		if path, err := strconv.Unquote(rest); err == nil && len(r.Changed) < maxChanged {
			r.Changed = append(r.Changed, path)
		}
	}
}

// change notes a file that was changed, in this run or one that it started.
func (e *Env) change(path string) {
	if len(e.Changed) < maxChanged && !slices.Contains(e.Changed, path) {
		e.Changed = append(e.Changed, path)
	}
}
