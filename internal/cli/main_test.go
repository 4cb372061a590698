package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// world is a scratch home with a stand-in model server: the whole program runs
// in it as a function.
type world struct {
	t      *testing.T
	home   string
	dir    string // the working directory, not the home
	vars   map[string]string
	stdin  *os.File // nil is the null device
	url    string
	models string // the server's list of models, "" if it tells none

	mu       sync.Mutex
	replies  []reply
	requests []request
}

// reply is what the server says to the next request; without one it says "done".
type reply struct {
	status int
	body   string // of a status
	text   string
	tool   string // a call, with args
	args   string
	before func()
}

type request struct {
	auth string
	body map[string]any
	raw  string
}

type result struct {
	code        int
	out, errout string
}

func newWorld(t *testing.T, replies ...reply) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir(), dir: t.TempDir(), replies: replies}
	srv := httptest.NewServer(http.HandlerFunc(w.serve))
	t.Cleanup(srv.Close)
	w.url = srv.URL + "/v1"
	w.vars = map[string]string{"HOME": w.home, "PATH": os.Getenv("PATH"), "CLUADE_BASE_URL": w.url}
	t.Chdir(w.dir)
	return w
}

func (w *world) serve(rw http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost { // a look at the list of models
		if w.models == "" || r.URL.Path != "/v1/models" {
			http.NotFound(rw, r)
			return
		}
		io.WriteString(rw, w.models)
		return
	}
	raw, _ := io.ReadAll(r.Body)
	req := request{auth: r.Header.Get("Authorization"), raw: string(raw)}
	json.Unmarshal(raw, &req.body)
	w.mu.Lock()
	say := reply{text: "done"}
	if len(w.replies) > 0 {
		say, w.replies = w.replies[0], w.replies[1:]
	}
	w.requests = append(w.requests, req)
	n := len(w.requests)
	w.mu.Unlock()
	if say.before != nil {
		say.before()
	}
	if say.status != 0 {
		rw.WriteHeader(say.status)
		io.WriteString(rw, say.body)
		return
	}
	delta := map[string]any{"role": "assistant", "content": say.text}
	finish := "stop"
	if say.tool != "" {
		finish = "tool_calls"
		delta["tool_calls"] = []any{map[string]any{"index": 0, "id": fmt.Sprintf("call%d", n), "type": "function",
			"function": map[string]any{"name": say.tool, "arguments": say.args}}}
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	for _, choice := range []any{
		map[string]any{"index": 0, "delta": delta},
		map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish},
	} {
		chunk, _ := json.Marshal(map[string]any{"choices": []any{choice}})
		fmt.Fprintf(rw, "data: %s\n\n", chunk)
	}
	io.WriteString(rw, `data: {"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":10,"total_tokens":100}}`+"\n\ndata: [DONE]\n\n")
}

// run runs the program and returns its end.
func (w *world) run(args ...string) result {
	w.t.Helper()
	return w.runIn(context.Background(), args...)
}

func (w *world) runIn(ctx context.Context, args ...string) result {
	w.t.Helper()
	stdin := w.stdin
	if stdin == nil {
		null, err := os.Open(os.DevNull)
		if err != nil {
			w.t.Fatal(err)
		}
		defer null.Close()
		stdin = null
	}
	var environ []string
	for k, v := range w.vars {
		environ = append(environ, k+"="+v)
	}
	var out, errout bytes.Buffer
	code := Main(ctx, Env{Args: args, Stdin: stdin, Stdout: &out, Stderr: &errout,
		Getenv: func(k string) string { return w.vars[k] }, Environ: environ, Version: "test"})
	return result{code, out.String(), errout.String()}
}

// pipeIn makes text the standard input of the next run.
func (w *world) pipeIn(text string) {
	w.t.Helper()
	r, wr, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { r.Close() })
	go func() { io.WriteString(wr, text); wr.Close() }()
	w.stdin = r
}

func (w *world) file(path, text string) string {
	w.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.dir, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) config(text string) string {
	return w.file(filepath.Join(w.home, ".cluade", "config.json"), text)
}

// message is the text of message n of request i, counted from the end if
// negative.
func (w *world) message(i, n int) string {
	w.t.Helper()
	if i >= len(w.requests) {
		w.t.Fatalf("there are %d requests, no number %d", len(w.requests), i)
	}
	list, _ := w.requests[i].body["messages"].([]any)
	if n < 0 {
		n += len(list)
	}
	if n < 0 || n >= len(list) {
		w.t.Fatalf("request %d has %d messages", i, len(list))
	}
	text, _ := list[n].(map[string]any)["content"].(string)
	return text
}

// tools are the names offered in request i.
func (w *world) tools(i int) string {
	var names []string
	list, _ := w.requests[i].body["tools"].([]any)
	for _, t := range list {
		fn, _ := t.(map[string]any)["function"].(map[string]any)
		names = append(names, fmt.Sprint(fn["name"]))
	}
	return strings.Join(names, " ")
}

func (w *world) sessions() []string {
	files, _ := filepath.Glob(filepath.Join(w.home, ".cluade", "sessions", "*"))
	return files
}

// want checks exit code, standard output, and that standard error matches.
func (r result) want(t *testing.T, code int, out, errout string) {
	t.Helper()
	if r.code != code || r.out != out || !regexp.MustCompile(errout).MatchString(r.errout) {
		t.Errorf("exit %d, stdout %q, stderr %q; want exit %d, stdout %q, stderr %q", r.code, r.out, r.errout, code, out, errout)
	}
}

// wantNothingSent checks a start-up error: code 2, a sentence, no request.
func (w *world) wantNothingSent(r result, errout string) {
	w.t.Helper()
	r.want(w.t, 2, "", errout)
	if len(w.requests) > 0 {
		w.t.Errorf("%d requests were sent", len(w.requests))
	}
}
