#!/usr/bin/env bash
# A NodeFeatureRule that taints a node with NoExecute. sigs.k8s.io/node-feature-discovery 0.18.3 (nfd-master with -enable-taints,
# nfd-worker) with Kubernetes 1.36.3 (taint-eviction-controller, DaemonSet controller), seen on 2026-12-01. The worker's
# DaemonSet is as NFD's manifest has it, without tolerations. Its documentation says that the worker is evicted, too.
#
# Guess:   the NodeFeature of the node is deleted with the worker's pod, its owner. So nfd-master removes the taint, the worker
#          comes back, and all begins again: each round evicts the pods of the node.
# Reality: - The NodeFeature stays, because the DaemonSet owns it, too (the garbage collector drops the other owner). Nobody
#            renews it, as no worker runs on the node.
#          - So the taint outlives its cause: once the node is repaired, it stays until somebody removes it.
#          - nfd-master does not notice that it was removed. The worker that comes back decides: with the old cause, the node
#            is tainted again within seconds; without it, the node stays free.
source "$(dirname "$0")/controlplane.sh"

# start_nfd builds NFD, whose module of API types is another one, and starts nfd-master.
start_nfd() {
  local version=v0.18.3
  module sigs.k8s.io/node-feature-discovery@$version
  sed -i '/^tool (/,/^)/d' "$module/go.mod" # generators
  go mod edit -replace sigs.k8s.io/node-feature-discovery/api/nfd=sigs.k8s.io/node-feature-discovery/api/nfd@$version "$module/go.mod"
  GOFLAGS=-mod=mod go build -C "$module" -trimpath -o "$work/" ./cmd/nfd-master ./cmd/nfd-worker
  k create -f "$module/deployment/base/nfd-crds/nfd-api-crds.yaml" >/dev/null
  start_master
}

start_master() {
  NODE_NAME=n1 KUBERNETES_NAMESPACE=default "$work/nfd-master" -kubeconfig "$work/kubeconfig" -enable-taints -port "$(free_port)" \
    >>"$work/nfd-master.log" 2>&1 &
  master=$!
  pids+=("$master")
}

# worker SOURCES lets the worker's pod on n1 run, and report what these sources find, once.
worker() {
  until_true 60 eval '[[ -n $(on_n1) ]]'
  local pod
  pod=$(on_n1)
  running "pod/$pod"
  POD_NAME=$pod POD_UID=$(k get pod "$pod" -o 'jsonpath={.metadata.uid}') NODE_NAME=n1 KUBERNETES_NAMESPACE=default \
    timeout 60 "$work/nfd-worker" -kubeconfig "$work/kubeconfig" -oneshot -feature-sources "$1" -port "$(free_port)" \
    >>"$work/nfd-worker.log" 2>&1 || fail "nfd-worker: $(tail -3 "$work/nfd-worker.log")"
}

# on_n1 prints the names of the pods on n1. Its kubelet removes those that are being deleted.
on_n1() {
  # shellcheck disable=SC2046
  ended $(terminating)
  k get pods --field-selector spec.nodeName=n1 -o 'jsonpath={.items[*].metadata.name}'
}

# owners prints the kinds of the owners of the NodeFeature. nfd-master looks at the node again when they change.
owners() { k get nodefeature n1 -o 'jsonpath={.metadata.ownerReferences[*].kind}'; }

taints() { k get node n1 -o 'jsonpath={range .spec.taints[*]}{.key}={.value}:{.effect}{end}'; }

start_controlplane
node n1 True
k label node n1 kubernetes.io/hostname=n1 >/dev/null # nfd-master's patch requires a label and an annotation
k annotate node n1 kubelet=none >/dev/null
k create -f - >/dev/null <<END
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nfd-worker}
spec:
  selector: {matchLabels: {app: nfd-worker}}
  template: {metadata: {labels: {app: nfd-worker}}, spec: {containers: [{name: c, image: i}]}}
END
start_nfd
worker system,kernel
k create -f - >/dev/null <<END # kernel.version stands for a device that is broken
apiVersion: nfd.k8s-sigs.io/v1alpha1
kind: NodeFeatureRule
metadata: {name: broken}
spec:
  rules:
  - name: broken
    taints: [{key: example.com/broken, value: "yes", effect: NoExecute}]
    matchFeatures: [{feature: kernel.version, matchExpressions: {full: {op: Exists}}}]
END
tainted=example.com/broken=yes:NoExecute
until_true 30 has "$tainted" taints
until_true 30 has "" on_n1
echo "$(taints), and no worker on the node"

until_true 60 has DaemonSet owners
sleep 30 # time in which the NodeFeature would be deleted
has DaemonSet owners || fail "the NodeFeature is gone"
has "$tainted" taints && has "" on_n1 || fail "after 30 s: $(taints), $(on_n1)"
kill "$master"
start_master
sleep 20 # time in which a new nfd-master would change the taint
has "$tainted" taints && has "" on_n1 || fail "after a restart of nfd-master: $(taints), $(on_n1)"
echo "50 s later, and after a restart of nfd-master: the same; the NodeFeature is as old"

k taint node n1 example.com/broken- >/dev/null
sleep 20 # time in which nfd-master would set the taint again
has "" taints || fail "without a worker: $(taints)"
worker system,kernel
until_true 30 has "$tainted" taints
until_true 30 has "" on_n1
until_true 60 has DaemonSet owners
sleep 10 # time in which nfd-master looks at the node again, and would taint it once more
echo "removed, and set again by the worker that came back"

k taint node n1 example.com/broken- >/dev/null
worker system
sleep 20 # time in which nfd-master would set the taint again
has "" taints || fail "after the repair: $(taints)"
[[ -n $(on_n1) ]] || fail "the worker is gone"
echo "removed after the repair: the node stays free, and has its worker"
