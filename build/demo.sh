#!/bin/sh
# Shows one whole turn of ./cluade against the stand-in server of tests/model:
# a request over HTTP, a tool call that really runs, an answer, a saved session.
# Needs nothing but Go, touches nothing but a scratch directory.
set -eu
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -buildvcs=false -o "$scratch/model" ./tests/model
cat >"$scratch/answers" <<'END'
text Let me look.
call bash {"command":"uname -srm && free 2>/dev/null | head -n 2"}

text The command printed this:
text "\n\n"
echo
END
# No setting and no key of yours: the scratch home is all there is.
demo() {
	env -u OPENAI_API_KEY -u CLUADE_API_KEY -u CLUADE_HOME -u CLUADE_MODEL -u CLUADE_DEPTH -u CLUADE_TRACE \
		HOME="$scratch" "$@"
}

echo "This demonstration talks to a STAND-IN for a model: a small server on this"
echo "machine that gives two answers out of a file. The program, the HTTP request,"
echo "the command and the session are real."
echo
echo '$ cluade "which system is this, and how much memory does it have?"'
demo "$scratch/model" -v "$scratch/answers" -- \
	./cluade "which system is this, and how much memory does it have?"
echo
echo '$ cluade --list-sessions'
demo ./cluade --list-sessions
echo
echo "The session as it was saved:"
cut -c 1-150 "$scratch"/.cluade/sessions/*.jsonl
cat <<'END'

To talk to a real model, tell where it is, and the key if it needs one:

    OPENAI_API_KEY=sk-... ./cluade --base-url https://api.deepseek.com/v1 -m deepseek-v4-pro "why is my disk full?"
    ./cluade --base-url http://127.0.0.1:11434/v1 -m NAME "why is my disk full?"    # Ollama on this machine

`./cluade --init` writes a configuration file to fill in.
END
