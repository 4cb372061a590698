package cli

import (
	"errors"
	"fmt"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/store"
)

// modeKey is the configuration key of the mode in which a session begins.
const modeKey = "permission_mode"

// startMode is the mode in which a session begins: that of this run, or the one
// that the session was left in where that is narrower. Nothing is widened by
// the file of a session: the mode without questions never comes back, one that
// is not known is taken for the narrowest, and where nobody can be asked the
// mode accept-edits is back with what it takes away alone.
func (a *app) startMode(s *chat.Session, attended bool) (mode policy.Mode, taking bool) {
	mode, _ = policy.ParseMode(a.cfg.Safety.Mode)
	if a.flags.skipPermissions {
		mode = policy.ModeBypass
	}
	if a.depth == 0 && a.cfg.Source(modeKey) == store.TierFlag {
		return mode, false
	}
	saved, ok := policy.ParseMode(s.Mode)
	switch {
	case !ok && s.Mode != "":
		a.notices = append(a.notices, fmt.Sprintf("the session was left in the mode %.40q, which this version does not know; it goes on in the mode plan", s.Mode))
		return policy.ModePlan, false
	case !ok, saved == policy.ModeBypass, !saved.Narrower(mode):
		return mode, false
	}
	return saved, saved == policy.ModeAcceptEdits && mode != saved && !attended
}

// setMode changes the mode of the session at the wish of a person. It counts
// from the next call on and approves nothing that was refused.
func (a *app) setMode(m policy.Mode) {
	a.policy.Mode, a.policy.Taking, a.session.Mode = m, false, m.String()
	a.tools.Vars = a.childVars()
	if a.journal == nil {
		return
	}
	if err := a.journal.Update(); err != nil {
		a.out.Warn("the mode is changed, but the session does not remember it: " + err.Error())
	}
}

func (a *app) cmdMode(word string) (bool, error) {
	if word != "" {
		m, ok := policy.ParseMode(word)
		switch {
		case !ok:
			return false, fmt.Errorf("there is no mode %s; the modes are default, ask, accept-edits and plan", chat.EscapeText(word, 60))
		case m == policy.ModeBypass:
			return false, errors.New("the mode bypass is entered with --dangerously-skip-permissions when cluade is started, and in no other way")
		}
		a.setMode(m)
	}
	a.out.Print(a.modeText() + "\n" + a.keepsText())
	return false, nil
}

func (a *app) cmdPlan(string) (bool, error) {
	a.setMode(policy.ModePlan)
	a.out.Print(a.modeText())
	return false, nil
}

// modeText tells what the mode does.
func (a *app) modeText() string {
	var text string
	switch a.policy.Mode {
	case policy.ModeAsk:
		text = "the network, writing and commands are asked about"
	case policy.ModeAcceptEdits:
		text = "files are written without a question; the network and commands are asked about"
		if a.policy.Taking {
			text = "so the session was left; nobody can be asked, so the network and commands are refused unless a rule allows them, and writing is as its level says"
		}
	case policy.ModePlan:
		text = "the model may only look"
		switch {
		case a.depth > 0: // and nobody here can end that
		case a.oneShot():
			text += "; --permission-mode default ends that"
		default:
			text += "; /mode default ends that"
		}
	case policy.ModeBypass:
		text = "nothing is asked but what is dangerous and what a rule asks"
	default:
		text = "the levels of the tools count as they are"
	}
	text = "mode " + a.policy.Mode.String() + ": " + text
	for _, r := range a.policy.Grants {
		text += "\nallowed for good here: " + chat.EscapeText(r.Text, 0)
	}
	return text
}

// keepsText says whether an answer "always" is kept.
func (a *app) keepsText() string {
	switch {
	case !a.policy.Attended:
		return "nobody can be asked: no approval is read or kept"
	case a.policy.Mode == policy.ModeBypass:
		return "no approval is kept in this mode"
	}
	return "what you allow for good is kept in " + a.place.Approvals().Path()
}

// promptText is what stands before the typed line: the mode, where it is not
// the default.
func (a *app) promptText() string {
	var b strings.Builder
	if a.policy.Mode != policy.ModeDefault {
		b.WriteString(a.policy.Mode.String())
	}
	if len(a.policy.Grants) > 0 {
		b.WriteByte('+')
	}
	b.WriteString("> ")
	return b.String()
}

// stanceText is the last part of the system message: what is refused in
// general. Nothing in it tells how to widen anything.
func (a *app) stanceText() string {
	var b strings.Builder
	if a.policy.Mode == policy.ModePlan {
		b.WriteString("\n" + planModeText)
	}
	if a.policy.ProjectScope {
		fmt.Fprintf(&b, "\nwrite and edit are limited to %s.\n", chat.EscapeText(a.policy.Project, 0))
	}
	if len(a.policy.Rules.Deny) > 0 {
		b.WriteString("\nRules that refuse are in force and cannot be lifted: what they refuse, do without.\n")
	}
	return b.String()
}

// stanceWarnings are what the person is told at the start of what is not the
// default. A quiet run leaves out what they set themselves and what only narrows.
func (a *app) stanceWarnings() (lines []string) {
	if a.policy.Mode != policy.ModeDefault {
		lines = append(lines, a.modeText())
	}
	if n := len(a.policy.Rules.Deny); n > 0 && !a.flags.quietRun() {
		lines = append(lines, fmt.Sprintf("deny rules in force: %d", n))
	}
	lines = append(lines, a.sandboxWarnings()...)
	if a.policy.ProjectScope {
		lines = append(lines, "write and edit are limited to "+chat.EscapeText(a.policy.Project, 0))
	}
	return lines
}
