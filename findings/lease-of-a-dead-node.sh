#!/usr/bin/env bash
# A node dies after something else than its kubelet has written to its Lease, such as a label. Kubernetes 1.37.2
# (kube-controller-manager's node lifecycle controller, kube-apiserver), seen on 2026-11-29.
#
# Guess:   only renewTime counts: when the Lease is not renewed for --node-monitor-grace-period, the node becomes Unknown and
#          gets the taints node.kubernetes.io/unreachable, whatever else was written to the Lease.
# Reality: the node stays Ready and untainted. Since 1.37 (feature gate NodeControllerLeaseCircuitBreaker, on by default),
#          the controller compares the Lease's resourceVersion with that of the last renewal that it saw. After a write that
#          renews nothing they differ, so it takes its cache for outdated, skips the node, and logs "no pods will be evicted"
#          every few seconds. It ends when kube-controller-manager starts again. Other nodes are not affected.
version=1.37.2
manager_flags=(--node-monitor-grace-period=15s --node-monitor-period=1s)
source "$(dirname "$0")/controlplane.sh"

renew() {
  k apply -f - >/dev/null <<END
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: $1, namespace: kube-node-lease}
spec: {holderIdentity: $1, leaseDurationSeconds: 40, renewTime: "$(date -u +%FT%T.%6NZ)"}
END
}

ready() { k get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'; }

start_controlplane
for name in plain labelled; do
  node $name True
  renew $name
done
renew plain
renew labelled
sleep 3 # the controller, which looks every second, sees both renewals
k -n kube-node-lease label lease labelled example.com/team=a >/dev/null

until_true 60 has Unknown ready plain
echo "plain: Unknown"
sleep 30 # twice the grace period
has True ready labelled || fail "the node labelled is $(ready labelled)"
[[ -z $(k get node labelled -o 'jsonpath={.spec.taints}') ]] || fail "the node labelled is tainted"
grep -q 'no pods will be evicted.*node="labelled"' "$work/manager.log" || fail "kube-controller-manager does not log it"
echo "labelled: still Ready, without a taint, 30 s later"

{ kill -KILL "$manager" && wait "$manager"; } 2>/dev/null || true
start_manager
until_true 60 has Unknown ready labelled
echo "labelled: Unknown after kube-controller-manager has started again"
