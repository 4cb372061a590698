// Package cli is the front end: it parses the command line, loads the
// configuration, wires the parts together and shows what happens. It is the
// only package that writes to the standard streams, knows flags, files and
// variables by name, and chooses the exit code.
package cli

import (
	"context"
	"io"
	"os"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/internal/policy"
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
	Version string
}

// app is one run of the program. Built in the start-up order of the command
// line page; fields further down need those above.
type app struct {
	env      Env
	flags    flags
	place    store.Place
	cfg      *store.Config
	key      string          // the credential; never printed
	keyFrom  string          // where it came from
	sessions *store.Sessions // nil with --no-session or without a state directory
	session  *chat.Session
	journal  *store.Journal
	client   *provider.Client
	policy   *policy.Policy
	tools    *tools.Env
	prompt   *prompt
	agent    *agent.Agent
	out      *output
}

// flags is the parsed command line.
type flags struct{}

// Main runs the program and returns its exit code.
func Main(ctx context.Context, env Env) int { return 2 }
