package provider

import (
	"strconv"
	"strings"
	"time"

	"cluade/internal/httpc"
)

// longestWait is the most that is slept for a server's own wait; a longer one
// is told to the person, who may have better things to do.
const longestWait = 60 * time.Second

const httpDate = "Mon, 02 Jan 2006 15:04:05 GMT"

// setWait finds how long the server wants to be left alone. Where it names no
// wait the client's own back-off counts.
func (f *failure) setWait(said *complaint, h httpc.Header) {
	f.loading = f.code == 503 && isLoading(said)
	now := time.Now()
	if theirs, err := time.Parse(httpDate, h.Get("Date")); err == nil {
		now = theirs // moments are told by the server's clock; that of a device may be years behind
	}
	wait, ok := retryAfter(h, now)
	if !ok {
		wait, ok = parseWait(said.wait, now)
	}
	if !ok && f.class == RateLimit {
		wait, ok = budgetReset(h, now)
	}
	if !ok && said.reset != "" {
		wait, ok = parseReset(said.reset, now)
	}
	if ok {
		f.advice, f.after = adviseAfter, wait
	}
	daily := said.daily
	if f.class == RateLimit {
		daily = daily || hasAny(said.words, "per day", "per-day", "per_day", "/day", "(rpd)", "(tpd)", "daily")
		if !ok {
			wait = waitInWords(said.words)
			f.after = wait
		}
	}
	if (daily || wait > longestWait) && !f.loading {
		f.advice = adviseNo
		f.message += whenReset(wait, time.Now())
	}
}

// isLoading knows a local server that reads its model, which can take minutes.
func isLoading(said *complaint) bool {
	return said.kind == "unavailable_error" ||
		hasAny(strings.ReplaceAll(said.words, "overload", ""), "loading", "not loaded", "be loaded", "being loaded", "yet loaded")
}

// waitInWords is the wait that a message asks for, 0 if it names none: "try
// again in 7m12s", "retry after 20 seconds".
func waitInWords(w string) time.Duration {
	for _, lead := range []string{"try again in ", "try again after ", "retry in ", "retry after "} {
		_, rest, found := strings.Cut(w, lead)
		words := strings.Fields(rest[:min(len(rest), 80)])
		if !found || len(words) == 0 {
			continue
		}
		n := strings.TrimRight(words[0], ".,;)")
		if d, err := time.ParseDuration(n); err == nil {
			return max(d, 0)
		}
		if len(words) == 1 {
			continue
		}
		unit, day := words[1][:1], time.Duration(1)
		if strings.HasPrefix(words[1], "mil") || strings.HasPrefix(words[1], "ms") {
			unit = "ms"
		} else if unit == "d" {
			unit, day = "h", 24
		}
		if d, err := time.ParseDuration(n + unit); err == nil && d < 1e6*time.Hour/24 {
			return max(d*day, 0)
		}
	}
	return 0
}

// whenReset tells a person when it is worth asking again.
func whenReset(wait time.Duration, now time.Time) string {
	if wait <= 0 {
		return " (a daily quota is used up)"
	}
	at := now.Add(wait)
	layout := "15:04"
	if wait > 12*time.Hour {
		layout = "2006-01-02 15:04"
	}
	return " (the limit resets in " + wait.Round(time.Second).String() + ", at " + at.Format(layout) + ")"
}

// retryAfter reads Retry-After (RFC 9110, section 10.2.3): seconds or a date;
// and the header with milliseconds that some send beside it.
func retryAfter(h httpc.Header, now time.Time) (time.Duration, bool) {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e10 {
		return time.Duration(ms * float64(time.Millisecond)), true
	}
	return parseWait(strings.TrimSpace(h.Get("Retry-After")), now)
}

// parseWait reads seconds ("12", "1.5"), a duration ("45.8s", "6m0s") or an
// HTTP date.
func parseWait(s string, now time.Time) (time.Duration, bool) {
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		if n < 0 || n > 1e8 || n != n {
			return 0, false
		}
		return time.Duration(n * float64(time.Second)), true
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, true
	}
	// The forms of a date, of which the last two are old (RFC 9110, section 5.6.7).
	for _, form := range []string{httpDate, time.RFC850, time.ANSIC} {
		if t, err := time.Parse(form, s); err == nil {
			return max(t.Sub(now), 0), true
		}
	}
	return 0, false
}

// budgetReset waits for the budgets that are used up: each has a header with
// what remains and one with when it is full again.
func budgetReset(h httpc.Header, now time.Time) (wait time.Duration, ok bool) {
	for _, name := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		for _, prefix := range []string{"X-Ratelimit-", "Anthropic-Ratelimit-"} {
			remain, reset := h.Get(prefix+"Remaining-"+name), h.Get(prefix+"Reset-"+name)
			if prefix == "Anthropic-Ratelimit-" {
				remain, reset = h.Get(prefix+name+"-Remaining"), h.Get(prefix+name+"-Reset")
			}
			d, valid := parseReset(reset, now)
			if valid && strings.TrimSpace(remain) == "0" && d >= wait {
				wait, ok = d, true
			}
		}
	}
	if ok {
		return wait, true
	}
	if reset := h.Get("X-Ratelimit-Reset"); reset != "" {
		return parseReset(reset, now)
	}
	// One reset and nothing that says which budget is empty: it is the one.
	for _, name := range []string{"Requests", "Tokens"} {
		d, valid := parseReset(h.Get("X-Ratelimit-Reset-"+name), now)
		if valid && h.Get("X-Ratelimit-Remaining-"+name) == "" && (!ok || d < wait) {
			wait, ok = d, true
		}
	}
	return wait, ok
}

// parseReset is parseWait for headers that may also hold a moment: epoch
// milliseconds or seconds, told apart by size, or an RFC 3339 time.
func parseReset(s string, now time.Time) (time.Duration, bool) {
	s = strings.TrimSpace(s)
	n, err := strconv.ParseFloat(s, 64)
	switch {
	case err == nil && n > 1e12 && n < 1e14:
		return max(time.UnixMilli(int64(n)).Sub(now), 0), true
	case err == nil && n > 1e9 && n < 1e11:
		return max(time.Unix(int64(n), 0).Sub(now), 0), true
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return max(t.Sub(now), 0), true
	}
	return parseWait(s, now)
}
