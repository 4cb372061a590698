package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"cluade/internal/chat"
	"cluade/internal/jsonenc"
)

// checkTime is how long all checks may take: a look at a dead network mount
// never comes back.
const checkTime = 15 * time.Second

// findingKeys are the names in JSON of the parts of a finding: the check's name,
// the state (ok, warn or FAIL), what was found, and what a person can do, ""
// where there is nothing to do or the text says it.
var findingKeys = [...]string{"check", "state", "text", "remedy"}

// findings are told one by one: as lines for a person, or as JSON with a comma
// behind each.
type findings struct {
	json bool
	told chan string
}

// show is a finding whose parts stand in one text, parted by bars; the % in what
// was found stands for detail.
func (f findings) show(text, detail string) string {
	parts := strings.Split(text, "|")
	parts[2] = strings.Replace(parts[2], "%", chat.EscapeText(detail, 400), 1)
	if !f.json {
		text = fmt.Sprintf("%-4s  %-12s  %s; %s", parts[1], parts[0], parts[2], parts[3])
		return strings.TrimSuffix(text, "; ") + "\n"
	}
	b := []byte{'{'}
	for i, part := range parts {
		b = jsonenc.AppendString(jsonenc.AppendKey(b, findingKeys[i]), part)
	}
	return string(b) + "},"
}

func (f findings) add(text, detail string) { f.told <- f.show(text, detail) }

// either tells good where all is well, else bad.
func (f findings) either(well bool, good, bad, detail string) {
	if !well {
		good = bad
	}
	f.add(good, detail)
}

// doctor tells on the command line what is wrong with the configuration and the
// device. It needs neither to be sound.
func (a *app) doctor(ctx context.Context) (int, error) {
	text := a.examine(ctx, a.flags.online, a.flags.json)
	failed := strings.Contains("\n"+text, "\nFAIL ")
	if a.flags.json {
		failed = strings.Contains(text, `"state":"FAIL"`)
		text = `{"checks":[` + strings.TrimSuffix(text, ",") + "]}\n"
	}
	code, err := a.print(text)
	var s stopped
	switch {
	case errors.As(context.Cause(ctx), &s):
		code = s.exitCode()
	case failed && code == exitDone:
		code = exitFailed
	}
	return code, err
}

// doctorWord is what /doctor takes.
const doctorWord = "--online"

func (a *app) cmdDoctor(word string) (bool, error) {
	if word != "" && word != doctorWord {
		return false, errors.New("usage: /doctor [" + doctorWord + "]")
	}
	ctx, done := a.untilSignal()
	defer done()
	a.out.Print(a.examine(ctx, word != "", false))
	return false, nil
}

// examine makes the checks, one after the other, and returns what was found. They
// run beside this goroutine, so that one that hangs can be left behind.
func (a *app) examine(person context.Context, online, json bool) (text string) {
	ctx, cancel := context.WithTimeout(person, checkTime)
	defer cancel()
	found := findings{json, make(chan string)}
	go func() {
		a.checkConfig(found)
		a.checkWay(found)
		a.checkBox(found)
		a.checkFiles(found)
		if online {
			a.checkServer(ctx, found)
		}
		close(found.told)
	}()
	for {
		select {
		case t := <-found.told:
			if t == "" {
				return text
			}
			text += t
		case <-ctx.Done():
			if errors.Is(person.Err(), context.Canceled) { // they stopped it
				return text
			}
			return text + found.show("doctor|FAIL|a check did not end|see with mount whether a network drive is dead", "")
		}
	}
}
