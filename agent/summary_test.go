package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"cluade/internal/chat"
)

func TestParseSummary(t *testing.T) {
	const cut, empty = "the summary was not finished", "the summary is empty"
	tests := []struct{ text, want, err string }{
		{"<analysis>\nthought\n</analysis>\n<summary>\nS\nT\n</summary>", "S\nT", ""},
		{"\n <analysis>x</analysis>\n\n<summary>S</summary>\n", "S", ""},
		{"<summary>\nS\n</summary>\nI hope this helps", "S", ""},
		{"Here it is.\n<summary>S\n</summary>", "S", ""},
		{"<summary>S</summary>\nThanks!", "S", ""},
		{"<summary>\nuse </summary>\nand T</summary>\n\nThanks!\n", "use </summary>\nand T", ""},

		// Tags in the middle of a line are text.
		{"<summary>\nuse <summary> and </summary> and <analysis>\n</summary>", "use <summary> and </summary> and <analysis>", ""},
		{"<analysis>\nI write <summary> next, after </analysis>, so\n</analysis>\n<summary>\nS\n</summary>", "S", ""},
		{"no tag, but <summary>x</summary> in it", "no tag, but <summary>x</summary> in it", ""},

		// The last end counts, and an analysis that speaks of the summary.
		{"<summary>\na\n</summary>\nb\n</summary>\nrest", "a\n</summary>\nb", ""},
		{"<analysis>\n<summary>\nnot this\n</summary>\n</analysis>\n<summary>\nS\n</summary>", "S", ""},
		{"<summary>\nS\n<analysis>\nof the log\n</analysis>\n</summary>", "S\n<analysis>\nof the log\n</analysis>", ""},

		// Without tags.
		{"  just words\n", "just words", ""},
		{"<analysis>\nthought\n</analysis>\nwords", "words", ""},
		{"<analysis>thought</analysis> words", "words", ""},
		{"first\n<analysis>\nthought\n</analysis>\nlast", "first\n\nlast", ""},
		{"<analysis>\nthought</analysis>\nwords", "words", ""},
		{"<analysis>\nof </analysis> I\nthought</analysis> words", "words", ""},

		// An analysis without end stops at the summary.
		{"<analysis>\nthought\n<summary>\nS\n</summary>", "S", ""},

		{"", "", empty},
		{" \n", "", empty},
		{"<summary>\n \n</summary>", "", empty},
		{"<summary></summary>", "", empty},
		{"<analysis>\nonly thought\n</analysis>", "", empty},
		{"<analysis>\nonly thought", "", empty},
		{"<analysis>\nonly thought</analysis>\n", "", empty},
		{"<analysis>\nthought\n</analysis>\n<summary>\nhalf of", "", cut},
		{"<summary>", "", cut},
		{"<summary>\nhalf</summary> of", "", cut},
	}
	for _, tt := range tests {
		got, err := parseSummary(tt.text)
		if got != tt.want || fmt.Sprint(err) != tt.err && (err != nil || tt.err != "") {
			t.Errorf("parseSummary(%q) = %q, %v, want %q, %s", tt.text, got, err, tt.want, tt.err)
		}
	}
}

func FuzzParseSummary(f *testing.F) {
	f.Add("<analysis>\nx\n</analysis>\n<summary>\ny\n</summary>")
	f.Add("<analysis>x</analysis><summary>y</summary>")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := parseSummary(text)
		if (got == "") == (err == nil) || got != strings.TrimSpace(got) {
			t.Fatalf("parseSummary(%q) = %q, %v", text, got, err)
		}
		if marked := "<analysis>\nno\n</analysis>\n<summary>\n" + got + "\n</summary>"; got != "" {
			if again, err := parseSummary(marked); again != got {
				t.Fatalf("parseSummary(%q) = %q, %v, want %q", marked, again, err, got)
			}
		}
	})
}

// talk has a stage with two turns behind it, the second with a call.
func talk(t *testing.T) *stage {
	s := newStage(t, reply{text: "hello"}, reply{calls: "look {}"}, reply{text: "all is well"})
	for _, input := range []string{"hi", "look around"} {
		if err := s.turn(context.Background(), input); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestOpeningNamesImages: a request keeps the names of what it showed.
func TestOpeningNamesImages(t *testing.T) {
	got := opening("S", []chat.Message{{Role: chat.User, Content: "what is it?", Images: []chat.Image{{Path: "/a.png"}, {Path: "/b.png"}}}})
	if !strings.Contains(got.Content, "what is it?\n[image /a.png]\n[image /b.png]\n\nS") {
		t.Errorf("opening: %q", got.Content)
	}
}

// TestAgentCompact: the request is the last one with what followed it and one
// message more; its summary is then the whole conversation.
func TestAgentCompact(t *testing.T) {
	s := talk(t)
	s.agent.o.Env.Session = "/root/s.jsonl"
	s.events = nil
	s.agent.o.System = func() string { return "another system message" }
	s.script = []reply{{text: "<analysis>\nhm\n</analysis>\n<summary>\nall was looked at\n</summary>", calls: "act {}", usage: chat.Usage{Prompt: 50, Completion: 7}}}
	whole := slices.Clone(s.session.Messages)
	total := s.session.Total.Total()
	usage, err := s.agent.Compact(context.Background(), " keep the names ")
	if err != nil {
		t.Fatal(err)
	}
	last, req := s.asked[2], s.asked[3]
	if last.Once || !req.Once {
		t.Error("an empty summary would be asked for again, or an empty answer not")
	}
	if req.System != last.System || !slices.Equal(req.Tools, last.Tools) || len(req.Messages) != len(whole)+1 ||
		fmt.Sprint(req.Messages[:len(whole)]) != fmt.Sprint(whole) {
		t.Errorf("the request for a summary is not the last one and what followed it:\n%s", show(req.Messages))
	}
	ask := req.Messages[len(whole)]
	if ask.Role != chat.User || !strings.Contains(ask.Content, "<summary>") || !strings.HasSuffix(ask.Content, "\nOf the summary the user says: keep the names") {
		t.Errorf("the summary is asked for with %q", ask.Content)
	}
	want := "user " + preamble + firstBegin + "2" + requestUnit + "hi" + lastBegin + "11" + requestUnit + "look around" +
		"\n\nThe user asked for a summary. Summary of what was said and done:\nall was looked at" +
		"\n\nAll that was said is in /root/s.jsonl, a JSON record a line: look things up there with grep, never read it whole."
	if got := contents(s.session.Messages); !slices.Equal(got, []string{want}) || !s.session.Messages[0].Notice {
		t.Errorf("the conversation is\n%q\nwant\n%q", got, want)
	}
	if fmt.Sprint(s.saved) != fmt.Sprint(s.session.Messages) || !slices.Contains(s.trace, "journal reset compact") {
		t.Errorf("the journal holds\n%s", show(s.saved))
	}
	if usage.Total() != 57 || s.session.Total.Total() != total+57 || s.states[len(s.states)-1].Total.Total() != total+57 {
		t.Errorf("usage %+v, total %d, want 57 more than %d", usage, s.session.Total.Total(), total)
	}
	if got := s.states[len(s.states)-1].Context; got != s.agent.Context().Tokens {
		t.Errorf("the context is saved as %d", got)
	}
	for _, e := range s.events {
		if _, ok := e.(TextDelta); ok {
			t.Error("the summary is shown as an answer")
		}
	}
	if slices.Contains(s.results(), "act did 0") {
		t.Error("a call of the summary's reply ran")
	}
	s.events = nil
	s.script = []reply{{text: "yes"}}
	if err := s.turn(context.Background(), "still there?"); err != nil || len(s.asked[4].Messages) != 2 {
		t.Errorf("the turn after: %v\n%s", err, show(s.asked[4].Messages))
	}
}

// TestAgentCompactFails: whatever goes wrong, nothing of the conversation
// changes, in memory or in the journal.
func TestAgentCompactFails(t *testing.T) {
	down := errors.New("request failed (HTTP 500: no)")
	good := "<summary>\nS\n</summary>"
	tests := []struct {
		name   string
		reply  reply
		at     string // where the person cancels
		cancel bool
		want   string
	}{
		{"server fails", reply{err: down}, "", false, down.Error()},
		{"reply breaks off", reply{text: good, err: down}, "", false, down.Error()},
		{"cut at the limit", reply{text: good, finish: chat.FinishLength}, "", false, "the summary was cut at the output limit"},
		{"filtered", reply{text: good, finish: chat.FinishFilter}, "", false, "the server's content filter ended the summary"},
		{"not ended", reply{text: "<summary>\nS"}, "", false, "the summary was not finished"},
		{"empty", reply{text: "<analysis>\nx\n</analysis>"}, "", false, "the summary is empty"},
		{"nothing", reply{}, "", false, "the summary is empty"},
		{"calls only", reply{calls: `compact {"summary":"S"}`}, "", false, "the summary is empty"},
		{"larger", reply{text: strings.Repeat("s", 2000)}, "", false, "the summary has 2000 bytes, more than the 321 that it would replace"},
		{"cancelled before", reply{text: good}, "chat", true, context.Canceled.Error()},
		{"cancelled while it is written", reply{text: good}, "reply", true, context.Canceled.Error()},
	}
	for _, tt := range tests {
		s := talk(t)
		before, saved := fmt.Sprintf("%+v", s.session.Messages), fmt.Sprintf("%+v", s.saved)
		ctx, cancel := context.WithCancel(context.Background())
		s.script, s.events = []reply{tt.reply}, nil
		s.act = func(_ int, what string) error {
			if tt.cancel && what == tt.at {
				cancel()
			}
			return nil
		}
		_, err := s.agent.Compact(ctx, "")
		cancel()
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s: error %v, want %s", tt.name, err, tt.want)
		}
		if got := fmt.Sprintf("%+v", s.session.Messages); got != before {
			t.Errorf("%s: the conversation changed to\n%s", tt.name, show(s.session.Messages))
		}
		if got := fmt.Sprintf("%+v", s.saved); got != saved {
			t.Errorf("%s: the journal changed to\n%s", tt.name, show(s.saved))
		}
		for _, e := range s.events {
			if _, ok := e.(Compacted); ok {
				t.Errorf("%s: it is told that the conversation was compacted", tt.name)
			}
		}
	}
}

// TestAgentCompactUnsaved: a journal that fails is announced once, and the
// session goes on in memory.
func TestAgentCompactUnsaved(t *testing.T) {
	s := talk(t)
	s.agent.o.Env.Session = "/root/s.jsonl"
	s.script = []reply{{text: "S"}, {text: "well"}, {text: "T"}}
	s.act = func(_ int, what string) error {
		if what == "journal reset compact" {
			return errors.New("disk full")
		}
		return nil
	}
	if _, err := s.agent.Compact(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	if len(s.session.Messages) != 1 || s.agent.SaveError() == nil {
		t.Errorf("%d messages, save error %v", len(s.session.Messages), s.agent.SaveError())
	}
	s.events = nil
	if err := s.turn(context.Background(), "on"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.agent.Compact(context.Background(), ""); err != nil || strings.Contains(s.session.Messages[0].Content, "/root/s.jsonl") {
		t.Errorf("error %v; %q names a file that does not have it all", err, s.session.Messages[0].Content)
	}
}

// TestAgentCompactNothing: no request where there is nothing to replace.
func TestAgentCompactNothing(t *testing.T) {
	s := newStage(t).start()
	if _, err := s.agent.Compact(context.Background(), ""); err != errNothing || len(s.trace) > 0 {
		t.Errorf("of nothing: %v, trace %q", err, s.trace)
	}
	s = talk(t)
	s.script = []reply{{text: "S"}, {text: "S"}}
	if _, err := s.agent.Compact(context.Background(), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.agent.Compact(context.Background(), ""); err != errNothing || len(s.asked) != 4 {
		t.Errorf("of a summary: %v, %d requests", err, len(s.asked))
	}
}
