#!/usr/bin/env bash
# Ansible's module kubernetes.core.k8s_drain 2.4.0 (Debian 12's ansible 7.7.0) with Kubernetes 1.36.3, seen on 2026-11-30.
#
# Guess:   it works as kubectl drain does: it repeats evictions that a budget refuses, ignores all pods of DaemonSets with
#          ignore_daemonsets, and waits until each pod is gone with wait_timeout.
# Reality: - The first refusal ends it. It evicts none of the pods after that one, leaves the node cordoned, and says
#            "changed": false, although it has evicted pods.
#          - With delete_emptydir_data, a DaemonSet's pod that has an emptyDir is evicted in spite of ignore_daemonsets.
#          - It does not wait for the last pod of its list. If it has evicted only one, it succeeds at once, while that pod runs.
source "$(dirname "$0")/controlplane.sh"
source "$(dirname "$0")/ansible.sh"

drain() { ansible k8s_drain '{"name": "n1", "delete_options": {"ignore_daemonsets": true, "delete_emptydir_data": true, "wait_timeout": 60}}'; }

fetch_ansible
start_controlplane
node n1 True
k create deployment alone --image=i >/dev/null
runs app=alone
began=$SECONDS
drain
((SECONDS - began < 30)) || fail "it has waited for the only pod: $((SECONDS - began)) s"
[[ $(terminating alone) == "${pod#pod/} " ]] || fail "the pod is gone, or was not evicted: $(k get pods)"
echo "one pod: it succeeds after $((SECONDS - began)) s of 60, and the pod is still terminating"

k delete deployment alone >/dev/null
k uncordon n1 >/dev/null
k create deployment web --image=i --replicas=3 >/dev/null
until_true 60 has 3 k get pods -l app=web -o 'go-template={{len .items}}'
k create -f - >/dev/null <<'YAML'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: c, image: i}]
      volumes: [{name: tmp, emptyDir: {}}]
YAML
runs app=agent
# shellcheck disable=SC2046
running $(k get pods -l app=web -o name)
k create pdb web --selector=app=web --min-available=2 >/dev/null
until_true 60 has 1 k get pdb web -o 'jsonpath={.status.disruptionsAllowed}'
drain
grep -q '"changed": false' "$work/answer" || fail "it says that it has changed something"
[[ $(terminating web | wc -w) == 1 && -z $(terminating agent) ]] || fail "other pods were evicted: $(k get pods)"
has true k get node n1 -o 'jsonpath={.spec.unschedulable}' || fail "the node is not cordoned"
echo "three pods, of which a budget lets one go: one is evicted, the node is cordoned, and it says that nothing has changed"

k delete pdb web >/dev/null
drain
[[ -n $(terminating agent) ]] || fail "the DaemonSet's pod was not evicted: $(k get pods)"
echo "a DaemonSet's pod with an emptyDir is evicted"
