#!/bin/sh
# Compiles the program for the machine that the environment names:
#   compile.sh VERSION OUTPUT
#
# Every flag here is for the size of the MIPS binary. Inlining is off except in
# the inner loops of cryptography, where a TLS handshake takes the same time, and
# the runtime, which is not sound without it on 386 (golang/go#76702): 560 KiB; two
# small packages are smaller with it.
# The collector is the one of Go 1.25: 28 KiB. A slice whose size is known at
# run time only is never tried on the stack first: 36 KiB. Deferred calls are not
# repeated at each return: 6 KiB. Segments begin at pages of 4 KiB, as the kernels
# of MIPS routers have them, not of 64: 100 KiB.
# Symbols are stripped and paths trimmed, so the same source gives the same bytes;
# the date in them, before which no clock can be right, is that of the commit.
set -eu
[ $# -eq 2 ] || { echo "usage: compile.sh VERSION OUTPUT" >&2; exit 2; }
cd "$(dirname "$0")/.."
align=
case "${GOARCH:-}" in mips | mipsle) align='-R 4096' ;; esac
set -- "$1" "$2" '-gcflags=all=-l -d=variablemakethreshold=0 -d=noopendefer=1'
for hot in runtime internal/strconv unicode/utf8 internal/byteorder math/bits crypto/internal/fips140deps/... \
	crypto/internal/fips140/aes crypto/internal/fips140/sha256 crypto/internal/fips140/edwards25519/field \
	vendor/golang.org/x/crypto/chacha20 vendor/golang.org/x/crypto/internal/poly1305; do
	set -- "$@" "-gcflags=$hot="
done
version=$1
output=$2
shift 2
CGO_ENABLED=0 GOEXPERIMENT=nogreenteagc exec go build -trimpath -buildvcs=false -tags netgo,osusergo \
	-ldflags "-s -w $align -X main.version=$version -X cluade/provider.built=$(git log -1 --format=%cI 2>/dev/null)" "$@" -o "$output" .
