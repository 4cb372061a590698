package provider

import (
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
	"not accepted", "is forbidden", "not available", "cannot be set", "must not be", "is not valid for", "only allowed",
	"only supported",
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
	w := plainWords(said.words)
	no := hasAny(w, refusalWords...)
	if name, _, _ := strings.Cut(said.param, "."); no && name != "reasoning_effort" && slices.Contains(droppable, name) {
		return repair{advice: adviseDrop, param: name}, true
	}
	for _, find := range []func(string, *complaint) (repair, bool){
		effortRefused, historyRefused, maxRefused, contentRefused, streamRefused,
	} {
		if r, ok := find(w, said); ok {
			return r, true
		}
	}
	switch {
	case strings.Contains(w, "temperature") && hasAny(w, "only the default", "does not support"):
		return repair{advice: adviseDrop, param: "temperature"}, true
	case hasAny(w, "does not support thinking", "does not support reasoning", "thinking is not supported", "reasoning is not supported"):
		return repair{advice: adviseDrop, param: "thinking"}, true // Ollama, of a model that cannot
	case !no:
		return repair{}, false
	}
	for _, f := range said.extra {
		if name := strings.ToLower(f.key); said.param == f.key || namesField(w, name) {
			return repair{advice: adviseDrop, param: f.key}, true
		}
	}
	for _, name := range droppable {
		if namesField(w, name) {
			if name == "include_usage" {
				name = "stream_options"
			}
			return repair{advice: adviseDrop, param: name}, true
		}
	}
	return repair{}, false
}

// plainWords brings the ways to quote and to negate to one, and leaves out the
// names that a server lists as those it takes.
func plainWords(w string) string {
	w = strings.NewReplacer("`", "'", `"`, "'", "\u2018", "'", "\u2019", "'", "n\u2019t ", " not ", "n't ", " not ").Replace(w)
	for _, lead := range []string{
		"supported parameters", "supported fields", "allowed fields", "allowed parameters", "valid fields", "valid parameters",
		"permitted fields", "accepted fields", "accepted parameters", "known fields", "did you mean", "expected one of",
	} {
		for i := strings.Index(w, lead); i >= 0; i = strings.Index(w, lead) {
			line := w[strings.LastIndexByte(w[:i], '\n')+1 : i]
			if lead == "expected one of" && !strings.Contains(line, "unknown field") {
				break // of a value
			}
			end := strings.IndexByte(w[i:]+"\n", '\n')
			w = w[:i] + w[i+end:]
		}
	}
	return w
}

// effortRefused: some models take no effort beside tools, others another list
// of efforts.
func effortRefused(w string, said *complaint) (repair, bool) {
	if !hasAny(w, "reasoning_effort", "reasoningeffort", "reasoning effort", "reasoning.effort", "invalid reasoning value") && said.param != "reasoning_effort" {
		return repair{}, false
	}
	r := repair{param: "reasoning_effort"}
	switch {
	case strings.Contains(w, "function tools"), strings.Contains(w, "tools") && hasAny(w, "to 'none'", "to none"):
		r.advice = adviseNone
	case hasAny(w, "'high'", " high,", " high.", ", high", "or high") && !hasAny(w, "not support 'high'", "unsupported value: 'high'"):
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
	if inMessages && (namesField(w, name) || name != "reasoning") && hasAny(w, refusalWords...) {
		return repair{advice: adviseDrop, param: "messages." + name}, true
	}
	return repair{}, false
}

// maxRefused: max_tokens has another name, or is too large.
func maxRefused(w string, said *complaint) (repair, bool) {
	w = strings.NewReplacer("maxcompletiontokens", "max_completion_tokens", "maxtokens", "max_tokens", "max_output_tokens", "max_tokens",
		"maxoutputtokens", "max_tokens", "max_new_tokens", "max_tokens").Replace(w)
	name := "max_tokens"
	if !strings.Contains(w, name) {
		if name = "max_completion_tokens"; !strings.Contains(w, name) {
			return repair{}, false
		}
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
	if hasAny(w, refusalWords...) {
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
	"supports at most #", "at most #", "less than or equal to #", "less than or equal to '#", "<= #",
	"> #, which is the maximum", "maximum value is #", "maximum value of #", "maximum of #", "maximum is #", "max is #",
	"maximum allowed is #", "maximum allowed value is #", "cannot exceed #", "must not exceed #", "not exceed #",
	"exceeds the limit of #", "exceeds the maximum of #", "exceeds maximum of #", "limit of #", "limit is #", "up to #",
	"maximum value for max_tokens is #", "maximum value for 'max_tokens' is #", "maximum allowed (#", "maximum number of output tokens is #",
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

// contentRefused: no image is taken, or null beside calls is not.
func contentRefused(w string, said *complaint) (repair, bool) {
	switch {
	case imageRefused(w):
		return repair{advice: adviseDrop, param: imageParam}, true
	case nullRefused(w):
		return repair{advice: adviseAdd, param: "messages.content"}, true
	}
	return repair{}, false
}

// imageRefused also knows the complaint about the list that content becomes
// with an image in it.
func imageRefused(w string) bool {
	if hasAny(w, "invalid type: sequence, expected a string", "at most 0 image", "not a multimodal", "not a vision") {
		return true
	}
	return strings.Contains(w, "image") && (hasAny(w, "only supports text", "only accepts text", "text-only", "text only", "only text", "expected 'text'", "no endpoints found", "mmproj") ||
		hasAny(w, "image input", "image_url", "images", "support image", "supports image", "vision", "image content", "multimodal") && hasAny(w, refusalWords...))
}

// nullRefused looks for null where the text of a message is meant: neither in
// a part of it, nor in the schema of a tool, nor in a crash of the server.
func nullRefused(w string) bool {
	if hasAny(w, "content type: <nil>", "content: input should be a valid string", "'content' is a required property", "content field is required") {
		return true
	}
	if hasAny(w, "content[", "content.0", ".text", "empty", "cannot read", "no attribute", "parameters", "not subscriptable", "not iterable") {
		return false
	}
	return hasAny(w, "null", "none", "<nil>") && (namesField(w, "content") || hasAny(w, "content must be", "content should be", "content cannot be", "content can not be", "content is null"))
}

// streamRefused: the model answers in one piece only. That a stream went wrong
// says nothing of the kind.
func streamRefused(w string, said *complaint) (repair, bool) {
	field := said.param == "stream" || strings.Contains(w, "'stream'") && !strings.Contains(w, "stream_options")
	if field && hasAny(w, refusalWords...) || hasAny(w, "not support stream", "streaming is not supported", "streaming not supported", "streaming is unsupported",
		"stream is not supported", "stream not supported", "stream=true is not", "streaming is not allowed", "streaming responses are not supported",
		"streaming requests are not supported", "streaming is not available for", "streaming mode is not") {
		return repair{advice: adviseDrop, param: "stream"}, true
	}
	return repair{}, false
}

// namesField says whether w names a field, and does not only use a word that
// is one. Names with an underscore are no words; others have to be quoted, end
// a path, be introduced as a field, or stand before a colon and nothing else.
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
		quoted := i > 0 && strings.IndexByte("`'\"./", w[i-1]) >= 0
		head := end < len(w) && w[end] == ':' && (before == "" || strings.IndexByte("\n>:", before[len(before)-1]) >= 0)
		if quoted || head || hasSuffix(before, "->", "supplied:", "argument", "argument:", "arguments:", "parameter", "parameter:", "parameters:",
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
