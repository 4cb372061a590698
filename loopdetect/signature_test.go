package loopdetect

import (
	"bytes"
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSignature(t *testing.T) {
	tests := []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":2}`, `{ "b" : 2, "a" : 1 }`, true},
		{`{"x":{"a":1,"b":[{"c":1,"d":2}]}}`, `{"x":{"b":[{"d":2,"c":1}],"a":1}}`, true},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{`{"a":"A\n/"}`, `{"\u0061":"\u0041\u000a\/"}`, true},
		{`{"a":"\ud83d\ude00"}`, `{"a":"😀"}`, true},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`{"a":1e2}`, `{"a":100}`, false},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{`{"a":"b,c"}`, `{"a":"b","c":""}`, false},
		{`{"a":`, `{"a": `, false},
		{`{"a":01}`, `{"a": 01}`, false}, // no JSON: stands as it is
		{`{"a":nan}`, `{"a": nan}`, false},
		{``, `{}`, false},
	}
	for _, tt := range tests {
		a, b := Signature("t", tt.a), Signature("t", tt.b)
		if (a == b) != tt.same {
			t.Errorf("Signature(%q) = %q, Signature(%q) = %q, want same = %v", tt.a, a, tt.b, b, tt.same)
		}
	}
	if got, want := Signature("read", `{"b":[true,null],"a":"x"}`), "read\x00"+`{"a":"x","b":[true,null]}`; got != want {
		t.Errorf("Signature = %q, want %q", got, want)
	}
	if Signature("a", "{}") == Signature("b", "{}") {
		t.Error("two tools have one signature")
	}
	deep := strings.Repeat("[", 1<<20)
	if got := Signature("t", deep); got != "t\x00"+deep {
		t.Error("deep nesting does not stand as it is")
	}
}

// TestSignatureIsFrugal: what a parser makes of long arguments is many times
// their length.
func TestSignatureIsFrugal(t *testing.T) {
	args := `{"b":[` + strings.Repeat("0,", 1<<20) + `0],"a":1}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Signature("t", args)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
		t.Errorf("Signature of %d bytes takes %d bytes", len(args), n)
	}
}

// FuzzSignature compares with encoding/json as the judge of what is the same.
func FuzzSignature(f *testing.F) {
	for _, s := range []string{`{"b":1,"a":[1,{"d":"\u0041","c":null}]}`, `[1.50,-0,1e3]`, `"x"`, `{"a":`, ``, "\"\\ud800\""} {
		f.Add("read", s)
	}
	f.Fuzz(func(t *testing.T, name, args string) {
		got := Signature(name, args)
		if !strings.HasPrefix(got, name+"\x00") {
			t.Fatalf("Signature(%q, %q) = %q", name, args, got)
		}
		if !json.Valid([]byte(args)) || !utf8.ValidString(args) || repeatsKey(args) {
			return
		}
		var wide bytes.Buffer
		if json.Indent(&wide, []byte(args), " ", "\t") == nil && depth(args) < 300 {
			if again := Signature(name, wide.String()); again != got {
				t.Fatalf("Signature(%q) = %q, with white space %q", args, got, again)
			}
		}
		if strings.Contains(args, `\u`) || depth(args) >= 300 {
			return // encoding/json replaces lone surrogates
		}
		d := json.NewDecoder(strings.NewReader(args))
		d.UseNumber()
		var v any
		if d.Decode(&v) != nil {
			return
		}
		sorted, _ := json.Marshal(v)
		if again := Signature(name, string(sorted)); again != got {
			t.Fatalf("Signature(%q) = %q, sorted %q", args, got, again)
		}
	})
}

func depth(s string) int { return strings.Count(s, "[") + strings.Count(s, "{") }

// repeatsKey reports whether an object of s has a key twice.
func repeatsKey(s string) bool {
	d := json.NewDecoder(strings.NewReader(s))
	type level struct {
		keys map[string]bool // nil in an array
		key  bool            // a key comes next
	}
	var stack []level
	for {
		tok, err := d.Token()
		if err != nil {
			return false
		}
		top := len(stack) - 1
		if k, ok := tok.(string); ok && top >= 0 && stack[top].key {
			if stack[top].keys[k] {
				return true
			}
			stack[top].keys[k], stack[top].key = true, false
			continue
		}
		switch tok {
		case json.Delim('{'):
			stack = append(stack, level{map[string]bool{}, true})
			continue
		case json.Delim('['):
			stack = append(stack, level{})
			continue
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
		if top = len(stack) - 1; top >= 0 && stack[top].keys != nil {
			stack[top].key = true
		}
	}
}
