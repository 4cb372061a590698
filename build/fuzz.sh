#!/bin/sh
# Runs every fuzz target for FUZZTIME each (10s).
set -eu
cd "$(dirname "$0")/.."
grep -rho --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . >/dev/null || { echo "no fuzz target found" >&2; exit 1; }
grep -ro --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sort | while IFS=: read -r file func; do
	target=${func#func }
	echo "fuzz $target of $(dirname "$file")"
	go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-10s}" "$(dirname "$file")"
done
