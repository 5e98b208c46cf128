# Looks for a job, and counts the looks in the file $1. Every third time nobody answers; at
# the fifth the job is running, at the eighth it is done.
looks=$(($(cat "$1" 2>/dev/null || echo 0) + 1))
echo "$looks" >"$1"
if [ $((looks % 3)) -eq 0 ]; then
	echo '{"code": "busy", "message": "nobody answers"}' >&2
	exit 1
fi
status=waiting
[ "$looks" -ge 5 ] && status=running
[ "$looks" -ge 8 ] && status=done
echo "{\"status\": \"$status\", \"looks\": $looks}"
