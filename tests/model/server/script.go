// Package server is a scripted model server for tests and the demonstration:
// it speaks the chat-completions protocol on a loopback address and answers
// from a small readable script. It is a stand-in, not a model.
//
// A script is a list of replies with a blank line between them. Every line is
// one directive; "#" starts a comment line.
//
//	text WORDS            a piece of the answer; in Go quotes, escapes count
//	reason WORDS          a piece of the thinking text
//	echo                  the text of the newest tool result
//	fill N                N bytes of answer text
//	call NAME {ARGS}      a tool call; ARGS are sent as they stand
//	finish REASON         the finish_reason; else it follows from the calls
//	usage IN OUT [CACHED] the token figures; "usage none" leaves them out
//	plain                 one JSON document even where a stream was asked for
//	cut                   the connection drops after what stands above
//	stall                 nothing more comes, the connection stays open
//	status CODE [retry-after=N] [code=WORD] [type=WORD] MESSAGE
//	                      an error answer; $key in MESSAGE is the key received
//	raw FILE              the bytes of FILE as the body of an event stream
//	times N               this reply is given N times
package server

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Reply is one answer of the script.
type Reply struct {
	Pieces []Piece
	Finish string // "" follows from the calls
	Usage  *Usage // nil is estimated from the bytes
	Plain  bool
	End    End
	Status int // 0 is 200
	Error  Fault
	Raw    []byte // the whole body of an event stream, or nil
}

// Piece is one directive that adds to the reply. Exactly one field is set.
type Piece struct {
	Text, Reason string
	Echo         bool
	Call         *Call
}

// Call is one tool call. Args need not be JSON.
type Call struct{ Name, Args string }

// Usage are the token figures; all zero leaves them out.
type Usage struct{ Prompt, Completion, Cached int }

// End is how the body of a reply ends.
type End int

// A reply ends well, by a dropped connection, or never.
const (
	Whole End = iota
	Cut
	Stall
)

// Fault describes an error answer.
type Fault struct{ Message, Code, Type, RetryAfter string }

// Load reads a script. A file whose name ends in ".sse" is one raw reply.
func Load(file string) ([]Reply, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(file, ".sse") {
		return []Reply{{Raw: data}}, nil
	}
	replies, err := Parse(string(data), filepath.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return replies, nil
}

// Parse reads the text of a script. Files of "raw" are looked up in dir.
func Parse(text, dir string) ([]Reply, error) {
	var replies []Reply
	cur, times, open := Reply{}, 1, false
	flush := func() {
		for ; open && times > 0; times-- {
			replies = append(replies, cur)
		}
		cur, times, open = Reply{}, 1, false
	}
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.HasPrefix(line, "#"):
			continue
		case strings.TrimSpace(line) == "":
			flush()
			continue
		}
		open = true
		word, rest, _ := strings.Cut(line, " ")
		var err error
		if word == "times" {
			times, err = strconv.Atoi(rest)
		} else {
			err = cur.add(word, rest, dir)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	flush()
	return replies, nil
}

func (r *Reply) add(word, rest, dir string) (err error) {
	switch word {
	case "text":
		rest, err = unquote(rest)
		r.Pieces = append(r.Pieces, Piece{Text: rest})
	case "reason":
		rest, err = unquote(rest)
		r.Pieces = append(r.Pieces, Piece{Reason: rest})
	case "echo":
		r.Pieces = append(r.Pieces, Piece{Echo: true})
	case "fill":
		var n int
		n, err = strconv.Atoi(rest)
		r.Pieces = append(r.Pieces, Piece{Text: strings.Repeat("fill ", n/5+1)[:n]})
	case "call":
		name, args, _ := strings.Cut(rest, " ")
		if name == "" {
			err = errors.New("call without a name")
		}
		r.Pieces = append(r.Pieces, Piece{Call: &Call{name, args}})
	case "finish":
		r.Finish = rest
	case "usage":
		r.Usage, err = parseUsage(rest)
	case "plain":
		r.Plain = true
	case "cut":
		r.End = Cut
	case "stall":
		r.End = Stall
	case "status":
		r.Status, r.Error, err = parseStatus(rest)
	case "raw":
		r.Raw, err = os.ReadFile(filepath.Join(dir, rest))
	default:
		err = fmt.Errorf("unknown directive %q", word)
	}
	return err
}

func unquote(s string) (string, error) {
	if !strings.HasPrefix(s, `"`) {
		return s, nil
	}
	out, err := strconv.Unquote(s)
	if err != nil {
		return "", fmt.Errorf("bad quoting: %s", s)
	}
	return out, nil
}

func parseUsage(s string) (*Usage, error) {
	u := &Usage{}
	if s == "none" {
		return u, nil
	}
	n, err := fmt.Sscan(s, &u.Prompt, &u.Completion, &u.Cached)
	if n < 2 {
		return nil, fmt.Errorf("usage %s: %w", s, err)
	}
	return u, nil
}

func parseStatus(s string) (code int, f Fault, err error) {
	word, rest, _ := strings.Cut(s, " ")
	if code, err = strconv.Atoi(word); err != nil {
		return 0, f, err
	}
	for {
		word, after, _ := strings.Cut(rest, " ")
		name, value, found := strings.Cut(word, "=")
		switch {
		case found && name == "retry-after":
			f.RetryAfter = value
		case found && name == "code":
			f.Code = value
		case found && name == "type":
			f.Type = value
		default:
			f.Message = rest
			return code, f, nil
		}
		rest = after
	}
}
