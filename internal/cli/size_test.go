package cli

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestFirstRequest: what every request pays for is small, and its order fixed.
func TestFirstRequest(t *testing.T) {
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
	if schemas.Len() > 3600 {
		t.Errorf("the schemas have %d bytes, want at most 3600", schemas.Len())
	}
	if len(raw) >= 5500 {
		t.Errorf("the first request has %d bytes, want less than 5500", len(raw))
	}
	t.Logf("%d bytes, %d of them schemas", len(raw), schemas.Len())
}
