#!/usr/bin/env bash
# Pods that are stuck on an unreachable node, with Kueue's FailureRecoveryPolicy (alpha), which deletes by force those that
# have the annotation kueue.x-k8s.io/safe-to-forcefully-delete. Kueue 0.17.0 with Kubernetes 1.36.3
# (taint-eviction-controller), seen on 2026-11-30.
#
# Guess:   it cares for pods of Kueue's queues. Whoever finds a stuck pod at night adds the annotation, and the pod goes.
# Reality: - It deletes any pod that has the annotation, in a queue or not, a minute after the pod should have ended.
#          - The annotation has no effect on a pod that is being deleted already, also after further changes of the pod.
source "$(dirname "$0")/kueue.sh"

# pod NAME ANNOTATION creates a pod on n1, in no queue.
pod() {
  k create -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: $1, annotations: {$2}}
spec:
  nodeName: n1
  terminationGracePeriodSeconds: 5
  tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 1}]
  containers: [{name: c, image: i}]
END
  running "pod/$1"
}

start_controlplane
for n in n1 n2 n3; do node $n True; done # n1 is the only one that dies, so evictions do not stop
start_kueue ,FailureRecoveryPolicy=true
pod before 'kueue.x-k8s.io/safe-to-forcefully-delete: "true"'
pod after ""
node n1 Unknown
until_true 60 has "after before " terminating
began=$SECONDS
k annotate pod after kueue.x-k8s.io/safe-to-forcefully-delete=true >/dev/null
until_true 90 has "after " terminating
echo "$((SECONDS - began)) s later, the pod that had the annotation before is gone"
((SECONDS - began > 50)) || fail "it was deleted earlier"
sleep 60
k annotate pod after seen=yes >/dev/null
sleep 30
has "after " terminating || fail "the other pod is gone, too"
echo "$((SECONDS - began)) s later, the pod that got it afterwards is still there"
