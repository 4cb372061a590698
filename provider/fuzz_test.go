package provider

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"cluade/internal/chat"
	"cluade/internal/httpc"

	"github.com/valyala/fastjson"
)

// seeds are the bodies of all cases.
func seeds(f *testing.F, add func(status int, body []byte)) {
	for _, tc := range loadCases(f) {
		for _, r := range tc.Responses {
			if b := r.body(f); len(b) < 20_000 {
				add(r.Status, b)
			}
		}
	}
}

// summary is what must not depend on how a body is cut into pieces. Ids are
// made up and left out.
func summary(got *chat.Reply, f *failure) string {
	s := fmt.Sprintf("%q %q %q %s %v", got.Message.Content, got.Message.Reasoning, got.Message.Details, got.Finish, got.Usage)
	for _, t := range got.Message.ToolCalls {
		s += fmt.Sprintf(" %s(%q)", t.Name, t.Args)
	}
	if f != nil {
		s += fmt.Sprintf(" %s %s %d %q", f.class, f.advice, f.limit, f.message)
	}
	return s
}

func readAll(t *testing.T, body string, n int) (*chat.Reply, *failure, string) {
	s := &server{t: t, answers: []testResponse{{Status: 200, Text: &body}}, n: n}
	c := testClient(t, s, func(o *Options) { o.IdleTimeout = time.Minute })
	var d told
	x := &exchange{c: c, ctx: t.Context(), url: c.url, req: testRequest(), onDelta: d.take}
	got, f := x.attempt()
	return &got, f, d.text
}

// FuzzReply: any body gives a reply or a failure, the same for every cut, and
// what was shown is what came.
func FuzzReply(f *testing.F) {
	seeds(f, func(status int, body []byte) {
		if status == 200 {
			f.Add(string(body))
		}
	})
	f.Fuzz(func(t *testing.T, body string) {
		whole, wf, shown := readAll(t, body, 1<<20)
		bits, bf, _ := readAll(t, body, 1)
		if a, b := summary(whole, wf), summary(bits, bf); a != b {
			t.Errorf("whole %s\nin bytes %s", a, b)
		}
		if strings.TrimSpace(shown) != strings.TrimSpace(whole.Message.Content) {
			t.Errorf("shown %q, text %q", shown, whole.Message.Content)
		}
		seen := map[string]bool{}
		for _, c := range whole.Message.ToolCalls {
			if c.ID == "" || seen[c.ID] || c.Name == "" || wf != nil {
				t.Errorf("call %+v beside %v, failure %v", c, seen, wf)
			}
			seen[c.ID] = true
		}
		if wf != nil && wf.final().Error() == "" {
			t.Error("an error without words")
		}
	})
}

// FuzzComplaint: any answer with an error status is classed, in words that a
// terminal can show.
func FuzzComplaint(f *testing.F) {
	seeds(f, func(status int, body []byte) { f.Add(status, string(body), "3") })
	f.Fuzz(func(t *testing.T, status int, body, wait string) {
		c := testClient(t, &server{t: t}, nil)
		got := c.classify(status, parseComplaint([]byte(body)), httpc.Header{{Name: "Retry-After", Value: wait}})
		if got.class == "" || got.advice == "" || got.after < 0 {
			t.Errorf("%+v", got)
		}
		if !utf8.ValidString(got.message) || strings.ContainsFunc(got.message, func(r rune) bool { return r < ' ' }) || len(got.message) > 2*maxMessage {
			t.Errorf("message %q", got.message)
		}
	})
}

// FuzzTextCalls: text becomes a call only of a known tool with an object for
// arguments.
func FuzzTextCalls(f *testing.F) {
	for _, s := range []string{
		`<tool_call>{"name":"read","arguments":{"filePath":"a"}}</tool_call>`, "<function=bash>\n<parameter=timeout>\n5\n</parameter>\n</function>",
		`[TOOL_CALLS]read[ARGS]{}`, `[TOOL_CALLS][{"name":"read"}]`, `<|python_tag|>{"name":"read","parameters":{}};`, `{"name":"read","arguments":"{}"}`,
		`<｜DSML｜tool_calls><｜DSML｜invoke name="read"><｜DSML｜parameter name="filePath" string="true">a</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>`,
		`<|tool_call_begin|>functions.read:0<|tool_call_argument_begin|>{}<|tool_call_end|>`,
	} {
		f.Add(s)
	}
	known := toolSchemas(testTools)
	f.Fuzz(func(t *testing.T, s string) {
		found, ok := parseTextCalls(s, known)
		for _, p := range found {
			if _, there := known[p.name]; ok && (!there || !isObject(p.args)) {
				t.Errorf("parseTextCalls(%q) = %+v", s, p)
			}
		}
		if at, _ := findMarkup(s, true); at < 0 || at > len(s) {
			t.Errorf("findMarkup(%q) = %d", s, at)
		}
	})
}

// FuzzCalls: pieces in any order and shape give calls with names and ids of
// their own.
func FuzzCalls(f *testing.F) {
	f.Add(`[{"index":0,"id":"a","function":{"name":"read","arguments":"{"}},{"index":1,"function":{"arguments":"}"}}]`)
	f.Add(`[{"id":"a","function":{"name":"x"}},{"id":"a","function":{"name":"x","arguments":{"a":1}}},{"index":-5,"function":{}}]`)
	f.Fuzz(func(t *testing.T, s string) {
		v, err := fastjson.Parse(s)
		if err != nil {
			return
		}
		var cs calls
		given := 0
		for _, p := range v.GetArray() {
			piece := parsePiece(p)
			given += len(piece.args)
			cs.add(piece)
		}
		seen, kept := map[string]bool{}, 0
		for _, c := range cs.finish(func(string) bool { return false }) {
			if c.ID == "" || c.Name == "" || c.Args == "" || seen[c.ID] {
				t.Errorf("%q gives %+v", s, c)
			}
			seen[c.ID] = true
			kept += len(c.Args)
		}
		if kept > given+2*len(cs.list) {
			t.Errorf("%q: %d bytes of arguments from %d", s, kept, given)
		}
	})
}

// FuzzMask: a secret in any of its forms does not get through, however the
// text is cut.
func FuzzMask(f *testing.F) {
	for _, s := range forms() {
		f.Add("a"+s+"b", 5)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		x := secrets{testKey}
		if got := x.mask(s); strings.Contains(got, testKey) {
			t.Errorf("mask(%q) = %q", s, got)
		}
		var out strings.Builder
		o := outlet{secrets: x, emit: func(s string) { out.WriteString(s) }}
		if cut < 0 || cut > len(s) {
			cut = len(s) / 2
		}
		o.write(s[:cut])
		o.write(s[cut:])
		o.flush()
		if strings.Contains(out.String(), testKey) {
			t.Errorf("%q cut at %d lets out %q", s, cut, out.String())
		}
	})
}

func FuzzElements(f *testing.F) {
	f.Add(`{"data":[{"id":"a"},{"id":"b\"}"}],"x":[[{}]]}`)
	f.Fuzz(func(t *testing.T, s string) {
		eachObject(strings.NewReader(s), func(key string, v *fastjson.Value) {
			if v.Type() != fastjson.TypeObject {
				t.Errorf("eachObject(%q) hands out %s", s, v)
			}
		})
	})
}
