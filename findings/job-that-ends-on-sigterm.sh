# Jobs that are evicted by a taint, and whose container answers SIGTERM by ending with exit code 0, as many servers and
# frameworks do. Kubernetes 1.36.3 (taint-eviction-controller, Job controller, kubelet), seen on 2026-11-30.
#
# Guess:   an evicted pod is a disruption, whatever its exit code. Both Jobs get another pod.
# Reality: ?
source "$(dirname "$0")/kubelet.sh"

# job NAME MEMBERS creates a Job whose container ends at once with exit code 0 when it has to.
job() {
  k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  $2
  template: {spec: {restartPolicy: Never, automountServiceAccountToken: false, containers: [{name: polite, image: i, imagePullPolicy: IfNotPresent}]}}
END
  until_true 60 has 1 k get job "$1" -o 'jsonpath={.status.ready}'
}

status() { k get job "$1" -o 'jsonpath={.status.succeeded} {.status.failed} {.status.active} {.status.conditions[*].type}'; }

start_controlplane
start_node
job plain "backoffLimit: 6"
job ignores 'podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget, status: "True"}]}]}'
job indexed "{completionMode: Indexed, completions: 1}" 2>/dev/null || true
k taint node n1 quarantine=disk:NoExecute >/dev/null
for i in 1 2 3 4 5 6; do sleep 5; echo "$(status plain) | $(status ignores)"; done
stops
k get pods,jobs
k get pods -o yaml | grep -B3 -A8 "DisruptionTarget\|phase:" | head -80
