package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"cluade/agent"
	"cluade/internal/chat"
	"cluade/provider"
	"cluade/store"
)

// This file alone knows what an error means for the person: one switch gives
// the exit code, one the hint. Packages below never mention an option, a file
// or a variable.

// The exit codes. Signals give 128 and their number.
const (
	exitDone    = 0
	exitFailed  = 1
	exitUsage   = 2
	exitRefused = 3
	exitGuard   = 4
	exitPipe    = 128 + int(syscall.SIGPIPE)
)

// maxErrorLen is how many bytes of a message are shown.
const maxErrorLen = 2000

// exitCode is the code of a one-shot whose turn returned err.
func (a *app) exitCode(err error) int {
	var s stopped
	switch {
	case errors.As(err, &s):
		return s.exitCode()
	case a.out.Err() != nil:
		return writeCode(a.out.Err())
	case isGuard(err):
		return exitGuard
	case err != nil, a.agent.SaveError() != nil:
		return exitFailed
	case a.flags.failOnRefusal && a.refused > 0:
		return exitRefused
	}
	return exitDone
}

// writeCode is the code for the outcome of writing to standard output.
func writeCode(err error) int {
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, syscall.EPIPE):
		return exitPipe
	}
	return exitFailed
}

// isGuard says that a limit ended the turn; what was done is kept.
func isGuard(err error) bool {
	return errors.Is(err, agent.ErrStuck) || errors.Is(err, agent.ErrMaxSteps) ||
		errors.Is(err, agent.ErrMaxTokens) || errors.Is(err, agent.ErrTimeLimit)
}

// outcome is the line that closes a turn which ended early, "" for one that
// ended with an answer.
func outcome(err error) string {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, agent.ErrStuck):
		return "[stopped: looks stuck" + after(err, agent.ErrStuck) + "; send 'continue' to resume]"
	case errors.Is(err, agent.ErrMaxSteps):
		return "[stopped: " + err.Error() + "; send 'continue' to go on]"
	case isGuard(err):
		return "[stopped: " + err.Error() + "]"
	case isCancel(err):
		return "[cancelled]"
	case errors.Is(err, agent.ErrEmpty), errors.Is(err, agent.ErrWindow):
		return "[" + err.Error() + "]"
	}
	return "[provider error: " + err.Error() + "]"
}

// after is what err says after the words of the sentinel that it wraps.
func after(err, sentinel error) string {
	rest, _ := strings.CutPrefix(err.Error(), sentinel.Error())
	return rest
}

func isCancel(err error) bool {
	var s stopped
	return errors.As(err, &s) || errors.Is(err, context.Canceled)
}

// fail tells why nothing was sent.
func (a *app) fail(err error) {
	fmt.Fprintf(a.env.Stderr, "cluade: %s\n", chat.EscapeText(err.Error(), maxErrorLen))
	if h := a.hint(err); h != "" {
		fmt.Fprintf(a.env.Stderr, "cluade: hint: %s\n", chat.EscapeText(h, maxErrorLen))
	}
}

// hint says what can be done about err, "" if nothing is known.
func (a *app) hint(err error) string {
	var status *provider.StatusError
	var config *store.ConfigError
	var overflow *chat.OverflowError
	switch {
	case isCancel(err):
		return ""
	case errors.As(err, &overflow):
		return "the conversation is longer than the model's window: begin a new session, or send less at once"
	case errors.Is(err, agent.ErrWindow):
		return "context_limit in the configuration is the size of the model's window; a new session, fewer tools or a shorter message need less of it"
	case errors.As(err, &status):
		return a.statusHint(status.Code)
	case errors.As(err, &config):
		return "mend the file: without it what it refuses would be allowed"
	case errors.Is(err, fs.ErrExist) && !errors.Is(err, syscall.EEXIST): // what Init found, not the system
		return "cluade --init --force replaces it"
	case errors.Is(err, store.ErrNoSession):
		return "cluade --list-sessions shows what is there"
	case isGuard(err):
		return a.guardHint(err)
	}
	return ""
}

// guardHint says how to get past a limit. Where no prompt waits for it, that is
// another command line.
func (a *app) guardHint(err error) string {
	var hints []string
	for _, l := range []struct {
		err         error
		option, key string
	}{
		{agent.ErrMaxSteps, "--max-steps", "max_steps"},
		{agent.ErrMaxTokens, "--max-total-tokens", "max_total_tokens"},
		{agent.ErrTimeLimit, "--time-limit", "time_limit"},
	} {
		if errors.Is(err, l.err) {
			hints = append(hints, l.option+", or "+l.key+" in the configuration, raises the limit")
		}
	}
	switch {
	case !a.oneShot() || a.journal == nil || a.session.ID == "" || a.agent.SaveError() != nil:
	case a.flags.sessionFile != "":
		hints = append(hints, "the same --session-file with the prompt continue goes on")
	default:
		hints = append(hints, "cluade -c continue goes on")
	}
	return strings.Join(hints, "; ")
}

func (a *app) statusHint(code int) string {
	switch code {
	case 401, 403:
		if a.key == "" {
			return "no key was sent: set OPENAI_API_KEY, or api_key in ~/.cluade/config.json"
		}
		return "the key came from " + a.keyFrom
	case 404:
		return "is the model " + a.cfg.Model + " there (/model or -m names another), and is " + a.cfg.BaseURL + " the address of its API?"
	}
	return ""
}
