package shard

import (
	"hash/maphash"

	"github.com/taint-manager/taint-manager/taint"
)

// workload returns a hash of what admission webhooks may select a pod by: its namespace, and its labels without those
// that name a single pod.
func workload(seed maphash.Seed, pod *taint.Pod) uint64 {
	sum := maphash.String(seed, pod.Namespace)
	for name, value := range pod.Labels {
		if !namesOnePod(name) {
			sum += maphash.Comparable(seed, [2]string{name, value}) // a sum, as the order of the labels is random
		}
	}
	return sum
}

// namesOnePod reports whether a label differs between the pods of one StatefulSet or Job.
func namesOnePod(label string) bool {
	switch label {
	case "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index", "batch.kubernetes.io/job-completion-index":
		return true
	}
	return false
}
