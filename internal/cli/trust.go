package cli

import (
	"fmt"
	"slices"
	"strings"

	"cluade/store"
)

// askTrust asks the person, before a conversation goes on in a directory, whether
// what the project's configuration guards may count. Nothing else answers this
// question, and where it cannot be asked the answer is no. A no lasts: it
// is not asked again when the run comes back to the directory.
func (a *app) askTrust() error {
	g := a.cfg.Guarded(a.place)
	if g == nil || a.oneShot() || !a.attended() || slices.Contains(a.declined, a.place.Dir) {
		return nil
	}
	ctx, done := a.untilSignal()
	defer done()
	line, err := (&approver{a.env, a.out}).ask(ctx,
		func(to *stream) string { return trustQuestion(g, to) },
		func(*stream) string { return "[y] once  [a] always  [N] no: " })
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("ask whether to trust the project: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	switch answer {
	case "y", "yes", "a", "always":
	default:
		a.declined = append(a.declined, a.place.Dir)
		return nil
	}
	a.trust = g.Accept()
	if answer[0] == 'a' {
		if err := a.place.KeepTrust(a.trust); err != nil {
			a.notices = append(a.notices, "trusted this time only: "+err.Error())
		}
	}
	return a.configure()
}

// trustQuestion shows everything that a yes would put in force.
func trustQuestion(g *store.Guarded, to *stream) string {
	b := newSheet(to, 18)
	b.WriteString(to.paint(yellow, "this project wants to set what needs your trust: "+b.show(g.File)) + "\n")
	for _, v := range g.Show() {
		b.write(b.show(v.Key), b.show(v.Text), "")
		if v.Host != "" {
			b.prose("", "your messages, the contents of files and the key go to "+escapeAll(v.Host), red)
		}
	}
	return b.String()
}
