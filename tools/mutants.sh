#!/bin/bash
# Breaks each condition of packages in turn, and runs the tests of the package after each:
#
#   tools/mutants.sh taint internal/evict
#
# prints the breaks that no test finds, but for those in tools/equivalent.txt, and fails if there is one. All results go
# to bin/mutants.log.
set -euo pipefail

: >bin/mutants.log
for package in "$@"; do
	bin/gremlins unleash --invert-logical "./$package" | sed "s|^|$package: |" | tee -a bin/mutants.log
done
