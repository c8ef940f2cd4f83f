#!/usr/bin/env bash
# A Job with a podFailurePolicy on a node that has died. Kubernetes 1.36.3 (kube-controller-manager's taint-eviction-controller
# and Job controller, kube-apiserver), seen on 2026-11-28.
#
# Guess:   after the eviction, both Jobs get a new pod on the other node, at the latest when somebody deletes the old pod
#          with --force --grace-period=0. The eviction counts as a failure when the pod has ended.
# Reality: - Without a podFailurePolicy, the eviction counts as a failure, and is replaced, when the deletion begins, while
#            the pod still runs: backoffLimit is used up by taints.
#          - With one (its rule ignores DisruptionTarget, as the documentation advises), the pod is not replaced. The forced
#            deletion removes nothing: the finalizer batch.kubernetes.io/job-tracking stays until the pod's phase is Failed
#            or Succeeded, which only the kubelet sets. The Job waits, with no active pod, without a condition.
#          - The taint node.kubernetes.io/out-of-service ends it: pod garbage collection sets the phase.
source "$(dirname "$0")/controlplane.sh"

start_controlplane
node n1 True
for policy in 'null' '{rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}'; do
  name=$([[ $policy == null ]] && echo plain || echo ignores)
  k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $name}
spec:
  backoffLimit: 3
  podFailurePolicy: $policy
  template:
    spec: {restartPolicy: Never, terminationGracePeriodSeconds: 2, containers: [{name: c, image: i}]}
END
  runs "job-name=$name"
done
old=$pod # of the Job "ignores"
node n2 True
k taint node n1 broken=yes:NoExecute >/dev/null

until_true 60 has "1 1 1" k get job plain -o 'jsonpath={.status.failed} {.status.terminating} {.status.active}'
echo "plain: $(k get job plain -o 'jsonpath={.status.failed} failed, {.status.active} active, while the old pod is still terminating')"

until_true 60 has 1 k get job ignores -o 'jsonpath={.status.terminating}'
timeout 10 "$work/kubernetes" kubectl --kubeconfig "$work/kubeconfig" delete "$old" --force --grace-period=0 >/dev/null 2>&1 || true
sleep 10 # time in which a replacement or a removal would show
has "0 Running batch.kubernetes.io/job-tracking" \
  k get "$old" -o 'jsonpath={.metadata.deletionGracePeriodSeconds} {.status.phase} {.metadata.finalizers[0]}' ||
  fail "the forced deletion removed the pod, or its phase or finalizer: $(k get "$old" -o yaml)"
has " 1 " k get job ignores -o 'jsonpath={.status.active} {.status.terminating} {.status.failed}' ||
  fail "the Job replaced or counted the pod: $(k get job ignores -o 'jsonpath={.status}')"
echo "ignores: no active pod 10 s after kubectl delete --force; the old pod is Running and has its finalizer"

node n1 False
k taint node n1 node.kubernetes.io/out-of-service=off:NoExecute >/dev/null
until_true 120 has "1 n2" k get pods -l job-name=ignores -o 'jsonpath={.items[*].metadata.deletionTimestamp}1 {.items[*].spec.nodeName}'
echo "ignores: replaced on n2 after the taint out-of-service"
