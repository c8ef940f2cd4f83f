package shard

import (
	"maps"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/taint"
)

// Workload identifies pods that admission webhooks select alike: by the namespace, and the labels without those
// that name a single pod.
type Workload string

// WorkloadOf returns the workload of a pod.
func WorkloadOf(pod *taint.Pod) Workload {
	var b strings.Builder
	b.WriteString(pod.Namespace)
	for _, name := range slices.Sorted(maps.Keys(pod.Labels)) {
		if !namesOnePod(name) {
			b.WriteByte(0) // is in no namespace, name or value
			b.WriteString(name)
			b.WriteByte(0)
			b.WriteString(pod.Labels[name])
		}
	}
	return Workload(b.String())
}

// namesOnePod reports whether a label differs between the pods of one StatefulSet or Job.
func namesOnePod(label string) bool {
	switch label {
	case "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index":
		return true
	}
	return false
}

// SlowWorkloads are the workloads whose calls are slow now; nil while there are none. The value is true for
// those of which a call is under way. It is immutable once shared.
type SlowWorkloads map[Workload]bool

// of returns the pod's workload, whether it is slow, and whether it is to wait for a slow place. The only call of
// a slow workload may start in a slot: so a workload that was slow by chance does not wait until others free
// their slow places.
func (s SlowWorkloads) of(pod *taint.Pod) (w Workload, slow, waits bool) {
	if len(s) == 0 {
		return "", false, false
	}
	w = WorkloadOf(pod)
	busy, slow := s[w]
	return w, slow, busy
}
