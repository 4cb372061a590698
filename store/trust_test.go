package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTrust(t *testing.T) {
	b := newBox(t)
	b.user(`{"permissions":{"bash":"deny"},"danger_allow":["flash"]}`)
	const text = `{"base_url":"http://10.0.0.1/v1","api_key":"sk-secret","permissions":{"bash":"ask","allow":["edit"]},"danger_allow":["power"]}`
	b.project(text)
	load := func(trust Trust) *Config {
		t.Helper()
		c, _, err := Load(b.place(), trust)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	in := func(c *Config) bool {
		all := c.BaseURL == "http://10.0.0.1/v1" && c.APIKey == "sk-secret" && c.Levels["bash"] == "ask" && len(c.Safety.Allow) == 1
		none := c.BaseURL != "http://10.0.0.1/v1" && c.APIKey == "" && c.Levels["bash"] == "deny" && len(c.Safety.Allow) == 0
		if all == none || strings.Join(c.Safety.DangerAllow, "") != "flash" {
			t.Errorf("half in force: %+v", c)
		}
		return all
	}
	c := load(Trust{})
	g := c.Guarded(b.place())
	if in(c) || g == nil || len(g.Show()) != 4 {
		t.Fatalf("without trust: guarded %+v", g)
	}
	for _, v := range g.Show() {
		if v.Key == "api_key" && v.Text != "***" || v.Key == "base_url" && v.Host != "http://10.0.0.1" {
			t.Errorf("shown: %+v", v)
		}
	}
	if c := load(g.Accept()); !in(c) || c.Guarded(b.place()) != nil {
		t.Error("accepted values do not count")
	}
	if in(load(Trust{})) {
		t.Error("a word for once counts twice")
	}
	b.put(filepath.Join(b.home, ".cluade", "trust.json"), `{"/elsewhere":"abc"}`)
	if err := b.place().KeepTrust(g.Accept()); err != nil {
		t.Fatal(err)
	}
	if !in(load(Trust{})) {
		t.Error("a word for good does not count")
	}
	trustFile := b.place().trustFile()
	if err := os.Chmod(trustFile, 0o602); err != nil {
		t.Fatal(err)
	}
	if in(load(Trust{})) {
		t.Error("a word counts from a file to which others can write")
	}
	if err := os.Chmod(trustFile, 0o600); err != nil {
		t.Fatal(err)
	}
	if kept := string(must(os.ReadFile(b.place().trustFile()))); !strings.Contains(kept, `"/elsewhere":"abc"`) {
		t.Errorf("the trust file lost a line: %s", kept)
	}
	b.project(strings.Replace(text, "10.0.0.1", "10.0.0.2", 1))
	if c := load(g.Accept()); c.BaseURL == "http://10.0.0.2/v1" {
		t.Error("a word counts for another value")
	}
	b.project(strings.Replace(text, `"edit"`, `"edit","bash"`, 1))
	if in(load(Trust{})) {
		t.Error("a word for good counts for other values")
	}
	// The environment and the command line overrule a trusted project.
	b.project(text)
	b.env["CLUADE_BASE_URL"] = "http://env/v1"
	if c := load(Trust{}); c.BaseURL != "http://env/v1" {
		t.Errorf("BaseURL = %s", c.BaseURL)
	}
}
