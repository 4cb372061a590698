// Command cluade brings a language model to small Linux devices.
package main

import (
	"context"
	"os"

	"cluade/internal/cli"
)

// version is set by the build (-X main.version=...).
var version = ""

func main() {
	if code, ok := cli.Confine(os.Args); ok {
		os.Exit(code)
	}
	os.Exit(cli.Main(context.Background(), cli.Env{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Getenv: os.Getenv, Environ: os.Environ(), Version: version,
	}))
}
