package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/internal/proc"
	"cluade/provider"
	"cluade/store"
	"cluade/tools"
)

// minSecret is the length from which a key is replaced by *** in what the
// model reads. A shorter one would spoil ordinary words.
const minSecret = 8

// planTools are the tools of a run that only looks.
var planTools = []string{"read", "glob", "grep", "web_search", "web_fetch", "skill"}

// connect makes the clients of the configured endpoint and of those that are
// asked where it fails.
func (a *app) connect(cfg *store.Config, key string) (*provider.Fallback, error) {
	o := a.providerOptions(cfg, key)
	first, err := provider.New(o)
	if err != nil {
		return nil, err
	}
	clients := []*provider.Client{first}
	more, err := cfg.Fallback(a.place)
	if err != nil {
		return nil, err
	}
	for _, e := range more {
		c, err := provider.New(a.instead(o, e))
		if err != nil {
			return nil, fmt.Errorf("fallback to %s: %w", e.Model, err)
		}
		clients = append(clients, c)
	}
	return provider.NewFallback(clients...), nil
}

func (a *app) providerOptions(cfg *store.Config, key string) provider.Options {
	o := provider.Options{
		BaseURL: cfg.BaseURL, Model: cfg.Model, Key: key,
		Stream:         cfg.Stream,
		RequestTimeout: cfg.RequestTimeout, FirstByteTimeout: cfg.FirstByteTimeout, IdleTimeout: cfg.IdleTimeout,
		Retries:  cfg.Retries,
		Thinking: cfg.Thinking, ThinkingSet: isSet(cfg, "thinking"),
		Effort: cfg.Effort, EffortSet: isSet(cfg, "reasoning_effort"),
		MaxTokens: cfg.MaxTokens, MaxTokensSet: isSet(cfg, "max_tokens"),
		ExtraBody: cfg.ExtraBody, Headers: cfg.Headers, Quirks: cfg.Provider, TextTools: cfg.TextTools,
		CAFile: cfg.CAFile, Insecure: cfg.Insecure,
		Trace:   a.env.Getenv("CLUADE_TRACE"),
		Version: a.env.Version,
	}
	if a.flags.showJSON {
		o.Debug = asideWriter{a}
	}
	return o
}

// instead are the options of an endpoint that stands in for the one of o. What
// the person set for that host goes to no other.
func (a *app) instead(o provider.Options, e store.Endpoint) provider.Options {
	if !e.Main {
		o.Key, o.Headers, o.ExtraBody, o.Quirks = "", nil, "", ""
	}
	if e.Key != "" {
		o.Key = e.Key
	}
	a.hide(o.Key)
	o.BaseURL, o.Model = e.BaseURL, e.Model
	return o
}

// asideWriter writes to standard error in the middle of what is shown.
type asideWriter struct{ a *app }

func (w asideWriter) Write(p []byte) (int, error) {
	w.a.out.Settle()
	return w.a.env.Stderr.Write(p)
}

func isSet(cfg *store.Config, key string) bool { return cfg.Source(key) > store.TierDefault }

// begin makes s the session of the run, saved to j (nil saves nothing), with
// the agent that carries its turns, and tells what is to be said.
func (a *app) begin(s *chat.Session, j *store.Journal) {
	first := a.agent == nil
	a.endSession()
	a.session, a.journal, a.typed = s, j, nil
	a.tools = &tools.Env{Rewind: a.rewinder(j), Tell: func(text string) { a.emit(agent.Notice{Text: text}) }}
	a.assemble()
	if first && !a.oneShot() {
		a.out.Print(a.banner())
	}
	a.tell(a.stanceWarnings())
}

// assemble makes the parts of the present session from the configuration. What
// its tools hold (background jobs, connections, what was read) stays.
func (a *app) assemble() {
	a.policy = a.newPolicy(a.session)
	a.loadGrants()
	a.equip(a.tools)
	a.prompt = newPrompt(promptOptions{
		Dir: a.place.Dir, Home: a.place.Home, State: a.place.State, Etc: "/etc", Shell: "/bin/sh",
		Created: a.session.Created, Append: a.flags.appendPrompt, NoProject: a.flags.noProject, Getenv: a.env.Getenv,
		Plan: a.flags.agentMode == "plan", Stance: a.stanceText,
		Skills: a.tools.Skills, Window: func() int { return a.agent.ContextLimit() },
		Private: a.cfg.Private(), Hidden: func(f policy.Path) bool { return a.policy.Hides(policy.Subject{}, f) }, Mask: a.mask,
	})
	a.client.SetModel(a.cfg.Model)
	a.agent = agent.New(a.agentOptions())
}

// equip gives the tools what the configuration says.
func (a *app) equip(e *tools.Env) {
	e.Dir, e.Home, e.State, e.Project = a.place.Dir, a.place.Home, a.place.State, a.policy.Project
	e.Saved, e.Private, e.Hidden = a.cfg.SessionsDir, a.cfg.Private(), a.policy.Hides
	e.Keep, e.Timeout, e.Vars = a.cfg.ResultBytes, a.cfg.BashTimeout, a.childVars()
	e.Skills, e.Subagent = a.skillRoots(), a.subagents()
	e.Sandbox, e.MustConfine = a.sandbox(), a.mustConfine()
	proc.HideEnv(a.cfg.ScrubEnv)
	e.Web, e.SSH = a.web(), a.ssh()
}

// tell says what is to be said of a session that begins or was changed, the
// lines of stance first.
func (a *app) tell(stance []string) {
	for _, n := range slices.Concat(stance, a.faults, a.notices) {
		a.out.Warn(n)
	}
	a.faults, a.notices = nil, nil
}

// ssh is how tools reach other hosts.
func (a *app) ssh() tools.SSH {
	c := a.cfg.SSH
	if c.KnownHosts == "" && a.place.State != "" {
		c.KnownHosts = filepath.Join(a.place.State, "known_hosts")
	}
	return tools.SSH{
		IdentityFiles: c.IdentityFiles, KnownHosts: c.KnownHosts, Config: c.Config,
		ConnectTimeout: c.ConnectTimeout, Timeout: c.Timeout, Strict: c.Strict, Legacy: c.Legacy,
		Agent: a.env.Getenv("SSH_AUTH_SOCK"), Met: a.policy.Met,
	}
}

// web is how tools reach the web. The key of the search engine is as secret as
// that of the model.
func (a *app) web() tools.Web {
	c := a.cfg.Web
	w := tools.Web{
		UserAgent: c.UserAgent, Search: c.Search, SearchURL: c.SearchURL, Timeout: c.FetchTimeout, Bytes: c.FetchBytes,
		TLS: provider.TLS(a.cfg.CAFile), Met: a.policy.Met,
	}
	if c.SearchKeyEnv != "" {
		w.SearchKey = strings.TrimSpace(a.env.Getenv(c.SearchKeyEnv))
		a.hide(w.SearchKey)
	}
	return w
}

func (a *app) agentOptions() agent.Options {
	o := agent.Options{
		Model: endpoint{a}, Tools: tools.Builtin, Env: a.tools, Policy: a.policy, Session: a.session,
		System: a.prompt.System,
		Hooks:  keyMask{a},
		Emit:   a.emit,

		MaxSteps: a.cfg.MaxSteps, MaxTokens: a.cfg.MaxTotalTokens,
		ContextLimit: a.windowSet, ResultBytes: a.cfg.ResultBytes,
		CompactAt: a.cfg.CompactAt, HardCompactAt: a.cfg.HardCompactAt, NoCompaction: !a.cfg.Compaction,
		RepeatLimit: a.cfg.RepeatLimit, ErrorLimit: a.cfg.ErrorLimit, PollLimit: a.cfg.PollLimit,
		TruncationHint: "max_tokens in the configuration is the limit",
	}
	if a.journal != nil {
		o.Journal = a.journal
	}
	if a.policy.Attended {
		o.Approver, o.Grant = newApprover(a.env, a.out), a.grant
	}
	return o
}

// windowSet is the model's window as the person set it, 0 if not. An entry of
// models may have its own, so it changes with the model.
func (a *app) windowSet() int {
	if !isSet(a.cfg, "context_limit") {
		return 0
	}
	return a.cfg.ContextLimit
}

// emit hands an event to the renderer, and takes from it what the run must
// know: the file of the session, which exists from its first message on, and
// what was refused.
func (a *app) emit(e agent.Event) {
	switch e := e.(type) {
	case agent.StepStart:
		if a.journal != nil {
			a.tools.Session = a.journal.Path()
		}
	case agent.Compacted:
		a.tools.Rewind.Replaced()
	case agent.TurnEnd:
		a.refused += e.Refused
		a.count(1, e.Usage)
	}
	if a.reporter != nil {
		a.reporter.report(e, a.session, a.tools.Changed)
	}
	a.out.Emit(e)
}

// attended says whether somebody can be asked. In doubt nobody can: a question
// that no one sees would wait for ever.
func (a *app) attended() bool {
	if a.flags.unattendedRun() || a.flags.syslog || a.depth > 0 {
		return false
	}
	if tty := asTerminal(a.env.Stdin); tty != nil {
		return inForeground(tty)
	}
	if a.flags.quiet || !isPipe(a.env.Stdin) || asTerminal(a.env.Stderr) == nil {
		return false
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	return inForeground(tty)
}

func isPipe(f *os.File) bool {
	if f == nil {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// inForeground says that a read of the terminal would not stop the process, as
// it does for a job in the background. A terminal that is not the controlling
// one has no jobs.
func inForeground(tty *os.File) bool {
	var group int32
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, tty.Fd(), syscall.TIOCGPGRP, uintptr(unsafe.Pointer(&group)))
	return errno != 0 || int(group) == syscall.Getpgrp()
}

// projectRoot is the nearest directory from dir upwards that holds .git, else
// dir.
func projectRoot(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return dir
		}
	}
}

// mask replaces the keys of the run in what enters the transcript.
func (a *app) mask(text string) string {
	for _, key := range a.secrets {
		text = strings.ReplaceAll(text, key, "***")
	}
	return text
}

// useKey takes the key for the requests that follow.
func (a *app) useKey(key, from string) {
	a.key, a.keyFrom = key, from
	a.hide(key)
}

// hide makes a key one that no transcript holds.
func (a *app) hide(key string) {
	if len(key) >= minSecret && !slices.Contains(a.secrets, key) {
		a.secrets = append(a.secrets, key)
	}
}

// keyMask keeps the key out of what tools return.
type keyMask struct{ a *app }

func (keyMask) Pre(context.Context, chat.ToolCall) (policy.Wish, error) { return policy.WishNone, nil }

func (m keyMask) Post(_ context.Context, _ chat.ToolCall, text string) string { return m.a.mask(text) }
