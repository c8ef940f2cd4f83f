package main

import (
	"fmt"
	"time"
)

// tainted is the node that gets the taints; the others are not changed.
const tainted = "demo-1"

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
	name, kind  string
	spec        string // what its kind needs, in YAML
	tolerations string // in YAML
	summary     string // of the tolerations, for the output
	goes        time.Duration
	because     string
}

// cast has the expectations, as constants that no code computes.
var cast = []role{
	{"web", "Deployment", "replicas: 8", "", "no toleration", 0, "tolerates neither taint"},
	{
		"api", "Deployment", "replicas: 4", tolerates("network", 6) + tolerates("maintenance", 10),
		"network 6 s, maintenance 10 s", 10 * time.Second, "network is removed at 4 s, before the 6 s end",
	},
	{
		"batch", "Job", "completions: 4\n  parallelism: 4\n" +
			"  podFailurePolicy: {rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]}",
		tolerates("network", 0) + tolerates("maintenance", 12),
		"network without limit, maintenance 12 s", 12 * time.Second, "maintenance is not removed",
	},
	{
		"db", "StatefulSet", "replicas: 4\n  serviceName: db\n  podManagementPolicy: Parallel",
		tolerates("network", 0) + tolerates("maintenance", lengthenDBFrom),
		"network without limit, maintenance 9 s", 14 * time.Second, "extended to 14 s at 6 s",
	},
	{
		"cache", "Deployment", "replicas: 4", tolerates("network", 8) + tolerates("maintenance", 0),
		"network 8 s, maintenance without limit", stays, "network is removed at 4 s",
	},
	{
		"patient", "Deployment", "replicas: 4", tolerates("network", 0) + tolerates("maintenance", 0),
		"both without limit", stays, "tolerates both taints",
	},
	{"agent", "DaemonSet", "", "{operator: Exists}", "all taints without limit", stays, "tolerates every taint"},
}

// workload is a workload whose pods spread evenly over the nodes, so that each workload has a pod on the tainted node.
const workload = `
apiVersion: %s
kind: %s
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
func manifest() (all string) {
	for _, r := range cast {
		version, restart, spec := "apps/v1", "Always", r.spec+"\n  selector: {matchLabels: {app: "+r.name+"}}"
		if r.kind == "Job" { // its controller chooses the selector
			version, restart, spec = "batch/v1", "Never", r.spec
		}
		all += fmt.Sprintf(workload, version, r.kind, r.name, spec, restart, r.tolerations)
	}
	return all
}

// tolerates returns a toleration for this number of seconds; 0 means without a limit.
func tolerates(key string, seconds int) string {
	if seconds == 0 {
		return fmt.Sprintf("{key: %s, operator: Exists, effect: NoExecute}, ", key)
	}
	return fmt.Sprintf("{key: %s, operator: Exists, effect: NoExecute, tolerationSeconds: %d}, ", key, seconds)
}
