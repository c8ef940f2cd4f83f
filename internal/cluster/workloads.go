package cluster

import (
	"hash/maphash"
	"maps"
	"weak"

	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/taint"
)

// workload is what the pods of one workload share.
type workload struct {
	namespace  string
	labels     map[string]string
	controller *taint.Owner
}

func (w *workload) equals(o *workload) bool {
	return w.namespace == o.namespace && maps.Equal(w.labels, o.labels) && ptr.Equal(w.controller, o.controller)
}

// workloads give equal workloads one pointer. A workload that no pod uses is freed, and its entry is removed before the
// number of entries has doubled. Only one goroutine uses them.
type workloads struct {
	seed    maphash.Seed
	known   map[uint64]weak.Pointer[workload]
	sweepAt int
}

// minEntries is the number of entries below which workloads are not swept.
const minEntries = 64

func newWorkloads() workloads {
	return workloads{maphash.MakeSeed(), map[uint64]weak.Pointer[workload]{}, minEntries}
}

// share returns the pointer to a workload.
func (ws *workloads) share(w workload) *workload {
	hash := ws.hash(&w)
	if known := ws.known[hash].Value(); known != nil && known.equals(&w) {
		return known
	}
	if len(ws.known) >= ws.sweepAt {
		maps.DeleteFunc(ws.known, func(_ uint64, p weak.Pointer[workload]) bool { return p.Value() == nil })
		ws.sweepAt = max(minEntries, 2*len(ws.known))
	}
	ws.known[hash] = weak.Make(&w)
	return &w
}

func (ws *workloads) hash(w *workload) uint64 {
	sum := maphash.String(ws.seed, w.namespace) + hashLabels(ws.seed, w.labels, func(string) bool { return true })
	if w.controller != nil {
		sum += maphash.Comparable(ws.seed, *w.controller)
	}
	return sum
}

// hashLabels hashes the labels whose keys count, in any order.
func hashLabels(seed maphash.Seed, labels map[string]string, counts func(key string) bool) (sum uint64) {
	for key, value := range labels {
		if counts(key) {
			sum += maphash.Comparable(seed, [2]string{key, value})
		}
	}
	return sum
}

// shared returns the entry with what it can share with the entries of other pods.
func (po *pods) shared(e entry) *entry {
	e.workload = po.workloads.share(workload{e.Namespace, e.Labels, e.Controller})
	e.Namespace, e.Labels, e.Controller = e.workload.namespace, e.workload.labels, e.workload.controller
	return &e
}
