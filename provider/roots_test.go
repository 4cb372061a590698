package provider

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestTLS: other servers are checked by name or address, each by its own.
func TestTLS(t *testing.T) {
	ca := newAuthority(t, "good")
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, ca.pem, 0o600); err != nil {
		t.Fatal(err)
	}
	from, to := time.Now().AddDate(-1, 0, 0), time.Now().AddDate(1, 0, 0)
	for _, tt := range []struct{ name, caFile, fault string }{
		{"127.0.0.1", file, ""},
		{"192.168.1.1", file, "127.0.0.1"},
		{"example.org", file, "127.0.0.1"},
		{"127.0.0.1", "", "unknown authority"},
		{"127.0.0.1", "/nowhere/ca.pem", "/nowhere/ca.pem"},
	} {
		s := serveTLS(t, ca.sign(from, to, tt.name), answerGood)
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: TLS(tt.caFile)(u.Hostname()), DisableKeepAlives: true}}
		resp, err := client.Get(s.URL)
		if err == nil {
			resp.Body.Close()
		}
		if (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("a certificate for %s with %q: %v, want an error with %q", tt.name, tt.caFile, err, tt.fault)
		}
	}
}
