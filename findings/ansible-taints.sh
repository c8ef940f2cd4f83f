#!/usr/bin/env bash
# Ansible's module kubernetes.core.k8s_taint 2.4.0 (Debian 12's ansible 7.7.0) with Kubernetes 1.36.3, seen on 2026-11-30.
#
# Guess:   like kubectl taint, it leaves the node's other taints as they are.
# Reality: each change erases timeAdded from all taints of the node, also from not-ready:NoExecute and unreachable:NoExecute,
#          and when it removes a taint. kube-controller-manager does not set it again. How long a node has been broken can then
#          not be read from the node any more, and a controller that counts from timeAdded counts from another time.
source "$(dirname "$0")/controlplane.sh"
source "$(dirname "$0")/ansible.sh"

timed() { k get node n1 -o 'go-template={{range .spec.taints}}{{if .timeAdded}}{{.key}}:{{.effect}} {{end}}{{end}}'; }
taints() { k get node n1 -o 'go-template={{range .spec.taints}}{{.key}}={{or .value ""}}:{{.effect}} {{end}}'; }
broken=node.kubernetes.io/not-ready

fetch_ansible
start_controlplane
node n1 True
node n2 True
node n1 False
until_true 60 has "$broken:NoSchedule $broken:NoExecute " timed

k taint node n1 team=a:NoSchedule >/dev/null
has "$broken:NoSchedule $broken:NoExecute " timed || fail "kubectl taint has erased timeAdded: only $(timed)has it"
echo "kubectl taint leaves timeAdded of the other taints"

ansible k8s_taint '{"name": "n1", "taints": [{"key": "team", "value": "b", "effect": "NoSchedule"}]}'
[[ $(taints) == *"$broken=:NoExecute"*team=b:NoSchedule* ]] || fail "the node has other taints: $(taints)"
has "" timed || fail "a change: these taints still have timeAdded: $(timed)"

k patch node n1 --type=json >/dev/null -p '[{"op": "add", "path": "/spec/taints/-",
  "value": {"key": "disk", "effect": "NoExecute", "timeAdded": "2026-11-30T00:00:00Z"}}]'
ansible k8s_taint '{"name": "n1", "state": "absent", "taints": [{"key": "team", "effect": "NoSchedule"}]}'
[[ $(taints) == *disk=:NoExecute* ]] || fail "the node has other taints: $(taints)"
has "" timed || fail "a removal: these taints still have timeAdded: $(timed)"
sleep 30
has "" timed || fail "somebody has set timeAdded again: $(timed)"
echo "k8s_taint erases it: no taint of the node has timeAdded any more, and none gets it again"
