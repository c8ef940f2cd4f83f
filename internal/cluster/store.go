package cluster

import (
	"iter"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// apiObject is a pointer to an object of the API.
type apiObject interface {
	comparable
	runtime.Object
}

// table takes in objects as small values. Only one goroutine calls its methods.
type table[O apiObject, V any] interface {
	// value returns the small value of an object that a list, or the watch, has shown.
	value(o O, listed bool) V

	update(v V)
	remove(o O)
	replace(list iter.Seq[V], version string)

	// reached notes that the watch has shown everything up to this version.
	reached(version string)
}

// store is the store of a reflector: the watch puts in whole objects, a list whole objects or small values. Only the
// reflector's goroutine uses it.
type store[O apiObject, V any] struct {
	kind      string
	table     table[O, V]
	warnings  *warnings
	completed func() // is called after each list
}

var (
	_ cache.TransformingStore      = (*store[runtime.Object, any])(nil)
	_ cache.ReflectorBookmarkStore = (*store[runtime.Object, any])(nil)
)

// trimmed is a small value in a list. Lists of client-go have only values that look like objects of the API.
type trimmed[V any] struct{ value V }

// GetObjectKind returns no kind.
func (t *trimmed[V]) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the value itself, because it does not change.
func (t *trimmed[V]) DeepCopyObject() runtime.Object { return t }

// object returns the object in a value of any type, and logs a value of another type.
func (s *store[O, V]) object(obj any) (o O, ok bool) {
	var none O
	if o, ok = obj.(O); ok && o != none {
		return o, true
	}
	s.warnings.unexpected(s.kind, obj)
	return none, false
}

// Transformer trims the objects of a list as they arrive, so that memory never holds all of the whole ones.
func (s *store[O, V]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if v, ok := s.valueIn(obj); ok {
			return &trimmed[V]{v}, nil
		}
		return obj, nil
	}
}

// Add stores an object that the watch has shown for the first time.
func (s *store[O, V]) Add(obj any) error { return s.Update(obj) }

// Update stores an object that the watch has shown.
func (s *store[O, V]) Update(obj any) error {
	if o, ok := s.object(obj); ok {
		s.table.update(s.table.value(o, false))
	}
	return nil
}

// Delete removes an object that was deleted, or that is no longer watched.
func (s *store[O, V]) Delete(obj any) error {
	if o, ok := s.object(obj); ok {
		s.table.remove(o)
	}
	return nil
}

// Replace stores a whole list.
func (s *store[O, V]) Replace(items []any, version string) error {
	s.table.replace(s.values(items), version)
	s.completed()
	return nil
}

// values returns the small values in the items of a list.
func (s *store[O, V]) values(items []any) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, item := range items {
			if v, ok := s.valueIn(item); ok && !yield(v) {
				return
			}
		}
	}
}

// valueIn returns the small value in an item of a list.
func (s *store[O, V]) valueIn(item any) (v V, ok bool) {
	if t, ok := item.(*trimmed[V]); ok {
		return t.value, true
	}
	if o, ok := s.object(item); ok {
		return s.table.value(o, true), true
	}
	return v, false
}

// Bookmark notes that the watch has shown everything up to this version.
func (s *store[O, V]) Bookmark(version string) error {
	s.table.reached(version)
	return nil
}

// Resync does nothing: the handler was called for everything.
func (s *store[O, V]) Resync() error { return nil }
