package cli

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestFirstRequest: what every request pays for is small, and its order fixed.
func TestFirstRequest(t *testing.T) {
	router, err := os.ReadFile(filepath.Join("testdata", "system-router.txt"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.run("--no-session", "hi").want(t, 0, "done\n", ``)
	const want = "read write edit bash glob grep web_search web_fetch remote_bash compact skill subagent"
	if got := w.tools(0); got != want {
		t.Errorf("the tools are %q, want %q", got, want)
	}
	raw := []byte(w.requests[0].raw)
	var body struct{ Tools json.RawMessage }
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	var schemas bytes.Buffer
	if err := json.Compact(&schemas, body.Tools); err != nil {
		t.Fatal(err)
	}
	const ash = 8 // how much longer than another shell's name BusyBox ash is told
	if n := schemas.Len() + ash; n > 3600 {
		t.Errorf("the schemas have %d bytes, want at most 3600", n)
	}
	if n := max(len(raw), len(raw)-len(w.message(0, 0))+len(router)); n >= 5500 {
		t.Errorf("the first request has %d bytes here or on a router, want less than 5500", n)
	}
}
