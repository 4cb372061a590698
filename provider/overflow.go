package provider

import "strings"

// overflowWords are the ways in which servers say that the conversation is
// longer than the window. In each, "#" stands for a number, which is the
// window, "*" for a number that is not, and "..." for anything on the way. All
// is compared in lower case. Collected from public reports; vendors in the
// comments.
var overflowWords = []string{
	"maximum context length is #",                               // OpenAI, DeepSeek, OpenRouter, vLLM, Together
	"maximum context length of #",                               // relays
	"prompt is too long: * tokens > #",                          // Anthropic
	"exceed context limit: * + * > #",                           // Anthropic, prompt and output together
	"exceeds the available context size (#",                     // llama.cpp
	"exceeds the available context size",                        // the same, older
	"input token count ... maximum number of tokens allowed (#", // Gemini
	"input token count ... maximum number of tokens allowed #",  // Gemini, elsewhere
	"maximum prompt length is #",                                // xAI
	"too large for model with # maximum context",                // Mistral
	"greater than the context length ... n_ctx: #",              // LM Studio
	"exceeded model token limit: #",                             // Kimi
	"range of input length should be [*, #]",                    // DashScope
	"maximum allowed input length of #",                         // Poolside
	"context length of only # tokens",                           // LM Studio
	"context window of # tokens",                                //
	"context size of #",                                         //
	"maximum context size of #",                                 //
	"exceeds max_seq_len #", "exceeds max_model_len #",          // other engines
	"exceeds the max_model_len", "exceeds max_model_len", //
	"exceeds the max_seq_len", "exceeds max_seq_len", //
	"exceeds the maximum_model_len", "exceeds the maximum_seq_len", //
	"exceeds maximum_model_len", "exceeds maximum_seq_len", //
	"exceeds the model_len", "exceeds the seq_len", "exceeds model_len", //
	"greater than the context length", //
	"exceeds the context window",      // OpenAI
	"context window exceeds limit",    // MiniMax
	"context size has been exceeded",  // LM Studio
	"prompt is too long",              //
	"reduce the length of the messages", "reduce the length of the input",
	"reduce the length of the prompt", "reduce the length of your prompt", // Groq, others
	"exceeds the model's context", "exceeds the maximum context length",
	"exceed context limit", "exceeds context length", "exceeds the context length",
	"context length exceeded", "context_length_exceeded", "exceed_context_size_error",
	"no user query found in messages", // Ollama has cut the user's own words off the front
}

// speedWords tell a limit on speed from one on size.
var speedWords = []string{"rate limit", "ratelimit", "rate_limit", "throttl", "please wait", "per minute", "per-minute", "per day", "too many requests"}

// overflow says whether words report that the conversation does not fit, and
// the window if they name it.
func overflow(words string) (limit int, ok bool) {
	for _, pattern := range overflowWords {
		if n, found := match(words, pattern); found {
			return n, true
		}
	}
	return 0, false
}

// match looks for pattern, in the notation of overflowWords, anywhere in s and
// returns the number at its "#", 0 if it has none.
func match(s, pattern string) (n int, ok bool) {
	first := pattern
	if i := strings.IndexAny(pattern, "#*"); i >= 0 {
		first = pattern[:i]
	}
	first, _, _ = strings.Cut(first, " ... ")
	for at := 0; ; {
		i := strings.Index(s[at:], first)
		if i < 0 {
			return 0, false
		}
		if n, ok := matchHere(s[at+i:], pattern); ok {
			return n, true
		}
		at += i + 1
	}
}

func matchHere(s, pattern string) (n int, ok bool) {
	for pattern != "" {
		switch {
		case pattern[0] == '#' || pattern[0] == '*':
			end := 0
			for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ',' && end > 0) {
				end++
			}
			v := number(strings.TrimRight(s[:end], ","))
			if v < 0 {
				return 0, false
			}
			if pattern[0] == '#' {
				n = v
			}
			s, pattern = s[len(strings.TrimRight(s[:end], ",")):], pattern[1:]
		case strings.HasPrefix(pattern, " ... "):
			return match(s, pattern[len(" ... "):])
		case s == "" || s[0] != pattern[0]:
			return 0, false
		default:
			s, pattern = s[1:], pattern[1:]
		}
	}
	return n, true
}
