package tools

import (
	"encoding/json"
	"strings"
	"testing"

	"cluade/internal/policy"
)

// probe is a tool with every kind of parameter.
var probe = Set{{
	Name: "probe",
	Params: `{"type":"object","properties":{"text":{"type":"string"},"count":{"type":"integer"},"share":{"type":"number"},
		"flag":{"type":"boolean"},"list":{"type":"array"},"map":{"type":"object"},"mode":{"type":"string","enum":["build","plan"]},"any":{}},
		"required":["text"]}`,
	Effect: policy.External,
}}

func TestParse(t *testing.T) {
	const half = ", which is half of a character (a surrogate without its other half); write the whole"
	tests := []struct{ args, want string }{
		{`{"text":"a"}`, ""},
		{" {\n\"text\" : \"a\" } ", ""},
		{`{"text":"","count":5}`, ""},
		{`{"text":"a","count":5.0}`, ""},
		{`{"text":"a","count":5e2}`, ""},
		{`{"text":"a","count":-3}`, ""},
		{`{"text":"a","share":0.5,"flag":true,"list":[1],"map":{"a":1},"mode":"plan","any":[null]}`, ""},
		{`{"text":"a","count":null,"flag":null}`, ""},
		{`{"text":"a","more":{"x":[1,2]},"extra":1}`, ""},

		{``, `missing required parameter "text"`},
		{`{}`, `missing required parameter "text"`},
		{`{"text":null}`, `missing required parameter "text"`},
		{`{"Text":"a"}`, `missing required parameter "text" (got "Text")`},
		{`{"text":5}`, `parameter "text" must be a string, not the number 5`},
		{`{"text":["a"]}`, `parameter "text" must be a string, not an array`},
		{`{"text":"a","count":"5"}`, `parameter "count" must be an integer, not a string`},
		{`{"text":"a","count":5.5}`, `parameter "count" must be an integer, not the number 5.5`},
		{`{"text":"a","count":1e300}`, `parameter "count" must be an integer, not the number 1e300`},
		{`{"text":"a","count":1e999}`, `parameter "count" must be an integer, not the number 1e999`},
		{`{"text":"a","count":true}`, `parameter "count" must be an integer, not a boolean`},
		{`{"text":"a","share":"0.5"}`, `parameter "share" must be a number, not a string`},
		{`{"text":"a","flag":"true"}`, `parameter "flag" must be a boolean, not a string`},
		{`{"text":"a","flag":1}`, `parameter "flag" must be a boolean, not the number 1`},
		{`{"text":"a","list":{}}`, `parameter "list" must be an array, not an object`},
		{`{"text":"a","map":[]}`, `parameter "map" must be an object, not an array`},
		{`{"text":"a","mode":"fast"}`, `parameter "mode" must be one of build, plan`},

		{`{"text":"\ud83d\uDC4D \\udc00 \\\\ud800 \\u00e9"}`, ""},
		{`{"text":"x\udc00y"}`, "arguments hold \\udc00" + half},
		{`{"text":"\uD800"}`, "arguments hold \\uD800" + half},
		{`{"text":"\ud800\u0041"}`, "arguments hold \\ud800" + half},
		{`{"text":"\udc00\ud800"}`, "arguments hold \\udc00" + half},
		{`{"text":"\\\ud83d\\"}`, "arguments hold \\ud83d" + half},
		{`{"text":"\ud83d\ud83d\udc4d"}`, "arguments hold \\ud83d" + half},

		{`["text"]`, "arguments must be a JSON object, not an array"},
		{`"text"`, "arguments must be a JSON object, not a string"},
		{`null`, "arguments must be a JSON object, not null"},
		{`{"text":"a"`, "arguments are not valid JSON: "},
		{`{"text":"a"}}`, "arguments are not valid JSON: "},
		{`{"text":"a",}`, "arguments are not valid JSON: "},
		{`{'text':'a'}`, "arguments are not valid JSON: "},
		{`{"text":"a` + "\n" + `b"}`, "arguments are not valid JSON: "},
		{`{"text":"a","share":01}`, "arguments are not valid JSON: "},
		{`{"text":"a","share":1.2.3}`, "arguments are not valid JSON: "},
		{`{"text":"a","share":NaN}`, "arguments are not valid JSON: "},
		{`{"text":"\q"}`, "arguments are not valid JSON: "},
		{strings.Repeat("[", 10000), "arguments are not valid JSON: "},
		{strings.Repeat("[", 1<<20), "arguments hold more than 20000 values"},
		{`{"text":"` + strings.Repeat(`,[{\",`, 10000) + `"}`, ""},
		{`{"text":"a","list":[` + strings.Repeat("0,", 10000) + `0]}`, ""},
		{`{"text":"a","other":[` + strings.Repeat(`"\\",`, 1<<20) + `0]}`, "arguments hold more than 20000 values"},
		{`{"text":` + strings.Repeat("x", 1<<20), "arguments are not valid JSON: "},

		{`{"text":"a","text":"b"}`, `arguments name "text" twice`},
		{`{"text":"a","tex\u0074":"b"}`, `arguments name "text" twice`},
		{`{"text":"a","map":{"x":1,"x":1}}`, `arguments name "x" twice`},
		{`{"text":"a","list":[[{"y":1,"y":2}]]}`, `arguments name "y" twice`},
		{`{"text":"a","other":{"z":{"q":1,"q":2}}}`, `arguments name "q" twice`},
	}
	for _, tt := range tests {
		_, err := probe.Parse(&Env{}, "probe", tt.args)
		got := ""
		if err != nil {
			got = err.Error()
		}
		exact := got == tt.want
		if strings.HasSuffix(tt.want, ": ") || strings.HasSuffix(tt.want, " twice") {
			exact = strings.HasPrefix(got, tt.want) && len(got) < 400
		}
		if !exact {
			t.Errorf("Parse(%.80q) = %.200q, want %q", tt.args, got, tt.want)
		}
	}
}

func TestParseValues(t *testing.T) {
	c, err := probe.Parse(&Env{}, "probe", `{"text":"a\nb\u00e9","count":5.0,"flag":true,"list":[],"mode":null}`)
	if err != nil {
		t.Fatal(err)
	}
	a := c.Args
	if a.Text("text") != "a\nbé" || a.Int("count") != 5 || !a.Bool("flag") || !a.Has("list") || a.Has("mode") || a.Has("map") {
		t.Errorf("arguments = %v", a.vals)
	}
	if a.Int("text") != 0 || a.Text("count") != "" || a.Bool("none") {
		t.Errorf("an argument of another type is not zero: %v", a.vals)
	}
	if c.Subject.Tool != "probe" || c.Subject.Effect != policy.External {
		t.Errorf("subject = %+v", c.Subject)
	}
}

func TestParseUnknownTool(t *testing.T) {
	_, err := Builtin[:2].Parse(&Env{}, "raed\n", `{"filePath":"f"}`)
	if want := `unknown tool "raed\n"; available: read, write`; err == nil || err.Error() != want {
		t.Errorf("Parse = %v, want %q", err, want)
	}
}

// TestParseOpensNothing: whatever is wrong with a file shows only after the
// refusals.
func TestParseOpensNothing(t *testing.T) {
	e := testEnv(t)
	for tool, a := range map[string]string{
		"read": `{"filePath":"none"}`, "write": `{"filePath":"none/","content":""}`, "glob": `{"pattern":"none/*","path":"none"}`,
		"edit": `{"filePath":"none","oldString":"","newString":""}`, "grep": `{"pattern":"(","path":"none"}`,
	} {
		if _, err := Builtin.Parse(e, tool, a); err != nil {
			t.Errorf("Parse(%s %s) = %v, want no error before the call is judged", tool, a, err)
		}
	}
}

func TestSchemas(t *testing.T) {
	type schema struct {
		Type       string
		Properties map[string]map[string]any
		Required   []string
	}
	total := 0
	for _, tool := range Builtin {
		var s schema
		if err := json.Unmarshal([]byte(tool.Params), &s); err != nil || s.Type != "object" {
			t.Errorf("%s: schema %s: %v", tool.Name, tool.Params, err)
		}
		for name, p := range s.Properties {
			for key := range p {
				if !strings.Contains(" type properties required description enum items ", " "+key+" ") {
					t.Errorf("%s.%s uses %q, which some servers refuse", tool.Name, name, key)
				}
			}
		}
		if tool.Offered != nil {
			continue // it is not in every request
		}
		total += len(tool.Params) + len(tool.Desc) + len(`{"type":"function","function":{"name":"","description":"","parameters":}},`) + len(tool.Name)
	}
	if total > 3400 {
		t.Errorf("the schemas take %d bytes of every request, want at most 3400, which leaves 200 to compact", total)
	}
}

func TestGist(t *testing.T) {
	e := testEnv(t)
	tests := []struct{ tool, args, want string }{
		{"read", `{"filePath":"a b/c"}`, "a b/c"},
		{"write", `{"filePath":"f\nx","content":"y"}`, "f x"},
		{"glob", `{"pattern":"**/*.go","path":"src"}`, "**/*.go"},
		{"grep", `{"pattern":"` + strings.Repeat("é", 150) + `"}`, strings.Repeat("é", 100)},
	}
	for _, tt := range tests {
		c, err := Builtin.Parse(e, tt.tool, tt.args)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Gist(); got != tt.want {
			t.Errorf("Gist(%s) = %q, want %q", tt.args, got, tt.want)
		}
	}
}

func TestIndentJSON(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{}`, `{}`},
		{`{ }`, `{}`},
		{`{"a":[],"b":{ "c" : 1 , "d":"x: {,}\"\\" }}`, "{\n  \"a\": [],\n  \"b\": {\n    \"c\": 1,\n    \"d\": \"x: {,}\\\"\\\\\"\n  }\n}"},
		{`[1,[2]]`, "[\n  1,\n  [\n    2\n  ]\n]"},
	}
	for _, tt := range tests {
		if got := indentJSON(tt.text); got != tt.want {
			t.Errorf("indentJSON(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
	if got := indentJSON(strings.Repeat("[", 300) + strings.Repeat("1,", 1000) + "1" + strings.Repeat("]", 300)); len(got) > 100000 {
		t.Errorf("indentJSON of a deep list takes %d bytes", len(got))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`{"text":"a","count":5}`, `{"text":"\ud83d\ude00"}`, `{"text":"a","map":{"b":[1,{}]}}`, "[", `{"text":"\u0000"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := probe.Parse(&Env{}, "probe", text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) && strings.TrimSpace(text) != "" {
			t.Errorf("Parse(%q) took what is not JSON", text)
		}
		if out := indentJSON(text); !json.Valid([]byte(out)) && strings.TrimSpace(text) != "" {
			t.Errorf("indentJSON(%q) = %q, which is not JSON", text, out)
		}
		c.Gist()
	})
}
