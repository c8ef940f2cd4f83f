#!/usr/bin/env bash
# A PodDisruptionBudget while an evicted pod is still terminating. Kubernetes 1.36.3 (disruption controller, kube-apiserver), seen
# on 2026-11-29.
#
# Guess:   a pod that is being deleted is in neither count of a budget's status, currentHealthy and expectedPods. For two
#          replicas, expectedPods stays 2, whether minAvailable is a number or a percentage.
# Reality: with a number, expectedPods is 3 until the old pod is gone; with a percentage it is 2, the replicas of the owner.
#          currentHealthy and desiredHealthy are 2 in both. So a budget of all replicas looks as if it had a pod to spare.
source "$(dirname "$0")/controlplane.sh"

start_controlplane
node n1 True
for name in number percentage; do
  k create deployment $name --image=i >/dev/null
  k create pdb $name --selector=app=$name --min-available=$([[ $name == number ]] && echo 2 || echo 100%) >/dev/null
  runs app=$name
done
node n2 True
k cordon n1 >/dev/null
k scale deployment number percentage --replicas=2 >/dev/null
until_true 30 has 4 k get pods -o 'go-template={{len .items}}'
k taint node n1 broken=yes:NoExecute >/dev/null
until_true 30 has "n2 n2 n2 n2" k get pods -o 'jsonpath={.items[?(@.spec.nodeName=="n2")].spec.nodeName}'
# shellcheck disable=SC2046
running $(k get pods -o name)
for name in number percentage; do
  until_true 30 has "2 2 0 $([[ $name == number ]] && echo 3 || echo 2)" k get pdb $name -o \
    'jsonpath={.status.currentHealthy} {.status.desiredHealthy} {.status.disruptionsAllowed} {.status.expectedPods}'
  echo "$name: $(k get pdb $name -o 'jsonpath={.status.expectedPods} expected, {.status.currentHealthy} healthy')"
done
