package cli

import (
	"fmt"
	"strings"
	"time"

	"cluade/agent"
	"cluade/internal/chat"
)

// statusBar is the line under a turn: model, tokens of the session, how full
// the window is, duration. What is not known is left out.
func (o *output) statusBar(e agent.TurnEnd) string {
	parts := []string{"--"}
	if o.opts.Model != nil {
		parts = append(parts, chat.EscapeText(o.opts.Model(), 0), "-")
	}
	total := o.total
	if o.opts.Total != nil {
		total = o.opts.Total()
	}
	parts = append(parts, fmt.Sprint(total), "tokens", "-")
	if o.opts.ContextLimit != nil {
		if limit := o.opts.ContextLimit(); limit > 0 {
			parts = append(parts, perCent(e.Context, limit), "context", "-")
		}
	}
	return strings.Join(append(parts, elapsed(e.Elapsed)), " ")
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
