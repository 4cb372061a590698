//go:build !race

package tests

// How the binary under test is built: as it is shipped, but telling what of it
// was reached.
var (
	buildFlags = []string{"-cover", "-coverpkg=cluade/..."}
	buildEnv   = []string{"CGO_ENABLED=0"}
)
