#!/usr/bin/env bash
# Events of a mass eviction in kubernetes-event-exporter. github.com/resmoio/kubernetes-event-exporter 1.6.1 with Kubernetes
# 1.36.3 (taint-eviction-controller, kube-apiserver), seen on 2026-11-30.
#
# Guess:   the exporter passes on the event of each evicted pod, once.
# Reality: with its default settings, it passes on two or three of fifty events that are written within a second. For each
#          event it asks the API server what kinds of objects there are, one request per API group, at five requests a
#          second. Meanwhile the other events become older than five seconds, and are discarded. It logs a warning for each.
#          With maxEventAgeSeconds and omitLookup it passes on all of them.
source "$(dirname "$0")/controlplane.sh"

# start_exporter NAME SETTING... starts an exporter that writes each event as a line of the file NAME.out.
start_exporter() {
  local name=$1
  shift
  printf '%s\n' "$@" "route: {routes: [{match: [{receiver: out}]}]}" \
    "receivers: [{name: out, file: {path: $work/$name.out, maxsize: 100}}]" >"$work/$name.yaml"
  "$work/exporter" -conf="$work/$name.yaml" -kubeconfig="$work/kubeconfig" \
    -metrics-address="127.0.0.1:$(free_port)" >"$work/$name.log" 2>&1 &
  pids+=($!)
}

# lines TEXT FILE counts the lines of the file that contain the text.
lines() { grep -c "$1" "$2" || true; }

start_controlplane
module github.com/resmoio/kubernetes-event-exporter@v1.6.1
go build -C "$module" -o "$work/exporter" .
start_exporter default "logLevel: warn"
start_exporter set "maxEventAgeSeconds: 60" "omitLookup: true"
node n1 True
for i in $(seq 50); do
  printf '%s\n' --- "{apiVersion: v1, kind: Pod, metadata: {name: p$i}, spec: {nodeName: n1, containers: [{name: c, image: i}]}}"
done | k create -f - >/dev/null
sleep 10 # until events of the nodes have been passed on
k taint node n1 broken=yes:NoExecute >/dev/null
stored() { k get events --field-selector reason=TaintManagerEviction -o 'go-template={{len .items}}'; }
until_true 30 has 50 stored
until_true 30 has 50 lines 'Marking for deletion' "$work/set.out"
sleep 30 # for the exporter that looks up each event
passed=$(lines 'Marking for deletion' "$work/default.out") discarded=$(lines 'Event discarded' "$work/default.log")
echo "50 events; by default, $passed are passed on, and $discarded discarded; with other settings, all are passed on"
((passed >= 1 && passed <= 15 && passed + discarded == 50)) || fail "$passed are passed on, $discarded discarded"
