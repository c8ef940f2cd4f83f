#!/usr/bin/env bash
# kube-controller-manager --node-eviction-rate=1. Kubernetes 1.36.3 (kube-controller-manager's node lifecycle controller), seen
# on 2026-11-30. kubernetes/kubernetes#104639 reported it in 2021, and was closed without a fix.
#
# Guess:   while all nodes are not ready, none gets the taint not-ready:NoExecute. When they are ready again, evictions go on as
#          before: the next node that fails gets the taint after a second.
# Reality: right for other rates. With a rate of exactly 1, the stop is for ever: the next node that fails gets no NoExecute
#          taint, and keeps its pods, until kube-controller-manager starts again. The controller compares the new rate with that
#          of the limiter that lets nothing through, which says that its rate is 1.
manager_flags=(--node-eviction-rate=1)
source "$(dirname "$0")/controlplane.sh"

tainted() { k get node n1 -o 'jsonpath={.spec.taints[?(@.effect=="'"$1"'")].key}'; }

all() { for node in n1 n2 n3; do node $node "$1"; done; }

# fails lets all nodes fail and recover, and then one of them fail.
fails() {
  node n1 False
  until_true 60 has node.kubernetes.io/not-ready tainted NoExecute
  all False
  until_true 60 grep -q "Entering master disruption mode" "$work/manager.log"
  all True
  until_true 60 grep -q "Exiting master disruption mode" "$work/manager.log"
  node n1 False
  until_true 60 has node.kubernetes.io/not-ready tainted NoSchedule
}

restart() {
  { kill -KILL "$manager" && wait "$manager"; } 2>/dev/null || true
  manager_flags=("--node-eviction-rate=$1")
  start_manager
}

start_controlplane
all True
restart 1 # as the first node was not ready when it was created, which stops the controller as well
fails
sleep 60 # time in which it might get the other taint
has "" tainted NoExecute || fail "the node has the taint $(tainted NoExecute):NoExecute"
echo "rate 1: after all nodes had failed, a node that fails has the taint $(tainted NoSchedule):NoSchedule only, for 60 s"
restart 1
until_true 60 has node.kubernetes.io/not-ready tainted NoExecute
echo "rate 1: after kube-controller-manager has started again, the node has the taint $(tainted NoExecute):NoExecute"
restart 2
all True
fails
until_true 60 has node.kubernetes.io/not-ready tainted NoExecute
echo "rate 2: after all nodes had failed, a node that fails has the taint $(tainted NoExecute):NoExecute"
