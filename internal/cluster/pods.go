package cluster

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// namespaceIndex and nodeIndex are the indexes of one namespace and of one node; their pods share the name's string.
type (
	namespaceIndex struct {
		name string
		pods map[string]*entry
	}
	nodeIndex struct {
		name string
		pods []*entry
	}
)

// pods are the pods by UID, by namespace and name, and by node. One goroutine writes; any number read.
type pods struct {
	trimmer
	labelSets   *sharer[map[string]string]
	controllers *sharer[taint.Owner]
	now         func() time.Time // carries the monotonic clock
	ahead       Ahead

	// notify is called after each change that may change a verdict, for each node of the pod.
	notify func(uid types.UID, node string)

	mu         sync.RWMutex
	byUID      map[types.UID]*entry
	namespaces map[string]*namespaceIndex
	nodes      map[string]*nodeIndex
}

func newPods(needs *atomic.Pointer[needs]) *pods {
	return &pods{
		trimmer:     newTrimmer(needs),
		labelSets:   newSharer(hashLabels, maps.Equal[map[string]string]),
		controllers: newSharer(maphash.Comparable[taint.Owner], func(a, b taint.Owner) bool { return a == b }),
		now:         time.Now,
		notify:      func(types.UID, string) {},
		byUID:       map[types.UID]*entry{},
		namespaces:  map[string]*namespaceIndex{},
		nodes:       map[string]*nodeIndex{},
	}
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
	c := po.nodes[node]
	if c == nil {
		return nil
	}
	return slices.Clone(c.pods)
}

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

// dropNamed forgets the pod with this name.
func (po *pods) dropNamed(namespace, name string) {
	if s := po.namespaces[namespace]; s != nil && s.pods[name] != nil {
		po.drop(s.pods[name].UID)
	}
}

// drop forgets a pod.
func (po *pods) drop(uid types.UID) {
	if old := po.byUID[uid]; old != nil {
		po.swap(old, nil)
		po.notify(old.UID, old.Node)
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

// shared returns the entry with what it can share with the entries of other pods.
func (po *pods) shared(e entry) *entry {
	if len(e.Labels) > 0 {
		e.labels = po.labelSets.share(e.Labels)
		e.Labels = e.labels.value
	}
	if e.Controller != nil {
		e.Controller = &po.controllers.share(*e.Controller).value // which keeps the box alive
	}
	return &e
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
	s := po.namespaces[e.Namespace]
	if s == nil {
		s = &namespaceIndex{e.Namespace, map[string]*entry{}}
		po.namespaces[s.name] = s
	}
	c := po.nodes[e.Node]
	if c == nil {
		c = &nodeIndex{name: e.Node}
		po.nodes[c.name] = c
	}
	e.Namespace, e.Node = s.name, c.name
	s.pods[e.Name] = e
	c.pods = append(c.pods, e)
	po.byUID[e.UID] = e
}

func (po *pods) unlink(e *entry) {
	delete(po.byUID, e.UID)
	if s := po.namespaces[e.Namespace]; s.pods[e.Name] == e {
		delete(s.pods, e.Name)
		if len(s.pods) == 0 {
			delete(po.namespaces, s.name)
		}
	}
	c := po.nodes[e.Node]
	if i := slices.Index(c.pods, e); i >= 0 {
		last := len(c.pods) - 1
		c.pods[i], c.pods[last] = c.pods[last], nil
		c.pods = c.pods[:last]
	}
	if len(c.pods) == 0 {
		delete(po.nodes, c.name)
	}
}
