#!/usr/bin/env bash
# kubectl drain --timeout while kube-controller-manager is down. Kubernetes 1.36.3 (kubectl with its client-go, kube-apiserver),
# seen on 2026-11-29.
#
# Guess:   drain --timeout=5s repeats a refused eviction every 5 s, says so each time, and ends after 5 s or 10 s.
# Reality: it ends after more than 100 s, and says nothing until then. For a budget whose status nobody has written yet, the
#          API server answers 429 with Retry-After: 10. client-go obeys, and repeats the request ten times within one call;
#          --timeout does not reach into that call.
source "$(dirname "$0")/controlplane.sh"

refused() {
  k get --raw /metrics | awk '/^apiserver_request_total.*code="429".*subresource="eviction"/ {n += $2} END {print n + 0}'
}

start_controlplane
node n1 True
k create deployment web --image=i >/dev/null
runs app=web
kill "${pids[2]}" # kube-controller-manager
k create pdb web --selector=app=web --min-available=0 >/dev/null

began=$SECONDS
k drain n1 --timeout=5s >"$work/drain.log" 2>&1 && fail "the drain succeeded"
took=$((SECONDS - began))
cat "$work/drain.log"
echo "the drain took $took s, and $(refused) evictions were refused"
((took >= 100)) || fail "the drain ended after $took s"
has 11 refused || fail "$(refused) evictions were refused, not 11"
[[ $(grep -c 'will retry' "$work/drain.log") == 1 ]] || fail "the drain reported another number of refusals"
