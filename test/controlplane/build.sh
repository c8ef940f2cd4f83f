#!/bin/sh
# Builds one binary of one module and says how far it is:
#
#   build.sh MODULE_DIR PACKAGE OUTPUT MINUTES [LDFLAGS [MODFILE]]
#
# MODFILE is another go.mod than the module's own, relative to MODULE_DIR.
#
# From empty caches such a build takes minutes, MINUTES of them on two cores, in
# which `go build` says nothing: this prints a line at the start and one every 15
# seconds. A build that fails prints what the compiler said and leaves OUTPUT as
# it was.
set -eu

module=$1 package=$2 output=$3 minutes=$4 ldflags=${5:-} modfile=${6:-}
name=$(basename "$output")
mkdir -p "$(dirname "$output")"
output=$(cd "$(dirname "$output")" && pwd)/$name
work=$(mktemp -d)
started=$(date +%s)
running=

cleanup() {
	if [ -n "$running" ]; then kill "$running" 2>/dev/null || true; fi
	rm -rf "$work" "$output.new"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

say() { echo "$name, $(($(date +%s) - started)) s: $*"; }

# follow PATTERN WHAT COMMAND...: runs the command and says every 15 seconds how
# many lines of its standard error match the pattern. Its standard output is in
# $work/out afterwards.
follow() {
	pattern=$1 what=$2
	shift 2
	"$@" >"$work/out" 2>"$work/err" &
	running=$!
	seconds=0
	while kill -0 "$running" 2>/dev/null; do
		sleep 1
		seconds=$((seconds + 1))
		if [ $((seconds % 15)) -eq 0 ]; then
			say "$(grep -c "$pattern" "$work/err" || true) $what"
		fi
	done
	wait "$running" || fail
	running=
}

fail() {
	running=
	say "the build failed:" >&2
	grep -v -e '^go: downloading' -e "$compiled" "$work/err" >&2 || cat "$work/err" >&2
	exit 1
}

downloaded='^go: downloading'
compiled='^[^ :]*$' # go build -v prints a package's path and nothing else
export GOWORK=off
set -- -trimpath -buildvcs=false -tags grpcnotrace -gcflags=all=-dwarf=false # the linker leaves it out, too
if [ -n "$modfile" ]; then set -- "$@" "-modfile=$modfile"; fi

say "building; this is needed once and takes about $minutes minutes on two cores when Go's caches are empty"
follow "$downloaded" "modules downloaded" \
	go -C "$module" list "$@" -deps "$package"
packages=$(wc -l <"$work/out" | tr -d ' ')
follow "$compiled" "packages compiled, of $packages less those in Go's cache" \
	go -C "$module" build -v "$@" -ldflags "-s -w $ldflags" -o "$output.new" "$package"
mv "$output.new" "$output"
say "built"
