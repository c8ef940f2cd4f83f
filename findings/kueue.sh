# Sourced by findings about Kueue: sigs.k8s.io/kueue 0.17.0 (its controllers and webhooks, with the integrations of pods and Jobs).
# Kueue runs next to the control plane of controlplane.sh, and the LocalQueue q of the namespace default has 9 CPUs.
source "$(dirname "${BASH_SOURCE[0]}")/controlplane.sh"

# start_kueue GATES builds and starts Kueue with these feature gates.
start_kueue() {
  local port
  module sigs.k8s.io/kueue@v0.17.0
  sed -i "s#/etc/kueue/metrics/certs#$work/certs#" "$module/cmd/kueue/main.go"
  go build -C "$module" -trimpath -o "$work/kueue" ./cmd/kueue
  k create -f "$module/config/components/crd/bases" >/dev/null
  k wait --for=condition=Established crd --all --timeout=60s >/dev/null
  port=$(free_port)
  controller_config config.kueue.x-k8s.io/v1beta2 "$port" >"$work/kueue.yaml"
  echo "integrations: {frameworks: [pod, batch/job]}" >>"$work/kueue.yaml"
  KUBECONFIG="$work/kubeconfig" "$work/kueue" --config="$work/kueue.yaml" --feature-gates="VisibilityOnDemand=false$1" \
    >"$work/kueue.log" 2>&1 &
  pids+=($!)
  webhook "$port" mutate--v1-pod v1 pods
  webhook "$port" mutate-batch-v1-job batch/v1 jobs
  webhook "$port" mutate-kueue-x-k8s-io-v1beta2-clusterqueue kueue.x-k8s.io/v1beta2 clusterqueues
  webhook "$port" mutate-kueue-x-k8s-io-v1beta2-workload kueue.x-k8s.io/v1beta2 workloads
  queue q 9 '{}'
}

# queue NAME CPUS FLAVOR makes a LocalQueue with a ClusterQueue of its own, whose ResourceFlavor has this spec.
queue() {
  cat >"$work/queue.yaml" <<END
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: $1}, spec: $3}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: $1}
spec: {namespaceSelector: {}, resourceGroups: [{coveredResources: [cpu], flavors: [{name: $1, resources: [{name: cpu, nominalQuota: $2}]}]}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: $1}, spec: {clusterQueue: $1}}
END
  until_true 60 k apply -f "$work/queue.yaml"
}
