//go:build race

package tests

// How the binary under test is built: its races count too.
var (
	buildFlags = []string{"-race"}
	buildEnv   = []string{"CGO_ENABLED=1"}
)
