package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"cluade/internal/policy"
	"cluade/store"
)

func TestAttended(t *testing.T) {
	tty := newPty(t, 80).tty
	pipe, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer w.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	tests := []struct {
		name   string
		stdin  *os.File
		stderr io.Writer
		flags  flags
		depth  int
		want   bool
	}{
		{name: "a terminal", stdin: tty, stderr: tty, want: true},
		{name: "a terminal, progress to a file", stdin: tty, stderr: null, want: true},
		{name: "quiet", stdin: tty, stderr: tty, flags: flags{quiet: true}, want: true},
		{name: "print", stdin: tty, stderr: tty, flags: flags{print: true}},
		{name: "subagent", stdin: tty, stderr: tty, flags: flags{subagent: true}},
		{name: "system log", stdin: tty, stderr: tty, flags: flags{syslog: true}},
		{name: "a run's run", stdin: tty, stderr: tty, depth: 1},
		{name: "null device", stdin: null, stderr: tty},
		{name: "nothing", stderr: tty},
		{name: "a pipe, quiet", stdin: pipe, stderr: tty, flags: flags{quiet: true}},
		{name: "a pipe, no terminal", stdin: pipe, stderr: null},
	}
	for _, tt := range tests {
		a := &app{env: Env{Stdin: tt.stdin, Stderr: tt.stderr}, flags: &tt.flags, depth: tt.depth}
		if got := a.attended(); got != tt.want {
			t.Errorf("%s: attended() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestProjectRoot(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	if got := projectRoot("/"); got != "/" {
		t.Errorf("projectRoot(/) = %q", got)
	}
	if err := os.WriteFile(filepath.Join(root, ".git"), []byte("gitdir: elsewhere\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := projectRoot(deep); got != root {
		t.Errorf("projectRoot(%q) = %q, want %q", deep, got, root)
	}
}

// TestKeysReachTheirParts has one row a key: with it at a value that is not its
// default, one field of what the parts are given is as the row says, and without
// it is not.
func TestKeysReachTheirParts(t *testing.T) {
	tests := []struct{ config, part, want string }{
		{`"base_url":"http://127.0.0.1:9/v1/"`, "Provider.BaseURL", "http://127.0.0.1:9/v1"},
		{`"model":"m"`, "Provider.Model", "m"},
		{`"stream":false`, "Provider.Stream", "false"},
		{`"request_timeout":77`, "Provider.RequestTimeout", "1m17s"},
		{`"first_byte_timeout":78`, "Provider.FirstByteTimeout", "1m18s"},
		{`"idle_timeout":79`, "Provider.IdleTimeout", "1m19s"},
		{`"retries":1`, "Provider.Retries", "1"},
		{`"thinking":false`, "Provider.Thinking", "false"},
		{`"thinking":false`, "Provider.ThinkingSet", "true"},
		{`"reasoning_effort":"low"`, "Provider.Effort", "low"},
		{`"reasoning_effort":"low"`, "Provider.EffortSet", "true"},
		{`"max_tokens":99`, "Provider.MaxTokens", "99"},
		{`"max_tokens":99`, "Provider.MaxTokensSet", "true"},
		{`"extra_body":{"a":1}`, "Provider.ExtraBody", `{"a":1}`},
		{`"headers":{"X-A":"b"}`, "Provider.Headers", "[[X-A b]]"},
		{`"text_tools":false`, "Provider.TextTools", "false"},
		{`"ca_file":"/ca"`, "Provider.CAFile", "/ca"},
		{`"insecure":true`, "Provider.Insecure", "true"},
		{`"provider":{"thinking":false}`, "Provider.Quirks", `{"thinking":false}`},
		{`"provider":{"reasoning_effort":false}`, "Provider.Quirks", `{"reasoning_effort":false}`},
		{`"provider":{"max_tokens_field":"max_completion_tokens"}`, "Provider.Quirks", `{"max_tokens_field":"max_completion_tokens"}`},
		{`"provider":{"stream_usage":false}`, "Provider.Quirks", `{"stream_usage":false}`},
		{`"provider":{"replay_reasoning":false}`, "Provider.Quirks", `{"replay_reasoning":false}`},

		{`"tools":["read"]`, "Policy.Toolset", "[read]"},
		{`"write_scope":"project"`, "Policy.ProjectScope", "true"},
		{`"danger_allow":["power"]`, "Policy.Danger.Exempt", "[power]"},
		{`"danger_remote":false`, "Policy.Danger.SkipRemote", "true"},
		{`"permission_mode":"plan"`, "Policy.Mode", "plan"},
		{`"permissions":{"bash":"ask"}`, "Bash", "ask"},

		{`"tool_result_bytes":5000`, "Tools.Keep", "5000"},
		{`"bash_timeout":31`, "Tools.Timeout", "31s"},
		{`"sessions_dir":"/s"`, "Tools.Saved", "/s"},
		{`"sandbox":"off"`, "Tools.Sandbox.Level", "off"},
		{`"sandbox_required":true`, "Tools.MustConfine", "true"},
		{`"limits":{"procs":51}`, "Tools.Sandbox.Procs", "51"},
		{`"limits":{"file_mb":52}`, "Tools.Sandbox.FileMB", "52"},
		{`"limits":{"cpu_s":53}`, "Tools.Sandbox.CPU", "53"},
		{`"limits":{"mem_mb":54}`, "Tools.Sandbox.MemMB", "54"},
		{`"subagent_timeout":55`, "Tools.Subagent.Timeout", "55s"},

		{`"web":{"user_agent":"u"}`, "Tools.Web.UserAgent", "u"},
		{`"web":{"search":"brave"}`, "Tools.Web.Search", "brave"},
		{`"web":{"search_url":"http://127.0.0.1/s"}`, "Tools.Web.SearchURL", "http://127.0.0.1/s"},
		{`"web":{"search_key_env":"SEARCH_KEY"}`, "Tools.Web.SearchKey", "key of the search"},
		{`"web":{"fetch_timeout":61}`, "Tools.Web.Timeout", "1m1s"},
		{`"web":{"fetch_bytes":6200}`, "Tools.Web.Bytes", "6200"},

		{`"ssh":{"identity_files":["/k"]}`, "Tools.SSH.IdentityFiles", "[/k]"},
		{`"ssh":{"known_hosts":"/h"}`, "Tools.SSH.KnownHosts", "/h"},
		{`"ssh":{"config":"/c"}`, "Tools.SSH.Config", "/c"},
		{`"ssh":{"connect_timeout":63}`, "Tools.SSH.ConnectTimeout", "1m3s"},
		{`"ssh":{"timeout":64}`, "Tools.SSH.Timeout", "1m4s"},
		{`"ssh":{"strict":true}`, "Tools.SSH.Strict", "true"},
		{`"ssh":{"legacy":true}`, "Tools.SSH.Legacy", "true"},

		{`"max_steps":7`, "Agent.MaxSteps", "7"},
		{`"max_total_tokens":8`, "Agent.MaxTokens", "8"},
		{`"context_limit":9000`, "Window", "9000"},
		{`"tool_result_bytes":5000`, "Agent.ResultBytes", "5000"},
		{`"compact_threshold":0.5`, "Agent.CompactAt", "0.5"},
		{`"hard_compact_threshold":0.9`, "Agent.HardCompactAt", "0.9"},
		{`"compaction":false`, "Agent.NoCompaction", "true"},
		{`"repeat_threshold":11`, "Agent.RepeatLimit", "11"},
		{`"error_threshold":12`, "Agent.ErrorLimit", "12"},
		{`"poll_threshold":13`, "Agent.PollLimit", "13"},
	}
	plain := wired(t, "{}")
	for _, tt := range tests {
		if got := wired(t, "{"+tt.config+"}").at(tt.part); got != tt.want {
			t.Errorf("{%s}: %s = %s, want %s", tt.config, tt.part, got, tt.want)
		}
		if got := plain.at(tt.part); got == tt.want {
			t.Errorf("without %s: %s = %s too", tt.config, tt.part, got)
		}
	}
}

// wiring is what the parts of a run are given.
type wiring struct {
	Provider, Policy, Tools, Agent any
	Bash                           string // its level
	Window                         int
}

// wired are the parts of a run with this configuration.
func wired(t *testing.T, config string) wiring {
	t.Helper()
	w := newWorld(t)
	delete(w.vars, "CLUADE_BASE_URL")
	w.vars["SEARCH_KEY"] = "key of the search"
	w.vars["SSH_AUTH_SOCK"] = "/agent"
	w.config(config)
	a := w.app(nil)
	o := a.agentOptions()
	return wiring{a.providerOptions(a.cfg, "the key"), *a.policy, *a.tools, o, a.policy.Levels["bash"].Verdict.String(), o.ContextLimit()}
}

// app is a run that has begun a session, with this terminal, if any.
func (w *world) app(tty *os.File) *app {
	w.t.Helper()
	getenv := func(name string) string { return w.vars[name] }
	env := Env{Stdin: tty, Stdout: io.Discard, Stderr: io.Discard, Getenv: getenv, Version: "test"}
	a := &app{env: env, flags: &flags{noSession: true, words: []string{"hi"}}, place: store.FindPlace(w.dir, getenv)}
	a.out = newOutput(env, outputOptions{Quiet: true})
	if err := a.configure(); err != nil {
		w.t.Fatal(err)
	}
	a.newSession()
	return a
}

// at is a field, named by its way from the top.
func (w wiring) at(path string) string {
	v := reflect.ValueOf(w)
	for _, name := range strings.Split(path, ".") {
		if v.Kind() == reflect.Interface {
			v = v.Elem()
		}
		v = v.FieldByName(name)
	}
	return fmt.Sprint(v.Interface())
}

// TestPartsBesidesKeys are what is given to the parts whatever the configuration
// says of it.
func TestPartsBesidesKeys(t *testing.T) {
	w := newWorld(t)
	w.vars["SSH_AUTH_SOCK"] = "/agent"
	w.config(`{"permissions":{"deny":["remote_bash(bad)","web_fetch(domain:bad)"]}}`)
	a := w.app(nil)
	if s := a.ssh(); s.Agent != "/agent" || s.KnownHosts != filepath.Join(w.home, ".cluade", "known_hosts") {
		t.Errorf("agent %q, known hosts %q", s.Agent, s.KnownHosts)
	}
	over := policy.Subject{Tool: "remote_bash", Effect: policy.Execute, Host: "root@good:22", Command: "true", Via: []string{"root@bad:22"}}
	if got := a.ssh().Met(over, over).Verdict; got != policy.Deny {
		t.Errorf("a jump over a refused host: %v, want deny", got)
	}
	to := policy.Subject{Tool: "web_fetch", Effect: policy.Network, URL: "http://bad/", Host: "bad"}
	if got := a.web().Met(to, to).Verdict; got != policy.Deny {
		t.Errorf("a redirect to a refused host: %v, want deny", got)
	}
	if a.web().TLS == nil {
		t.Error("pages are fetched without the further roots")
	}
}

// TestLockout has commands that could cut the person off judged where they came
// over ssh and where nobody can be asked.
func TestLockout(t *testing.T) {
	if _, err := os.Stat(openWrtFile); err == nil {
		t.Skip("on a router it always matters")
	}
	tty := newPty(t, 80).tty
	for _, tt := range []struct {
		variable string
		tty      *os.File
		want     bool
	}{
		{"", tty, false},
		{"SSH_CONNECTION", tty, true},
		{"SSH_TTY", tty, true},
		{"", nil, true},
	} {
		w := newWorld(t)
		w.vars[tt.variable] = "set"
		a := w.app(tt.tty)
		if got := a.newPolicy(a.session).Danger.Lockout; got != tt.want {
			t.Errorf("with %q, attended %v: lockout %v, want %v", tt.variable, tt.tty != nil, got, tt.want)
		}
	}
}
