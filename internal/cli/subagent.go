package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/store"
	"cluade/tools"
)

// reportVar names the descriptor on which a subagent reports; see reporter.
const (
	reportVar = "CLUADE_REPORT"
	reportFD  = 3
)

// subagents is how the subagent tool starts runs below this one.
func (a *app) subagents() tools.Subagent {
	return tools.Subagent{
		Path: ownPath(), Args: a.subagentArgs, Vars: a.subagentVars,
		Timeout: a.cfg.SubagentTimeout, Progress: a.out.Below,
	}
}

// ownPath is the file of this program, which an update may have taken away from
// its name.
func ownPath() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	path, _ := os.Executable()
	return path
}

// subagentConfig is the configuration with the model that subagents use.
func (a *app) subagentConfig() *store.Config {
	cfg := *a.cfg
	if cfg.SubagentModel == "" || cfg.Set(store.TierFlag, "model", cfg.SubagentModel) != nil {
		return a.cfg
	}
	return &cfg
}

// subagentArgs are the options of a subagent: what of this run holds for it and
// it cannot know from the configuration.
func (a *app) subagentArgs(mode string) []string {
	if a.policy.Mode == policy.ModePlan {
		mode = "plan"
	}
	cfg := a.subagentConfig()
	args := []string{"--subagent", "--agent-mode", mode, "--model=" + cfg.ModelName()}
	if !cfg.OwnAddress() || a.flags.apiKey != "" { // a key that was given goes to the address in use
		args = append(args, "--base-url="+cfg.BaseURL)
	}
	args = append(args, "--max-steps", strconv.Itoa(cfg.SubagentSteps))
	if limit := cfg.MaxTotalTokens; limit > 0 {
		args = append(args, "--max-total-tokens", strconv.Itoa(max(1, limit-a.session.Total.Total())))
	}
	for _, s := range a.flags.settings {
		if s.key == "stream" || s.key == bundledKey {
			args = append(args, s.option)
		}
	}
	if a.flags.noProject {
		args = append(args, "--no-project-context")
	}
	return args
}

// subagentVars is the environment of a subagent: that of every child, with the
// key, which it is given although its own commands may not see it.
func (a *app) subagentVars() []string {
	vars := setVar(a.childVars(), reportVar, strconv.Itoa(reportFD))
	key, from, _, err := a.credential(a.subagentConfig())
	switch {
	case err != nil || key == "":
	case a.flags.apiKey != "", a.flags.trustProject && strings.HasPrefix(from, "api_key"):
		vars = setVar(vars, "CLUADE_API_KEY", key)
	case slices.Contains(a.cfg.ScrubEnv, from):
		vars = setVar(vars, from, key)
	}
	return vars
}

// reporter tells the run above of this one, if that is who started it as its
// subagent. nil tells nobody.
type reporter struct {
	to    *os.File
	calls int
	known int // changed files that were told of
}

// newReporter takes the pipe that the run above left open. What is no pipe is
// left alone: the variable may come from anybody.
func newReporter(getenv func(string) string) *reporter {
	var st syscall.Stat_t
	if getenv(reportVar) != strconv.Itoa(reportFD) || syscall.Fstat(reportFD, &st) != nil || st.Mode&syscall.S_IFMT != syscall.S_IFIFO {
		return nil
	}
	syscall.CloseOnExec(reportFD)
	return &reporter{to: os.NewFile(reportFD, "report")}
}

// report tells how far the run is. That nobody listens any more is no fault.
func (r *reporter) report(e agent.Event, s *chat.Session, changed []string) {
	switch e.(type) {
	case agent.CallEnd:
		r.calls++
	case agent.ReplyEnd, agent.TurnEnd:
	default:
		return
	}
	rep := tools.Report{Steps: s.Steps, Calls: r.calls, Usage: tools.Usage(s.Total), Changed: changed}
	r.to.Write(rep.Append(nil, r.known))
	r.known = len(changed)
}

// Below shows a line of a run below this one. It may be called from any
// goroutine.
func (o *output) Below(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	line = strings.TrimRight(chat.CleanText(line), "\n")
	o.line(&o.errs, dim, "  | "+strings.ReplaceAll(line, "\n", " "))
}
