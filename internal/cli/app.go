// Package cli is the front end: it parses the command line, loads the
// configuration, wires the parts together and shows what happens. It is the
// only package that writes to the standard streams, knows flags, files and
// variables by name, and chooses the exit code.
package cli

import (
	"context"
	"io"
	"os"
	"sync/atomic"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/internal/policy"
	"cluade/lineedit"
	"cluade/provider"
	"cluade/store"
	"cluade/tools"
)

// Env is the process as the program sees it, so that a test can run the whole
// program as a function.
type Env struct {
	Args    []string // without the program's name
	Stdin   *os.File
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Environ []string // NAME=value, what child processes inherit
	Version string   // "" takes the one of the build
}

// app is one run of the program. Built in the start-up order of the command
// line page; fields further down need those above.
type app struct {
	env      Env
	flags    *flags
	depth    int     // how many cluades are above this one
	above    *parent // what the one right above told; nil if it told nothing
	place    store.Place
	cfg      *store.Config
	rules    policy.Rules    // of the configuration
	trust    store.Trust     // the person's word for what a project guards
	declined []string        // the directories for which the word was no
	accepted string          // the directory for which an option gave it
	faults   []string        // of the configuration, until they are shown
	notices  []string        // what else is to be said when the session begins
	key      string          // the credential; never printed
	keyFrom  string          // where it came from
	secrets  []string        // each key that the run had
	sessions *store.Sessions // nil with --no-session or without a state directory
	modes    lineedit.Modes  // of the terminal, while keys are read
	lent     atomic.Int32    // not 0 while, or right after, a program of the person has the terminal
	out      *output
	history  *lineedit.History // of a conversation
	client   *provider.Fallback
	policy   *policy.Policy
	tools    *tools.Env
	session  *chat.Session
	journal  *store.Journal // nil if nothing is saved
	copied   bool           // the session goes on in a copy
	pending  string         // the last message, if it had no answer: an empty line sends it again
	images   []chat.Image   // of the command line, for the next message
	typed    []string       // what the person ran since the last message, for the next
	models   []string       // as they were last listed
	spent    []spent        // in this run, by model
	prompt   *prompt
	agent    *agent.Agent
	reporter *reporter               // nil unless this is the subagent of another run
	refused  int                     // calls that were denied or blocked
	end      context.CancelCauseFunc // ends the run
	die      func(int)               // ends the process at once; os.Exit
}
