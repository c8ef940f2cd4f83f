# Jobs that a taint evicts, and whose container answers SIGTERM by ending with exit code 0, as many programs do. Kubernetes 1.36.3
# (taint-eviction-controller, Job controller, kubelet), seen on 2026-11-30.
#
# Guess:   an evicted pod is a disruption, whatever its exit code is. Each Job gets another pod.
# Reality: if a podFailurePolicy ignores the condition DisruptionTarget, as the documentation advises, the interrupted Job is
#          Complete: its policy is not asked about a pod that has succeeded. Without one, the Job is Complete, too, if the
#          container ends at once. If it takes 3 seconds, the pod counts as failed when its deletion begins, and is replaced.
source "$(dirname "$0")/kubelet.sh"

# job NAME CONTAINER [MEMBERS] creates a Job and waits until its pod runs.
job() {
  k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  ${3:-}
  template: {spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: $2, image: i, imagePullPolicy: IfNotPresent}]}}
END
  until_true 60 has 1 k get job "$1" -o 'jsonpath={.status.ready}'
}

status() { k get job "$1" -o 'jsonpath=succeeded {.status.succeeded} failed {.status.failed} active {.status.active} {.status.conditions[*].type}'; }

start_controlplane
start_node
ignores='podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}]}'
job polite polite
job polite-ignores polite "$ignores"
job tidy tidy
job tidy-ignores tidy "$ignores"
k taint node n1 quarantine=disk:NoExecute >/dev/null
for name in polite polite-ignores tidy-ignores; do
  until_true 60 has "succeeded 1 failed  active  SuccessCriteriaMet Complete" status $name
done
until_true 60 has "succeeded  failed 1 active 1 " status tidy
echo "as described: of four interrupted Jobs, three are Complete: $(k get jobs -o 'jsonpath={range .items[?(@.status.succeeded==1)]}{.metadata.name} {end}')"
