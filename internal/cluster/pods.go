package cluster

import (
	"hash/maphash"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// podNames has the pods of a namespace by name. The pods share the text of the namespace.
type podNames struct {
	namespace string
	pods      map[string]*entry
}

// pods are the pods by UID, by node, and by namespace and name. They are the table of a reflector's store. Only one
// goroutine writes, and any number read.
type pods struct {
	needs     *atomic.Pointer[needs] // those that entries follow
	seed      maphash.Seed
	workloads workloads
	now       func() time.Time // carries the monotonic clock
	ahead     Ahead
	warnings  *warnings
	listed    bool // the first list is in

	// notify is called after each change that may change a verdict, for each node of the pod.
	notify func(uid types.UID, node string)

	mu     sync.RWMutex
	byUID  map[types.UID]*entry
	byNode map[string][]*entry
	byName map[string]*podNames // by namespace
}

func newPods(needs *atomic.Pointer[needs]) *pods {
	return &pods{
		needs: needs, seed: maphash.MakeSeed(), workloads: newWorkloads(), now: time.Now,
		notify: func(types.UID, string) {},
		byUID:  map[types.UID]*entry{}, byNode: map[string][]*entry{}, byName: map[string]*podNames{},
	}
}

// newPodStore returns a reflector's store for the pods. The handler is called for their changes from now on.
func newPodStore(po *pods, h Handler, w *warnings, completed func()) *store[*v1.Pod, entry] {
	po.notify, po.warnings = h.PodChanged, w
	return &store[*v1.Pod, entry]{"pod", po, w, completed}
}

// get returns the pod with this UID, or nil.
func (po *pods) get(uid types.UID) *entry {
	po.mu.RLock()
	defer po.mu.RUnlock()
	return po.byUID[uid]
}

// on returns the pods on the node with this name, in no particular order.
func (po *pods) on(node string) []*entry {
	po.mu.RLock()
	defer po.mu.RUnlock()
	return slices.Clone(po.byNode[node])
}

// value returns the entry of a pod. It computes the Bound of an entry in a list for the first list.
func (po *pods) value(p *v1.Pod, listed bool) entry {
	if listed {
		return *po.shared(po.trim(p, po.boundSince(p)))
	}
	return po.trim(p, po.now())
}

// update takes in the current state of a pod.
func (po *pods) update(e entry) {
	if e.UID == "" {
		po.warnings.nameless(&e.Pod)
		return
	}
	if po.put(e) {
		po.warnings.tolerations(&e)
	}
}

// remove takes in that a pod was deleted. If only its name is known, that is enough.
func (po *pods) remove(p *v1.Pod) {
	if p.UID == "" {
		po.dropNamed(p.Namespace, p.Name)
	}
	po.drop(p.UID)
}

// replace takes in a list of all pods; the handler is called for differences only.
func (po *pods) replace(list iter.Seq[entry], _ string) {
	now, listed := po.now(), map[types.UID]bool{}
	for e := range list {
		if po.listed {
			e.Bound = now
		}
		listed[e.UID] = true
		po.update(e)
	}
	po.dropAllBut(listed)
	po.listed = true
}

func (po *pods) reached(string) {}

// put stores the current state of a pod, and reports whether its verdict may have changed. The Bound of a known pod
// stays; its Seen stays while its node and tolerations do.
func (po *pods) put(now entry) (changed bool) {
	old := po.byUID[now.UID]
	switch {
	case !now.evictable():
		po.drop(now.UID)
		return false
	case old == nil:
		po.dropNamed(now.Namespace, now.Name)
		now.Seen = po.now()
		po.swap(nil, po.shared(now))
		po.notify(now.UID, now.Node)
		return true
	case old.same(&now):
		return false
	}
	now.Bound, now.Seen = old.Bound, old.Seen
	if !old.sameExposure(&now) {
		now.Seen = po.now()
	}
	po.swap(old, po.shared(now))
	if old.sameVerdict(&now, po.needs.Load().PodOwners) {
		return false
	}
	if old.Node != now.Node {
		po.notify(old.UID, old.Node)
	}
	po.notify(now.UID, now.Node)
	return true
}

// drop forgets a pod.
func (po *pods) drop(uid types.UID) {
	if old := po.byUID[uid]; old != nil {
		po.swap(old, nil)
		po.notify(old.UID, old.Node)
	}
}

// dropNamed forgets the pod that had this name before.
func (po *pods) dropNamed(namespace, name string) {
	if names := po.byName[namespace]; names != nil && names.pods[name] != nil {
		po.drop(names.pods[name].UID)
	}
}

// dropAllBut forgets all pods except those in the set.
func (po *pods) dropAllBut(listed map[types.UID]bool) {
	for uid := range po.byUID {
		if !listed[uid] {
			po.drop(uid)
		}
	}
}

// swap replaces one entry by another in one step for all readers; either may be nil.
func (po *pods) swap(old, now *entry) {
	po.mu.Lock()
	defer po.mu.Unlock()
	if old != nil {
		po.unlink(old)
	}
	if now != nil {
		po.link(now)
	}
}

// link adds an entry. Its texts of the node and the namespace are those of the other entries.
func (po *pods) link(e *entry) {
	list, names := po.byNode[e.Node], po.byName[e.Namespace]
	if len(list) > 0 {
		e.Node = list[0].Node
	}
	if names == nil {
		names = &podNames{e.Namespace, map[string]*entry{}}
		po.byName[e.Namespace] = names
	}
	e.Namespace = names.namespace
	po.byUID[e.UID], po.byNode[e.Node], names.pods[e.Name] = e, append(list, e), e
}

func (po *pods) unlink(e *entry) {
	delete(po.byUID, e.UID)
	if names := po.byName[e.Namespace]; names != nil && names.pods[e.Name] == e { // another UID may have got its name
		if delete(names.pods, e.Name); len(names.pods) == 0 {
			delete(po.byName, e.Namespace)
		}
	}
	list := po.byNode[e.Node]
	if list = slices.DeleteFunc(list, func(o *entry) bool { return o == e }); len(list) == 0 {
		delete(po.byNode, e.Node)
		return
	}
	po.byNode[e.Node] = list
}
