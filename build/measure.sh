# Sourced by the scripts beside it.
# report NAME VALUE: prints a figure beside the previous one and its budget of
# build/budgets. over is set when it breaks the limit.
over=
report() {
	line=$(sed -n "s/^$1  *//p" build/budgets)
	[ -n "$line" ] || { echo "no budget for $1" >&2; exit 1; }
	set -- "$1" "$2" $line
	verdict=ok
	[ "$2" -le "$4" ] || verdict="over the target"
	[ "$2" -le "$5" ] || { verdict="OVER THE LIMIT"; over=yes; }
	printf '%-18s %9s %-5s  previous %9s  target %9s  limit %9s  %s\n' "$1" "$2" "$6" "$3" "$4" "$5" "$verdict"
}
