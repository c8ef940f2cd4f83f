#!/usr/bin/env bash
# A group of a LeaderWorkerSet, one of whose nodes has died. sigs.k8s.io/lws 0.8.0 (its controllers and webhooks) with
# Kubernetes 1.36.3, seen on 2026-11-30.
#
# Guess:   RecreateGroupOnPodRestart, the default, deletes the whole group when one of its pods is evicted, and creates it
#          again on other nodes within a minute, as a Deployment would.
# Reality: - The other pods are deleted, and end on their nodes, which are healthy.
#          - The leader is deleted in the foreground. It stays until the StatefulSet of its workers is gone, which waits for
#            the pod on the dead node. So no pod of the group is created again, although there is room.
#          - The status of the LeaderWorkerSet has the condition Progressing, and says nothing of the reason.
#          - The taint node.kubernetes.io/out-of-service ends it: the group is created again.
source "$(dirname "$0")/controlplane.sh"

# start_lws builds and starts the manager of LeaderWorkerSets, with the certificate of the API server.
start_lws() {
  local port
  module sigs.k8s.io/lws@v0.8.0
  go build -C "$module" -o "$work/lws" ./cmd
  k create -f "$module/config/crd/bases" >/dev/null
  port=$(free_port)
  controller_config config.lws.x-k8s.io/v1alpha1 "$port" >"$work/lws.yaml"
  KUBECONFIG="$work/kubeconfig" "$work/lws" --config="$work/lws.yaml" >"$work/lws.log" 2>&1 &
  pids+=($!)
  webhook "$port" mutate-leaderworkerset-x-k8s-io-v1-leaderworkerset leaderworkerset.x-k8s.io/v1 leaderworkersets
  webhook "$port" mutate--v1-pod v1 pods
}

# kubelets removes the pods whose containers the kubelets of healthy nodes would have stopped. n3 is dead.
kubelets() {
  # shellcheck disable=SC2046
  ended $(k get pods -o json | python3 -c 'import json, sys
for p in json.load(sys.stdin)["items"]:
  if "deletionTimestamp" in p["metadata"] and p["spec"].get("nodeName") != "n3" and p["metadata"]["deletionGracePeriodSeconds"]:
    print(p["metadata"]["name"])')
}

# pods prints the names of all pods, with a minus before those that are being deleted.
pods() {
  kubelets
  k get pods -o json | python3 -c 'import json, sys
print(*(("-" if "deletionTimestamp" in p["metadata"] else "") + p["metadata"]["name"] for p in json.load(sys.stdin)["items"]))'
}

start_controlplane
for n in n1 n2 n3; do node $n True; done
start_lws
cat >"$work/set.yaml" <<END
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llm}
spec:
  replicas: 1
  leaderWorkerTemplate:
    size: 3
    workerTemplate: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]}} # a node has 4
END
until_true 60 k create -f "$work/set.yaml"
placed() { [[ $(k get pods -o 'jsonpath={.items[*].spec.nodeName}' | wc -w) == 3 ]]; }
until_true 60 placed
for n in n4 n5 n6; do node $n True; done
for pod in $(k get pods -o name); do
  k patch "$pod" --subresource=status --type=merge \
    -p '{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}' >/dev/null
done
on_n3=$(k get pods --field-selector spec.nodeName=n3 -o 'jsonpath={.items[*].metadata.name}')
[[ $on_n3 == llm-0-* ]] || fail "n3 has $on_n3 and no worker"

k taint node n3 broken=yes:NoExecute >/dev/null
until_true 60 has "-llm-0 -$on_n3" pods
sleep 30 # time in which a new group would show
has "-llm-0 -$on_n3" pods || fail "the group has changed: $(pods)"
has foregroundDeletion k get pod llm-0 -o 'jsonpath={.metadata.finalizers[*]}' || fail "llm-0 has other finalizers"
echo "30 s later: $(k get lws llm -o 'jsonpath={.status.conditions[?(@.status=="True")].type}'); llm-0 waits for $on_n3, and three nodes are free"

node n3 False
k taint node n3 node.kubernetes.io/out-of-service=off:NoExecute >/dev/null
until_true 120 has "llm-0 llm-0-1 llm-0-2" pods
echo "after the taint out-of-service: $(pods)"
