package cluster

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// change is one change of a pod for the handler.
type change struct {
	uid  types.UID
	node string
}

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
	periods     *sharer[int64]
	now         func() time.Time // carries the monotonic clock
	ahead       Ahead

	mu         sync.RWMutex
	byUID      map[types.UID]*entry
	namespaces map[string]*namespaceIndex
	nodes      map[string]*nodeIndex
}

func newPods(needs *atomic.Pointer[policy.Needs]) *pods {
	return &pods{
		trimmer:     newTrimmer(needs),
		labelSets:   newSharer(hashLabels, maps.Equal[map[string]string]),
		controllers: newSharer(maphash.Comparable[taint.Owner], func(a, b taint.Owner) bool { return a == b }),
		periods:     newSharer(maphash.Comparable[int64], func(a, b int64) bool { return a == b }),
		now:         time.Now,
		byUID:       map[types.UID]*entry{},
		namespaces:  map[string]*namespaceIndex{},
		nodes:       map[string]*nodeIndex{},
	}
}

// get returns the pod with this UID, or nil.
func (t *pods) get(uid types.UID) *entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byUID[uid]
}

// on returns the pods on the node with this name, in no particular order.
func (t *pods) on(node string) []*entry {
	t.mu.RLock()
	defer t.mu.RUnlock()
	c := t.nodes[node]
	if c == nil {
		return nil
	}
	return slices.Clone(c.pods)
}

// put stores the current state of a pod, and returns the resulting changes. The Bound of a known pod stays; its Seen
// stays while its node and tolerations do.
func (t *pods) put(now entry) []change {
	old := t.byUID[now.UID]
	switch {
	case !now.kept():
		return t.drop(now.UID)
	case old == nil:
		told := t.dropNamesake(&now.Pod)
		now.Seen = t.now()
		t.swap(nil, t.shared(now))
		return append(told, change{now.UID, now.Node})
	case old.same(&now):
		return nil
	}
	now.Bound, now.Seen = old.Bound, old.Seen
	if !old.sameExposure(&now) {
		now.Seen = t.now()
	}
	t.swap(old, t.shared(now))
	return t.changesOf(old, &now)
}

// changesOf returns the changes of a pod that was there before.
func (t *pods) changesOf(old, now *entry) []change {
	switch {
	case old.sameVerdict(now, t.needs.Load().PodOwners):
		return nil
	case old.Node != now.Node:
		return []change{{old.UID, old.Node}, {now.UID, now.Node}}
	}
	return []change{{now.UID, now.Node}}
}

// dropNamesake drops the pod with the same name and another UID: it was replaced.
func (t *pods) dropNamesake(p *taint.Pod) []change {
	s := t.namespaces[p.Namespace]
	if s == nil || s.pods[p.Name] == nil {
		return nil
	}
	return t.drop(s.pods[p.Name].UID)
}

// drop forgets a pod.
func (t *pods) drop(uid types.UID) []change {
	old := t.byUID[uid]
	if old == nil {
		return nil
	}
	t.swap(old, nil)
	return []change{{old.UID, old.Node}}
}

// dropAllBut forgets all pods except those in the set.
func (t *pods) dropAllBut(listed map[types.UID]bool) []change {
	var told []change
	for uid := range t.byUID {
		if !listed[uid] {
			told = append(told, t.drop(uid)...)
		}
	}
	return told
}

// shared returns the entry with what it can share with the entries of other pods.
func (t *pods) shared(e entry) *entry {
	if len(e.Labels) > 0 {
		e.labels = t.labelSets.share(e.Labels)
		e.Labels = e.labels.value
	}
	if e.Controller != nil {
		e.Controller = &t.controllers.share(*e.Controller).value // which keeps the box alive
	}
	if e.GracePeriodSeconds != nil {
		e.GracePeriodSeconds = &t.periods.share(*e.GracePeriodSeconds).value
	}
	return &e
}

// swap replaces one entry by another in one step for all readers; either may be nil.
func (t *pods) swap(old, now *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old != nil {
		t.unlink(old)
	}
	if now != nil {
		t.link(now)
	}
}

func (t *pods) link(e *entry) {
	s := t.namespaces[e.Namespace]
	if s == nil {
		s = &namespaceIndex{e.Namespace, map[string]*entry{}}
		t.namespaces[s.name] = s
	}
	c := t.nodes[e.Node]
	if c == nil {
		c = &nodeIndex{name: e.Node}
		t.nodes[c.name] = c
	}
	e.Namespace, e.Node = s.name, c.name
	s.pods[e.Name] = e
	c.pods = append(c.pods, e)
	t.byUID[e.UID] = e
}

func (t *pods) unlink(e *entry) {
	delete(t.byUID, e.UID)
	if s := t.namespaces[e.Namespace]; s.pods[e.Name] == e {
		delete(s.pods, e.Name)
		if len(s.pods) == 0 {
			delete(t.namespaces, s.name)
		}
	}
	c := t.nodes[e.Node]
	if i := slices.Index(c.pods, e); i >= 0 {
		last := len(c.pods) - 1
		c.pods[i], c.pods[last] = c.pods[last], nil
		c.pods = c.pods[:last]
	}
	if len(c.pods) == 0 {
		delete(t.nodes, c.name)
	}
}
