package provider

import (
	"strings"

	"cluade/internal/chat"
	"cluade/internal/httpc"
)

// classify judges what a server said in place of a reply, looking at nothing
// else: status is that of the HTTP answer, 0 for an error inside a 200.
func (c *Client) classify(status int, said *complaint, h httpc.Header) *failure {
	said.extra = c.extra
	f := &failure{code: status, words: said.words, message: said.message}
	if inner := said.status(); status < 400 {
		f.code = inner
	}
	f.class, f.advice = classOf(f.code, said)
	switch f.class {
	case ContextOverflow:
		f.limit, _ = overflow(said.words)
		if f.limit == 0 {
			f.limit = said.window
		}
	case RateLimit, Overloaded:
		f.setWait(said, h)
	case UnsupportedParam:
		r, _ := refused(said)
		f.advice, f.param, f.limit, f.exact = r.advice, r.param, r.limit, r.exact
	}
	if f.class == NotAPI {
		f.message = c.notAPI(f.code, f.message)
	}
	f.message = chat.EscapeText(c.secrets.mask(f.message), maxMessage)
	if f.message == "" {
		f.message = strings.ToLower(httpc.StatusText(f.code))
	}
	if f.class == BadRequest && hasAny(said.words, "tool", "function call") && hasAny(said.words, "not support", "unsupported") {
		f.message += "; the model may lack tool support"
	}
	if f.class == ContextOverflow && !strings.Contains(strings.ToLower(f.message), "context") {
		f.message += "; the conversation is longer than the context window"
	}
	return f
}

// classOf is the class by status and words. The order matters: what the server
// says outright in its code comes first, then what only the words tell, then
// the status alone.
func classOf(status int, said *complaint) (Class, advice) {
	switch {
	case status == 402 || isBilling(said):
		return Billing, adviseNo
	case status == 407:
		return NotAPI, adviseNo
	case status == 401, isAuth(status, said):
		return Auth, adviseNo
	case status == 429, isSpeed(status, said):
		return RateLimit, adviseBackoff
	case isOverflow(status, said):
		return ContextOverflow, adviseCompact
	case isFiltered(said):
		return ContentFilter, adviseNo
	case status == 403:
		return Auth, adviseNo
	case status == 400 || status == 422 || status == 0 || status >= 500:
		return classOfFault(status, said)
	case status == 404 || status == 405:
		return classOfPath(status, said)
	case status == 408:
		return Overloaded, adviseBackoff
	case said.html:
		return NotAPI, adviseNo
	}
	return BadRequest, adviseNo
}

// classOfFault sorts a refused request from a server in trouble. llama.cpp
// answers 500 to faults of the request too: sent again they fail again.
func classOfFault(status int, said *complaint) (Class, advice) {
	if r, ok := refused(said); ok && !said.html && canRefuse(status, said) {
		return UnsupportedParam, r.advice
	}
	switch {
	case said.html && status < 500:
		return NotAPI, adviseNo
	case hasAny(said.words, "tool_use_failed", "failed_generation"):
		return BadRequest, adviseResend
	case status == 501:
		return BadRequest, adviseNo
	case (status == 500 || status == 0) && hasAny(said.words, chanceWords...):
		return StreamError, adviseResend
	case status >= 500 && hasAny(said.words, permanentWords...):
		return BadRequest, adviseNo
	case status >= 500, status == 0 && isOverloaded(said):
		return Overloaded, adviseBackoff
	case status == 0:
		return StreamError, adviseBackoff
	case strings.Contains(said.code+said.kind, "model_not_found"):
		return NotFound, adviseNo
	}
	return BadRequest, adviseNo
}

// canRefuse says whether a complaint may be about a field at all. A server in
// trouble talks of streams and contents too; from it only what is known to come
// as 500 counts, or what it calls a fault of the request itself.
func canRefuse(status int, said *complaint) bool {
	if status == 400 || status == 422 {
		return true
	}
	switch said.kind {
	case "invalid_request_error", "unsupported_parameter", "unsupported_value", "unknown_parameter":
		return true
	}
	if status == 0 {
		return !isOverloaded(said)
	}
	return hasAny(said.words, "image input is not supported", "does not support thinking")
}

// chanceWords are faults of one sampling: the same request may go well.
var chanceWords = []string{
	"got exception:", "does not match the expected", "returned invalid tool call arguments",
	"unexpected empty grammar stack",
}

// permanentWords are faults of the request that come as 500 from llama.cpp and
// Ollama.
var permanentWords = []string{
	"json.exception.", "failed to parse tool call arguments", "failed to parse tools",
	"requires --jinja", "image input is not supported", "while executing callexpression",
	"failed to parse grammar", "unable to generate parser", "json schema conversion failed",
}

// classOfPath tells a wrong address from a model that is not there.
func classOfPath(status int, said *complaint) (Class, advice) {
	if status == 405 || !said.json || said.html {
		return NotAPI, adviseNo
	}
	if imageRefused(said.words) {
		return UnsupportedParam, adviseDrop
	}
	words := strings.TrimSpace(strings.ToLower(said.message))
	if hasAny(words, "model", "endpoints found", "deployment") && !hasAny(said.words, "unknown request url", "invalid url", "unknown_url") {
		return NotFound, adviseNo
	}
	if hasAny(words, "unknown request url", "file not found", "invalid url", "no route", "cannot post",
		"page not found", "no handler", "resource not found", "route", "/chat/completions", "path") ||
		words == "not found" || words == "not found." || words == "" {
		return NotAPI, adviseNo
	}
	return NotFound, adviseNo
}

// isBilling goes by the code, not by the words: one provider says
// "insufficient quota" for a plain limit on speed.
func isBilling(said *complaint) bool {
	for _, s := range []string{said.code, said.kind} {
		switch s {
		case "insufficient_quota", "insufficient_balance", "insufficient_credits", "insufficient_funds",
			"billing_error", "billing_not_active", "billing_hard_limit_reached", "payment_required",
			"exceeded_current_quota_error", "exceeded_current_quota", "quota_exhausted", "arrearage", "1008", "1113":
			return true
		}
	}
	return hasAny(said.words, "credit balance is too low", "insufficient balance", "account balance is insufficient", "insufficient account balance")
}

func isAuth(status int, said *complaint) bool {
	for _, s := range []string{said.code, said.kind} {
		switch s {
		case "invalid_api_key", "authentication_error", "unauthorized", "unauthenticated", "permission_denied", "permission_error",
			"invalid_authentication_error", "incorrect_api_key_error", "api_key_invalid", "1004":
			return true
		}
	}
	return status < 500 && hasAny(said.words, "api key not valid", "api_key_invalid", "incorrect api key", "invalid api key", "invalid api-key")
}

// isSpeed tells a limit on speed from one on size, which may be told in nearly
// the same words. A 413 is about size whatever it says: waiting makes no request
// smaller. The code of a server in trouble may be that of another behind it.
func isSpeed(status int, said *complaint) bool {
	if status == 413 || status >= 500 {
		return false
	}
	for _, s := range []string{said.code, said.kind} {
		switch s {
		case "rate_limit_exceeded", "rate_limit_error", "rate_limit", "rate_limit_reached_error", "too_many_requests",
			"resource_exhausted", "throttling_error", "throttling", "throttled", "1002", "1302":
			return true
		}
	}
	return hasAny(said.words, speedWords...)
}

func isOverloaded(said *complaint) bool {
	for _, s := range []string{said.code, said.kind} {
		switch s {
		case "overloaded_error", "overloaded", "server_error", "internal_server_error", "internal_error", "api_error", "internal",
			"service_unavailable", "unavailable", "unavailable_error", "server_overloaded", "engine_overloaded_error",
			"bad_gateway", "gateway_timeout", "timeout", "timeout_error", "1000", "1001", "1013":
			return true
		}
	}
	return hasAny(said.words, "overloaded", "temporarily unavailable", "service unavailable", "currently unavailable", "loading model", "server is busy", "at capacity")
}

func isOverflow(status int, said *complaint) bool {
	if status == 413 && !said.json {
		return true
	}
	for _, s := range []string{said.code, said.kind} {
		switch s {
		case "context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "string_above_max_length", "request_too_large", "1039", "1261":
			return true
		}
	}
	_, ok := overflow(said.words)
	return ok || status == 413
}

func isFiltered(said *complaint) bool {
	for _, s := range []string{said.code, said.kind} {
		switch s {
		case "content_filter", "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed",
			"content_filter_error", "sensitive_words_detected", "invalid_prompt", "1026", "1027", "1301":
			return true
		}
	}
	return hasAny(said.words, "content management policy", "content_filter", "responsibleaipolicyviolation", "requires moderation", "your input was flagged", "content exists risk")
}

func hasAny(s string, words ...string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// notAPI says what a page or a wrong path probably means. A page in the place
// of a good answer is one that this network puts in between.
func (c *Client) notAPI(status int, what string) string {
	hint := "; check base_url"
	switch {
	case status == 407:
		s := "the proxy wants a user and a password, which belong into its URL"
		if line := c.firstLine(what); line != "" {
			s += ": " + line
		}
		return s
	case status == 0:
		hint = "; is a login page of this network in between, or base_url wrong?"
	case !strings.HasSuffix(c.base.Path, "/v1"):
		hint = "; check base_url, which may lack /v1"
	}
	return "no API at " + shownURL(c.url) + ": " + c.firstLine(what) + hint
}

func (c *Client) firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return chat.EscapeText(c.secrets.mask(s), 120)
}
