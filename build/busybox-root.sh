#!/bin/sh
# Runs the scripts of tests/ in a root that holds BusyBox alone, as a router
# does: no bash, no coreutils, none of the applets that OpenWRT leaves out. Needs
# root for the mounts, which vanish with their namespace.
set -eu
cd "$(dirname "$0")/.."
. build/need.sh
need busybox unshare
if [ "$(id -u)" != 0 ]; then
	[ -z "${CI:-}" ] || { echo "FAIL: busybox-root needs root" >&2; exit 1; }
	echo "SKIP: busybox-root needs root" >&2
	exit 0
fi
build/cross.sh "$1" amd64
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/tmp" "$root/tests" "$root/etc" "$root/root"
cp "$(command -v busybox)" "$root/bin/busybox"
for applet in $("$root/bin/busybox" --list); do
	case $applet in
	busybox | base64 | diff | nohup | od | pkill | realpath | setsid | stat | stty | tac | timeout) ;;
	*) ln -s busybox "$root/bin/$applet" ;;
	esac
done
echo root:x:0:0:root:/root:/bin/sh >"$root/etc/passwd"
cp dist/cluade-linux-amd64 "$root/cluade"
cp -r tests/scripts "$root/tests/scripts"
CGO_ENABLED=0 go test -c -o "$root/tests/tests.test" ./tests
export root
unshare -m sh -ec '
	mount --make-rprivate /
	mount --rbind /dev "$root/dev"
	mount -t proc proc "$root/proc"
	chroot "$root" /bin/env -i PATH=/bin HOME=/root CLUADE_BIN=/cluade CI="${CI:-}" \
		/bin/sh -c "cd /tests && exec ./tests.test -test.run TestScripts -test.timeout 10m"'
