package status

// revised are values by their key, each with the revision at which it has last changed.
type revised[K comparable, V any] struct {
	same   func(a, b V) bool
	values map[K]*revisedValue[V]
	gone   map[K]int // the revisions at which keys went; those of old revisions are forgotten
}

type revisedValue[V any] struct {
	value    V
	revision int // at which it has last changed
	sample   int // that had it last
}

// update takes in the values that a sample has, and reports whether any differs. What differs has the revision.
func (r *revised[K, V]) update(revision, sample int, values []V, keyOf func(V) K) (changed bool) {
	if r.values == nil {
		r.values, r.gone = map[K]*revisedValue[V]{}, map[K]int{}
	}
	for _, v := range values {
		k := keyOf(v)
		old := r.values[k]
		if old == nil || !r.same(old.value, v) {
			old, changed = &revisedValue[V]{revision: revision}, true
			r.values[k] = old
			delete(r.gone, k)
		}
		old.value, old.sample = v, sample
	}
	for k, v := range r.values {
		if v.sample != sample {
			delete(r.values, k)
			r.gone[k], changed = revision, true
		}
	}
	return changed
}

// forget forgets what went before the revision.
func (r *revised[K, V]) forget(before int) {
	for k, revision := range r.gone {
		if revision < before {
			delete(r.gone, k)
		}
	}
}

// after returns what has changed after a revision, and the keys that went.
func (r *revised[K, V]) after(revision int) (changed []V, gone []K) {
	for _, v := range r.values {
		if v.revision > revision {
			changed = append(changed, v.value)
		}
	}
	for k, at := range r.gone {
		if at > revision {
			gone = append(gone, k)
		}
	}
	return changed, gone
}
