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
	"`inputs` tokens + `max_new_tokens` must be <= #",           // TGI
	"exceeds the context window",                                // OpenAI
	"context window exceeds limit",                              // MiniMax
	"context size has been exceeded",                            // LM Studio
	"prompt is too long",                                        //
	"reduce the length of the messages", "reduce the length of the input",
	"reduce the length of the prompt", "reduce the length of your prompt", // Groq, others
	"input is too long for requested model", // Bedrock
	"exceed context limit", "context length exceeded", "context_length_exceeded", "exceed_context_size_error",
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
	return overflowSentence(words)
}

// windowWords name the window, tooMuch say that something is beyond it.
var (
	windowWords = []string{"context length", "context window", "context size", "context limit", "model's context", "max_model_len", "max_seq_len", "model_len", "seq_len"}
	tooMuch     = []string{"exceed", "too long", "longer than", "larger than", "greater than", "too large", "too many", "beyond", "does not fit"}
)

// overflowSentence knows by its words a sentence that was not met before: a
// window, or a prompt counted in tokens, and too much. A number after that is
// the window, the least if there are several; complaints about the output and
// about other fields are none.
func overflowSentence(words string) (limit int, ok bool) {
	for len(words) > 0 {
		var line string
		line, words, _ = strings.Cut(words, "\n")
		prompt := hasAny(line, "prompt", "input", "messages", "conversation") && strings.Contains(line, "token")
		if !hasAny(line, windowWords...) && !prompt || hasAny(line, "max_tokens", "max_completion_tokens", "maxtokens", "output", "input should be", "budget", "tool_call_id") {
			continue
		}
		for _, much := range tooMuch {
			i := strings.Index(line, much)
			if i < 0 {
				continue
			}
			for _, w := range strings.FieldsFunc(line[i:], func(r rune) bool { return r != ',' && (r < '0' || r > '9') }) {
				if n := number(strings.Trim(w, ",")); n >= minWindow && (limit == 0 || n < limit) {
					limit = n
				}
			}
			return limit, true
		}
	}
	return 0, false
}

// minWindow is the least number that can be a window.
const minWindow = 512

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
