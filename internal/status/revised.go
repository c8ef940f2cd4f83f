package status

// revised are values by key, each with the revision at which it last changed or was removed.
type revised[K comparable, V any] struct {
	same   func(a, b V) bool
	values map[K]*revisedValue[V]
}

type revisedValue[V any] struct {
	value    V
	gone     bool
	revision int  // at which it last changed or was removed
	seen     bool // by the current update
}

// update stores the values of a sample, and reports whether any has changed. Changed values get the revision. Keys that
// were removed before the oldest revision are forgotten.
func (r *revised[K, V]) update(revision, oldest int, values []V, keyOf func(V) K) (changed bool) {
	if r.values == nil {
		r.values = map[K]*revisedValue[V]{}
	}
	for _, v := range values {
		k := keyOf(v)
		old := r.values[k]
		if old == nil || old.gone || !r.same(old.value, v) {
			old, changed = &revisedValue[V]{revision: revision}, true
			r.values[k] = old
		}
		old.value, old.seen = v, true
	}
	for k, v := range r.values {
		switch {
		case !v.gone && !v.seen:
			r.values[k], changed = &revisedValue[V]{gone: true, revision: revision}, true
		case v.gone && v.revision < oldest:
			delete(r.values, k)
		}
		v.seen = false
	}
	return changed
}

// after returns the values that changed after a revision, and the keys that were removed.
func (r *revised[K, V]) after(revision int) (changed []V, gone []K) {
	for k, v := range r.values {
		switch {
		case v.revision <= revision:
		case v.gone:
			gone = append(gone, k)
		default:
			changed = append(changed, v.value)
		}
	}
	return changed, gone
}
