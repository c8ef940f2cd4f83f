package cluster

import (
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// namespaceStore is the store of a reflector for namespaces. Only the reflector's goroutine uses it.
type namespaceStore struct {
	namespaces *namespaces
	warnings   *warnings
}

var _ cache.TransformingStore = (*namespaceStore)(nil)

// Transformer drops what is not used of the namespaces of a streamed list.
func (s *namespaceStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		n, ok := obj.(*v1.Namespace)
		if !ok || n == nil {
			return obj, nil
		}
		return &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}, nil
	}
}

// Add stores a namespace that the watch has shown for the first time.
func (s *namespaceStore) Add(obj any) error { return s.Update(obj) }

// Update stores a namespace that the watch has shown.
func (s *namespaceStore) Update(obj any) error {
	s.take(obj, true)
	return nil
}

// Delete removes a namespace that was deleted.
func (s *namespaceStore) Delete(obj any) error {
	s.take(obj, false)
	return nil
}

func (s *namespaceStore) take(obj any, there bool) {
	n, ok := obj.(*v1.Namespace)
	switch {
	case !ok || n == nil:
		s.warnings.unexpected("namespace", obj)
	case there:
		s.namespaces.set(n.Name, n.Labels, true)
	default:
		s.namespaces.set(n.Name, nil, false)
	}
}

// Replace stores a whole list.
func (s *namespaceStore) Replace(items []any, _ string) error {
	labels := make(map[string]map[string]string, len(items))
	for _, item := range items {
		if n, ok := untrimmed(item).(*v1.Namespace); ok && n != nil {
			labels[n.Name] = n.Labels
		} else {
			s.warnings.unexpected("namespace", item)
		}
	}
	s.namespaces.replace(labels)
	return nil
}

// Resync does nothing: the handler was called for everything.
func (s *namespaceStore) Resync() error { return nil }
