package store

import (
	"math"
	"slices"
	"time"

	"github.com/valyala/fastjson"
)

// The functions below say whether a project's value is at least as strict as
// old, the JSON text in force. Old values were approved by the key's kind.

func always(string, *fastjson.Value) bool { return true }

// becomes admits one value only, the strict one.
func becomes(want string) func(string, *fastjson.Value) bool {
	return func(_ string, v *fastjson.Value) bool { return jsonText(v) == want }
}

// ranked orders words from loose to strict.
func ranked(words ...string) func(string, *fastjson.Value) bool {
	rank := func(v *fastjson.Value) int { return slices.Index(words, string(v.GetStringBytes())) }
	return func(old string, v *fastjson.Value) bool { return rank(v) >= rank(fastjson.MustParse(old)) }
}

// lower admits a limit that is not above the one in force; 0 is no limit.
func lower(old string, v *fastjson.Value) bool {
	return limitOf(v) <= limitOf(fastjson.MustParse(old))
}

func limitOf(v *fastjson.Value) time.Duration {
	d, ok := durationOf(v)
	if !ok { // a count above the longest duration
		d = time.Duration(v.GetInt64()) * time.Second
	}
	if d == 0 {
		return math.MaxInt64
	}
	return d
}

func atMost(old string, v *fastjson.Value) bool {
	return v.GetInt64() <= fastjson.MustParse(old).GetInt64()
}

// subset admits tools that are offered already.
func subset(old string, v *fastjson.Value) bool {
	if old == "" {
		return true
	}
	var had []string
	for _, s := range stringsOf(fastjson.MustParse(old)) {
		name, _ := toolName(s)
		had = append(had, name)
	}
	return !slices.ContainsFunc(stringsOf(v), func(s string) bool {
		name, _ := toolName(s)
		return !slices.Contains(had, name)
	})
}
