#!/usr/bin/env bash
# A group of plain pods that Kueue admits, and from which a taint evicts a pod. Kueue 0.17.0 with Kubernetes 1.36.3
# (taint-eviction-controller), seen on 2026-11-30.
#
# Guess:   the evicted pod is gone when its containers have ended. A replacement of the same group starts at once, as a
#          ReplicaSet's would. When the other pod has succeeded, nothing runs any more, and the quota is free.
# Reality: - A replacement that is created while the evicted pod is terminating is one too many: Kueue deletes it.
#          - The evicted pod stays after it has failed, by the finalizer kueue.x-k8s.io/managed, until a replacement comes.
#          - Without a replacement, the Workload stays admitted, and keeps quota, although no pod runs.
source "$(dirname "$0")/kueue.sh"

# pod NAME creates a pod of the group, which has two.
pod() {
  k create -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata:
  name: $1
  labels: {kueue.x-k8s.io/queue-name: q, kueue.x-k8s.io/pod-group-name: training}
  annotations: {kueue.x-k8s.io/pod-group-total-count: "2"}
spec: {containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]} # a node has 4
END
}

pods() { k get pods -o 'go-template={{range .items}}{{.metadata.name}}={{.status.phase}} {{end}}'; }
quota() { k get clusterqueue all -o 'jsonpath={.status.flavorsUsage[0].resources[0].total}'; }
reason() { k get workload training -o "jsonpath={.status.conditions[?(@.type=='$1')].reason}"; }

start_controlplane
for n in n1 n2 n3; do node $n True; done
start_kueue ""
pod a
pod b
placed() { [[ $(k get pods -o 'jsonpath={.items[*].spec.nodeName}' | wc -w) == 2 ]]; }
until_true 60 placed
running pod/a pod/b

k taint node "$(k get pod a -o 'jsonpath={.spec.nodeName}')" broken=yes:NoExecute >/dev/null
until_true 60 has "a " terminating
pod early
until_true 60 has ExcessPodDeleted k get events --field-selector involvedObject.name=early,reason=ExcessPodDeleted -o 'jsonpath={.items[0].reason}'
until_true 60 has "a=Running b=Running " pods
echo "the replacement of a terminating pod was deleted: $(pods)"

k patch pod a --subresource=status --type=merge -p '{"status": {"phase": "Failed"}}' >/dev/null # as a kubelet ends it
k delete --raw "/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0" >/dev/null
k patch pod b --subresource=status --type=merge -p '{"status": {"phase": "Succeeded"}}' >/dev/null
sleep 60 # time in which Kueue would clean up
has "a=Failed b=Succeeded " pods || fail "the pods are $(pods)"
has kueue.x-k8s.io/managed k get pod a -o 'jsonpath={.metadata.finalizers[*]}' || fail "a has other finalizers"
has PodsFailed reason WaitingForReplacementPods || fail "the Workload does not wait for replacements"
has Admitted reason Admitted || fail "the Workload is not admitted"
[[ $(quota) != 0 ]] || fail "no quota is used"
echo "60 s after both have ended: $(pods), quota used: $(quota) CPUs"

pod late
until_true 60 has "b=Succeeded late=Pending " pods
echo "after a replacement has come: $(pods)"
