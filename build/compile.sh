#!/bin/sh
# Compiles the program for the machine that the environment names:
#   compile.sh VERSION OUTPUT
#
# Inlining is off except where the inner loops of cryptography need it. On
# MIPS that takes 600 KiB off the binary; a handshake and a stream over TLS
# take the same time under emulation as with it. Debugging and symbols are
# stripped, paths are trimmed, so the same source gives the same bytes.
set -eu
cd "$(dirname "$0")/.."
set -- "$1" "$2" -gcflags=all=-l
for hot in runtime/... internal/runtime/... internal/bytealg internal/byteorder math/bits \
	crypto/internal/fips140/... crypto/internal/fips140deps/... vendor/golang.org/x/crypto/...; do
	set -- "$@" "-gcflags=$hot="
done
version=$1
output=$2
shift 2
CGO_ENABLED=0 exec go build -trimpath -buildvcs=false -tags nethttpomithttp2,netgo,osusergo \
	-ldflags "-s -w -X main.version=$version" "$@" -o "$output" .
