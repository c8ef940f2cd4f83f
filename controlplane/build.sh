#!/bin/sh
# Builds one binary of one module and says how far it is.
#
#   build.sh MODULE_DIR PACKAGE OUTPUT [LDFLAGS]
#
# A build from empty caches takes minutes, and `go build` is silent meanwhile;
# this prints a line at the start and one every 15 seconds. When the build
# fails, it prints what the compiler said and leaves OUTPUT as it was.
set -eu

dir=$1 package=$2 output=$3 ldflags=${4:-}
name=$(basename "$output")
mkdir -p "$(dirname "$output")"
output=$(cd "$(dirname "$output")" && pwd)/$name
log=$(mktemp)
started=$(date +%s)
running=

cleanup() {
	if [ -n "$running" ]; then kill "$running" 2>/dev/null || true; fi
	rm -f "$log" "$log.packages" "$output.new"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

say() { echo "$name: $*"; }
elapsed() { echo $(($(date +%s) - started)); }

# finish COMMAND PATTERN TEXT: runs COMMAND, counts the lines of the log that
# match PATTERN, and says that number with TEXT every 15 seconds.
finish() {
	eval "$1" &
	running=$!
	ticks=0
	while kill -0 "$running" 2>/dev/null; do
		sleep 1
		ticks=$((ticks + 1))
		if [ $((ticks % 15)) -eq 0 ]; then
			say "$(elapsed) s: $(grep -c "$2" "$log" || true) $3"
		fi
	done
	if ! wait "$running"; then
		running=
		say "the build failed after $(elapsed) s:"
		grep -v -e '^go: downloading' -e '^[^ :]*$' "$log" >&2 || cat "$log" >&2
		exit 1
	fi
	running=
}

flags="-trimpath -tags grpcnotrace"
say "building. This is done once; from empty caches it takes about 5 minutes on 2 cores."
finish 'go -C "$dir" list $flags -deps "$package" >"$log.packages" 2>"$log"' \
	'^go: downloading' 'modules downloaded'
total=$(wc -l <"$log.packages" | tr -d ' ')
finish 'go -C "$dir" build -v $flags -ldflags "-s -w $ldflags" -o "$output.new" "$package" 2>"$log"' \
	'^[^ :]*$' "packages compiled (of $total; those already in Go's cache do not count)"
mv "$output.new" "$output"
say "done after $(elapsed) s: $output"
