package cli

import (
	"fmt"
	"strconv"
	"strings"

	"cluade/agent"
	"cluade/internal/chat"
)

const (
	gistColumns  = 160
	gistBytes    = 4 * gistColumns // more would only be cut again
	gistRows     = 3               // of the window, for the gist
	thoughtLines = 3
	thoughtKept  = 4 << 10 // bytes of the model's thinking from which the lines are taken
	thoughtMark  = "~ "    // tells it from the answer where nothing is dim
	asideKept    = 8 << 10 // bytes of a text that came with calls
	recallRows   = 12      // of the last answer
	recallBytes  = 8 << 10
)

// Emit shows one event of the agent.
func (o *output) Emit(e agent.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := e.(type) {
	case agent.StepStart:
		o.startReply()
		o.progress("[step "+strconv.Itoa(e.N)+"]", "")
		o.spin.start()
	case agent.TextDelta:
		o.spin.received.Add(int64(len(e.Text)))
		if o.live {
			o.answer(o.reply.Feed(e.Text))
		} else {
			o.aside.add(e.Text)
		}
	case agent.ReasoningDelta:
		o.spin.received.Add(int64(len(e.Text)))
		o.think(e.Text)
	case agent.ReplyRestart:
		o.restart()
	case agent.Summarizing:
		if e.Bytes == 0 {
			o.spin.start()
		}
		o.spin.received.Add(int64(e.Bytes))
	case agent.Waiting:
		o.spin.progress.Store(int64(e.Progress))
	case agent.ReplyEnd:
		o.endReply()
		if e.Calls > 0 {
			o.remark()
		}
	case agent.CallStart:
		if e.Call.Name == "skill" {
			o.progress("[using skill: "+chat.EscapeText(e.Gist, 64)+"...]", "")
		} else {
			o.progress("[using tool: "+chat.EscapeText(e.Call.Name, 0)+"...]", e.Gist)
		}
		o.spin.start()
	case agent.CallEnd:
		o.spin.pause()
		o.callEnd(e)
	case agent.Notice:
		color := ""
		if e.Warn {
			color = yellow
		}
		o.line(&o.errs, color, o.errs.fit("["+chat.EscapeText(strings.TrimSpace(e.Text), 0)+"]"))
	case agent.Compacted:
		o.line(&o.errs, "", fmt.Sprintf("[context compacted: %d -> %d tokens (estimate)]", e.Before, e.After))
	case agent.TurnEnd:
		o.turnEnd(e)
	}
}

// progress writes a line of the turn's course: our words in green, then what
// they are about.
func (o *output) progress(words, about string) { o.course(green, words, about) }

func (o *output) course(color, words, about string) {
	s := o.console()
	line := s.paint(color, words)
	if about = cutColumns(chat.EscapeText(about, gistBytes), gistColumns); about != "" && s.tty != nil {
		width := columns(s.tty) - 1
		about = wrap{indent: "  ", col: len(words), width: width}.behind(cutColumns(about, max(gistRows*width-len(words), 3)))
		line += s.paint(grey, about)
	} else if about != "" {
		line += " " + s.paint(grey, about)
	}
	o.line(s, "", line)
}

func (o *output) startReply() {
	o.reply = chat.Cleaner{}
	o.md = markdown{}
	o.shown = false
	o.aside = aside{}
	o.thought = ""
}

// answer renders a piece of the answer, which is clean.
func (o *output) answer(text string) {
	o.md.styled = o.out.color
	o.md.width = columns(o.out.tty) - 1 // a full row and its end count as two on some terminals
	if o.out.ascii {
		text = asciiText(text)
	}
	o.text(o.md.write(text))
	switch {
	case len(o.md.table) > 0 && o.spin.stop == nil: // while it is held back there is a waiting line
		o.text(o.md.pause())
		o.spin.resume()
	case o.lull != nil && o.md.waits():
		o.lull.Reset(lullTime)
	}
}

// showHeld runs when nothing came for a moment.
func (o *output) showHeld() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text(o.md.pause())
}

// text shows a piece of the rendered answer.
func (o *output) text(piece string) {
	if piece == "" {
		return
	}
	o.spin.pause()
	o.showThought()
	o.out.write(piece)
	o.shown = true
	o.mid = !strings.HasSuffix(piece, "\n")
}

// Recall shows on a terminal the last message of a conversation that is gone on
// with and the end of its answer.
func (o *output) Recall(question, answer string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.live {
		return
	}
	answer = chat.CleanText(answer)
	if o.out.ascii {
		answer = asciiText(answer)
	}
	if len(answer) > recallBytes {
		_, answer, _ = strings.Cut(answer[len(answer)-recallBytes:], "\n")
	}
	width := columns(o.out.tty) - 1
	o.line(&o.out, cyan, cutColumns("> "+question, width))
	m := markdown{styled: o.out.color, width: width}
	rows := strings.Split(strings.TrimRight(m.write(answer)+m.end(), "\n"), "\n")
	if n := len(rows); n > recallRows {
		rows = append([]string{o.out.paint(grey, "[...]")}, rows[n-recallRows:]...)
	}
	if answer != "" {
		o.line(&o.out, "", strings.Join(rows, "\n"))
	}
}

func (o *output) think(piece string) {
	if !o.live || o.shown {
		return
	}
	o.thought += piece
	if i := strings.LastIndexByte(o.thought, '\n') + 1; o.thinking && (i > 0 || len(o.thought) > thoughtKept) {
		if i == 0 {
			i = strings.LastIndexByte(o.thought, ' ') + 1
		}
		rest := o.thought[i:]
		o.thought = o.thought[:i]
		o.showThought()
		o.thought = rest
	}
	if len(o.thought) > 2*thoughtKept {
		o.thought = strings.Clone(o.thought[len(o.thought)-thoughtKept:])
	}
}

// showThought writes what the model thought before it spoke, or its last lines.
func (o *output) showThought() {
	if o.thought == "" {
		return
	}
	most := thoughtLines
	if o.thinking {
		most = len(o.thought)
	}
	lines := wrapText(chat.CleanText(o.thought), columns(o.out.tty)-1-len(thoughtMark))
	o.thought = ""
	for _, l := range lines[max(0, len(lines)-most):] {
		o.line(&o.out, dim, thoughtMark+l)
	}
}

func (o *output) restart() {
	if o.shown {
		o.line(&o.out, grey, "[what stands above of this reply is void]")
	}
	o.startReply()
	o.spin.start()
}

func (o *output) endReply() {
	if o.live {
		o.answer(o.reply.Flush())
		o.text(o.md.end())
	}
	if o.lull != nil {
		o.lull.Stop()
	}
	o.spin.pause()
	o.showThought()
	o.settle()
}

// aside is the beginning of a reply's text, and the number of bytes that were
// not kept.
type aside struct {
	text string
	more int
}

func (a *aside) add(piece string) {
	n := min(len(piece), asideKept-len(a.text))
	a.text += piece[:n]
	a.more += len(piece) - n
}

// remark tells what the model said beside its calls, where it was not shown as
// it came: it is no answer, but a person wants to know.
func (o *output) remark() {
	text := strings.TrimSpace(chat.CleanText(o.aside.text))
	if o.aside.more > 0 {
		text += "... [" + strconv.Itoa(o.aside.more) + " bytes more]"
	}
	if text != "" {
		o.line(&o.errs, "", text)
	}
	o.aside = aside{}
}

// callEnd tells of a call that did not work. One that was refused had no line
// of its own yet.
func (o *output) callEnd(e agent.CallEnd) {
	if e.Outcome == agent.Done || e.Outcome == agent.Skipped {
		return
	}
	if e.Gist != "" {
		o.course(red, "[not run: "+chat.EscapeText(e.Call.Name, 64)+"]", e.Gist)
	}
	text := strings.TrimSpace(e.Text)
	why, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(why, "error: ") {
		why = text[strings.LastIndexByte(text, '\n')+1:] // a command's output ends with how it ended
	}
	line := chat.EscapeText(e.Call.Name, 64) + ": " + chat.EscapeText(chat.CleanText(why), 0)
	s := o.console()
	o.line(s, red, s.fit(cutColumns(line, gistColumns)))
}

// turnEnd shows the answer where it was not shown piece by piece, how the turn
// ended, and the status bar. The text of a turn that failed is no answer: it
// goes where a script does not take it for one.
func (o *output) turnEnd(e agent.TurnEnd) {
	o.endReply()
	answer := chat.CleanText(e.Answer)
	switch {
	case !o.out.seen && e.Err == nil && e.Answer != "": // no terminal: byte for byte, as whole lines
		o.out.write(strings.TrimSuffix(e.Answer, "\n") + "\n")
	case answer == "" || o.live && o.shown:
	case e.Err == nil:
		o.answer(answer)
		o.text(o.md.end())
		o.settle()
	default:
		o.line(&o.errs, "", strings.TrimSuffix(answer, "\n"))
	}
	if e.Err != nil {
		o.line(&o.errs, red, o.errs.fit(chat.EscapeText(outcome(e.Err), maxErrorLen)))
	}
	if !o.opts.Quiet {
		s := o.console()
		o.line(s, magenta, s.fit(o.statusBar(e)))
	}
}
