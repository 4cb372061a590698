#!/bin/sh
# Builds the targets of build/targets into dist/, or only those named.
#   cross.sh VERSION [TARGET]...
set -eu
cd "$(dirname "$0")/.."
version=$1
shift
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
