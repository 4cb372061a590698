package provider

import (
	"testing"

	"github.com/valyala/fastjson"
)

func TestDetails(t *testing.T) {
	tests := []struct {
		name     string
		pieces   []string
		want     string
		readable string
	}{
		{"none", nil, "", ""},
		{"one block", []string{`[{"type":"reasoning.text","index":0,"text":"a"}]`, `[{"type":"reasoning.text","index":0,"text":"b","signature":"S"}]`},
			`[{"type":"reasoning.text","index":0,"text":"ab","signature":"S"}]`, "ab"},
		{"null at first", []string{`[{"type":"reasoning.text","index":0,"text":null,"signature":null}]`, `[{"index":0,"type":"reasoning.text","text":"a"},{"index":0,"type":"reasoning.text","text":"b","signature":null}]`},
			`[{"type":"reasoning.text","index":0,"text":"ab","signature":null}]`, "ab"},
		{"sealed data", []string{`[{"type":"reasoning.encrypted","index":0,"data":"x"}]`, `[{"type":"reasoning.encrypted","index":0,"data":"y"}]`},
			`[{"type":"reasoning.encrypted","index":0,"data":"xy"}]`, ""},
		{"same index, two types", []string{`[{"type":"reasoning.summary","index":0,"summary":"s"},{"type":"reasoning.encrypted","index":0,"data":"x"}]`},
			`[{"type":"reasoning.summary","index":0,"summary":"s"},{"type":"reasoning.encrypted","index":0,"data":"x"}]`, "s"},
		{"no index", []string{`[{"type":"reasoning.text","text":"a"}]`, `[{"type":"reasoning.text","text":"b"}]`, `[{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.encrypted","data":"y"}]`},
			`[{"type":"reasoning.text","text":"ab"},{"type":"reasoning.encrypted","data":"x"},{"type":"reasoning.encrypted","data":"y"}]`, "ab"},
		{"no list", []string{`{"a":1}`, `"x"`, `[1,"x",null]`}, "", ""},
	}
	for _, tt := range tests {
		var d details
		readable := ""
		for _, p := range tt.pieces {
			readable += d.add(fastjson.MustParse(p))
		}
		if got := d.json(); got != tt.want || readable != tt.readable {
			t.Errorf("%s: %s, readable %q, want %s, %q", tt.name, got, readable, tt.want, tt.readable)
		}
	}
}
