package cluster

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// nodes are the nodes by name, with the histories of their taints. Any number of goroutines may call its methods.
type nodes struct {
	rules  atomic.Pointer[taint.Rules]
	pods   func(node string) []*entry
	synced func() bool      // all existing pods are known
	now    func() time.Time // carries the monotonic clock
	ahead  Ahead
	needs  *atomic.Pointer[needs] // those that the cache of nodes follows

	// changing is held while a change is computed, which may read all pods of the node. It is locked before mu.
	changing sync.Mutex

	// mu is what readers lock. It is held for moments.
	mu      sync.RWMutex
	byName  map[string]nodeState
	tainted map[string]bool
	reached string // the resourceVersion up to which all changes are known
}

func newNodes(rules taint.Rules, pods func(node string) []*entry, synced func() bool) *nodes {
	n := &nodes{
		pods: pods, synced: synced, now: time.Now, needs: newNeeds(),
		byName: map[string]nodeState{}, tainted: map[string]bool{},
	}
	n.rules.Store(&rules)
	return n
}

// get returns the node of this name, or nil.
func (no *nodes) get(name string) *taint.Node { return no.state(name).Node }

// state returns the present state of the node with this name; its Node is nil if there is none.
func (no *nodes) state(name string) nodeState {
	no.mu.RLock()
	defer no.mu.RUnlock()
	return no.byName[name]
}

// SetRules replaces the rules of verdicts. Some states of a taint may have been joined by the rules before, and stay
// so.
func (no *nodes) SetRules(rules taint.Rules) { no.rules.Store(&rules) }

// Version returns the resourceVersion of the last observation of a tainted node; "" if there is no such node.
func (no *nodes) Version(name string) string {
	if state := no.state(name); state.Tainted() {
		return state.version
	}
	return ""
}

// Tainted returns the nodes that carry NoExecute taints, or NoSchedule taints that policies name, in no particular
// order.
func (no *nodes) Tainted() []*taint.Node {
	no.mu.RLock()
	defer no.mu.RUnlock()
	list := make([]*taint.Node, 0, len(no.tainted))
	for name := range no.tainted {
		list = append(list, no.byName[name].Node)
	}
	return list
}

// names returns the names of all nodes.
func (no *nodes) names() []string {
	no.mu.RLock()
	defer no.mu.RUnlock()
	return slices.Collect(maps.Keys(no.byName))
}

// update takes in an observation of a node, and reports whether the handler must be called.
func (no *nodes) update(m nodeModel, g gap) (notify bool) {
	no.changing.Lock()
	defer no.changing.Unlock()
	now, notify := no.next(no.state(m.Name), &m, g)
	no.set(m.Name, now)
	return notify
}

// Adopt merges the journal's record of a node into its history, and reports whether that changes anything; see
// [journal.NodeHistory.Adopt]. It does not call the handler.
func (no *nodes) Adopt(name string, r journal.Record) (changed bool) {
	no.changing.Lock()
	defer no.changing.Unlock()
	now, changed := no.adopted(no.state(name), r)
	if changed {
		no.set(name, now)
	}
	return changed
}

// remove removes a node, and reports whether the handler must be called: a node without taints had no countdowns.
func (no *nodes) remove(name string) bool {
	no.changing.Lock()
	defer no.changing.Unlock()
	no.mu.Lock()
	defer no.mu.Unlock()
	old := no.byName[name]
	delete(no.byName, name)
	delete(no.tainted, name)
	return old.Tainted()
}

// set sets the present state of a node.
func (no *nodes) set(name string, now nodeState) {
	no.mu.Lock()
	defer no.mu.Unlock()
	no.byName[name] = now
	if now.Tainted() {
		no.tainted[name] = true
	} else {
		delete(no.tainted, name)
	}
}

// reach notes that all changes up to this resourceVersion are known.
func (no *nodes) reach(version string) {
	no.mu.Lock()
	defer no.mu.Unlock()
	no.reached = version
}

// Reached returns the resourceVersion up to which all changes of nodes are known: of the last list, event or bookmark;
// "" before the first list.
func (no *nodes) Reached() string {
	no.mu.RLock()
	defer no.mu.RUnlock()
	return no.reached
}
