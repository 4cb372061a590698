package store

import (
	"time"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
)

// The journal's version, and the layout of its times, which are local.
const (
	journalVersion = 1
	timeLayout     = "2006-01-02 15:04:05"
)

// The records of a journal, one line each. A reader passes over types and
// fields that it does not know, so both may be added.

func headRecord(s *chat.Session, version string) []byte {
	line := jsonenc.AppendInt([]byte(`{"t":"session","v":`), journalVersion)
	for _, m := range [][2]string{
		{"id", s.ID}, {"cwd", s.Dir}, {"created", s.Created.Format(timeLayout)},
		{"model", s.Model}, {"version", version},
	} {
		line = jsonenc.AppendString(jsonenc.AppendKey(line, m[0]), m[1])
	}
	return append(line, "}\n"...)
}

func messageRecord(m chat.Message) []byte {
	return append(chat.AppendMessage([]byte(`{"t":"msg","m":`), m), "}\n"...)
}

func truncateRecord(n int, why string) []byte {
	line := jsonenc.AppendInt([]byte(`{"t":"truncate","n":`), int64(n))
	return append(jsonenc.AppendString(jsonenc.AppendKey(line, "why"), why), "}\n"...)
}

func cwdRecord(dir string) []byte {
	return append(jsonenc.AppendString([]byte(`{"t":"cwd","cwd":`), dir), "}\n"...)
}

func modeRecord(word string) []byte {
	return append(jsonenc.AppendString([]byte(`{"t":"mode","mode":`), word), "}\n"...)
}

func nameRecord(name string) []byte {
	return append(jsonenc.AppendString([]byte(`{"t":"name","name":`), name), "}\n"...)
}

// stateRecord holds the counters. What follows context_tokens is beyond the
// common form: the kinds of tokens in total_tokens, the model in use with its
// window, and whether there were jobs.
func stateRecord(s *chat.Session) []byte {
	line := []byte(`{"t":"state"`)
	for _, n := range []struct {
		key   string
		value int
	}{
		{"steps", s.Steps}, {"total_tokens", s.Total.Total()}, {"context_tokens", s.Context},
		{"completion_tokens", s.Total.Completion}, {"cached_tokens", s.Total.Cached}, {"reasoning_tokens", s.Total.Reasoning},
	} {
		line = jsonenc.AppendInt(jsonenc.AppendKey(line, n.key), int64(n.value))
	}
	line = jsonenc.AppendString(jsonenc.AppendKey(line, "model"), s.Model)
	if s.Window > 0 {
		line = jsonenc.AppendInt(jsonenc.AppendKey(line, "window"), int64(s.Window))
	}
	if s.Jobs {
		line = append(line, `,"jobs":true`...)
	}
	return append(line, "}\n"...)
}

// parseTime reads a time of the journal, the zero time if it is none.
func parseTime(s string) time.Time {
	t, err := time.ParseInLocation(timeLayout, s, time.Local)
	if err != nil {
		return time.Time{}
	}
	return t
}
