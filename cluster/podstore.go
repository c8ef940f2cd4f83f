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
func (s *podStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		p, ok := obj.(*v1.Pod)
		if !ok || p == nil {
			return obj, nil
		}
		return s.pods.shared(s.pods.trim(p, s.pods.boundSince(p))), nil
	}
}

// Add stores a pod that the watch has shown for the first time.
func (s *podStore) Add(obj any) error { return s.Update(obj) }

// Update stores a pod that the watch has shown.
func (s *podStore) Update(obj any) error {
	if p, ok := obj.(*v1.Pod); ok && p != nil {
		s.put(s.pods.trim(p, s.pods.now()))
		return nil
	}
	s.warnings.unexpected("pod", obj)
	return nil
}

// Delete removes a pod that was deleted, or that is no longer watched.
func (s *podStore) Delete(obj any) error {
	if p, ok := obj.(*v1.Pod); ok && p != nil {
		s.tell(s.pods.drop(p.UID))
		return nil
	}
	s.warnings.unexpected("pod", obj)
	return nil
}

// Replace stores a whole list; the handler is called for differences only.
func (s *podStore) Replace(items []any, _ string) error {
	first, now := s.listed != nil, s.pods.now()
	listed := make(map[types.UID]bool, len(items))
	for _, item := range items {
		e, ok := s.entryIn(item)
		if !ok {
			s.warnings.unexpected("pod", item)
			continue
		}
		if !first {
			e.Bound = now
		}
		listed[e.UID] = true
		s.put(e)
	}
	s.tell(s.pods.dropAllBut(listed))
	if first {
		s.listed()
		s.listed = nil
	}
	return nil
}

// Resync does nothing: the handler was called for everything.
func (s *podStore) Resync() error { return nil }

func (s *podStore) put(e entry) {
	if e.UID == "" {
		s.warnings.nameless(&e.Pod)
		return
	}
	told := s.pods.put(e)
	if len(told) > 0 {
		s.warnings.tolerations(&e)
	}
	s.tell(told)
}

func (s *podStore) tell(changes []change) {
	for _, c := range changes {
		s.handler.PodChanged(c.uid, c.node)
	}
}

// entryIn returns the entry in an item of a list.
func (s *podStore) entryIn(item any) (entry, bool) {
	switch p := untrimmed(item).(type) {
	case *entry:
		return *p, true
	case *v1.Pod:
		if p != nil {
			return s.pods.trim(p, s.pods.boundSince(p)), true
		}
	}
	return entry{}, false
}
