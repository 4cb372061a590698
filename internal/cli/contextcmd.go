package cli

import (
	"fmt"
	"strings"
)

// cmdCompact has the conversation replaced by a summary; wish says what the
// person wants of it. Whatever goes wrong, or Ctrl-C, leaves all as it was.
func (a *app) cmdCompact(wish string) (bool, error) {
	ctx, done := a.untilSignal()
	defer done()
	if a.journal != nil {
		a.tools.Session = a.journal.Path()
	}
	usage, err := a.agent.Compact(ctx, a.mask(wish))
	a.out.Settle()
	a.count(0, usage)
	if err != nil {
		err = fmt.Errorf("not compacted: %w", err)
	}
	return false, err
}

// cmdContext shows what the next request is made of.
func (a *app) cmdContext(string) (bool, error) {
	c := a.agent.Context()
	var b strings.Builder
	for _, row := range []struct {
		kind  string
		bytes int
	}{
		{"system message", c.System}, {"tool schemas", c.Tools}, {"your messages", c.Inputs}, {"replies", c.Replies},
		{"reasoning", c.Reasoning}, {"tool calls", c.Calls}, {"tool results", c.Results},
	} {
		fmt.Fprintf(&b, "  %-14s %9d bytes\n", row.kind, row.bytes)
	}
	fmt.Fprintf(&b, "%d tokens, %s of %d\n", c.Tokens, perCent(c.Tokens, c.Limit), c.Limit)
	switch {
	case c.Counted == 0:
		b.WriteString("(an estimate from the bytes)")
	case c.Counted < c.Tokens:
		fmt.Fprintf(&b, "(%d counted by the server)", c.Counted)
	default:
		b.WriteString("(counted by the server)")
	}
	a.out.Print(b.String())
	return false, nil
}
