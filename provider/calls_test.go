package provider

import (
	"fmt"
	"testing"

	"github.com/valyala/fastjson"

	"cluade/internal/jsonenc"
)

// TestArgumentsInPieces: however a server cuts the arguments of two calls, and
// whatever it repeats in each piece, they are the same. Blanks alone are a piece
// like any other: indentation is one token to most models.
func TestArgumentsInPieces(t *testing.T) {
	want := [...]string{`{"content":"if x:\n        y = 1\n\n\t\tz    ","n":  1 }`, `{ "content" : "            " }`}
	for name, form := range map[string][2]string{
		"index":            {`{"index":%d,"id":"c%[1]d","function":{"name":"write","arguments":%[2]s}}`, `{"index":%d,"function":{"arguments":%s}}`},
		"index, id always": {`{"index":%d,"id":"c%[1]d","function":{"name":"write","arguments":%[2]s}}`, `{"index":%d,"id":"c%[1]d","function":{"arguments":%[2]s}}`},
		"empty names":      {`{"index":%d,"id":"c%[1]d","function":{"name":"write","arguments":%[2]s}}`, `{"index":%d,"id":"","function":{"name":"","arguments":%s}}`},
		"index 0 for all":  {`{"index":0,"id":"c%d","function":{"name":"write","arguments":%s}}`, `{"index":0,"function":{"arguments":%[2]s}}`},
		"no index":         {`{"id":"c%d","function":{"name":"write","arguments":%s}}`, `{"function":{"arguments":%[2]s}}`},
	} {
		for size := 1; size <= 20; size++ {
			var cs calls
			for i, args := range want {
				for at := 0; at < len(args); at += size {
					text := string(jsonenc.AppendString(nil, args[at:min(at+size, len(args))]))
					piece := fmt.Sprintf(form[1], i, text)
					if at == 0 {
						piece = fmt.Sprintf(form[0], i, text)
					}
					cs.add(parsePiece(fastjson.MustParse(piece)))
				}
			}
			got := cs.finish(func(string) bool { return false })
			if len(got) != len(want) {
				t.Fatalf("%s in pieces of %d: %d calls", name, size, len(got))
			}
			for i := range want {
				if got[i].Args != want[i] {
					t.Errorf("%s in pieces of %d: arguments %q, want %q", name, size, got[i].Args, want[i])
				}
			}
		}
	}
	var cs calls
	cs.add(parsePiece(fastjson.MustParse(`{"index":1,"function":{"arguments":"  "}}`)))
	if got := cs.finish(func(string) bool { return false }); len(got) > 0 {
		t.Errorf("blanks alone are the call %+v", got)
	}
}
