#!/bin/sh
# Runs the MIPS binaries, big and little endian, under emulation through the
# scripts that show the main job: help, a turn with a bash call, one on a
# terminal.
set -eu
cd "$(dirname "$0")/.."
. build/need.sh
need qemu-mips-static qemu-mipsel-static
build/cross.sh "$1" mips-softfloat mipsle-softfloat
for pair in mips:mips mipsle:mipsel; do
	echo "smoke ${pair%:*}"
	CLUADE_BIN=$PWD/dist/cluade-linux-${pair%:*}-softfloat CLUADE_EMU=qemu-${pair#*:}-static \
		go test -count=1 -run 'TestScripts/^(help|tool-call|approval|no-stream|repl)$' ./tests
done
