package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"cluade/internal/chat"
	"cluade/skills"
	"cluade/store"
)

// spent is what one model has cost in this run.
type spent struct {
	model string
	turns int
	usage chat.Usage
}

// count adds to what the model has cost.
func (a *app) count(turns int, usage chat.Usage) {
	name := a.client.Model()
	for i := range a.spent {
		if a.spent[i].model == name {
			a.spent[i].turns += turns
			a.spent[i].usage = a.spent[i].usage.Add(usage)
			return
		}
	}
	a.spent = append(a.spent, spent{name, turns, usage})
}

func (a *app) cmdCost(string) (bool, error) {
	var all spent
	for _, s := range a.spent {
		all.turns += s.turns
		all.usage = all.usage.Add(s.usage)
	}
	text := fmt.Sprintf("this run: %s\nthe session: %d tokens in %d steps", costText(all), a.session.Total.Total(), a.session.Steps)
	if len(a.spent) > 1 {
		for _, s := range a.spent {
			text += "\n  " + chat.EscapeText(s.model, 100) + ": " + costText(s)
		}
	}
	a.out.Print(text)
	return false, nil
}

func costText(s spent) string {
	u := s.usage
	text := fmt.Sprintf("%d turns, %d tokens: %d in", s.turns, u.Total(), u.Prompt)
	if u.Cached > 0 {
		text += fmt.Sprintf(" (%d of them cached)", u.Cached)
	}
	text += fmt.Sprintf(", %d out", u.Completion)
	if u.Reasoning > 0 {
		text += fmt.Sprintf(" (%d of them thinking)", u.Reasoning)
	}
	return text
}

// thinkWords are what /think takes.
const thinkWords = "on off high max show"

// cmdThink tells whether the model is asked to think, or changes it for this
// run.
func (a *app) cmdThink(word string) (bool, error) {
	var settings [][2]string
	switch word {
	case "":
	case "show":
		if a.out.ToggleThinking() {
			a.out.Print("all of the thinking is shown; /think show shows its last lines again")
		} else {
			a.out.Print("the last lines of the thinking are shown")
		}
		return false, nil
	case "on":
		settings = [][2]string{{"thinking", "true"}}
	case "off":
		settings = [][2]string{{"thinking", "false"}}
	case "high", "max":
		settings = [][2]string{{"thinking", "true"}, {"reasoning_effort", word}}
	default:
		return false, errors.New("usage: /think " + strings.ReplaceAll(thinkWords, " ", "|"))
	}
	if settings != nil {
		cfg := *a.cfg
		for _, s := range settings {
			if err := cfg.Set(store.TierFlag, s[0], s[1]); err != nil {
				return false, err
			}
		}
		if err := a.use(&cfg); err != nil {
			return false, err
		}
	}
	switch {
	case !isSet(a.cfg, "thinking"):
		a.out.Print("thinking: as the server does by itself")
	case a.cfg.Thinking:
		a.out.Print("thinking: on, effort " + a.cfg.Effort)
	default:
		a.out.Print("thinking: off")
	}
	return false, nil
}

// tierNames say where a setting came from.
var tierNames = [...]string{
	store.TierDefault: "the default",
	store.TierUser:    "your configuration",
	store.TierProject: "the project's configuration",
	store.TierEnv:     "the environment",
	store.TierFlag:    "this run",
}

// useDefaults takes the configuration without any file in the place of a faulty
// one, whose fault is told, and reports whether that can be.
func (a *app) useDefaults(fault error) bool {
	a.cfg, a.faults = store.Defaults(a.place), []string{fault.Error() + "; shown are the defaults"}
	var err error
	a.client, err = a.connect(a.cfg, "")
	return err == nil
}

func (a *app) cmdStatus(string) (bool, error) {
	a.out.Print(strings.TrimSuffix(a.status(), "\n"))
	return false, nil
}

// status tells how this run stands. It starts no program and asks no server.
func (a *app) status() string {
	host := a.cfg.BaseURL
	if u, err := url.Parse(host); err == nil && u.Host != "" {
		host = u.Host
	}
	key := "none"
	if a.key != "" {
		key = "from " + a.keyFrom
	}
	saved := "not saved"
	if a.journal != nil {
		saved = a.journal.Path()
		if a.session.ID == "" {
			saved = "not yet saved"
		}
	}
	found, _ := skills.Find(a.tools.Skills)
	lines := []string{
		"version    " + a.env.Version,
		"model      " + a.client.Model() + ", from " + tierNames[a.cfg.Source("model")],
		"server     " + host + ", from " + tierNames[a.cfg.Source("base_url")],
		"key        " + key,
		"directory  " + a.place.Dir,
		"mode       " + a.policy.Mode.String(),
		"sandbox    " + sandboxLevels(a.sandbox()),
		fmt.Sprintf("rules      %d that refuse, %d that ask, %d that allow, %d allowed for good", len(a.policy.Rules.Deny), len(a.policy.Rules.Ask), len(a.policy.Rules.Allow), len(a.policy.Grants)),
		"session    " + strings.TrimSpace(a.session.ID+" "+saved),
		fmt.Sprintf("context    %d of %d tokens", a.session.Context, a.agent.ContextLimit()),
		fmt.Sprintf("used       %d tokens in %d steps", a.session.Total.Total(), a.session.Steps),
		fmt.Sprintf("skills     %d", len(found)),
	}
	for _, path := range instructionFiles(a.prompt.opts) {
		lines = append(lines, "told       "+path)
	}
	text := ""
	for _, l := range lines {
		text += chat.EscapeText(l, 400) + "\n"
	}
	return text
}
