#!/usr/bin/env bash
# Cluster API deletes the Machine of a node that has died. Its drain 1.14.2 (sigs.k8s.io/cluster-api/core/reconcilers/machine/drain,
# with the settings that its Machine controller chooses for an unreachable node) with Kubernetes 1.36.3 (taint-eviction-controller),
# seen on 2026-11-30.
#
# Guess:   as nothing can stop the pods, the drain gives each a second, and then ignores it: the Machine goes within seconds,
#          whatever grace periods and budgets the pods have.
# Reality: - That is right for a pod that the drain itself evicts.
#          - A pod that a taint has evicted before keeps the drain waiting for its whole grace period.
#          - A pod that nothing has evicted and whose budget refuses keeps it waiting for ever. The drain relies on the taint
#            unreachable, whose evictions ask no budget; this pod tolerates it.
source "$(dirname "$0")/controlplane.sh"

# pod NAME [MORE] creates a pod on n1 with a grace period of 30 s, whose toleration of unreachable may have more.
pod() {
  k create -f - >/dev/null <<END
{apiVersion: v1, kind: Pod, metadata: {name: $1, labels: {app: $1}}, spec: {nodeName: n1, terminationGracePeriodSeconds: 30,
  tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute${2-}}], containers: [{name: c, image: i}]}}
END
  running "pod/$1"
}

build_drain() {
  mkdir "$work/drain"
  cat >"$work/drain/main.go" <<'END'
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	cluster "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/core/reconcilers/machine/drain"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// main drains n1 as an unreachable node, and prints for how many seconds it has waited for a pod that it waits for no more.
func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	must(err)
	types := runtime.NewScheme()
	must(scheme.AddToScheme(types))
	must(cluster.AddToScheme(types))
	c, err := client.New(config, client.Options{Scheme: types})
	must(err)
	d := drain.Helper{Client: c, RemoteClient: c, GracePeriodSeconds: 1, SkipWaitForDeleteTimeoutSeconds: 1}
	began, before := time.Now(), map[string]bool{}
	for ; time.Since(began) < 60*time.Second; time.Sleep(time.Second) {
		list, err := d.GetPodsForEviction(context.Background(), &cluster.Cluster{}, &cluster.Machine{}, "n1")
		must(err)
		now := map[string]bool{}
		for _, p := range list.Pods() {
			now[p.Name] = true
		}
		for name := range before {
			if !now[name] {
				fmt.Println(name, int(time.Since(began).Seconds()))
			}
		}
		before = now
		d.EvictPods(context.Background(), list)
	}
	for name := range before {
		fmt.Println(name, "still")
	}
}
END
  (cd "$work/drain" && go mod init drain && go get sigs.k8s.io/cluster-api@v1.14.2 sigs.k8s.io/cluster-api/api@v1.14.2 &&
    go build -mod=mod -o ../drainer .) \
    >"$work/build.log" 2>&1 || fail "cannot build the drain: $(tail -3 "$work/build.log")"
}

build_drain
start_controlplane
source=$(cd "$work/drain" && go list -mod=mod -m -f '{{.Dir}}' sigs.k8s.io/cluster-api)
k apply -f "$source/core/config/crd/bases/cluster.x-k8s.io_machinedrainrules.yaml" >/dev/null
node n1 True
node n2 True
pod tainted ", tolerationSeconds: 0"
pod patient
pod guarded
k create poddisruptionbudget guarded --selector=app=guarded --min-available=1 >/dev/null
until_true 60 has 1 k get poddisruptionbudget guarded -o 'jsonpath={.status.expectedPods}'
node n1 Unknown
until_true 60 has "tainted " terminating tainted

"$work/drainer" "$work/kubeconfig" 2>"$work/drainer.log" | tee "$work/seen"
seconds() { sed -n "s/^$1 //p" "$work/seen"; }
(($(seconds patient) <= 5)) || fail "the drain has waited $(seconds patient) s for a pod that it has evicted"
(($(seconds tainted) >= 25)) || fail "the drain has waited only $(seconds tainted) s for the pod that the taint had evicted"
[[ $(seconds guarded) == still ]] || fail "the drain does not wait for the pod whose budget refuses any more"
echo "the drain waits $(seconds patient) s for a pod that it has evicted, $(seconds tainted) s for one that the taint has evicted, \
and for ever for one whose budget refuses"
