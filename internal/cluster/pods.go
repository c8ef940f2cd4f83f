package cluster

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// pods are the pods by UID, by node and by name. They are the table of a reflector's store. Only one goroutine writes,
// and any number read.
type pods struct {
	needs     *atomic.Pointer[needs] // the needs that entries follow
	seed      maphash.Seed
	workloads map[uint64]*workload // by their hash
	now       func() time.Time     // carries the monotonic clock
	ahead     skew.Ahead
	warnings  *warnings
	listed    bool // the first list is complete

	// notify is called after each change that may change a verdict, except in the first list, for each node of the pod.
	notify func(uid types.UID, node string)

	mu     sync.RWMutex
	byUID  map[types.UID]*entry
	byNode map[string][]*entry
	byName map[string]map[string]*entry // by namespace and name
}

func newPods(needs *atomic.Pointer[needs]) *pods {
	return &pods{
		needs: needs, seed: maphash.MakeSeed(), workloads: map[uint64]*workload{}, now: time.Now,
		notify: func(types.UID, string) {},
		byUID:  map[types.UID]*entry{}, byNode: map[string][]*entry{}, byName: map[string]map[string]*entry{},
	}
}

// newPodStore returns a reflector's store for the pods. The handler is called for their changes from now on.
func newPodStore(po *pods, h Handler, w *warnings, completed func()) *store[*v1.Pod, *entry] {
	po.notify, po.warnings = h.PodChanged, w
	return &store[*v1.Pod, *entry]{"pod", po, w, completed}
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

// anyOf reports whether a pod satisfies the condition.
func (po *pods) anyOf(is func(*taint.Pod) bool) bool {
	po.mu.RLock()
	defer po.mu.RUnlock()
	for _, e := range po.byUID {
		if is(&e.Pod) {
			return true
		}
	}
	return false
}

// trim returns the entry of a pod. A pod of the first list was bound earlier; any other new pod counts as bound now.
func (po *pods) trim(p *v1.Pod, listed bool) *entry {
	bound := po.now()
	if listed && !po.listed {
		bound = BoundSince(p, po.ahead.At(bound))
	}
	return po.entryOf(p, bound)
}

// update stores the current state of a pod.
func (po *pods) update(e *entry) {
	if e.UID == "" {
		po.warnings.log("Ignored a pod without a UID", "pod", e.Key()) // it can't be distinguished from others
		return
	}
	if po.put(e) {
		po.warnings.tolerations(e)
	}
}

// remove removes a deleted pod. An informer that has missed the deletion may know only the pod's name.
func (po *pods) remove(p *v1.Pod) {
	if p.UID == "" {
		po.dropNamesake("", p.Namespace, p.Name)
	}
	po.drop(p.UID)
}

// replace stores a list of all pods; the handler is called for differences only.
func (po *pods) replace(list []*entry, _ string) {
	missing := maps.Clone(po.byUID)
	for _, e := range list {
		delete(missing, e.UID)
		po.update(e)
	}
	for uid := range missing {
		po.drop(uid)
	}
	po.listed = true
}

func (po *pods) reached(string) {}

// put stores the current state of a pod, and reports whether its verdict may have changed. The Bound of a known pod
// stays; its Seen stays while its node and tolerations do.
func (po *pods) put(now *entry) (changed bool) {
	old := po.byUID[now.UID]
	if old != nil && old.same(now) {
		return false
	}
	po.dropNamesake(now.UID, now.Namespace, now.Name)
	switch {
	case now.gone():
		po.drop(now.UID)
		return false
	case old == nil:
		now.Seen = po.now()
		po.swap(nil, now)
		if po.listed {
			po.notify(now.UID, now.Node)
		}
		return true
	}
	now.Bound, now.Seen = old.Bound, old.Seen
	if !old.sameExposure(now) {
		now.Seen = po.now()
	}
	po.swap(old, now)
	if old.sameVerdict(now, po.needs.Load().PodOwners) {
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

// dropNamesake forgets the pod of this name, unless it has this UID.
func (po *pods) dropNamesake(uid types.UID, namespace, name string) {
	if old := po.byName[namespace][name]; old != nil && old.UID != uid {
		po.drop(old.UID)
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

func (po *pods) link(e *entry) {
	list := po.byNode[e.Node]
	if len(list) > 0 {
		e.Node = list[0].Node // one text for all pods of the node
	}
	if po.byName[e.Namespace] == nil {
		po.byName[e.Namespace] = map[string]*entry{}
	}
	po.byUID[e.UID], po.byNode[e.Node], po.byName[e.Namespace][e.Name] = e, append(list, e), e
}

func (po *pods) unlink(e *entry) {
	delete(po.byUID, e.UID)
	if names := po.byName[e.Namespace]; names[e.Name] == e {
		if delete(names, e.Name); len(names) == 0 {
			delete(po.byName, e.Namespace)
		}
	}
	list := slices.DeleteFunc(po.byNode[e.Node], func(o *entry) bool { return o == e })
	if po.byNode[e.Node] = list; len(list) == 0 {
		delete(po.byNode, e.Node)
	}
}
