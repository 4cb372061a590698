package server

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Asked is what a reply needs to know of its request.
type Asked struct {
	Model      string
	Stream     bool
	WantsUsage bool
	LastResult string // text of the newest tool message
	Bytes      int
}

type message struct {
	Role       string
	Content    json.RawMessage
	ToolCalls  []call `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

type call struct {
	ID       string
	Type     string
	Index    *int
	Function struct{ Name, Arguments string }
}

type request struct {
	Model         string
	Messages      []message
	Tools         []json.RawMessage
	Stream        bool
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// Check reads a request body and refuses what strict servers refuse: a field
// that is null, a system message that is not first, arguments that are no JSON
// object, calls and results that do not pair.
func Check(body []byte) (Asked, error) {
	var top map[string]json.RawMessage
	if err := json.Unmarshal(body, &top); err != nil {
		return Asked{}, fmt.Errorf("body is not a JSON object: %w", err)
	}
	for name, v := range top {
		if string(v) == "null" {
			return Asked{}, fmt.Errorf("field %q is null", name)
		}
	}
	var r request
	if err := json.Unmarshal(body, &r); err != nil {
		return Asked{}, err
	}
	if r.Model == "" {
		return Asked{}, errors.New("no model")
	}
	if err := checkTools(top["tools"], r.Tools); err != nil {
		return Asked{}, err
	}
	last, err := checkMessages(r.Messages)
	if err != nil {
		return Asked{}, err
	}
	return Asked{r.Model, r.Stream, r.StreamOptions.IncludeUsage, last, len(body)}, nil
}

func checkTools(raw json.RawMessage, list []json.RawMessage) error {
	if raw != nil && len(list) == 0 {
		return errors.New("tools is empty")
	}
	for i, t := range list {
		var tool struct {
			Type     string
			Function struct {
				Name       string
				Parameters struct {
					Type       string
					Properties map[string]json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(t, &tool); err != nil {
			return fmt.Errorf("tool %d: %w", i, err)
		}
		p := tool.Function.Parameters
		if tool.Type != "function" || tool.Function.Name == "" || p.Type != "object" || p.Properties == nil {
			return fmt.Errorf("tool %d is no function with an object of properties", i)
		}
	}
	return nil
}

// checkMessages walks the transcript and returns the text of the last result.
func checkMessages(list []message) (last string, err error) {
	if len(list) == 0 {
		return "", errors.New("no messages")
	}
	var open []string // ids of calls that wait for their result
	seen := map[string]bool{}
	for i, m := range list {
		if len(open) > 0 && m.Role != "tool" {
			return "", fmt.Errorf("message %d: call %s has no result", i, open[0])
		}
		switch m.Role {
		case "system":
			if i > 0 {
				return "", fmt.Errorf("message %d: a system message that is not the first", i)
			}
		case "user":
			if m.Content == nil || string(m.Content) == "null" {
				return "", fmt.Errorf("message %d: a user message without content", i)
			}
		case "assistant":
			if open, err = checkAssistant(m, seen); err != nil {
				return "", fmt.Errorf("message %d: %w", i, err)
			}
		case "tool":
			if last, open, err = checkResult(m, open); err != nil {
				return "", fmt.Errorf("message %d: %w", i, err)
			}
		default:
			return "", fmt.Errorf("message %d: unknown role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return "", fmt.Errorf("call %s has no result", open[0])
	}
	return last, nil
}

func checkAssistant(m message, seen map[string]bool) (open []string, err error) {
	if m.Content == nil || string(m.Content) == "null" && len(m.ToolCalls) == 0 {
		return nil, errors.New("an assistant message without content")
	}
	for _, c := range m.ToolCalls {
		var args map[string]json.RawMessage
		switch {
		case c.ID == "":
			return nil, errors.New("a call without an id")
		case seen[c.ID]:
			return nil, fmt.Errorf("two calls with the id %s", c.ID)
		case c.Type != "function" || c.Function.Name == "":
			return nil, fmt.Errorf("call %s is no function call", c.ID)
		case c.Index != nil:
			return nil, fmt.Errorf("call %s carries the index of a stream", c.ID)
		case json.Unmarshal([]byte(c.Function.Arguments), &args) != nil, args == nil:
			return nil, fmt.Errorf("call %s: arguments are no JSON object: %s", c.ID, c.Function.Arguments)
		}
		seen[c.ID] = true
		open = append(open, c.ID)
	}
	return open, nil
}

func checkResult(m message, open []string) (text string, rest []string, err error) {
	if len(open) == 0 || m.ToolCallID != open[0] {
		return "", nil, fmt.Errorf("result of %q, which is not the call that waits", m.ToolCallID)
	}
	if err := json.Unmarshal(m.Content, &text); err != nil {
		return "", nil, fmt.Errorf("result of %s: %w", m.ToolCallID, err)
	}
	return text, open[1:], nil
}
