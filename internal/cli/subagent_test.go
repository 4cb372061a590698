package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/store"
)

// runFor is a run in a new home, as far as subagents are concerned.
func runFor(t *testing.T, config string, vars map[string]string, args ...string) *app {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".cluade"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".cluade", "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := parseArgs(args)
	if err != nil {
		t.Fatal(err)
	}
	getenv := func(name string) string {
		if name == "HOME" {
			return home
		}
		return vars[name]
	}
	a := &app{flags: f, env: Env{Getenv: getenv}, place: store.FindPlace(home, getenv), session: &chat.Session{}}
	for name, value := range vars {
		a.env.Environ = append(a.env.Environ, name+"="+value)
	}
	if err := a.configure(); err != nil {
		t.Fatal(err)
	}
	a.policy = &policy.Policy{Levels: policy.Defaults()}
	return a
}

func TestSubagentArgs(t *testing.T) {
	const models = `"models":{"local":{"model":"qwen3","base_url":"http://127.0.0.1:11434/v1"},"big":{"model":"large"}}`
	tests := []struct{ config, args, want string }{
		{`{}`, "", "--subagent --agent-mode plan --model=deepseek-v4-pro --base-url=https://api.deepseek.com/v1 --max-steps 100"},
		{`{"subagent_model":"small","subagent_max_steps":7}`, "--base-url http://x/v1 --no-stream --no-project-context",
			"--subagent --agent-mode plan --model=small --base-url=http://x/v1 --max-steps 7 --no-stream --no-project-context"},
		{`{"max_total_tokens":500}`, "", "--subagent --agent-mode plan --model=deepseek-v4-pro --base-url=https://api.deepseek.com/v1 --max-steps 100 --max-total-tokens 400"},
		{`{"max_total_tokens":50}`, "", "--subagent --agent-mode plan --model=deepseek-v4-pro --base-url=https://api.deepseek.com/v1 --max-steps 100 --max-total-tokens 1"},
		// A name of the models object stays a name: the subagent finds address and key for itself.
		{`{` + models + `}`, "-m local", "--subagent --agent-mode plan --model=local --max-steps 100"},
		{`{` + models + `,"subagent_model":"local"}`, "-m big", "--subagent --agent-mode plan --model=local --max-steps 100"},
		{`{` + models + `}`, "-m big", "--subagent --agent-mode plan --model=big --base-url=https://api.deepseek.com/v1 --max-steps 100"},
		{`{` + models + `}`, "-m local --base-url http://x", "--subagent --agent-mode plan --model=local --base-url=http://x --max-steps 100"},
		{`{` + models + `}`, "-m local --api-key K", "--subagent --agent-mode plan --model=local --base-url=http://127.0.0.1:11434/v1 --max-steps 100"},
	}
	for _, tt := range tests {
		a := runFor(t, tt.config, nil, strings.Fields(tt.args)...)
		a.session.Total = chat.Usage{Prompt: 90, Completion: 10}
		got := a.subagentArgs("plan")
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s, %s: subagentArgs = %q, want %q", tt.config, tt.args, got, tt.want)
		}
		if f, err := parseArgs(got); err != nil || !f.subagent || f.agentMode != "plan" || f.words != nil {
			t.Errorf("%q cannot be parsed: %v", got, err)
		}
	}
}

func TestSubagentKey(t *testing.T) {
	tests := []struct {
		name, config, args string
		vars               map[string]string
		want               string // the key variables of the subagent
	}{
		{"none", `{}`, "", nil, ""},
		{"of a file, which it reads itself", `{"api_key":"FILE"}`, "", nil, ""},
		{"of the environment", `{}`, "", map[string]string{"OPENAI_API_KEY": "E"}, "OPENAI_API_KEY=E"},
		{"withheld from commands", `{"scrub_env":["OPENAI_API_KEY"]}`, "", map[string]string{"OPENAI_API_KEY": "E"}, "OPENAI_API_KEY=E"},
		{"as an option", `{"scrub_env":["CLUADE_API_KEY"]}`, "--api-key F", map[string]string{"CLUADE_API_KEY": "E"}, "CLUADE_API_KEY=F"},
		{"of an entry", `{"scrub_env":["K"],"models":{"m":{"model":"x","base_url":"http://x","api_key_env":"K"}},"subagent_model":"m"}`, "",
			map[string]string{"K": "E"}, "K=E"},
	}
	for _, tt := range tests {
		a := runFor(t, tt.config, tt.vars, strings.Fields(tt.args)...)
		var got []string
		for _, v := range a.subagentVars() {
			if name, _, _ := strings.Cut(v, "="); strings.HasSuffix(name, "API_KEY") || name == "K" {
				got = append(got, v)
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: the subagent gets %q, want %q", tt.name, got, tt.want)
		}
		if !slices.Contains(a.subagentVars(), "CLUADE_REPORT=3") || slices.Contains(a.childVars(), "CLUADE_REPORT=3") {
			t.Errorf("%s: the report is not for the subagent alone", tt.name)
		}
	}
}

func TestBelow(t *testing.T) {
	out, _, stderr := view(false, outputOptions{Color: "always"})
	out.Below("step\x1b[2J\rtwo\n")
	if got, want := stderr.String(), "\x1b[2m  | step two\x1b[0m\n"; got != want {
		t.Errorf("Below shows %q, want %q", got, want)
	}
}
