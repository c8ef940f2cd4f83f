#!/usr/bin/env bash
# A rollout of StatefulSets of which a pod was evicted from a dead node, since Kubernetes 1.37 has maxUnavailable on by default
# (MaxUnavailableStatefulSet). Kubernetes 1.37.2 (StatefulSet controller), seen on 2026-11-30; 1.38.0-beta.0 does the same.
#
# Guess:   with podManagementPolicy Parallel, a rollout replaces the pods with higher ordinals first and stops at the stuck one, as
#          in 1.36.3 (statefulset-of-a-dead-node.sh). With OrderedReady it does not begin. maxUnavailable: 2 lets both begin.
# Reality: the stuck pod is one that is unavailable. By default, one may be, so with Parallel the rollout does not begin any more
#          either. With maxUnavailable: 2 it begins with Parallel, but not with OrderedReady.
version=1.37.2
source "$(dirname "$0")/controlplane.sh"

# statefulset NAME POLICY MAX creates a StatefulSet with one pod.
statefulset() {
  k create -f - >/dev/null <<END
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: $1}
spec:
  replicas: 1
  podManagementPolicy: $2
  updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: $3}}
  selector: {matchLabels: {app: $1}}
  template:
    metadata: {labels: {app: $1}}
    spec: {terminationGracePeriodSeconds: 2, containers: [{name: c, image: i}]}
END
  runs "statefulset.kubernetes.io/pod-name=$1-0"
}

start_controlplane
node n1 True
statefulset parallel-1 Parallel 1
statefulset parallel-2 Parallel 2
statefulset ordered-2 OrderedReady 2
all="parallel-1 parallel-2 ordered-2"
node n2 True
k cordon n1 >/dev/null
for name in $all; do
  k scale statefulset $name --replicas=3 >/dev/null
  for ordinal in 1 2; do runs "statefulset.kubernetes.io/pod-name=$name-$ordinal"; done
done
k taint node n1 broken=yes:NoExecute >/dev/null
for name in $all; do until_true 30 has "$name-0 " terminating $name; done
for name in $all; do
  k patch statefulset $name --type=json -p '[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "j"}]' >/dev/null
done
until_true 30 has "parallel-2-0 parallel-2-2 " terminating parallel-2
sleep 10 # time in which the other rollouts would begin
for name in parallel-1 ordered-2; do
  has "$name-0 " terminating $name || fail "the rollout of $name began: $(terminating $name)"
done
for name in $all; do echo "$name: terminating are $(terminating $name)"; done
