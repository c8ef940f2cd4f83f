package cluster

import (
	"iter"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podTable takes in pods.
type podTable struct {
	pods     *pods
	warnings *warnings
	listed   bool // the first list is in
}

// newPodStore returns a reflector's store for pods. The pods call the handler for their changes from now on.
func newPodStore(p *pods, h Handler, w *warnings, completed func()) *store[*v1.Pod, entry] {
	p.notify = h.PodChanged
	return &store[*v1.Pod, entry]{"pod", &podTable{pods: p, warnings: w}, w, completed}
}

// value returns the entry of a pod. It computes the Bound of an entry in a list for the first list.
func (pt *podTable) value(p *v1.Pod, listed bool) entry {
	if listed {
		return *pt.pods.shared(pt.pods.trim(p, pt.pods.boundSince(p)))
	}
	return pt.pods.trim(p, pt.pods.now())
}

// update takes in a pod.
func (pt *podTable) update(e entry) {
	if e.UID == "" {
		pt.warnings.nameless(&e.Pod)
		return
	}
	if pt.pods.put(e) {
		pt.warnings.tolerations(&e)
	}
}

// remove takes in that a pod was deleted. A pod without a UID stands for the pod with its name.
func (pt *podTable) remove(p *v1.Pod) {
	if p.UID == "" {
		pt.pods.dropNamed(p.Namespace, p.Name)
		return
	}
	pt.pods.drop(p.UID)
}

// replace takes in a list of all pods; the handler is called for differences only.
func (pt *podTable) replace(list iter.Seq[entry], _ string) {
	now, listed := pt.pods.now(), map[types.UID]bool{}
	for e := range list {
		if pt.listed {
			e.Bound = now
		}
		listed[e.UID] = true
		pt.update(e)
	}
	pt.pods.dropAllBut(listed)
	pt.listed = true
}

func (pt *podTable) reached(string) {}
