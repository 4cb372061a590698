package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"cluade/internal/chat"
	"cluade/store"
)

// cmdConfig shows the configuration in force, or puts one value into the user's
// file.
func (a *app) cmdConfig(arg string) (bool, error) {
	verb, rest, _ := strings.Cut(arg, " ")
	if verb != "set" {
		return false, a.showConfig(verb)
	}
	key, value, _ := strings.Cut(strings.TrimSpace(rest), " ")
	switch value = strings.TrimSpace(value); {
	case key == "" || value == "":
		return false, errors.New("usage: /config set KEY VALUE")
	case a.depth > 0:
		return false, errors.New("the configuration is not changed in a run that another run started")
	}
	old := a.cfg.Show()
	if err := a.place.SetKey(key, value); err != nil {
		return false, err
	}
	if err := a.configure(); err != nil {
		return false, fmt.Errorf("written, but not in force: %w", err)
	}
	a.again()
	user, _ := a.place.Files()
	for _, s := range a.cfg.Show() {
		if s.Key != key {
			continue
		}
		a.out.Print(keyLine(s))
		for _, o := range old {
			if o.Key == key && o.Set && o.Value != s.Value {
				a.out.Print("before: " + o.Value)
			}
		}
		if s.From != chat.EscapeText(user, 240) {
			a.out.Notice("it is written to " + user + ", but what was set elsewhere counts")
		}
	}
	return false, nil
}

// showConfig lists the keys that somebody has set, or those whose names begin
// with which; "all" is all of them.
func (a *app) showConfig(which string) error {
	var b strings.Builder
	user, project := a.place.Files()
	for _, f := range [][2]string{{"yours", user}, {"the project's", project}} {
		state := ""
		if _, err := os.Stat(f[1]); err != nil {
			state = " (not there)"
		}
		if f[1] != "" {
			fmt.Fprintf(&b, "%-14s %s%s\n", f[0], chat.EscapeText(f[1], 0), state)
		}
	}
	from := "none"
	if a.key != "" {
		from = "*** from " + a.keyFrom
	}
	fmt.Fprintf(&b, "%-14s %s\n", "key", from)
	shown, hidden := 0, 0
	for _, s := range a.cfg.Show() {
		if s.Key == "model" && !s.Set && a.session.Model != "" {
			s.Value, s.From = chat.EscapeText(a.session.Model, 100), "the session"
		}
		if which == "" && !s.Set || which != "all" && !strings.HasPrefix(s.Key, which) {
			hidden++
			continue
		}
		shown++
		b.WriteString(keyLine(s))
	}
	switch {
	case shown == 0 && which != "":
		return fmt.Errorf("no key begins with %s; /config all shows all", chat.EscapeText(which, 60))
	case which == "":
		fmt.Fprintf(&b, "%d more have their defaults; /config all shows them\n", hidden)
	}
	a.out.Print(b.String())
	return nil
}

func keyLine(s store.Shown) string {
	value := s.Value
	if value == "" {
		value = "-"
	}
	line := fmt.Sprintf("%s %s  (%s)", s.Key, value, s.From)
	if len(s.Overruled) > 0 {
		line += " in the place of " + strings.Join(s.Overruled, ", ")
	}
	return line + "\n"
}
