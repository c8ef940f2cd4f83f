#!/usr/bin/env bash
# CronJobs with concurrencyPolicy Forbid, whose Jobs run on a node that dies. Kubernetes 1.36.3 (CronJob and Job controllers,
# taint-eviction-controller, kube-apiserver), seen on 2026-11-30.
#
# Guess:   after the eviction, a Job with backoffLimit 0 has failed, and a Job that may retry is complete when its new pod has
#          succeeded on another node. The next Jobs start on time, there. At the latest, activeDeadlineSeconds ends a Job.
# Reality: - Neither Job finishes while the evicted pod is terminating, which on a dead node is forever: they have the
#            conditions FailureTarget and SuccessCriteriaMet, but neither Failed nor Complete.
#          - So they count as running. activeDeadlineSeconds and ttlSecondsAfterFinished end neither of them, and no further
#            Job of these CronJobs starts. An event says JobAlreadyActive.
#          - The taint node.kubernetes.io/out-of-service ends it.
source "$(dirname "$0")/controlplane.sh"

cronjob() {
  k create -f - >/dev/null <<END
apiVersion: batch/v1
kind: CronJob
metadata: {name: $1}
spec:
  schedule: "* * * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata: {labels: {cron: $1}}
    spec:
      backoffLimit: $2
      activeDeadlineSeconds: 100
      ttlSecondsAfterFinished: 600
      template:
        metadata: {labels: {cron: $1}}
        spec: {restartPolicy: Never, terminationGracePeriodSeconds: 2, containers: [{name: c, image: i}]}
END
}

job() { k get jobs -l "cron=$1" -o "jsonpath=$2"; }

start_controlplane
node n1 True
cronjob once 0
cronjob retries 6
for name in once retries; do
  until_true 90 bound "cron=$name"
  runs "cron=$name"
done
node n2 True
k taint node n1 broken=yes:NoExecute >/dev/null
replacement() { k get pods -l cron=retries --field-selector spec.nodeName=n2 -o name | grep .; }
until_true 60 replacement
k patch "$(replacement)" --subresource=status --type=merge -p '{"status": {"phase": "Succeeded"}}' >/dev/null

sleep 130 # two times at which Jobs would start; activeDeadlineSeconds has passed, too
conditions='{.items[*].status.conditions[*].type}'
has FailureTarget job once "$conditions" || fail "the Job that may not retry is $(job once "$conditions")"
has SuccessCriteriaMet job retries "$conditions" || fail "the Job whose new pod has succeeded is $(job retries "$conditions")"
for name in once retries; do
  echo "$name: one Job, with the condition $(job "$name" "$conditions") and $(job "$name" '{.items[*].status.terminating}') terminating pod"
  has 1 k get events --field-selector "involvedObject.name=$name,reason=JobAlreadyActive" \
    -o 'go-template={{len .items}}' || fail "the CronJob $name has no event JobAlreadyActive"
done

node n1 False
k taint node n1 node.kubernetes.io/out-of-service=off:NoExecute >/dev/null
finished() { [[ $(job "$1" "$conditions") == *"$2"* && $(job "$1" '{.items[*].metadata.name}') == *" "* ]]; }
until_true 150 finished once Failed
until_true 150 finished retries Complete
echo "after the taint out-of-service, both Jobs have finished, and the next ones have started"
