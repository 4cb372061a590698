package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/lineedit"
)

// The rules of the question. What will be executed is shown whole, made
// visible, before an answer counts; what was typed before the question is
// thrown away; the answer is a line that the terminal's own line editing gives
// us, and only yes is a yes. A question that is longer than the screen is paged
// first, with single keys. This reader knows no history, no completion and
// no commands. Not caught: keys that are still on their way over a slow line
// when the question comes.

// approver asks the person at the terminal.
type approver struct {
	env Env
	out *output
}

// newApprover returns the approver of a run: a question on stderr, answered by
// a typed line.
func newApprover(env Env, out *output) agent.Approver { return &approver{env, out} }

// Approve puts one question. Whatever goes wrong on the way is a refusal, so is
// the end of the context, at once.
func (a *approver) Approve(ctx context.Context, q agent.Approval) (agent.Answer, error) {
	line, err := a.ask(ctx,
		func(to *stream) string { return question(q, to) },
		func(to *stream) string { return choices(q, to) })
	if err != nil {
		return agent.No, err
	}
	return a.understand(line, q), nil
}

// ask shows a text whole and returns the line that is typed behind the choices,
// "" for a refusal before.
func (a *approver) ask(ctx context.Context, text, choices func(*stream) string) (string, error) {
	in, to, done, err := a.terminal()
	if err != nil {
		return "", fmt.Errorf("find the terminal to ask on: %w", err)
	}
	defer done()
	a.out.Settle()
	if err := discardInput(in); err != nil {
		return "", fmt.Errorf("drop what was typed before the question: %w", err)
	}
	p := &pager{
		tty: lineedit.Terminal{In: in, Out: to.tty, Modes: a.out.opts.Modes},
		to:  to, dumb: dumbTerminal(a.env.Getenv), make: text,
	}
	if all, err := p.show(ctx); err != nil || !all {
		return "", err
	}
	if err := discardInput(in); err != nil {
		return "", fmt.Errorf("drop what was typed before the question: %w", err)
	}
	line, err := readAnswer(ctx, in, p, choices(to))
	if err != nil {
		to.write("\n")
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.Is(err, io.EOF) || errors.Is(err, lineedit.ErrLongLine):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("read the answer: %w", err)
	}
	return line, nil
}

// readAnswer puts the question under the text that p shows and reads a line. When
// the process was stopped and goes on, both are shown again.
func readAnswer(ctx context.Context, in *os.File, p *pager, question string) (string, error) {
	continued := make(chan os.Signal, 1)
	signal.Notify(continued, syscall.SIGCONT)
	p.to.write(question)
	failed := p.to.err
	shown := make(chan struct{})
	go func() {
		defer close(shown)
		for range continued {
			p.again()
			p.to.write(question)
		}
	}()
	defer func() {
		signal.Stop(continued)
		close(continued)
		<-shown
	}()
	if failed != nil {
		return "", fmt.Errorf("show the question: %w", failed)
	}
	return (&lineedit.Lines{In: in, Whole: true}).Next(ctx)
}

// choices is the line that asks for the answer.
func choices(q agent.Approval, to *stream) string {
	show := shower(to, false)
	switch {
	case q.Danger:
		return to.paint(red, "allow it this once?") + " [y/N] "
	case q.Always != "":
		return orNo("[y] once  [a] always "+show(q.Always), to)
	case q.WhyOnce != "":
		return orNo("[y] once  [a] once too ("+show(q.WhyOnce)+")", to)
	}
	return "allow it? [y/N] "
}

// orNo puts the last answer behind the others.
func orNo(others string, to *stream) string {
	const no = "[N] no: "
	if to.tty == nil {
		return others + "  " + no
	}
	width := columns(to.tty) - 1
	others = to.fit(others)
	if lineedit.Width(others[strings.LastIndexByte(others, '\n')+1:])+2+len(no) > width {
		return others + "\n" + no
	}
	return others + "  " + no
}

// understand reads a typed answer. Whatever is not plainly a yes is a no.
func (a *approver) understand(line string, q agent.Approval) agent.Answer {
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return agent.Once
	case "a", "always":
		if q.Danger {
			return agent.No
		}
		if q.Always != "" {
			return agent.Always
		}
		if q.WhyOnce != "" {
			a.out.Notice("allowed once: " + q.WhyOnce)
			return agent.Once
		}
	}
	return agent.No
}

// terminal is where the question is put and where the answer is typed. Where
// stdin is a pipe, or no stream can show the question, that is the controlling
// terminal.
func (a *approver) terminal() (in *os.File, to *stream, done func(), err error) {
	done = func() {}
	if to = a.out.errs.again(); to.tty == nil {
		to = a.out.out.again()
	}
	in = asTerminal(a.env.Stdin)
	if in != nil && to.tty != nil {
		return in, to, done, nil
	}
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, nil, err
	}
	if in == nil {
		in = tty
	}
	if to.tty == nil {
		s := newStream(tty, a.env.Getenv, a.out.opts)
		to = &s
	}
	return in, to, func() { tty.Close() }, nil
}

// sheet is the text of a question in the making. Rows are broken here and not by
// the terminal, so that none inside a value begins where one of ours does.
type sheet struct {
	strings.Builder
	to    *stream
	show  func(string) string // makes a text of others visible
	names int                 // columns for the names of values
}

func newSheet(to *stream, names int) *sheet {
	return &sheet{to: to, show: shower(to, to.color), names: names}
}

// column is where values begin.
func (b *sheet) column() int { return 2 + b.names + 1 }

// write puts a value behind its name, in as many rows as it takes.
func (b *sheet) write(name, text, color string) {
	for _, row := range b.to.rows(text, b.column()) {
		fmt.Fprintf(b, "  %-*s %s\n", b.names, name, b.to.paint(color, row))
		name = ""
	}
}

// prose is write for a text whose rows may be broken between words.
func (b *sheet) prose(name, text, color string) {
	if at := b.column(); b.to.tty != nil {
		text = strings.TrimPrefix(wrap{indent: strings.Repeat(" ", at), col: at - 1, width: columns(b.to.tty) - 1}.behind(text), " ")
	}
	fmt.Fprintf(b, "  %-*s %s\n", b.names, name, b.to.paint(color, text))
}

// line puts a text at the left, and what is left of it below the values.
func (b *sheet) line(left int, text, color string) {
	rows := b.to.rows(text, left)
	b.WriteString(strings.Repeat(" ", left) + b.to.paint(color, rows[0]) + "\n")
	if rest := strings.Join(rows[1:], ""); rest != "" {
		b.write("", rest, color)
	}
}

func (b *sheet) field(name, value string) {
	for _, line := range strings.Split(value, "\n") {
		b.write(name, b.show(line), "")
		name = ""
	}
}

// preview puts what a preview says. Of a command it says something behind the
// command, which is shown as a field, so that none of its lines passes for one of
// ours.
func (b *sheet) preview(q agent.Approval) {
	s := q.Subject
	preview, after := strings.CutPrefix(q.Preview, s.Command)
	if s.Command != "" {
		b.field("command", s.Command)
	}
	if s.Command != "" && !after {
		b.field("directory", s.Dir)
	}
	diff := false
	for _, line := range textLines(strings.TrimPrefix(preview, "\n")) {
		diff = diff || strings.HasPrefix(line, "@@ ")
		if name, value, ok := strings.Cut(line, ": "); ok && s.Command != "" && after {
			b.field(name, value)
			continue
		}
		b.line(2, b.show(line), diffColor(line, diff))
	}
}

// question is the text that shows everything a yes would allow. Nothing of it is
// cut.
func question(q agent.Approval, to *stream) string {
	s := q.Subject
	b := newSheet(to, 10)
	fmt.Fprintf(b, "%s  (%s)\n", to.paint(yellow, "permission needed: "+b.show(s.Tool)), s.Effect)
	for _, p := range s.Paths {
		b.field("path", p.Abs)
		if p.Real != p.Abs {
			b.field("really", p.Real)
		}
	}
	if s.Host != "" {
		b.field("host", escapeAll(s.Host)) // letters of other scripts look like ours
	}
	if s.URL != "" {
		b.field("url", escapeAll(s.URL))
	}
	b.preview(q)
	color := ""
	if q.Danger {
		if name, err := os.Hostname(); err == nil && s.Host == "" {
			b.field("device", name)
		}
		for _, line := range textLines(q.Segment) {
			b.write("dangerous", b.show(line), red)
		}
		color = red
	}
	b.prose("reason", b.show(q.Reason), color)
	return b.String()
}

// textLines are the lines of a text without their line feeds.
func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// diffColor is the colour of a line, which may be one of a unified diff.
func diffColor(line string, diff bool) string {
	switch {
	case !diff:
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@@ "):
		return cyan
	}
	return ""
}

// shower is how a text of others is made visible on a stream. Marked, a character
// that is shown by its number or a letter is told from one that was written so.
func shower(to *stream, marked bool) func(string) string {
	return func(text string) string {
		return escapeRunes(text, marked, func(r rune) bool { return r < 0x80 || !to.ascii && !unseen(r) })
	}
}

// unseen says that a character is shown as nothing, or as a blank that is none:
// fillers, selectors of variants, and the other blanks (Unicode's White_Space
// and Default_Ignorable_Code_Point that are graphic, and the empty Braille cell).
func unseen(r rune) bool {
	switch {
	case r == 0x34f, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x2800, r == 0x3164, r == 0xffa0,
		r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef:
		return true
	}
	return unicode.IsSpace(r) || r >= 0x2000 && r <= 0x200a
}

// escapeAll is chat.EscapeText for a console that shows no more than ASCII: a
// likeness will do for an answer, not for what is to be allowed.
func escapeAll(text string) string {
	return escapeRunes(text, false, func(r rune) bool { return r < 0x80 })
}

func escapeRunes(text string, marked bool, plain func(rune) bool) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		shown := chat.EscapeText(text[:n], 0)
		if shown == text[:n] && !plain(r) {
			shown = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		if marked && shown != text[:n] {
			shown = "\x1b[7m" + shown + "\x1b[27m"
		}
		b.WriteString(shown)
		text = text[n:]
	}
	return b.String()
}
