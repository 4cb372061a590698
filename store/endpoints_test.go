package store

import (
	"testing"
)

func TestFallback(t *testing.T) {
	vars := map[string]string{"A_KEY": "key-of-a", "GROQ_API_KEY": "key-of-groq", "OPENAI_API_KEY": "key-of-the-first"}
	p := Place{Getenv: func(name string) string { return vars[name] }}
	c := defaults("")
	if err := c.Set(TierUser, "base_url", "http://one.example/v1"); err != nil {
		t.Fatal(err)
	}
	list := `[{"model":"a","base_url":"http://two.example/v1/","api_key_env":"A_KEY"},
		{"model":"b","base_url":"https://api.groq.com/openai/v1"},
		{"model":"c","base_url":"http://ONE.example/v2"},
		{"model":"d","base_url":"http://three.example/v1","api_key_env":"NONE"}]`
	if err := c.Set(TierUser, "fallback", list); err != nil {
		t.Fatal(err)
	}
	got, err := c.Fallback(p)
	if err != nil {
		t.Fatal(err)
	}
	want := []Endpoint{
		{Model: "a", BaseURL: "http://two.example/v1", Key: "key-of-a"},
		{Model: "b", BaseURL: "https://api.groq.com/openai/v1", Key: "key-of-groq"},
		{Model: "c", BaseURL: "http://ONE.example/v2", Main: true},
		{Model: "d", BaseURL: "http://three.example/v1"},
	}
	if len(got) != len(want) {
		t.Fatalf("Fallback() = %d endpoints, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("Fallback()[%d] = %+v, want %+v", i, got[i], want[i])
		}
	}
	vars["A_KEY"] = "two\nlines"
	if _, err := c.Fallback(p); err == nil {
		t.Error("Fallback() with a key of two lines is no error")
	}
}

// TestAddressWithVersion: the address of an API may end with a version, which
// Azure's older paths need; that of anything else has no query.
func TestAddressWithVersion(t *testing.T) {
	const azure = "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21"
	c := defaults("")
	if err := c.Set(TierUser, "base_url", azure); err != nil || c.BaseURL != azure {
		t.Errorf("base_url %q, error %v", c.BaseURL, err)
	}
	if err := c.Set(TierUser, "web.search_url", azure); err == nil {
		t.Error("a search address may have a query")
	}
}
