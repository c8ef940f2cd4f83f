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
func (ns *namespaceStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		n, ok := obj.(*v1.Namespace)
		if !ok || n == nil {
			return obj, nil
		}
		return &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name, Labels: n.Labels}}, nil
	}
}

// Add stores a namespace that the watch has shown for the first time.
func (ns *namespaceStore) Add(obj any) error { return ns.Update(obj) }

// Update stores a namespace that the watch has shown.
func (ns *namespaceStore) Update(obj any) error {
	ns.take(obj, true)
	return nil
}

// Delete removes a namespace that was deleted.
func (ns *namespaceStore) Delete(obj any) error {
	ns.take(obj, false)
	return nil
}

func (ns *namespaceStore) take(obj any, there bool) {
	n, ok := obj.(*v1.Namespace)
	switch {
	case !ok || n == nil:
		ns.warnings.unexpected("namespace", obj)
	case there:
		ns.namespaces.set(n.Name, n.Labels, true)
	default:
		ns.namespaces.set(n.Name, nil, false)
	}
}

// Replace stores a whole list.
func (ns *namespaceStore) Replace(items []any, _ string) error {
	labels := make(map[string]map[string]string, len(items))
	for _, item := range items {
		if n, ok := untrimmed(item).(*v1.Namespace); ok && n != nil {
			labels[n.Name] = n.Labels
		} else {
			ns.warnings.unexpected("namespace", item)
		}
	}
	ns.namespaces.replace(labels)
	return nil
}

// Resync does nothing: the handler was called for everything.
func (ns *namespaceStore) Resync() error { return nil }
