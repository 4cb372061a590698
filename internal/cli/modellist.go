package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"cluade/internal/chat"
)

// maxModels is how many models of a server are listed.
const maxModels = 100

// cmdModel lists the models, or takes another one, by its number in the last
// list or by its name.
func (a *app) cmdModel(arg string) (bool, error) {
	if arg == "" {
		return false, a.listModels()
	}
	name := arg
	if n, err := strconv.Atoi(arg); err == nil {
		switch {
		case len(a.models) == 0:
			return false, errors.New("no models were listed: /model lists them, /model NAME takes one")
		case n < 1 || n > len(a.models):
			return false, fmt.Errorf("the list has the numbers 1 to %d; /model shows it", len(a.models))
		}
		name = a.models[n-1]
	}
	if err := a.setModel(name); err != nil {
		return false, err
	}
	a.out.Print("model: " + a.cfg.Model)
	return false, nil
}

// listModels shows the names of the configuration and the models of the server
// by number. A server that does not tell is no fault: a name can be given.
func (a *app) listModels() error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	defer a.watchTurn(cancel)()
	list, err := a.client.Client().Models(ctx)
	a.models = a.cfg.ModelNames()
	own := len(a.models)
	notes := make([]string, own)
	for i := 0; i < own; i++ {
		notes[i] = "of the configuration"
	}
	for _, m := range list {
		a.models = append(a.models, m.ID)
		note := ""
		if m.Window > 0 {
			note = fmt.Sprintf("window %d", m.Window)
		}
		notes = append(notes, note)
	}
	var b strings.Builder
	for i, name := range a.models {
		if i >= own+maxModels {
			fmt.Fprintf(&b, "and %d more\n", len(a.models)-i)
			break
		}
		mark := ' '
		if name == a.cfg.Model || name == a.cfg.ModelName() {
			mark = '*'
		}
		b.WriteString(strings.TrimRight(fmt.Sprintf("%c%3d  %s  %s", mark, i+1, chat.EscapeText(name, 100), notes[i]), " ") + "\n")
	}
	if err != nil {
		b.WriteString("the server does not tell its models: " + chat.EscapeText(err.Error(), 300) + "\n")
	}
	b.WriteString("model: " + a.cfg.Model + "; /model NUMBER or /model NAME takes another")
	a.out.Print(b.String())
	return nil
}
