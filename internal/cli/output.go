package cli

import "cluade/agent"

// outputOptions say how a run is shown.
type outputOptions struct {
	Quiet        bool          // only the final answer on stdout, no status bar
	Color        string        // auto, always or never
	ASCII        bool          // the terminal shows no more than ASCII
	ContextLimit func() int    // tokens of the model's window
	Model        func() string // the model's name, for the status bar
}

// output is the renderer of events and the only writer of the streams.
type output struct{}

func newOutput(env Env, o outputOptions) *output { return &output{} }

// Emit shows one event of the agent.
func (o *output) Emit(e agent.Event) {}

// Notice tells the person something on stderr.
func (o *output) Notice(text string) {}

// Warn tells the person of a fault on stderr.
func (o *output) Warn(text string) {}

// Error tells why something failed, in red on stderr.
func (o *output) Error(text string) {}

// Err is the first write error of the streams.
func (o *output) Err() error { return nil }
