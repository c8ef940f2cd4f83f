#!/usr/bin/env bash
# What kube-state-metrics shows of pods that a taint has ended. k8s.io/kube-state-metrics 2.18.0 with Kubernetes 1.36.3
# (taint-eviction-controller, kube-apiserver), seen on 2026-11-30.
#
# Guess:   kube_pod_status_reason is 1 for an evicted pod, with the reason Evicted, NodeLost on a dead node, or that of the
#          condition DisruptionTarget; for a pod that its kubelet has rejected, with the reason TaintToleration. A pod that is
#          stuck on a dead node has the phase Unknown. kube_pod_deletion_timestamp says when its deletion began.
# Reality: - kube_pod_status_reason is 0 for all of them. It knows five reasons, none of which such a pod has.
#          - The stuck pod stays in the phase Running.
#          - kube_pod_deletion_timestamp is when the deletion should have ended: it is later by the grace period.
source "$(dirname "$0")/controlplane.sh"

# start_metrics builds and starts kube-state-metrics for pods.
start_metrics() {
  module k8s.io/kube-state-metrics/v2@v2.18.0
  go build -C "$module" -o "$work/metrics" .
  port=$(free_port)
  "$work/metrics" --kubeconfig="$work/kubeconfig" --resources=pods --host=127.0.0.1 --port="$port" \
    --telemetry-host=127.0.0.1 --telemetry-port="$(free_port)" >"$work/metrics.log" 2>&1 &
  pids+=($!)
}

metrics() { curl -s "http://127.0.0.1:$port/metrics"; }

# series VALUE METRIC POD [LABEL] reports whether a series of the pod that has the label has this value.
series() { metrics | grep "^$2{.*pod=\"$3\"" | grep -F -- "${4:-}" | grep -qE " $1\$"; }

# without_reason POD fails if a reason of the pod is 1, or if other reasons than five are known.
without_reason() {
  local values
  values=$(metrics | grep "^kube_pod_status_reason{.*pod=\"$1\"" | awk '{print $NF}' | tr -d '\n')
  [[ $values == 00000 ]] || fail "the reasons of pod $1 are $values"
  echo "no reason of pod $1 is 1"
}

pod() {
  k create -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: $1, labels: {app: $1}}
spec: {nodeName: n1, terminationGracePeriodSeconds: 600, containers: [{name: c, image: i}]}
END
  runs "app=$1"
}

start_controlplane
start_metrics
node n1 True
pod rejected
k patch pod rejected --subresource=status --type=merge -p '{"status": {"phase": "Failed", "reason": "TaintToleration"}}' >/dev/null
until_true 30 series 1 kube_pod_status_phase rejected 'phase="Failed"'
without_reason rejected
pod evicted
node n1 Unknown
k taint node n1 broken=yes:NoExecute >/dev/null
until_true 30 has 600 k get pod evicted -o 'jsonpath={.metadata.deletionGracePeriodSeconds}'
has DeletionByTaintManager k get pod evicted -o 'jsonpath={.status.conditions[?(@.type=="DisruptionTarget")].reason}' ||
  fail "the evicted pod has another condition"
until_true 30 series '[0-9.e+]*' kube_pod_deletion_timestamp evicted
without_reason evicted
series 1 kube_pod_status_phase evicted 'phase="Running"' || fail "the pod on the dead node is no longer Running"
echo "the pod on the dead node is Running"
end=$(metrics | python3 -c 'import sys
print(*(int(float(l.split()[-1])) for l in sys.stdin if l.startswith("kube_pod_deletion_timestamp{")))')
((end > $(date +%s) + 500)) || fail "kube_pod_deletion_timestamp is $end"
echo "its kube_pod_deletion_timestamp is in the future"
