#!/usr/bin/env bash
# A Node that is deleted and created again under its name. Kubernetes 1.36.3 (kube-controller-manager's node lifecycle
# controller, kube-apiserver), seen on 2026-11-30.
#
# Guess:   a node whose kubelet has not reported yet has the startup grace period (--node-startup-grace-period) before it counts
#          as unreachable, whether or not there was a node of its name before.
# Reality: only a new name has that time. For a name that was there before, the controller goes on counting from when it saw
#          the deleted node last: a node that comes back later than that is unreachable at once, with the NoExecute taint.
manager_flags=(--node-startup-grace-period=30s)
source "$(dirname "$0")/controlplane.sh"

unreachable() { k get node "$1" -o 'jsonpath={.spec.taints[*].key}' | grep -q node.kubernetes.io/unreachable; }

start_controlplane
for name in other old; do node $name True; done
sleep 6 # the controller looks every 5 seconds
k delete node old >/dev/null
sleep 45
for name in old new; do k create -f - >/dev/null <<<"{apiVersion: v1, kind: Node, metadata: {name: $name}}"; done
created=$SECONDS
until_true 20 unreachable old
((SECONDS < created + 20)) || fail "this machine is too slow for the check"
unreachable new && fail "the new node has no startup grace period, either"
echo "after $((SECONDS - created)) s: the node that came back is unreachable, the new one is not"
until_true 60 unreachable new
((SECONDS >= created + 25)) || fail "the new node is unreachable after $((SECONDS - created)) s already"
echo "after $((SECONDS - created)) s: so is the new one"
