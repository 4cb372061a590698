package provider

import (
	"cluade/internal/chat"

	"github.com/valyala/fastjson"
)

// parseUsage reads a usage object under any of its names; ok is false for one
// that says nothing. The prompt includes what came from the cache.
func parseUsage(v *fastjson.Value) (u chat.Usage, ok bool) {
	if kind(v) != fastjson.TypeObject {
		return u, false
	}
	u.Prompt = count(v, "prompt_tokens", "input_tokens")
	u.Completion = count(v, "completion_tokens", "output_tokens")
	u.Cached = count(v, "prompt_cache_hit_tokens")
	if !has(v, "prompt_cache_hit_tokens") {
		u.Cached = firstOf(count(v.Get("prompt_tokens_details"), "cached_tokens"),
			count(v.Get("input_tokens_details"), "cached_tokens"), count(v, "cached_tokens"))
	}
	u.Reasoning = firstOf(count(v.Get("completion_tokens_details"), "reasoning_tokens"),
		count(v.Get("output_tokens_details"), "reasoning_tokens"), count(v, "reasoning_tokens"))
	return u, u != chat.Usage{}
}

// parseTimings reads llama.cpp's own account, which comes also unasked.
func parseTimings(v *fastjson.Value) (u chat.Usage, ok bool) {
	if kind(v) != fastjson.TypeObject {
		return u, false
	}
	u.Cached = count(v, "cache_n")
	u.Prompt = u.Cached + count(v, "prompt_n")
	u.Completion = count(v, "predicted_n")
	return u, u != chat.Usage{}
}

func has(v *fastjson.Value, key string) bool { return kind(v.Get(key)) == fastjson.TypeNumber }

// count is the first of the keys that holds a number, as far as it can be a
// count of tokens.
func count(v *fastjson.Value, keys ...string) int {
	for _, k := range keys {
		if has(v, k) {
			if f := v.GetFloat64(k); f > 0 && f < 1<<31-1 {
				return int(f)
			}
			return 0
		}
	}
	return 0
}

func firstOf(ns ...int) int {
	for _, n := range ns {
		if n != 0 {
			return n
		}
	}
	return 0
}
