#!/bin/bash
# Breaks each condition of packages in turn, and runs the tests of the package after each:
#
#   tools/mutants.sh taint internal/evict
#
# prints the breaks that no test finds, except for those in tools/equivalent.txt, and fails if there is one. All results
# go to bin/mutants.log.
set -euo pipefail

for package in "$@"; do
	bin/gremlins unleash --invert-logical "./$package" | sed "s|^|$package |"
done | tee bin/mutants.log

survivors=0
while read -r package mutation file line; do
	code=$(sed -n "${line}s/^[[:space:]]*//p" "$package/$file")
	grep -qF "$mutation $package/$file: $code # " tools/equivalent.txt && continue
	echo "no test finds $mutation $package/$file:$line: $code"
	survivors=$((survivors + 1))
done < <(sed -nE 's/^(\S+) +LIVED (\S+) at (\S+):([0-9]+):[0-9]+$/\1 \2 \3 \4/p' bin/mutants.log)
echo "$survivors breaks that no test finds"
[ "$survivors" = 0 ]
