package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/internal/proc"
	"cluade/store"
)

// maxDepth is how deep runs may start runs.
const maxDepth = 3

// Main runs the program and returns its exit code.
func Main(ctx context.Context, env Env) int {
	tuneMemory(env.Getenv)
	defer catchBrokenPipe()()
	env.Version = buildVersion(env.Version)
	a := &app{env: env, die: os.Exit}
	code, err := a.run(ctx)
	if err != nil {
		a.fail(err)
	}
	return code
}

// run goes through the start-up in its order: what needs no configuration, the
// configuration, the session, the parts; then the work. With an error nothing
// was sent.
func (a *app) run(ctx context.Context) (int, error) {
	f, err := parseArgs(a.env.Args)
	if err != nil {
		return exitUsage, err
	}
	a.flags = f
	switch {
	case f.help, f.topic == "options":
		return a.print(usage())
	case f.topic == "exit-codes":
		return a.print(exitCodes)
	case f.version:
		return a.print(versionText(a.env.Version))
	case f.dangercheck:
		return a.checkLines()
	case f.tree != nil && f.tree.has("help"):
		return a.print(f.tree.usage())
	}
	ctx, a.end = context.WithCancelCause(ctx)
	defer a.end(nil)
	defer a.watchRun(a.oneShot())()
	if err := a.enter(); err != nil {
		return exitUsage, err
	}
	switch {
	case f.init:
		return a.writeConfig()
	case f.doctor:
		return a.doctor(ctx)
	case f.tree != nil:
		return a.runTree(ctx, f.tree)
	}
	if f.syslog {
		if !a.oneShot() {
			return exitUsage, errors.New("--syslog needs a prompt")
		}
		defer a.useSyslog()()
	}
	if err := a.configure(); err != nil && !(f.status && a.useDefaults(err)) {
		return exitUsage, err
	}
	switch {
	case f.list:
		return a.listSessions()
	case f.undo:
		return a.undoSession()
	case f.deleteID != "":
		return a.dropSession()
	}
	return a.work(ctx)
}

// work opens the session and answers the prompt, or talks.
func (a *app) work(ctx context.Context) (int, error) {
	a.out = newOutput(a.env, outputOptions{
		Quiet: a.flags.quietRun(), Color: a.cfg.Color, ASCII: a.flags.ascii,
		ContextLimit: func() int { return a.agent.ContextLimit() },
		Model:        func() string { return a.client.Model() },
		Total:        func() chat.Usage { return a.session.Total },
		Modes:        &a.modes,
	})
	if err := a.openSession(); err != nil {
		return exitUsage, err
	}
	if a.flags.status {
		return a.print(a.status())
	}
	defer a.endSession()
	if err := a.loadImages(); err != nil {
		return exitUsage, err
	}
	if !a.oneShot() {
		code := a.repl(ctx)
		var s stopped
		if errors.As(context.Cause(ctx), &s) {
			code = s.exitCode()
		}
		return code, nil
	}
	message, err := a.message(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return a.exitCode(context.Cause(ctx)), nil
		}
		return exitUsage, err
	}
	err = a.turn(ctx, message)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	code := a.exitCode(err)
	if err := a.out.Err(); err != nil && code == exitFailed {
		a.out.Error("write standard output: " + err.Error())
	}
	return code, nil
}

// enter goes to the directory of the run and takes its depth.
func (a *app) enter() error {
	if a.flags.cwd != "" {
		if err := os.Chdir(a.flags.cwd); err != nil {
			return fmt.Errorf("--cwd: %w", err)
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the current directory: %w", err)
	}
	if state := a.env.Getenv("CLUADE_HOME"); state != "" && !filepath.IsAbs(state) {
		return errors.New("CLUADE_HOME must be an absolute path: a relative one would be another directory in each place")
	}
	a.place = findPlace(dir, a.env.Getenv)
	a.depth = depthOf(a.env.Getenv("CLUADE_DEPTH"))
	if a.flags.subagent {
		a.reporter = newReporter(a.env.Getenv)
	}
	if a.above, err = parseParent(a.env.Getenv("CLUADE_PARENT")); err != nil {
		return err
	}
	if a.above != nil {
		a.depth = max(a.depth, a.above.depth)
	}
	switch {
	case a.depth >= maxDepth:
		return fmt.Errorf("this is run number %d of runs that start each other (CLUADE_DEPTH); no more than %d are allowed", a.depth+1, maxDepth)
	case a.depth > 0 && (a.flags.init || a.flags.undo || a.flags.deleteID != ""):
		return errors.New("--init, --undo and --delete-session are refused in a run that another run started")
	}
	if a.depth > 0 {
		a.ignoreWidening()
	}
	return nil
}

// ignoreWidening takes back the options that only a person may give: in the run
// of a run the model may have typed them.
func (a *app) ignoreWidening() {
	for _, o := range []struct {
		given *bool
		name  string
	}{
		{&a.flags.yes, "-y"},
		{&a.flags.skipPermissions, "--dangerously-skip-permissions"},
		{&a.flags.trustProject, "--trust-project"},
	} {
		if *o.given {
			*o.given = false
			a.notices = append(a.notices, o.name+" is ignored in a run that another run started: no person typed it")
		}
	}
}

// depthOf reads CLUADE_DEPTH: 0 where a person started the run. Whatever is no
// count is taken for the work of a run.
func depthOf(value string) int {
	if value == "" {
		return 0
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 0 {
		return 1
	}
	return n
}

func (a *app) writeConfig() (int, error) {
	path, err := store.Init(a.place, a.flags.force)
	if err != nil {
		return exitUsage, err
	}
	return a.print(path + "\n")
}

// configure reads the configuration of the directory and makes the client for
// it. With an error nothing changed.
func (a *app) configure() error {
	l, err := a.readConfig()
	if err != nil {
		return err
	}
	key, from, withheld, err := a.credential(l.cfg)
	if err != nil {
		return err
	}
	if withheld != "" {
		l.notices = append(l.notices, withheld)
	}
	client, err := a.connect(l.cfg, key)
	if err != nil {
		return err
	}
	a.cfg, a.faults, a.client, a.rules = l.cfg, l.notices, client, l.rules
	a.useKey(key, from)
	return nil
}

// loaded is a configuration that was read, and what is to be said of it.
type loaded struct {
	cfg     *store.Config
	rules   policy.Rules
	notices []string
}

// readConfig reads the configuration of the directory and stores what the
// options say.
func (a *app) readConfig() (*loaded, error) {
	cfg, notices, err := store.Load(a.place, a.trust)
	if err != nil {
		return nil, err
	}
	if g := cfg.Guarded(a.place); g != nil && a.flags.trustProject && (a.agent == nil || a.accepted == a.place.Dir) {
		a.accepted = a.place.Dir
		if cfg, notices, err = store.Load(a.place, g.Accept()); err != nil {
			return nil, err
		}
	}
	rules, err := parseRules(cfg)
	if err != nil {
		return nil, err
	}
	notices = append(notices, unknownClasses(cfg)...)
	for _, s := range a.flags.settings {
		if a.widens(cfg, s) {
			notices = append(notices, s.option+" "+s.value+" is ignored in a run that another run started: no person typed it")
			continue
		}
		if err := cfg.Set(store.TierFlag, s.key, s.value); err != nil {
			return nil, fmt.Errorf("%s: %w", s.option, err)
		}
	}
	if a.cfg != nil {
		if err := cfg.Inherit(a.cfg); err != nil {
			return nil, err
		}
	}
	return &loaded{cfg, rules, notices}, nil
}

// widens says that an option, which in the run of a run no person typed, would
// allow more than the configuration.
func (a *app) widens(cfg *store.Config, s setting) bool {
	if a.depth > 0 && s.key == sandboxKey {
		level, ok := proc.ParseLevel(s.value)
		now, _ := proc.ParseLevel(cfg.Safety.Sandbox)
		return ok && level < now
	}
	if a.depth == 0 || s.key != modeKey {
		return false
	}
	mode, ok := policy.ParseMode(s.value)
	now, _ := policy.ParseMode(cfg.Safety.Mode)
	return ok && (!mode.Narrower(now) || mode == policy.ModeAcceptEdits)
}

// credential picks the key for the configured address. The run of a run gets
// none from a file for an address of its own: the model may have chosen it.
// withheld says so.
func (a *app) credential(cfg *store.Config) (key, from, withheld string, err error) {
	key, from, err = cfg.Credential(a.place, a.flags.apiKey)
	if a.depth > 0 && strings.HasPrefix(from, "api_key") && (a.above == nil || a.above.baseURL != cfg.BaseURL) {
		return "", "", "the key of a file is not sent to " + cfg.BaseURL + ": the run above this one uses another address", nil
	}
	return key, from, "", err
}

// print writes text to standard output.
func (a *app) print(text string) (int, error) {
	_, err := io.WriteString(a.env.Stdout, text)
	switch code := writeCode(err); code {
	case exitFailed:
		return code, fmt.Errorf("write standard output: %w", err)
	default:
		return code, nil
	}
}

// useSyslog puts the system log in the place of standard error.
func (a *app) useSyslog() func() {
	w, err := openSyslog(syslogPath, a.env.Stderr)
	if err != nil {
		a.notices = append(a.notices, "the system log cannot be reached, standard error is used: "+err.Error())
		return func() {}
	}
	a.env.Stderr = w
	return func() { w.Close() }
}

// tuneMemory trades time for memory, as the devices want, unless the person
// chose otherwise.
func tuneMemory(getenv func(string) string) {
	if getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	if getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit(memInfo("/proc/meminfo", "MemTotal:")))
	}
}

// memoryLimit is the soft limit in bytes for a machine with total KiB of
// memory; 0 is not known.
func memoryLimit(total int) int64 {
	if total > 0 && total <= 64<<10 {
		return 24 << 20
	}
	return 48 << 20
}

// memInfo is a line of /proc/meminfo (proc(5)) in KiB, 0 where there is none.
func memInfo(path, name string) int {
	f, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if rest, ok := strings.CutPrefix(lines.Text(), name); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(rest, "kB")))
			return n
		}
	}
	return 0
}
