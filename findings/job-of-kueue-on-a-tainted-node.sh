#!/usr/bin/env bash
# A Job that Kueue has placed by topology, and one of whose nodes is tainted. Kueue 0.17.0 with Kubernetes 1.36.3
# (taint-eviction-controller), seen on 2026-11-30.
#
# Guess:   the pods of the tainted node are evicted. Their replacements wait until there is room, and the pods of the other
#          nodes run on.
# Reality: - If another node has room, Kueue chooses it for the replacement, and the other pods run on.
#          - If none has, the whole workload is stopped within seconds: the Job is suspended, which deletes the pods of the
#            healthy nodes, too.
#          - The same if two of its nodes are tainted at once, although other nodes have room for the pods of both. The
#            workload is admitted again at once, and begins anew.
source "$(dirname "$0")/kueue.sh"

# job NAME creates a Job of three pods, of which a node has room for one, and waits until they run; $used has their nodes.
job() {
  k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1, labels: {kueue.x-k8s.io/queue-name: gpus}}
spec:
  parallelism: 3
  suspend: true
  template:
    metadata: {labels: {app: $1}, annotations: {kueue.x-k8s.io/podset-unconstrained-topology: "true"}}
    spec: {restartPolicy: Never, containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]} # a node has 4
END
  until_true 60 placed "$1"
  # shellcheck disable=SC2046
  running $(k get pods -l "app=$1" -o name)
  read -ra used <<<"$(nodes "$1")"
}

nodes() { k get pods -l "app=$1" -o 'jsonpath={.items[*].spec.nodeName}'; }
placed() { [[ $(nodes "$1" | wc -w) == 3 ]]; }
suspended() { has true k get job "$1" -o 'jsonpath={.spec.suspend}'; }
why() { k get workload -l "kueue.x-k8s.io/job-uid=$(k get job "$1" -o 'jsonpath={.metadata.uid}')" -o 'jsonpath={.items[0].status.conditions[?(@.type=="Evicted")].message}'; }

# deleted NAME prints the number of pods of the Job that are being deleted.
deleted() { terminating "$1" | wc -w; }
replaced() { [[ $(nodes "$1" | wc -w) == 4 ]]; }

start_controlplane
for n in n1 n2 n3 n4; do
  node $n True
  k label node $n pool=gpu kubernetes.io/hostname=$n >/dev/null
done
start_kueue ""
k create -f - >/dev/null <<END
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Topology, metadata: {name: hosts}, spec: {levels: [{nodeLabel: kubernetes.io/hostname}]}}
END
queue gpus 90 '{nodeLabels: {pool: gpu}, topologyName: hosts}'

job one
k taint node "${used[0]}" broken=yes:NoExecute >/dev/null
until_true 60 replaced one
sleep 10 # time in which the others would be deleted
[[ $(deleted one) == 1 ]] && ! suspended one || fail "more than the evicted pod is deleted: $(terminating one)"
echo "with a free node, the evicted pod is replaced: $(nodes one)"

k taint node "${used[1]}" broken=yes:NoExecute >/dev/null
until_true 60 suspended one
until_true 60 has 4 deleted one
echo "without one, all pods are deleted: $(why one)"

k delete job one --wait=false >/dev/null
k delete pods --all --force --grace-period=0 >/dev/null 2>&1
k taint node "${used[0]}" "${used[1]}" broken- >/dev/null
node n5 True
k label node n5 pool=gpu kubernetes.io/hostname=n5 >/dev/null
job two
k taint nodes "${used[0]}" "${used[1]}" broken=yes:NoExecute >/dev/null
until_true 60 has 3 deleted two
sleep 10 # time in which Kueue admits it again
[[ $(why two) == *"multiple TAS assigned node failures"* ]] || fail "the workload was stopped for another reason: $(why two)"
echo "with two free nodes, all pods are deleted after two taints at once: $(why two)"
