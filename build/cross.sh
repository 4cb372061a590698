#!/bin/sh
# Builds the targets of build/targets into dist/, or only those named.
#   cross.sh VERSION [TARGET]...
set -eu
cd "$(dirname "$0")/.."
version=${1:?usage: cross.sh VERSION [TARGET]...}
shift
for name; do
	grep -q "^$name[[:blank:]]" build/targets || { echo "cross.sh: build/targets has no target $name" >&2; exit 2; }
done
mkdir -p dist
sed 's/#.*//' build/targets | while read -r name vars; do
	[ -n "$name" ] || continue
	case " $* " in
	"  " | *" $name "*) ;;
	*) continue ;;
	esac
	echo "build dist/cluade-linux-$name"
	# $vars is a list of NAME=value words.
	env $vars GOOS=linux build/compile.sh "$version" "dist/cluade-linux-$name"
done
