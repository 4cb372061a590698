package cli

import (
	"fmt"
	"time"

	"cluade/agent"
	"cluade/internal/chat"
)

// statusBar is the line under a turn: model, tokens of the session, how full
// the window is, duration, and how many of the tokens came from a cache.
func (o *output) statusBar(e agent.TurnEnd) string {
	total := o.opts.Total()
	bar := fmt.Sprintf("-- %s - %d tokens", chat.EscapeText(o.opts.Model(), 0), total.Total())
	if limit := o.opts.ContextLimit(); limit > 0 {
		bar += " - " + perCent(e.Context, limit) + " context"
	}
	bar += " - " + elapsed(e.Elapsed)
	if total.Cached > 0 {
		bar += fmt.Sprintf(" - %d cached", total.Cached)
	}
	return bar
}

// perCent is part of whole with one decimal.
func perCent(part, whole int) string {
	tenths := (int64(part)*2000 + int64(whole)) / (2 * int64(whole)) // rounded half up
	return fmt.Sprintf("%d.%d%%", tenths/10, tenths%10)
}

// elapsed is a duration as people read it: 12.3s, 2m05s, 1h02m.
func elapsed(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d.%ds", d/time.Second, d%time.Second/(100*time.Millisecond))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
}
