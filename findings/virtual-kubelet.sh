#!/usr/bin/env bash
# An evicted pod on a node of virtual-kubelet. github.com/virtual-kubelet/virtual-kubelet 1.14.1 with Kubernetes 1.36.3, seen on
# 2026-11-30. Its provider "mock" ends a pod at once.
#
# Guess:   as with the kubelet, the pod is gone when its containers have ended.
# Reality: - It stays for its whole terminationGracePeriodSeconds after they have ended, with the phase Succeeded. Until then a
#            StatefulSet does not replace it.
#          - When virtual-kubelet restarts, such a pod is gone at once.
source "$(dirname "$0")/controlplane.sh"

start_virtual_kubelet() {
  VKUBELET_POD_IP=127.0.0.1 KUBELET_PORT=$(free_port) APISERVER_CERT_LOCATION=$work/crt APISERVER_KEY_LOCATION=$work/key \
    "$work/virtual-kubelet" --provider=mock --provider-config="$work/mock.json" --nodename=n1 --kubeconfig="$work/kubeconfig" \
    --disable-taint --metrics-addr="127.0.0.1:$(free_port)" >>"$work/virtual-kubelet.log" 2>&1 &
  virtual_kubelet=$!
  pids+=("$virtual_kubelet")
}

phases() { k get pods -o 'jsonpath={.items[*].status.phase}'; }

module github.com/virtual-kubelet/virtual-kubelet@v1.14.1
go build -C "$module" -o "$work/virtual-kubelet" ./cmd/virtual-kubelet 2>/dev/null
echo '{"n1": {"cpu": "4", "memory": "4Gi", "pods": "20"}}' >"$work/mock.json"
start_controlplane
start_virtual_kubelet
until_true 60 has True k get node n1 -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'
until_true 60 has "" k get node n1 -o 'jsonpath={.spec.taints}'
k create -f - >/dev/null <<'YAML'
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: minute}
spec:
  selector: {matchLabels: {app: minute}}
  template:
    metadata: {labels: {app: minute}}
    spec: {terminationGracePeriodSeconds: 60, containers: [{name: c, image: i}]}
---
apiVersion: v1
kind: Pod
metadata: {name: hour}
spec: {terminationGracePeriodSeconds: 3600, containers: [{name: c, image: i}]}
YAML
until_true 90 has "Running Running" phases
k taint node n1 quarantine=disk:NoExecute >/dev/null
until_true 20 has "Succeeded Succeeded" phases
ended=$SECONDS
echo "both pods have ended: $(k get pods --no-headers)"
sleep 45
has "hour minute-0 " terminating || fail "45 s later, these pods are still there: $(terminating)"
until_true 60 has "hour " terminating
echo "minute-0 was there for $((SECONDS - ended)) s more; hour still is"
until_true 20 has Pending k get pod minute-0 -o 'jsonpath={.status.phase}'

kill -TERM "$virtual_kubelet"
wait "$virtual_kubelet" || true
has "hour " terminating || fail "the stop has removed it"
start_virtual_kubelet
restarted=$SECONDS
until_true 60 has "" terminating
echo "hour is gone $((SECONDS - restarted)) s after virtual-kubelet's restart"
