# A kubelet that starts again on a node with a NoExecute taint. Kubernetes 1.36.3, seen on 2026-11-30. taint-eviction-controller
# is off, and kubectl deletes two of the pods, so that pods of each kind are there when the kubelet starts.
#
# Guess:   a kubelet does not act on taints: pods keep running while it restarts, whatever they tolerate. A pod that is
#          terminating gets the rest of its grace period.
# Reality: - The kubelet admits running pods anew when it starts, and rejects each that does not tolerate a NoExecute taint of
#            the node. Its container gets 2 seconds to end, whatever terminationGracePeriodSeconds says. No budget is asked.
#          - If the container is killed, the pod is Failed, with the reason TaintToleration, without the condition
#            DisruptionTarget. If it ends with exit code 0, the pod is Succeeded: a Job that was interrupted is Complete.
#          - Such a pod that is terminating already loses the rest of its grace period.
#          - A pod that tolerates the taint for a second keeps running, however long ago that second was over. If it is
#            terminating, it gets its whole grace period again.
manager_flags=(--controllers=*,-taint-eviction-controller)
source "$(dirname "$0")/kubelet.sh"

for_a_second='[{"key": "quarantine", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}]'
start_controlplane
start_node
k create poddisruptionbudget all --selector=app=a --min-available=100% >/dev/null
k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: unfinished}
spec: {template: {spec: {nodeName: n1, restartPolicy: Never, containers: [{name: polite, image: i, imagePullPolicy: IfNotPresent}]}}}
END
pod intolerant 90 '[]'
pod intolerant-leaves 90 '[]'
pod tolerant 90 "$for_a_second"
pod tolerant-leaves 90 "$for_a_second"
until_true 60 has 1 k get job unfinished -o 'jsonpath={.status.active}'
k taint node n1 quarantine=disk:NoExecute >/dev/null
sleep 10
has "" stops || fail "a kubelet that runs acts on the taint: $(stops)"
k delete pod intolerant-leaves tolerant-leaves --wait=false >/dev/null
until_true 30 has "intolerant-leaves 90 tolerant-leaves 90" stops
sleep 20

kill -KILL "$kubelet"
wait "$kubelet" 2>/dev/null || true
start_kubelet
until_true 60 has "Failed TaintToleration" phase intolerant
until_true 60 k wait --for=condition=Complete job/unfinished
has "intolerant 2 intolerant-leaves 2 intolerant-leaves 90 polite 2 tolerant-leaves 90 tolerant-leaves 90" stops ||
  fail "seconds to end: $(stops)"
has "" k get pod intolerant -o 'jsonpath={.status.conditions[?(@.type=="DisruptionTarget")]}' || fail "it has the condition DisruptionTarget"
sleep 10
k get pod intolerant-leaves >/dev/null 2>&1 && fail "the pod that was terminating is still there"
has "Running " phase tolerant || fail "the pod that tolerates the taint: $(phase tolerant)"
echo "as described. Seconds that the containers got: $(stops)"
