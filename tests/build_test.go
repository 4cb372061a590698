//go:build !race

package tests

// buildFlags are how the binary under test is built.
var buildFlags = []string{"-cover", "-coverpkg=cluade/..."}
