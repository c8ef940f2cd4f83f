#!/usr/bin/env bash
# Events in an OpenTelemetry collector. Its receiver k8s_events and its extension k8s_leader_elector 0.144.0
# (github.com/open-telemetry/opentelemetry-collector-contrib) with Kubernetes 1.36.3 (kube-scheduler), seen on 2026-11-30.
#
# Guess:   when an event is repeated, the receiver sends another log record, with the time and the count of the repetition. A
#          collector that is started later sends the repetitions from then on. If a second collector takes over the lease, it
#          sends no event again.
# Reality: - kube-scheduler's event that a pod can't be scheduled has an eventTime, and a repetition changes only its series.
#            The receiver reads the eventTime only. It sends an equal record, with the time of the first event and no count.
#          - By the same time, the receiver discards what is older than its own start. A collector that is started while the pod
#            waits sends nothing about it, although the event is repeated afterwards.
#          - A collector that waits for the lease counts from its own start, too: when it takes over, it sends all events since
#            then again.
#          Events of taint-eviction-controller are sent once, with their time, but the attribute k8s.node.name is empty.
scheduler_flags=(--pod-max-in-unschedulable-pods-duration=20s) # instead of 5 minutes
source "$(dirname "$0")/controlplane.sh"

program() {
  cat <<'END'
// Prints each log record of the receiver k8s_events. With an argument, it waits for a lease first.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/k8sleaderelector"
	"github.com/open-telemetry/opentelemetry-collector-contrib/receiver/k8seventsreceiver"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func main() {
	ctx, extensions := context.Background(), host{}
	factory := k8seventsreceiver.NewFactory()
	config := factory.CreateDefaultConfig().(*k8seventsreceiver.Config)
	config.AuthType = "kubeConfig"
	if len(os.Args) > 1 {
		electors := k8sleaderelector.NewFactory()
		lease := electors.CreateDefaultConfig().(*k8sleaderelector.Config)
		lease.AuthType, lease.LeaseName, lease.LeaseNamespace = "kubeConfig", "collector", "default"
		elector, err := electors.Create(ctx, extensiontest.NewNopSettings(electors.Type()), lease)
		check(err)
		check(elector.Start(ctx, extensions))
		id := component.NewID(electors.Type())
		extensions[id], config.K8sLeaderElector = elector, &id
	}
	output, err := consumer.NewLogs(func(_ context.Context, logs plog.Logs) error {
		record := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		attributes := record.Attributes().AsRaw()
		node, _ := logs.ResourceLogs().At(0).Resource().Attributes().Get("k8s.node.name")
		fmt.Println(attributes["k8s.event.reason"], record.Timestamp().AsTime().Format("15:04:05.000000"),
			"count", attributes["k8s.event.count"], "node", strconv.Quote(node.Str()), record.Body().Str())
		return nil
	})
	check(err)
	receiver, err := factory.CreateLogs(ctx, receivertest.NewNopSettings(factory.Type()), config, output)
	check(err)
	check(receiver.Start(ctx, extensions))
	fmt.Println("started")
	select {}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
END
}

# collector NAME ARGUMENT... starts a collector that writes its records to the file NAME.
collector() {
  local name=$1
  shift
  KUBECONFIG=$work/kubeconfig "$work/collector/collector" "$@" >"$work/$name" 2>"$work/$name.log" &
  pids+=($!)
  until_true 60 grep -q started "$work/$name"
}

# failures FIELD prints this field of each event that a pod can't be scheduled, if it has the field.
failures() { k get events --field-selector reason=FailedScheduling -o "jsonpath={.items[*].$1}"; }

repeated() { [[ -n $(failures series.count) ]]; }

waits() { (($(failures eventTime | wc -w) >= 2)); } # the first event is about the pod before its condition PodScheduled

equal() { grep '^FailedScheduling.*count <nil>' "$work/first" | uniq -d | grep .; }

start_controlplane
echo "building the collector"
mkdir "$work/collector"
program >"$work/collector/main.go"
(
  cd "$work/collector"
  contrib=github.com/open-telemetry/opentelemetry-collector-contrib
  go mod init collector
  GOFLAGS=-mod=mod go get $contrib/receiver/k8seventsreceiver@v0.144.0 $contrib/extension/k8sleaderelector@v0.144.0 \
    go.opentelemetry.io/collector/{extension/extensiontest,receiver/receivertest}@v0.144.0
  GOFLAGS=-mod=mod go build .
) >"$work/build.log" 2>&1 || fail "$(cat "$work/build.log")"
node n1 True
k create deployment app --image=i >/dev/null
runs app=app
collector first
collector leader lease
leader=${pids[-1]}
until_true 60 k get lease collector
collector standby lease
sleep 2 # the events of taint-eviction-controller have whole seconds: in the second of the start, they count as older
k taint node n1 broken=yes:NoExecute >/dev/null
for name in first leader; do until_true 60 grep -q ^TaintManagerEviction "$work/$name"; done
until_true 180 waits
collector late
repeated && fail "this machine is too slow for the check"
until_true 180 repeated
until_true 10 equal
grep '^TaintManagerEviction.*node ""' "$work/first" || fail "it sent $(grep ^TaintManagerEviction "$work/first")"
echo "first seen at $(failures eventTime | tail -c 16), repeated at $(failures series.lastObservedTime | tail -c 16)"
echo "two equal records: $(equal)"
sleep 5 # time in which the other collector might send a record
[[ $(cat "$work/late") == "started" ]] || fail "the later collector sent $(cat "$work/late")"
echo "a collector that was started before the repetition sends none"

[[ $(cat "$work/standby") == "started" ]] || fail "the collector without the lease sent $(cat "$work/standby")"
{ kill -KILL "$leader" && wait "$leader"; } 2>/dev/null || true
until_true 60 grep -q ^TaintManagerEviction "$work/standby"
again=$(grep -cFf <(grep -v started "$work/leader") "$work/standby") || fail "no record is sent again"
echo "a collector that takes over the lease sends $again records again"
