package cluster

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/taint-manager/taint-manager/policy"
)

// newNeeds returns the needs of a cache without policies. The pointer in it is never nil.
func newNeeds() *atomic.Pointer[policy.Needs] {
	needs := &atomic.Pointer[policy.Needs]{}
	needs.Store(&policy.Needs{})
	return needs
}

// Need sets the data that the cache keeps for policies, before Run or at any later time. The channel is closed once the
// cache has it: after the first lists, and after another list of nodes if the needs of nodes have changed, and of pods
// if other labels or tolerations of pods are needed. It receives an error first if a caller's informer lacks a needed
// field. If Need is called again in the meantime, the channels of both calls are closed once the cache has what the
// later one needs.
//
// Data that is no longer needed is dropped at once. So while policies may still be in force, need theirs as well; see
// [policy.Needs.Or]. The exposure to a NoSchedule taint whose key is dropped ends: if the key is needed again, the
// cache has it after another list of nodes, and the exposure begins then.
func (w *Watcher) Need(n policy.Needs) <-chan error {
	w.demand.mu.Lock()
	old := w.nodeLists.want(&n, w.nodes.narrow)
	w.podLists.changed()
	done := make(chan error, 1)
	w.demand.waiting = append(w.demand.waiting, done)
	w.demand.mu.Unlock()

	if old.NamespaceLabels != n.NamespaceLabels {
		signal(w.namespaces.toggled)
	}
	if w.recheck != nil {
		signal(w.recheck)
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
func (w *Watcher) has(n *policy.Needs) bool {
	return w.HasSynced() && w.nodeLists.has(n) && w.podsHave(n) && (!n.NamespaceLabels || w.namespaces.listed())
}

// drops reports whether a key of NoSchedule taints is no longer needed.
func drops(before, now *policy.Needs) bool {
	kept := keysOf(before).And(keysOf(now))
	return len(kept.Triggers) < len(before.Triggers) || len(kept.Audited) < len(before.Audited)
}

// adds reports whether another key of NoSchedule taints is needed.
func adds(before, now *policy.Needs) bool { return drops(now, before) }

// sameForNodes reports whether two needs ask for the same data of nodes.
func sameForNodes(a, b *policy.Needs) bool {
	return a.NodeLabels == b.NodeLabels && a.Breakers == b.Breakers &&
		slices.Equal(a.Triggers, b.Triggers) && slices.Equal(a.Audited, b.Audited)
}

// coversPods reports whether what is kept of pods for some needs is enough for others.
func coversPods(kept, wanted *policy.Needs) bool {
	labels := func(key string) bool { return !slices.Contains(kept.PodLabels, key) }
	triggers := func(key string) bool { return !kept.TriggeredBy(key) }
	return !slices.ContainsFunc(wanted.PodLabels, labels) &&
		!slices.ContainsFunc(wanted.Triggers, triggers) && !slices.ContainsFunc(wanted.Audited, triggers)
}

// signal wakes up the receiver of a channel with room for one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
