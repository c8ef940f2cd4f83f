package cluster

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// apiObject is a pointer to an object of the API.
type apiObject interface {
	comparable
	runtime.Object
}

// table stores objects of type O in a small form, V. Only one goroutine calls its methods.
type table[O apiObject, V runtime.Object] interface {
	// trim returns the small form of an object that a list, or the watch, has shown.
	trim(o O, listed bool) V

	update(v V)
	remove(o O)
	replace(list []V, version string)

	// reached records that the watch has shown everything up to this version.
	reached(version string)
}

// store is the store of a reflector. The watch passes whole objects to it, and a list whole objects or their small
// forms. Only the reflector's goroutine uses it.
type store[O apiObject, V runtime.Object] struct {
	kind      string
	table     table[O, V]
	warnings  *warnings
	completed func() // is called after each list
}

var (
	_ cache.TransformingStore      = (*store[*v1.Pod, *entry])(nil)
	_ cache.ReflectorBookmarkStore = (*store[*v1.Pod, *entry])(nil)
)

// whole returns the API object that a value is, or that a decoded pod or node wraps. It logs any other value.
func (s *store[O, V]) whole(obj any) (o O, ok bool) {
	var none O
	if decoded, ok := obj.(interface{ whole() O }); ok {
		obj = decoded.whole()
	}
	if o, ok = obj.(O); ok && o != none {
		return o, true
	}
	s.warnings.log("Ignored an object that is not a "+s.kind, "got", fmt.Sprintf("%T", obj))
	return none, false
}

// small returns the small form of an item of a list.
func (s *store[O, V]) small(item any) (v V, ok bool) {
	if _, whole := item.(O); !whole {
		if v, ok = item.(V); ok {
			return v, true
		}
	}
	if o, ok := s.whole(item); ok {
		return s.table.trim(o, true), true
	}
	return v, false
}

// Transformer trims the objects of a list as they arrive, so that memory never holds all objects untrimmed.
func (s *store[O, V]) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		if v, ok := s.small(obj); ok {
			return v, nil
		}
		return obj, nil
	}
}

// Add stores an object that the watch has shown for the first time.
func (s *store[O, V]) Add(obj any) error { return s.Update(obj) }

// Update stores an object that the watch has shown.
func (s *store[O, V]) Update(obj any) error {
	if o, ok := s.whole(obj); ok {
		s.table.update(s.table.trim(o, false))
	}
	return nil
}

// Delete removes an object that was deleted, or that is no longer watched.
func (s *store[O, V]) Delete(obj any) error {
	if o, ok := s.whole(obj); ok {
		s.table.remove(o)
	}
	return nil
}

// Replace stores a whole list.
func (s *store[O, V]) Replace(items []any, version string) error {
	list := make([]V, 0, len(items))
	for _, item := range items {
		if v, ok := s.small(item); ok {
			list = append(list, v)
		}
	}
	s.table.replace(list, version)
	s.completed()
	return nil
}

// Bookmark records that the watch has shown everything up to this version.
func (s *store[O, V]) Bookmark(version string) error {
	s.table.reached(version)
	return nil
}

// Resync does nothing: the handler was called for everything.
func (s *store[O, V]) Resync() error { return nil }
