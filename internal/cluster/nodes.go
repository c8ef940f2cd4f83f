package cluster

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// nodes are the nodes by name, with the histories of their taints. A reflector's store writes to them: only one
// goroutine calls update, remove, replace and reached. Any number of goroutines may call the other methods.
type nodes struct {
	handler  Handler
	observed bool // breakers received the last list

	rules  atomic.Pointer[taint.Rules]
	pods   func(node string) []*entry
	synced func() bool      // all existing pods are known
	now    func() time.Time // carries the monotonic clock
	ahead  skew.Ahead
	needs  *atomic.Pointer[needs] // what policies need from the cache of nodes

	// changing is held while a change is computed, which may read all pods of the node. It is locked before mu.
	changing sync.Mutex

	// Readers lock mu. It is never held for long.
	mu      sync.RWMutex
	byName  map[string]nodeState
	tainted map[string]nodeState // the tainted nodes of byName
	last    journal.LastWatch
}

func newNodes(rules taint.Rules, pods func(node string) []*entry, synced func() bool) *nodes {
	n := &nodes{pods: pods, synced: synced, now: time.Now, needs: newNeeds()}
	n.byName, n.tainted = map[string]nodeState{}, map[string]nodeState{}
	n.rules.Store(&rules)
	return n
}

// newNodeStore returns a reflector's store for the nodes. The handler is called for their changes from now on.
func newNodeStore(no *nodes, h Handler, w *warnings, completed func()) *store[*v1.Node, *v1.Node] {
	no.handler = h
	return &store[*v1.Node, *v1.Node]{"node", no, w, completed}
}

// get returns the node of this name, or nil.
func (no *nodes) get(name string) *taint.Node { return no.state(name).Node }

// state returns the present state of the node with this name; its Node is nil if there is none.
func (no *nodes) state(name string) nodeState {
	no.mu.RLock()
	defer no.mu.RUnlock()
	return no.byName[name]
}

// SetRules replaces the rules of verdicts. Merged values of a taint stay merged.
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
func (no *nodes) Tainted() (list []*taint.Node) {
	no.mu.RLock()
	defer no.mu.RUnlock()
	for _, state := range no.tainted {
		list = append(list, state.Node)
	}
	return list
}

// OutageWithoutNoExecute returns the nodes that have an outage, but no taint that evicts because of it. It maps the
// name of each node to the time that [NotReadySince] returns.
func (no *nodes) OutageWithoutNoExecute() map[string]time.Time {
	no.mu.RLock()
	defer no.mu.RUnlock()
	spared := map[string]time.Time{}
	for name, state := range no.byName {
		if state.OutageSpared() && !slices.ContainsFunc(state.Keys(), taint.ReportsOutage) {
			spared[name] = state.notReady
		}
	}
	return spared
}

// update processes a node from the watch. It calls the handler before it records the version as reached.
func (no *nodes) update(n *v1.Node) {
	no.observe(false, changeOf(n))
	no.notify(n.Name, no.apply(n, false))
	no.reached(n.ResourceVersion)
}

// notify calls the handler for a change of a node.
func (no *nodes) notify(name string, change journal.Change) {
	if change.Record {
		no.handler.RecordChanged(name)
	}
	if change.History {
		no.handler.NodeChanged(name)
	}
}

// remove removes a deleted node.
func (no *nodes) remove(n *v1.Node) {
	no.observe(false, breaker.NodeChange{Name: n.Name})
	no.notify(n.Name, no.drop(n.Name))
	no.reached(n.ResourceVersion)
}

// replace stores a list of all nodes; the handler is called for differences only. Breakers receive the whole list
// before the cache shows any node of it.
func (no *nodes) replace(list []*v1.Node, version string) {
	gone := no.missing(list)
	no.observed = no.needs.Load().Breakers
	changes := make([]breaker.NodeChange, len(list))
	for i, n := range list {
		changes[i] = changeOf(n)
	}
	no.observe(true, changes...)
	changed := map[string]journal.Change{}
	for _, n := range list {
		if journal.IsNewer(n.ResourceVersion, version) {
			version = n.ResourceVersion // a fake API server's list may have an older version than its items
		}
		changed[n.Name] = no.apply(n, true)
	}
	for _, name := range gone {
		changed[name] = no.drop(name)
	}
	for _, name := range slices.Sorted(maps.Keys(changed)) {
		no.notify(name, changed[name])
	}
	no.reached(version)
}

// missing returns the names of the nodes that a list lacks.
func (no *nodes) missing(list []*v1.Node) []string {
	no.mu.RLock()
	missing := maps.Clone(no.byName)
	no.mu.RUnlock()
	for _, n := range list {
		delete(missing, n.Name)
	}
	return slices.Collect(maps.Keys(missing))
}

// observe passes nodes on to breakers, if there are any.
func (no *nodes) observe(all bool, changes ...breaker.NodeChange) {
	if no.observed {
		no.handler.NodesChanged(changes, all)
	}
}

func changeOf(n *v1.Node) breaker.NodeChange {
	node := breaker.Node{Name: n.Name, UID: n.UID, Labels: n.Labels, Taints: n.Spec.Taints}
	return breaker.NodeChange{Name: n.Name, Node: &node}
}

// apply stores an observation of a node, and returns what the handler must be told.
func (no *nodes) apply(n *v1.Node, listed bool) journal.Change {
	no.changing.Lock()
	defer no.changing.Unlock()
	now, change := no.next(no.state(n.Name), n, listed)
	no.set(n.Name, now)
	return change
}

// ApplyRecord takes the starts of a node's taints from a record of the journal, and calls the handler if that changes
// the history. last is the writer's [journal.LastWatch]; see [journal.NodeHistory.ApplyRecord].
func (no *nodes) ApplyRecord(name string, r journal.Record, last journal.LastWatch) {
	no.changing.Lock()
	now, changed := no.applyRecord(no.state(name), r, last)
	if now.Node != nil {
		no.set(name, now)
	}
	no.changing.Unlock()
	no.notify(name, journal.Change{History: changed})
}

// Records returns the records of the tainted nodes of a partition of the journal, by name.
func (no *nodes) Records(partition int) map[string]journal.Record {
	no.mu.RLock()
	defer no.mu.RUnlock()
	records := map[string]journal.Record{}
	for name, state := range no.tainted {
		if journal.PartitionOf(name) != partition {
			continue
		}
		if r, ok := state.history.Record(state.UID); ok {
			records[name] = r
		}
	}
	return records
}

// drop forgets a node, and returns what the handler must be told: nothing if the node had no taints.
func (no *nodes) drop(name string) journal.Change {
	no.changing.Lock()
	defer no.changing.Unlock()
	no.mu.Lock()
	defer no.mu.Unlock()
	old := no.byName[name]
	delete(no.byName, name)
	delete(no.tainted, name)
	return journal.Change{History: old.Tainted(), Record: old.Tainted()}
}

// set sets the present state of a node.
func (no *nodes) set(name string, now nodeState) {
	no.mu.Lock()
	defer no.mu.Unlock()
	no.byName[name] = now
	if delete(no.tainted, name); now.Tainted() {
		no.tainted[name] = now
	}
}

// reached notes that the watch has delivered everything up to this resourceVersion.
func (no *nodes) reached(version string) {
	no.mu.Lock()
	defer no.mu.Unlock()
	no.last = journal.LastWatch{Watched: no.now(), Reached: version}
}

// LastWatch returns when the watch of nodes last delivered something. The handler has seen all changes up to it.
func (no *nodes) LastWatch() journal.LastWatch {
	no.mu.RLock()
	defer no.mu.RUnlock()
	return no.last
}
