package provider

import (
	"os"
	"syscall"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
)

// trace appends one JSON object a line for each attempt, whatever became of
// it. A trace that cannot be written is given up: it is no part of the job.
type trace struct {
	path    string
	secrets secrets
	file    *os.File
}

func (t *trace) write(got *chat.Reply, f *failure) {
	if t.path == "" {
		return
	}
	if t.file == nil {
		file, err := os.OpenFile(t.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK, 0o600) // a pipe that nobody reads is an error, not a wait
		if err != nil {
			t.path = ""
			return
		}
		t.file = file
	}
	line := append(t.line(got, f), '\n')
	if _, err := t.file.Write(line); err != nil {
		t.file.Close()
		t.path, t.file = "", nil
	}
}

func (t *trace) line(got *chat.Reply, f *failure) []byte {
	m := &got.Message
	b := []byte{'{'}
	b = t.text(b, "text", m.Content)
	b = t.text(b, "reasoning", m.Reasoning)
	b = append(jsonenc.AppendKey(b, "tool_calls"), '[')
	for i, c := range m.ToolCalls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '{')
		b = t.text(b, "id", c.ID)
		b = t.text(b, "name", c.Name)
		b = t.text(b, "arguments", c.Args)
		b = append(b, '}')
	}
	b = append(b, ']')
	b = t.text(b, "finish", string(got.Finish))
	b = append(jsonenc.AppendKey(b, "usage"), '{')
	b = count64(b, "prompt", got.Usage.Prompt)
	b = count64(b, "completion", got.Usage.Completion)
	b = count64(b, "cached", got.Usage.Cached)
	b = count64(b, "reasoning", got.Usage.Reasoning)
	b = append(b, '}')
	if f != nil && f.target != "" {
		b = t.text(b, "redirect", f.target)
	} else if f != nil {
		b = t.failure(b, f)
	}
	return append(b, '}')
}

func (t *trace) failure(b []byte, f *failure) []byte {
	b = append(jsonenc.AppendKey(b, "error"), '{')
	b = t.text(b, "class", string(f.class))
	b = t.text(b, "retry", string(f.advice))
	if f.after > 0 || f.advice == adviseAfter {
		b = count64(b, "after_ms", int(f.after.Milliseconds()))
	}
	if f.param != "" {
		b = t.text(b, "param", f.param)
	}
	if f.limit > 0 {
		b = count64(b, "limit", f.limit)
	}
	b = t.text(b, "message", f.message)
	return append(b, '}')
}

func (t *trace) text(b []byte, key, s string) []byte {
	return jsonenc.AppendString(jsonenc.AppendKey(b, key), t.secrets.mask(s))
}

func count64(b []byte, key string, n int) []byte {
	return jsonenc.AppendInt(jsonenc.AppendKey(b, key), int64(n))
}

func (t *trace) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
