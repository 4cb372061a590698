package cli

import "time"

// promptOptions are what a system message is made from.
type promptOptions struct {
	Dir, Home, State string              // as in store.Place
	Etc              string              // root of the device's files, "/etc"
	Shell            string              // the shell that bash calls run in
	Created          time.Time           // when the session began
	Append           []string            // texts of --append-system-prompt
	NoProject        bool                // leave the project's instructions out
	Getenv           func(string) string // nil knows no variable
}

// prompt composes the system message.
type prompt struct{}

func newPrompt(o promptOptions) *prompt { return &prompt{} }

// NewTurn reads the instruction files anew and returns what is to be said of
// them.
func (p *prompt) NewTurn() []string { return nil }

// System is the system message of the next request.
func (p *prompt) System() string { return "" }
