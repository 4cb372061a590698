package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"cluade/internal/chat"
	"cluade/lineedit"
)

// maxInput is how much of standard input, and of a prompt file, is taken.
const maxInput = 256 << 10

// stdinMark is the line above what came from standard input.
const stdinMark = "--- stdin ---"

var errNoPrompt = errors.New("no prompt and nothing on standard input; usage: cluade [options] [prompt...]")

// oneShot says that the run answers one prompt and ends.
func (a *app) oneShot() bool {
	f := a.flags
	return f.tree != nil || f.doctor || f.status || f.words != nil || f.promptFile != "" || f.dash || f.noStdin || f.unattendedRun() || asTerminal(a.env.Stdin) == nil
}

// message is what a one-shot sends: its prompt, with the files that the words
// of the command line name, if a person typed them.
func (a *app) message(ctx context.Context) (chat.Message, error) {
	custom, err := a.expandWords()
	if err != nil {
		return chat.Message{}, err
	}
	text, err := a.input(ctx)
	if err != nil {
		return chat.Message{}, err
	}
	typed := ""
	if a.depth == 0 && !custom {
		typed = strings.Join(a.flags.words, " ")
	}
	return a.compose(ctx, text, typed)
}

// input is the prompt of a one-shot: prompt file, words, and what stands on
// standard input.
func (a *app) input(ctx context.Context) (string, error) {
	ask, err := a.flags.prompt()
	if err != nil {
		return "", err
	}
	if !a.readsStdin(ask != "") {
		if ask == "" {
			return "", errNoPrompt
		}
		return ask, nil
	}
	p := pipe{in: a.env.Stdin, say: a.out.Notice, asked: ask != "", patient: ask == "" || a.flags.dash, hint: 2 * time.Second, leave: 4 * time.Second}
	text, err := p.read(ctx)
	switch {
	case err != nil && (ctx.Err() != nil || ask == ""):
		return "", fmt.Errorf("read standard input: %w", err)
	case err != nil:
		a.out.Warn("standard input could not be read and is left out: " + err.Error())
		return ask, nil
	case text == "" && ask == "":
		return "", errNoPrompt
	case text == "":
		return ask, nil
	case ask == "":
		return text, nil
	}
	return ask + "\n" + stdinMark + "\n" + text, nil
}

// readsStdin says whether standard input belongs to the prompt. A part of
// another run leaves it alone when it has a prompt: a loop over it must not
// lose its lines.
func (a *app) readsStdin(asked bool) bool {
	f := a.flags
	switch {
	case a.env.Stdin == nil, f.noStdin:
		return false
	case f.dash:
		return true
	case f.subagent && asked:
		return false
	}
	return asTerminal(a.env.Stdin) == nil
}

// prompt is the text of the prompt file and of the words.
func (f *flags) prompt() (string, error) {
	text := chat.CleanText(strings.Join(f.words, " "))
	if f.promptFile != "" {
		file, err := readPromptFile(f.promptFile)
		if err != nil {
			return "", fmt.Errorf("read prompt file: %w", err)
		}
		file = strings.TrimPrefix(file, "\ufeff") // of editors that mark UTF-8
		text = strings.TrimRight(chat.CleanText(file), "\n") + "\n" + text
	}
	return trimBlank(text), nil
}

// trimBlank returns text without empty lines at its ends, "" if nothing else
// is there. The indentation of the first line stays.
func trimBlank(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return strings.Trim(text, "\n")
}

// readPromptFile reads a file whole, or not at all.
func readPromptFile(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxInput)
	}
	return string(data), err
}

// pipe is standard input while it is read. Nobody may be there to end it: a
// command started over ssh without a terminal has an open pipe that never
// ends. So silence is announced, and a run with a prompt does without what
// does not come.
type pipe struct {
	in      *os.File
	say     func(string)
	asked   bool          // there is a prompt besides
	patient bool          // wait to the end, however long that takes
	hint    time.Duration // silence after which the wait is announced
	leave   time.Duration // silence after which an impatient one goes on
}

// read returns the text, cleaned, "" if there is none.
func (p *pipe) read(ctx context.Context) (string, error) {
	var data []byte
	chunk := make([]byte, 32<<10)
	announced := false
	for len(data) <= maxInput {
		ready, err := p.await(ctx, &announced)
		if err != nil {
			return "", err
		}
		if !ready {
			p.say(p.left(len(data)))
			break
		}
		n, err := p.in.Read(chunk)
		data = append(data, chunk[:n]...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
	}
	cut := len(data) > maxInput
	if cut {
		data = trimPartial(data[:maxInput])
	}
	text := trimBlank(chat.CleanText(string(data)))
	if cut {
		note := fmt.Sprintf("[standard input cut after %d bytes]", len(data))
		p.say(note)
		text += "\n" + note
	}
	return text, nil
}

// await waits for something to read. False without an error gives up.
func (p *pipe) await(ctx context.Context, announced *bool) (bool, error) {
	ready, err := lineedit.Await(ctx, p.in, p.hint)
	if ready || err != nil {
		return ready, err
	}
	if !*announced {
		*announced = true
		p.say(p.announcement())
	}
	if p.patient {
		return lineedit.Await(ctx, p.in, -1)
	}
	return lineedit.Await(ctx, p.in, p.leave-p.hint)
}

func (p *pipe) announcement() string {
	if p.asked {
		return "waiting for standard input (--no-stdin or </dev/null skips it)"
	}
	return "waiting for a prompt on standard input (cluade 'question' gives it as an argument)"
}

func (p *pipe) left(n int) string {
	if n == 0 {
		return "nothing came on standard input, going on without it (a lone - as the last word waits for it)"
	}
	return fmt.Sprintf("standard input fell silent, going on with the %d bytes that came (a lone - as the last word waits for its end)", n)
}

// trimPartial cuts a character whose end is missing off the end of data.
func trimPartial(data []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		c := data[len(data)-i]
		if utf8.RuneStart(c) {
			if !utf8.FullRune(data[len(data)-i:]) {
				return data[:len(data)-i]
			}
			break
		}
	}
	return data
}
