#!/bin/sh
# Runs the live tests against one version of Kubernetes after another:
#
#   test.sh 1.37 1.32
#
# bin/controlplane-VERSION, bin/kwok, bin/helm, bin/soak and bin/taint-manager must be
# built. RUN limits the tests, as `go test -run` does, and leaves out the soak. What the
# tests print goes to bin/test-VERSION.log; the tests that fail and those that are skipped,
# with the reason, are printed here, and the counts. A version that fails does not keep
# the next one from running.
set -eu

failed=0
for version in "$@"; do
	log=bin/test-$version.log
	name=$(sed -n 's|^.*k8s.io/kubernetes \(v[0-9.]*\)$|\1|p' "test/controlplane/versions/$version/go.mod")
	echo "Kubernetes $name: running, see $log"
	TESTCLUSTER_KUBERNETES=$version go test -v -vet=off -trimpath -count 1 -p 1 -timeout 40m -run "${RUN:-.}" \
		./test/testcluster ./test/e2e >"$log" 2>&1 || failed=1
	grep -E -A 1 -e '--- (FAIL|SKIP)' -e '^(FAIL|panic)' "$log" || true
	count() { grep -c -e "--- $1" "$log" || true; }
	[ -n "${RUN:-}" ] || TESTCLUSTER_KUBERNETES=$version bin/soak -for 10m -seed 1 || failed=1
	echo "Kubernetes $name, $(date +%F): $(count PASS) passed, $(count SKIP) skipped, $(count FAIL) failed"
done
exit $failed
