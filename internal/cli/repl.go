package cli

import "context"

// repl talks with the person until they leave and returns the exit code.
func (a *app) repl(ctx context.Context) int { return 1 }
