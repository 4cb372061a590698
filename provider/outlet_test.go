package provider

import (
	"strings"
	"testing"
)

// TestHold: text goes out as it comes, only what may be markup or a secret
// waits. Each line is one piece and what is out after it.
func TestHold(t *testing.T) {
	type step struct{ piece, out string }
	tests := []struct {
		name  string
		steps []step
		end   string
	}{
		{"plain", []step{{"Hel", "Hel"}, {"lo", "Hello"}}, "Hello"},
		{"marker", []step{{"Hi <tool", "Hi "}, {"_call>{", "Hi "}, {"}", "Hi "}}, "Hi <tool_call>{}"},
		{"no marker after all", []step{{"Hi <tool", "Hi "}, {"box", "Hi <toolbox"}}, "Hi <toolbox"},
		{"marker in a fence", []step{{"```\n<tool_call>x\n```\nmore", "```\n<tool_call>x\n```\nmore"}, {".", "```\n<tool_call>x\n```\nmore."}}, "```\n<tool_call>x\n```\nmore."},
		{"marker in inline code", []step{{"`<tool_call>` on", "`<tool_call>` on"}}, "`<tool_call>` on"},
		{"bare object", []step{{"{", ""}, {"\"na", ""}, {"me\": 1}", ""}}, "{\"name\": 1}"},
		{"other object", []step{{"{", ""}, {"\"x", "{\"x"}}, "{\"x"},
		{"secret", []step{{"a secret-o", "a "}, {"f-mine b", "a *** b"}}, "a *** b"},
		{"no secret", []step{{"a secret-", "a "}, {"s b", "a secret-s b"}}, "a secret-s b"},
		{"secret at the end", []step{{"secret-of-mine", "***"}}, "***"},
	}
	for _, tt := range tests {
		var out strings.Builder
		o := outlet{secrets: secrets{"secret-of-mine"}, calls: true, emit: func(s string) { out.WriteString(s) }}
		for _, s := range tt.steps {
			if o.write(s.piece); out.String() != s.out {
				t.Errorf("%s: after %q is out %q, want %q", tt.name, s.piece, out.String(), s.out)
			}
		}
		o.flush()
		if out.String() != tt.end || o.text() != tt.end {
			t.Errorf("%s: in the end %q, text %q, want %q", tt.name, out.String(), o.text(), tt.end)
		}
	}
}
