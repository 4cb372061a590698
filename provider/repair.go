package provider

import (
	"fmt"
	"slices"
	"strings"
)

// repair is what a refused request asks for.
type repair struct {
	advice advice
	param  string // as the trace names it
	limit  int
	exact  int // the number to send in place of limit, where that is excluded
}

// refusalWords say that a field is not taken.
var refusalWords = []string{
	"unsupported", "not supported", "not support", "unrecognized", "unrecognised", "not recognized", "unknown", "unexpected",
	"extra inputs", "extra_forbidden", "extra fields", "not permitted", "not allowed", "additional properties",
	"cannot be used", "not a valid field", "no such field", "cannot find field", "invalid parameter",
	"unknown_parameter", "unsupported_parameter", "unsupported_value", "invalid field", "not a permitted",
	"not accepted", "is forbidden", "not available", "cannot be set", "must not be", "is not valid for",
}

// droppable are the fields that can be left out, in the order in which they
// are looked for. Those we never send are here too: the user's own may hold
// them, and a trace names them.
var droppable = []string{
	"stream_options", "include_usage", "tool_choice", "reasoning_effort", "parallel_tool_calls", "prompt_cache_key",
	"prompt_cache_retention", "return_progress", "enable_thinking", "reasoning_split", "clear_thinking", "chat_template_kwargs",
	"temperature", "top_p", "presence_penalty", "frequency_penalty", "logprobs", "service_tier", "verbosity",
	"cache_control", "thinking", "reasoning", "store", "user", "metadata", "strict", "stop", "seed", "options",
}

// refused says which field of the request the server does not take, and the
// cure. It looks at the words alone; whether the field was sent is asked later.
func refused(said *complaint) (repair, bool) {
	w := said.words
	for _, find := range []func(string, *complaint) (repair, bool){
		effortRefused, historyRefused, maxRefused, contentRefused, streamRefused,
	} {
		if r, ok := find(w, said); ok {
			return r, true
		}
	}
	if strings.Contains(w, "tool_choice") && hasAny(w, refusalWords...) {
		return repair{advice: adviseDrop, param: "tool_choice"}, true
	}
	if strings.Contains(w, "temperature") && hasAny(w, "only the default", "does not support") {
		return repair{advice: adviseDrop, param: "temperature"}, true
	}
	if hasAny(w, "does not support thinking", "does not support reasoning", "thinking is not supported", "reasoning is not supported") {
		return repair{advice: adviseDrop, param: "thinking"}, true // Ollama, of a model that cannot
	}
	if !hasAny(w, refusalWords...) {
		return repair{}, false
	}
	for _, name := range droppable {
		if said.param == name || strings.HasPrefix(said.param, name+".") || namesField(w, name) {
			if name == "include_usage" {
				name = "stream_options"
			}
			return repair{advice: adviseDrop, param: name}, true
		}
	}
	return repair{}, false
}

// effortRefused: some models take no effort beside tools, others another list
// of efforts.
func effortRefused(w string, said *complaint) (repair, bool) {
	if !hasAny(w, "reasoning_effort", "reasoningeffort", "reasoning effort", "reasoning.effort", "invalid reasoning value") && said.param != "reasoning_effort" {
		return repair{}, false
	}
	r := repair{param: "reasoning_effort"}
	switch {
	case strings.Contains(w, "function tools"), strings.Contains(w, "tools") && hasAny(w, "to 'none'", `to "none"`, "to `none`", "to none"):
		r.advice = adviseNone
	case hasAny(w, "'high'", `"high"`, "`high`", " high,", " high.", ", high", "or high") && !hasAny(w, "not support 'high'", "unsupported value: 'high'"):
		r.advice = adviseClamp
	case hasAny(w, refusalWords...), hasAny(w, "invalid", "input should be", "must be"):
		r.advice = adviseDrop
	default:
		return repair{}, false
	}
	return r, true
}

// historyRefused: thinking in the messages is missed by some and refused by
// others.
func historyRefused(w string, said *complaint) (repair, bool) {
	name := ""
	for _, n := range []string{"reasoning_content", "reasoning_details", "reasoning"} {
		if strings.Contains(w, n) {
			name = n
			break
		}
	}
	if name == "" {
		return repair{}, false
	}
	if name == "reasoning_content" && hasAny(w, "must be passed back", "is missing", "missing", "is required", "must be provided") {
		return repair{advice: adviseAdd, param: "messages.reasoning_content"}, true
	}
	inMessages := name != "reasoning" || strings.Contains(w, "messages")
	if inMessages && (namesField(w, name) || name != "reasoning") && hasAny(w+said.code, refusalWords...) {
		return repair{advice: adviseDrop, param: "messages." + name}, true
	}
	return repair{}, false
}

// maxRefused: max_tokens has another name, or is too large.
func maxRefused(w string, said *complaint) (repair, bool) {
	name := ""
	for _, n := range []string{"max_tokens", "max_completion_tokens", "maxtokens", "max_output_tokens", "maxoutputtokens", "max_new_tokens"} {
		if i := strings.Index(w, n); i >= 0 && name == "" {
			name = n
		}
	}
	switch name {
	case "":
		return repair{}, false
	case "maxtokens", "max_output_tokens", "maxoutputtokens", "max_new_tokens":
		name = "max_tokens"
	}
	if said.param == "max_completion_tokens" || strings.Contains(w, "'max_completion_tokens' is not") {
		name = "max_completion_tokens"
	}
	both := strings.Contains(w, "max_completion_tokens") && strings.Contains(strings.ReplaceAll(w, "max_completion_tokens", ""), "max_tokens")
	if both && hasAny(w, refusalWords...) && hasAny(w, "use ", "instead") {
		return repair{advice: adviseRename, param: name}, true
	}
	if n, exact, ok := largestAllowed(w); ok {
		return repair{advice: adviseClamp, param: name, limit: n, exact: exact}, true
	}
	if hasAny(w+said.code, refusalWords...) {
		if name == "max_completion_tokens" {
			return repair{advice: adviseRename, param: name}, true
		}
		return repair{advice: adviseDrop, param: name}, true
	}
	return repair{}, false
}

// rangeWords lead to the largest max_tokens that is taken; see overflowWords
// for the notation.
var rangeWords = []string{
	"[*, #]", "[*,#]", "between * and #", "between 1 <= value <= #", "range of * to #", "from * to #", "range (*, #)",
	"supports at most #", "at most #", "less than or equal to #", "less than or equal to `#", "<= #",
	"> #, which is the maximum", "maximum value is #", "maximum value of #", "maximum of #", "maximum is #", "max is #",
	"maximum allowed is #", "maximum allowed value is #", "cannot exceed #", "must not exceed #", "not exceed #",
	"exceeds the limit of #", "exceeds the maximum of #", "exceeds maximum of #", "limit of #", "limit is #", "up to #",
	"maximum value for max_tokens is #", "maximum value for `max_tokens` is #", "maximum allowed (#", "maximum number of output tokens is #",
	"should be in [*, #]", "no more than #", "not be greater than #", "cannot be greater than #", "smaller than or equal to #",
}

// strictWords exclude the number itself.
var strictWords = []string{"to # (exclusive)", "less than #", "lower than #", "smaller than #", "below #"}

func largestAllowed(w string) (n, exact int, ok bool) {
	for _, p := range strictWords {
		if n, ok := match(w, p); ok && n > 1 {
			return n, n - 1, true
		}
	}
	for _, p := range rangeWords {
		if n, ok := match(w, p); ok && n > 0 {
			return n, n, true
		}
	}
	return 0, 0, false
}

// imageParam names images among the fields.
const imageParam = "messages.image_url"

// contentRefused: null beside calls is not taken, or no image is.
func contentRefused(w string, said *complaint) (repair, bool) {
	if hasAny(w, "image") && hasAny(w, "image input", "image_url", "images are not", "support image", "supports image", "vision", "image content", "multimodal") &&
		hasAny(w, append(refusalWords, "invalid", "cannot", "only supports text", "no endpoints found", "mmproj")...) {
		return repair{advice: adviseDrop, param: imageParam}, true
	}
	null := hasAny(w, "<nil>", "null", "none is not", "got none", "nonetype")
	if strings.Contains(w, "content") && null || hasAny(w, "content: input should be a valid string", "'content' is a required property", "content field is required") {
		return repair{advice: adviseAdd, param: "messages.content"}, true
	}
	return repair{}, false
}

// streamRefused: the model answers in one piece only.
func streamRefused(w string, said *complaint) (repair, bool) {
	field := said.param == "stream" || hasAny(w, "'stream'", `"stream"`, "`stream`", "streaming")
	if field && !strings.Contains(w, "stream_options") && hasAny(w, refusalWords...) {
		return repair{advice: adviseDrop, param: "stream"}, true
	}
	return repair{}, false
}

// namesField says whether w names a field, and does not only use a word that
// is one. Names with an underscore are no words; others have to be quoted, end
// a path, or be introduced as a field.
func namesField(w, name string) bool {
	for at := 0; ; {
		i := strings.Index(w[at:], name)
		if i < 0 {
			return false
		}
		i += at
		end := i + len(name)
		at = end
		if i > 0 && isWord(w[i-1]) || end < len(w) && isWord(w[end]) {
			continue
		}
		if strings.Contains(name, "_") {
			return true
		}
		before := strings.TrimRight(w[:i], "`'\" ")
		quoted := i > 0 && strings.IndexByte("`'\".", w[i-1]) >= 0
		if quoted || hasSuffix(before, "supplied:", "argument", "argument:", "arguments:", "parameter", "parameter:", "parameters:",
			"field", "field:", "fields:", "property", "property:", "key", "keys:", "name", "keyword") {
			return true
		}
	}
}

func hasSuffix(s string, ends ...string) bool {
	for _, e := range ends {
		if strings.HasSuffix(s, e) {
			return true
		}
	}
	return false
}

// maxRepairs is how often one request is mended.
const maxRepairs = 4

// mend applies a repair for good and says in one sentence what was done. It
// reports false where there is nothing to mend: the field was not sent, or the
// same repair did not help.
func (c *Client) mend(f *failure, sent []field) (string, bool) {
	l := c.learnt()
	switch {
	case f.param == "messages.reasoning_content" && f.advice == adviseAdd:
		if l.added >= 2 {
			return "", false
		}
		l.added, l.stripped = l.added+1, false
		return "the server wants its thinking back in every message", true
	case strings.HasPrefix(f.param, "messages.reasoning"):
		if l.stripped {
			return "", false
		}
		l.stripped, l.added = true, 0
		return "the server refuses thinking in the history; it is left out", true
	case f.param == "messages.content":
		if l.emptyText {
			return "", false
		}
		l.emptyText = true
		return `the server wants "" and not null for an empty text`, true
	case f.param == imageParam:
		if l.noImages {
			return "", false
		}
		l.noImages = true
		return "the server takes no images; a note stands in their place", true
	case f.param == "stream":
		if l.plain {
			return "", false
		}
		l.plain = true
		return "the model does not stream; its replies come in one piece", true
	}
	return c.mendField(f, sent)
}

// mendField repairs a member of the request itself.
func (c *Client) mendField(f *failure, sent []field) (string, bool) {
	l := c.learnt()
	switch {
	case f.advice == adviseNone:
		if l.effort == "none" {
			return "", false
		}
		l.effort = "none"
		return "the model takes tools only without thinking; reasoning_effort is none", true
	case isMax(f.param):
		return c.mendMax(f, sent)
	}
	param := thinkingField(f.param, sent)
	now := valueOf(sent, param)
	if f.advice == adviseClamp && l.effort == "" && now != "" && !strings.Contains(now, `"high"`) {
		l.effort = "high"
		return "the server does not take that reasoning_effort; high is sent", true
	}
	if param == "tool_choice" && !l.dropped(param) {
		l.drop = append(l.drop, param)
		return "the server refuses tool_choice; it is left out", true
	}
	if now == "" || l.dropped(param) {
		return "", false
	}
	l.drop = append(l.drop, param)
	return fmt.Sprintf("the server refuses %s; it is left out", param), true
}

// thinkingFields are the members that have to do with thinking. A server may
// name another than the one it does not take.
var thinkingFields = []string{"thinking", "reasoning", "reasoning_effort", "enable_thinking", "reasoning_split", "clear_thinking"}

// thinkingField is the field to repair: param, or what was sent to the same
// end.
func thinkingField(param string, sent []field) string {
	if valueOf(sent, param) != "" || !slices.Contains(thinkingFields, param) {
		return param
	}
	for _, f := range thinkingFields {
		if valueOf(sent, f) != "" {
			return f
		}
	}
	return param
}

func isMax(param string) bool { return param == "max_tokens" || param == "max_completion_tokens" }

func (c *Client) mendMax(f *failure, sent []field) (string, bool) {
	l := c.learnt()
	name, n := c.maxTokens()
	if valueOf(sent, name) == "" {
		return "", false
	}
	switch f.advice {
	case adviseRename:
		other := "max_completion_tokens"
		if name == other {
			other = "max_tokens"
		}
		if l.maxField != "" {
			return "", false
		}
		l.maxField = other
		return "the server wants " + other + " in place of " + name, true
	case adviseClamp:
		most := f.exact
		if most <= 0 || most >= n {
			return "", false
		}
		l.maxTokens = most
		return fmt.Sprintf("the server takes at most %d for %s", most, name), true
	}
	l.drop = append(l.drop, name)
	return fmt.Sprintf("the server refuses %s; it is left out", name), true
}

// valueOf is the value of the field named, "" if it was not sent.
func valueOf(sent []field, key string) string {
	for _, f := range sent {
		if f.key == key {
			return f.value
		}
	}
	return ""
}
