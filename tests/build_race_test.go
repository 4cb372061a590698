//go:build race

package tests

// buildFlags are how the binary under test is built: its races count too.
var buildFlags = []string{"-race"}
