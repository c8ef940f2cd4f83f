package main

import (
	"fmt"
	"time"
)

// tainted is the node that gets the taints; the others are not changed.
const tainted = "demo-1"

// nodes are the simulated nodes.
var nodes = []string{"demo-1", "demo-2", "demo-3", "demo-4"}

// The taints.
const (
	maintenance = "maintenance=now:NoExecute"
	network     = "network=slow:NoExecute"
)

// The times of the story, in seconds from when the node gets its two taints.
const (
	liftNetworkAt  = 4 * time.Second
	lengthenDBAt   = 6 * time.Second
	lengthenDBFrom = 9 // seconds of toleration
	lengthenDBTo   = 14
	watchUntil     = 17 * time.Second
	lateAtMost     = 1500 * time.Millisecond
	stays          = time.Duration(-1)
)

// role is a workload, and the time at which its pods on the tainted node are expected to be deleted.
type role struct {
	name    string
	what    string // kind and tolerations, for the output
	goes    time.Duration
	because string
}

// cast has the expectations, as constants that no code computes.
var cast = []role{
	{"web", "Deployment, no toleration", 0, "tolerates neither taint"},
	{
		"api", "Deployment, network 6 s, maintenance 10 s", 10 * time.Second,
		"network is lifted at 4 s, before its 6 s are over",
	},
	{"batch", "Job, network for ever, maintenance 12 s", 12 * time.Second, "maintenance stays"},
	{"db", "StatefulSet, network for ever, maintenance 9 s", 14 * time.Second, "lengthened to 14 s at 6 s"},
	{"cache", "Deployment, network 8 s, maintenance for ever", stays, "network is lifted at 4 s"},
	{"patient", "Deployment, both for ever", stays, "tolerates both taints"},
	{"agent", "DaemonSet, everything for ever", stays, "tolerates every taint"},
}

// workload is a workload whose pods spread evenly over the nodes, so that each workload has a pod on the tainted node.
const workload = `
apiVersion: %[1]s
kind: %[2]s
metadata: {name: %[3]s, namespace: default}
spec:
  %[4]s
  template:
    metadata: {labels: {app: %[3]s}}
    spec:
      terminationGracePeriodSeconds: 1
      restartPolicy: %[5]s
      tolerations: [%[6]s]
      topologySpreadConstraints:
      - maxSkew: 1
        topologyKey: kubernetes.io/hostname
        whenUnsatisfiable: DoNotSchedule
        nodeTaintsPolicy: Honor
        labelSelector: {matchLabels: {app: %[3]s}}
      containers: [{name: c, image: image}]
---`

// manifest returns all workloads of the cast.
func manifest() string {
	const (
		apps, always = "apps/v1", "Always"
		stateful     = "\n  serviceName: db\n  podManagementPolicy: Parallel"
		job          = "completions: 4\n  parallelism: 4\n" +
			"  podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}"
	)
	return fmt.Sprintf(workload, apps, "Deployment", "web", replicas("web", 8), always, "") +
		fmt.Sprintf(workload, apps, "Deployment", "api", replicas("api", 4), always, toleration("network", 6)+
			toleration("maintenance", 10)) +
		fmt.Sprintf(workload, "batch/v1", "Job", "batch", job, "Never", toleration("network", 0)+
			toleration("maintenance", 12)) +
		fmt.Sprintf(workload, apps, "StatefulSet", "db", replicas("db", 4)+stateful, always, toleration("network", 0)+
			toleration("maintenance", lengthenDBFrom)) +
		fmt.Sprintf(workload, apps, "Deployment", "cache", replicas("cache", 4), always, toleration("network", 8)+
			toleration("maintenance", 0)) +
		fmt.Sprintf(workload, apps, "Deployment", "patient", replicas("patient", 4), always, toleration("network", 0)+
			toleration("maintenance", 0)) +
		fmt.Sprintf(workload, apps, "DaemonSet", "agent", selector("agent"), always, "{operator: Exists}")
}

func selector(name string) string { return "selector: {matchLabels: {app: " + name + "}}" }

func replicas(name string, n int) string { return fmt.Sprintf("replicas: %d\n  ", n) + selector(name) }

// toleration returns a toleration for this number of seconds; 0 means without a limit.
func toleration(key string, seconds int) string {
	if seconds == 0 {
		return fmt.Sprintf("{key: %s, operator: Exists, effect: NoExecute}, ", key)
	}
	return fmt.Sprintf("{key: %s, operator: Exists, effect: NoExecute, tolerationSeconds: %d}, ", key, seconds)
}
