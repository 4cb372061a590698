package provider

import (
	"fmt"
	"slices"
	"strings"
)

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
	name := "max_tokens"
	if valueOf(sent, name) == "" {
		name = "max_completion_tokens"
	}
	n := number(valueOf(sent, name))
	if n < 0 || l.dropped(name) {
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
