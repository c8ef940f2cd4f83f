#!/usr/bin/env bash
# A gang whose nodes have all died. Kubernetes 1.37.2 (kube-scheduler and ReplicaSet controller, with the feature gate
# GenericWorkload, beta and off by default), seen on 2026-11-30.
#
# Guess:   a PodGroup with minCount 2, both of whose pods were evicted, waits until both replacements fit somewhere.
# Reality: - The evicted pods count for minCount until they are gone, and on a dead node they stay. With room for one pod, one
#            replacement is bound, and holds its node although the gang can't run.
#          - Once the evicted pods are deleted by force, the gang waits as a whole again.
#          - Nothing in the status of the PodGroup shows it: PodGroupInitiallyScheduled stays True throughout.
version=1.37.2
manager_flags=(--feature-gates=GenericWorkload=true)
scheduler_flags=(--feature-gates=GenericWorkload=true)
source "$(dirname "$0")/controlplane.sh"

# placed prints how many pods that are not being deleted have a node.
placed() {
  k get pods -l app=gang -o json |
    python3 -c 'import json, sys; print(sum("nodeName" in p["spec"] and "deletionTimestamp" not in p["metadata"]
      for p in json.load(sys.stdin)["items"]))'
}

# waiting NUMBER requires this many pods to have a node, and others to be refused, for as long as the scheduler would need.
waiting() {
  until_true 60 has "$1" placed
  sleep 15
  has "$1" placed || fail "$(placed) pods have a node instead of $1"
}

start_controlplane --feature-gates=GenericWorkload=true --runtime-config=scheduling.k8s.io/v1beta1=true
node n1 True
node n2 True
k create -f - >/dev/null <<'END'
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: gang}
spec: {schedulingPolicy: {gang: {minCount: 2}}}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: gang}
spec:
  replicas: 2
  selector: {matchLabels: {app: gang}}
  template:
    metadata: {labels: {app: gang}}
    spec:
      schedulingGroup: {podGroupName: gang}
      containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}] # a node has 4
END
until_true 60 has 2 placed
for pod in $(k get pods -o name); do
  k patch "$pod" --subresource=status --type=merge -p '{"status": {"phase": "Running"}}' >/dev/null
done

k taint node n1 n2 broken=yes:NoExecute >/dev/null
until_true 60 has 0 placed
node n3 True
waiting 1
echo "the evicted pods are terminating: one of two replacements is bound to the only free node"
has True k get podgroup gang -o 'jsonpath={.status.conditions[?(@.type=="PodGroupInitiallyScheduled")].status}' ||
  fail "the PodGroup shows it: $(k get podgroup gang -o 'jsonpath={.status}')"

timeout 60 "$work/kubernetes" kubectl --kubeconfig "$work/kubeconfig" delete pods --all --force --grace-period=0 >/dev/null 2>&1
until_true 60 has "2" sh -c "'$work/kubernetes' kubectl --kubeconfig '$work/kubeconfig' get pods -o name | wc -l"
waiting 0
echo "all of them are gone: neither of two new pods is bound"
