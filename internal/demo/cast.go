package main

import "time"

// tainted is the node that gets the taints; the others stay as they are.
const tainted = "demo-1"

// nodes are simulated ones.
var nodes = []string{"demo-1", "demo-2", "demo-3", "demo-4"}

// The story, in seconds from the moment when the node gets its two taints.
const (
	maintenance = "maintenance=now:NoExecute"
	network     = "network=slow:NoExecute"

	liftNetworkAt = 4 * time.Second
	lengthenDBAt  = 6 * time.Second
	lengthenDBTo  = 14 // seconds of toleration, from 9
	watchUntil    = 17 * time.Second
	lateAtMost    = 1500 * time.Millisecond
	stays         = time.Duration(-1)
)

// role is a workload and what is to become of its pods on the tainted node.
type role struct {
	name    string
	what    string // kind and tolerations, for people
	goes    time.Duration
	because string
}

// cast is what is expected: written down here, computed by nothing.
var cast = []role{
	{"web", "Deployment, no toleration", 0, "tolerates neither taint"},
	{"api", "Deployment, network 6 s, maintenance 10 s", 10 * time.Second, "network is lifted at 4 s, before its 6 s are over"},
	{"batch", "Job, network for ever, maintenance 12 s", 12 * time.Second, "maintenance stays"},
	{"db", "StatefulSet, network for ever, maintenance 9 s", 14 * time.Second, "lengthened to 14 s at 6 s"},
	{"cache", "Deployment, network 8 s, maintenance for ever", stays, "network is lifted at 4 s"},
	{"patient", "Deployment, both for ever", stays, "tolerates both taints"},
	{"agent", "DaemonSet, everything for ever", stays, "tolerates every taint"},
}

// manifest holds the nodes' namespace-less workloads. Each but the DaemonSet spreads evenly over the
// nodes, so that every kind is on the tainted one.
const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 8
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      terminationGracePeriodSeconds: 1
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: web}}}
      containers: [{name: c, image: image}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: network, operator: Exists, effect: NoExecute, tolerationSeconds: 6}
      - {key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 10}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: api}}}
      containers: [{name: c, image: image}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: batch, namespace: default}
spec:
  completions: 4
  parallelism: 4
  podFailurePolicy:
    rules: [{action: Ignore, onPodConditions: [{type: DisruptionTarget}]}]
  template:
    metadata: {labels: {app: batch}}
    spec:
      terminationGracePeriodSeconds: 1
      restartPolicy: Never
      tolerations:
      - {key: network, operator: Exists, effect: NoExecute}
      - {key: maintenance, operator: Exists, effect: NoExecute, tolerationSeconds: 12}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: batch}}}
      containers: [{name: c, image: image}]
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  replicas: 4
  serviceName: db
  podManagementPolicy: Parallel
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: network, operator: Exists, effect: NoExecute}
      - {key: maintenance, operator: Equal, value: now, effect: NoExecute, tolerationSeconds: 9}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: db}}}
      containers: [{name: c, image: image}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: network, operator: Exists, effect: NoExecute, tolerationSeconds: 8}
      - {key: maintenance, operator: Exists, effect: NoExecute}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: cache}}}
      containers: [{name: c, image: image}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: patient, namespace: default}
spec:
  replicas: 4
  selector: {matchLabels: {app: patient}}
  template:
    metadata: {labels: {app: patient}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations:
      - {key: network, operator: Exists, effect: NoExecute}
      - {key: maintenance, operator: Exists, effect: NoExecute}
      topologySpreadConstraints:
      - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Honor, labelSelector: {matchLabels: {app: patient}}}
      containers: [{name: c, image: image}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      terminationGracePeriodSeconds: 1
      tolerations: [{operator: Exists}]
      containers: [{name: c, image: image}]
`
