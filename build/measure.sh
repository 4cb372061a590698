# Sourced by the scripts beside it.
# report NAME VALUE: prints a figure beside the previous one and its budget of
# build/budgets. over is set when it breaks the limit; a time or a ratio of times
# never does, for it is the machine's as much as the program's.
over=
report() {
	line=$(sed -n "s/^$1  *//p" build/budgets)
	[ -n "$line" ] || { echo "no budget for $1" >&2; exit 1; }
	set -- "$1" "$2" $line
	verdict=ok
	[ "$2" -le "$4" ] || verdict="over the target"
	if [ "$2" -gt "$5" ]; then
		verdict="OVER THE LIMIT"
		case $6 in
		ms | %) ;;
		*) over=yes ;;
		esac
	fi
	printf '%-18s %9s %-5s  previous %9s  target %9s  limit %9s  %s\n' "$1" "$2" "$6" "$3" "$4" "$5" "$verdict"
}
