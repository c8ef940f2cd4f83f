#!/usr/bin/env bash
# A Node's manifest in Git, with a taint. github.com/fluxcd/pkg/ssa 0.78.0, with which Flux's kustomize-controller applies
# manifests, and Kubernetes 1.36.3, seen on 2026-11-30.
#
# Guess:   server-side apply merges taints by key and effect: Flux sets its own taint, and leaves the others alone.
# Reality: - A node's taints are one field, which Flux takes over. Each reconciliation removes all other taints, also not-ready
#            and unreachable. kube-controller-manager sets these again, with a new timeAdded.
#          - So a pod that tolerates not-ready for longer than Flux's interval is never evicted from a broken node.
#          - kubectl apply, server-side or not, also removes the other taints.
#          - Without the taint in the manifest, Flux does not remove it if somebody else has changed the node's taints since.
source "$(dirname "$0")/controlplane.sh"

program() {
  cat <<'EOF'
// Applies the objects of a file, as kustomize-controller does at each interval.
package main

import (
	"context"
	"os"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"github.com/fluxcd/pkg/ssa/utils"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	c, err := client.New(config, client.Options{})
	check(err)
	objects, err := utils.ReadObjects(os.Stdin)
	check(err)
	owner := ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}
	manager := ssa.NewResourceManager(c, polling.NewStatusPoller(c, c.RESTMapper(), polling.Options{}), owner)
	_, err = manager.ApplyAllStaged(context.Background(), objects, ssa.DefaultApplyOptions())
	check(err)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
EOF
}

manifest() { echo "{apiVersion: v1, kind: Node, metadata: {name: $1, labels: {team: a}}, spec: {$2}}"; }
flux() { manifest n1 "$1" | "$work/flux" "$work/kubeconfig"; }
taints() { k get node "$1" -o 'go-template={{range .spec.taints}}{{.key}}:{{.effect}} {{end}}'; }
added() { k get node n1 -o 'jsonpath={.spec.taints[?(@.effect=="NoExecute")].timeAdded}'; }
is_added() { [[ -n $(added) ]]; }
team="taints: [{key: team, value: a, effect: NoSchedule}]"

mkdir "$work/program"
program >"$work/program/main.go"
printf '%s\n' "module seen" "go 1.26.0" "require github.com/fluxcd/pkg/ssa v0.78.0" >"$work/program/go.mod"
echo "building github.com/fluxcd/pkg/ssa@v0.78.0"
GOFLAGS=-mod=mod go build -C "$work/program" -o "$work/flux" . 2>/dev/null
start_controlplane
for name in n1 n2 n3 n4; do node $name True; done
for name in n1 n2; do
  k create -f - >/dev/null <<END
{apiVersion: v1, kind: Pod, metadata: {name: on-$name, labels: {app: web}}, spec: {nodeName: $name,
  containers: [{name: c, image: i}],
  tolerations: [{key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 25}]}}
END
done
running pod/on-n1 pod/on-n2
flux "$team"
node n1 False
node n2 False
times=""
for _ in 1 2 3 4 5; do
  until_true 30 is_added
  times+="$(added) "
  sleep 10
  flux "$team"
  has "" added || fail "Flux has left $(taints n1)"
done
[[ $(tr ' ' '\n' <<<"$times" | grep . | sort -u | wc -l) == 5 ]] || fail "not-ready has these times: $times"
has "on-n2 " terminating web || fail "these pods are evicted: $(terminating web)"
echo "Flux has removed not-ready:NoExecute five times; it was added at"
printf '  %s\n' $times
echo "the pod that tolerates it for 25 s is still on n1; that of n2, which is not in Git, is evicted"

until_true 30 is_added
flux ""
[[ $(taints n1) == *team:NoSchedule*not-ready:NoExecute* ]] || fail "no taint in Git: $(taints n1)"
echo "no taint in Git any more, and n1 still has $(taints n1)"

for flags in "" "--server-side --force-conflicts"; do
  # shellcheck disable=SC2086 # two flags
  manifest n3 "$team" | k apply $flags -f - >/dev/null 2>&1
  k taint node n3 quarantine=disk:NoExecute >/dev/null
  # shellcheck disable=SC2086
  manifest n3 "$team" | k apply $flags -f - >/dev/null 2>&1
  has "team:NoSchedule " taints n3 || fail "kubectl apply $flags: $(taints n3)"
done
echo "kubectl apply has removed the taint quarantine, too"
