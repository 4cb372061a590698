package cli

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"cluade/internal/chat"
	"cluade/lineedit"
)

// outputOptions say how a run is shown. The functions are called at the end of
// a turn.
type outputOptions struct {
	Quiet        bool              // only the final answer on stdout, no status bar
	Color        string            // auto, always or never
	ASCII        bool              // the terminals show no more than ASCII
	ContextLimit func() int        // tokens of the model's window, 0 if unknown
	Model        func() string     // the model's name
	Total        func() chat.Usage // billed in the session

	Modes *lineedit.Modes // of the terminal, while keys are read; nil makes its own
}

// output is the renderer of events and the only writer of the streams while a
// run goes on. Its methods may be called from any goroutine. What is not our
// own text passes through chat.CleanText or chat.EscapeText here: nothing that
// a model, a tool, a file or a server says can steer the terminal.
type output struct {
	opts outputOptions

	mu   sync.Mutex
	out  stream
	errs stream
	live bool // the answer is shown as it arrives; else only the last one, whole
	mid  bool // out stands in the middle of a line

	reply    chat.Cleaner
	md       markdown
	shown    bool        // something of the present reply was shown
	aside    aside       // what of it may turn out to be no answer
	thought  string      // the end of what the model thinks
	thinking bool        // all of it is shown, as it comes
	lull     *time.Timer // nil unless what is held back may be shown when nothing comes
	spin     spinner
}

// lullTime is how long nothing comes until what is held back only for its looks
// is shown.
const lullTime = 150 * time.Millisecond

// The colours, by their SGR parameters (ECMA-48, section 8.3.117).
const (
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
	cyan    = "36"
	grey    = "90"
	dim     = "2"
)

func newOutput(env Env, o outputOptions) *output {
	if o.Modes == nil {
		o.Modes = &lineedit.Modes{}
	}
	out := &output{
		opts: o,
		out:  newStream(env.Stdout, env.Getenv, o),
		errs: newStream(env.Stderr, env.Getenv, o),
	}
	out.live = out.out.tty != nil && !o.Quiet
	if out.live {
		out.lull = time.AfterFunc(time.Hour, out.showHeld)
		out.lull.Stop()
	}
	if out.errs.tty != nil && !o.Quiet && !dumbTerminal(env.Getenv) {
		out.spin.w = &out.errs
	}
	return out
}

// ToggleThinking changes between showing all that the model thinks and showing
// its last lines, and says which it is now.
func (o *output) ToggleThinking() (all bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.thinking = !o.thinking
	return o.thinking
}

// Notice tells the person something on stderr.
func (o *output) Notice(text string) { o.say("", "", text) }

// Warn tells the person of a fault on stderr.
func (o *output) Warn(text string) { o.say(yellow, "warning: ", text) }

// Error tells on stderr why something did not work.
func (o *output) Error(text string) { o.say(red, "error: ", text) }

// say writes one message to stderr, led by the program's name, on one line:
// what a file or a server put into it cannot pass for another message.
func (o *output) say(color, word, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text = "cluade: " + word + chat.EscapeText(strings.TrimPrefix(text, "cluade: "), 0)
	o.line(&o.errs, color, o.errs.fit(text))
}

// Print writes lines that the person asked for (help, a list) to stdout.
func (o *output) Print(text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.line(&o.out, "", o.out.fit(strings.TrimSuffix(chat.CleanText(text), "\n")))
}

// Prompt is the text that asks for a line as the console shows it, which then
// belongs to who reads the line.
func (o *output) Prompt(text string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle()
	return o.console().paint(cyan, text)
}

// Settle ends an open line and the waiting line, so that somebody else may
// write to the terminal.
func (o *output) Settle() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.settle()
}

// Err is the first error of writing to stdout.
func (o *output) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.out.err
}

// line writes one whole line. The waiting line comes back below it.
func (o *output) line(s *stream, color, text string) {
	waited := o.settle()
	s.write(s.paint(color, text) + "\n")
	if waited {
		o.spin.resume()
	}
}

// settle makes the cursor stand at the start of an empty line, and reports
// whether the waiting line was there.
func (o *output) settle() bool {
	waited := o.spin.pause()
	if o.mid {
		o.out.write(o.md.interrupt() + "\n")
		o.mid = false
	}
	return waited
}

// console is where the progress of a turn is told.
func (o *output) console() *stream {
	if o.live {
		return &o.out
	}
	return &o.errs
}

// stream is one of the two streams, with what is known of it.
type stream struct {
	w     io.Writer
	tty   *os.File // nil if it is no terminal
	seen  bool     // a person looks at it
	color bool
	ascii bool
	err   error // the first of its errors; nothing is written after it
}

func newStream(w io.Writer, getenv func(string) string, o outputOptions) stream {
	tty := asTerminal(w)
	return stream{w: w, tty: tty, seen: tty != nil, color: useColor(o.Color, tty != nil, getenv), ascii: o.ASCII && tty != nil}
}

// again is the stream for another try after an error.
func (s *stream) again() *stream {
	c := *s
	c.err = nil
	return &c
}

// write sends text by one call, so that processes that share a log do not mix
// within a line.
func (s *stream) write(text string) {
	if s.err != nil || text == "" {
		return
	}
	if s.seen {
		text = strings.Map(dropTurning, text)
	}
	if s.ascii {
		text = asciiText(text)
	}
	_, s.err = io.WriteString(s.w, text)
}

// dropTurning leaves out the marks that turn the direction of writing: text
// behind them is not what it seems to be (Unicode Technical Report 36).
func dropTurning(r rune) rune {
	if r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x61c {
		return -1
	}
	return r
}

// fit breaks the lines of a text between words where a narrow window ends. In
// one of the usual width, and where a word is too long, that is left to the
// terminal: so a message can be copied.
func (s *stream) fit(text string) string {
	width := columns(s.tty) - 1
	if width >= 79 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if len(l) > width {
			lines[i] = strings.TrimPrefix(wrap{indent: "  ", col: -1, width: width, uncut: true}.behind(l), " ")
		}
	}
	return strings.Join(lines, "\n")
}

// rows breaks a line into what the window holds behind so many columns; where
// there is none it is left whole.
func (s *stream) rows(line string, left int) []string {
	if s.tty == nil {
		return []string{line}
	}
	return wrapLines(line, max(columns(s.tty)-1-left, 8))
}

// paint puts text, which may not be from elsewhere uncleaned, into a colour.
func (s *stream) paint(color, text string) string {
	if !s.color || color == "" || text == "" {
		return text
	}
	return "\x1b[" + color + "m" + text + "\x1b[0m"
}
