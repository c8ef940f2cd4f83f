#!/usr/bin/env bash
# A StatefulSet of which a pod was evicted from a dead node. Kubernetes 1.36.3 (StatefulSet controller), seen on 2026-11-29.
#
# Guess:   the pod with the lowest ordinal is stuck on the dead node. With podManagementPolicy Parallel, scaling up creates the
#          next pod at once; with OrderedReady it waits. With both, a rollout begins with the highest ordinal, which is healthy,
#          and stops when it comes to the stuck pod.
# Reality: right for Parallel. With OrderedReady, the default, the rollout does not begin: as long as one pod is terminating, the
#          controller does nothing to those with higher ordinals, neither for a new replica nor for a new template.
source "$(dirname "$0")/controlplane.sh"

names() { k get pods -l "app=$1" -o 'jsonpath={.items[*].metadata.name}'; }

start_controlplane
node n1 True
for policy in Parallel OrderedReady; do
  k create -f - >/dev/null <<END
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ${policy,,}}
spec:
  replicas: 1
  podManagementPolicy: $policy
  selector: {matchLabels: {app: ${policy,,}}}
  template:
    metadata: {labels: {app: ${policy,,}}}
    spec: {terminationGracePeriodSeconds: 2, containers: [{name: c, image: i}]}
END
  runs "statefulset.kubernetes.io/pod-name=${policy,,}-0"
done
node n2 True
k cordon n1 >/dev/null
for name in parallel orderedready; do
  k scale statefulset $name --replicas=2 >/dev/null
  runs "statefulset.kubernetes.io/pod-name=$name-1"
done
k taint node n1 broken=yes:NoExecute >/dev/null
for name in parallel orderedready; do until_true 30 has "$name-0 " terminating $name; done

for name in parallel orderedready; do k scale statefulset $name --replicas=3 >/dev/null; done
until_true 30 has "parallel-0 parallel-1 parallel-2" names parallel
runs statefulset.kubernetes.io/pod-name=parallel-2
sleep 10 # time in which the other StatefulSet would show a new pod
has "orderedready-0 orderedready-1" names orderedready || fail "orderedready has the pods $(names orderedready)"
echo "scaled to 3: parallel has 3 pods, orderedready has 2"

for name in parallel orderedready; do
  k patch statefulset $name --type=json -p '[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "j"}]' >/dev/null
done
until_true 30 has "parallel-0 parallel-2 " terminating parallel
k delete pod parallel-2 --force --grace-period=0 >/dev/null 2>&1 # as its kubelet would
until_true 30 has "parallel-0 parallel-1 parallel-2" names parallel
until_true 30 has "parallel-0 " terminating parallel
runs statefulset.kubernetes.io/pod-name=parallel-2
until_true 30 has "parallel-0 parallel-1 " terminating parallel
has "orderedready-0 " terminating orderedready || fail "the rollout of orderedready began: $(terminating orderedready)"
echo "new template: parallel replaces 2, then 1; orderedready replaces none"
