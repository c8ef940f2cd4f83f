#!/usr/bin/env bash
# Endpoints of pods on nodes that are not ready. Kubernetes 1.36.3 (kube-controller-manager's controllers of the node lifecycle,
# of EndpointSlices and of disruptions), seen on 2026-11-30.
#
# Guess:   when a node is no longer ready, its pods become not ready, too. They leave the Services' endpoints, and no budget
#          counts them as healthy.
# Reality: only if the node's condition Ready changes from True to Unknown. If the kubelet reports False, its pods stay ready.
#          **If it reports False first, and falls silent then, they stay ready as well**: the machine is off, its pods are
#          ready endpoints, and the budget counts them as healthy, until something deletes them.
manager_flags=(--node-monitor-grace-period=20s)
source "$(dirname "$0")/controlplane.sh"

# report renews the Leases of the nodes that are named in the file "reporting", as their kubelets would.
report() {
  local node
  while sleep 2; do
    for node in $(cat "$work/reporting"); do
      printf '%s\n' --- "apiVersion: coordination.k8s.io/v1" "kind: Lease" "metadata: {name: $node, namespace: kube-node-lease}" \
        "spec: {holderIdentity: $node, leaseDurationSeconds: 40, renewTime: '$(date -u +%FT%T.%6NZ)'}"
    done | k apply -f - >/dev/null 2>&1
  done
}

status() { k get "$1" "$2" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}'; }

tainted() { k get node "$1" -o 'jsonpath={.spec.taints[?(@.effect=="NoExecute")].key}'; }

endpoints() {
  k get endpointslices -o 'jsonpath={range .items[*].endpoints[?(@.conditions.ready==true)]}{.nodeName}{"\n"}{end}' | sort | paste -sd' '
}

healthy() { k get pdb app -o 'jsonpath={.status.currentHealthy}'; }

start_controlplane
nodes="well broken lost broken-and-lost"
echo "$nodes other-1 other-2" >"$work/reporting"
report &
pids+=($!)
for node in other-1 other-2; do node $node True; done # without them, the zone would count as disrupted
k create service clusterip app --tcp=80 >/dev/null
k create pdb app --selector=app=app --min-available=1 >/dev/null
number=0
for node in $nodes; do
  node "$node" True
  k create -f - >/dev/null <<END_OF_POD
{apiVersion: v1, kind: Pod, metadata: {name: on-$node, labels: {app: app}}, spec: {nodeName: $node, containers: [{name: c, image: i}]}}
END_OF_POD
  ip=10.1.0.$((number += 1))
  k patch pod "on-$node" --subresource=status --type=merge >/dev/null -p '{"status": {"phase": "Running", "podIP": "'$ip'",
    "podIPs": [{"ip": "'$ip'"}], "conditions": [{"type": "Ready", "status": "True"}]}}'
done
until_true 30 has "broken broken-and-lost lost well" endpoints
until_true 30 has 4 healthy
for node in broken broken-and-lost; do node $node False; done
for node in broken broken-and-lost; do until_true 60 has node.kubernetes.io/not-ready tainted $node; done
echo "well broken other-1 other-2" >"$work/reporting"
for node in lost broken-and-lost; do until_true 90 has node.kubernetes.io/unreachable tainted $node; done
until_true 30 has False status pod on-lost
sleep 10 # time in which the other pods might become not ready
for node in $nodes; do
  echo "$node: the node's Ready is $(status node $node), its pod's Ready is $(status pod "on-$node")"
done
has "Unknown" status node broken-and-lost || fail "this machine is too slow for the check"
has "broken broken-and-lost well" endpoints || fail "endpoints of $(endpoints)"
has 3 healthy || fail "the budget counts $(healthy) healthy pods"
echo "ready endpoints: $(endpoints); the budget counts $(healthy) healthy pods"
