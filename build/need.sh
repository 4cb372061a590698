# Sourced by the scripts beside it.
# need TOOL...: a tool that is missing ends the script. On a person's machine
# that is a skip that says so; in CI it is a failure.
need() {
	for tool in "$@"; do
		if ! command -v "$tool" >/dev/null 2>&1; then
			if [ -n "${CI:-}" ]; then
				echo "FAIL: $tool is missing" >&2
				exit 1
			fi
			echo "SKIP: $(basename "$0" .sh) needs $tool, which is not installed" >&2
			exit 0
		fi
	done
}
