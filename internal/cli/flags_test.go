package cli

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseArgs(t *testing.T) {
	model := []setting{{"--model", "model", "x"}}
	tests := []struct {
		args string // separated by |
		want flags
	}{
		{"", flags{}},
		{"why|is it", flags{words: []string{"why", "is it"}}},
		{"-m|x|hi", flags{settings: model, words: []string{"hi"}}},
		{"hi|--model|x", flags{settings: model, words: []string{"hi"}}},
		{"--model=x", flags{settings: model}},
		{"-qm|x", flags{quiet: true, settings: model}},
		{"-yq|hi", flags{yes: true, quiet: true, words: []string{"hi"}}},
		{"--|-y|--model", flags{words: []string{"-y", "--model"}}},
		{"--|help", flags{words: []string{"help"}}},
		{"why|help", flags{words: []string{"why", "help"}}},
		{"hi|-", flags{words: []string{"hi"}, dash: true}},
		{"-f|-", flags{dash: true}},
		{"-p", flags{print: true}},
		{"-p|hi", flags{print: true, words: []string{"hi"}}},
		{"-p|-q|hi", flags{print: true, quiet: true, words: []string{"hi"}}},
		{"-pq|hi", flags{print: true, quiet: true, words: []string{"hi"}}},
		{"-p|-", flags{print: true, dash: true}},
		{"--print=hi|there", flags{print: true, words: []string{"hi", "there"}}},
		{"--stream|--no-stream", flags{settings: []setting{{"--stream", "stream", "true"}, {"--no-stream", "stream", "false"}}}},
		{"--max-turns|5", flags{settings: []setting{{"--max-turns", "max_steps", "5"}}}},
		{"--append-system-prompt|- be brief|--append-system-prompt|--be kind", flags{appendPrompt: []string{"- be brief", "--be kind"}}},
		{"--subagent|--agent-mode=plan|hi", flags{subagent: true, agentMode: "plan", words: []string{"hi"}}},
		{"-r|20260529|--here", flags{resume: "20260529", here: true}},
		{"help", flags{topic: "options"}},
		{"help|exit-codes", flags{topic: "exit-codes"}},
	}
	for _, tt := range tests {
		got, err := parseArgs(split(tt.args))
		if err != nil {
			t.Errorf("parseArgs(%q) = error %v", tt.args, err)
		} else if !reflect.DeepEqual(*got, tt.want) {
			t.Errorf("parseArgs(%q) = %+v, want %+v", tt.args, *got, tt.want)
		}
	}
}

func TestParseArgsFaults(t *testing.T) {
	tests := []struct{ args, want string }{
		{"--modle|x", "unknown option --modle; the nearest is --model"},
		{"--MODEL|x", "the nearest is --model"},
		{"--qiet", "the nearest is --quiet"},
		{"--yolo", "unknown option --yolo; --help shows what there is"},
		{"--trust", "--help shows"},
		{"--skip-permissions", "--help shows"},
		{"--dangerously-skip-permision", "the nearest is --dangerously-skip-permissions"},
		{"--list-session", "the nearest is --list-sessions"},
		{"--sandbx", "the nearest is --sandbox"},
		{"-model|x", "unknown option -model; the nearest is --model"},
		{"-v", "unknown option -v; the nearest is -V"},
		{"-qx", "unknown option -x; the nearest is --help"},
		{"-\u00e9", "unknown option -\u00e9; the nearest is --help"},
		{"-t", "unknown option -t; the nearest is --time-limit"},
		{"--model", "--model needs a value: --model NAME"},
		{"-m", "-m needs a value: --model NAME"},
		{"--model|", "--model needs a value"},
		{"--model=", "--model needs a value"},
		{"--print=", "--print needs a value"},
		{"--model|--quiet", "--model needs a value"},
		{"--model|--max-steps=3", "--model needs a value"},
		{"--resume|-q", "--resume needs a value"},
		{"-r|--", "-r needs a value"},
		{"-mq|x", "-m needs its value as a word of its own: -m NAME"},
		{"--quiet=yes", "--quiet takes no value"},
		{"--hooks|off", "--hooks is not there yet"},
		{"--hooks=", "--hooks is not there yet"},
		{"--sandbox=", "--sandbox needs a value"},
		{"hi|--dangerously-skip-permissions|--permission-mode|plan", "exclude each other"},
		{"hi|--dangerously-skip-permissions|--subagent", "exclude each other"},
		{"-p|hi|--permission-mode|acceptEdits", "nobody is asked"},
		{"guard", "the command guard is not there yet"},
		{"doctor|what", "take no prompt"},
		{"--doctor|--status", "take no prompt"},
		{"status|-c", "take no prompt"},
		{"doctor|-p", "take no prompt"},
		{"doctor|--init", "no other task"},
		{"status|--list-sessions", "no other task"},
		{"status|--undo", "no other task"},
		{"--online", "go with --doctor only"},
		{"status|--json", "go with --doctor only"},
		{"status|of wifi", "cluade -- status ..."},
		{"help|me", "help has the topics options and exit-codes"},
		{"--agent-mode|look", `--agent-mode is build or plan, not "look"`},
		{"--append-system-prompt|" + strings.Repeat("x", 4097), "--append-system-prompt is 4097 bytes in all, more than 4096"},
		{"--append-system-prompt|" + strings.Repeat("x", 4000) + "|--append-system-prompt|" + strings.Repeat("x", 95), "4097 bytes in all"},

		{"-c|-r|x", "-c and -r exclude each other"},
		{"-c|--no-session", "-c and -r need a session"},
		{"-c|-p|hi", "-c and -r need a session"},
		{"-r|x|--subagent|hi", "-c and -r need a session"},
		{"--session-file|f|hi", "--session-file goes with -p only"},
		{"-p|--session-file|f|--no-session|hi", "--session-file saves a session"},
		{"-p|--session-file|f|--subagent|hi", "--session-file saves a session"},
		{"--here|hi", "--here goes with -c or -r only"},
		{"--force", "--force goes with --init only"},
		{"--agent-mode|plan|hi", "--agent-mode goes with --subagent only"},
		{"--no-stdin|-", "--no-stdin and a lone - exclude each other"},
	}
	for _, tt := range tests {
		_, err := parseArgs(split(tt.args))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("parseArgs(%q) = error %v, want %q", cut(tt.args), err, tt.want)
		}
	}
}

func TestLaterOptionsAnswer(t *testing.T) {
	for _, o := range new(flags).options() {
		if !o.later {
			continue
		}
		_, err := parseArgs([]string{"--" + o.long, "x"})
		if want := "--" + o.long + " is not there yet"; err == nil || err.Error() != want {
			t.Errorf("parseArgs(--%s) = error %v, want %q", o.long, err, want)
		}
	}
	for _, c := range commands[readyCommands:] {
		if _, err := parseArgs([]string{c}); err == nil || !strings.Contains(err.Error(), "the command "+c+" is not there yet") {
			t.Errorf("parseArgs(%s) = error %v", c, err)
		}
	}
}

func count(is ...bool) (n int) {
	for _, yes := range is {
		if yes {
			n++
		}
	}
	return n
}

func TestOptionTable(t *testing.T) {
	seen := map[string]bool{}
	for _, o := range new(flags).options() {
		for _, name := range []string{o.long, string(rune(o.short))} {
			if name != "\x00" && seen[name] {
				t.Errorf("option %q stands twice", name)
			}
			seen[name] = true
		}
		switch {
		case o.later:
		case o.help == "":
			t.Errorf("--%s has no help", o.long)
		case count(o.key != "", o.on != nil, o.to != nil, o.set != nil) != 1:
			t.Errorf("--%s needs one place for its value", o.long)
		case o.key != "" && (o.value == "") != (o.fixed != ""):
			t.Errorf("--%s needs either a value or a fixed one", o.long)
		}
	}
}

func FuzzParseArgs(f *testing.F) {
	f.Add("-qm|x|--print=hi|--|-")
	f.Add("--append-system-prompt|x|-\xff")
	f.Fuzz(func(t *testing.T, args string) {
		got, err := parseArgs(split(args))
		if got == nil && err == nil {
			t.Errorf("parseArgs(%q) = nothing at all", args)
		}
	})
}

func split(args string) []string {
	if args == "" {
		return nil
	}
	return strings.Split(args, "|")
}

func cut(s string) string { return s[:min(len(s), 60)] }
