package provider

import "testing"

func TestParseComplaint(t *testing.T) {
	tests := []struct{ body, message, code string }{
		{`{"error":{"message":"m","code":"c","type":"t"}}`, "m", "c"},
		{`{"error":"plain"}`, "plain", ""},
		{`[{"error":{"message":"listed","code":400,"status":"X"}}]`, "listed", "400"},
		{`{"detail":"short"}`, "short", ""},
		{`{"detail":[{"loc":["body","a",2],"msg":"bad"},{"loc":["query"],"msg":"worse"}]}`, "body.a.2: bad; query: worse", ""},
		{`{"message":"flat","code":"x_y"}`, "flat", "x_y"},
		{`{"code":"a sentence of words","error":"another"}`, "another", ""},
		{`{"error":{"message":"{\"error\":{\"code\":400,\"message\":\"inner\"}}"}}`, "inner", ""},
		{`{"error":{"message":"upstream said: {\"error\":{\"message\":\"inner\"}}"}}`, "upstream said: inner", ""},
		{`{"error":{"message":"outer","metadata":{"raw":"{\"error\":{\"message\":\"raw\"}}"}}}`, "outer: raw", ""},
		{`{"error":{"message":"outer","metadata":{"raw":"<html><title>no</title></html>"}}}`, "outer", ""},
		{`{"base_resp":{"status_code":1004,"status_msg":"login"}}`, "login", "1004"},
		{`{"error":{"code":500}}`, `{"error":{"code":500}}`, "500"},
		{`{"errors":[{"message":"one of many"}]}`, "one of many", ""},
		{`{"error":"Not Found","message":"No message available","status":404}`, "Not Found", ""},
		{"<html><head><TITLE>\n502  Bad\nGateway</TITLE></head></html>", "502 Bad Gateway", ""},
		{"<h1>Oops</h1>", "Oops", ""},
		{"<b>nothing</b>", "a web page", ""},
		{"just words\n", "just words", ""},
		{"", "", ""},
		{"null", "null", ""},
	}
	for _, tt := range tests {
		if got := parseComplaint([]byte(tt.body)); got.message != tt.message || got.code != tt.code {
			t.Errorf("parseComplaint(%q) = %q, %q, want %q, %q", tt.body, got.message, got.code, tt.message, tt.code)
		}
	}
}
