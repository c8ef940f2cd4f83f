#!/usr/bin/env bash
# A taint evicts plain pods that Kueue has admitted: one of a group, and one by itself. Kueue 0.17.0 with Kubernetes 1.36.3
# (taint-eviction-controller), seen on 2026-11-30.
#
# Guess:   the evicted pod is gone when its containers have ended. A replacement of the same group starts at once, as a
#          ReplicaSet's would. When the other pod has succeeded, nothing runs any more, and the quota is free. A pod that is
#          stuck on a dead node gives its quota back when its grace period is over.
# Reality: - A replacement that is created while the evicted pod is terminating is one too many: Kueue deletes it.
#          - The evicted pod stays after it has failed, by the finalizer kueue.x-k8s.io/managed, until a replacement comes.
#          - Without a replacement, the Workload stays admitted, and keeps quota, although no pod runs.
#          - A pod without a group keeps its quota as long as it exists: on a dead node, its replacement is not admitted.
source "$(dirname "$0")/kueue.sh"

# pod NAME [GROUP] creates a pod, which may belong to a group of two.
pod() {
  k create -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata:
  name: $1
  labels: {kueue.x-k8s.io/queue-name: q${2+, kueue.x-k8s.io/pod-group-name: $2}}
  annotations: {${2+kueue.x-k8s.io/pod-group-total-count: '2'}}
spec: {terminationGracePeriodSeconds: 20, containers: [{name: c, image: i, resources: {requests: {cpu: "3"}}}]} # a node has 4
END
}

pods() { k get pods -o 'go-template={{range .items}}{{.metadata.name}}={{.status.phase}} {{end}}'; }
quota() { k get clusterqueue q -o 'jsonpath={.status.flavorsUsage[0].resources[0].total}'; }
reason() { k get workload training -o "jsonpath={.status.conditions[?(@.type=='$1')].reason}"; }

start_controlplane
for n in n1 n2 n3 n4 n5; do node $n True; done
start_kueue ""
pod a training
pod b training
placed() { [[ $(k get pods -o 'jsonpath={.items[*].spec.nodeName}' | wc -w) == "$1" ]]; }
until_true 60 placed 2
running pod/a pod/b

k taint node "$(k get pod a -o 'jsonpath={.spec.nodeName}')" broken=yes:NoExecute >/dev/null
until_true 60 has "a " terminating
pod early training
until_true 60 has ExcessPodDeleted k get events --field-selector involvedObject.name=early,reason=ExcessPodDeleted -o 'jsonpath={.items[0].reason}'
until_true 60 has "a=Running b=Running " pods
echo "the replacement of a terminating pod was deleted: $(pods)"

k patch pod a --subresource=status --type=merge -p '{"status": {"phase": "Failed"}}' >/dev/null # as a kubelet ends it
ended a
k patch pod b --subresource=status --type=merge -p '{"status": {"phase": "Succeeded"}}' >/dev/null
sleep 60 # time in which Kueue would clean up
has "a=Failed b=Succeeded " pods || fail "the pods are $(pods)"
has kueue.x-k8s.io/managed k get pod a -o 'jsonpath={.metadata.finalizers[*]}' || fail "a has other finalizers"
has PodsFailed reason WaitingForReplacementPods || fail "the Workload does not wait for replacements"
has Admitted reason Admitted || fail "the Workload is not admitted"
[[ $(quota) != 0 ]] || fail "no quota is used"
echo "60 s after both have ended: $(pods), quota used: $(quota) CPUs"

pod late training
until_true 60 has "b=Succeeded late=Pending " pods
echo "after a replacement has come: $(pods)"

pod c
pod d
until_true 60 placed 4
running pod/c pod/d
k taint node "$(k get pod c -o 'jsonpath={.spec.nodeName}')" broken=yes:NoExecute >/dev/null
until_true 60 has "c " terminating
pod e
sleep 80 # four grace periods
has "" k get pod c -o 'jsonpath={.metadata.finalizers[*]}' || fail "c has finalizers"
[[ $(quota) == 9 ]] && has kueue.x-k8s.io/admission k get pod e -o 'jsonpath={.spec.schedulingGates[0].name}' ||
  fail "$(quota) CPUs are used, and the replacement is admitted"
echo "80 s after the taint, the replacement waits for the quota of a pod that is stuck: $(quota) of 9 CPUs are used"
