#!/bin/sh
# Measures one run with one tool call over verified TLS: the peak of resident
# memory, the size of the first request, and the time from start to request.
# The best of five counts, for the machine has other things to do. Then a
# conversation of 300 turns: what grows in it, its memory after 100 turns, and
# how much faster than the request the time of a turn grows. Last the judging of
# a marketplace of 300 plugins.
# The server is the stand-in of tests/model.
set -eu
cd "$(dirname "$0")/.."
. build/need.sh
. build/measure.sh
[ -x /usr/bin/time ] || need /usr/bin/time
build/cross.sh "$1" 386 amd64
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
go build -buildvcs=false -o "$scratch/model" ./tests/model
mkdir "$scratch/home"
printf 'call bash {"command":"uname -a"}\n\necho\n' >"$scratch/answers"

# least FILE PATTERN: the smallest number that PATTERN captures in FILE.
least() { sed -n "s/.*$2.*/\1/p" "$1" | sort -n | head -n 1; }

for arch in 386 amd64; do
	log=$scratch/$arch.log
	for _ in 1 2 3 4 5; do
		HOME=$scratch/home "$scratch/model" -v -tls "$scratch/answers" -- \
			/usr/bin/time -f 'peak %M KiB' "dist/cluade-linux-$arch" -q 'run uname -a' >/dev/null 2>>"$log"
	done
	report "rss-$arch" "$(least "$log" 'peak \([0-9]*\) KiB')"
done
report first-request "$(least "$log" 'request 1, \([0-9]*\) bytes')"
report start-to-request "$(least "$log" 'request 1, .* after \([0-9]*\) ms')"

CLUADE_BIN=$PWD/dist/cluade-linux-386 go test ./tests -run '^$' -bench Growth -benchtime 1x >"$scratch/growth" 2>&1 || {
	cat "$scratch/growth"
	exit 1
}
sed -n 's/.*: \(after \|growth \)/\1/p' "$scratch/growth"
report rss-100-turns "$(least "$scratch/growth" 'after 100 turns: memory \([0-9]*\) KiB')"
report growth-per-byte "$(least "$scratch/growth" 'time for bytes \([0-9]*\) %')"

go test ./skills -run '^$' -bench MarketplaceOfMany -benchtime 3x >"$scratch/market" 2>&1 || {
	cat "$scratch/market"
	exit 1
}
ns=$(least "$scratch/market" 'BenchmarkMarketplaceOfMany[^[:space:]]*[[:space:]]*3[[:space:]]*\([0-9]*\) ns')
report marketplace-300 "$((ns / 1000000))"
[ -z "$over" ]
