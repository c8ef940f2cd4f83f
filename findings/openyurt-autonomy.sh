#!/usr/bin/env bash
# OpenYurt's node autonomy: the reconciler of its pod-binding-controller 1.5.1 (github.com/openyurtio/openyurt) with Kubernetes
# 1.36.3, seen on 2026-11-30.
#
# Guess:   it changes only pods on nodes with the annotation node.beta.openyurt.io/autonomy: they tolerate not-ready and
#          unreachable without a limit. When the annotation is removed, they get their own tolerationSeconds again.
# Reality: - On every other node it sets tolerationSeconds of both taints to 300 in each running pod, whatever the pod's author
#            chose: 30 as well as no limit. A DaemonSet's pods are left alone.
#          - It does not remember what it has replaced. Without the annotation, a pod gets 300.
source "$(dirname "$0")/controlplane.sh"

program() {
  cat <<'EOF'
// Reconciles the node n1 once, as the controller does at each change of a node.
package main

import (
	"context"
	"os"

	"github.com/openyurtio/openyurt/pkg/yurtmanager/controller/yurtcoordinator/podbinding"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	check(err)
	c, err := client.New(config, client.Options{})
	check(err)
	controller := &podbinding.ReconcilePodBinding{Client: c}
	_, err = controller.Reconcile(context.Background(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "n1"}})
	check(err)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
EOF
}

# seconds prints how long the pod tolerates not-ready and unreachable.
seconds() {
  k get "$pod" -o 'go-template={{range .spec.tolerations}}{{.key}}={{or .tolerationSeconds "forever"}} {{end}}' | sed 's|node.kubernetes.io/||g'
}

# want TEXT WHEN runs the reconciler, and requires the pod to have these limits then.
want() {
  "$work/seen" "$work/kubeconfig"
  has "$1" seconds || fail "$2: $(seconds)"
  echo "$2: $1"
}

module github.com/openyurtio/openyurt@v1.5.1
mkdir "$module/cmd/seen"
program >"$module/cmd/seen/main.go"
(cd "$module" && go build -o "$work/seen" ./cmd/seen 2>/dev/null)
start_controlplane
node n1 True
k create -f - >/dev/null <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: i}]
      tolerations:
        - {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute}
        - {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 30}
YAML
runs app=web
has "not-ready=forever unreachable=30 " seconds || fail "before: $(seconds)"
echo "as its author wants it: $(seconds)"
want "not-ready=300 unreachable=300 " "on a node without the annotation"
k annotate node n1 node.beta.openyurt.io/autonomy=true >/dev/null
want "not-ready=forever unreachable=forever " "with the annotation"
k annotate node n1 node.beta.openyurt.io/autonomy- >/dev/null
want "not-ready=300 unreachable=300 " "when it is removed"
