#!/bin/sh
# Measures the stripped MIPS binary, as it is and compressed as flash and
# packages hold it, and fails over the limit of build/budgets.
set -eu
cd "$(dirname "$0")/.."
. build/need.sh
. build/measure.sh
need xz
build/cross.sh "$1" mips-softfloat
bin=dist/cluade-linux-mips-softfloat
report mips-binary "$(wc -c <$bin)"
report mips-xz "$(xz -9e -c $bin | wc -c)"
[ -z "$over" ]
