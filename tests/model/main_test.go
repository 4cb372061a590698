package main

import (
	"os"
	"testing"
)

func TestCommandHasItsCtrlC(t *testing.T) {
	const survived = 7
	code, err := serve([]string{"sh", "-c", "kill -INT $$; exit 7"}, os.Environ())
	if err != nil || code == survived {
		t.Errorf("serve = %d, %v: Ctrl-C did not reach the command", code, err)
	}
}
