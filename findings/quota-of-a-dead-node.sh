#!/usr/bin/env bash
# A ResourceQuota and the replacement of a pod that was evicted from a dead node. Kubernetes 1.36.3 (kube-apiserver,
# kube-controller-manager), seen on 2026-11-29.
#
# Guess:   an evicted pod counts until its deletionTimestamp, that is, until its grace period is over. Then the replacement is
#          created within seconds.
# Reality: it counts for twice its grace period: deletionTimestamp has the grace period in it, and the quota adds it once more.
#          Even then no event makes the quota count again; it does so every 5 minutes (--resource-quota-sync-period), or when
#          its spec changes. Until then the ReplicaSet's creations are refused.
source "$(dirname "$0")/controlplane.sh"

# recount changes the quota's spec, and waits until its status is counted again.
recount() {
  k patch quota q --type=merge -p '{"spec": {"hard": {"services": "'"$1"'"}}}' >/dev/null
  until_true 30 has "$1" k get quota q -o 'jsonpath={.status.hard.services}'
}

sleep_until() { sleep $(($1 > $(date +%s) ? $1 - $(date +%s) : 0)); }

start_controlplane
node n1 True
k create quota q --hard=pods=1 >/dev/null
k create -f - >/dev/null <<END
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template: {metadata: {labels: {app: web}}, spec: {terminationGracePeriodSeconds: 40, containers: [{name: c, image: i}]}}
END
runs app=web
node n2 True
k taint node n1 broken=yes:NoExecute >/dev/null
until_true 30 has 40 k get "$pod" -o 'jsonpath={.metadata.deletionGracePeriodSeconds}'
ended=$(date -d "$(k get "$pod" -o 'jsonpath={.metadata.deletionTimestamp}')" +%s)

sleep_until $((ended + 3))
recount 5
used=$(k get quota q -o 'jsonpath={.status.used.pods}')
(($(date +%s) < ended + 40)) || fail "this machine is too slow for the check"
[[ $used == 1 ]] || fail "the pod no longer counts after its deletionTimestamp: used.pods is $used"
k get events --field-selector reason=FailedCreate -o 'jsonpath={.items[*].message}' | grep -q 'exceeded quota' ||
  fail "the replacement was not refused"
echo "after the deletionTimestamp: the evicted pod counts, and the replacement is refused"

sleep_until $((ended + 42))
has 1 k get quota q -o 'jsonpath={.status.used.pods}' || fail "the quota counted again by itself"
recount 6
until_true 300 has 2 k get pods -o 'go-template={{len .items}}'
echo "after twice the grace period and a recount: replaced, while the old pod is still terminating"
