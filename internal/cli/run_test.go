package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestExitCodes(t *testing.T) {
	loop := make([]reply, 12)
	for i := range loop {
		loop[i] = reply{tool: "bash", args: `{"command":"true"}`}
	}
	denied := reply{tool: "bash", args: `{"command":"true"}`}
	tests := []struct {
		name    string
		replies []reply
		args    string
		config  string
		code    int
		out     string
		errout  string
	}{
		{name: "answer", code: 0, out: "done\n"},
		{name: "401", replies: []reply{{status: 401, body: `{"error":{"message":"bad key"}}`}}, code: 1, errout: `(?s)\[provider error: .*401.*bad key.*hint: .*OPENAI_API_KEY`},
		{name: "404", replies: []reply{{status: 404, body: `{"error":{"message":"no model"}}`}}, args: "-m|small", code: 1, errout: `(?s)no model.*hint: .*small`},
		{name: "empty", replies: []reply{{text: ""}, {text: ""}, {text: ""}}, code: 1, errout: `reply is empty`},
		{name: "loop", replies: loop, code: 4, errout: `(?s)\[stopped: .*bash.*hint: cluade -c continue goes on`},
		{name: "steps", replies: loop, args: "--max-steps|1", code: 4, errout: `(?s)\[stopped: .*1.*hint: --max-steps.*; cluade -c continue goes on\n`},
		{name: "nothing saved", replies: loop, args: "--max-steps|1|--no-session", code: 4, errout: `raises the limit\n`},
		{name: "turns", replies: loop, args: "--max-turns|1", code: 4, errout: `hint: --max-steps`},
		{name: "tokens", replies: loop, args: "--max-total-tokens|50", code: 4, errout: `hint: --max-total-tokens`},
		{name: "time", replies: []reply{{tool: "bash", args: `{"command":"sleep 30"}`}}, args: "--time-limit|1s", code: 4, errout: `hint: --time-limit`},
		{name: "refused", replies: []reply{denied}, config: `{"permissions":{"bash":"deny"}}`, code: 0, out: "done\n"},
		{name: "refused and told", replies: []reply{denied}, config: `{"permissions":{"bash":"deny"}}`, args: "--fail-on-refusal", code: 3, out: "done\n"},
		{name: "none refused", args: "--fail-on-refusal", code: 0, out: "done\n"},
		{name: "nobody to ask", replies: []reply{denied}, config: `{"permissions":{"bash":"ask"}}`, args: "--fail-on-refusal", code: 3, out: "done\n"},
		{name: "yes", replies: []reply{denied}, config: `{"permissions":{"bash":"ask"}}`, args: "--fail-on-refusal|-y", code: 0, out: "done\n"},
		{name: "yes lifts no deny", replies: []reply{denied}, config: `{"permissions":{"bash":"deny"}}`, args: "--fail-on-refusal|-y", code: 3, out: "done\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.replies...)
			if tt.config != "" {
				w.config(tt.config)
			}
			w.run(append(split(tt.args), "hi")...).want(t, tt.code, tt.out, tt.errout)
		})
	}
}

func TestYesOfAModelIsIgnored(t *testing.T) {
	w := newWorld(t, reply{tool: "bash", args: `{"command":"true"}`})
	w.config(`{"permissions":{"bash":"ask"}}`)
	w.vars["CLUADE_DEPTH"] = "1"
	w.run("-y", "--fail-on-refusal", "hi").want(t, 3, "done\n", `-y is ignored`)
}

func TestPlanAgent(t *testing.T) {
	w := newWorld(t, reply{tool: "bash", args: `{"command":"touch made"}`})
	w.run("--subagent", "--agent-mode", "plan", "hi").want(t, 0, "done\n", ``)
	got := strings.Fields(w.tools(0))
	for _, tool := range got {
		if !slices.Contains([]string{"read", "glob", "grep", "web_search", "web_fetch", "skill"}, tool) {
			t.Errorf("a plan agent is offered %s", tool)
		}
	}
	if !slices.Contains(got, "read") || !slices.Contains(got, "skill") {
		t.Errorf("a plan agent is offered %q", got)
	}
	if got := w.message(1, -1); !strings.HasPrefix(got, "error: ") {
		t.Errorf("the result is %q", got)
	}
	if _, err := os.Stat("made"); err == nil {
		t.Error("a plan agent ran a command")
	}
}

func TestNothingIsSaved(t *testing.T) {
	for _, flag := range []string{"--no-session", "-p", "--subagent"} {
		w := newWorld(t)
		w.run(flag, "hi").want(t, 0, "done\n", ``)
		if files := w.sessions(); len(files) > 0 {
			t.Errorf("%s saved %v", flag, files)
		}
		if _, err := os.Stat(filepath.Join(w.home, ".cluade", "last_session")); err == nil {
			t.Errorf("%s wrote the pointer", flag)
		}
	}
}

func TestNoHome(t *testing.T) {
	w := newWorld(t)
	w.vars["CLUADE_HOME"] = filepath.Join(w.home, "state")
	w.run("hi").want(t, 0, "done\n", ``)
	if files, _ := filepath.Glob(filepath.Join(w.home, "state", "sessions", "*")); len(files) != 1 {
		t.Errorf("CLUADE_HOME holds %v", files)
	}
}

func TestContinue(t *testing.T) {
	w := newWorld(t, reply{text: "first answer"}, reply{text: "second"}, reply{text: "third"})
	w.run("first question").want(t, 0, "first answer\n", ``)
	w.run("-c", "go on").want(t, 0, "second\n", ``)
	if got := []string{w.message(1, 1), w.message(1, 2), w.message(1, 3)}; strings.Join(got, "|") != "first question|first answer|go on" {
		t.Errorf("the request holds %q", got)
	}
	id := strings.TrimSuffix(filepath.Base(w.sessions()[0]), ".jsonl")
	w.run("-r", id[:len(id)-1], "and on").want(t, 0, "third\n", ``)
	r := w.run("--list-sessions")
	r.want(t, 0, r.out, `^$`)
	if !strings.Contains(r.out, id) || !strings.Contains(r.out, `"first question"`) {
		t.Errorf("the list is %q", r.out)
	}
	if n := len(w.sessions()); n != 1 {
		t.Errorf("there are %d sessions", n)
	}
}

func TestContinueElsewhere(t *testing.T) {
	w := newWorld(t)
	w.run("-m", "one", "hi")
	first, second := w.dir, t.TempDir()
	w.file(filepath.Join(first, "AGENTS.md"), "RULE-FIRST")
	w.file(filepath.Join(second, "AGENTS.md"), "RULE-SECOND")

	t.Chdir(second)
	w.run("-c", "hi").want(t, 0, "done\n", regexp.QuoteMeta(first))
	if got := w.message(1, 0); !strings.Contains(got, "RULE-FIRST") {
		t.Errorf("the instructions of %s are missing", first)
	}
	if got := w.requests[1].body["model"]; got != "one" {
		t.Errorf("the model is %v, want the session's", got)
	}
	t.Chdir(second)
	w.run("-c", "--here", "-m", "two", "hi").want(t, 0, "done\n", ``)
	if got := w.message(2, 0); !strings.Contains(got, "RULE-SECOND") {
		t.Errorf("--here did not stay in %s", second)
	}
	if got := w.requests[2].body["model"]; got != "two" {
		t.Errorf("the model is %v, want the option's", got)
	}
	if err := os.Remove(filepath.Join(first, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(first); err != nil {
		t.Fatal(err)
	}
	w.run("-c", "hi").want(t, 0, "done\n", `staying in `+regexp.QuoteMeta(second))
}

func TestSessionFile(t *testing.T) {
	w := newWorld(t, reply{text: "one"}, reply{text: "two"})
	w.run("-p", "--session-file", "talk.jsonl", "first").want(t, 0, "one\n", ``)
	w.run("-p", "--session-file", "talk.jsonl", "second").want(t, 0, "two\n", ``)
	if got := w.message(1, 2); got != "one" {
		t.Errorf("the second request holds %q", got)
	}
	if files := w.sessions(); len(files) > 0 {
		t.Errorf("sessions %v were saved besides", files)
	}
	w.file("bad.jsonl", "not a session\n")
	w.requests = nil
	w.wantNothingSent(w.run("-p", "--session-file", "bad.jsonl", "hi"), `--session-file`)
}

func TestStandardInput(t *testing.T) {
	tests := []struct{ args, in, want string }{
		{"why", "", "why"},
		{"why", "log line\n", "why\n--- stdin ---\nlog line"},
		{"", "question\n", "question"},
		{"why|-", "log", "why\n--- stdin ---\nlog"},
		{"-", "question", "question"},
		{"--no-stdin|why", "log", "why"},
		{"--subagent|why", "log", "why"},
		{"--subagent", "question", "question"},
		{"--subagent|why|-", "log", "why\n--- stdin ---\nlog"},
		{"-p|why", "log", "why\n--- stdin ---\nlog"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		w.pipeIn(tt.in)
		w.run(split(tt.args)...).want(t, 0, "done\n", ``)
		if got := w.message(0, 1); got != tt.want {
			t.Errorf("cluade %q with %q sent %q, want %q", tt.args, tt.in, got, tt.want)
		}
	}
}

func TestStandardInputIsNoFile(t *testing.T) {
	w := newWorld(t)
	dir, err := os.Open(w.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	w.stdin = dir
	w.run("hi").want(t, 0, "done\n", `standard input could not be read`)
	w.requests = nil
	w.wantNothingSent(w.run(), `read standard input`)
}

func TestKey(t *testing.T) {
	const key = "sk-TESTKEY"
	tests := []struct {
		args, vars, config string
		want               string
	}{
		{config: `{"api_key":"OLD-KEY-1"}`, vars: "OPENAI_API_KEY=NEW-KEY-1", want: "Bearer NEW-KEY-1"},
		{config: `{"api_key":"OLD-KEY-1"}`, vars: "OPENAI_API_KEY=NEW-KEY-1", args: "--api-key|" + key, want: "Bearer " + key},
		{config: `{"api_key":"OLD-KEY-1"}`, want: "Bearer OLD-KEY-1"},
		{want: ""},
	}
	for _, tt := range tests {
		w := newWorld(t)
		if tt.config != "" {
			w.config(tt.config)
		}
		if name, value, ok := strings.Cut(tt.vars, "="); ok {
			w.vars[name] = value
		}
		w.run(append(split(tt.args), "hi")...)
		if got := w.requests[0].auth; got != tt.want {
			t.Errorf("%+v sent %q", tt, got)
		}
	}
}

func TestKeyIsNeverShown(t *testing.T) {
	const key = "sk-TESTKEY"
	echo := fmt.Sprintf(`{"error":{"message":"Incorrect API key provided: %s"}}`, key)
	for _, args := range []string{"", "--show-tools-json", "-q"} {
		w := newWorld(t, reply{status: 401, body: echo},
			reply{tool: "bash", args: `{"command":"cat ` + "$HOME" + `/.cluade/config.json; echo $OPENAI_API_KEY"}`})
		w.config(`{"api_key":"` + key + `","retries":0}`)
		w.vars["OPENAI_API_KEY"] = key
		trace := filepath.Join(w.home, "trace")
		w.vars["CLUADE_TRACE"] = trace
		first := w.run(append(split(args), "hi")...)
		first.want(t, 1, "", `the key came from `)
		second := w.run(append(split(args), "is "+key+" right?")...)
		shown := first.out + first.errout + second.out + second.errout
		for _, f := range append(w.sessions(), trace) {
			data, _ := os.ReadFile(f)
			shown += string(data)
		}
		for _, r := range w.requests {
			shown += r.raw
		}
		if i := strings.Index(shown, key); i >= 0 {
			t.Errorf("%q shows the key: ...%q", args, shown[max(0, i-80):i+len(key)])
		}
	}
}

func TestChildRunsGetTheKeyOfTheOption(t *testing.T) {
	w := newWorld(t, reply{tool: "bash", args: `{"command":"test ${#CLUADE_API_KEY} = 10 && echo same"}`})
	w.run("--api-key", "FLAG-KEY-1", "hi")
	if got := strings.TrimSpace(w.message(1, -1)); got != "same" {
		t.Errorf("the child said %q", got)
	}
}

// TestChildKeepsTheKeyAtHome has a model point a child run at another server.
func TestChildKeepsTheKeyAtHome(t *testing.T) {
	tests := []struct{ parent, vars, want string }{
		{"http://127.0.0.1:1/v1", "", ""},
		{"", "", ""},
		{"SAME", "", "Bearer FILE-KEY-1"},
		{"http://127.0.0.1:1/v1", "OPENAI_API_KEY=ENV-KEY-1", "Bearer ENV-KEY-1"},
	}
	for _, tt := range tests {
		w := newWorld(t)
		w.config(`{"api_key":"FILE-KEY-1"}`)
		w.vars["CLUADE_DEPTH"] = "1"
		if tt.parent == "SAME" {
			tt.parent = w.url
		}
		if tt.parent != "" {
			w.vars["CLUADE_PARENT"] = (&parent{depth: 1, baseURL: tt.parent}).String()
		}
		if name, value, ok := strings.Cut(tt.vars, "="); ok {
			w.vars[name] = value
		}
		w.run("hi")
		if got := w.requests[0].auth; got != tt.want {
			t.Errorf("parent %q, %q: sent %q, want %q", tt.parent, tt.vars, got, tt.want)
		}
	}
}

func TestNobodyReadsTheAnswer(t *testing.T) {
	w := newWorld(t)
	r, wr, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer wr.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var errout strings.Builder
	code := Main(t.Context(), Env{Args: []string{"hi"}, Stdin: null, Stdout: wr, Stderr: &errout,
		Getenv: func(k string) string { return w.vars[k] }})
	if want := 128 + int(syscall.SIGPIPE); code != want || strings.Contains(errout.String(), "pipe") {
		t.Errorf("exit %d, stderr %q; want %d and nothing about it", code, errout.String(), want)
	}
}

// TestNothingToGoOnWith: a run that saved nothing names no session to go on with.
func TestNothingToGoOnWith(t *testing.T) {
	w := newWorld(t)
	w.run("an older question").want(t, 0, "done\n", "")
	r := w.run("--base-url", "http://127.0.0.1:1/v1", "--time-limit", "1s", "another")
	if r.code != 4 || !strings.Contains(r.errout, "hint: --time-limit") || strings.Contains(r.errout, "goes on") {
		t.Errorf("exit %d, stderr %q", r.code, r.errout)
	}
}

func TestTheAnswerCannotBeWritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full here")
	}
	defer full.Close()
	for _, args := range []string{"--help", "--version", "-p|hi", "status", "doctor"} {
		w := newWorld(t)
		var errout strings.Builder
		code := Main(t.Context(), Env{Args: split(args), Stdout: full, Stderr: &errout, Getenv: func(k string) string { return w.vars[k] }})
		if code != 1 || !strings.Contains(errout.String(), "no space left") {
			t.Errorf("%s: exit %d, stderr %q", args, code, errout.String())
		}
	}
}

func TestTheSessionCannotBeSaved(t *testing.T) {
	w := newWorld(t)
	w.file(filepath.Join(w.home, ".cluade", "sessions"), "in the way")
	w.run("hi").want(t, 1, "done\n", `no longer saved`)
}

func TestTheModelMayReadItsOwnSession(t *testing.T) {
	w := newWorld(t)
	w.run("hi")
	w.replies = []reply{{tool: "read", args: fmt.Sprintf(`{"filePath":%q}`, w.sessions()[0])}}
	w.run("-c", "look back")
	if got := w.message(2, -1); !strings.Contains(got, `"content":"hi"`) {
		t.Errorf("the result is %q", got)
	}
}

// TestModelAtAnotherAddress takes a name of the models object in a
// conversation.
func TestModelAtAnotherAddress(t *testing.T) {
	far := newWorld(t, reply{text: "from afar"})
	w := newWorld(t, reply{text: "from here"})
	w.config(`{"api_key":"HERE-KEY-1","models":{"far":{"model":"m2","base_url":"` + far.url + `","api_key_env":"FAR_KEY"}}}`)
	w.vars["FAR_KEY"] = "FAR-KEY-12"
	c := newTalk(t, w)
	c.say("one\n")
	c.see("from here")
	c.say("/model far\n")
	c.see("model: m2")
	c.say("two\n")
	c.see("from afar")
	c.say("/exit\n")
	c.end(0)
	if len(far.requests) != 1 || far.requests[0].auth != "Bearer FAR-KEY-12" || far.requests[0].body["model"] != "m2" {
		t.Errorf("the other server got %d requests: %+v", len(far.requests), far.requests)
	}
	if got := far.message(0, 1); got != "one" {
		t.Errorf("the transcript begins %q", got)
	}
}
