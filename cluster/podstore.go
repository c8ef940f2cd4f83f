package cluster

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// podStore is the store of a reflector for pods: the watch puts in whole objects, a list whole objects or entries. Only
// the reflector's goroutine uses it.
type podStore struct {
	pods     *pods
	handler  Handler
	warnings *warnings

	// listed is called when the first list is in, and is nil from then on.
	listed func()
}

var _ cache.TransformingStore = (*podStore)(nil)

// Transformer trims the pods of a streamed list as they arrive, so that memory never holds all of the whole ones. It
// computes the Bound of an entry for the first list.
func (ps *podStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		p, ok := obj.(*v1.Pod)
		if !ok || p == nil {
			return obj, nil
		}
		return ps.pods.shared(ps.pods.trim(p, ps.pods.boundSince(p))), nil
	}
}

// Add stores a pod that the watch has shown for the first time.
func (ps *podStore) Add(obj any) error { return ps.Update(obj) }

// Update stores a pod that the watch has shown.
func (ps *podStore) Update(obj any) error {
	if p, ok := obj.(*v1.Pod); ok && p != nil {
		ps.put(ps.pods.trim(p, ps.pods.now()))
		return nil
	}
	ps.warnings.unexpected("pod", obj)
	return nil
}

// Delete removes a pod that was deleted, or that is no longer watched.
func (ps *podStore) Delete(obj any) error {
	if p, ok := obj.(*v1.Pod); ok && p != nil {
		ps.tell(ps.pods.drop(p.UID))
		return nil
	}
	ps.warnings.unexpected("pod", obj)
	return nil
}

// Replace stores a whole list; the handler is called for differences only.
func (ps *podStore) Replace(items []any, _ string) error {
	first, now := ps.listed != nil, ps.pods.now()
	listed := make(map[types.UID]bool, len(items))
	for _, item := range items {
		e, ok := ps.entryIn(item)
		if !ok {
			ps.warnings.unexpected("pod", item)
			continue
		}
		if !first {
			e.Bound = now
		}
		listed[e.UID] = true
		ps.put(e)
	}
	ps.tell(ps.pods.dropAllBut(listed))
	if first {
		ps.listed()
		ps.listed = nil
	}
	return nil
}

// Resync does nothing: the handler was called for everything.
func (ps *podStore) Resync() error { return nil }

func (ps *podStore) put(e entry) {
	if e.UID == "" {
		ps.warnings.nameless(&e.Pod)
		return
	}
	told := ps.pods.put(e)
	if len(told) > 0 {
		ps.warnings.tolerations(&e)
	}
	ps.tell(told)
}

func (ps *podStore) tell(changes []change) {
	for _, c := range changes {
		ps.handler.PodChanged(c.uid, c.node)
	}
}

// entryIn returns the entry in an item of a list.
func (ps *podStore) entryIn(item any) (entry, bool) {
	switch p := untrimmed(item).(type) {
	case *entry:
		return *p, true
	case *v1.Pod:
		if p != nil {
			return ps.pods.trim(p, ps.pods.boundSince(p)), true
		}
	}
	return entry{}, false
}
