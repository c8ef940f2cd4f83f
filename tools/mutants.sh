#!/bin/bash
# Breaks each comparison and each && and || of packages in turn, and runs the tests of the package after each:
#
#   tools/mutants.sh taint internal/evict
#
# prints the breaks that no test finds, except for those in tools/equivalent.txt, and fails if there is one. All results
# go to bin/mutants.log.
set -euo pipefail
# Each copy of the module shares what was built; go vet's opinion of a break finds none; and the limit of each test's
# time comes from the first run, which must not be cached.
export GOFLAGS="-trimpath -vet=off -count=1"

# gremlins leaves out what tests do not cover, and Go's coverage knows no condition of a switch's case. So this command
# stands for go, and says that every line is covered.
shim=$(mktemp -d)
trap 'rm -r "$shim"' EXIT
cat >"$shim/go" <<END
#!/bin/bash
"$(command -v go)" "\$@" || exit
[ "\$2" != -cover ] || sed -i -E 's/^([^:]+\.go):.*/\1:1.1,99999.1 1 1/' "\$4"
END
chmod +x "$shim/go"

for package in "$@"; do
	PATH=$shim:$PATH bin/gremlins unleash --conditionals-boundary --conditionals-negation --invert-logical \
		--arithmetic-base=false --increment-decrement=false --invert-negatives=false "./$package" | sed "s|^|$package |"
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
