package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"cluade/internal/policy"
)

// maxAppend is how many bytes of --append-system-prompt are taken, the blank
// lines between them included.
const maxAppend = 4096

// flags is the parsed command line. Options that overrule the configuration
// are kept as settings, to be stored once the files were read.
type flags struct {
	settings []setting
	words    []string // the prompt's, without a lone "-"
	dash     bool     // a lone "-": read standard input to its end
	topic    string   // of the command help; "" without it

	apiKey        string
	resume        string
	undoID        string // of undo; "" is the last session
	deleteID      string // of the session to delete
	cwd           string
	sessionFile   string
	promptFile    string
	agentMode     string
	appendPrompt  []string
	images        []string
	cont          bool
	here          bool
	list          bool
	undo          bool
	yes           bool
	init          bool
	force         bool
	showJSON      bool
	help          bool
	version       bool
	quiet         bool
	noSession     bool
	subagent      bool
	print         bool
	noStdin       bool
	failOnRefusal bool
	ascii         bool
	syslog        bool
	noProject     bool
	status        bool
	doctor        bool
	online        bool
	json          bool
	dangercheck   bool         // the command
	tree          *treeCommand // skillimport or marketplace; nil without one

	skipPermissions bool
	trustProject    bool
}

// setting is a configuration value that an option gave.
type setting struct{ option, key, value string }

// quietRun says that only the answer goes to stdout, unattendedRun that
// nobody will be asked, unsaved that no session is kept by itself.
func (f *flags) quietRun() bool      { return f.quiet || f.print || f.subagent }
func (f *flags) unattendedRun() bool { return f.print || f.subagent }
func (f *flags) unsaved() bool       { return f.noSession || f.print || f.subagent }

// option is one option of the command line. Their table is what parsing,
// --help and the suggestion for a misspelt option are made of.
type option struct {
	short    byte   // 0: none
	long     string // without the dashes
	value    string // name of the value; "" takes none
	optional bool   // the value may be absent, and only --long=value gives it
	key      string // configuration key that the value is stored under
	fixed    string // what is stored there when the option takes no value
	on       *bool  // set to true
	to       *string
	set      func(f *flags, value string) error
	help     string
	later    bool // known, but not there yet
}

// options is that table, with the fields of f. It is built where it is needed,
// a few times in a run.
func (f *flags) options() []option {
	return append(append(append(f.askOptions(), f.runOptions()...), f.otherOptions()...), laterOptions()...)
}

// askOptions say what is asked, of whom, and in which session.
func (f *flags) askOptions() []option {
	return []option{
		{short: 'm', long: "model", value: "NAME", key: "model",
			help: "model (default deepseek-v4-pro)"},
		{long: "base-url", value: "URL", key: "base_url",
			help: "address of the API (default https://api.deepseek.com/v1)"},
		{long: "api-key", value: "KEY", to: &f.apiKey,
			help: "key of the API; other users of this machine can see it in the process list, OPENAI_API_KEY and the configuration they cannot"},
		{short: 'c', long: "continue", on: &f.cont,
			help: "go on with the last session"},
		{short: 'r', long: "resume", value: "ID", to: &f.resume,
			help: "go on with the session of this id, of a unique prefix of it, or of this name (/save)"},
		{long: "here", on: &f.here,
			help: "with -c or -r: stay in the present directory"},
		{long: "list-sessions", on: &f.list,
			help: "list the saved sessions"},
		{long: "delete-session", value: "ID", to: &f.deleteID,
			help: "delete a saved session after a question; with -y without one"},
		{long: "undo", value: "ID", optional: true, set: func(f *flags, v string) error { f.undo, f.undoID = true, v; return nil },
			help: "undo what the last turn of this session, or of the last one, did to files"},
		{long: "no-session", on: &f.noSession,
			help: "save no session"},
		{long: "session-file", value: "PATH", to: &f.sessionFile,
			help: "with -p: go on with the session in this file if it is there, and save to it"},
		{short: 'p', long: "print", value: "PROMPT", optional: true, set: setPrint,
			help: "answer and end: --quiet, --no-session, and nobody is asked"},
		{short: 'q', long: "quiet", on: &f.quiet,
			help: "final answer on stdout, everything else on stderr"},
		{short: 'f', long: "prompt-file", value: "FILE", set: setPromptFile,
			help: "text of a file before the words of the prompt"},
		{long: "image", value: "FILE", set: func(f *flags, v string) error { f.images = append(f.images, v); return nil },
			help: "attach a png, jpeg, gif or webp image of at most 5 MiB; repeatable"},
		{long: "no-stdin", on: &f.noStdin,
			help: "do not read standard input"},
	}
}

// runOptions say what a run may do, and how far.
func (f *flags) runOptions() []option {
	return []option{
		{short: 'y', long: "yes", on: &f.yes,
			help: "run bash, remote_bash, write and edit without a question; what is denied stays denied"},
		{long: "permission-mode", value: "MODE", key: modeKey,
			help: "default, ask, accept-edits or plan"},
		{long: "dangerously-skip-permissions", on: &f.skipPermissions,
			help: "ask nothing in this run but what is dangerous and what a rule asks"},
		{long: "sandbox", value: "LEVEL", key: sandboxKey,
			help: "confinement of commands: off, limits (the default) or confined"},
		{long: "fail-on-refusal", on: &f.failOnRefusal,
			help: "exit code 3 when a call was refused"},
		{long: "max-steps", value: "N", key: "max_steps",
			help: "most steps of a turn (default 100)"},
		{long: "max-turns", value: "N", key: "max_steps",
			help: "the same as --max-steps"},
		{long: "max-total-tokens", value: "N", key: "max_total_tokens",
			help: "stop when the session has used this many tokens"},
		{long: "time-limit", value: "DUR", key: "time_limit",
			help: "stop a turn after this time, such as 90s or 10m"},
		{long: "stream", key: "stream", fixed: "true",
			help: "ask for the answer in pieces (the default)"},
		{long: "no-stream", key: "stream", fixed: "false",
			help: "ask for the answer in one piece"},
		{long: "append-system-prompt", value: "TEXT", set: setAppend,
			help: "add to the system message; repeatable, 4096 bytes in all"},
		{long: "no-project-context", on: &f.noProject,
			help: "leave the project's AGENTS.md unread; the user's own is still read"},
		{long: "no-bundled-skills", key: bundledKey, fixed: "false",
			help: "leave out the skills that come with the program"},
		{long: "trust-project", on: &f.trustProject,
			help: "let the project's configuration set in this run what needs your trust"},
		{long: "subagent", on: &f.subagent,
			help: "run as a part of another run: --quiet, --no-session, and nobody is asked"},
		{long: "agent-mode", value: "MODE", set: setAgentMode,
			help: "with --subagent: build (the default), or plan, which only looks"},
	}
}

// otherOptions say where it runs, what is shown, and what is done in its place.
func (f *flags) otherOptions() []option {
	return []option{
		{long: "cwd", value: "DIR", to: &f.cwd,
			help: "change to this directory before anything else"},
		{long: "status", on: &f.status,
			help: "tell how a run would stand here, and end"},
		{long: "doctor", on: &f.doctor,
			help: "look for faults of configuration and device; exit code 1 if there is one"},
		{long: "online", on: &f.online,
			help: "with --doctor: ask the model's server too"},
		{long: "json", on: &f.json,
			help: "with --doctor: for programs"},
		{long: "init", on: &f.init,
			help: "write the default configuration and end"},
		{long: "force", on: &f.force,
			help: "with --init: replace the file that is there"},
		{long: "color", value: "WHEN", key: "color",
			help: "auto (the default), always or never"},
		{long: "ascii", on: &f.ascii,
			help: "show no more than ASCII characters"},
		{long: "syslog", on: &f.syslog,
			help: "progress and errors to the system log in place of stderr"},
		{long: "show-tools-json", on: &f.showJSON,
			help: "show each reply raw and its calls decoded, on stderr"},
		{short: 'V', long: "version", on: &f.version,
			help: "version, target and modules"},
		{short: 'h', long: "help", on: &f.help,
			help: "this text"},
	}
}

func laterOptions() []option {
	return []option{
		{long: "hooks", later: true},
		{long: "no-veil", later: true},
		{long: "output-format", later: true},
		{long: "input-format", later: true},
		{long: "include-partial-messages", later: true},
		{long: "allowedTools", later: true},
		{long: "disallowedTools", later: true},
		{long: "tools", later: true},
		{long: "mcp-config", later: true},
	}
}

func setPrint(f *flags, v string) error {
	f.print = true
	if v != "" {
		f.words = append(f.words, v)
	}
	return nil
}

func setPromptFile(f *flags, v string) error {
	if v == "-" {
		f.dash = true
		return nil
	}
	f.promptFile = v
	return nil
}

func setAppend(f *flags, v string) error {
	f.appendPrompt = append(f.appendPrompt, v)
	if n := len(strings.Join(f.appendPrompt, "\n\n")); n > maxAppend {
		return fmt.Errorf("--append-system-prompt is %d bytes in all, more than %d", n, maxAppend)
	}
	return nil
}

func setAgentMode(f *flags, v string) error {
	if v != "build" && v != "plan" {
		return fmt.Errorf("--agent-mode is build or plan, not %q", v)
	}
	f.agentMode = v
	return nil
}

// commands are the words that begin no prompt when they come first. Those in
// front are options without their dashes, those at the end not there yet.
var commands = []string{
	"doctor", "status", "help", "dangercheck", "skillimport", "marketplace", "acp", "guard", "confirm", "completion",
	"shell-init", "fix",
}

// How many of them are options, and are there.
const (
	optionCommands = 2
	readyCommands  = 6
)

// parseArgs reads the command line. An error is one sentence about it.
func parseArgs(args []string) (*flags, error) {
	f := &flags{}
	if len(args) > 0 {
		switch i := slices.Index(commands, args[0]); {
		case i >= optionCommands:
			return parseCommand(args[0], args[1:])
		case i >= 0:
			args, _ = f.long(args[0], args[1:])
		}
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		var err error
		switch {
		case arg == "--":
			for _, w := range args {
				f.word(w)
			}
			args = nil
		case strings.HasPrefix(arg, "--"):
			args, err = f.long(arg[2:], args)
		case len(arg) > 1 && arg[0] == '-':
			args, err = f.bundle(arg[1:], args)
		default:
			f.word(arg)
		}
		if err != nil {
			return nil, err
		}
	}
	if f.undo && f.undoID == "" && len(f.words) == 1 {
		f.undoID, f.words = f.words[0], nil
	}
	return f, f.conflict()
}

func parseCommand(name string, args []string) (*flags, error) {
	switch {
	case name == "dangercheck" && len(args) > 0:
		return nil, errors.New("dangercheck takes no argument: it reads commands from standard input, one a line (for a prompt that begins with this word: cluade -- dangercheck ...)")
	case name == "dangercheck":
		return &flags{dangercheck: true}, nil
	case name == "skillimport", name == "marketplace":
		c, err := parseTree(name, args)
		return &flags{tree: c}, err
	case name != "help":
		return nil, fmt.Errorf("the command %s is not there yet (for a prompt that begins with this word: cluade -- %s ...)", name, name)
	}
	topic := strings.Join(args, " ")
	switch topic {
	case "":
		topic = "options"
	case "options", "exit-codes":
	default:
		return nil, fmt.Errorf("help has the topics options and exit-codes (for a prompt that begins with this word: cluade -- help ...)")
	}
	return &flags{topic: topic}, nil
}

// word takes one word of the prompt.
func (f *flags) word(w string) {
	if w == "-" {
		f.dash = true
		return
	}
	f.words = append(f.words, w)
}

// long takes an option written with two dashes; it returns what of the
// arguments is left.
func (f *flags) long(arg string, rest []string) ([]string, error) {
	name, value, given := strings.Cut(arg, "=")
	o := f.option(func(o *option) bool { return o.long == name })
	switch {
	case o == nil:
		return nil, fmt.Errorf("unknown option --%s; %s", name, f.meant(name))
	case given && o.value == "" && !o.later:
		return nil, fmt.Errorf("--%s takes no value", name)
	case given && value == "" && !o.later:
		return nil, missing("--"+name, o)
	case given || o.value == "" || o.optional:
		return rest, f.take(o, value)
	}
	return f.takeNext(o, "--"+name, rest)
}

// bundle takes the letters behind a single dash. Only the last of them may
// need a value.
func (f *flags) bundle(letters string, rest []string) ([]string, error) {
	name, _, _ := strings.Cut(letters, "=")
	if len(name) > 1 && f.option(func(o *option) bool { return o.long == name }) != nil {
		return nil, fmt.Errorf("unknown option -%s; the nearest is --%s", name, name)
	}
	for i := 0; i < len(letters); i++ {
		c := letters[i]
		o := f.option(func(o *option) bool { return o.short == c })
		last := i == len(letters)-1
		switch {
		case o == nil:
			return nil, fmt.Errorf("unknown option -%s; the nearest is %s", firstRune(letters[i:]), f.nearestShort(c))
		case o.value == "" || o.optional:
			if err := f.take(o, ""); err != nil {
				return nil, err
			}
		case !last:
			return nil, fmt.Errorf("-%c needs its value as a word of its own: -%c %s", c, c, o.value)
		default:
			return f.takeNext(o, "-"+string(c), rest)
		}
	}
	return rest, nil
}

// takeNext takes an option whose value is the next argument.
func (f *flags) takeNext(o *option, spelt string, rest []string) ([]string, error) {
	if len(rest) == 0 || rest[0] == "" || f.isOption(rest[0]) {
		return nil, missing(spelt, o)
	}
	return rest[1:], f.take(o, rest[0])
}

func (f *flags) take(o *option, value string) error {
	switch {
	case o.later:
		return fmt.Errorf("--%s is not there yet", o.long)
	case o.key != "":
		if o.value == "" {
			value = o.fixed
		}
		f.settings = append(f.settings, setting{"--" + o.long, o.key, value})
	case o.on != nil:
		*o.on = true
	case o.to != nil:
		*o.to = value
	default:
		return o.set(f, value)
	}
	return nil
}

func missing(spelt string, o *option) error {
	return fmt.Errorf("%s needs a value: --%s %s", spelt, o.long, o.value)
}

// isOption says that arg is an option of the table, and so not the value of
// the one before it.
func (f *flags) isOption(arg string) bool {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, _ = strings.Cut(name, "=")
		return name == "" || f.option(func(o *option) bool { return o.long == name }) != nil
	}
	return len(arg) == 2 && arg[0] == '-' && f.option(func(o *option) bool { return o.short == arg[1] }) != nil
}

func (f *flags) option(match func(*option) bool) *option {
	all := f.options()
	for i := range all {
		if match(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

func (f *flags) optionNames() []string {
	all := f.options()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].long
	}
	return names
}

// mode is the last --permission-mode, "" without one.
func (f *flags) mode() (word string) {
	for _, s := range f.settings {
		if s.key == modeKey {
			word = s.value
		}
	}
	return word
}

func modeIs(word string, m policy.Mode) bool {
	got, ok := policy.ParseMode(word)
	return ok && got == m
}

// conflict returns the first contradiction between options.
func (f *flags) conflict() error {
	resumes := f.cont || f.resume != ""
	switch {
	case f.cont && f.resume != "":
		return errors.New("-c and -r exclude each other")
	case resumes && f.unsaved():
		return errors.New("-c and -r need a session, which --no-session, -p and --subagent do without (a script names its conversation with -p --session-file)")
	case f.sessionFile != "" && !f.print:
		return errors.New("--session-file goes with -p only")
	case f.sessionFile != "" && (f.noSession || f.subagent):
		return errors.New("--session-file saves a session, which --no-session and --subagent do not")
	case f.undo && (resumes || f.unsaved() || f.words != nil || f.deleteID != ""):
		return errors.New("--undo takes the id of a session and nothing else")
	case f.deleteID != "" && (resumes || f.unsaved() || f.words != nil):
		return errors.New("--delete-session takes the id of a session, -y, and nothing else")
	case (f.doctor || f.status) && (resumes || f.unsaved() || f.words != nil || f.dash || f.doctor && f.status || f.init || f.list || f.undo || f.deleteID != ""):
		return errors.New("doctor and status take no prompt, no session and no other task (for a prompt that begins with such a word: cluade -- status ...)")
	case (f.online || f.json) && !f.doctor:
		return errors.New("--online and --json go with --doctor only")
	case f.here && !resumes:
		return errors.New("--here goes with -c or -r only")
	case f.force && !f.init:
		return errors.New("--force goes with --init only")
	case f.agentMode != "" && !f.subagent:
		return errors.New("--agent-mode goes with --subagent only")
	case f.skipPermissions && f.mode() == "plan":
		return errors.New("--dangerously-skip-permissions asks nothing, and the mode plan runs nothing: they exclude each other")
	case f.skipPermissions && f.subagent:
		return errors.New("--subagent and --dangerously-skip-permissions exclude each other")
	case f.print && modeIs(f.mode(), policy.ModeAcceptEdits):
		return errors.New("--permission-mode accept-edits asks, and with -p nobody is asked")
	case f.noStdin && f.dash:
		return errors.New("--no-stdin and a lone - exclude each other")
	}
	return nil
}
