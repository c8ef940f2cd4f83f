package cluster

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// needs are the data that the cache keeps for policies.
type needs struct {
	policy.Needs

	// call counts the calls of Need. triggers and audited map each key of a NoSchedule taint to the call since which
	// the key has been needed without interruption: an exposure ends when its key is dropped.
	call              int
	triggers, audited map[string]int
}

// newNeeds returns the needs of a cache without policies. The pointer in it is never nil.
func newNeeds() *atomic.Pointer[needs] {
	pointer := &atomic.Pointer[needs]{}
	pointer.Store(&needs{})
	return pointer
}

// next returns the needs after a call of Need.
func (n *needs) next(now policy.Needs) *needs {
	call := n.call + 1
	since := func(keys []string, before map[string]int) map[string]int {
		calls := make(map[string]int, len(keys))
		for _, key := range keys {
			calls[key] = call
			if earlier, needed := before[key]; needed {
				calls[key] = earlier
			}
		}
		return calls
	}
	return &needs{
		Needs: now, call: call, triggers: since(now.Triggers, n.triggers), audited: since(now.Audited, n.audited),
	}
}

// keys returns the keys of the NoSchedule taints that are observed.
func (n *needs) keys() journal.Keys { return journal.Keys{Triggers: n.Triggers, Audited: n.Audited} }

// renewedSince returns the needed keys that became needed, for the first time or again, after the earlier needs.
func (n *needs) renewedSince(earlier *needs) (keys []string) {
	for key, call := range n.triggers {
		if earlier.triggers[key] != call {
			keys = append(keys, key)
		}
	}
	for key, call := range n.audited {
		if _, isTrigger := n.triggers[key]; !isTrigger && earlier.audited[key] != call {
			keys = append(keys, key)
		}
	}
	return keys
}

// coversNamespaces reports whether the labels of namespaces are watched already, if they are wanted.
func coversNamespaces(followed, wanted *needs) bool {
	return followed.NamespaceLabels || !wanted.NamespaceLabels
}

// sameForNodes reports whether two needs ask for the same data of nodes, and no key was dropped between them.
func sameForNodes(a, b *needs) bool {
	return a.NodeLabels == b.NodeLabels && a.Breakers == b.Breakers &&
		maps.Equal(a.triggers, b.triggers) && maps.Equal(a.audited, b.audited)
}

// coversPods reports whether the pod data that the cache stores now, by the needs it follows, is enough for the wanted
// needs.
func coversPods(followed, wanted *needs) bool {
	lacksLabel := func(key string) bool { return !slices.Contains(followed.PodLabels, key) }
	lacksTrigger := func(key string) bool { return !followed.TriggeredBy(key) }
	return !slices.ContainsFunc(wanted.PodLabels, lacksLabel) &&
		!slices.ContainsFunc(wanted.Triggers, lacksTrigger) && !slices.ContainsFunc(wanted.Audited, lacksTrigger)
}

// Need sets the data that the cache keeps for policies, before Run or at any later time. The channel is closed once the
// cache has it: after the first lists and, where needed, after another list: of nodes if their needs have changed, of
// pods if other labels or tolerations are needed, of namespaces if their labels are needed again. The channel receives
// an error first if a caller's informer lacks a needed field. If Need is called again in the meantime, the channels of
// both calls are closed once the cache has what the later one needs.
//
// Data that is no longer needed is dropped at once. While other policies may still be in force, n must include their
// needs; see [policy.Needs.Or]. The exposure to a NoSchedule taint whose key is dropped ends: if the key is needed
// again, the cache has it after another list of nodes, and the exposure begins then.
func (w *Watcher) Need(n policy.Needs) <-chan error {
	w.demand.mu.Lock()
	w.needs.Store(w.needs.Load().next(n))
	done := make(chan error, 1)
	w.demand.waiting = append(w.demand.waiting, done)
	w.demand.mu.Unlock()

	for _, r := range w.resources {
		r.relists.changed()
	}
	w.settle()
	return done
}

// demand holds the calls of [Watcher.Need] that wait.
type demand struct {
	mu      sync.Mutex
	waiting []chan error
}

// settle ends the calls that wait if the cache has what is needed.
func (w *Watcher) settle() { w.end(nil) }

// end ends the calls that wait with the error, or without one if the cache has what is needed.
func (w *Watcher) end(err error) {
	w.demand.mu.Lock()
	defer w.demand.mu.Unlock()
	if err == nil && !w.has(w.needs.Load()) {
		return
	}
	for _, done := range w.demand.waiting {
		if err != nil {
			done <- err
		}
		close(done)
	}
	w.demand.waiting = nil
}

// has reports whether the cache has what is needed.
func (w *Watcher) has(n *needs) bool {
	lacks := func(r *resource) bool { return r.needed(n) && !r.relists.has(n) }
	return w.HasSynced() && !slices.ContainsFunc(w.resources, lacks)
}

// signal wakes up the receiver of a channel with room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
